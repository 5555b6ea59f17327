/* SPDX-License-Identifier: MIT */
/* Stalls with the same cause are one; what lasts far longer than its like, or is another's, stays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "fixture_given.h"

#define MS UINT64_C(1000000)

enum { NR_FLOCK = 73, NR_UNLINK = 87, NR_PTRACE = 101, LOCK_FD = 5, OTHER_FD = 6, KERNEL = 2 };

static uint32_t thread(const struct ty_model *m, int tid)
{
	return ty_model_thread_find(m, tid, ty_model_summary(m)->end_ns);
}

/* 11 is in one call, in which it waits for `by` n times. */
static uint64_t kernel_waits(uint64_t t, unsigned n, uint64_t each, int by)
{
	give(t, 0, 0, 0);
	ty_mx_enter(0, t, 11, NR_UNLINK);
	for (unsigned i = 0; i < n; i++) {
		ty_mx_switch(0, t += 1000, 11, D, by);
		ty_mx_waking(0, t += each, by, 11, 0);
		ty_mx_switch(0, t += 1000, by, S, 11);
	}
	ty_mx_exit(0, t += 1000, 11, NR_UNLINK, 0);
	return t;
}

static void a_call_that_waits_many_times(void **state)
{
	for (unsigned calls = 1; calls <= 2; calls++) {
		const struct ty_model *m;
		struct ty_stalls s;
		uint64_t t = 1 * MS;

		givens = 0;
		ty_mx_begin("mode=all\n", NULL);
		ty_mx_switch(0, t, 0, R, 11);
		/* Each wait is too short to be a stall, or some are not; of two calls neither is
		 * long enough. */
		for (unsigned i = 0; i < calls; i++)
			t = kernel_waits(t, calls == 1 ? 10 : 2, (calls == 1 ? 15 : 8) * MS,
					 KERNEL) +
			    100 * MS;
		ty_mx_switch(0, t, 11, S, 0);
		m = ty_mx_end();
		s = stalls_of(m, 0, false);
		if (calls == 1) {
			assert_int_equal(s.n, 1);
			assert_int_equal(s.v[0].kind, TY_STALL_UNINTERRUPTIBLE);
			assert_int_equal(s.v[0].waits, 10);
			assert_true(s.v[0].duration_ns >= 150 * MS &&
				    s.v[0].duration_ns < 151 * MS);
			assert_non_null(strstr(s.v[0].sentence, " (10 waits, longest 15"));
		} else {
			assert_int_equal(s.n, 0);
		}
		ty_stalls_fini(&s);
		ty_mx_drop();
	}
}

/* Of stops of a thread by one tracer, however long, one stands for all. */
static void a_tracer_is_one_cause(void **state)
{
	static const uint64_t each[] = {60 * MS, 300 * MS, 30 * MS};
	const struct ty_model *m;
	struct ty_stalls s;
	uint64_t t = 1 * MS;

	givens = 0;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, t, 0, R, 11);
	for (unsigned i = 0; i < 3; i++) {
		ty_mx_switch(0, t += 5 * MS, 11, TY_TASK_TRACED, 12);
		t += each[i];
		give(t, 7, 11, 0);
		ty_mx_enter(0, t, 12, NR_PTRACE);
		ty_mx_waking(0, t += 1000, 12, 11, 0);
		ty_mx_exit(0, t += 1000, 12, NR_PTRACE, 0);
		ty_mx_switch(0, t += 1000, 12, S, 11);
	}
	ty_mx_switch(0, t += 5 * MS, 11, S, 0);
	m = ty_mx_end();
	s = stalls_of(m, 0, false);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].kind, TY_STALL_STOPPED);
	assert_int_equal(s.v[0].more_waits, 2);
	assert_int_equal(s.v[0].threads, 1);
	assert_in_range(s.v[0].sum_ns, 390 * MS, 391 * MS);
	ty_stalls_fini(&s);
	ty_mx_drop();
	givens = 0;
}

static void its_long_waits_are_told_once(void **state)
{
	const struct ty_model *m;
	struct ty_stalls s;
	uint64_t t = 1 * MS;

	givens = 0;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, t, 0, R, 11);
	t = kernel_waits(t, 4, 40 * MS, KERNEL);
	ty_mx_switch(0, t + MS, 11, S, 0);
	m = ty_mx_end();
	s = stalls_of(m, 0, false);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].waits, 4);
	assert_true(s.v[0].duration_ns >= 160 * MS && s.v[0].duration_ns < 161 * MS);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

