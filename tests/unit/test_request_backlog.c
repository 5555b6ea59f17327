/* SPDX-License-Identifier: MIT */
/* A client whose request the server received late. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "answer.h"
#include "fixture_stall_count.h"
#include "request_backlog.h"

enum { NR_ACCEPT = 43 };

enum how {
	BACKLOG,
	SOON,	 /* the server is idle: it receives the request after 40 ms */
	PUSHED,	 /* the client is woken by what is sent to another descriptor */
	THREADS, /* another thread of the client ran later, and may have sent the request */
	TIMERS,	 /* the client's own timer wakes it twice meanwhile */
};

/* 13 sleeps for 300 ms, then 11 receives its request and replies, which wakes it. */
static void late(enum how how)
{
	struct ty_requests q;
	struct ty_explain x;
	struct ty_window w;
	struct ty_backlog b;
	struct ty_answer a;
	uint64_t slept;

	begin("mode=pids\npid=11\n",
	      "taken 1 2\n" ROW("11", "11", "1", "server") ROW("13", "13", "1", "client"));
	ty_mx_switch(0, t, 0, R, 13);
	if (how == THREADS)
		ty_mx_fork(0, t += 1000, 13, 14, CLONE_THREAD);
	slept = t += 1000;
	ty_mx_switch(0, t, 13, S, 11);
	t += how == SOON ? 40 * MS : 300 * MS;
	for (unsigned i = 0; i < (how == TIMERS ? 2 : how == THREADS); i++) {
		const int tid = how == TIMERS ? 13 : 14;

		ty_mx_switch(0, t += 1000, 11, R, 0);
		timer_wakes(tid, 1);
		ty_mx_switch(0, t += 1000, tid, S, 11);
		t += how == TIMERS ? 299 * MS : 40 * MS;
	}
	call(t += 1000, 11, NR_ACCEPT, 6, 3);
	call(t += 2000, 11, NR_RECVFROM, 40, 6);
	if (how == PUSHED)
		call(t += 2000, 11, NR_SENDTO, 40, 6);
	wakes(11, NR_SENDTO, how == PUSHED ? 8 : 6, 0, 13);
	ty_mx_switch(0, t += MS, 11, S, 13);
	ty_mx_switch(0, t += MS, 13, S, 0);
	x = explain(ty_mx_end(), 0);
	w = window_all(x.m);
	assert_int_equal(ty_requests_find(&x, &w, 100, 0, &q, NULL), 0);
	assert_int_equal(q.n, 1);
	assert_int_equal(ty_request_backlog_find(&x, &q, &w, &b), 0);
	assert_int_equal(b.n, how == BACKLOG || how == TIMERS);
	if (b.n) {
		assert_int_equal(ty_model_thread(x.m, b.client)->tid, 13);
		assert_int_equal(b.start_ns, slept);
		assert_int_equal(b.wait_ns, q.v[0].start_ns - slept);
		assert_int_equal(ty_answer_find(&x, &w, &q, &a), 0);
		assert_non_null(
			strstr(a.note[0],
			       how == TIMERS ? "13 waited 900 ms before its request was received"
					     : "13 waited 300 ms before its request was received"));
		assert_non_null(strstr(a.note[1], "of that queueing, "));
		assert_non_null(strstr(a.note[1], "11 ran"));
	}
	ty_requests_fini(&q);
	ty_mx_drop();
}

static void a_request_waits_before_it_is_received(void **state)
{
	late(BACKLOG);
	late(TIMERS);
	late(SOON);
}

static void not_every_sleep_before_a_reply_is_one(void **state)
{
	late(PUSHED);
	late(THREADS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_waits_before_it_is_received),
		cmocka_unit_test(not_every_sleep_before_a_reply_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
