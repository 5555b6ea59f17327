/* SPDX-License-Identifier: MIT */
/* System calls by name: numbers, percentiles, calls without a start or an end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_model.h"
#include "syscall_stats.h"
#include "window_all.h"

static const struct ty_sysarch *arch;

static int setup(void **state)
{
	arch = ty_sysarch_find("x86_64");
	return 0;
}

static int drop(void **state)
{
	ty_mx_drop();
	return 0;
}

static int cmp(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Durations up to 16 us times scale. */
static void syscalls_of(uint64_t scale)
{
	uint64_t t = 1000, len[1000], rnd = 12345, total = 0, wide = 0;
	struct ty_syscall_stats *s;
	const struct ty_model *m;
	struct ty_window w;
	uint32_t n;

	ty_mx_begin("mode=all\n", NULL);
	for (unsigned i = 0; i < 1000; i++) {
		rnd = rnd * 6364136223846793005u + 1442695040888963407u;
		len[i] = i % 3 ? (rnd >> 50) * scale : 77; /* many equal ones, too */
		total += len[i];
		ty_mx_enter(0, t, 5, 0);
		ty_mx_exit(0, t + len[i], 5, 0, i % 10 ? 1 : -4);
		if (i == 500)
			wide = t;
		t += len[i] + 10;
	}
	ty_mx_enter(0, t, 5, 35); /* nanosleep, never ends */
	ty_mx_event(0, t + 500, 5, TY_EV_OTHER);
	m = ty_mx_end();
	w = window_all(m);
	assert_int_equal(ty_syscall_stats(m, &w, arch, &s, &n), 0);
	assert_int_equal(n, 2);
	qsort(len, 1000, sizeof(*len), cmp);
	assert_string_equal(s[0].name, "read");
	assert_int_equal(s[0].count, 1000);
	assert_int_equal(s[0].errors, 100);
	assert_int_equal(s[0].total_ns, total);
	assert_int_equal(s[0].mean_ns, total / 1000);
	assert_int_equal(s[0].p50_ns, len[499]);
	assert_int_equal(s[0].p99_ns, len[989]);
	assert_int_equal(s[0].max_ns, len[999]);
	assert_int_equal(ty_model_syscall(m, s[0].max_call).start_ns, s[0].max_start_ns);
	assert_string_equal(s[1].name, "nanosleep");
	assert_int_equal(s[1].unfinished, 1);
	assert_int_equal(s[1].before, 0);
	assert_int_equal(s[1].errors, 0);
	assert_int_equal(s[1].total_ns, 500);
	free(s);
	/* A window takes the calls that touch it, whole. */
	w.from_ns = wide;
	w.to_ns = wide + 1;
	assert_int_equal(ty_syscall_stats(m, &w, arch, &s, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(s[0].count, 1);
	free(s);
	w.from_ns = 0;
	w.to_ns = 1;
	assert_int_equal(ty_syscall_stats(m, &w, arch, &s, &n), 0);
	assert_int_equal(n, 0);
	free(s);
}

static void syscalls(void **state)
{
	syscalls_of(1);
	syscalls_of(5001); /* too long to be counted by the nanosecond */
}

/* Few long calls among very many short ones: the percentile lies in blocks far apart. */
static void rare_long_calls(void **state)
{
	static uint64_t len[20000];
	struct ty_syscall_stats *s;
	const struct ty_model *m;
	uint64_t t = 1000;
	struct ty_window w;
	uint32_t n;

	ty_mx_begin("mode=all\n", NULL);
	for (unsigned i = 0; i < 20000; i++) {
		len[i] = i % 5000 == 4000 ? 900000 : i % 2000 < 21 ? 50000 + i % 21 : 77;

		ty_mx_enter(0, t, 5, 0);
		ty_mx_exit(0, t + len[i], 5, 0, 1);
		t += len[i];
	}
	m = ty_mx_end();
	w = window_all(m);
	assert_int_equal(ty_syscall_stats(m, &w, arch, &s, &n), 0);
	assert_int_equal(n, 1);
	qsort(len, 20000, sizeof(*len), cmp);
	assert_int_equal(s[0].p50_ns, len[9999]);
	assert_int_equal(s[0].p99_ns, len[19799]);
	free(s);
}

/* A call whose start or end is not known is counted and not timed. */
static void untimed(void **state)
{
	struct ty_syscall_stats *s;
	const struct ty_model *m;
	struct ty_window w;
	uint32_t n;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_event(0, 0, 5, TY_EV_OTHER);
	ty_mx_enter(0, 5, 5, 1);
	ty_mx_exit(0, 10, 5, 1, 1);
	ty_mx_gap(0, 10, 90, 3);
	ty_mx_exit(0, 100, 5, 0, 1);
	m = ty_mx_end();
	w = window_all(m);
	assert_int_equal(ty_syscall_stats(m, &w, arch, &s, &n), 0);
	assert_int_equal(n, 2);
	assert_string_equal(s[1].name, "read");
	assert_int_equal(s[1].count, 1);
	assert_int_equal(s[1].untimed, 1);
	assert_int_equal(s[1].max_call, TY_NONE);
	free(s);
}

/* A call that began before the recording has no known duration: it is counted and not timed. So is
 * one whose end may be that of a later call. */
static void untimed_begin(void **state)
{
	struct ty_syscall_stats *s;
	const struct ty_model *m;
	struct ty_window w;
	uint32_t n;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_event(0, 0, 5, TY_EV_OTHER);
	ty_mx_exit(0, 5000, 5, 0, -4);
	ty_mx_enter(0, 6000, 5, 0);
	ty_mx_exit(0, 6010, 5, 0, 1);
	ty_mx_enter(0, 7000, 5, 0);
	ty_mx_gap(0, 7000, 8000, 3);
	ty_mx_exit(0, 9000, 5, 0, 1);
	m = ty_mx_end();
	w = window_all(m);
	assert_int_equal(ty_syscall_stats(m, &w, arch, &s, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(s[0].count, 3);
	assert_int_equal(s[0].errors, 1);
	assert_int_equal(s[0].before, 1);
	assert_int_equal(s[0].untimed, 1);
	assert_int_equal(s[0].max_ns, 10);
	assert_int_equal(s[0].total_ns, 10);
	assert_int_equal(s[0].p99_ns, 10);
	free(s);
}

/* The CPU of a call is where it began, known without scheduler events. */
static void calls_by_cpu(void **state)
{
	struct ty_syscall_stats *s;
	const struct ty_model *m;
	struct ty_window w;
	uint32_t n, cpu = 1;

	ty_mx_begin(NULL, NULL);
	ty_mx_exit(1, 5, 5, 7, 0); /* where it began is unknown */
	ty_mx_enter(1, 10, 5, 0);
	ty_mx_exit(0, 20, 5, 0, 3);
	ty_mx_enter(0, 25, 5, 1);
	ty_mx_exit(1, 30, 5, 1, 3);
	m = ty_mx_end();
	w = window_all(m);
	w.cpus = &cpu;
	w.cpus_n = 1;
	assert_int_equal(ty_syscall_stats(m, &w, arch, &s, &n), 0);
	assert_int_equal(n, 1);
	assert_string_equal(s[0].name, "read");
	free(s);
}

int main(void)
{
#define T(f) cmocka_unit_test_teardown(f, drop)
	const struct CMUnitTest tests[] = {
		T(syscalls), T(rare_long_calls), T(untimed), T(untimed_begin), T(calls_by_cpu),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
