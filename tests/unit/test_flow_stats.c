/* SPDX-License-Identifier: MIT */
/* Functions by the cost of their calls: counts and instructions of a known program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_loop.h"
#include "flow_stats.h"

static bool none(void *ctx, const struct ty_flow_at *at)
{
	(void)ctx;
	(void)at;
	return false;
}

#ifdef TY_HAVE_IPT
static const struct ty_flow_func *func(const struct ty_flow_stats *s, const char *name)
{
	vec_each (f, &s->funcs)
		if (f->func != TY_NO_FUNC &&
		    !strcmp(ty_flow_calls_function(s->calls_of, f->func)->name, name))
			return f;
	return NULL;
}

static void a_function_in_a_loop(void **state)
{
	const struct ty_flow_func *work, *outer;
	struct ty_flow_stats s;
	struct loop l;

	loop_open(&l);
	assert_int_equal(0, ty_flow_stats(l.flow, l.names, true, SIZE_MAX, NULL, NULL, &s, NULL));
	assert_int_equal(s.insns, l.m.insns);
	assert_int_equal(s.gaps, 0);
	assert_int_equal(s.not_decoded, 0);
	assert_int_equal(s.bytes, l.m.out.len);
	work = func(&s, "work");
	assert_non_null(work);
	assert_int_equal(work->count, LOOPS);
	assert_int_equal(work->not_whole, 0);
	assert_int_equal(work->insns, LOOPS * l.work.insns);
	assert_int_equal(work->self_insns, work->insns);
	assert_int_equal(work->p50_insns, l.work.insns);
	assert_int_equal(work->p99_insns, l.work.insns);
	assert_int_equal(work->max_insns, l.work.insns);
	assert_int_equal(work->max_tid, TID);
	assert_non_null(work->calls);
	assert_true(work->calls->slowest.end_ns - work->calls->slowest.start_ns == work->max_ns);
	assert_int_equal(work->callers.n, 1);
	assert_int_equal(work->callers.v[0].count, LOOPS);
	assert_string_equal(ty_flow_calls_function(s.calls_of, work->callers.v[0].func)->name,
			    "main");
	/* main was entered before the flow began: it has its own instructions, and no percentile.
	 */
	outer = func(&s, "main");
	assert_non_null(outer);
	assert_int_equal(outer->not_whole, outer->count);
	assert_int_equal(outer->self_insns, l.m.insns - LOOPS * l.work.insns);
	assert_null(outer->calls);
	/* Most self instructions first. */
	for (size_t i = 1; i < s.funcs.n; i++)
		assert_true(s.funcs.v[i].self_insns <= s.funcs.v[i - 1].self_insns);
	ty_flow_stats_fini(&s);
	loop_close(&l);
}

static void nothing_chosen(void **state)
{
	struct ty_flow_stats s;
	struct loop l;

	loop_open(&l);
	assert_int_equal(0, ty_flow_stats(l.flow, l.names, false, 1, none, NULL, &s, NULL));
	assert_int_equal(s.insns, 0);
	assert_int_equal(s.calls, 0);
	vec_each (f, &s.funcs) {
		assert_int_equal(f->count, 0);
		assert_null(f->calls);
	}
	ty_flow_stats_fini(&s);
	loop_close(&l);
}
#else
static void a_function_in_a_loop(void **state)
{
	skip();
}

static void nothing_chosen(void **state)
{
	assert_false(none(NULL, NULL));
	skip();
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_in_a_loop),
		cmocka_unit_test(nothing_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
