/* SPDX-License-Identifier: MIT */
/* Heaps of every size up to 40: what comes out, in which order, and what is kept of many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "heap.h"

struct item {
	uint32_t key, twice;
};

static unsigned compared;

static bool before(unsigned *count, const struct item *a, const struct item *b)
{
	++*count;
	return a->key < b->key;
}

static struct item item(uint32_t i, uint32_t n)
{
	uint32_t key = i * 7919 % (n | 1) / 2; /* most keys twice */

	return (struct item){key, 2 * key};
}

static uint32_t take(struct item *h, uint32_t *n)
{
	struct item top = h[0];

	h[0] = h[--*n];
	if (*n)
		heap_down(h, *n, 0, before, &compared);
	assert_int_equal(top.twice, 2 * top.key);
	return top.key;
}

static void test_sorts(void **state)
{
	struct item h[40];

	(void)state;
	for (uint32_t n = 1; n <= 40; n++)
		for (int added = 0; added < 2; added++) {
			uint32_t last = 0, left = n, sum = 0;

			for (uint32_t i = 0; i < n; i++) {
				struct item x = item(i, n);

				sum += x.key;
				if (added)
					heap_add(h, i, &x, before, &compared);
				else
					h[i] = x;
			}
			if (!added)
				heap_order(h, n, before, &compared);
			while (left) {
				uint32_t key = take(h, &left);

				assert_true(key >= last);
				sum -= key;
				last = key;
			}
			assert_int_equal(sum, 0);
		}
}

static void test_keeps(void **state)
{
	struct item h[40];

	(void)state;
	for (uint32_t most = 0; most <= 40; most++) {
		uint32_t n = 0, k;

		compared = 0;
		for (uint32_t i = 0; i < 1001; i++) {
			struct item x = {i * 7919 % 1001, 2 * (i * 7919 % 1001)};

			heap_keep(h, n, most, &x, before, &compared);
		}
		assert_int_equal(n, most);
		assert_true(compared <= 1001 * 14); /* 1, and twice the depth, of each */
		for (k = 1001 - most; n; k++)
			assert_int_equal(take(h, &n), k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorts),
		cmocka_unit_test(test_keeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
