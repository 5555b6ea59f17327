/* SPDX-License-Identifier: MIT */
/* Sums of calls by function against sums of the list of the calls, in random nested calls of two
 * threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "flow_sums.h"

enum { FUNCS = 6, CALLS = 4000, DEPTH = 40, THREADS = 2 };

static unsigned seed = 1;

static unsigned any(unsigned n)
{
	return (unsigned)rand_r(&seed) % n;
}

struct done {
	struct ty_flow_call c;
	bool outermost;
};

static struct done done[CALLS];
static struct ty_flow_call stack[THREADS][DEPTH];
static unsigned depth[THREADS];

static void execute(struct ty_flow_sums *s)
{
	uint64_t seq = 0, now = 1;

	for (unsigned ended = 0; ended < CALLS; now += any(100)) {
		const unsigned t = any(THREADS);
		struct ty_flow_call *c;

		if (!depth[t] || (depth[t] < DEPTH && any(2))) {
			c = &stack[t][depth[t]++];
			*c = (struct ty_flow_call){.start_ns = now,
						   .seq = seq++,
						   .tid = 10 + (int32_t)t,
						   .pid = 1,
						   .func = any(9) ? any(FUNCS) : TY_NO_FUNC,
						   .caller = depth[t] > 1 ? c[-1].func : TY_NO_FUNC,
						   .flags = any(5)   ? 0
							    : any(2) ? TY_CALL_BACK
								     : TY_CALL_CUT};
			ty_flow_sums_begin(s, c);
			continue;
		}
		c = &stack[t][--depth[t]];
		c->end_ns = now;
		c->self_insns = 1 + any(50);
		c->insns = c->self_insns + any(3000);
		ty_flow_sums_end(s, c);
		done[ended] = (struct done){*c, true};
		for (unsigned i = 0; i < depth[t]; i++)
			done[ended].outermost &= stack[t][i].func != c->func;
		ended++;
	}
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* How many calls none of its callers has. */
static uint64_t check(const struct ty_flow_func *f, uint32_t func)
{
	static uint64_t insns[CALLS];
	uint64_t count = 0, partial = 0, self = 0, all = 0, ns = 0, max_ns = 0,
		 callers[FUNCS + 1] = {0};
	size_t n = 0;

	for (unsigned i = 0; i < CALLS; i++) {
		const struct ty_flow_call *c = &done[i].c;
		const bool counts = !(c->flags & TY_CALL_BACK);

		if (c->func != func)
			continue;
		count += counts;
		self += c->self_insns;
		all += done[i].outermost ? c->insns : 0;
		ns += done[i].outermost ? c->end_ns - c->start_ns : 0;
		callers[c->caller == TY_NO_FUNC ? FUNCS : c->caller] += counts;
		if (c->flags) {
			partial += counts;
			continue;
		}
		insns[n++] = c->insns;
		max_ns = c->end_ns - c->start_ns > max_ns ? c->end_ns - c->start_ns : max_ns;
	}
	qsort(insns, n, sizeof(*insns), by_value);
	assert_true(n > 100);
	assert_int_equal(count, f->count);
	assert_int_equal(partial, f->not_whole);
	assert_int_equal(self, f->self_insns);
	assert_int_equal(all, f->insns);
	assert_int_equal(ns, f->total_ns);
	assert_int_equal(max_ns, f->max_ns);
	assert_int_equal(insns[n - 1], f->max_insns);
	assert_int_equal(insns[ty_flow_rank(n, 50)], f->p50_insns);
	assert_int_equal(insns[ty_flow_rank(n, 99)], f->p99_insns);
	for (size_t i = 0; i < f->callers.n; i++) {
		const struct ty_flow_caller *c = &f->callers.v[i];

		assert_int_equal(callers[c->func == TY_NO_FUNC ? FUNCS : c->func], c->count);
		assert_true(!i || c[-1].count >= c->count);
		count -= c->count;
	}
	return count;
}

static void random_calls(void **state)
{
	struct ty_flow_caller *callers;
	struct ty_flow_sums s = {.most = SIZE_MAX};

	struct ty_flow_func of[FUNCS];

	execute(&s);
	assert_int_equal(FUNCS, s.of.n);
	for (uint32_t i = 0; i < FUNCS; i++)
		of[i] = ty_flow_sums_func(&s, i);
	/* Of all but one. */
	ty_flow_sums_callers(&s, of + 1, FUNCS - 1, &callers);
	assert_int_equal(0, of[0].callers.n);
	for (uint32_t i = 0; i < FUNCS; i++)
		assert_int_equal(i ? 0 : of[i].count, check(&of[i], i));
	free(callers);
	ty_flow_sums_fini(&s);
}

static void many_functions(void **state)
{
	enum { MANY = 40000 };
	struct ty_flow_sums s = {.most = SIZE_MAX};

	for (uint32_t i = 0; i < MANY; i++) {
		struct ty_flow_sum *a = ty_flow_sum_of(&s, i);

		assert_non_null(a);
		assert_int_equal(0, a->others);
		a->others = i + 1;
	}
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(i + 1, ty_flow_sum_of(&s, i)->others);
	ty_flow_sums_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(random_calls),
					   cmocka_unit_test(many_functions)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
