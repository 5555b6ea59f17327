/* SPDX-License-Identifier: MIT */
/* A wait for a lock whose holder is idle is idle, but for no longer than that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture_given.h"

#define MS UINT64_C(1000000)
#define US UINT64_C(1000)

enum {
	NR_READ = 0,
	NR_WRITE = 1,
	NR_NANOSLEEP = 35,
	NR_ACCEPT = 43,
	NR_FLOCK = 73,
	NR_POLL = 7,
	NR_FUTEX = 202,
	LOCK_FD = 3,
	WORK_FD = 4,
	OTHER_FD = 5,
	LOCK_EX = 2,
	LOCK_UN = 8,
	WAIT = 0,
	WAKE = 1,
	WORD = 0x1000
};

/* What 12 does while it has the lock: for `idle_ms` it waits at WORK_FD by `nr`, then it sleeps for
 * `sleep_ms`, and waits there for `more_ms`. 11 waits at the same place when it has it. */
struct holder {
	int nr;
	unsigned idle_ms, sleep_ms;
	bool by_stack;		     /* the lock is a futex, by the stack of 11 */
	bool replied;		     /* before it got the lock, at the same place */
	bool asks;		     /* before that, at the same place */
	unsigned more_ms, part_ms;   /* it got a part of the answer, after so long */
	bool next_asks, next_serves; /* 11, at that place; another thread */
};

static void enter(uint64_t t, int tid, int nr, uint64_t a, uint64_t b)
{
	give(t, a, b, 0);
	ty_mx_enter(0, t, tid, nr);
}

/* 13 ends the wait of `tid` by a write, and sleeps. */
static uint64_t ends(uint64_t t, int tid)
{
	ty_mx_switch(0, t, 0, R, 13);
	enter(t + 1 * US, 13, NR_WRITE, 9, 0);
	ty_mx_waking(0, t + 2 * US, 13, tid, 0);
	ty_mx_exit(0, t + 3 * US, 13, NR_WRITE, 1);
	ty_mx_switch(0, t + 4 * US, 13, S, tid);
	return t + 5 * US;
}

/* A timer does. */
static uint64_t expires(uint64_t t, int tid)
{
	struct ty_event ev = {.ts_ns = t,
			      .kind = TY_EV_VECTOR_ENTRY,
			      .tid = 0,
			      .id = 30,
			      .flags = TY_EVF_HARDIRQ};

	ty_mx_feed(ev);
	ev.kind = TY_EV_HRTIMER_EXPIRE;
	ty_mx_feed(ev);
	ty_mx_waking_irq(0, t + 1 * US, 0, tid, 0);
	ty_mx_switch(0, t + 2 * US, 0, R, tid);
	return t + 3 * US;
}

/* 12 has the lock that 11 waits for, lets it go and waits for it again; 11 waits for work then, to
 * the end. The length of 11's stall; that of 12 must be none. */
static bool cut; /* and its sentence says so */
static enum ty_stack_role role_of(void *ctx, int32_t tid, uint64_t from_ns, uint64_t to_ns)
{
	return tid == 11 ? TY_ROLE_LOCK : TY_ROLE_NONE;
}

