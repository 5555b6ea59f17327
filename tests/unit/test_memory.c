/* SPDX-License-Identifier: MIT */
/* Tables of memory samples: counts, shares with their interval, on any number of threads. */
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

static void test_counter_readings(void **state)
{
	const struct access a[] = {{101, ST, A, P, -1}, {102, LD, A + 4096, P + 4096, PEER}};
	struct ty_memory_table t;
	struct result r;

	(void)state;
	spe(&r, a, 2, 0);
	assert_int_equal(ty_memory_count(&r.points, TY_MEMORY_BY_PC, NULL, 10, NULL, &t), 0);
	assert_int_equal(t.rows_n, 2);
	assert_int_equal(t.rows[0].count, 10);
	assert_int_equal(t.rows[0].loads, 10);
	assert_int_equal(t.rows[0].total.p50, 200);
	assert_int_equal(t.rows[0].exec.p99, 196);
	assert_int_equal(t.rows[1].total.max, 12);
	assert_true(t.rows[0].low > 0.29 && t.rows[0].low < 0.31); /* Wilson of 10 in 20 */
	assert_true(t.rows[0].high > 0.69 && t.rows[0].high < 0.71);
	ty_memory_fini(&t);
	assert_int_equal(ty_memory_count(&r.points, TY_MEMORY_BY_PAGE, NULL, 1, NULL, &t), 0);
	assert_int_equal(t.rows_n, 1);
	assert_int_equal(t.keys, 2);
	assert_int_equal(t.rows[0].key, A + 4096);
	assert_int_equal(t.rows[0].pid, 100);
	ty_memory_fini(&t);
	assert_int_equal(ty_memory_count(&r.points, TY_MEMORY_BY_SOURCE, NULL, 10, NULL, &t), 0);
	assert_int_equal(t.rows[0].key, TY_MEM_LV_PEER << 8 | TY_MEM_SRC_PEER);
	ty_memory_fini(&t);
	done(&r);
}

/* Several tables on any number of threads, in as many passes as there are rows, are those that are
 * made alone and at once. */
static void test_together(void **state)
{
	const struct access a[] = {{101, ST, A, P, -1},
				   {102, LD, A + 4096, P + 4096, PEER},
				   {203, LD, A + 8192, 0, L1},
				   {201, ATOMIC, A, P, PEER}};
	static const uint32_t function[] = {1, 1, 0, 1};
	struct result r;

	(void)state;
	spe(&r, a, 4, 0);
	assert_int_equal(r.points.codes, 4);
	for (unsigned threads = 1; threads <= 6; threads++) {
		const struct ty_mem_work little = {.bytes = 1};
		struct ty_memory_request ask[6] = {0};

		for (unsigned i = 0; i < 6; i++)
			ask[i] = (struct ty_memory_request){
				.by = i, .top = 3, .function_of_pc = function};
		assert_int_equal(ty_memory_count_all(&r.points, ask, 6, threads, &little), 0);
		for (unsigned i = 0; i < 6; i++) {
			struct ty_memory_table *t = &ask[i].table, alone;

			assert_int_equal(ty_memory_count(&r.points, i, function, 3, NULL, &alone),
					 0);
			assert_int_equal(t->keys, alone.keys);
			assert_int_equal(t->samples, alone.samples);
			assert_int_equal(t->rows_n, alone.rows_n);
			assert_int_equal(t->rows_n > 0, i != TY_MEMORY_BY_BRANCH);
			assert_memory_equal(t->rows, alone.rows, t->rows_n * sizeof(*t->rows));
			ty_memory_fini(&alone);
			ty_memory_fini(t);
		}
	}
	done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counter_readings),
		cmocka_unit_test(test_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
