/* SPDX-License-Identifier: MIT */
/* Waits for a CPU: which threads had it, a quota, and what interrupts took of a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "answer.h"
#include "fixture_given.h"
#include "fixture_lock.h"
#include "fixture_model.h"
#include "ledger.h"
#include "model_priv.h"
#include "rule.h"
#include "stalls.h"
#include "window_all.h"

static void who_had_the_cpu(void **state)
{
	const struct ty_model *m;
	struct ty_explain x;
	struct ty_stalls s;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_enter(0, 2 * MS, 11, 39);
	ty_mx_exit(0, 2 * MS + 100, 11, 39, 1);
	ty_mx_switch(0, 5 * MS, 11, RP, 12);
	ty_mx_switch(0, 205 * MS, 12, S, 11);
	ty_mx_switch(0, 210 * MS, 11, S, 0);
	m = ty_mx_end();
	x = explain(m, 0);
	s = stalls_by(&x, false);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].kind, TY_STALL_RUNQUEUE);
	assert_int_equal(s.v[0].culprit, thread(m, 12));
	assert_true(s.v[0].proven);
	assert_int_equal(s.v[0].duration_ns, 200 * MS);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

/* Decoded by blocks, the spans of a CPU are the same. */
static void spans_by_blocks(void **state)
{
	struct ty_cpu_rows v;
	const struct ty_model *m;

	ty_mx_begin("mode=all\n", NULL);
	for (uint64_t i = 0; i < 3 * TY_ROWS / 2; i++)
		ty_mx_switch(0, (i + 1) * MS, i % 3 ? 10 + (int)(i % 3) : 0, S,
			     (i + 1) % 3 ? 10 + (int)((i + 1) % 3) : 0);
	m = ty_mx_end();
	assert_true(ty_model_cpu_spans(m, 0) > TY_ROWS);
	for (uint32_t i = 0, n; i < ty_model_cpu_spans(m, 0); i += n) {
		n = ty_model_cpu_rows(m, 0, i, &v);
		assert_true(n);
		for (uint32_t k = 0; k < n; k++) {
			struct ty_span s = ty_model_cpu_span_brief(m, 0, i + k);

			assert_int_equal(v.start_ns[k], s.start_ns);
			assert_int_equal(v.start_ns[k + 1], s.end_ns);
			assert_int_equal(v.thread[k], s.thread);
			assert_int_equal(v.state[k], s.state);
			assert_int_equal(v.flags[k], s.flags);
		}
	}
	assert_int_equal(ty_model_cpu_rows(m, 0, ty_model_cpu_spans(m, 0), &v), 0);
	ty_mx_drop();
}

/* The rule of the thread's wait for a CPU; "": there is none. */
static const char *rule_of(const struct ty_stall *v, uint32_t n, uint32_t thread)
{
	for (uint32_t i = 0; i < n; i++)
		if (v[i].thread == thread && v[i].state == TY_ST_RUNNABLE)
			return v[i].rule->id;
	return "";
}

/* Four in short turns: idle, and --all, which shows it, keeps the rule that --rejected names. */
static void one_verdict_on_a_shared_cpu(void **state)
{
	const struct ty_stalls_opts all = {.all = true}, rejected = {.rejected = true};
	const struct ty_model *m;
	struct ty_window w;
	struct ty_explain x;
	struct ty_stalls s;
	uint64_t t = 5 * MS;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_enter(0, 2 * MS, 11, 39);
	ty_mx_exit(0, 2 * MS + 100, 11, 39, 1);
	ty_mx_switch(0, t, 11, RP, 12);
	for (int i = 0; i < 4; i++)
		ty_mx_switch(0, t += 25 * MS, 12 + i, S, i < 3 ? 13 + i : 11);
	ty_mx_switch(0, t + 5 * MS, 11, S, 0);
	m = ty_mx_end();
	x = explain(m, 0);
	w = window_all(m);
	assert_int_equal(ty_stalls_find(&x, &w, &rejected, 10, &s, NULL), 0);
	assert_string_equal(rule_of(s.rejected, s.rejected_n, thread(m, 11)), "no-cpu-shared");
	ty_stalls_fini(&s);
	assert_int_equal(ty_stalls_find(&x, &w, &all, 10, &s, NULL), 0);
	assert_string_equal(rule_of(s.v, s.n, thread(m, 11)), "no-cpu-shared");
	ty_stalls_fini(&s);
	ty_mx_drop();
}

