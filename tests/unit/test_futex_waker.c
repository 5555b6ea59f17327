/* SPDX-License-Identifier: MIT */
/*
 * Waits for a lock on the CPU: the thread that released it is named, also for a wait that was slept
 * through in part, and for a thread that waits for the one that spins; what is no such wait. And
 * the waker of a word behind a timer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "chain.h"
#include "futex_waker.h"
#include "fixture_given.h"

#define MS UINT64_C(1000000)

enum {
	NR_FUTEX = 202,
	LOCK_PI = 6,
	UNLOCK_PI = 7,
	WAIT = 0,
	WAKE = 1,
	PRIVATE = 0x80,
	WORD = 0x1000,
	OTHER_WORD = 0x2000
};

static const char threads[] = "taken 1 2\n" ROW("11", "11", "9", "job") ROW("12", "11", "9", "own")
	ROW("13", "13", "9", "other");

/* 11, on CPU 0, waits in the call for the word: it spins for so long, then sleeps; `by`, on CPU 1,
 * makes its call on `let_go` in the end. The call returns `ret`. */
static const struct ty_model *waits(uint64_t op, unsigned spins_ms, unsigned sleeps_ms, int by,
				    uint64_t let_go, uint64_t by_op, int64_t ret)
{
	uint64_t t = 2 * MS;

	givens = 0;
	ty_mx_begin("mode=pids\npid=11\n", threads);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_switch(1, 1 * MS, 0, R, by);
	give(t, WORD, op, 0);
	ty_mx_enter(0, t, 11, NR_FUTEX);
	t += spins_ms * MS;
	if (sleeps_ms)
		ty_mx_switch(0, t, 11, S, 0);
	t += sleeps_ms * MS;
	give(t, let_go, by_op, 0);
	ty_mx_enter(1, t, by, NR_FUTEX);
	if (sleeps_ms) {
		ty_mx_waking(1, t += 1000, by, 11, 0);
		ty_mx_switch(0, t += 1000, 0, R, 11);
	}
	ty_mx_exit(0, t += 1000, 11, NR_FUTEX, ret);
	ty_mx_exit(1, t += 1000, by, NR_FUTEX, 0);
	ty_mx_switch(0, t += 5 * MS, 11, S, 0);
	ty_mx_switch(1, t += MS, by, S, 0);
	return ty_mx_end();
}

