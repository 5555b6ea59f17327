/* SPDX-License-Identifier: MIT */
/*
 * What the hypervisor possibly took of a CPU: by ticks that are missing while a thread runs, by an
 * idle CPU that is silent beside a ready thread, by the kernel's count. And what is not said: where
 * ticks are not recorded, not needed, or lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture_given.h"
#include "ledger.h"
#include "steal.h"
#include "steal_lines.h"
#include "steal_samples.h"

#define MS   UINT64_C(1000000)
#define US   UINT64_C(1000)
#define TICK (4 * MS)

enum { NR_READ = 0, NR_SYNC = 162, NR_FUTEX = 202 };
enum { BY_IRQ, BY_EXPIRY, NONE };

/* The tick of CPU 0, on a grid of 4 ms; who runs then. */
static struct {
	uint64_t next_ns, away_from, away_to;
	int how, tid;
} tick;

static void tick_at(uint64_t ts)
{
	struct ty_event ev = {.ts_ns = ts, .tid = tick.tid, .flags = TY_EVF_HARDIRQ};

	if (tick.how == NONE)
		return;
	if (tick.how == BY_EXPIRY) {
		ev.kind = TY_EV_HRTIMER_EXPIRE;
		ty_mx_feed(ev);
		return;
	}
	ev.kind = TY_EV_IRQ_ENTRY;
	ev.u.irq.irq = 10;
	ev.u.irq.name = "arch_timer";
	ty_mx_feed(ev);
	ev.kind = TY_EV_IRQ_EXIT;
	ev.ts_ns += 5 * US;
	ty_mx_feed(ev);
}

/* The CPU was not there in [from, to): the tick that was due comes late, others are left out. */
static void away(uint64_t from, uint64_t to)
{
	tick.away_from = from;
	tick.away_to = to;
}

static void until(uint64_t t)
{
	for (; tick.next_ns < t; tick.next_ns += TICK) {
		uint64_t at = tick.next_ns;

		if (at >= tick.away_from && at < tick.away_to) {
			if (at - tick.away_from >= TICK)
				continue;
			at = tick.away_to;
		}
		if (at >= t) { /* the event comes first, and the tick right behind it */
			tick.next_ns = at;
			return;
		}
		tick_at(at);
		if (at != tick.next_ns)
			tick.next_ns = at / TICK * TICK;
	}
}

static void begin(int how)
{
	ty_mx_begin("mode=all\n", NULL);
	memset(&tick, 0, sizeof(tick));
	tick.next_ns = TICK;
	tick.how = how;
	givens = 0;
}

static void switch_to(uint64_t ts, int prev, uint64_t state, int next)
{
	until(ts);
	ty_mx_switch(0, ts, prev, state, next);
	tick.tid = next;
}

static struct ty_explain seen_by(const struct ty_model *m, uint64_t tick_ns, const char *nohz_full,
				 struct ty_ticks *t)
{
	struct ty_explain x = explain(m, 0);

	assert_int_equal(ty_ticks_find(m, tick_ns, nohz_full, t), 0);
	x.ticks = t;
	return x;
}

/* 11 runs from 1 ms on, in a call from 200 ms to 300 ms; its CPU is away for [from, to). */
static const struct ty_model *long_call(int how, uint64_t from, uint64_t to)
{
	begin(how);
	away(from, to);
	switch_to(1 * MS, 0, R, 11);
	until(200 * MS);
	ty_mx_enter(0, 200 * MS, 11, NR_SYNC);
	until(300 * MS);
	ty_mx_exit(0, 300 * MS, 11, NR_SYNC, 0);
	switch_to(310 * MS, 11, S, 0);
	return ty_mx_end();
}

static uint64_t row_ns(const struct ty_explain *x, int tid, const char *row)
{
	uint32_t i = ty_model_thread_find(x->m, tid, ty_model_summary(x->m)->end_ns);
	uint64_t sum = 0, ns = 0;
	struct ty_ledger l;

	assert_int_equal(ty_ledger_thread(x, i, 0, UINT64_MAX, &l), 0);
	for (uint32_t k = 0; k < l.n; k++) {
		sum += l.rows[k].ns;
		ns += strcmp(l.rows[k].row, row) ? 0 : l.rows[k].ns;
	}
	assert_int_equal(sum, l.end_ns - l.start_ns);
	ty_ledger_fini(&l);
	return ns;
}

