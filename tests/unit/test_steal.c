/* SPDX-License-Identifier: MIT */
/* Time that the hypervisor possibly took of a CPU: by missing ticks, by a silent idle CPU, by the
 * kernel's count; and where nothing is concluded: ticks not recorded, not needed, or lost. */
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
#include "fixture_ticks.h"
#include "ledger.h"
#include "steal.h"
#include "steal_recorded.h"
#include "steal_samples.h"

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
		cmocka_unit_test(what_is_not_said),
		cmocka_unit_test(calls_are_signs_of_life),
		cmocka_unit_test(all_spans_count),
		cmocka_unit_test(a_chain_ends_at_the_hypervisor),
		cmocka_unit_test(samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
