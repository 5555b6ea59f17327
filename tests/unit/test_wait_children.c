/* SPDX-License-Identifier: MIT */
/* A command that waits for several children: whose time its critical path has. */
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

static void sleeps_till(uint64_t from, int tid, uint64_t till)
{
	ty_mx_enter(1, from, tid, NR_NANOSLEEP);
	ty_mx_switch(1, from, tid, S, 0);
	timer(till, tid);
	ty_mx_switch(1, till, 0, R, tid);
	ty_mx_exit(1, till, tid, NR_NANOSLEEP, 0);
}

static void exits(uint64_t at, int tid)
{
	ty_mx_waking(1, at, tid, 11, 0);
	ty_mx_switch(1, at, tid, TY_TASK_DEAD, 0);
	ty_mx_switch(0, at, 0, R, 11);
	ty_mx_exit(0, at, 11, NR_WAIT4, tid);
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		assert_string_equal(text, part);
}

enum { ALONE, WROTE, FED };

/* The command makes 12 and 13 and waits for both. 12 exits after 90 ms, 13 after 290 ms. 13 sleeps
 * for all of it; also if the command writes something in between (WROTE). Or 12 wakes it after 40
 * ms, as in a pipeline (FED). */
static struct ty_answer two_children(int how)
{
	struct ty_answer a;

	givens = 0;
	ty_mx_begin("mode=command\ncommand_tid=11\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	call(1 * MS, 11, NR_READ, 0, 0);
	ty_mx_fork(0, 8 * MS, 11, 12, 0);
	ty_mx_fork(0, 9 * MS, 11, 13, 0);
	ty_mx_enter(0, 10 * MS, 11, NR_WAIT4);
	ty_mx_switch(0, 10 * MS, 11, S, 0);
	ty_mx_waking(0, 10 * MS, 0, 12, 1);
	ty_mx_switch(1, 10 * MS, 0, R, 13);
	if (how == FED) {
		ty_mx_enter(1, 10 * MS + 1000, 13, NR_READ);
		ty_mx_switch(1, 10 * MS + 2000, 13, S, 12);
		sleeps_till(11 * MS, 12, 50 * MS);
		ty_mx_waking(1, 50 * MS + 1000, 12, 13, 1);
		sleeps_till(51 * MS, 12, 100 * MS);
	} else {
		ty_mx_enter(1, 10 * MS + 1000, 13, NR_NANOSLEEP);
		ty_mx_switch(1, 10 * MS + 2000, 13, S, 12);
		sleeps_till(11 * MS, 12, 100 * MS);
	}
	exits(100 * MS + 2000, 12);
	if (how == WROTE)
		call(100 * MS + 10000, 11, NR_WRITE, 1, 4);
	ty_mx_enter(0, 100 * MS + 20000, 11, NR_WAIT4);
	ty_mx_switch(0, 100 * MS + 20000, 11, S, 0);
	if (how == FED) {
		ty_mx_switch(1, 100 * MS + 30000, 0, R, 13);
		ty_mx_exit(1, 100 * MS + 30000, 13, NR_READ, 1);
		sleeps_till(101 * MS, 13, 300 * MS);
	} else {
		timer(300 * MS, 13);
		ty_mx_switch(1, 300 * MS, 0, R, 13);
		ty_mx_exit(1, 300 * MS, 13, NR_NANOSLEEP, 0);
	}
	exits(300 * MS + 2000, 13);
	ty_mx_switch(0, 301 * MS, 11, TY_TASK_DEAD, 0);
	a = answer_of(11);
	assert_int_equal(a.total_ns, 300 * MS);
	ty_mx_drop();
	return a;
}

/* The first of two waits is no delay, if the child that exits last works on its own. */
static void the_last_child_has_the_time(void **state)
{
	struct ty_answer a;

	(void)state;
	a = two_children(ALONE);
	assert_has(a.children, "descendants: t13/13 290 ms");
	a = two_children(WROTE);
	assert_has(a.children, "t13/13 200 ms, t12/12 90.0 ms");
	a = two_children(FED);
	assert_has(a.children, "t13/13 200 ms, t12/12 90.0 ms");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_child_has_the_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