/* A switch between two threads whose priority is recorded. */
static void switch_prio(unsigned cpu, uint64_t ts, int prev, uint64_t state, int next,
			int next_prio)
{
	struct ty_event ev = {.ts_ns = ts, .tid = prev, .kind = TY_EV_SWITCH, .id = 1, .cpu = cpu};

	ev.u.sw.prev_tid = prev;
	ev.u.sw.next_tid = next;
	ev.u.sw.prev_state = state;
	ev.u.sw.prev_prio = 120;
	ev.u.sw.next_prio = next_prio;
	snprintf(ev.u.sw.next_comm, sizeof(ev.u.sw.next_comm), "t%d", next);
	ty_mx_feed(ev);
}

/* The same with a quota: counted, or, where that is not known, by how much of it was used up; but a
 * thread of real-time priority is to blame whatever the quota. */
static struct ty_throttled group;

static bool throttled(void *ctx, int32_t tid, uint64_t from_ns, uint64_t to_ns,
		      struct ty_throttled *out)
{
	(void)ctx;
	assert_true(from_ns < to_ns);
	*out = group;
	return tid == 11 || tid == 14;
}

static void a_quota_held_it_back(void **state)
{
	static const int32_t tids[] = {5, 11};
	static const struct {
		uint64_t ns, quota_us;
		bool unknown;
		int prio;	  /* of the thread that ran */
		const char *text; /* NULL: it is not the quota */
	} cases[] = {
		{150 * MS, 4000, false, 120,
		 "may use 4.00 ms of CPU time every 100 ms, and was throttled for 150 ms"},
		{0, 4000, true, 120,
		 "may use 4.00 ms of CPU time every 100 ms, and had already used 4.00 ms in that "
		 "period"},
		{0, 4000, false, 120, NULL},
		{0, 0, true, 120, NULL},
		{90 * MS, 4000, false, 120, NULL},
		{0, 10000, true, 120, NULL},
		{150 * MS, 4000, false, 50, NULL},
		{0, 4000, true, 50, NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct ty_model *m;
		struct ty_explain x;
		struct ty_stalls s;

		ty_mx_begin("mode=all\n", NULL);
		switch_prio(0, 1 * MS, 0, R, 11, 120);
		switch_prio(0, 5 * MS, 11, RP, 12, cases[i].prio);
		ty_mx_switch(0, 205 * MS, 12, S, 11);
		ty_mx_switch(0, 210 * MS, 11, S, 0);
		m = ty_mx_end();
		x = explain(m, 0);
		x.throttled = throttled;
		group = (struct ty_throttled){.ns = cases[i].ns,
					      .unknown = cases[i].unknown,
					      .quota_us = cases[i].quota_us,
					      .period_us = 100000,
					      .path = "/group",
					      .tids = tids,
					      .tids_n = 2};
		s = stalls_by(&x, false);
		assert_int_equal(s.n, 1);
		if (cases[i].text) {
			assert_int_equal(s.v[0].kind, TY_STALL_THROTTLED);
			assert_int_equal(s.v[0].culprit, TY_NONE);
			assert_false(s.v[0].proven);
			assert_non_null(strstr(s.v[0].sentence, "its cgroup /group "));
			assert_non_null(strstr(s.v[0].sentence, cases[i].text));
		} else {
			assert_int_equal(s.v[0].kind, TY_STALL_RUNQUEUE);
			assert_int_equal(s.v[0].culprit, thread(m, 12));
			assert_non_null(strstr(s.v[0].sentence, "ran all that time on CPU 0"));
		}
		ty_stalls_fini(&s);
		ty_mx_drop();
	}
	(void)state;
}

/* Two locks, and two holders without a quota left: the quota is the one cause. */
static void who_waits_for_the_throttled_waits_for_the_quota(void **state)
{
	static const int32_t tids[] = {11, 14};
	struct ty_explain x;
	struct ty_stalls s;

	(void)state;
	givens = 0;
	ty_mx_begin("mode=all\n", NULL);
	for (unsigned step = 0; step < 10; step++)
		for (unsigned cpu = 0; cpu < 2; cpu++) {
			const int holder = cpu ? 14 : 11, victim = cpu ? 15 : 13, other = 17;
			const uint64_t at = (step < 5 ? step + 1 : 200 + step) * MS + cpu;

			switch (step) {
			case 0: ty_mx_switch(cpu, at, 0, R, victim); break;
			case 1:
				give(at, 5 + cpu, 2, 0);
				ty_mx_enter(cpu, at, victim, NR_FLOCK);
				break;
			case 2: ty_mx_switch(cpu, at, victim, S, holder); break;
			case 3: switch_prio(cpu, at, holder, RP, other + (int)cpu, 120); break;
			case 5: ty_mx_switch(cpu, at, other + (int)cpu, S, holder); break;
			case 6: ty_mx_waking(cpu, at, holder, victim, (int)cpu); break;
			case 7: ty_mx_switch(cpu, at, holder, S, victim); break;
			case 8: ty_mx_exit(cpu, at, victim, NR_FLOCK, 0); break;
			case 9: ty_mx_switch(cpu, at, victim, S, 0); break;
			}
		}
	x = explain(ty_mx_end(), 0);
	x.throttled = throttled;
	group = (struct ty_throttled){.ns = 150 * MS,
				      .quota_us = 4000,
				      .period_us = 100000,
				      .path = "/group",
				      .tids = tids,
				      .tids_n = 2};
	s = stalls_by(&x, false);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].threads, 2);
	assert_non_null(strstr(s.v[0].sentence, " also waited for that quota"));
	ty_stalls_fini(&s);
	ty_mx_drop();
}