#define STOLEN "lost to the hypervisor (steal time, inferred: no timer tick)"

/* The tick was due at 208 ms, and came at 290. */
static void a_call_whose_cpu_was_away(void **state)
{
	(void)state;
	for (int how = BY_IRQ; how <= NONE; how++)
		for (unsigned measured = 0; measured < 2; measured++) {
			const struct ty_model *m = long_call(how, 206 * MS, 290 * MS);
			struct ty_ticks t;
			struct ty_explain x = seen_by(m, measured ? 0 : TICK, NULL, &t);
			struct ty_stalls s = stalls_by(&x, false);

			assert_int_equal(s.n, 1);
			if (how == NONE) { /* nothing tells */
				assert_int_equal(t.period_ns[0], 0);
				assert_int_equal(s.v[0].kind, TY_STALL_CPU);
				assert_true(s.v[0].proven);
				assert_int_equal(row_ns(&x, 11, STOLEN), 0);
			} else {
				assert_int_equal(t.period_ns[0], TICK);
				assert_int_equal(s.v[0].kind, TY_STALL_STEAL);
				assert_false(s.v[0].proven);
				assert_in_range(s.v[0].steal_ns, 81 * MS, 82 * MS);
				assert_int_equal(s.v[0].duration_ns, s.v[0].steal_ns);
				assert_non_null(strstr(s.v[0].sentence,
						       "CPU 0 showed no activity for 82.0 ms"));
				assert_non_null(
					strstr(s.v[0].sentence,
					       "lost to the hypervisor (steal time, inferred)"));
				assert_null(strstr(s.v[0].sentence, "the call itself"));
				assert_in_range(row_ns(&x, 11, STOLEN), 81 * MS, 82 * MS);
				assert_in_range(row_ns(&x, 11, "on CPU in kernel: sync"), 17 * MS,
						19 * MS);
			}
			ty_stalls_fini(&s);
			ty_ticks_fini(&t);
			ty_mx_drop();
		}
}

/* All ticks are there; or some of the CPU's events were lost just then; or it needs none. */
static void what_is_not_said(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		const struct ty_model *m;
		struct ty_ticks t;
		struct ty_explain x;
		struct ty_stalls s;

		if (i == 1) {
			begin(BY_IRQ);
			away(206 * MS, 290 * MS);
			switch_to(1 * MS, 0, R, 11);
			until(200 * MS);
			ty_mx_enter(0, 200 * MS, 11, NR_SYNC);
			until(280 * MS);
			ty_mx_gap(0, 230 * MS, 280 * MS, 5);
			switch_to(310 * MS, 11, S, 0);
			m = ty_mx_end();
		} else {
			m = long_call(BY_IRQ, 206 * MS, i ? 290 * MS : 206 * MS);
		}
		x = seen_by(m, TICK, i == 2 ? "0-3,7" : "1", &t);
		if (i == 3)
			x.ticks = NULL;
		assert_int_equal(row_ns(&x, 11, STOLEN), 0);
		s = stalls_by(&x, false);
		for (uint32_t k = 0; k < s.n; k++)
			assert_int_not_equal(s.v[k].kind, TY_STALL_STEAL);
		if (i != 1) {
			assert_int_equal(s.n, 1);
			assert_int_equal(s.v[0].kind, TY_STALL_CPU);
			assert_true(s.v[0].proven);
		}
		ty_stalls_fini(&s);
		ty_ticks_fini(&t);
		ty_mx_drop();
	}
}

