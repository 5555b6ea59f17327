/* SPDX-License-Identifier: MIT */
/* Lock or counter: by the values with which threads of the process wait on a futex word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_given.h"
#include "stalls_priv.h"

#define MS UINT64_C(1000000)

enum { NR_FUTEX = 202, WAIT = 0, LOCKED = 2, WORD = 0x1000, ELSE = 0x2000 };

static uint64_t t;

static void waits(int tid, uint64_t word, uint64_t value)
{
	give(t += MS, word, WAIT, value);
	ty_mx_enter(0, t, tid, NR_FUTEX);
	ty_mx_exit(0, t += 1000, tid, NR_FUTEX, 0);
}

/* 11 waits as for a lock; before, so many times for others, tid waits on the word with the value.
 */
static int counts(int tid, uint64_t word, uint64_t value, unsigned between, unsigned *kept)
{
	struct ty_candidate c = {0};
	struct ty_stall_search h = {0};
	struct ty_explain x;
	const struct ty_thread *th;
	int r;

	t = MS;
	givens = 0;
	ty_mx_begin("mode=all\n", "taken 1 2\n" ROW("11", "11", "1", "job") ROW(
					  "12", "11", "1", "job") ROW("13", "13", "1", "other"));
	ty_mx_switch(0, t, 0, R, 11);
	waits(tid, word, value);
	for (unsigned i = 0; i < between; i++)
		waits(tid, ELSE, LOCKED);
	waits(11, WORD, LOCKED);
	ty_mx_switch(0, t += MS, 11, S, 0);
	x = explain(ty_mx_end(), 0);
	h.x = &x;
	c.s.thread = ty_model_thread_find(x.m, 11, t);
	th = ty_model_thread(x.m, c.s.thread);
	c.s.syscall = th->syscalls_first + th->syscalls_n - 1;
	c.s.start_ns = ty_model_syscall(x.m, c.s.syscall).start_ns;
	c.w.word = WORD;
	r = ty_stall_counts(&h, &c);
	/* The second time it is remembered: no arguments are read. */
	x.args = NULL;
	assert_int_equal(ty_stall_counts(&h, &c), r);
	*kept = (unsigned)h.word.n;
	vec_fini(&h.word);
	ty_mx_drop();
	return r;
}

static void by_value(void **state)
{
	unsigned kept;

	/* Nothing but "locked, with waiters", by itself or another thread of the process. */
	assert_int_equal(counts(11, WORD, LOCKED, 0, &kept), 0);
	assert_int_equal(counts(12, WORD, 3, 0, &kept), 0);
	assert_int_equal(kept, 1);
	/* A value that no lock has: a counter. */
	assert_int_equal(counts(11, WORD, 7, 0, &kept), 1);
	assert_int_equal(counts(12, WORD, 0, 0, &kept), 1);
	assert_int_equal(counts(12, WORD, 4, 0, &kept), 1);
	assert_int_equal(kept, 1);
}

/* On another word, or in another process, it says nothing. */
static void elsewhere(void **state)
{
	unsigned kept;

	assert_int_equal(counts(12, ELSE, 7, 0, &kept), 0);
	assert_int_equal(counts(13, WORD, 7, 0, &kept), 0);
}

/* As many calls as are looked at, and one more. */
static void bounded(void **state)
{
	unsigned kept;

	assert_int_equal(counts(12, WORD, 7, 63, &kept), 1);
	assert_int_equal(counts(12, WORD, 7, 64, &kept), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_value),
		cmocka_unit_test(elsewhere),
		cmocka_unit_test(bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