/* A long run of which softirqs of a device take most; those inside its own calls are its own. */
static void interrupts_steal(void **state)
{
	struct ty_event e = {.id = 32, .tid = 11, .flags = TY_EVF_SOFTIRQ};
	struct ty_stalls s;

	e.u.softirq.vec = 3;
	for (int in_call = 0; in_call < 2; in_call++) {
		const struct ty_model *m;
		struct ty_explain x;

		ty_mx_begin("mode=all\n", NULL);
		ty_mx_switch(0, 1 * MS, 0, R, 11);
		if (in_call)
			ty_mx_enter(0, 2 * MS, 11, NR_READ);
		for (unsigned i = 0; i < 60; i++) {
			e.kind = TY_EV_SOFTIRQ_ENTRY;
			e.ts_ns = (5 + i * 3) * MS;
			ty_mx_feed(e);
			e.kind = TY_EV_SOFTIRQ_EXIT;
			e.ts_ns += 2 * MS;
			ty_mx_feed(e);
		}
		if (in_call)
			ty_mx_exit(0, 198 * MS, 11, NR_READ, 0);
		ty_mx_switch(0, 200 * MS, 11, S, 0);
		m = ty_mx_end();
		x = explain(m, 0);
		s = stalls_by(&x, false);
		assert_int_equal(s.n, 1);
		assert_int_equal(s.v[0].kind, in_call ? TY_STALL_CPU : TY_STALL_IRQ);
		assert_int_equal(s.v[0].duration_ns, (in_call ? 196 : 120) * MS);
		ty_stalls_fini(&s);
		ty_mx_drop();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_had_the_cpu),
		cmocka_unit_test(spans_by_blocks),
		cmocka_unit_test(one_verdict_on_a_shared_cpu),
		cmocka_unit_test(a_quota_held_it_back),
		cmocka_unit_test(who_waits_for_the_throttled_waits_for_the_quota),
		cmocka_unit_test(interrupts_steal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
