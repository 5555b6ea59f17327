/* SPDX-License-Identifier: MIT */
/* Numbers by keys: as a plain list has them, while they are added, changed and dropped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hash_index.h"
#include "pair_map.h"

#define N 3000

static uint32_t seed = 1;

static uint32_t next(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed >> 8;
}

/* Room that is made at any time changes nothing, but that the slots stay where they are. */
static void room_for_numbers(void **state)
{
	struct ty_hash_index x = {0};
	const struct ty_hash_slot *slot;

	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(ty_hash_add(&x, i * 7, i), 0);
	assert_int_equal(ty_hash_reserve(&x, N), 0);
	slot = x.slot;
	for (uint32_t i = 100; i < N; i++)
		assert_int_equal(ty_hash_add(&x, i * 7, i), 0);
	assert_ptr_equal(x.slot, slot);
	assert_int_equal(ty_hash_reserve(&x, 1), 0);
	assert_ptr_equal(x.slot, slot);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(ty_hash_get(&x, i * 7), i);
	ty_hash_fini(&x);
}

/* Keys of one number each, few enough that they come again, and many with one home. */
static void one_number_for_a_key(void **state)
{
	static uint32_t number[N], keys; /* + 1; 0: none */
	struct ty_hash_index x = {0};

	assert_int_equal(ty_hash_get(&x, 5), TY_HASH_NONE);
	for (uint32_t step = 0; step < 100000; step++) {
		uint32_t k = next() % N, key = k << (k % 3 ? 0 : 20);

		if (next() % 3 && number[k]) {
			ty_hash_drop(&x, key, number[k] - 1);
			number[k] = 0;
			keys--;
		} else {
			keys += !number[k];
			number[k] = 1 + step;
			assert_int_equal(ty_hash_put(&x, key, step), 0);
		}
		assert_int_equal(x.n, keys);
		k = next() % N;
		assert_int_equal(ty_hash_get(&x, k << (k % 3 ? 0 : 20)), number[k] - 1);
	}
	for (uint32_t k = 0; k < N; k++)
		assert_int_equal(ty_hash_get(&x, k << (k % 3 ? 0 : 20)), number[k] - 1);
	ty_hash_fini(&x);
	assert_int_equal(ty_hash_get(&x, 5), TY_HASH_NONE);
}

/* Hashes that are equal: each number is met once, and the right one is dropped. */
static void several_numbers_with_one_key(void **state)
{
	static uint8_t there[N], met[N];
	struct ty_hash_index x = {0};

	for (uint32_t i = 0; i < N; i++, there[i - 1] = 1)
		assert_int_equal(ty_hash_add(&x, i % 7, i), 0);
	for (uint32_t i = 0; i < N; i += 3, there[i - 3] = 0)
		ty_hash_drop(&x, i % 7, i);
	ty_hash_drop(&x, 3, 0); /* not there: nothing happens */
	for (uint32_t key = 0; key < 9; key++)
		hash_each (i, &x, key) {
			assert_int_equal(i % 7, key);
			met[i]++;
		}
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(met[i], there[i]);
	assert_int_equal(x.n, N - N / 3);
	ty_hash_fini(&x);
}

static void numbers_of_pairs(void **state)
{
	struct ty_pair_map m = {0};
	uint32_t *at;

	assert_int_equal(ty_pair_map_get(&m, 1, 2), TY_PAIR_NONE);
	for (uint64_t a = 0; a < 60; a++)
		for (uint64_t b = 0; b < 60; b++) {
			at = ty_pair_map_add(&m, a << 32, b);
			assert_non_null(at);
			assert_int_equal(*at, TY_PAIR_NONE);
			*at = (uint32_t)(a * 100 + b);
		}
	assert_int_equal(m.pairs.n, 3600);
	for (uint64_t a = 0; a < 61; a++)
		for (uint64_t b = 0; b < 60; b++)
			assert_int_equal(ty_pair_map_get(&m, a << 32, b),
					 a < 60 ? a * 100 + b : TY_PAIR_NONE);
	at = ty_pair_map_add(&m, UINT64_C(5) << 32, 6);
	assert_non_null(at);
	assert_int_equal(*at, 506);
	assert_int_equal(m.pairs.n, 3600);
	ty_pair_map_fini(&m);
}

/* Elements of an array by pair: appended once, of the value that the first caller gives. */
static void elements_of_pairs(void **state)
{
	VEC(uint64_t) v = {0};
	struct ty_pair_map m = {0};

	for (uint64_t round = 0; round < 2; round++)
		for (uint32_t a = 0; a < 100; a++) {
			uint64_t *e = pair_element(&m, a, 7, &v, a * 10 + round);

			assert_int_equal(e - v.v, a);
			assert_int_equal(*e, a * 10);
			assert_int_equal(pair_number(&m, a, 7, &v, 0), a);
		}
	assert_int_equal(v.n, 100);
	/* Without room for it, the pair stays without one. */
	v.cap = v.n;
	v.n = SIZE_MAX / 8 - 1;
	assert_null(pair_element(&m, 1, 8, &v, 5));
	v.n = v.cap;
	assert_int_equal(ty_pair_map_get(&m, 1, 8), TY_PAIR_NONE);
	assert_int_equal(pair_number(&m, 1, 8, &v, 5), 100);
	vec_fini(&v);
	ty_pair_map_fini(&m);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_number_for_a_key),
		cmocka_unit_test(room_for_numbers),
		cmocka_unit_test(several_numbers_with_one_key),
		cmocka_unit_test(numbers_of_pairs),
		cmocka_unit_test(elements_of_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