static void check(uint64_t op, unsigned spins_ms, unsigned sleeps_ms, int by, uint64_t let_go,
		  uint64_t by_op, int64_t ret, enum ty_stall_kind kind, int culprit,
		  const char *says)
{
	const struct ty_model *m = waits(op, spins_ms, sleeps_ms, by, let_go, by_op, ret);
	struct ty_stalls s = stalls_of(m, 0, false);

	assert_int_equal(s.n, 1);
	assert_int_equal(ty_model_thread(m, s.v[0].thread)->tid, 11);
	assert_int_equal(s.v[0].kind, kind);
	assert_int_equal(s.v[0].culprit == TY_NONE ? 0 : ty_model_thread(m, s.v[0].culprit)->tid,
			 culprit);
	assert_int_equal(s.v[0].start_ns, 2 * MS);
	assert_in_range(s.v[0].duration_ns, (spins_ms + sleeps_ms) * MS,
			(spins_ms + sleeps_ms) * MS + 10000);
	if (!strstr(s.v[0].sentence, says))
		fail_msg("'%s' is not in: %s", says, s.v[0].sentence);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

static void who_lets_go_held_it(void **state)
{
	check(LOCK_PI | PRIVATE, 100, 0, 12, WORD, UNLOCK_PI | PRIVATE, 0, TY_STALL_LOCK, 12,
	      "t11/11 busy-waited in futex(0x1000) at 0.001 s, released by "
	      "t12/12, which ran 100 ms [inferred]");
	/* Shorter than a call that computes must be. */
	check(LOCK_PI | PRIVATE, 30, 0, 12, WORD, UNLOCK_PI | PRIVATE, 0, TY_STALL_LOCK, 12,
	      "released by t12/12, ");
	check(LOCK_PI, 100, 0, 13, WORD, UNLOCK_PI, 0, TY_STALL_LOCK, 13, "released by t13/13, ");
}

static void spun_and_slept_is_one(void **state)
{
	check(LOCK_PI | PRIVATE, 60, 50, 12, WORD, UNLOCK_PI | PRIVATE, 0, TY_STALL_LOCK, 12,
	      "busy-waited and slept in futex(0x1000) at 0.001 s, held by t12/12, ");
	check(LOCK_PI | PRIVATE, 60, 5, 12, WORD, UNLOCK_PI | PRIVATE, 0, TY_STALL_LOCK, 12,
	      "busy-waited in futex(0x1000) at 0.001 s, released by t12/12, ");
}

/* 11 sleeps, is woken in vain and spins, and sleeps longer or shorter than before. */
static void slept_twice_is_one(void **state)
{
	for (unsigned longer = 0; longer < 2; longer++) {
		struct ty_stalls s;
		uint64_t t;

		givens = 0;
		ty_mx_begin("mode=pids\npid=11\n", threads);
		ty_mx_switch(0, 1 * MS, 0, R, 11);
		ty_mx_switch(1, 1 * MS, 0, R, 12);
		give(2 * MS, WORD, LOCK_PI, 0);
		ty_mx_enter(0, 2 * MS, 11, NR_FUTEX);
		ty_mx_switch(0, 3 * MS, 11, S, 0);
		ty_mx_waking(1, 43 * MS, 12, 11, 0);
		ty_mx_switch(0, 43 * MS + 1000, 0, R, 11);
		ty_mx_switch(0, 63 * MS, 11, S, 0);
		t = 63 * MS + (longer ? 60 : 30) * MS;
		give(t, WORD, UNLOCK_PI, 0);
		ty_mx_enter(1, t, 12, NR_FUTEX);
		ty_mx_waking(1, t += 1000, 12, 11, 0);
		ty_mx_switch(0, t += 1000, 0, R, 11);
		ty_mx_exit(0, t += 1000, 11, NR_FUTEX, 0);
		ty_mx_exit(1, t += 1000, 12, NR_FUTEX, 0);
		ty_mx_switch(0, t += MS, 11, S, 0);
		ty_mx_switch(1, t += 1000, 12, S, 0);
		s = stalls_of(ty_mx_end(), 0, false);
		assert_int_equal(s.n, 1);
		assert_int_equal(s.v[0].start_ns, 2 * MS);
		assert_in_range(s.v[0].duration_ns, t - 4 * MS, t - 2 * MS);
		assert_non_null(strstr(s.v[0].sentence, " busy-waited and slept in futex("));
		ty_stalls_fini(&s);
		ty_mx_drop();
	}
}

/* 11 is passed over again and again, and never spins for a millisecond at a time. */
static void spun_in_small_parts(void **state)
{
	struct ty_stalls s;
	uint64_t t = 2 * MS;

	givens = 0;
	ty_mx_begin("mode=pids\npid=11\n", threads);
	ty_mx_switch(0, t - MS / 10, 0, R, 11);
	ty_mx_switch(1, t - MS / 10, 0, R, 12);
	give(t, WORD, LOCK_PI | PRIVATE, 0);
	ty_mx_enter(0, t, 11, NR_FUTEX);
	for (unsigned i = 0; i < 100; i++) {
		ty_mx_switch(0, t += MS * 4 / 5, 11, R, 13);
		ty_mx_switch(0, t += MS / 5, 13, R, 11);
	}
	give(t, WORD, UNLOCK_PI | PRIVATE, 0);
	ty_mx_enter(1, t, 12, NR_FUTEX);
	ty_mx_exit(0, t += 1000, 11, NR_FUTEX, 0);
	ty_mx_exit(1, t += 1000, 12, NR_FUTEX, 0);
	ty_mx_switch(0, t += MS / 2, 11, S, 0);
	ty_mx_switch(1, t += MS, 12, S, 0);
	s = stalls_of(ty_mx_end(), 0, false);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].start_ns, 2 * MS);
	assert_non_null(strstr(s.v[0].sentence,
			       " busy-waited in futex(0x1000) at 0.000 s, released by t12/12 "));
	ty_stalls_fini(&s);
	ty_mx_drop();
}

