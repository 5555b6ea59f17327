/* SPDX-License-Identifier: MIT */
/*
 * Is a futex word a lock's or a counter's, by the values that others wait with; and is a wait for a
 * peer one for work: by other waits like it, and by more that is given before the first is taken.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fixture_given.h"
#include "stalls_priv.h"

#define MS UINT64_C(1000000)

enum {
	NR_READ = 0,
	NR_WRITE = 1,
	NR_NANOSLEEP = 35,
	NR_EXECVE = 59,
	NR_WAIT4 = 61,
	NR_FUTEX = 202,
	NR_EXIT_GROUP = 231,
	NR_PIPE2 = 293,
	WAIT = 0,
	WAKE = 1,
	LOCKED = 2,
	WORD = 0x1000,
	OTHER_WORD = 0x2000
};

#define TWO "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "12", "1", "other")

static void futex(uint64_t at, int tid, uint64_t word, uint64_t op, uint64_t value)
{
	give(at, word, op, value);
	ty_mx_enter(0, at, tid, NR_FUTEX);
	ty_mx_exit(0, at + 1000, tid, NR_FUTEX, 0);
}

/* 11 waits for the word with the value of a lock for 100 ms, twice, 12 ends that; `tid` makes
 * another call on `word`: before the first wait, between both (13, 12) or behind. */
static unsigned kind_of(int tid, bool before, uint64_t word, uint64_t op, uint64_t value)
{
	const struct ty_model *m;
	struct ty_stalls s;
	uint64_t t = 1 * MS;
	unsigned kind = 0, found = 0;

	givens = 0;
	ty_mx_begin("mode=all\n", TWO ROW("13", "11", "1", "own"));
	if (tid != 11) {
		ty_mx_switch(0, t, 0, R, tid);
		if (before)
			futex(t + 1000, tid, word, op, value);
		ty_mx_switch(0, t += MS, tid, S, 11);
	} else {
		ty_mx_switch(0, t, 0, R, 11);
		if (before)
			futex(t + 1000, tid, word, op, value);
	}
	for (int k = 0; k < 2; k++) {
		give(t += MS, WORD, WAIT, LOCKED);
		ty_mx_enter(0, t, 11, NR_FUTEX);
		ty_mx_switch(0, t += MS, 11, S, 12);
		ty_mx_waking(0, t += 100 * MS, 12, 11, 0);
		ty_mx_switch(0, t += 1000, 12, S, 11);
		ty_mx_exit(0, t += 1000, 11, NR_FUTEX, 0);
	}
	if (!before && tid != 11)
		ty_mx_switch(0, t += MS, 11, S, tid);
	if (!before)
		futex(t += MS, tid, word, op, value);
	ty_mx_switch(0, t += MS, before ? 11 : tid, S, 0);
	m = ty_mx_end();
	s = stalls_of(m, 0, true);
	for (uint32_t i = 0; i < s.n; i++)
		if (ty_model_thread(m, s.v[i].thread)->tid == 11) {
			kind = s.v[i].kind;
			found += 1 + s.v[i].more_waits;
		}
	assert_int_equal(found, 2);
	ty_stalls_fini(&s);
	ty_mx_drop();
	return kind;
}

/* From t on, tid sleeps in a wait for the word; then `next` runs. */
static void sleeps_on(uint64_t t, int tid, uint64_t word, int next)
{
	give(t, word, WAIT, 1);
	ty_mx_enter(0, t, tid, NR_FUTEX);
	ty_mx_switch(0, t + 1000, tid, S, next);
}

/* Two of a process wait for one word, a third one for another word. */
static void a_pool_waits_for_one_word(void **state)
{
	struct ty_stall_search h = {.waits = ty_stall_waits_new()};
	const struct ty_model *m;
	struct ty_explain x;

	assert_non_null(h.waits);
	givens = 0;
	ty_mx_begin("mode=all\n", TWO ROW("13", "11", "1", "own") ROW("14", "11", "1", "own2"));
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	sleeps_on(2 * MS, 11, WORD, 13);
	sleeps_on(3 * MS, 13, WORD, 14);
	sleeps_on(4 * MS, 14, OTHER_WORD, 12);
	ty_mx_waking(0, 100 * MS, 12, 13, 0);
	ty_mx_switch(0, 101 * MS, 12, S, 13);
	ty_mx_exit(0, 102 * MS, 13, NR_FUTEX, 0);
	sleeps_on(103 * MS, 13, OTHER_WORD, 0);
	ty_mx_switch(0, 200 * MS, 0, R, 12);
	m = ty_mx_end();
	x = explain(m, 0);
	h.x = &x;
	/* The second time it is known what they wait for. */
	for (int k = 0; k < 2; k++)
		for (int tid = 11; tid <= 14; tid += 1 + (tid == 11)) {
			struct ty_candidate c = {
				.s = {.thread = ty_model_thread_find(m, tid, 50 * MS),
				      .start_ns = 10 * MS,
				      .duration_ns = 80 * MS},
				.end_ns = 90 * MS,
				.w = {.fd = -1, .word = tid < 14 ? WORD : OTHER_WORD}};

			assert_int_equal(ty_stall_waits_in_pool(&h, &c), tid == 11 || tid == 13);
			c.s.start_ns = 110 * MS;
			c.s.duration_ns = 10 * MS;
			c.end_ns = 120 * MS;
			assert_int_equal(ty_stall_waits_in_pool(&h, &c), tid >= 13);
		}
	free(h.waits);
	ty_mx_drop();
}