/* Calls are signs of life, too: ticks may be late while the kernel keeps interrupts off. */
static void calls_are_signs_of_life(void **state)
{
	const struct ty_model *m;
	struct ty_ticks t;
	struct ty_explain x;

	(void)state;
	begin(BY_IRQ);
	away(206 * MS, 290 * MS);
	switch_to(1 * MS, 0, R, 11);
	until(205 * MS);
	for (uint64_t at = 205 * MS; at < 290 * MS; at += MS / 2) {
		ty_mx_enter(0, at, 11, NR_READ);
		ty_mx_exit(0, at + MS / 4, 11, NR_READ, 0);
	}
	switch_to(310 * MS, 11, S, 0);
	m = ty_mx_end();
	x = seen_by(m, TICK, NULL, &t);
	assert_int_equal(row_ns(&x, 11, STOLEN), 0);
	ty_ticks_fini(&t);
	ty_mx_drop();
}

/* 11 is ready for CPU 0 while 12 has it and the hypervisor has that. */
static void who_had_the_cpu_did_not(void **state)
{
	(void)state;
	for (unsigned stolen = 0; stolen < 2; stolen++) {
		const struct ty_model *m;
		struct ty_ticks t;
		struct ty_explain x;
		struct ty_stalls s;

		begin(BY_IRQ);
		if (stolen)
			away(206 * MS, 295 * MS);
		switch_to(1 * MS, 0, R, 11);
		switch_to(200 * MS, 11, RP, 12);
		switch_to(300 * MS, 12, S, 11);
		switch_to(310 * MS, 11, S, 0);
		m = ty_mx_end();
		x = seen_by(m, TICK, NULL, &t);
		s = stalls_by(&x, false);
		assert_true(s.n >= 1);
		for (uint32_t k = 0; k < s.n; k++) {
			assert_int_equal(s.v[k].kind, stolen ? TY_STALL_STEAL : TY_STALL_RUNQUEUE);
			assert_int_equal(s.v[k].proven, !stolen);
		}
		ty_stalls_fini(&s);
		ty_ticks_fini(&t);
		ty_mx_drop();
	}
}

static bool quota(void *ctx, int32_t tid, uint64_t from_ns, uint64_t to_ns,
		  struct ty_throttled *out)
{
	(void)ctx;
	assert_true(from_ns < to_ns);
	*out = (struct ty_throttled){.path = "/x", .quota_us = 5000, .period_us = 100000};
	return tid == 11;
}

/* 11 is woken on CPU 0, which is idle, and runs 100 ms later: the CPU was silent; or it had its
 * interrupts all the time, and why 11 did not run is not known, unless its group has a quota. */
static void an_idle_cpu_is_silent(void **state)
{
	(void)state;
	for (unsigned alive = 0; alive < 4; alive++) {
		const struct ty_model *m;
		struct ty_ticks t;
		struct ty_explain x;
		struct ty_stalls s;

		begin(BY_IRQ);
		switch_to(1 * MS, 0, R, 11);
		switch_to(200 * MS, 11, S, 0);
		tick.how = NONE;
		ty_mx_waking(1, 210 * MS, 12, 11, 0);
		tick.how = BY_IRQ;
		for (uint64_t at = 211 * MS; alive && alive < 3 && at < 310 * MS; at += 3 * MS)
			tick_at(at);
		tick.next_ns = 312 * MS;
		switch_to(310 * MS, 0, R, 11);
		switch_to(330 * MS, 11, S, 0);
		m = ty_mx_end();
		x = seen_by(m, TICK, NULL, &t);
		x.quota = alive >= 2 ? quota : NULL; /* a silent CPU, too */
		s = stalls_by(&x, false);
		assert_int_equal(s.n, 1);
		assert_false(s.v[0].proven);
		assert_int_equal(s.v[0].kind, alive >= 2   ? TY_STALL_THROTTLED
					      : alive == 1 ? TY_STALL_RUNQUEUE
							   : TY_STALL_STEAL);
		assert_int_equal(strstr(s.v[0].sentence, "its cgroup /x may use 5.00 ms") != NULL,
				 alive >= 2);
		assert_int_equal(strstr(s.v[0].sentence, "unknown why it did not run") != NULL,
				 alive == 1);
		ty_stalls_fini(&s);
		ty_ticks_fini(&t);
		ty_mx_drop();
	}
}

/* Two runs of a CPU that was away, short ones between them; and two idle times, one behind another:
 * all of them count. */