/* tid waits for the lock of 12 at t for so long; returns when it has it. */
static uint64_t lock_wait(uint64_t t, int tid, uint64_t fd, uint64_t ns)
{
	give(t, fd, 2, 0);
	ty_mx_enter(0, t, tid, NR_FLOCK);
	ty_mx_switch(0, t += 1000, tid, S, 12);
	ty_mx_waking(0, t += ns, 12, tid, 0);
	ty_mx_switch(0, t += 1000, 12, S, tid);
	ty_mx_exit(0, t += 1000, tid, NR_FLOCK, 0);
	return t;
}

#define TWO "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "12", "1", "keeper")

static struct ty_stalls locks(const uint64_t *ms, unsigned n, uint64_t apart, bool other_lock)
{
	const struct ty_model *m;
	struct ty_stalls s;
	uint64_t t = 1 * MS;

	givens = 0;
	ty_mx_begin("mode=all\n", TWO);
	ty_mx_switch(0, t, 0, R, 11);
	for (unsigned i = 0; i < n; i++)
		t = lock_wait(t, 11, other_lock && i % 2 ? OTHER_FD : LOCK_FD, ms[i] * MS) + apart;
	ty_mx_switch(0, t, 11, S, 0);
	m = ty_mx_end();
	s = stalls_of(m, 0, false);
	ty_mx_drop();
	return s;
}

static void waits_that_are_alike(void **state)
{
	static const uint64_t even[] = {30, 40, 50, 30, 30}, one_long[] = {30, 30, 30, 300, 30, 30};
	struct ty_stalls s = locks(even, 5, 5 * MS, false);

	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].kind, TY_STALL_LOCK);
	assert_int_equal(s.v[0].waits, 5);
	assert_true(s.v[0].duration_ns >= 180 * MS && s.v[0].duration_ns < 181 * MS);
	assert_true(s.v[0].start_ns < 2 * MS && s.v[0].last_end_ns > 200 * MS);
	assert_non_null(strstr(s.v[0].sentence, " (5 waits, longest 50"));
	ty_stalls_fini(&s);
	/* The longest stands for the others, with their sum. */
	s = locks(one_long, 6, 5 * MS, false);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].waits, 1);
	assert_in_range(s.v[0].duration_ns, 300 * MS, 301 * MS);
	assert_int_equal(s.v[0].more_waits, 5);
	assert_in_range(s.v[0].sum_ns, 450 * MS, 452 * MS);
	assert_non_null(
		strstr(s.v[0].sentence,
		       ". 5 more waits of t11 had the same cause (all these waits together: 45"));
	ty_stalls_fini(&s);
	/* Far apart, too; but another lock is another cause. */
	s = locks(even, 5, 500 * MS, false);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].more_waits, 4);
	assert_in_range(s.v[0].sum_ns, 180 * MS, 182 * MS);
	ty_stalls_fini(&s);
	s = locks(even, 5, 5 * MS, true);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.v[0].more_waits, 2);
	assert_int_equal(s.v[1].more_waits, 1);
	ty_stalls_fini(&s);
}

/* 11, 14 and 15 wait for one lock, 15 also once more: or for one each. */
static struct ty_stalls group_of(bool one_lock)
{
	const struct ty_model *m;
	struct ty_stalls s;
	uint64_t t = 1 * MS;