static void a_word_that_counts_is_no_lock(void **state)
{
	for (int before = 0; before < 2; before++) {
		/* Another value: of its own, or of a thread of its process. */
		assert_int_equal(kind_of(11, before, WORD, WAIT, 5), TY_STALL_FUTEX);
		assert_int_equal(kind_of(13, before, WORD, WAIT, 0), TY_STALL_FUTEX);
		/* The other value of a lock; the thread that releases it. */
		assert_int_equal(kind_of(13, before, WORD, WAIT, 3), TY_STALL_LOCK);
		assert_int_equal(kind_of(13, before, WORD, WAKE, 1), TY_STALL_LOCK);
		/* Another word, by number or by process. */
		assert_int_equal(kind_of(13, before, OTHER_WORD, WAIT, 5), TY_STALL_LOCK);
		assert_int_equal(kind_of(12, before, WORD, WAIT, 5), TY_STALL_LOCK);
	}
}

/* 11 waits for 12 for 30 ms, most of which 12 runs, or only could if 13 did not; then 11 computes.
 */
static bool computes(bool runs)
{
	const struct ty_model *m;
	struct ty_explain x;
	uint64_t t = 1 * MS;
	bool does;

	givens = 0;
	ty_mx_begin("mode=all\n", TWO ROW("13", "13", "1", "load"));
	ty_mx_switch(0, t, 0, R, 11);
	give(t += MS / 10, WORD, WAIT, 0);
	ty_mx_enter(0, t, 11, NR_FUTEX);
	ty_mx_switch(0, t += 1000, 11, S, 12);
	if (!runs)
		ty_mx_switch(0, t += MS, 12, R, 13);
	t += 28 * MS;
	if (!runs)
		ty_mx_switch(0, t, 13, S, 12);
	ty_mx_waking(0, t += MS, 12, 11, 0);
	ty_mx_switch(0, t += 1000, 12, S, 11);
	ty_mx_exit(0, t += 1000, 11, NR_FUTEX, 0);
	ty_mx_switch(0, t += 5 * MS, 11, S, 0);
	m = ty_mx_end();
	x = explain(m, 0);
	does = ty_stall_computes_after(&x, ty_model_thread_find(m, 11, t), 1 * MS);
	ty_mx_drop();
	return does;
}

static void a_wait_for_one_without_a_cpu_is_not_long(void **state)
{
	assert_true(computes(false));
	assert_false(computes(true));
}

/* The command, 11, waits `ms` on the word, 12 wakes it; then 11 computes. */
static uint64_t waits(uint64_t t, unsigned ms)
{
	give(t += MS, WORD, WAIT, 0);
	ty_mx_enter(0, t, 11, NR_FUTEX);
	ty_mx_switch(0, t += MS, 11, S, 12);
	ty_mx_waking(0, t += ms * MS, 12, 11, 0);
	ty_mx_switch(0, t += 1000, 12, S, 11);
	ty_mx_exit(0, t += 1000, 11, NR_FUTEX, 0);
	return t + MS;
}

/* Those without waits for a CPU. */
static uint32_t stalls_of_command(int command)
{
	struct ty_stalls s = stalls_of(ty_mx_end(), command, false);
	uint32_t n = 0;

	for (uint32_t i = 0; i < s.n; i++)
		n += s.v[i].kind != TY_STALL_RUNQUEUE;
	ty_stalls_fini(&s);
	ty_mx_drop();
	return n;
}

static void ends(uint64_t t, int tid)
{
	struct ty_event ev = {.ts_ns = t, .tid = tid, .kind = TY_EV_EXIT, .id = 9};

	ev.u.tex.tid = tid;
	ty_mx_feed(ev);
}

static uint32_t stalls_at_end(uint64_t t)
{
	ends(t, 11);
	ty_mx_switch(0, t + 1000, 11, TY_TASK_DEAD, 12);
	ty_mx_switch(0, t + 2000, 12, S, 0);
	return stalls_of_command(11);
}

