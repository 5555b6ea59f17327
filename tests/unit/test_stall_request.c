/* SPDX-License-Identifier: MIT */
/* A client that waits for its reply; a server that has replied, and waits for the next request; and
 * which thread had to reply. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture_stall_count.h"

/* What 11 does on its socket before its wait (0: nothing) and after it; then it waits in the call
 * on this descriptor, to the end, or for `ms`, and takes something from `heard`. */
struct signalled {
	int before, after, nr;
	uint64_t fd;
	unsigned ms;
	uint64_t heard;
	bool addressed; /* each message has its address */
	bool command;	/* all that it ever did is known */
	int sig;	/* 0: not recorded */
};

/* 11, which was there before the recording, waits in epoll until 12 sends it a signal. */
static unsigned signalled(struct signalled does)
{
	struct ty_event exec = {.kind = TY_EV_EXEC, .id = 34, .tid = 11},
			sig = {.kind = TY_EV_SIGNAL_GENERATE, .id = 33, .tid = 12};
	struct ty_stalls s;
	unsigned n = 0;

	begin(does.command ? "mode=pids\npid=11\ncommand_tid=11\n" : "mode=all\n",
	      "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "12", "1", "other"));
	ty_mx_switch(0, t, 0, R, 11);
	exec.ts_ns = t += MS / 10;
	if (does.command)
		ty_mx_feed(exec);
	if (does.before)
		call(t += MS, 11, does.before, 5, 7);
	sleeps(11, NR_EPOLL_WAIT, 9, 0, 12);
	t += 400 * MS;
	wakes(12, NR_KILL, 11, 0, 11);
	sig.ts_ns = t;
	sig.u.sig.sig = does.sig;
	sig.u.sig.tid = 11;
	if (does.sig)
		ty_mx_feed(sig);
	goes_on(12, S, 11, NR_EPOLL_WAIT, 1);
	call(t += 1000, 11, does.after, 5, 7);
	given[givens - 1].args[4] = does.addressed ? 0x7000 : 0;
	sleeps(11, does.nr ? does.nr : NR_EPOLL_WAIT, does.fd, 0, 0);
	if (does.ms || does.heard) {
		time_is_up(11, does.nr ? does.nr : NR_EPOLL_WAIT, 1, does.ms);
		if (does.heard)
			call(t += 1000, 11, NR_RECVFROM, 5, does.heard);
		sleeps(11, NR_EPOLL_WAIT, 9, 0, 0);
	}
	ty_mx_event(0, t += 5 * MS, 0, TY_EV_OTHER);
	s = stalls_of(ty_mx_end(), 0, false);
	for (uint32_t i = 0; i < s.n; i++)
		if (s.v[i].kind == TY_STALL_SIGNAL) {
			assert_int_equal(s.v[i].proven, does.before != 0);
			n++;
		}
	ty_stalls_fini(&s);
	ty_mx_drop();
	return n;
}

#define ANSWERS .after = NR_SENDTO

static void who_answers_then_had_been_asked(void **state)
{
	assert_int_equal(signalled((struct signalled){ANSWERS, .fd = 9, .before = NR_RECVFROM}), 1);
	assert_int_equal(signalled((struct signalled){ANSWERS, .fd = 4}), 1);
	/* No message: it was stopped, or killed. */
	for (int sig = 9; sig < 24; sig++)
		assert_int_equal(signalled((struct signalled){ANSWERS, .fd = 9,
							      .before = NR_RECVFROM, .sig = sig}),
				 sig != 9 && (sig < 19 || sig > 22));
	/* It waits there for all its work, tells news, or is asked only now. */
	assert_int_equal(signalled((struct signalled){ANSWERS, .fd = 9}), 0);
	assert_int_equal(signalled((struct signalled){ANSWERS, .fd = 4, .before = NR_SENDTO}), 0);
	assert_int_equal(signalled((struct signalled){.after = NR_RECVFROM, .fd = 4}), 0);
	/* From its first call on it had taken nothing. */
	assert_int_equal(signalled((struct signalled){ANSWERS, .fd = 4, .command = true}), 0);
}

/* It tells a logger, and then waits for anything else, or for a moment. */
static void who_only_tells_news_had_not(void **state)
{
	assert_int_equal(signalled((struct signalled){ANSWERS, .fd = 4, .addressed = true}), 0);
	assert_int_equal(signalled((struct signalled){ANSWERS, .nr = NR_NANOSLEEP}), 0);
	assert_int_equal(signalled((struct signalled){ANSWERS, .nr = NR_FUTEX, .fd = 0x1000}), 0);
	assert_int_equal(signalled((struct signalled){ANSWERS, .fd = 4, .ms = 5}), 1);
	assert_int_equal(signalled((struct signalled){ANSWERS, .fd = 4, .heard = 8, .ms = 5}), 0);
	/* The thread that it notified sends its next request at once. */
	assert_int_equal(signalled((struct signalled){ANSWERS, .fd = 4, .heard = 7}), 1);
	assert_int_equal(signalled((struct signalled){ANSWERS, .fd = 4, .heard = 8}), 0);
}

/* 11 is in epoll_wait since before; 12 sends it a signal, and it sends and, if so, takes more. */
static uint32_t ends_after(bool takes)
{
	struct ty_stalls s;
	uint32_t n;

	begin("mode=pids\npid=11\n",
	      "taken 1 2\n" ROW("12", "12", "1",
				"other") "11\t11\t1\t5\tS\t0\t0\t0\t232\t-\t-\t-\tserver\n");
	ty_mx_switch(0, t, 0, R, 12);
	t += 400 * MS;
	wakes(12, NR_KILL, 11, 0, 11);
	goes_on(12, S, 11, NR_EPOLL_WAIT, 1);
	call(t += 1000, 11, NR_SENDTO, 5, 7);
	if (takes)
		call(t += 5000, 11, NR_RECVFROM, 5, 7);
	ty_mx_switch(0, t += 5 * MS, 11, R, 0);
	s = stalls_of(ty_mx_end(), 0, false);
	n = s.n;
	assert_true(!n || !s.v[0].proven);
	ty_stalls_fini(&s);
	ty_mx_drop();
	return n;
}

/* The next request is there already; without one it was requested to exit. */
static void who_answers_does_not_wait_for_more(void **state)
{
	assert_int_equal(ends_after(true), 1);
	assert_int_equal(ends_after(false), 0);
}

enum asked { BACKEND, STRANGER, STRANGER_OF_ANOTHER };

/* 11 wakes 12 by futex and waits for it; 12 waits in epoll until 13 wakes it, which it may have
 * sent something before, and then wakes 11; or 14 does, and 12 waits for 14. */
static uint32_t asked_by_futex(enum asked how)
{
	bool backend = how == BACKEND, other = how == STRANGER_OF_ANOTHER;
	int loop = other ? 14 : 12;
	struct ty_stalls s;
	uint32_t n = 0;

	begin("mode=all\n", "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "11", "1", "loop")
				    ROW("13", "13", "1", "stranger") ROW("14", "11", "1", "loop"));
	ty_mx_switch(0, t, 0, R, 13);
	sleeps(13, NR_READ, 6, 0, other ? 14 : 12);
	if (other)
		sleeps(14, NR_EPOLL_WAIT, 9, 0, 12);
	sleeps(12, NR_FUTEX, 0x1000, 128, 11);
	wakes(11, NR_FUTEX, 0x1000, 129, 12);
	sleeps(11, NR_FUTEX, 0x2000, 128, 12);
	ty_mx_exit(0, t += 1000, 12, NR_FUTEX, 0);
	if (backend)
		wakes(12, NR_WRITE, 7, 0, 13);
	if (other)
		sleeps(12, NR_FUTEX, 0x3000, 128, 0);
	else
		sleeps(12, NR_EPOLL_WAIT, 9, 0, backend ? 13 : 0);
	if (backend) {
		ty_mx_exit(0, t += 1000, 13, NR_READ, 1);
		sleeps(13, NR_NANOSLEEP, 0, 0, 0);
		time_is_up(13, NR_NANOSLEEP, 0, 300);
	} else {
		ty_mx_waking_irq(0, t += 300 * MS, 0, 13, 0);
		ty_mx_switch(0, t += 1000, 0, R, 13);
		ty_mx_exit(0, t += 1000, 13, NR_READ, 1);
	}
	wakes(13, NR_WRITE, 8, 0, loop);
	goes_on(13, S, loop, NR_EPOLL_WAIT, 1);
	if (other) {
		wakes(14, NR_FUTEX, 0x3000, 129, 12);
		goes_on(14, S, 12, NR_FUTEX, 0);
	}
	wakes(12, NR_FUTEX, 0x2000, 129, 11);
	goes_on(12, S, 11, NR_FUTEX, 0);
	ty_mx_switch(0, t += MS, 11, S, 0);
	s = stalls_of(ty_mx_end(), 0, false);
	for (uint32_t i = 0; i < s.n; i++)
		n += s.v[i].kind == TY_STALL_FUTEX && !strcmp(s.v[i].rule->id, "request-sent");
	ty_stalls_fini(&s);
	ty_mx_drop();
	return n;
}

/* So hands a runtime's thread over, which is not asked for anything. */
static void who_is_idle_was_not_asked(void **state)
{
	assert_int_equal(asked_by_futex(BACKEND), 1);
	assert_int_equal(asked_by_futex(STRANGER), 0);
	assert_int_equal(asked_by_futex(STRANGER_OF_ANOTHER), 0);
}

/* A pool: 11 wakes 12 (a task for it), then waits until 12 wakes it: which 13, a clock, had woken
 * by then. set: 12 had woken 13 before, as a thread that sets the clock does. Findings of 11. */
static unsigned pool(bool set, bool *proven)
{
	const char *row = "taken 1 2\n" ROW("11", "11", "1", "pool") ROW("12", "11", "1", "pool")
		ROW("13", "11", "1", "pool");
	const struct ty_model *m;
	struct ty_stalls s;
	unsigned n = 0;

	begin("mode=all\n", row);
	ty_mx_switch(0, t, 0, R, 13);
	sleeps(13, NR_FUTEX, 0x1300, 0, 12);
	sleeps(12, NR_FUTEX, 0x1200, 0, 11);
	wakes(11, NR_FUTEX, 0x1200, 1, 12);
	sleeps(11, NR_FUTEX, 0x1100, 0, 12);
	ty_mx_exit(0, t += 1000, 12, NR_FUTEX, 0);
	if (set) {
		wakes(12, NR_FUTEX, 0x1300, 1, 13);
		sleeps(12, NR_FUTEX, 0x1200, 0, 13);
		ty_mx_exit(0, t += 1000, 13, NR_FUTEX, 0);
		sleeps(13, NR_FUTEX, 0x1300, 0, 0);
	} else {
		sleeps(12, NR_FUTEX, 0x1200, 0, 0);
	}
	time_is_up(13, NR_FUTEX, -110, 300);
	wakes(13, NR_FUTEX, 0x1200, 1, 12);
	sleeps(13, NR_FUTEX, 0x1300, 0, 12);
	ty_mx_exit(0, t += 1000, 12, NR_FUTEX, 0);
	wakes(12, NR_FUTEX, 0x1100, 1, 11);
	sleeps(12, NR_FUTEX, 0x1200, 0, 11);
	ty_mx_exit(0, t += 1000, 11, NR_FUTEX, 0);
	ty_mx_switch(0, t += 5 * MS, 11, S, 0);
	m = ty_mx_end();
	s = stalls_of(m, 0, false);
	for (uint32_t i = 0; i < s.n; i++)
		if (s.v[i].thread == ty_model_thread_find(m, 11, t)) {
			*proven = s.v[i].proven;
			n++;
		}
	ty_stalls_fini(&s);
	ty_mx_drop();
	return n;
}

/* Nor is a reply by futex ever proven: which is client and which server is a pattern there. */
static void a_pools_clock_answers_nobody(void **state)
{
	bool proven = true;

	assert_int_equal(pool(false, &proven), 0);
	assert_int_equal(pool(true, &proven), 1);
	assert_false(proven);
}

/* 12, a thread of the command, tells 11 its result, or 13 its request, by one word, waits for
 * 400 ms at another one, and only exits then: idle in a pool, unless the command waited for it. */
static unsigned stalls_before_exit(bool awaited)
{
	enum { RESULT = 0x1000, QUEUE = 0x2000, END = 0x3000 };
	int peer = awaited ? 13 : 11;

	begin("mode=pids\npid=11\n",
	      "taken 1 2\n" ROW("11", "11", "1", "job") ROW("13", "11", "1", "other"));
	ty_mx_switch(0, t, 0, R, 13);
	sleeps(13, NR_FUTEX, RESULT, 0, 11);
	ty_mx_fork(0, t += MS, 11, 12, CLONE_THREAD);
	sleeps(11, NR_FUTEX, awaited ? END : RESULT, 0, 12);
	t += MS; /* else it might only say that it has begun */
	wakes(12, NR_FUTEX, RESULT, 1, peer);
	sleeps(12, NR_FUTEX, QUEUE, 0, peer);
	ty_mx_exit(0, t += 1000, peer, NR_FUTEX, 0);
	sleeps(peer, NR_NANOSLEEP, 0, 0, 0);
	time_is_up(peer, NR_NANOSLEEP, 0, 400);
	wakes(peer, NR_FUTEX, QUEUE, 1, 12);
	goes_on(peer, awaited ? S : R, 12, NR_FUTEX, 0);
	if (awaited)
		wakes(12, NR_FUTEX, END, 1, 11);
	ends(t += 1000, 12);
	ty_mx_switch(0, t += 1000, 12, TY_TASK_DEAD, 11);
	t += 10 * MS;
	ends(t, 11);
	ty_mx_switch(0, t += 1000, 11, TY_TASK_DEAD, 0);
	return stalls_of_thread(11, 12);
}

static void who_only_exits_then_waited_for_nothing(void **state)
{
	assert_int_equal(stalls_before_exit(false), 0);
	assert_int_equal(stalls_before_exit(true), 1);
}

/* 11 waits for 12 of its process, which waits until a timer expires and wakes 11: in epoll, where
 * 11 had woken it, or by futex. outside: 13, of another process, ends that wait. request: 11 and 12
 * each have one; serves: their process had replied to some; blocked: since the request 14 of it is
 * in a call, on CPU 1. The rule on 11's wait. */
static const char *timer_beside_14(int nr, bool request, bool outside, bool serves, bool blocked)
{
	const struct ty_model *m;
	struct ty_request open[2] = {{.replied_by = TY_NONE}, {.replied_by = TY_NONE}};
	struct ty_service served = {.n = 5};
	struct ty_requests all = {
		.v = open, .n = 2 * request, .services = &served, .services_n = serves};
	struct ty_stalls_opts o = {.requests = &all, .all = true};
	struct ty_explain x;
	struct ty_window w;
	struct ty_stalls s;
	const char *rule = "";

	begin("mode=all\n", "taken 1 2\n" ROW("11", "11", "1", "loop") ROW("12", "11", "1", "loop")
				    ROW("13", "13", "1", "client") ROW("14", "11", "1", "loop"));
	ty_mx_switch(0, t, 0, R, 12);
	if (nr == NR_EPOLL_WAIT)
		sleeps(12, nr, 4, 0, 11);
	open[0].start_ns = open[1].start_ns = t;
	if (blocked) {
		ty_mx_switch(1, t += 1000, 0, R, 14);
		give(t += 1000, 8, 0, 0);
		ty_mx_enter(1, t, 14, NR_FSYNC);
		ty_mx_switch(1, t += 1000, 14, D, 0);
	}
	if (nr == NR_EPOLL_WAIT) {
		wakes(11, NR_WRITE, 7, 0, 12);
		sleeps(11, NR_FUTEX, 0x1100, 0, 12);
		ty_mx_exit(0, t += 1000, 12, nr, 1);
	}
	sleeps(12, nr, 4, 0, nr == NR_EPOLL_WAIT ? 0 : 11);
	if (nr == NR_FUTEX)
		sleeps(11, NR_FUTEX, 0x1100, 0, 0);
	if (outside) {
		ty_mx_switch(0, t += 300 * MS, 0, R, 13);
		wakes(13, NR_WRITE, 5, 0, 12);
		goes_on(13, S, 12, nr, 1);
	} else {
		time_is_up(12, nr, nr == NR_EPOLL_WAIT ? 0 : -110, 300);
	}
	wakes(12, NR_FUTEX, 0x1100, 1, 11);
	goes_on(12, S, 11, NR_FUTEX, 0);
	if (blocked) {
		ty_mx_waking_irq(1, t += 1000, 0, 14, 1);
		ty_mx_switch(1, t += 1000, 0, R, 14);
		ty_mx_exit(1, t += 1000, 14, NR_FSYNC, 0);
	}
	ty_mx_switch(0, t += MS, 11, S, 0);
	m = ty_mx_end();
	open[0].end_ns = open[1].end_ns = t;
	open[0].thread = ty_model_thread_find(m, 12, t);
	open[1].thread = served.process = ty_model_thread_find(m, 11, t);
	x = explain(m, 0);
	w = window_all(m);
	assert_int_equal(ty_stalls_find(&x, &w, &o, 100, &s, NULL), 0);
	for (uint32_t i = 0; i < s.n; i++)
		if (s.v[i].thread == ty_model_thread_find(m, 11, t) &&
		    s.v[i].duration_ns > 200 * MS)
			rule = s.v[i].rule->id;
	ty_stalls_fini(&s);
	ty_mx_drop();
	return rule;
}

static const char *timer_of_12(int nr, bool request, bool outside, bool serves)
{
	return timer_beside_14(nr, request, outside, serves, false);
}

/* Threads of a runtime (Go) take turns to wait for its next timer. */
static void an_own_event_loop_is_idle_without_a_request(void **state)
{
	assert_string_equal(timer_of_12(NR_EPOLL_WAIT, false, false, false), "peer-idle");
	assert_string_equal(timer_of_12(NR_EPOLL_WAIT, true, false, true), "request-sent");
	/* While another thread has the request. */
	assert_string_equal(timer_beside_14(NR_EPOLL_WAIT, true, false, true, true), "peer-idle");
	/* A server's worker waits for the next client; what others wait for there is not known. */
	assert_string_equal(timer_of_12(NR_EPOLL_WAIT, false, true, true), "peer-idle");
	assert_string_equal(timer_of_12(NR_EPOLL_WAIT, true, true, true), "peer-idle");
	assert_string_equal(timer_of_12(NR_EPOLL_WAIT, false, true, false), "peer-idle");
}

/* A database's thread that sleeps in a transaction, say, while another one waits for its row. */
static void a_timer_inside_a_request_is_no_clock(void **state)
{
	assert_string_equal(timer_of_12(NR_FUTEX, false, false, true), "peer-idle");
	assert_string_equal(timer_of_12(NR_FUTEX, true, false, true), "in-request");
}

/* Schedulers of a runtime (Erlang): 11 waits for any event; 12, which it woke before, waits by
 * futex for a timer, and then wakes 11. If 12, too, waits for those events at other times, they
 * take turns. */
static void schedulers_that_take_turns_are_idle(void **state)
{
	for (unsigned turns = 0; turns < 2; turns++) {
		struct ty_stalls s;
		const char *rule = "";

		begin("mode=all\n",
		      "taken 1 2\n" ROW("11", "11", "1", "beam") ROW("12", "11", "1", "beam"));
		ty_mx_switch(0, t, 0, R, 12);
		sleeps(12, NR_EPOLL_WAIT, turns ? 4 : 9, 0, 11);
		wakes(11, NR_WRITE, 7, 0, 12);
		sleeps(11, NR_EPOLL_WAIT, 4, 0, 12);
		ty_mx_exit(0, t += 1000, 12, NR_EPOLL_WAIT, 1);
		sleeps(12, NR_FUTEX, 0x1100, 0, 0);
		time_is_up(12, NR_FUTEX, -110, 300);
		wakes(12, NR_WRITE, 5, 1, 11);
		goes_on(12, S, 11, NR_EPOLL_WAIT, 1);
		ty_mx_switch(0, t += MS, 11, S, 0);
		s = stalls_of(ty_mx_end(), 0, true);
		for (uint32_t i = 0; i < s.n; i++)
			if (s.v[i].duration_ns > 200 * MS && s.v[i].kind != TY_STALL_TIMER)
				rule = s.v[i].rule->id;
		assert_string_equal(rule, turns ? "peer-idle" : "request-sent");
		ty_stalls_fini(&s);
		ty_mx_drop();
	}
}

/* 12 sends 13 a request and waits; 13 is stopped, and 14, which continues it, had no CPU until then
 * because of 15. */
static void a_stop_is_no_wait_for_a_cpu(void **state)
{
	const struct ty_model *m;
	struct ty_stalls s;
	unsigned n = 0;

	begin("mode=all\n",
	      "taken 1 2\n" ROW("12", "12", "1", "client") ROW("13", "13", "1", "server")
		      ROW("14", "14", "1", "sh") ROW("15", "15", "1", "busy"));
	ty_mx_switch(0, t, 0, R, 13);
	sleeps(13, NR_READ, 6, 0, 12);
	wakes(12, NR_WRITE, 7, 0, 13);
	sleeps(12, NR_READ, 8, 0, 14);
	ty_mx_switch(0, t += 1000, 14, R, 13);
	ty_mx_exit(0, t += 1000, 13, NR_READ, 1);
	ty_mx_switch(0, t += 1000, 13, TY_TASK_STOPPED, 15);
	ty_mx_switch(0, t += 300 * MS, 15, S, 14);
	ty_mx_waking(0, t += 1000, 14, 13, 0);
	ty_mx_switch(0, t += 1000, 14, S, 13);
	wakes(13, NR_WRITE, 9, 0, 12);
	goes_on(13, S, 12, NR_READ, 1);
	ty_mx_switch(0, t += MS, 12, S, 0);
	m = ty_mx_end();
	s = stalls_of(m, 0, false);
	for (uint32_t i = 0; i < s.n; i++) {
		if (s.v[i].thread != ty_model_thread_find(m, 12, t))
			continue;
		n++;
		assert_int_equal(s.v[i].kind, TY_STALL_FD);
		assert_int_equal(s.v[i].links, 2);
		assert_int_equal(s.v[i].culprit, ty_model_thread_find(m, 13, t));
	}
	assert_int_equal(n, 1);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

/* 11 hands something to 12 of its process by futex and waits in epoll; 12 sends to 13, of another
 * process or of theirs, which wakes 11 300 ms later. The rule on
 * 11's wait. */
static unsigned handed_on(bool outside)
{
	const char *rows =
		outside ? "taken 1 2\n" ROW("11", "11", "1", "poller")
				  ROW("12", "11", "1", "worker") ROW("13", "13", "1", "client")
			: "taken 1 2\n" ROW("11", "11", "1", "poller")
				  ROW("12", "11", "1", "worker") ROW("13", "11", "1", "client");

	begin("mode=all\n", rows);
	ty_mx_switch(0, t, 0, R, 13);
	sleeps(13, NR_READ, 6, 0, 12);
	sleeps(12, NR_FUTEX, 0x1200, 0, 11);
	wakes(11, NR_FUTEX, 0x1200, 1, 12);
	sleeps(11, NR_EPOLL_WAIT, 4, 0, 12);
	ty_mx_exit(0, t += 1000, 12, NR_FUTEX, 0);
	t += 200 * MS;
	wakes(12, NR_WRITE, 5, 0, 13);
	sleeps(12, NR_FUTEX, 0x1200, 0, 13);
	ty_mx_exit(0, t += 1000, 13, NR_READ, 1);
	t += 100 * MS;
	wakes(13, NR_WRITE, 6, 0, 11);
	goes_on(13, S, 11, NR_EPOLL_WAIT, 1);
	ty_mx_switch(0, t += MS, 11, S, 0);
	return count_stalls(0, false, 11);
}

/* A poller that hands what arrives to a worker, as Erlang's, waits for whatever arrives next. */
static void what_comes_from_outside_is_no_reply_to_a_worker(void **state)
{
	assert_int_equal(handed_on(true), 0);
	assert_int_equal(handed_on(false), 1);
}

/* 12 wakes 11 by futex, waits, and is woken by the end of 11: of the process, or of 11 alone, after
 * which it continues; or by 11, which then ends the process. Stalls of 12. */
enum exits { PROCESS, THREAD, WOKEN_BEFORE };
static unsigned process_exits(enum exits how)
{
	enum { NR_EXIT = 60 };

	begin("mode=all\n",
	      "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "11", "1", "poller"));
	ty_mx_switch(0, t, 0, R, 11);
	sleeps(11, NR_FUTEX, 0x1100, 0, 12);
	wakes(12, NR_FUTEX, 0x1100, 1, 11);
	sleeps(12, NR_FUTEX, 0x1200, 0, 11);
	ty_mx_exit(0, t += 1000, 11, NR_FUTEX, 0);
	sleeps(11, NR_NANOSLEEP, 0, 0, 0);
	time_is_up(11, NR_NANOSLEEP, 0, 300);
	if (how == WOKEN_BEFORE)
		wakes(11, NR_FUTEX, 0x1200, 1, 12);
	ty_mx_enter(0, t += 1000, 11, NR_EXIT);
	if (how != WOKEN_BEFORE)
		ty_mx_waking(0, t += 1000, 11, 12, 0);
	ends(t += 1000, 11);
	ty_mx_switch(0, t += 1000, 11, TY_TASK_DEAD, 12);
	ty_mx_exit(0, t += 1000, 12, NR_FUTEX, how == PROCESS ? -4 : 0);
	if (how == THREAD)
		call(t += 1000, 12, NR_WRITE, 1, 7);
	ends(t += MS, 12);
	ty_mx_switch(0, t += 1000, 12, TY_TASK_DEAD, 0);
	return count_stalls(0, false, 12);
}

static void the_end_of_a_process_ends_no_stall(void **state)
{
	assert_int_equal(process_exits(PROCESS), 0);
	assert_int_equal(process_exits(THREAD), 1);
	assert_int_equal(process_exits(WOKEN_BEFORE), 0);
}

/* 11, which may have received a request, sends one to a peer, as its client, and waits in epoll
 * until that times out; then it gives up, or has the reply. */
static unsigned gives_up(bool received, bool replied, const char *peer)
{
	enum { NR_CLOSE = 3, NR_CONNECT = 42 };
	struct ty_requests requests;
	struct ty_stalls_opts o = {.requests = &requests};
	const struct ty_model *m;
	struct ty_explain x;
	struct ty_window w;
	struct ty_stalls s;
	unsigned n;

	begin("mode=pids\npid=11\n", "taken 1 2\n" ROW("11", "11", "1", "resolver"));
	ty_mx_switch(0, t, 0, R, 11);
	if (received)
		call(t += 1000, 11, NR_RECVFROM, 40, 5);
	call(t += 2000, 11, NR_CONNECT, 0, 6);
	call(t += 2000, 11, NR_SENDTO, 40, 6);
	sleeps(11, NR_EPOLL_WAIT, 9, 0, 0);
	time_is_up(11, NR_EPOLL_WAIT, 0, 300);
	if (replied)
		call(t += 2000, 11, NR_RECVFROM, 60, 6);
	call(t += 2000, 11, NR_CLOSE, 0, 6);
	sleeps(11, NR_NANOSLEEP, 0, 0, 0);
	ty_mx_event(0, t += 5 * MS, 0, TY_EV_OTHER);
	m = ty_mx_end();
	x = explain(m, 0);
	w = window_all(m);
	assert_int_equal(ty_requests_find(&x, &w, 100, 0, &requests, NULL), 0);
	assert_int_equal(ty_stalls_find(&x, &w, &o, 100, &s, NULL), 0);
	n = s.n;
	assert_true(n <= 1);
	if (n) {
		assert_string_equal(s.v[0].rule->id, "reply-awaited-in-request");
		assert_false(s.v[0].proven);
		assert_string_equal(s.v[0].peer, peer);
	}
	ty_stalls_fini(&s);
	ty_requests_fini(&requests);
	ty_mx_drop();
	return n;
}

/* 11 accepts 13's connection, or connects to 13, and then makes so many other calls; it sends
 * something there, and waits in epoll until 13 sends something, 300 ms later. The rule on that
 * wait. */
static const char *long_after(int nr, int64_t ret, unsigned calls)
{
	struct ty_requests requests;
	struct ty_stalls_opts o = {.requests = &requests, .all = true};
	const struct ty_model *m;
	const char *rule = "";
	struct ty_explain x;
	struct ty_window w;
	struct ty_stalls s;

	begin("mode=all\n",
	      "taken 1 2\n" ROW("11", "11", "1", "one") ROW("13", "13", "1", "other"));
	ty_mx_switch(0, t, 0, R, 13);
	sleeps(13, NR_READ, 5, 0, 11);
	call(t += 1000, 11, nr, ret, 6);
	for (unsigned i = 0; i < calls; i++)
		call(t += 2000, 11, NR_GETPID, 11, 0);
	wakes(11, NR_WRITE, 6, 0, 13);
	sleeps(11, NR_EPOLL_WAIT, 9, 0, 13);
	ty_mx_exit(0, t += 1000, 13, NR_READ, 1);
	sleeps(13, NR_NANOSLEEP, 0, 0, 0);
	time_is_up(13, NR_NANOSLEEP, 0, 300);
	wakes(13, NR_WRITE, 5, 0, 11);
	goes_on(13, S, 11, NR_EPOLL_WAIT, 1);
	call(t += 1000, 11, NR_READ, 40, 6);
	ty_mx_switch(0, t += MS, 11, S, 0);
	m = ty_mx_end();
	x = explain(m, 0);
	w = window_all(m);
	assert_int_equal(ty_requests_find(&x, &w, 100, 0, &requests, NULL), 0);
	assert_int_equal(ty_stalls_find(&x, &w, &o, 100, &s, NULL), 0);
	for (uint32_t i = 0; i < s.n; i++)
		if (s.v[i].thread == ty_model_thread_find(m, 11, t))
			rule = s.v[i].rule->id;
	ty_stalls_fini(&s);
	ty_requests_fini(&requests);
	ty_mx_drop();
	return rule;
}

/* However long ago a server accepted the connection, what it sends there is no request. */
static void the_side_of_a_connection_lasts(void **state)
{
	enum { NR_CONNECT = 42, NR_ACCEPT = 43 };

	assert_string_equal(long_after(NR_ACCEPT, 6, 5), "any-event");
	assert_string_equal(long_after(NR_ACCEPT, 6, 600), "any-event");
	assert_string_equal(long_after(NR_CONNECT, 0, 5), "reply-late");
	assert_string_equal(long_after(NR_CONNECT, 0, 600), "reply-late");
}

/* A proxy or resolver whose upstream is silent: idle otherwise. */
static void a_client_waits_while_the_peer_is_silent(void **state)
{
	assert_int_equal(gives_up(true, false, "fd 6"), 1);
	assert_int_equal(gives_up(false, false, ""), 0);
	assert_int_equal(gives_up(true, true, ""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pools_clock_answers_nobody),
		cmocka_unit_test(who_answers_then_had_been_asked),
		cmocka_unit_test(who_only_tells_news_had_not),
		cmocka_unit_test(who_answers_does_not_wait_for_more),
		cmocka_unit_test(who_is_idle_was_not_asked),
		cmocka_unit_test(who_only_exits_then_waited_for_nothing),
		cmocka_unit_test(an_own_event_loop_is_idle_without_a_request),
		cmocka_unit_test(a_timer_inside_a_request_is_no_clock),
		cmocka_unit_test(schedulers_that_take_turns_are_idle),
		cmocka_unit_test(a_stop_is_no_wait_for_a_cpu),
		cmocka_unit_test(what_comes_from_outside_is_no_reply_to_a_worker),
		cmocka_unit_test(a_client_waits_while_the_peer_is_silent),
		cmocka_unit_test(the_side_of_a_connection_lasts),
		cmocka_unit_test(the_end_of_a_process_ends_no_stall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