static uint64_t stall_of(struct holder does, uint64_t *start)
{
	const int nr = does.by_stack ? NR_FUTEX : NR_FLOCK;
	const uint64_t lock = does.by_stack ? WORD : LOCK_FD, take = does.by_stack ? WAIT : LOCK_EX,
		       let = does.by_stack ? WAKE : LOCK_UN;
	struct ty_explain x;
	const struct ty_model *m;
	uint64_t t = 1 * MS, ns = 0;
	struct ty_stalls s;

	givens = 0;
	cut = false;
	ty_mx_begin("mode=pids\npid=11\npid=12\n",
		    "taken 1 2\n" ROW("11", "11", "5", "one") ROW("12", "11", "5", "two")
			    ROW("13", "13", "1", "client"));
	ty_mx_switch(0, t, 0, R, 12);
	if (does.replied) {
		call(t + 1 * US, 12, NR_READ, 1, WORK_FD);
		call(t + 3 * US, 12, NR_WRITE, 1, WORK_FD);
		t += 5 * US;
	}
	if (!does.by_stack) {
		enter(t + 1 * US, 12, nr, lock, take);
		ty_mx_exit(0, t + 2 * US, 12, nr, 0);
	}
	if (does.asks)
		call(t + 3 * US, 12, NR_WRITE, 1, WORK_FD);
	if (does.part_ms) {
		enter(t + 6 * US, 12, does.nr, WORK_FD, 0);
		ty_mx_switch(0, t + 7 * US, 12, S, 0);
		t = ends(t + does.part_ms * MS, 12);
		ty_mx_exit(0, t, 12, does.nr, 1);
	}
	enter(t + 6 * US, 12, does.nr, WORK_FD, 0);
	ty_mx_switch(0, t + 7 * US, 12, S, 11);
	enter(t + 8 * US, 11, nr, lock, take);
	ty_mx_switch(0, t + 9 * US, 11, S, 0);
	t = ends(t + does.idle_ms * MS, 12);
	ty_mx_exit(0, t, 12, does.nr, 1);
	if (does.sleep_ms) {
		enter(t + 1 * US, 12, NR_NANOSLEEP, 0, 0);
		ty_mx_switch(0, t + 2 * US, 12, S, 0);
		t = expires(t + does.sleep_ms * MS, 12);
		ty_mx_exit(0, t, 12, NR_NANOSLEEP, 0);
	}
	if (does.more_ms) {
		enter(t + 1 * US, 12, does.nr, WORK_FD, 0);
		ty_mx_switch(0, t + 2 * US, 12, S, 0);
		t = ends(t + does.more_ms * MS, 12);
		ty_mx_exit(0, t, 12, does.nr, 1);
	}
	enter(t + 1 * US, 12, nr, lock, let);
	ty_mx_waking(0, t + 2 * US, 12, 11, 0);
	ty_mx_exit(0, t + 3 * US, 12, nr, 0);
	enter(t + 4 * US, 12, nr, lock, take);
	ty_mx_switch(0, t + 5 * US, 12, S, 11);
	ty_mx_exit(0, t + 6 * US, 11, nr, 0);
	if (does.next_asks || does.next_serves)
		call(t + 7 * US, 11, NR_WRITE, 1, does.next_asks ? WORK_FD : OTHER_FD);
	enter(t + 9 * US, 11, does.next_serves ? NR_READ : does.nr,
	      does.next_serves ? OTHER_FD : WORK_FD, 0);
	ty_mx_switch(0, t + 10 * US, 11, S, 0);
	ty_mx_switch(0, t + 900 * MS, 0, R, 13);
	ty_mx_switch(0, t + 901 * MS, 13, S, 0);
	m = ty_mx_end();
	x = explain(m, 0);
	x.role = does.by_stack ? role_of : NULL;
	s = stalls_by(&x, false);
	for (uint32_t i = 0; i < s.n; i++) {
		int tid = ty_model_thread(m, s.v[i].thread)->tid;

		if (s.v[i].kind != TY_STALL_LOCK)
			continue;
		if (does.nr == NR_ACCEPT && !does.next_serves)
			assert_int_equal(tid, 11);
		if (tid == 11) {
			ns = s.v[i].duration_ns;
			assert_int_equal(s.v[i].last_end_ns, s.v[i].start_ns + ns);
			*start = s.v[i].start_ns;
			assert_true(!s.v[i].proven || !strstr(s.v[i].sentence, "for work"));
			cut = strstr(s.v[i].sentence, "The whole wait took ");
		}
	}
	ty_stalls_fini(&s);
	ty_mx_drop();
	return ns;
}

static bool about(uint64_t ns, unsigned ms)
{
	return ns > ms * MS && ns < (ms + 1) * MS;
}

static void who_waits_behind_work_waits_for_work(void **state)
{
	uint64_t start;

	assert_int_equal(stall_of((struct holder){.nr = NR_ACCEPT, .idle_ms = 400}, &start), 0);
	/* A reply to another thread before that is no request. */
	assert_int_equal(
		stall_of((struct holder){.nr = NR_ACCEPT, .idle_ms = 400, .asks = true}, &start),
		0);
	/* So is a server's reply to the request before. */
	assert_int_equal(
		stall_of((struct holder){.nr = NR_READ, .idle_ms = 400, .replied = true}, &start),
		0);
	assert_int_equal(
		stall_of((struct holder){.nr = NR_READ, .idle_ms = 400, .by_stack = true}, &start),
		0);
	/* The next one waits at the same place. */
	assert_int_equal(stall_of((struct holder){.nr = NR_READ, .idle_ms = 400}, &start), 0);
}

