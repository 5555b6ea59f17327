/* SPDX-License-Identifier: MIT */
/* The percentiles of a row, of few values and of many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture_sharing.h"
#include "mem_stream.h"
#include "memory.h"
#include "sharing.h"

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Few values are sorted, more are counted: percentiles by nearest rank either way, of what was
 * recorded alone. */
static void test_percentiles(void **state)
{
	static const uint32_t ns[] = {1, 2, 3, 10, 63, 64, 65, 66, 101, 1000};

	(void)state;
	for (unsigned k = 0; k < sizeof(ns) / sizeof(*ns); k++) {
		const uint32_t n = ns[k];
		int total[1000], exec[1000], execs = 0;
		struct ty_memory_table t;
		struct ty_mem_points p;

		assert_int_equal(ty_mem_points_begin(&p, NULL, 0), 0);
		for (uint32_t i = 0; i < n; i++) {
			struct ty_mem m = {.pc = 0x4000,
					   .has = TY_MEM_HAS_PC | TY_MEM_HAS_TOTAL |
						  (i % 3 ? TY_MEM_HAS_ISSUE : 0),
					   .pid = -1,
					   .tid = -1,
					   .kind = TY_MEM_LOAD,
					   .lat_total = 5 + i * 7919u % 60013,
					   .lat_issue = i % 5};

			total[i] = (int)m.lat_total;
			if (i % 3)
				exec[execs++] = (int)(m.lat_total - m.lat_issue);
			assert_int_equal(ty_mem_points_add(&p, &m, "", true), 0);
		}
		assert_int_equal(ty_mem_points_end(&p), 0);
		qsort(total, n, sizeof(*total), by_value);
		qsort(exec, (size_t)execs, sizeof(*exec), by_value);
		assert_int_equal(ty_memory_count(&p, TY_MEMORY_BY_PC, NULL, 10, NULL, &t), 0);
		assert_int_equal(t.rows[0].total.n, n);
		assert_int_equal(t.rows[0].total.p50, total[(n * 50 + 99) / 100 - 1]);
		assert_int_equal(t.rows[0].total.p90, total[(n * 90 + 99) / 100 - 1]);
		assert_int_equal(t.rows[0].total.p99, total[(n * 99 + 99) / 100 - 1]);
		assert_int_equal(t.rows[0].total.max, total[n - 1]);
		assert_int_equal(t.rows[0].exec.n, execs);
		assert_int_equal(t.rows[0].exec.p90, execs ? exec[(execs * 90 + 99) / 100 - 1] : 0);
		assert_int_equal(t.rows[0].exec.max, execs ? exec[execs - 1] : 0);
		assert_int_equal(t.rows[0].xlat.n, 0);
		ty_memory_fini(&t);
		ty_mem_points_fini(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_percentiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
