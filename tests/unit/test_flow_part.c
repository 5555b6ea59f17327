/* SPDX-License-Identifier: MIT */
/* A part of one thread's execution: its steps and calls, where a limit cuts it, and look-ups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_loop.h"
#include "flow_part.h"

static void read_part(struct loop *l, uint32_t most, struct ty_flow_part *p)
{
	const struct ty_flow_part_request q = {.tid = TID, .to_ns = UINT64_MAX, .most = most};

	loop_open(l);
	assert_int_equal(0, ty_flow_part_read(l->flow, l->names, &q, p));
}

static void drop(struct loop *l, struct ty_flow_part *p)
{
	ty_flow_part_fini(p);
	loop_close(l);
}

static unsigned calls_of(const struct ty_flow_part *p, const char *name)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < p->calls.n; i++)
		n += !strcmp(ty_flow_part_function(p, i), name);
	return n;
}

#ifdef TY_HAVE_IPT
static void steps_and_calls(void **state)
{
	struct loop l;
	struct ty_flow_part p;
	uint64_t in_work = 0;

	read_part(&l, 1000, &p);
	assert_int_equal(p.steps.n, l.m.insns);
	assert_int_equal(p.gaps.n, 0);
	assert_false(p.cut);
	assert_int_equal(p.pid, TID);
	assert_int_equal(calls_of(&p, "work"), LOOPS);
	vec_each (s, &p.steps) {
		bool inside = s->ip >= l.work.ip && s->ip <= l.work.last;

		assert_int_equal(inside,
				 s->call != TY_NO_CALL &&
					 !strcmp(ty_flow_part_function(&p, s->call), "work"));
		in_work += inside;
	}
	assert_int_equal(in_work, LOOPS * l.work.insns);
	assert_int_equal(p.depth_first.v[0], 0);
	assert_int_equal(p.depth_first.v[ty_flow_part_depths(&p)], p.calls.n);
	/* By depth, in order: the calls of one depth do not overlap. */
	for (uint32_t d = 0; d < ty_flow_part_depths(&p); d++)
		for (uint32_t i = p.depth_first.v[d]; i < p.depth_first.v[d + 1]; i++) {
			const struct ty_flow_part_call *c = &p.calls.v[p.by_depth.v[i]];

			assert_int_equal(c->depth, d);
			assert_true(c->first < c->last);
			if (i > p.depth_first.v[d])
				assert_true(p.calls.v[p.by_depth.v[i - 1]].last <= c->first);
		}
	drop(&l, &p);
}

static void look_ups(void **state)
{
	struct loop l;
	struct ty_flow_part p;
	uint32_t work = TY_NO_CALL, depth, n, at;

	read_part(&l, 1000, &p);
	n = (uint32_t)p.steps.n;
	for (uint32_t i = 0; i < p.calls.n && work == TY_NO_CALL; i++)
		work = strcmp(ty_flow_part_function(&p, i), "work") ? TY_NO_CALL : i;
	assert_int_not_equal(work, TY_NO_CALL);
	depth = p.calls.v[work].depth;
	assert_int_equal(ty_flow_part_call_from(&p, depth, 0), work);
	assert_int_equal(ty_flow_part_call_from(&p, depth, p.calls.v[work].last - 1), work);
	assert_int_not_equal(ty_flow_part_call_from(&p, depth, p.calls.v[work].last), work);
	assert_int_equal(ty_flow_part_call_from(&p, depth, n), TY_NO_CALL);
	assert_int_equal(ty_flow_part_call_from(&p, 99, 0), TY_NO_CALL);
	/* The same instruction: once a round, none before the first nor behind the last. */
	at = p.calls.v[work].first;
	assert_int_equal(ty_flow_part_same(&p, at, -1), TY_NO_CALL);
	for (unsigned i = 1; i < LOOPS; i++) {
		uint32_t next = ty_flow_part_same(&p, at, 1);

		assert_true(next > at && next < n);
		assert_int_equal(p.steps.v[next].ip, p.steps.v[at].ip);
		assert_int_equal(ty_flow_part_same(&p, next, -1), at);
		at = next;
	}
	assert_int_equal(ty_flow_part_same(&p, at, 1), TY_NO_CALL);
	assert_int_equal(ty_flow_part_count(&p, l.work.ip, 0, n), LOOPS);
	assert_int_equal(ty_flow_part_count(&p, l.work.ip, 0, at), LOOPS - 1);
	assert_int_equal(ty_flow_part_count(&p, l.work.ip, n, n), 0);
	/* The first step at a time; behind the last one: the number of steps. */
	assert_int_equal(ty_flow_part_step_at(&p, 0), 0);
	assert_int_equal(ty_flow_part_step_at(&p, UINT64_MAX - 1), n);
	at = ty_flow_part_step_at(&p, p.steps.v[n - 1].ts_ns);
	assert_int_equal(p.steps.v[at].ts_ns, p.steps.v[n - 1].ts_ns);
	assert_true(!at || p.steps.v[at - 1].ts_ns < p.steps.v[at].ts_ns ||
		    p.steps.v[at - 1].ts_ns == TY_FLOW_NO_TIME);
	drop(&l, &p);
}

/* The limit is on instructions: exactly as many, and the part says that it was cut. */
static void a_limit_cuts(void **state)
{
	struct loop l;
	struct ty_flow_part p;
	uint64_t all;

	read_part(&l, 10, &p);
	assert_int_equal(p.steps.n, 10);
	assert_true(p.cut);
	all = l.m.insns;
	drop(&l, &p);
	read_part(&l, (uint32_t)all, &p);
	assert_int_equal(p.steps.n, all);
	assert_false(p.cut);
	drop(&l, &p);
	read_part(&l, (uint32_t)all - 1, &p);
	assert_true(p.cut);
	drop(&l, &p);
}

static void stopped(void **state)
{
	atomic_bool stop = true;
	const struct ty_flow_part_request q = {
		.tid = TID, .to_ns = UINT64_MAX, .most = 100, .stop = &stop};
	struct ty_flow_part p;
	struct loop l;

	loop_open(&l);
	assert_int_equal(ty_flow_part_read(l.flow, l.names, &q, &p), -TY_EINTR);
	drop(&l, &p);
}

/* Of a thread without instructions: no steps, and every look-up says so. */
static void empty(void **state)
{
	const struct ty_flow_part_request q = {.tid = TID + 1, .to_ns = UINT64_MAX, .most = 100};
	struct ty_flow_part p;
	struct loop l;

	loop_open(&l);
	assert_int_equal(ty_flow_part_read(l.flow, l.names, &q, &p), 0);
	assert_int_equal(p.steps.n, 0);
	assert_int_equal(ty_flow_part_depths(&p), 0);
	assert_int_equal(ty_flow_part_call_from(&p, 0, 0), TY_NO_CALL);
	assert_int_equal(ty_flow_part_step_at(&p, 0), 0);
	assert_int_equal(ty_flow_part_count(&p, l.work.ip, 0, 0), 0);
	drop(&l, &p);
}
#else
static void without_ipt(void **state)
{
	skip();
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef TY_HAVE_IPT
		cmocka_unit_test(steps_and_calls), cmocka_unit_test(look_ups),
		cmocka_unit_test(a_limit_cuts),	   cmocka_unit_test(stopped),
		cmocka_unit_test(empty),
#else
		cmocka_unit_test(without_ipt),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