	givens = 0;
	ty_mx_begin("mode=all\n", TWO ROW("14", "11", "1", "second") ROW("15", "11", "1", "third"));
	ty_mx_switch(0, t, 0, R, 11);
	for (int tid = 11; tid <= 15; tid += tid == 11 ? 3 : 1) {
		give(t += MS, one_lock ? LOCK_FD : (uint64_t)tid, 2, 0);
		ty_mx_enter(0, t, tid, NR_FLOCK);
		ty_mx_switch(0, t += 1000, tid, S, tid == 11 ? 14 : tid == 14 ? 15 : 12);
	}
	give(t += 100 * MS, LOCK_FD, 8, 0);
	ty_mx_enter(0, t, 12, NR_FLOCK);
	for (int tid = 11; tid <= 15; tid += tid == 11 ? 3 : 1)
		ty_mx_waking(0, t += 1000, 12, tid, 0);
	ty_mx_exit(0, t += 1000, 12, NR_FLOCK, 0);
	ty_mx_switch(0, t += 1000, 12, S, 11);
	for (int tid = 11; tid <= 15; tid += tid == 11 ? 3 : 1) {
		ty_mx_exit(0, t += 1000, tid, NR_FLOCK, 0);
		ty_mx_switch(0, t += 1000, tid, S, tid == 11 ? 14 : tid == 14 ? 15 : 0);
	}
	m = ty_mx_end();
	s = stalls_of(m, 0, false);
	ty_mx_drop();
	return s;
}

static void a_crowd_at_one_lock(void **state)
{
	struct ty_stalls s = group_of(true);

	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].threads, 3);
	assert_non_null(strstr(s.v[0].sentence, "t11/11 "));
	assert_non_null(strstr(s.v[0].sentence, ". t14/14 and t15/15 also waited for that lock"));
	ty_stalls_fini(&s);
	/* Each at its own lock, but all for what one did. */
	s = group_of(false);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].threads, 3);
	assert_non_null(strstr(s.v[0].sentence, ". t14/14 and t15/15 also waited for t12/12 ("));
	ty_stalls_fini(&s);
}

/* 11 waits in the kernel for 12, which works, 100 ms and more; 13 comes to wait for 11, late. */
static void who_came_late_does_not_tell_it(void **state)
{
	static const uint64_t late_ms[] = {5, 30};

	for (unsigned i = 0; i < 2; i++) {
		const struct ty_model *m;
		struct ty_stalls s;
		uint64_t t = 1 * MS, begin = t + late_ms[i] * MS;

		givens = 0;
		ty_mx_begin("mode=all\n", TWO ROW("13", "13", "1", "late"));
		ty_mx_switch(0, t, 0, R, 11);
		ty_mx_switch(1, t, 0, R, 13);
		give(t += 1000, 0, 0, 0);
		ty_mx_enter(0, t, 11, NR_UNLINK);
		ty_mx_switch(0, t += 1000, 11, D, 12);
		ty_mx_switch(1, begin, 13, D, 0);
		ty_mx_waking(0, t = 101 * MS, 12, 11, 0);
		ty_mx_switch(0, t += 1000, 12, S, 11);
		ty_mx_waking(0, t += 1000, 11, 13, 1);
		ty_mx_switch(1, t += 1000, 0, R, 13);
		ty_mx_exit(0, t += 1000, 11, NR_UNLINK, 0);
		ty_mx_switch(0, t += MS, 11, S, 0);
		ty_mx_switch(1, t + 1, 13, S, 0);
		m = ty_mx_end();
		s = stalls_of(m, 0, false);
		assert_int_equal(s.n, 1);
		assert_int_equal(s.v[0].thread, thread(m, i ? 11 : 13));
		assert_int_equal(s.v[0].threads, i ? 2 : 0);
		ty_stalls_fini(&s);
		ty_mx_drop();
	}
}

/* 11 sends a request to 12 and waits; 12 waits for a timer of its own by sigtimedwait, then
 * replies. */