static uint32_t once_and(unsigned ms, unsigned others)
{
	uint64_t t = 1 * MS;

	givens = 0;
	ty_mx_begin("mode=pids\npid=11\n", TWO);
	ty_mx_switch(0, t, 0, R, 11);
	t = waits(t, ms);
	for (unsigned k = 0; others && k < 3; k++)
		t = waits(t, others);
	return stalls_at_end(t);
}

/* A beat whose period is shorter than a stall, once late. */
static void a_late_beat_is_no_stall(void **state)
{
	assert_int_equal(once_and(22, 0), 1);
	assert_int_equal(once_and(22, 9), 1);
	assert_int_equal(once_and(22, 17), 0);
	assert_int_equal(once_and(100, 17), 1);
	assert_int_equal(once_and(100, 26), 0);
}

/* 11 is woken in a call of tid. */
static void say(uint64_t at, int tid)
{
	give(at, 4, 0, 1);
	ty_mx_enter(0, at, tid, NR_WRITE);
	ty_mx_waking(0, at + 1000, tid, 11, 0);
	ty_mx_exit(0, at + 2000, tid, NR_WRITE, 1);
}

/* 11 reads what its children, 12 and 13, have to say. 13 gets its CPU only after 12; it says
 * something, too, or not. */
static uint32_t read_of_two(bool both)
{
	givens = 0;
	ty_mx_begin("mode=pids\npid=11\n", "taken 1 2\n" ROW("11", "11", "1", "job"));
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_fork(0, 2 * MS, 11, 12, 0);
	ty_mx_fork(0, 2 * MS + 1000, 11, 13, 0);
	give(3 * MS, 3, 0, 1);
	ty_mx_enter(0, 3 * MS, 11, NR_READ);
	ty_mx_switch(0, 4 * MS, 11, S, 12);
	say(64 * MS, 12);
	ty_mx_switch(0, 65 * MS, 12, S, 11);
	ty_mx_exit(0, 66 * MS, 11, NR_READ, 1);
	if (both) {
		give(67 * MS, 3, 0, 1);
		ty_mx_enter(0, 67 * MS, 11, NR_READ);
	}
	ty_mx_switch(0, 68 * MS, 11, both ? S : RP, 13);
	if (both)
		say(78 * MS, 13);
	else
		futex(78 * MS, 13, WORD, WAKE, 1);
	ty_mx_switch(0, 79 * MS, 13, S, 11);
	if (both)
		ty_mx_exit(0, 80 * MS, 11, NR_READ, 1);
	return stalls_at_end(82 * MS);
}

static void who_had_no_cpu_shares_the_work(void **state)
{
	assert_int_equal(read_of_two(false), 1);
	assert_int_equal(read_of_two(true), 0);
}

static void executes(uint64_t at, int tid)
{
	give(at, 0, 0, 0);
	ty_mx_enter(0, at, tid, NR_EXECVE);
	ty_mx_exit(0, at + 1000, tid, NR_EXECVE, 0);
}

/* The command, 11, starts 12 and 13 with a pipe between them, and waits for 13, which reads what 12
 * computes; both execute a program or not. Stalls of 13. */
static uint32_t pipeline(bool programs)
{
	const struct ty_model *m;
	struct ty_stalls s;
	uint64_t t = 2 * MS;
	uint32_t n = 0;

	givens = 0;
	ty_mx_begin("mode=pids\npid=11\n", "taken 1 2\n" ROW("11", "11", "1", "sh"));
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	give(t, 0x5000, 0, 0);
	ty_mx_enter(0, t, 11, NR_PIPE2);
	ty_mx_exit(0, t += 1000, 11, NR_PIPE2, 0);
	ty_mx_fork(0, t += 1000, 11, 12, 0);
	ty_mx_fork(0, t += 1000, 11, 13, 0);
	give(t += 1000, (uint64_t)-1, 0, 0);
	ty_mx_enter(0, t, 11, NR_WAIT4);
	ty_mx_switch(0, t += 1000, 11, S, 13);
	if (programs)
		executes(t += 1000, 13);
	give(t += 2000, 3, 0, 100);
	ty_mx_enter(0, t, 13, NR_READ);
	ty_mx_switch(0, t += 1000, 13, S, 12);
	if (programs)
		executes(t += 1000, 12);
	t += 100 * MS;
	give(t, 4, 0, 100);
	ty_mx_enter(0, t, 12, NR_WRITE);
	ty_mx_waking(0, t += 1000, 12, 13, 0);
	ty_mx_exit(0, t += 1000, 12, NR_WRITE, 100);
	ends(t += 1000, 12);
	ty_mx_switch(0, t += 1000, 12, TY_TASK_DEAD, 13);
	ty_mx_exit(0, t += 1000, 13, NR_READ, 100);
	t += 5 * MS;
	ty_mx_waking(0, t, 13, 11, 0);
	ends(t += 1000, 13);
	ty_mx_switch(0, t += 1000, 13, TY_TASK_DEAD, 11);
	ty_mx_exit(0, t += 1000, 11, NR_WAIT4, 13);
	ends(t += MS, 11);
	ty_mx_switch(0, t + 1000, 11, TY_TASK_DEAD, 0);
	m = ty_mx_end();
	s = stalls_of(m, 11, false);
	for (uint32_t i = 0; i < s.n; i++)
		n += ty_model_thread(m, s.v[i].thread)->tid == 13;
	ty_stalls_fini(&s);
	ty_mx_drop();
	return n;
}

