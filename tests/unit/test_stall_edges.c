/* SPDX-License-Identifier: MIT */
/* What a finding rests on: its rule, its edges with their times; and the waits that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture_turns.h"
#include "stall_edges.h"
#include "window_all.h"

enum { NR_READ = 0, NR_WRITE = 1, NR_FLOCK = 73, NR_NANOSLEEP = 35 };

#define TWO "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "12", "1", "other")

static struct ty_stalls found(const struct ty_explain *x)
{
	struct ty_window w = window_all(x->m);
	struct ty_stalls_opts o = {.rejected = true};
	struct ty_stalls s;

	assert_int_equal(ty_stalls_find(x, &w, &o, 100, &s, NULL), 0);
	return s;
}

/* 11 waits in the call for 12, which sleeps for 300 ms and then wakes it. */
static struct ty_explain held_up(int wait, uint64_t arg, bool asks)
{
	begin("mode=all\n", TWO);
	ty_mx_switch(0, t, 0, R, 12);
	sleeps(12, NR_READ, 6, 0, 11);
	if (asks)
		wakes(11, NR_WRITE, 5, 0, 12);
	sleeps(11, wait, arg, 2, 12);
	if (asks)
		ty_mx_exit(0, t += 1000, 12, NR_READ, 1);
	sleeps(12, NR_NANOSLEEP, 0, 0, 0);
	time_is_up(12, NR_NANOSLEEP, 0, 300);
	wakes(12, NR_WRITE, 7, 0, 11);
	goes_on(12, S, 11, wait, 1);
	ty_mx_switch(0, t += MS, 11, S, 0);
	return explain(ty_mx_end(), 0);
}

static void edges_lead_to_the_root_cause(void **state)
{
	struct ty_explain x = held_up(NR_FLOCK, 9, false);
	struct ty_stalls s = found(&x);
	struct ty_stall_edge e[TY_STALL_EDGES];

	assert_int_equal(s.n, 1);
	assert_string_equal(s.v[0].rule->id, "resource");
	assert_int_equal(ty_stall_edges(&x, &s.v[0], e), 4);
	assert_int_equal(e[0].kind, TY_EDGE_WAITS);
	assert_int_equal(e[0].thread, s.v[0].thread);
	assert_int_equal(e[0].start_ns, s.v[0].start_ns);
	assert_int_equal(e[0].end_ns - e[0].start_ns, s.v[0].duration_ns);
	assert_int_equal(e[1].kind, TY_EDGE_WAKES);
	assert_int_equal(e[1].thread, s.v[0].culprit);
	assert_int_equal(e[1].to, s.v[0].thread);
	assert_in_range(e[1].start_ns, e[0].end_ns - MS, e[0].end_ns);
	assert_int_equal(e[2].kind, TY_EDGE_WAITS);
	assert_int_equal(e[2].thread, s.v[0].culprit);
	assert_int_equal(e[3].kind, TY_EDGE_EXPIRES);
	assert_int_equal(e[3].to, s.v[0].culprit);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(e[i].basis, TY_RECORDED);
	/* A link that sums several waits: the edge is one of them. */
	s.v[0].waits = 3;
	s.v[0].links = 1;
	s.v[0].link[0].start_ns -= MS / 2;
	s.v[0].link[0].end_ns += MS;
	s.v[0].link[0].what = TY_SEG_TIMER;
	assert_int_equal(ty_stall_edges(&x, &s.v[0], e), 2);
	assert_int_equal(e[0].start_ns, s.v[0].start_ns);
	assert_int_equal(e[0].end_ns - e[0].start_ns, s.v[0].duration_ns);
	assert_int_equal(e[1].start_ns, e[0].end_ns);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

static void a_request_is_an_edge(void **state)
{
	struct ty_explain x = held_up(NR_READ, 4, true);
	struct ty_stalls s = found(&x);
	struct ty_stall_edge e[TY_STALL_EDGES];

	assert_int_equal(s.n, 1);
	assert_string_equal(s.v[0].rule->id, "reply-late");
	assert_int_equal(ty_stall_edges(&x, &s.v[0], e), 5);
	assert_int_equal(e[0].kind, TY_EDGE_SENDS);
	assert_int_equal(e[0].thread, s.v[0].thread);
	assert_int_equal(e[0].to, s.v[0].culprit);
	assert_true(e[0].start_ns < s.v[0].start_ns);
	assert_int_equal(e[1].kind, TY_EDGE_WAITS);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

/* The reply to it, and what ended the wait, are among lost events. */
static void a_request_without_a_recorded_reply(void **state)
{
	struct ty_stall_edge e[TY_STALL_EDGES];
	struct ty_explain x;
	struct ty_stalls s;

	begin("mode=all\n", TWO);
	ty_mx_switch(0, t, 0, R, 11);
	call(t += 1000, 11, NR_WRITE, 5, 4);
	sleeps(11, NR_READ, 4, 2, 0);
	ty_mx_gap(0, t + 300 * MS, t + 301 * MS, 5);
	ty_mx_switch(0, t += 301 * MS + 1000, 0, R, 11);
	ty_mx_exit(0, t += 1000, 11, NR_READ, 1);
	ty_mx_switch(0, t += MS, 11, S, 0);
	x = explain(ty_mx_end(), 0);
	s = found(&x);
	assert_int_equal(s.n, 1);
	assert_string_equal(s.v[0].rule->id, "lost");
	assert_true(ty_stall_edges(&x, &s.v[0], e) >= 2);
	assert_int_equal(e[0].kind, TY_EDGE_SENDS);
	assert_int_equal(e[0].thread, s.v[0].thread);
	assert_true(e[0].start_ns < s.v[0].start_ns);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

/* What is rejected has its rule and its words, and is no finding. */
static void idle_waits_have_a_rule(void **state)
{
	struct ty_explain x = held_up(NR_READ, 4, false);
	struct ty_stalls s = found(&x);
	unsigned seen = 0;

	assert_int_equal(s.n, 0);
	assert_true(s.rejected_n >= 2);
	for (uint32_t i = 0; i < s.rejected_n; i++) {
		const struct ty_stall *v = &s.rejected[i];

		assert_int_not_equal(v->rule->verdict, TY_STALL);
		assert_true(*v->sentence);
		if (ty_model_tid(x.m, v->thread, v->start_ns) == 11) {
			assert_string_equal(v->rule->id, "no-dependent-work");
			seen |= 1;
		} else if (v->rule->verdict == TY_OWN_CHOICE) {
			assert_string_equal(v->rule->id, "voluntary-sleep");
			seen |= 2;
		}
	}
	assert_int_equal(seen, 3);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges_lead_to_the_root_cause),
		cmocka_unit_test(a_request_is_an_edge),
		cmocka_unit_test(a_request_without_a_recorded_reply),
		cmocka_unit_test(idle_waits_have_a_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