static void an_own_timer_is_a_sleep(void **state)
{
	enum { NR_READ = 0, NR_WRITE = 1, NR_SIGTIMEDWAIT = 128, SIGALRM = 14 };
	struct ty_event ev = {.kind = TY_EV_VECTOR_ENTRY, .id = 30, .flags = TY_EVF_HARDIRQ};
	const struct ty_model *m;
	struct ty_stalls s;

	givens = 0;
	ty_mx_begin("mode=all\n", TWO);
	ty_mx_switch(0, 1 * MS, 0, R, 12);
	give(2 * MS, 6, 0, 1);
	ty_mx_enter(0, 2 * MS, 12, NR_READ);
	ty_mx_switch(0, 3 * MS, 12, S, 11);
	give(4 * MS, 5, 0, 1);
	ty_mx_enter(0, 4 * MS, 11, NR_WRITE);
	ty_mx_waking(0, 4 * MS + 1000, 11, 12, 0);
	ty_mx_exit(0, 4 * MS + 2000, 11, NR_WRITE, 1);
	give(5 * MS, 7, 0, 1);
	ty_mx_enter(0, 5 * MS, 11, NR_READ);
	ty_mx_switch(0, 5 * MS + 1000, 11, S, 12);
	ty_mx_exit(0, 5 * MS + 2000, 12, NR_READ, 1);
	give(6 * MS, 0x7000, 0, 0);
	ty_mx_enter(0, 6 * MS, 12, NR_SIGTIMEDWAIT);
	ty_mx_switch(0, 6 * MS + 1000, 12, S, 0);
	ev.ts_ns = 106 * MS;
	ty_mx_feed(ev);
	ev.kind = TY_EV_HRTIMER_EXPIRE;
	ty_mx_feed(ev);
	ty_mx_waking_irq(0, 106 * MS + 1000, 0, 12, 0);
	ty_mx_switch(0, 106 * MS + 2000, 0, R, 12);
	ty_mx_exit(0, 106 * MS + 3000, 12, NR_SIGTIMEDWAIT, SIGALRM);
	give(107 * MS, 8, 0, 1);
	ty_mx_enter(0, 107 * MS, 12, NR_WRITE);
	ty_mx_waking(0, 107 * MS + 1000, 12, 11, 0);
	ty_mx_exit(0, 107 * MS + 2000, 12, NR_WRITE, 1);
	ty_mx_switch(0, 108 * MS, 12, S, 11);
	ty_mx_exit(0, 108 * MS + 1000, 11, NR_READ, 1);
	ty_mx_switch(0, 110 * MS, 11, S, 0);
	m = ty_mx_end();
	s = stalls_of(m, 11, false);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].thread, thread(m, 11));
	assert_int_equal(s.v[0].culprit, thread(m, 12));
	ty_stalls_fini(&s);
	ty_mx_drop();
}

/* 12 has the lock and gets no CPU, then lets go of it by exec: it was another one when it had it.
 * Not so where it was only just born: it had no name of its own before it ran. */
static void a_culprit_is_told_by_the_name_it_had(void **state)
{
	for (int born = 0; born < 2; born++) {
		struct ty_event ev = {.kind = TY_EV_RENAME, .id = 11, .tid = 12};
		const struct ty_model *m;
		struct ty_stalls s;

		givens = 0;
		ty_mx_begin("mode=all\n", NULL);
		ty_mx_switch(0, 1 * MS, 0, R, born ? 11 : 12);
		if (born)
			ty_mx_fork(0, 2 * MS, 11, 12, 0);
		else
			ty_mx_switch(0, 2 * MS, 12, R, 11);
		give(3 * MS, LOCK_FD, 2, 0);
		ty_mx_enter(0, 3 * MS, 11, NR_FLOCK);
		ty_mx_switch(0, 4 * MS, 11, S, 20);
		for (int i = 0; i < 10; i++) /* a crowd */
			ty_mx_switch(0, (14 + 10 * (uint64_t)i) * MS, 20 + i, S,
				     i == 9 ? 12 : 21 + i);
		ev.ts_ns = 104 * MS + 1000;
		ev.u.rename.tid = 12;
		snprintf(ev.u.rename.new_comm, sizeof(ev.u.rename.new_comm), "later");
		ty_mx_feed(ev);
		ty_mx_waking(0, 104 * MS + 2000, 12, 11, 0);
		ty_mx_switch(0, 104 * MS + 3000, 12, S, 11);
		ty_mx_exit(0, 105 * MS, 11, NR_FLOCK, 0);
		ty_mx_switch(0, 110 * MS, 11, S, 0);
		m = ty_mx_end();
		s = stalls_of(m, 0, false);
		assert_int_equal(s.n, 1);
		assert_int_equal(s.v[0].culprit, thread(m, 12));
		assert_string_equal(ty_model_comm(m, s.v[0].culprit, s.v[0].culprit_ns),
				    born ? "later" : "t12");
		ty_stalls_fini(&s);
		ty_mx_drop();
	}
}

/* A hog, 20, keeps 11 off its CPU again and again, and 14 in the midst of that: for as long, or far
 * longer than 11 was kept at a time. */