static void all_spans_count(void **state)
{
	const struct ty_model *m;
	struct ty_ticks t;
	struct ty_explain x;

	(void)state;
	begin(BY_IRQ);
	switch_to(1 * MS, 0, R, 11);
	switch_to(100 * MS, 11, R, 12);
	away(106 * MS, 195 * MS);
	switch_to(200 * MS, 12, R, 13);
	switch_to(201 * MS, 13, R, 12);
	switch_to(202 * MS, 12, R, 13);
	away(210 * MS, 300 * MS);
	switch_to(305 * MS, 13, S, 0);
	tick.how = NONE;
	switch_to(350 * MS, 0, R, 11);
	switch_to(350 * MS + 500 * US, 11, S, 0);
	switch_to(400 * MS, 0, R, 11);
	tick.how = BY_IRQ;
	switch_to(410 * MS, 11, S, 0);
	m = ty_mx_end();
	x = seen_by(m, TICK, NULL, &t);
	assert_in_range(ty_stolen_of_cpu(&x, 0, 0, 305 * MS), 170 * MS, 180 * MS);
	assert_int_equal(ty_silent_while_idle(&x, 0, 0, 400 * MS), 94 * MS + 500 * US);
	ty_ticks_fini(&t);
	ty_mx_drop();
}

/* 11 waits for a lock of 12, which runs on a CPU that is away for most of it: what 12 did is not
 * its own, and that 11 waited for nothing else is not proven any more. */
static void a_chain_ends_at_the_hypervisor(void **state)
{
	const struct ty_model *m;
	struct ty_ticks t;
	struct ty_explain x;
	struct ty_path p = {0};
	uint64_t ns[TY_SEG_WHATS] = {0};
	struct ty_stalls s;

	(void)state;
	begin(BY_IRQ);
	away(210 * MS, 290 * MS);
	switch_to(1 * MS, 0, R, 11);
	until(200 * MS);
	ty_mx_enter(0, 200 * MS, 11, NR_SYNC);
	switch_to(201 * MS, 11, D, 12);
	until(299 * MS);
	ty_mx_waking(0, 299 * MS, 12, 11, 0);
	switch_to(300 * MS, 12, S, 11);
	ty_mx_exit(0, 301 * MS, 11, NR_SYNC, 0);
	switch_to(310 * MS, 11, S, 0);
	m = ty_mx_end();
	x = seen_by(m, TICK, NULL, &t);
	assert_int_equal(
		ty_path_find(&x, ty_model_thread_find(m, 11, 305 * MS), 201 * MS, 300 * MS, &p), 0);
	vec_each (g, &p.seg)
		ns[g->what] += g->end_ns - g->start_ns;
	assert_in_range(ns[TY_SEG_STOLEN], 77 * MS, 80 * MS);
	assert_int_equal(ns[TY_SEG_STOLEN] + ns[TY_SEG_RUNS] + ns[TY_SEG_RUNNABLE], 99 * MS);
	ty_path_fini(&p);
	s = stalls_by(&x, false);
	assert_true(s.n >= 1);
	for (uint32_t k = 0; k < s.n; k++)
		assert_false(s.v[k].proven);
	assert_non_null(strstr(s.v[0].sentence, "showed no activity (steal time, inferred)"));
	ty_stalls_fini(&s);
	ty_ticks_fini(&t);
	ty_mx_drop();
}

/* The kernel's count --------------------------------------------------------------------------- */

static uint64_t counted_ns;

static uint64_t count_of(void *ctx, uint32_t cpu, uint64_t from_ns, uint64_t to_ns)
{
	(void)ctx;
	assert_true(from_ns < to_ns);
	return cpu ? 0 : counted_ns;
}