static void who_waits_for_a_holder_that_does_not(void **state)
{
	uint64_t start;

	assert_true(about(
		stall_of((struct holder){.nr = NR_ACCEPT, .idle_ms = 1, .sleep_ms = 400}, &start),
		401));
	assert_true(about(
		stall_of((struct holder){.nr = NR_ACCEPT, .idle_ms = 100, .sleep_ms = 300}, &start),
		400));
	assert_true(about(stall_of((struct holder){.nr = NR_READ,
						   .idle_ms = 1,
						   .sleep_ms = 400,
						   .by_stack = true},
				   &start),
			  401));
	/* Mostly idle; what came then is reported. */
	assert_true(about(
		stall_of((struct holder){.nr = NR_ACCEPT, .idle_ms = 300, .sleep_ms = 100}, &start),
		100));
	assert_true(about(start, 301));
	assert_true(cut);
	/* The longest part of what came in between, for all the idle time behind it. */
	assert_true(about(stall_of((struct holder){.nr = NR_ACCEPT,
						   .idle_ms = 200,
						   .sleep_ms = 100,
						   .more_ms = 50},
				   &start),
			  100));
	assert_true(about(start, 201));
	assert_true(cut);
	assert_int_equal(
		stall_of((struct holder){.nr = NR_ACCEPT, .idle_ms = 300, .sleep_ms = 10}, &start),
		0);
	/* One connection in turns: an answer is waited for. */
	assert_true(about(
		stall_of((struct holder){.nr = NR_READ, .idle_ms = 400, .asks = true}, &start),
		399));
	assert_true(about(
		stall_of((struct holder){.nr = NR_READ, .idle_ms = 400, .asks = true, .part_ms = 2},
			 &start),
		399));
	assert_true(about(
		stall_of((struct holder){.nr = NR_READ, .idle_ms = 400, .next_asks = true}, &start),
		399));
	assert_false(cut);
	/* The waiter for the lock never accepts: it is no turn to do so. */
	assert_true(about(
		stall_of((struct holder){.nr = NR_ACCEPT, .idle_ms = 400, .next_serves = true},
			 &start),
		399));
}

static const char *socket_name;
static const char *fd_before(void *ctx, int32_t pid, int32_t fd, bool *cloexec)
{
	return fd == WORK_FD ? socket_name : NULL;
}

static bool none_left_out(void *ctx, int32_t pid)
{
	return false;
}

static bool polled(void *ctx, uint32_t thread, uint32_t call, int32_t *fd, bool *room)
{
	*fd = WORK_FD;
	*room = false;
	return true;
}

/* The command polls that one descriptor for 100 ms, until another process ends that; next: what it
 * then calls, on which one. The rule on that wait. */
static const char *polls(const char *name, int next, uint64_t fd)
{
	struct ty_explain x;
	struct ty_stalls s;
	const char *rule;

	givens = 0;
	socket_name = name;
	ty_mx_begin("mode=command\ncommand_tid=11\n", "taken 1 2\n" ROW("11", "11", "5", "one"));
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	enter(2 * MS, 11, NR_POLL, 0, 1);
	ty_mx_switch(0, 2 * MS, 11, S, 13);
	ty_mx_waking(0, 102 * MS, 13, 11, 0);
	ty_mx_switch(0, 102 * MS, 13, S, 11);
	ty_mx_exit(0, 102 * MS, 11, NR_POLL, 1);
	call(102 * MS + 2 * US, 11, next, 7, fd);
	ty_mx_switch(0, 105 * MS, 11, TY_TASK_DEAD, 0);
	x = explain(ty_mx_end(), 11);
	x.fd_before = fd_before;
	x.fds_left_out = none_left_out;
	x.fds_since_ns = 1;
	x.fds_ns = 2;
	x.polled = polled;
	s = stalls_by(&x, true);
	assert_true(s.n);
	rule = s.v[0].rule->id;
	ty_stalls_fini(&s);
	ty_mx_drop();
	return rule;
}

static void who_polls_a_listening_socket_accepts(void **state)
{
	(void)state;
	assert_string_equal(polls("TCP:[127.0.0.1:80 listening]", NR_READ, WORK_FD), "accept");
	assert_string_equal(polls(NULL, NR_ACCEPT, WORK_FD), "accept");
	assert_string_equal(polls(NULL, NR_ACCEPT, OTHER_FD), "critical-path");
	assert_string_equal(polls("TCP:[127.0.0.1:80->127.0.0.1:81]", NR_READ, WORK_FD),
			    "critical-path");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_waits_behind_work_waits_for_work),
		cmocka_unit_test(who_waits_for_a_holder_that_does_not),
		cmocka_unit_test(who_polls_a_listening_socket_accepts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