static struct ty_stalls hogged(bool far_longer)
{
	const struct ty_model *m;
	struct ty_stalls s;
	uint64_t t = 1 * MS;

	givens = 0;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, t, 0, R, 14);
	ty_mx_switch(0, t += MS, 14, RP, 11);
	if (far_longer)
		ty_mx_switch(0, t += MS, 11, S, 20);
	for (int i = 0; i < 4; i++) {
		if (far_longer && i < 3)
			continue;
		if (far_longer)
			ty_mx_waking_irq(0, t += 900 * MS, 20, 11, 0);
		else
			ty_mx_switch(0, t += MS, 11, RP, 20);
		ty_mx_switch(0, t += 80 * MS, 20, i == 3 ? S : RP, 11);
	}
	ty_mx_switch(0, t += MS, 11, S, 14);
	ty_mx_switch(0, t += MS, 14, S, 0);
	m = ty_mx_end();
	s = stalls_of(m, far_longer ? 11 : 0, false);
	ty_mx_drop();
	return s;
}

static void a_crowd_at_one_cpu(void **state)
{
	struct ty_stalls s = hogged(false);

	/* 14 waited through all of it. */
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].kind, TY_STALL_RUNQUEUE);
	assert_int_equal(s.v[0].threads, 2);
	assert_non_null(strstr(s.v[0].sentence, "t14/14 "));
	assert_non_null(strstr(s.v[0].sentence, ". t11/11 also waited for that CPU"));
	ty_stalls_fini(&s);
	s = hogged(true);
	/* The command's own comes first, but is no more than a part of the other one. */
	assert_int_equal(s.n, 2);
	assert_non_null(strstr(s.v[0].sentence, "t11/11 "));
	assert_null(strstr(s.v[0].sentence, " also waited"));
	assert_true(s.v[1].duration_ns > 900 * MS);
	assert_non_null(strstr(s.v[1].sentence, "t14/14 "));
	ty_stalls_fini(&s);
}

/* Many threads, none of which is the culprit, keep 11 off its CPU twice, 5 s apart: two causes.
 * With `both`, once, and 14 at the same time: one. */
static struct ty_stalls crowded(bool both)
{
	const struct ty_model *m;
	struct ty_stalls s;
	uint64_t t = 1 * MS;

	givens = 0;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, t, 0, R, both ? 14 : 11);
	if (both)
		ty_mx_switch(0, t += MS, 14, RP, 11);
	for (int k = 0; k < (both ? 1 : 2); k++) {
		ty_mx_switch(0, t += MS, 11, RP, 20);
		for (int i = 0; i < 4; i++)
			ty_mx_switch(0, t += 50 * MS, 20 + i, S, i == 3 ? 11 : 21 + i);
		if (!both) {
			ty_mx_switch(0, t += MS, 11, S, 0);
			ty_mx_waking_irq(0, t += 5000 * MS, 0, 11, 0);
			ty_mx_switch(0, t += 1000, 0, R, 11);
		}
	}
	ty_mx_switch(0, t += MS, 11, S, both ? 14 : 0);
	if (both)
		ty_mx_switch(0, t += MS, 14, S, 0);
	m = ty_mx_end();
	s = stalls_of(m, 0, false);
	ty_mx_drop();
	return s;
}

static void crowds_at_one_cpu_at_two_times(void **state)
{
	struct ty_stalls s = crowded(false);
	unsigned crowds = 0;

	for (uint32_t i = 0; i < s.n; i++) {
		if (s.v[i].kind != TY_STALL_RUNQUEUE)
			continue;
		crowds++;
		assert_int_equal(s.v[i].culprit, TY_NONE);
		assert_int_equal(s.v[i].more_waits, 0);
	}
	assert_int_equal(crowds, 2);
	ty_stalls_fini(&s);
	s = crowded(true);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].culprit, TY_NONE);
	assert_int_equal(s.v[0].threads, 2);
	ty_stalls_fini(&s);
}