/* Without ticks the kernel's count accuses; with them it only takes the proof away. */
static void the_kernel_counts(void **state)
{
	static const struct {
		int how;
		uint64_t ns;
		uint8_t kind;
		bool proven;
	} cases[] = {
		{NONE, 0, TY_STALL_CPU, true},		{NONE, 20 * MS, TY_STALL_CPU, false},
		{NONE, 60 * MS, TY_STALL_STEAL, false}, {BY_IRQ, 5 * MS, TY_STALL_CPU, true},
		{BY_IRQ, 60 * MS, TY_STALL_CPU, false},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct ty_model *m = long_call(cases[i].how, 0, 0);
		struct ty_ticks t;
		struct ty_explain x = seen_by(m, TICK, NULL, &t);
		struct ty_stalls s;

		counted_ns = cases[i].ns;
		x.steal = count_of;
		s = stalls_by(&x, false);
		assert_int_equal(s.n, 1);
		assert_int_equal(s.v[0].kind, cases[i].kind);
		assert_int_equal(s.v[0].proven, cases[i].proven);
		assert_int_equal(s.v[0].steal_counted_ns, cases[i].ns);
		ty_stalls_fini(&s);
		ty_ticks_fini(&t);
		ty_mx_drop();
	}
}

static uint64_t now_ns;

static uint64_t trace_ns(void *ctx)
{
	(void)ctx;
	return now_ns;
}

static void samples(void **state)
{
	char path[] = "/tmp/tarry-steal-XXXXXX";
	int fd = mkstemp(path);
	struct ty_steal_samples s;
	struct ty_steal_lines *l;
	struct ty_buf out;
	static const char *const text[] = {
		"cpu  9 9 9 9 9 9 9 30 0 0\ncpu0 1 1 1 1 1 1 1 10 0 0\ncpu1 1 1 1 1 1 1 1 20 0\n"
		"intr 1 2 3\n",
		"cpu  9 9 9 9 9 9 9 30 0 0\ncpu0 1 1 1 1 1 1 1 10 0 0\ncpu1 1 1 1 1 1 1 1 23 0\n"
		"cpu70 1 1 1 1 1 1 1 5 0 0\nintr 1 2 3\n",
		"cpu0 1 1 1 1 1 1 1 9 0 0\ncpu1 1 1 1 1 1 1 1 24 0\ncpu70 1 1 1 1 1 1 1 7 0\nintr",
	};
	const uint64_t step = UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);

	(void)state;
	assert_true(fd >= 0);
	ty_steal_open(&s, path);
	ty_buf_init(&out, 1 << 16);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, text[i], strlen(text[i]), 0), (ssize_t)strlen(text[i]));
		now_ns = (i + 1) * UINT64_C(1000000000000);
		usleep(2000);
		ty_steal_sample(&s, trace_ns, NULL, &out);
	}
	assert_int_equal(ty_buf_addc(&out, 0), 0);
	l = ty_steal_lines_new(out.p);
	assert_non_null(l);
	/* Not what was counted before the first look, nor a CPU that was not there then. */
	assert_int_equal(ty_steal_lines_sum(l, 0, 0, UINT64_MAX), 0);
	assert_int_equal(ty_steal_lines_sum(l, 1, 0, UINT64_MAX), 4 * step);
	assert_int_equal(ty_steal_lines_sum(l, 70, 0, UINT64_MAX), 2 * step);
	assert_int_equal(ty_steal_lines_sum(l, 1, now_ns - 5, now_ns + 5), 10);
	assert_int_equal(ty_steal_lines_sum(l, 1, now_ns, now_ns + 5), 0);
	ty_steal_lines_free(l);
	l = ty_steal_lines_new("x\n1\t2\t3\n5\t4\t0\t9\n1\t9\t0\t3");
	assert_non_null(l);
	assert_int_equal(ty_steal_lines_sum(l, 0, 0, 100), 0);
	ty_steal_lines_free(l);
	ty_buf_fini(&out);
	ty_steal_close(&s);
	close(fd);
	unlink(path);
	ty_steal_open(&s, "/nonexistent");
	ty_steal_sample(&s, trace_ns, NULL, &out);
	assert_true(ty_steal_next_ns(&s) == UINT64_MAX);
	ty_steal_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_whose_cpu_was_away),
		cmocka_unit_test(what_is_not_said),
		cmocka_unit_test(calls_are_signs_of_life),
		cmocka_unit_test(who_had_the_cpu_did_not),
		cmocka_unit_test(an_idle_cpu_is_silent),
		cmocka_unit_test(all_spans_count),
		cmocka_unit_test(a_chain_ends_at_the_hypervisor),
		cmocka_unit_test(the_kernel_counts),
		cmocka_unit_test(samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
