/* SPDX-License-Identifier: MIT */
/* A command that replies to requests: answered by them, or by its critical path. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "answer.h"
#include "fixture_answer.h"
#include "fixture_given.h"
#include "window_all.h"

enum { NR_CONNECT = 42, NR_RECVFROM = 45, NR_SENDTO = 44 };

/* The command accepts four times, after so many ms each, computes for the others, and replies. The
 * client is 20, which connected before and awaits the replies; own: a child of the command. */
static struct ty_answer serves(unsigned wait_ms, unsigned compute_ms, bool own)
{
	struct ty_requests q;
	struct ty_window w;
	struct ty_explain x;
	struct ty_answer a;
	uint64_t at = 2 * MS;

	givens = 0;
	ty_mx_begin("mode=command\ncommand_tid=11\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	call(at, 11, NR_READ, 0, 0);
	if (own)
		ty_mx_fork(0, 3 * MS, 11, 20, 0);
	ty_mx_switch(1, 3 * MS, 0, R, 20);
	for (unsigned i = 0; i < 4; i++) {
		at += 2 * MS;
		give(at, 3, 0, 0);
		ty_mx_enter(0, at, 11, NR_ACCEPT);
		ty_mx_switch(0, at, 11, S, 0);
		ty_mx_enter(1, at, 20, NR_NANOSLEEP);
		ty_mx_switch(1, at, 20, S, 0);
		at += wait_ms * MS;
		timer(at - 5000, 20);
		ty_mx_switch(1, at - 5000, 0, R, 20);
		ty_mx_exit(1, at - 5000, 20, NR_NANOSLEEP, 0);
		if (own) {
			call(at - 3000, 20, NR_CONNECT, 0, 5);
			call(at - 1500, 20, NR_SENDTO, 10, 5);
			give(at, 5, 0, 0);
			ty_mx_enter(1, at, 20, NR_RECVFROM);
		}
		ty_mx_waking(1, at, 20, 11, 0);
		ty_mx_switch(0, at, 0, R, 11);
		ty_mx_exit(0, at, 11, NR_ACCEPT, 9);
		call(at + 1000, 11, NR_RECVFROM, 10, 9);
		at += compute_ms * MS;
		call(at, 11, NR_SENDTO, 10, 9);
		if (own)
			ty_mx_exit(1, at + 2000, 20, NR_RECVFROM, 10);
	}
	ty_mx_switch(0, at + MS, 11, TY_TASK_DEAD, 0);
	x = explain(ty_mx_end(), 11);
	w = window_all(x.m);
	assert_int_equal(ty_requests_find(&x, &w, 100, 0, &q, NULL), 0);
	assert_int_equal(q.services_n, 1);
	assert_int_equal(q.services[0].n, 4);
	assert_int_equal(ty_answer_find(&x, &w, &q, &a), 0);
	ty_requests_fini(&q);
	ty_mx_drop();
	return a;
}

static void an_idle_server_is_answered_by_its_requests(void **state)
{
	struct ty_answer a = serves(100, 5, false);

	(void)state;
	assert_int_equal(a.of, TY_ANSWER_REQUESTS);
	assert_non_null(strstr(a.head, "t11/11 replied to 4 requests"));
	assert_string_equal(a.note[a.notes - 1],
			    "the critical path of the command, mostly idle: 429.0 ms = 400.0 ms "
			    "waiting for other processes or kernel threads + 29.0 ms on CPU");
}

static void a_busy_one_is_not(void **state)
{
	(void)state;
	assert_int_equal(serves(5, 100, false).of, TY_ANSWER_COMMAND);
}

static void a_client_of_its_own_is_part_of_the_command(void **state)
{
	(void)state;
	assert_int_equal(serves(100, 5, true).of, TY_ANSWER_COMMAND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_idle_server_is_answered_by_its_requests),
		cmocka_unit_test(a_busy_one_is_not),
		cmocka_unit_test(a_client_of_its_own_is_part_of_the_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