/* The hog's time is that of all the waits, as theirs is. */
static void the_sum_of_what_a_hog_ran(void **state)
{
	const struct ty_model *m;
	struct ty_stalls s;
	uint64_t t = 1 * MS;

	givens = 0;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, t, 0, R, 11);
	for (int i = 0; i < 4; i++) {
		ty_mx_switch(0, t += MS, 11, RP, 20);
		ty_mx_switch(0, t += 80 * MS, 20, S, 11);
	}
	ty_mx_switch(0, t += MS, 11, S, 0);
	m = ty_mx_end();
	s = stalls_of(m, 0, false);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].waits, 4);
	assert_int_equal(s.v[0].duration_ns, 320 * MS);
	assert_non_null(strstr(s.v[0].text, "t20/20 ran all that time"));
	ty_stalls_fini(&s);
	ty_mx_drop();
}

/* 11 and 13 each ask 12, by a descriptor of their own, which sleeps for 300 ms and replies to both;
 * or 13 to another one, which does the same. How many findings, and how many threads has the first?
 */
static struct ty_stalls ask(bool same, const struct ty_model **m)
{
	uint64_t at = 1 * MS;

	givens = 0;
	ty_mx_begin("mode=all\n", "taken 1 2\n" ROW("11", "11", "1", "a") ROW("12", "12", "1", "b")
					  ROW("13", "13", "1", "c") ROW("14", "14", "1", "d"));
	ty_mx_switch(0, at, 0, R, 11);
	for (int tid = 11; tid <= 13; tid += 2) {
		give(at += 1000, (uint64_t)tid + 10, 2, 0);
		ty_mx_enter(0, at, tid, NR_FLOCK);
		ty_mx_switch(0, at += 1000, tid, S, tid == 11 ? 13 : 12);
	}
	ty_mx_switch(0, at += 1000, 12, S, 14);
	ty_mx_switch(0, at += 1000, 14, S, 0);
	at += 300 * MS;
	ty_mx_waking_irq(0, at, 0, 12, 0);
	ty_mx_waking_irq(0, at, 0, 14, 0);
	ty_mx_switch(0, at += 1000, 0, R, 12);
	ty_mx_waking(0, at += 1000, 12, 11, 0);
	if (same)
		ty_mx_waking(0, at += 1000, 12, 13, 0);
	ty_mx_switch(0, at += 1000, 12, S, 14);
	if (!same)
		ty_mx_waking(0, at += 1000, 14, 13, 0);
	ty_mx_switch(0, at += 1000, 14, S, 11);
	ty_mx_exit(0, at += 1000, 11, NR_FLOCK, 0);
	ty_mx_switch(0, at += 1000, 11, S, 13);
	ty_mx_exit(0, at += 1000, 13, NR_FLOCK, 0);
	ty_mx_switch(0, at += 1000, 13, S, 0);
	*m = ty_mx_end();
	return stalls_of(*m, 0, false);
}

static void who_waits_for_the_same_one_is_one_finding(void **state)
{
	const struct ty_model *m;
	struct ty_stalls s = ask(true, &m);

	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].threads, 2);
	assert_in_range(s.v[0].sum_ns, 600 * MS, 602 * MS);
	assert_non_null(strstr(s.v[0].sentence, "all these waits together: 600 ms)"));
	ty_stalls_fini(&s);
	ty_mx_drop();
	s = ask(false, &m);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.v[0].threads, 0);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

static void a_finding_is_found_by_its_time(void **state)
{
	const struct ty_model *m;
	struct ty_stalls s = ask(false, &m);
	uint64_t from = s.v[0].link[0].start_ns, to = s.v[0].link[0].end_ns;

	assert_ptr_equal(ty_stalls_around(&s, s.v[0].thread, from + MS, to - MS), &s.v[0]);
	assert_ptr_equal(ty_stalls_around(&s, s.v[1].thread, from + MS, to - MS), &s.v[1]);
	assert_null(ty_stalls_around(&s, s.v[0].culprit, from + MS, to - MS));
	assert_null(ty_stalls_around(&s, s.v[0].thread, from + MS, to + MS));
	ty_stalls_fini(&s);
	ty_mx_drop();
}

static enum ty_stack_role role_of(void *ctx, int32_t tid, uint64_t from_ns, uint64_t to_ns)
{
	return tid == 12 ? TY_ROLE_LOCK : TY_ROLE_NONE;
}

static void futex(unsigned cpu, uint64_t ts, int tid, uint64_t word, uint64_t op)
{
	give(ts, word, op, 1);
	ty_mx_enter(cpu, ts, tid, 202);
}

