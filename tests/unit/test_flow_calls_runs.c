/* SPDX-License-Identifier: MIT */
/*
 * Runs read many at a time give the same calls as when each is an item of its own: over random
 * calls, returns to where they were called from and elsewhere, and jumps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "flow_calls.h"
#include "flow_sums.h"
#include "flow_walk.h"

enum { FUNCS = 8, FUNC = 64, RUNS = 20000, TID = 7 };
#define BASE 0x10000000ull

static unsigned seed;

static unsigned any(unsigned n)
{
	return (unsigned)rand_r(&seed) % n;
}

struct told {
	uint64_t hash, calls;
};

static void tell(struct told *t, uint64_t v)
{
	t->hash = (t->hash ^ v) * 0x9e3779b97f4a7c15ull;
}

static void begins(void *ctx, const struct ty_flow_call *c)
{
	tell(ctx, c->seq);
	tell(ctx, c->func);
	tell(ctx, c->caller);
	tell(ctx, c->depth);
	tell(ctx, c->start_ns);
}

static void ends(void *ctx, const struct ty_flow_call *c)
{
	struct told *t = ctx;

	t->calls++;
	tell(t, c->seq);
	tell(t, c->end_ns);
	tell(t, c->insns);
	tell(t, c->self_insns);
	tell(t, c->children_ns);
	tell(t, c->ret);
	tell(t, c->ip);
	tell(t, c->flags);
}

/* Instructions that call, return and jump. */
static void execute(struct ty_walk_run *runs, size_t n)
{
	uint64_t returns[64], ip = BASE, tsc = 0;
	unsigned depth = 0;

	for (size_t i = 0; i < n; i++) {
		const uint64_t last = ip / FUNC * FUNC + 8 * any(7), next = last + 4;
		struct ty_walk_run *r = &runs[i];

		tsc += any(3) ? 0 : 1 + any(50);
		*r = (struct ty_walk_run){.ip = ip,
					  .last = last,
					  .tsc = tsc,
					  .until = tsc,
					  .insns = 1 + any(9),
					  .size = 4,
					  .flags = any(50) ? 0 : TY_FF_NO_TIME};
		/* Of some nothing is known. */
		ip = BASE + FUNC * any(FUNCS + 2) + (any(20) ? 0 : any(FUNC));
		switch (any(8)) {
		case 0:
			r->cls = TY_FC_JUMP | TY_BLOCK_INDIRECT;
			ip = any(3) || !depth ? ip : returns[any(depth)];
			break;
		case 1:
		case 2:
		case 3:
			r->cls = TY_FC_CALL;
			ip = any(30) ? ip : next;
			if (ip != next)
				returns[depth++ % 64] = next;
			depth = depth > 64 ? 0 : depth;
			break;
		default:
			r->cls = TY_FC_RETURN;
			if (depth && any(30))
				ip = returns[--depth];
			else if (depth)
				ip = returns[depth = any(depth)];
		}
	}
}

static void run_by_run(struct ty_flow_calls *c, const struct ty_flow *f,
		       const struct ty_walk_run *runs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct ty_walk_run *r = &runs[i];
		struct ty_flow_at at = {.tid = TID, .pid = TID, .cpu = -1};

		at.ts_ns = r->flags & TY_FF_NO_TIME ? TY_FLOW_NO_TIME : ty_flow_ns(f, r->tsc);
		at.last_ns = at.ts_ns;
		at.item = (struct ty_flow_item){.kind = TY_FLOW_RUN,
						.ip = r->ip,
						.to = r->last,
						.value = r->insns,
						.size = r->size,
						.cls = r->cls & (uint8_t)~TY_BLOCK_INDIRECT,
						.flags = r->cls & TY_BLOCK_INDIRECT ? TY_FF_INDIRECT
										    : 0};
		assert_int_equal(0, ty_flow_calls_feed(c, &at));
	}
}

static void many_at_a_time(void **state)
{
	static const char *const names[FUNCS] = {"main", "_setjmp", "longjmp", "_Unwind_Resume",
						 "a",	 "b",	    "c",       "d"};
	static const uint8_t code[FUNC];
	static struct ty_walk_run runs[RUNS];
	const struct ty_flow_at at = {.tid = TID, .pid = TID, .cpu = -1};
	struct ty_flow *f = ty_flow_new(NULL, NULL);
	struct ty_code *c = ty_flow_code(f);
	struct ty_flow_names *of;

	for (unsigned i = 0; i < FUNCS; i++)
		assert_int_equal(0, ty_code_jit(c, TID, 0, BASE + FUNC * i,
						ty_code_function(c, names[i], code, FUNC)));
	ty_code_ready(c);
	ty_flow_set_time(f, 0, 1, 0);
	of = ty_flow_names_new(c);
	for (unsigned round = 1; round < 20; round++) {
		struct told each = {0}, many = {0};
		struct ty_flow_sums sums = {.most = SIZE_MAX};
		struct ty_flow_calls *a = ty_flow_calls_new(of, begins, ends, &each);
		struct ty_flow_calls *b = ty_flow_calls_new(of, begins, ends, &many);
		struct ty_flow_calls *s = ty_flow_calls_new(of, begins, ends, NULL);
		struct ty_flow_caller *callers;
		uint64_t insns = 0;

		seed = round;
		ty_flow_calls_sum_up(s, &sums);
		execute(runs, RUNS);
		run_by_run(a, f, runs, RUNS);
		for (size_t i = 0, n; i < RUNS; i += n) {
			n = 1 + any(100);
			n = n < RUNS - i ? n : RUNS - i;
			assert_int_equal(0, ty_flow_calls_runs(b, f, &at, runs + i, n, &insns));
			assert_int_equal(0, ty_flow_calls_runs(s, f, &at, runs + i, n, &insns));
		}
		assert_int_equal(2 * ty_flow_runs_insns(runs, RUNS), insns);
		ty_flow_calls_finish(a);
		ty_flow_calls_finish(b);
		ty_flow_calls_finish(s);
		assert_true(each.calls > RUNS / 4);
		assert_int_equal(each.calls, many.calls);
		assert_int_equal(each.hash, many.hash);
		for (uint32_t i = 0; i < sums.of.n; i++) {
			struct ty_flow_func x = ty_flow_sums_func(&sums, i);

			ty_flow_sums_callers(&sums, &x, 1, &callers);
			each.calls -= x.count;
			for (size_t k = 0; k < x.callers.n; k++)
				x.count -= x.callers.v[k].count;
			assert_int_equal(0, x.count);
			free(callers);
		}
		/* Except for those that continued after they were left. */
		assert_true(each.calls < RUNS / 8);
		assert_int_equal(0, sums.unknown);
		ty_flow_sums_fini(&sums);
		ty_flow_calls_free(a);
		ty_flow_calls_free(b);
		ty_flow_calls_free(s);
	}
	ty_flow_names_free(of);
	ty_flow_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(many_at_a_time)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
