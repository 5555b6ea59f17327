/* SPDX-License-Identifier: MIT */
/* More keys than there is room for at a time: the same tables, in several passes. */
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

/* More pages, and more targets of branches, than there is room for at a time: the same tables. */
static void test_ranges(void **state)
{
	const enum ty_memory_by by[] = {TY_MEMORY_BY_PAGE, TY_MEMORY_BY_BRANCH};
	const struct ty_mem_work little = {.bytes = 1};
	struct ty_memory_request all[2] = {0}, some[2] = {0};
	struct ty_mem_points p;

	(void)state;
	assert_int_equal(ty_mem_points_begin(&p, NULL, 0), 0);
	for (uint32_t i = 0; i < 24000; i++) {
		bool branch = i % 4 == 0;
		struct ty_mem m = {.pc = branch ? 0x4000 + i % 3 * 4 : 0x5000,
				   .va = 0x10000000 + (uint64_t)(i * 7919u % 9001) * 4096,
				   .target = 0x8000 + (uint64_t)(i % 5003) * 4,
				   .has = TY_MEM_HAS_PC | TY_MEM_HAS_TOTAL |
					  (branch ? TY_MEM_HAS_TARGET : TY_MEM_HAS_VA),
				   .pid = -1,
				   .tid = -1,
				   .kind = branch ? TY_MEM_BRANCH : TY_MEM_LOAD,
				   .lat_total = i % 977};

		assert_int_equal(ty_mem_points_add(&p, &m, "", true), 0);
	}
	assert_int_equal(ty_mem_points_end(&p), 0);
	for (unsigned i = 0; i < 2; i++)
		all[i] = some[i] = (struct ty_memory_request){.by = by[i], .top = 1500};
	assert_int_equal(ty_memory_count_all(&p, all, 2, 1, NULL), 0);
	assert_int_equal(ty_memory_count_all(&p, some, 2, 1, &little), 0);
	assert_int_equal(all[0].table.keys, 9001);
	assert_int_equal(all[0].table.samples, 18000);
	assert_int_equal(all[1].table.rows_n, 3);
	assert_true(all[1].table.rows[0].targets > 1500);
	for (unsigned i = 0; i < 2; i++) {
		struct ty_memory_table *x = &all[i].table, *y = &some[i].table;

		assert_int_equal(x->keys, y->keys);
		assert_int_equal(x->samples, y->samples);
		assert_int_equal(x->rows_n, y->rows_n);
		assert_memory_equal(x->rows, y->rows, x->rows_n * sizeof(*x->rows));
		ty_memory_fini(x);
		ty_memory_fini(y);
	}
	ty_mem_points_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
