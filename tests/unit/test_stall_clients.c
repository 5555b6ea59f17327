/* SPDX-License-Identifier: MIT */
/* The clients that a stall inside a request held up are named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_stall_count.h"
#include "requests.h"

/* 11 received a request at 20 ms, sleeps, and replies at 140 ms, which wakes 13. That one sleeps
 * since then or since later, since long before (it waits for something else, or awaits a reply
 * since then), or was woken by another thread, or replies to queries of 11. How many clients are
 * named? */
enum since { AS_LONG, LATER, BEFORE, WOKEN_BY_OTHER, QUERIED, QUEUED };

static unsigned clients(enum since how)
{
	static const unsigned asleep_ms[] = {19, 60, 3, 19, 19, 3};
	struct ty_request q = {.start_ns = 20 * MS, .end_ns = 141 * MS, .fd = 9};
	struct ty_request awaited = {.start_ns = 2 * MS, .end_ns = 142 * MS, .fd = 3};
	struct ty_requests r = {
		.v = &q, .n = 1, .client_waits = &awaited, .client_waits_n = how == QUEUED};
	struct ty_stalls_opts o = {.requests = &r};
	unsigned named = 0, at = asleep_ms[how];
	struct ty_explain x;
	struct ty_window w;
	struct ty_stalls s;

	begin("mode=pids\npid=11\n", "taken 1 2\n" ROW("11", "11", "1", "server"));
	ty_mx_switch(1, 1 * MS, 0, R, 13);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	if (at < 20)
		ty_mx_switch(1, at * MS, 13, S, 12);
	if (how == QUERIED)
		call(10 * MS, 11, NR_WRITE, 10, 9);
	t = 20 * MS;
	call(t, 11, NR_RECVFROM, 10, 9);
	sleeps(11, NR_NANOSLEEP, 0, 0, 0);
	if (at > 20)
		ty_mx_switch(1, at * MS, 13, S, 12);
	t = 30 * MS;
	time_is_up(11, NR_NANOSLEEP, 0, 109);
	t = 140 * MS;
	give(t, 9, 0, 1);
	ty_mx_enter(0, t, 11, NR_WRITE);
	if (how == WOKEN_BY_OTHER)
		ty_mx_waking(1, t + 500, 12, 13, 1);
	else
		ty_mx_waking(0, t + 500, 11, 13, 1);
	ty_mx_exit(0, t + 1000, 11, NR_WRITE, 10);
	ty_mx_switch(1, 141 * MS, 12, R, 13);
	ty_mx_event(0, 142 * MS, 11, TY_EV_OTHER);
	x = explain(ty_mx_end(), 0);
	q.thread = ty_model_thread_find(x.m, 11, 20 * MS);
	awaited.thread = ty_model_thread_find(x.m, 13, 20 * MS);
	w = window_all(x.m);
	assert_int_equal(ty_stalls_find(&x, &w, &o, 10, &s, NULL), 0);
	for (uint32_t i = 0; i < s.n; i++)
		if (s.v[i].in_request)
			named += 1 + !!strstr(s.v[i].sentence,
					      "Meanwhile t13/13 waited for a reply from");
	ty_stalls_fini(&s);
	ty_mx_drop();
	assert_true(named); /* the stall itself */
	return named - 1;
}

static void clients_of_a_stall(void **state)
{
	(void)state;
	assert_int_equal(clients(AS_LONG), 1);
	assert_int_equal(clients(LATER), 1); /* its request is not received yet */
	assert_int_equal(clients(BEFORE), 0);
	assert_int_equal(clients(QUEUED), 1); /* it had sent a request before that one */
	assert_int_equal(clients(WOKEN_BY_OTHER), 0);
	assert_int_equal(clients(QUERIED), 0); /* 13 is the server there */
}

/* 11 received the first part of a request and waits for the next one, which 13, its client, sends
 * 300 ms later, or for what 13 sends on another connection; then it replies. Stalls by that
 * request. */
static unsigned waits_on(uint64_t fd)
{
	struct ty_request q = {.fd = 9};
	struct ty_requests r = {.v = &q, .n = 1};
	struct ty_stalls_opts o = {.requests = &r};
	struct ty_explain x;
	struct ty_window w;
	struct ty_stalls s;
	unsigned n = 0;

	begin("mode=all\n",
	      "taken 1 2\n" ROW("11", "11", "1", "server") ROW("13", "13", "1", "client"));
	ty_mx_switch(0, t, 0, R, 11);
	q.start_ns = t + 1000;
	call(t, 11, NR_RECVFROM, 10, 9);
	sleeps(11, NR_RECVFROM, fd, 0, 13);
	t += 300 * MS;
	wakes(13, NR_SENDTO, 3, 0, 11);
	goes_on(13, S, 11, NR_RECVFROM, 10);
	call(t += 1000, 11, NR_SENDTO, 10, 9);
	q.end_ns = t += 2000;
	ty_mx_switch(0, t += MS, 11, S, 0);
	x = explain(ty_mx_end(), 0);
	q.thread = q.replied_by = ty_model_thread_find(x.m, 11, t);
	w = window_all(x.m);
	assert_int_equal(ty_stalls_find(&x, &w, &o, 10, &s, NULL), 0);
	for (uint32_t i = 0; i < s.n; i++)
		n += s.v[i].thread == q.thread && s.v[i].in_request;
	ty_stalls_fini(&s);
	ty_mx_drop();
	return n;
}

static void a_client_does_not_wait_while_it_is_awaited(void **state)
{
	assert_int_equal(waits_on(9), 0);
	assert_int_equal(waits_on(8), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clients_of_a_stall),
		cmocka_unit_test(a_client_does_not_wait_while_it_is_awaited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