static void a_pipelines_reader_is_as_fast_as_its_writer(void **state)
{
	assert_int_equal(pipeline(false), 1);
	assert_int_equal(pipeline(true), 0);
}

/* 12, a child of 11, sleeps and ends; that wakes 13, another thread of its parent, too. Before that
 * it may write something that wakes 13. How many waits for its exit are reported? */
static uint32_t end_of_a_sleeper(bool tells)
{
	struct ty_event ev = {
		.ts_ns = 100 * MS, .kind = TY_EV_VECTOR_ENTRY, .id = 30, .flags = TY_EVF_HARDIRQ};
	uint64_t t = 1 * MS;
	struct ty_stalls s;
	uint32_t n = 0;

	givens = 0;
	ty_mx_begin("mode=all\n", "taken 1 2\n" ROW("11", "11", "1", "job") ROW(
					  "12", "12", "11", "child") ROW("13", "11", "1", "own"));
	ty_mx_switch(0, t, 0, R, 13);
	ty_mx_enter(0, t += 1000, 13, NR_READ);
	ty_mx_switch(0, t += 1000, 13, S, 11);
	ty_mx_enter(0, t += 1000, 11, NR_WAIT4);
	ty_mx_switch(0, t += 1000, 11, S, 12);
	ty_mx_enter(0, t += 1000, 12, NR_NANOSLEEP);
	ty_mx_switch(0, t += 1000, 12, S, 0);
	ty_mx_feed(ev);
	ev.kind = TY_EV_HRTIMER_EXPIRE;
	ty_mx_feed(ev);
	ty_mx_waking_irq(0, t = 100 * MS + 1000, 0, 12, 0);
	ty_mx_switch(0, t += 1000, 0, R, 12);
	ty_mx_exit(0, t += 1000, 12, NR_NANOSLEEP, 0);
	if (tells) {
		give(t += 1000, 7, 0, 1);
		ty_mx_enter(0, t, 12, NR_WRITE);
		ty_mx_waking(0, t += 1000, 12, 13, 0);
		ty_mx_exit(0, t += 1000, 12, NR_WRITE, 1);
	}
	ty_mx_enter(0, t += 1000, 12, NR_EXIT_GROUP);
	ends(t += 1000, 12);
	if (!tells)
		ty_mx_waking(0, t += 1000, 12, 13, 0);
	ty_mx_waking(0, t += 1000, 12, 11, 0);
	ty_mx_switch(0, t += 1000, 12, TY_TASK_DEAD, 13);
	ty_mx_exit(0, t += 1000, 13, NR_READ, 1);
	ty_mx_switch(0, t += 1000, 13, S, 11);
	ty_mx_exit(0, t += 1000, 11, NR_WAIT4, 12);
	ty_mx_switch(0, t += 1000, 11, S, 0);
	s = stalls_of(ty_mx_end(), 0, false);
	for (uint32_t i = 0; i < s.n; i++)
		n += s.v[i].kind == TY_STALL_CHILD;
	ty_stalls_fini(&s);
	ty_mx_drop();
	return n;
}

static void what_an_end_wakes_was_told_nothing(void **state)
{
	assert_int_equal(end_of_a_sleeper(false), 1);
	assert_int_equal(end_of_a_sleeper(true), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_word_that_counts_is_no_lock),
		cmocka_unit_test(a_pool_waits_for_one_word),
		cmocka_unit_test(a_wait_for_one_without_a_cpu_is_not_long),
		cmocka_unit_test(a_late_beat_is_no_stall),
		cmocka_unit_test(who_had_no_cpu_shares_the_work),
		cmocka_unit_test(a_pipelines_reader_is_as_fast_as_its_writer),
		cmocka_unit_test(what_an_end_wakes_was_told_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