static void who_let_it_go_is_not_known(void **state)
{
	const char *says = "busy-waited in futex(0x1000) at 0.001 s, what ended it is not recorded";

	check(LOCK_PI | PRIVATE, 100, 0, 12, OTHER_WORD, UNLOCK_PI | PRIVATE, 0, TY_STALL_LOCK, 0,
	      says);
	check(LOCK_PI | PRIVATE, 100, 0, 12, WORD, WAKE | PRIVATE, 0, TY_STALL_LOCK, 0, says);
	check(LOCK_PI | PRIVATE, 100, 0, 13, WORD, UNLOCK_PI | PRIVATE, 0, TY_STALL_LOCK, 0, says);
	check(LOCK_PI | PRIVATE, 100, 0, 12, WORD, UNLOCK_PI | PRIVATE, -110, TY_STALL_LOCK, 0,
	      says);
}

static void other_calls_compute(void **state)
{
	check(WAIT | PRIVATE, 100, 0, 12, WORD, UNLOCK_PI | PRIVATE, 0, TY_STALL_CPU, 0,
	      ": the call itself used the CPU (computing or busy-waiting) ");
}

/* What a call did not have the CPU for is not said to be its use of it. */
static void a_call_that_shares_its_cpu(void **state)
{
	struct ty_stalls s;
	uint64_t t = 2 * MS;

	givens = 0;
	ty_mx_begin("mode=pids\npid=11\n", threads);
	ty_mx_switch(0, t - MS / 10, 0, R, 11);
	ty_mx_enter(0, t, 11, NR_FUTEX);
	for (unsigned i = 0; i < 100; i++) {
		ty_mx_switch(0, t += MS, 11, R, 13);
		ty_mx_switch(0, t += 3 * MS, 13, R, 11);
	}
	ty_mx_exit(0, t += 1000, 11, NR_FUTEX, 0);
	ty_mx_switch(0, t += MS / 2, 11, S, 0);
	s = stalls_of(ty_mx_end(), 0, false);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].kind, TY_STALL_CPU);
	assert_non_null(strstr(s.v[0].sentence, " ran and waited for a CPU in futex"));
	assert_non_null(strstr(s.v[0].sentence, ": the call itself used the CPU for 100 ms, and "
						"for 300 ms the thread waited for a CPU [proven]"));
	ty_stalls_fini(&s);
	ty_mx_drop();
}

/* 13 waits for 11, which spins for 12. */
static void who_waits_for_the_spinner(void **state)
{
	const struct ty_model *m;
	struct ty_path p = {0};
	struct ty_link link[4];
	struct ty_explain x;
	char what[160];

	givens = 0;
	ty_mx_begin("mode=pids\npid=11\n", threads);
	ty_mx_switch(0, 1 * MS, 0, R, 13);
	ty_mx_switch(0, 2 * MS, 13, S, 11);
	ty_mx_switch(1, 1 * MS, 0, R, 12);
	give(5 * MS, WORD, LOCK_PI, 0);
	ty_mx_enter(0, 5 * MS, 11, NR_FUTEX);
	give(105 * MS, WORD, UNLOCK_PI, 0);
	ty_mx_enter(1, 105 * MS, 12, NR_FUTEX);
	ty_mx_exit(0, 106 * MS, 11, NR_FUTEX, 0);
	ty_mx_exit(1, 106 * MS, 12, NR_FUTEX, 0);
	ty_mx_waking(0, 110 * MS, 11, 13, 0);
	ty_mx_switch(0, 111 * MS, 11, S, 13);
	ty_mx_switch(0, 112 * MS, 13, S, 0);
	ty_mx_switch(1, 112 * MS, 12, S, 0);
	m = ty_mx_end();
	x = explain(m, 0);
	assert_int_equal(
		ty_path_find(&x, ty_model_thread_find(m, 13, 2 * MS), 2 * MS, 111 * MS, &p), 0);
	assert_int_equal(p.seg.n, 4); /* 11 before, 12, 11 behind, 13 */
	assert_int_equal(ty_model_thread(m, p.seg.v[1].thread)->tid, 12);
	assert_int_equal(p.seg.v[1].start_ns, 5 * MS);
	assert_int_equal(p.seg.v[1].end_ns, 106 * MS);
	assert_int_equal(p.seg.v[2].end_ns, 110 * MS);
	assert_int_equal(ty_path_links(x.m, &p, 1, link, 4), 3);
	ty_link_text(&x, &link[1], "", what, sizeof(what));
	assert_string_equal(what, "busy-waited in futex");
	ty_path_fini(&p);
	ty_mx_drop();
}

