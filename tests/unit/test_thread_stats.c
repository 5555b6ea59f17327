/* SPDX-License-Identifier: MIT */
/* Time per state and thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_two_cpus.h"
#include "thread_stats.h"
#include "window_all.h"

static int drop(void **state)
{
	ty_mx_drop();
	return 0;
}

static void threads(void **state)
{
	const struct ty_model *m = turns();
	struct ty_window w = window_all(m);
	struct ty_thread_stats *s;
	uint64_t sum = 0;
	uint32_t n, cpu = 1;

	assert_int_equal(ty_thread_stats(m, &w, &s, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(ty_model_thread(m, s[0].thread)->tid, 7);
	assert_int_equal(s[0].ns[TY_ST_RUNNING], 2000);
	assert_int_equal(s[1].ns[TY_ST_RUNNING], 1800); /* 6 */
	assert_int_equal(s[1].ns[TY_ST_RUNNABLE], 100);
	assert_int_equal(s[1].ns[TY_ST_UNKNOWN], 100);
	assert_int_equal(s[2].ns[TY_ST_RUNNING], 200); /* 5 */
	assert_int_equal(s[2].ns[TY_ST_RUNNABLE], 300);
	assert_int_equal(ty_thread_blocked_ns(&s[2]), 1500);
	assert_int_equal(s[2].wakeups, 1);
	/* Every nanosecond of the window is in one state. */
	for (unsigned k = 0; k < TY_ST_COUNT; k++)
		sum += s[2].ns[k];
	assert_int_equal(sum, 2000);
	free(s);
	w.cpus = &cpu;
	w.cpus_n = 1;
	assert_int_equal(ty_thread_stats(m, &w, &s, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(ty_model_thread(m, s[0].thread)->tid, 7);
	free(s);
	w.cpus_n = 0;
	w.from_ns = 1450;
	w.to_ns = 1600;
	assert_int_equal(ty_thread_stats(m, &w, &s, &n), 0);
	assert_int_equal(s[2].ns[TY_ST_RUNNING], 50);
	assert_int_equal(s[2].ns[TY_ST_BLOCKED], 100);
	assert_int_equal(s[2].wakeups, 0);
	free(s);
}

/* A run whose begin is inferred is one run. */
static void inferred_runs(void **state)
{
	const struct ty_model *m;
	struct ty_thread_stats *s;
	struct ty_window w;
	uint32_t n;

	ty_mx_begin("mode=all\nno_idle_switch=1\n", NULL);
	ty_mx_event(0, 0, 5, TY_EV_OTHER);
	ty_mx_event(1, 400, 7, TY_EV_OTHER);
	ty_mx_switch(1, 500, 7, RP, 6);
	ty_mx_switch(1, 700, 6, S, 7);
	ty_mx_event(0, 1000, 5, TY_EV_OTHER);
	m = ty_mx_end();
	w = window_all(m);
	assert_int_equal(ty_thread_stats(m, &w, &s, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(ty_model_thread(m, s[1].thread)->tid, 7);
	assert_int_equal(s[1].ns[TY_ST_RUNNING], 800);
	assert_int_equal(s[1].inferred_ns, 400);
	assert_int_equal(s[1].runs, 2);
	free(s);
}

int main(void)
{
#define T(f) cmocka_unit_test_teardown(f, drop)
	const struct CMUnitTest tests[] = {
		T(threads),
		T(inferred_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