/* 13 sleeps with a lock that 12 waits for; 11, the command, waits a little longer for 13. */
static void the_lock_stands_for_all(void **state)
{
	enum {
		JOIN = 0x1000,
		LOCK = 0x2000,
		WAIT = 0,
		WAKE = 1,
		NR_FUTEX = 202,
		NR_NANOSLEEP = 35
	};
	struct ty_event ev = {.ts_ns = 305 * MS,
			      .cpu = 1,
			      .kind = TY_EV_HRTIMER_EXPIRE,
			      .id = 34,
			      .flags = TY_EVF_HARDIRQ};
	struct ty_explain x;
	struct ty_stalls s;

	givens = 0;
	ty_mx_begin("mode=command\ncommand_tid=11\n",
		    "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "11", "1", "job")
			    ROW("13", "11", "1", "job"));
	ty_mx_switch(1, 1 * MS, 0, R, 13);
	ty_mx_enter(1, 2 * MS, 13, NR_NANOSLEEP);
	ty_mx_switch(1, 2 * MS, 13, S, 0);
	ty_mx_switch(0, 3 * MS, 0, R, 11);
	futex(0, 4 * MS, 11, JOIN, WAIT);
	ty_mx_switch(0, 4 * MS, 11, S, 12);
	futex(0, 5 * MS, 12, LOCK, WAIT);
	ty_mx_switch(0, 5 * MS, 12, S, 0);
	ty_mx_feed(ev);
	ty_mx_waking_irq(1, 305 * MS, 0, 13, 1);
	ty_mx_switch(1, 305 * MS + 1000, 0, R, 13);
	ty_mx_exit(1, 305 * MS + 2000, 13, NR_NANOSLEEP, 0);
	futex(1, 305 * MS + 3000, 13, LOCK, WAKE);
	ty_mx_waking(1, 305 * MS + 4000, 13, 12, 0);
	ty_mx_exit(1, 305 * MS + 5000, 13, NR_FUTEX, 1);
	ty_mx_switch(0, 305 * MS + 6000, 0, R, 12);
	futex(1, 305 * MS + 7000, 13, JOIN, WAKE);
	ty_mx_waking(1, 305 * MS + 8000, 13, 11, 0);
	ty_mx_exit(1, 305 * MS + 9000, 13, NR_FUTEX, 1);
	ty_mx_exit(0, 306 * MS, 12, NR_FUTEX, 0);
	ty_mx_switch(0, 307 * MS, 12, S, 11);
	ty_mx_exit(0, 308 * MS, 11, NR_FUTEX, 0);
	ty_mx_switch(0, 320 * MS, 11, TY_TASK_DEAD, 0);
	x = explain(ty_mx_end(), 11);
	x.role = role_of;
	s = stalls_by(&x, false);
	assert_int_equal(s.n, 1);
	assert_int_equal(ty_model_thread(x.m, s.v[0].thread)->tid, 12);
	assert_string_equal(s.v[0].rule->id, "lock-by-stack");
	assert_int_equal(s.v[0].threads, 2);
	assert_true(s.v[0].path_ns >= 299 * MS); /* that of 11 */
	assert_true(s.by_command);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

/* Twice 11 writes to a full pipe, whose reader, 12, shares its CPU with three others. */
static void a_peer_without_a_cpu_is_one_cause(void **state)
{
	enum { NR_WRITE = 1 };
	const struct ty_model *m;
	struct ty_stalls s;
	uint64_t t = 1 * MS;

	givens = 0;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, t, 0, R, 11);
	for (unsigned i = 0; i < 2; i++) {
		give(t += MS, OTHER_FD, 0, 0);
		ty_mx_enter(0, t, 11, NR_WRITE);
		ty_mx_switch(0, t += 1000, 11, S, 12);
		ty_mx_switch(0, t += 1000, 12, R, 13);
		ty_mx_switch(0, t += (30 + i) * MS, 13, R, 14);
		ty_mx_switch(0, t += 30 * MS, 14, R, 15);
		ty_mx_switch(0, t += 30 * MS, 15, R, 12);
		ty_mx_waking(0, t += 1000, 12, 11, 0);
		ty_mx_switch(0, t += 1000, 12, R, 11);
		ty_mx_exit(0, t += 1000, 11, NR_WRITE, 1);
		t += 5 * MS;
	}
	ty_mx_switch(0, t, 11, S, 0);
	m = ty_mx_end();
	s = stalls_of(m, 11, false);
	assert_true(s.n >= 1);
	assert_int_equal(s.v[0].kind, TY_STALL_RUNQUEUE);
	assert_int_equal(thread(m, 11), s.v[0].thread);
	assert_int_equal(s.v[0].more_waits, 1);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

static void nap(uint64_t from, uint64_t to)
{
	struct ty_event ev = {.ts_ns = to,
			      .cpu = 1,
			      .kind = TY_EV_HRTIMER_EXPIRE,
			      .id = 34,
			      .flags = TY_EVF_HARDIRQ};

	ev.u.hrtimer.function = 4711;
	ty_mx_enter(1, from, 13, 35);
	ty_mx_switch(1, from + 1000, 13, S, 0);
	ty_mx_feed(ev);
	ty_mx_waking_irq(1, to, 0, 13, 1);
	ty_mx_switch(1, to + 1000, 0, R, 13);
	ty_mx_exit(1, to + 2000, 13, 35, 0);
}

static void reads(unsigned cpu, uint64_t from, int tid)
{
	give(from, LOCK_FD, 0, 0);
	ty_mx_enter(cpu, from, tid, 0);
	ty_mx_switch(cpu, from + 1000, tid, S, 0);
}

static void is_given(unsigned cpu, uint64_t at, int tid)
{
	ty_mx_waking(1, at, 13, tid, (int)cpu);
	ty_mx_switch(cpu, at + 1000, 0, R, tid);
	ty_mx_exit(cpu, at + 2000, tid, 0, 1);
}

/* 11, the command, waits twice, and 12 at the second time, too, for 13, which sleeps: the command
 * loses the time of both once. */
static void a_cause_adds_no_more_than_the_time_there_is(void **state)
{
	const struct ty_model *m;
	struct ty_stalls s;

	(void)state;
	givens = 0;
	ty_mx_begin("mode=command\ncommand_tid=11\n",
		    "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "11", "1", "job"));
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_switch(1, 1 * MS, 0, R, 13);
	ty_mx_switch(2, 1 * MS, 0, R, 12);
	reads(0, 2 * MS, 11);
	nap(3 * MS, 402 * MS);
	is_given(0, 403 * MS, 11);
	reads(0, 404 * MS, 11);
	reads(2, 452 * MS, 12);
	nap(453 * MS, 702 * MS);
	is_given(0, 703 * MS, 11);
	nap(704 * MS, 742 * MS);
	is_given(2, 743 * MS, 12);
	ty_mx_switch(0, 750 * MS, 11, TY_TASK_DEAD, 0);
	m = ty_mx_end();
	s = stalls_of(m, 11, true);
	assert_true(s.n >= 1);
	assert_int_equal(s.v[0].more_waits, 1);
	assert_int_equal(s.v[0].threads, 2);
	assert_in_range(s.v[0].rank_ns, 690 * MS, 749 * MS);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_lock_stands_for_all),
		cmocka_unit_test(a_call_that_waits_many_times),
		cmocka_unit_test(a_tracer_is_one_cause),
		cmocka_unit_test(its_long_waits_are_told_once),
		cmocka_unit_test(waits_that_are_alike),
		cmocka_unit_test(a_crowd_at_one_lock),
		cmocka_unit_test(a_crowd_at_one_cpu),
		cmocka_unit_test(crowds_at_one_cpu_at_two_times),
		cmocka_unit_test(the_sum_of_what_a_hog_ran),
		cmocka_unit_test(a_culprit_is_told_by_the_name_it_had),
		cmocka_unit_test(an_own_timer_is_a_sleep),
		cmocka_unit_test(who_came_late_does_not_tell_it),
		cmocka_unit_test(who_waits_for_the_same_one_is_one_finding),
		cmocka_unit_test(a_finding_is_found_by_its_time),
		cmocka_unit_test(a_peer_without_a_cpu_is_one_cause),
		cmocka_unit_test(a_cause_adds_no_more_than_the_time_there_is),
	};

	return cmocka_run_group_tests_name("stall_fold", tests, NULL, NULL);
}
