/* SPDX-License-Identifier: MIT */
/*
 * Paths give the same sums as their runs, each an item of its own: over random paths with calls
 * that return on them and calls that do not, executed at any depth, at changing times, by two
 * threads, with setjmp, and with too little memory for percentiles of all calls.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "flow_calls.h"
#include "flow_sums.h"
#include "flow_walk.h"

enum { FUNCS = 8, FUNC = 256, PATHS = 12, RUNS = 30000, TIDS = 2 };
#define BASE 0x10000000ull

static unsigned seed;

static unsigned any(unsigned n)
{
	return (unsigned)rand_r(&seed) % n;
}

struct path {
	uint64_t ip;
	uint64_t open[TY_WALK_PATH_MAX]; /* return addresses of the calls that stay open */
	unsigned open_n;
	struct ty_walk_path *p;
};

/* Calls from where it is, and returns from them. */
static void make_path(struct path *path)
{
	const unsigned n = 2 + any(TY_WALK_PATH_MAX - 1);
	uint64_t ip = BASE + FUNC * any(FUNCS) + any(8);

	path->p = calloc(1, sizeof(*path->p) + n * sizeof(*path->p->cuts));
	path->p->cuts_n = n;
	path->ip = ip;
	path->open_n = 0;
	for (unsigned i = 0; i < n; i++) {
		struct ty_memo_cut *c = &path->p->cuts[i];

		c->last = ip / FUNC * FUNC + 16 + 8 * any(20);
		c->size = 4;
		c->insns = 1 + any(9);
		path->p->others += i ? c->insns : 0;
		c->cls = path->open_n && any(2) ? TY_FC_RETURN : TY_FC_CALL;
		if (c->cls == TY_FC_CALL) {
			c->to = BASE + FUNC * any(FUNCS);
			path->open[path->open_n++] = c->last + c->size;
		} else {
			c->to = path->open[--path->open_n];
		}
		ip = c->to;
	}
}

struct executed {
	struct ty_walk_run runs[RUNS];
	uint64_t returns[64];
	unsigned depth;
};

static void called(struct executed *e, uint64_t ret)
{
	e->returns[e->depth++ % 64] = ret;
}

/* Paths, and runs that return from what they left open, call and jump. */
static void execute(struct executed *e, const struct path *paths, bool still)
{
	uint64_t ip = BASE, tsc = 1;
	const struct path *next = NULL;

	e->depth = 0;
	for (size_t i = 0; i < RUNS; i++) {
		struct ty_walk_run *r = &e->runs[i];

		*r = (struct ty_walk_run){.ip = ip,
					  .last = ip / FUNC * FUNC + 8 * any(30),
					  .tsc = tsc,
					  .insns = 1 + any(5),
					  .size = 4,
					  .flags = any(200) ? 0 : TY_FF_NO_TIME};
		tsc += still || any(20) ? 0 : 1 + any(50);
		r->until = tsc;
		if (next) {
			r->path = next->p;
			r->cls = TY_WALK_PATH;
			r->insns = 1 + any(2) + next->p->others;
			for (unsigned k = 0; k < next->open_n; k++)
				called(e, next->open[k]);
			ip = next->p->cuts[next->p->cuts_n - 1].to;
			next = any(4) ? NULL : &paths[any(PATHS)];
			if (!next || next->ip != ip)
				next = NULL;
			continue;
		}
		if (e->depth > 32 || (e->depth && any(3))) {
			r->cls = TY_FC_RETURN;
			ip = e->returns[--e->depth % 64];
			continue;
		}
		next = &paths[any(any(4) ? 3 : PATHS)];
		ip = next->ip;
		r->cls = any(3) ? TY_FC_JUMP : TY_FC_CALL;
		if (any(2))
			r->last = ip / FUNC * FUNC + 8 * any(30);
		if (r->cls == TY_FC_CALL)
			called(e, r->last + r->size);
	}
}

static void run_by_run(struct ty_flow_calls *c, const struct ty_flow *f, int32_t tid,
		       const struct ty_walk_run *runs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct ty_walk_run of[TY_WALK_PATH_MAX] = {runs[i]};
		const unsigned of_n = ty_walk_is_path(&runs[i]) ? runs[i].path->cuts_n : 1;

		if (ty_walk_is_path(&runs[i]))
			ty_walk_path_runs(&runs[i], 0, of_n, of);
		for (unsigned k = 0; k < of_n; k++) {
			const struct ty_walk_run *r = &of[k];
			struct ty_flow_at at = {.tid = tid, .pid = 1, .cpu = -1};

			at.ts_ns =
				r->flags & TY_FF_NO_TIME ? TY_FLOW_NO_TIME : ty_flow_ns(f, r->tsc);
			at.last_ns = ty_flow_ns(f, r->until);
			at.item = (struct ty_flow_item){.kind = TY_FLOW_RUN,
							.ip = r->ip,
							.to = r->last,
							.value = r->insns,
							.size = r->size,
							.cls = r->cls};
			assert_int_equal(0, ty_flow_calls_feed(c, &at));
		}
	}
}

