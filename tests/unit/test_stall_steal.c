/* SPDX-License-Identifier: MIT */
/* Stalls by stolen time: of a run, of a wait for a CPU, of an idle CPU, and by the kernel's count.
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
#include "fixture_ticks.h"
#include "ledger.h"
#include "steal.h"

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
			if (how == NONE) { /* no evidence */
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

/* Found only when the wait is over, at 310 ms. */
static bool found_later(void *ctx, int32_t tid, uint64_t from_ns, uint64_t to_ns,
			struct ty_throttled *out)
{
	return to_ns > 311 * MS && quota(ctx, tid, from_ns, to_ns, out);
}

/* 11 is woken on CPU 0, which is idle, and runs 100 ms later: the CPU was silent; or it had its
 * interrupts all the time, and why 11 did not run is not known, unless its group has a quota. */
static void an_idle_cpu_is_silent(void **state)
{
	(void)state;
	for (unsigned alive = 0; alive < 5; alive++) {
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
		x.quota = alive >= 2 && alive < 4 ? quota : NULL; /* a silent CPU, too */
		x.throttled = alive == 4 ? found_later : NULL;
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

/* A call of ten runs, of each of which a little is stolen: an eighth in all takes the proof away,
 * less does not. */
static void little_by_little(void **state)
{
	static const struct {
		uint64_t ns;
		bool proven;
	} cases[] = {{0, true}, {2 * MS, true}, {3 * MS, false}};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t at = 200 * MS;
		struct ty_explain x;
		struct ty_stalls s;
		struct ty_ticks t;

		begin(BY_IRQ);
		switch_to(1 * MS, 0, R, 11);
		until(at);
		ty_mx_enter(0, at, 11, NR_SYNC);
		for (unsigned k = 0; k < 10; k++, at += 24 * MS) {
			away(at + 2 * MS, at + (cases[i].ns ? 4 : 2) * MS + cases[i].ns);
			switch_to(at + 22 * MS, 11, RP, 12);
			switch_to(at + 22 * MS + 100 * US, 12, S, 11);
		}
		until(at);
		ty_mx_exit(0, at, 11, NR_SYNC, 0);
		switch_to(at + 10 * MS, 11, S, 0);
		x = seen_by(ty_mx_end(), TICK, NULL, &t);
		s = stalls_by(&x, true);
		assert_true(s.n >= 1);
		assert_int_equal(s.v[0].thread, ty_model_thread_find(x.m, 11, at));
		assert_int_equal(s.v[0].kind, TY_STALL_CPU);
		assert_int_equal(s.v[0].proven, cases[i].proven);
		assert_in_range(s.v[0].steal_ns + MS / 10, 10 * cases[i].ns,
				10 * cases[i].ns + MS / 5);
		ty_stalls_fini(&s);
		ty_ticks_fini(&t);
		ty_mx_drop();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_whose_cpu_was_away),
		cmocka_unit_test(who_had_the_cpu_did_not),
		cmocka_unit_test(an_idle_cpu_is_silent),
		cmocka_unit_test(the_kernel_counts),
		cmocka_unit_test(little_by_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
