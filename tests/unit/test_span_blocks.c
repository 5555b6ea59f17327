/* SPDX-License-Identifier: MIT */
/* A path through many runs of one thread is the same with and without blocks of its spans. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "chain.h"
#include "fixture_given.h"
#include "fixture_lock.h"
#include "fixture_model.h"
#include "span_blocks.h"

enum { TURNS = 700 };

/* 11 waits while 12 runs, and 13 has its CPU in between. Once 12 sleeps. */
static const struct ty_model *waits(uint64_t *from, uint64_t *to)
{
	uint64_t t = 2 * MS;

	ty_mx_begin("mode=all\n", "taken 1 2\n" ROW("11", "11", "1", "a") ROW("12", "12", "1", "b")
					  ROW("13", "13", "1", "c"));
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_enter(0, t, 11, 0);
	*from = t += 1000;
	ty_mx_switch(0, t, 11, S, 12);
	for (int i = 0; i < TURNS; i++) {
		bool sleeps = i == TURNS / 3;

		ty_mx_switch(0, t += 20000, 12, sleeps ? S : RP, 13);
		if (sleeps)
			ty_mx_waking_irq(0, t + 5000, 13, 12, 0);
		ty_mx_switch(0, t += 10000, 13, RP, 12);
	}
	ty_mx_waking(0, t += 5000, 12, 11, 0);
	*to = t;
	ty_mx_switch(0, t += 1000, 12, S, 11);
	ty_mx_exit(0, t += 1000, 11, 0, 1);
	ty_mx_switch(0, t += 1000, 11, S, 0);
	return ty_mx_end();
}

static void a_path_is_the_same_by_blocks(void **state)
{
	struct ty_path one = {0}, by_blocks = {0};
	uint64_t from, to;
	const struct ty_model *m = waits(&from, &to);
	struct ty_explain x = explain(m, 0);

	assert_int_equal(ty_path_find(&x, thread(m, 11), from, to, &one), 0);
	assert_true(one.seg.n > 2 * TY_ROWS);
	x.spans = ty_span_blocks_new();
	assert_non_null(x.spans);
	/* The second time the blocks are known; part of a run begins it. */
	for (int k = 0; k < 3; k++) {
		uint64_t cut = k == 2 ? 300 * MS / 100 : 0;

		if (cut)
			assert_int_equal(ty_path_find(&(struct ty_explain){.m = m}, thread(m, 11),
						      from + cut, to, &one),
					 0);
		assert_int_equal(ty_path_find(&x, thread(m, 11), from + cut, to, &by_blocks), 0);
		assert_int_equal(by_blocks.seg.n, one.seg.n);
		assert_int_equal(by_blocks.hop.n, one.hop.n);
		for (size_t i = 0; i < one.seg.n; i++) {
			assert_int_equal(by_blocks.seg.v[i].start_ns, one.seg.v[i].start_ns);
			assert_int_equal(by_blocks.seg.v[i].end_ns, one.seg.v[i].end_ns);
			assert_int_equal(by_blocks.seg.v[i].thread, one.seg.v[i].thread);
			assert_int_equal(by_blocks.seg.v[i].span, one.seg.v[i].span);
			assert_int_equal(by_blocks.seg.v[i].hop, one.seg.v[i].hop);
			assert_int_equal(by_blocks.seg.v[i].what, one.seg.v[i].what);
			assert_int_equal(by_blocks.seg.v[i].flags, one.seg.v[i].flags);
		}
	}
	free(x.spans);
	ty_path_fini(&one);
	ty_path_fini(&by_blocks);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_is_the_same_by_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