static void equal(struct ty_flow_sums *a, struct ty_flow_sums *b, bool memory)
{
	assert_int_equal(a->unknown, b->unknown);
	assert_int_equal(a->kept + a->beyond, b->kept + b->beyond);
	assert_int_equal(a->of.n, b->of.n);
	for (uint32_t i = 0; i < a->of.n; i++) {
		struct ty_flow_func x = ty_flow_sums_func(a, i), y = ty_flow_sums_func(b, i);
		struct ty_flow_caller *of_x, *of_y;

		if (memory)
			assert_int_equal(ty_ranks_count(&a->of.v[i].of_ns),
					 ty_ranks_count(&b->of.v[i].of_ns));
		else
			x.p50_insns = x.p99_insns = x.p50_ns = x.p99_ns = y.p50_insns =
				y.p99_insns = y.p50_ns = y.p99_ns = 0;
		ty_flow_sums_callers(a, &x, 1, &of_x);
		ty_flow_sums_callers(b, &y, 1, &of_y);
		assert_int_equal(x.callers.n, y.callers.n);
		for (size_t k = 0; k < x.callers.n; k++) {
			assert_int_equal(x.callers.v[k].func, y.callers.v[k].func);
			assert_int_equal(x.callers.v[k].count, y.callers.v[k].count);
		}
		x.callers = y.callers;
		assert_memory_equal(&x, &y, sizeof(x));
		free(of_x);
		free(of_y);
	}
}

static void paths_and_runs(void **state)
{
	static const char *const names[FUNCS] = {"main", "_setjmp", "longjmp", "a",
						 "b",	 "c",	    "d",       "e"};
	static const uint8_t code[FUNC];
	struct executed *e = calloc(1, sizeof(*e));
	struct ty_flow *f = ty_flow_new(NULL, NULL);
	struct ty_code *c = ty_flow_code(f);
	struct ty_flow_names *of;
	uint64_t quick = 0;

	assert_non_null(e);
	for (unsigned i = 0; i < FUNCS; i++)
		assert_int_equal(0, ty_code_jit(c, 1, 0, BASE + FUNC * i,
						ty_code_function(c, names[i], code, FUNC)));
	ty_code_ready(c);
	ty_flow_set_time(f, 0, 1, 0);
	of = ty_flow_names_new(c);
	for (unsigned round = 1; round < 12; round++) {
		const bool memory = round % 4;
		struct ty_flow_sums sums[2] = {{.most = memory ? SIZE_MAX : 20000},
					       {.most = memory ? SIZE_MAX : 20000}};
		struct ty_flow_calls *each = ty_flow_calls_new(of, NULL, NULL, NULL);
		struct ty_flow_calls *many = ty_flow_calls_new(of, NULL, NULL, NULL);
		struct path paths[PATHS];
		uint64_t insns = 0;

		seed = round;
		ty_flow_calls_sum_up(each, &sums[0]);
		ty_flow_calls_sum_up(many, &sums[1]);
		for (unsigned i = 0; i < PATHS; i++)
			make_path(&paths[i]);
		for (int32_t tid = 1; tid <= TIDS; tid++) {
			const struct ty_flow_at at = {.tid = tid, .pid = 1, .cpu = -1};

			execute(e, paths, round % 3 == 0);
			run_by_run(each, f, tid, e->runs, RUNS);
			for (size_t i = 0, n; i < RUNS; i += n) {
				n = 1 + any(3000);
				n = n < RUNS - i ? n : RUNS - i;
				assert_int_equal(0, ty_flow_calls_runs(many, f, &at, e->runs + i, n,
								       &insns));
			}
			insns -= ty_flow_runs_insns(e->runs, RUNS);
		}
		assert_int_equal(0, insns);
		ty_flow_calls_finish(each);
		ty_flow_calls_finish(many);
		equal(&sums[0], &sums[1], memory);
		for (unsigned i = 0; i < PATHS; i++) {
			quick += paths[i].p->plan != 0;
			free(paths[i].p);
		}
		for (unsigned i = 0; i < 2; i++)
			ty_flow_sums_fini(&sums[i]);
		ty_flow_calls_free(each);
		ty_flow_calls_free(many);
	}
	/* Most are found out. */
	assert_true(quick > 50);
	ty_flow_names_free(of);
	ty_flow_free(f);
	free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(paths_and_runs)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