static bool wakes_twice, last_inferred; /* for timer_and, and of what it found */

/* A timer ends a wait of 11 on the word, while 12 has the CPU; and makes a call before 11 has it.
 * Which one ended it? 0: the timer. */
static int timer_and(uint64_t word, uint64_t op, int64_t woke, int64_t ret)
{
	struct ty_event ev = {.kind = TY_EV_VECTOR_ENTRY, .id = 30, .flags = TY_EVF_HARDIRQ};
	const struct ty_model *m;
	struct ty_explain x;
	struct ty_waker k;
	struct ty_span s;
	int tid;

	givens = 0;
	ty_mx_begin("mode=pids\npid=11\n", threads);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	give(2 * MS, WORD, WAIT, 0);
	ty_mx_enter(0, 2 * MS, 11, NR_FUTEX);
	ty_mx_switch(0, 3 * MS, 11, S, 12);
	ev.ts_ns = 103 * MS;
	ev.tid = 12;
	ty_mx_feed(ev);
	ev.kind = TY_EV_HRTIMER_EXPIRE;
	ty_mx_feed(ev);
	ty_mx_waking_irq(0, 103 * MS + 1000, 12, 11, 0);
	ev.ts_ns += 2000;
	ev.kind = TY_EV_VECTOR_EXIT;
	ty_mx_feed(ev);
	give(104 * MS, word, op, 1);
	ty_mx_enter(0, 104 * MS, 12, NR_FUTEX);
	ty_mx_exit(0, 104 * MS + 1000, 12, NR_FUTEX, woke);
	if (wakes_twice) {
		give(104 * MS + 2000, word, op, 1);
		ty_mx_enter(0, 104 * MS + 2000, 12, NR_FUTEX);
		ty_mx_exit(0, 104 * MS + 3000, 12, NR_FUTEX, woke);
	}
	ty_mx_switch(0, 105 * MS, 12, R, 11);
	ty_mx_exit(0, 105 * MS + 1000, 11, NR_FUTEX, ret);
	ty_mx_switch(0, 106 * MS, 11, S, 0);
	m = ty_mx_end();
	x = explain(m, 0);
	s = ty_model_span(m, ty_model_span_find(m, ty_model_thread_find(m, 11, 4 * MS), 4 * MS));
	k = ty_futex_waker(&x, &s, ty_waker_find(x.m, s.edge));
	assert_int_equal(k.kind, k.thread == TY_NONE ? TY_WAKER_TIMER : TY_WAKER_THREAD);
	last_inferred = k.inferred;
	tid = k.thread == TY_NONE ? 0 : ty_model_thread(m, k.thread)->tid;
	ty_mx_drop();
	return tid;
}

static void woken_once_more_by_a_thread(void **state)
{
	assert_int_equal(timer_and(WORD, WAKE, 1, 0), 12);
	assert_int_equal(timer_and(WORD, WAKE, 1, -110), 0); /* the time was up */
	assert_int_equal(timer_and(WORD, WAKE, 0, 0), 0);    /* it woke no thread */
	assert_int_equal(timer_and(OTHER_WORD, WAKE, 1, 0), 0);
	assert_int_equal(timer_and(WORD + 4, WAKE, 1, 0), 0);
	assert_int_equal(timer_and(WORD, WAIT, 1, 0), 0);
}

