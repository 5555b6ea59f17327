/* SPDX-License-Identifier: MIT */
/* Outliers of small hand-written machines: the slowest call beside the median one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_model.h"
#include "outliers.h"
#include "window_all.h"

#define MS UINT64_C(1000000)

enum { NR_READ = 0, NR_WRITE = 1, NR_GETPID = 39 };

/* Thread 11 reads every 10 ms, 1 ms on the CPU; the seventh read waits 50 ms for thread 12. The
 * other calls are all alike. */
static const struct ty_model *slow_read(int other)
{
	uint64_t t = 1 * MS;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, t, 0, R, 11);
	for (int i = 0; i < 10; i++) {
		ty_mx_enter(0, t += 10 * MS, 11, NR_READ);
		if (i == 6) {
			ty_mx_switch(0, t += MS, 11, S, 12);
			ty_mx_waking(0, t += 50 * MS, 12, 11, 0);
			ty_mx_switch(0, t += MS, 12, S, 11);
		}
		ty_mx_exit(0, t += MS, 11, NR_READ, 1);
		ty_mx_enter(0, t += MS, 11, other);
		ty_mx_exit(0, t += MS, 11, other, 1);
	}
	ty_mx_switch(0, t + MS, 11, S, 0);
	return ty_mx_end();
}

static void slow_one_beside_the_median(void **state)
{
	const struct ty_model *m = slow_read(NR_WRITE);
	struct ty_explain x = {.m = m, .arch = ty_sysarch_find("x86_64")};
	struct ty_window w = window_all(m);
	struct ty_outliers o;
	uint64_t slow = 0, median = 0;

	assert_int_equal(ty_outliers_find(&x, &w, 10, &o, NULL), 0);
	assert_int_equal(o.n, 1); /* not the writes */
	assert_int_equal(o.v[0].nr, NR_READ);
	assert_int_equal(o.v[0].count, 10);
	assert_int_equal(o.v[0].slow_ns, 53 * MS);
	assert_int_equal(o.v[0].median_ns, MS);
	/* The wait comes first: it is what differed. Rows sum to both calls. */
	assert_string_equal(o.v[0].rows[0].row, "sleeping in read, woken by t12/12");
	assert_int_equal(o.v[0].rows[0].slow_ns, 50 * MS);
	assert_int_equal(o.v[0].rows[0].median_ns, 0);
	for (uint32_t i = 0; i < o.v[0].n; i++) {
		slow += o.v[0].rows[i].slow_ns;
		median += o.v[0].rows[i].median_ns;
	}
	assert_int_equal(slow, 53 * MS);
	assert_int_equal(median, MS);
	ty_outliers_fini(&o);
	/* A window without the slow one has none; nor has another CPU. */
	w.to_ns = 60 * MS;
	assert_int_equal(ty_outliers_find(&x, &w, 10, &o, NULL), 0);
	assert_int_equal(o.n, 0);
	ty_outliers_fini(&o);
	w = window_all(m);
	w.cpus = &(uint32_t){1};
	w.cpus_n = 1;
	assert_int_equal(ty_outliers_find(&x, &w, 10, &o, NULL), 0);
	assert_int_equal(o.n, 0);
	ty_outliers_fini(&o);
	/* What is not kept is counted. */
	w = window_all(m);
	assert_int_equal(ty_outliers_find(&x, &w, 0, &o, NULL), 0);
	assert_int_equal(o.n, 0);
	assert_int_equal(o.more, 1);
	ty_outliers_fini(&o);
	ty_mx_drop();
}

/* Numbers of a damaged file whose hashes are those of others. */
static void each_number_for_itself(void **state)
{
	const struct ty_model *m = slow_read(1 << 29 | NR_READ);
	struct ty_explain x = {.m = m, .arch = ty_sysarch_find("x86_64")};
	struct ty_window w = window_all(m);
	struct ty_outliers o;

	assert_int_equal(ty_outliers_find(&x, &w, 10, &o, NULL), 0);
	assert_int_equal(o.n, 1);
	assert_int_equal(o.v[0].nr, NR_READ);
	assert_int_equal(o.v[0].count, 10);
	ty_outliers_fini(&o);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_one_beside_the_median),
		cmocka_unit_test(each_number_for_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
