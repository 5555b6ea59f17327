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
	BEHIND,	 /* the server has another request meanwhile */
	LOST,	 /* its first packet is sent again, and the server accepts only then */
	KNOWN,	 /* the same on a connection that the server has had */
};

static void softirq(int kind, uint8_t vec, uint8_t flags)
{
	struct ty_event ev = {.kind = (uint8_t)kind,
			      .ts_ns = t += 1000,
			      .tid = 11,
			      .flags = flags | TY_EVF_SOFTIRQ};

	ev.u.softirq.vec = vec;
	ty_mx_feed(ev);
}

/* A timer of TCP sends what wakes 13, while 11 runs. */
static void net_timer_wakes(void)
{
	struct ty_event ev = {.kind = TY_EV_WAKING, .id = 2, .tid = 11, .flags = TY_EVF_SOFTIRQ};

	softirq(TY_EV_SOFTIRQ_ENTRY, 1, 0);
	softirq(TY_EV_SOFTIRQ_RAISE, 3, 0);
	softirq(TY_EV_SOFTIRQ_EXIT, 1, 0);
	softirq(TY_EV_SOFTIRQ_ENTRY, 3, 0);
	ev.ts_ns = t += 1000;
	ev.u.wake.tid = 13;
	ty_mx_feed(ev);
	softirq(TY_EV_SOFTIRQ_EXIT, 3, 0);
}

/* 13 sleeps for 300 ms, then 11 receives its request and replies, which wakes it. */
static void late(enum how how)
{
	struct ty_requests q;
	struct ty_explain x;
	struct ty_window w;
	struct ty_backlog b;
	const struct ty_request *of;
	struct ty_answer a;
	uint32_t client;
	uint64_t slept;
	const bool lost = how == LOST || how == KNOWN;

	begin("mode=pids\npid=11\n",
	      "taken 1 2\n" ROW("11", "11", "1", "server") ROW("13", "13", "1", "client"));
	ty_mx_switch(0, t, 0, R, 13);
	if (how == THREADS)
		ty_mx_fork(0, t += 1000, 13, 14, CLONE_THREAD);
	slept = t += 1000;
	ty_mx_switch(0, t, 13, S, 11);
	if (how == KNOWN)
		call(t += 1000, 11, NR_ACCEPT, 6, 3);
	if (how == BEHIND) {
		call(t += 1000, 11, NR_ACCEPT, 7, 3);
		call(t += 2000, 11, NR_RECVFROM, 40, 7);
	}
	t += how == SOON ? 40 * MS : 300 * MS;
	if (how == BEHIND)
		call(t += 2000, 11, NR_SENDTO, 40, 7);
	for (unsigned i = 0; i < (how == TIMERS ? 2 : how == THREADS); i++) {
		const int tid = how == TIMERS ? 13 : 14;

		ty_mx_switch(0, t += 1000, 11, R, 0);
		timer_wakes(tid, 1);
		ty_mx_switch(0, t += 1000, tid, S, 11);
		t += how == TIMERS ? 299 * MS : 40 * MS;
	}
	if (lost) {
		net_timer_wakes();
		ty_mx_switch(0, t += 1000, 11, R, 13);
		ty_mx_switch(0, t += 1000, 13, S, 11);
	}
	if (how != KNOWN)
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
	assert_int_equal(q.n, 1 + (how == BEHIND));
	of = &q.v[q.n - 1];
	assert_int_equal(ty_request_backlog_find(&x, &q, &w, &of, 1, &client, &b), 0);
	assert_int_equal(b.n, how == BACKLOG || how == BEHIND || how == TIMERS || how == LOST);
	assert_int_equal(client == TY_NONE, how == SOON || how == PUSHED || how == KNOWN);
	assert_int_equal(b.connecting, how == LOST);
	assert_int_equal(ty_answer_find(&x, &w, &q, &a), 0);
	assert_null(strstr(a.head, "none waited"));
	if (b.n) {
		assert_int_equal(ty_model_thread(x.m, b.client)->tid, 13);
		assert_int_equal(b.start_ns, slept);
		assert_int_equal(b.wait_ns, of->start_ns - slept);
		assert_int_equal(how != BEHIND, !!strstr(a.head, "; t13/13 waited "));
		assert_int_equal(how != BEHIND, !!strstr(a.sum_of, "request, from t13/13: "));
		assert_int_equal(how == BEHIND,
				 !!strstr(a.note[0], "(queued behind the slowest request)"));
		assert_non_null(strstr(
			a.note[0],
			how == TIMERS
				? "13 waited at least 900 ms before its request was received"
				: "13 waited at least 300 ms before its request was received"));
		assert_int_equal(how == LOST, !!strstr(a.note[0], "(a packet of its connection"));
		assert_int_equal(how != LOST && how != BEHIND,
				 !!strstr(a.note[1], "of that queueing, t11/11 ran"));
	}
	ty_requests_fini(&q);
	ty_mx_drop();
}

static void a_request_waits_before_it_is_received(void **state)
{
	late(BACKLOG);
	late(BEHIND);
	late(TIMERS);
	late(SOON);
}

static void a_connection_is_made_late(void **state)
{
	late(LOST);
	late(KNOWN);
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
		cmocka_unit_test(a_connection_is_made_late),
		cmocka_unit_test(not_every_sleep_before_a_reply_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