/* So many threads of the machine before the holder, each of which calls the kernel now and then,
 * let no lock of 11's go; those of its own process had the lock before. */
static void of_many_threads_the_last(void **state)
{
	enum { MANY = 80 };
	char rows[MANY * 64];

	for (unsigned of_own = 0; of_own < 2; of_own++) {
		const struct ty_model *m;
		struct ty_stalls s;
		uint64_t t = 2 * MS, op = of_own ? PRIVATE : 0;
		unsigned locks = 0;
		int n = snprintf(rows, sizeof(rows), "taken 1 2\n" ROW("11", "11", "9", "job"));

		for (int i = 0; i < MANY; i++)
			n += snprintf(rows + n, sizeof(rows) - (size_t)n,
				      ROW("%d", "%d", "%d", "x"), 100 + i, of_own ? 11 : 100 + i,
				      of_own ? 9 : 1);
		snprintf(rows + n, sizeof(rows) - (size_t)n, ROW("13", "%d", "9", "own"),
			 of_own ? 11 : 13);
		givens = 0;
		ty_mx_begin("mode=pids\npid=11\n", rows);
		ty_mx_switch(0, 1 * MS, 0, R, 11);
		ty_mx_switch(1, 1 * MS, 0, R, 100);
		give(t, WORD, LOCK_PI | op, 0);
		ty_mx_enter(0, t, 11, NR_FUTEX);
		for (int i = 0; i < MANY; i++) {
			t += MS;
			give(t, WORD, UNLOCK_PI | op, 0);
			ty_mx_enter(1, t, 100 + i, NR_FUTEX);
			ty_mx_exit(1, t + 1000, 100 + i, NR_FUTEX, 0);
			ty_mx_switch(1, t + 2000, 100 + i, S, i < MANY - 1 ? 101 + i : 13);
		}
		give(t += 20 * MS, WORD, UNLOCK_PI | op, 0);
		ty_mx_enter(1, t, 13, NR_FUTEX);
		ty_mx_exit(0, t += 1000, 11, NR_FUTEX, 0);
		ty_mx_exit(1, t += 1000, 13, NR_FUTEX, 0);
		ty_mx_switch(0, t += 5 * MS, 11, S, 0);
		ty_mx_switch(1, t += MS, 13, S, 0);
		m = ty_mx_end();
		s = stalls_of(m, 0, false);
		for (uint32_t i = 0; i < s.n; i++) {
			if (s.v[i].kind != TY_STALL_LOCK)
				continue; /* they were ready from the start */
			assert_int_equal(ty_model_thread(m, s.v[i].thread)->tid, 11);
			assert_int_not_equal(s.v[i].culprit, TY_NONE);
			assert_int_equal(ty_model_thread(m, s.v[i].culprit)->tid, 13);
			locks++;
		}
		assert_int_equal(locks, 1);
		ty_stalls_fini(&s);
		ty_mx_drop();
	}
}

/* Of two that woke the word behind the timer one may have woken another waiter. */
static void one_of_two_is_inferred(void **state)
{
	assert_int_equal(timer_and(WORD, WAKE, 1, 0), 12);
	assert_false(last_inferred);
	wakes_twice = true;
	assert_int_equal(timer_and(WORD, WAKE, 1, 0), 12);
	assert_true(last_inferred);
	wakes_twice = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_lets_go_held_it),
		cmocka_unit_test(spun_and_slept_is_one),
		cmocka_unit_test(slept_twice_is_one),
		cmocka_unit_test(spun_in_small_parts),
		cmocka_unit_test(who_let_it_go_is_not_known),
		cmocka_unit_test(other_calls_compute),
		cmocka_unit_test(a_call_that_shares_its_cpu),
		cmocka_unit_test(who_waits_for_the_spinner),
		cmocka_unit_test(woken_once_more_by_a_thread),
		cmocka_unit_test(of_many_threads_the_last),
		cmocka_unit_test(one_of_two_is_inferred),
	};

	return cmocka_run_group_tests_name("ended_by", tests, NULL, NULL);
}
