/* SPDX-License-Identifier: MIT */
/* Items in order, in memory and in any number of runs, as often as they are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "compare.h"
#include "sorted_runs.h"

struct item {
	uint64_t key, square;
	uint32_t extra;
};

static int order(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return compare(x->key, y->key);
}

static void check(uint64_t n, uint64_t memory_bytes)
{
	struct ty_sorted_runs *s = ty_sorted_runs_new(sizeof(struct item), memory_bytes, order);
	struct ty_err err = {0};
	const void *p;

	assert_non_null(s);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t key = i * 7919 % n; /* 7919 is prime, and no n here is a multiple */
		struct item item = {key, key * key, (uint32_t)key};

		assert_int_equal(ty_sorted_runs_add(s, &item, &err), 0);
	}
	for (unsigned pass = 0; pass < 3; pass++) {
		assert_int_equal(ty_sorted_runs_rewind(s, &err), 0);
		/* The second time not to the end. */
		for (uint64_t i = 0; i < (pass == 1 ? n / 2 : n); i++) {
			const struct item *item;

			assert_int_equal(ty_sorted_runs_next(s, &p, &err), 1);
			item = p;
			assert_int_equal(item->key, i);
			assert_int_equal(item->square, i * i);
		}
		if (pass != 1) {
			assert_int_equal(ty_sorted_runs_next(s, &p, &err), 0);
			assert_int_equal(ty_sorted_runs_next(s, &p, &err), 0);
		}
	}
	ty_sorted_runs_free(s);
}

static void test_orders(void **state)
{
	(void)state;
	check(0, 1 << 20);
	check(1, 1 << 20);
	check(1000, 1 << 20);
	check(64, 1); /* 64 at a time are the least */
	check(65, 1);
	check(128, 1);
	check(10000, 1); /* more runs than a run has items */
	check(10000, 100 * sizeof(struct item));
	ty_sorted_runs_free(NULL);
}

/* A file that cannot be written is an error as often as it is tried; then it can. */
static void test_cannot_write(void **state)
{
	enum { FIRST = 64, N = 3 * FIRST }; /* of which the last run is left in memory */
	struct ty_sorted_runs *s = ty_sorted_runs_new(sizeof(struct item), 1, order);
	struct rlimit was, full;
	struct ty_err err = {0};
	const void *p;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_non_null(s);
	for (uint64_t i = 0; i < N; i++) {
		struct item item = {.key = N - 1 - i};

		assert_int_equal(ty_sorted_runs_add(s, &item, &err), 0);
	}
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	full = was;
	full.rlim_cur = (N - FIRST / 2) * sizeof(struct item);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(ty_sorted_runs_rewind(s, &err), -TY_ESYS);
		assert_int_equal(ty_sorted_runs_next(s, &p, &err), 0);
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_int_equal(ty_sorted_runs_rewind(s, &err), 0);
	for (uint64_t i = 0; i < N; i++) {
		assert_int_equal(ty_sorted_runs_next(s, &p, &err), 1);
		assert_int_equal(((const struct item *)p)->key, i);
	}
	assert_int_equal(ty_sorted_runs_next(s, &p, &err), 0);
	ty_sorted_runs_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders),
					   cmocka_unit_test(test_cannot_write)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
