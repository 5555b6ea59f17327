/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "paged_pool.h"

enum { N = 3000, BYTES = 5001 };

/* Pieces keep their bytes; those beyond the limit are in the file, unless there can be none. */
static void fill(struct ty_paged_pool *p, unsigned in_memory)
{
	static uint8_t *v[N];
	unsigned memory = 0;

	for (unsigned i = 0; i < N; i++) {
		v[i] = ty_paged_pool_alloc(p, BYTES);
		assert_non_null(v[i]);
		assert_int_equal((uintptr_t)v[i] % 16, 0);
		memset(v[i], (int)i, BYTES);
		memory += !ty_paged_pool_has(p, v[i]);
	}
	assert_int_equal(memory, in_memory);
	for (unsigned i = 0; i < N; i++) {
		assert_int_equal(v[i][0], (uint8_t)i);
		assert_int_equal(v[i][BYTES - 1], (uint8_t)i);
		ty_paged_pool_free(p, v[i]);
	}
	ty_paged_pool_fini(p);
}

static void beyond_the_limit_they_are_in_a_file(void **state)
{
	(void)state;
	fill(&(struct ty_paged_pool){0}, N);
	fill(&(struct ty_paged_pool){.limit = 100 * BYTES}, 100);
	fill(&(struct ty_paged_pool){.limit = 1}, 0);
}

static void without_a_file_they_are_in_memory(void **state)
{
	(void)state;
	assert_int_equal(setenv("TMPDIR", "/nowhere/at/all", 1), 0);
	fill(&(struct ty_paged_pool){.limit = 1}, N);
	unsetenv("TMPDIR");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(beyond_the_limit_they_are_in_a_file),
		cmocka_unit_test(without_a_file_they_are_in_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
