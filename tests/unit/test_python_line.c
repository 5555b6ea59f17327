/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "python_line.h"
#include "sanitized.h"

/* Pairs as in Objects/lnotab_notes.txt: lines 1, 2, 1 and 300 at 0, 6, 50 and 350. */
static void lnotab_of_3_9(void **state)
{
	static const uint8_t t[] = {6, 1, 44, 0xff, 255, 0, 45, 127, 0, 127, 0, 45};
	static const uint32_t want[][2] = {{0, 1},  {5, 1},   {6, 2},	  {49, 2},
					   {50, 1}, {349, 1}, {350, 300}, {9000, 300}};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		assert_int_equal(ty_python_line(TY_PY_LNOTAB, t, sizeof(t), 1, want[i][0]),
				 want[i][1]);
	assert_int_equal(ty_python_line(TY_PY_LNOTAB, t, 0, 7, 4), 7);
	assert_int_equal(ty_python_line(TY_PY_LNOTAB, t, sizeof(t), 7, -1), 7);
}

/* The example of Objects/lnotab_notes.txt. */
static void linetable_of_3_10(void **state)
{
	static const uint8_t t[] = {6, 1, 44, 0x80, 50, 1, 0, 127, 50, 0xff, 0, 0x80};
	static const uint32_t want[][2] = {{0, 101},  {5, 101},	  {6, 0},
					   {50, 102}, {100, 228}, {150, 0}};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		assert_int_equal(ty_python_line(TY_PY_LINETABLE, t, sizeof(t), 100, want[i][0]),
				 want[i][1]);
}

/* Entries as in Objects/locations.md. */
static void locations_of_3_11(void **state)
{
	static const uint8_t t[] = {
		0x80 | 10 << 3 | 0,
		1,
		2, /* 0..1: + 0 */
		0x80 | 12 << 3 | 1,
		1,
		2, /* 2..5: + 2 */
		0x80 | 3 << 3 | 7,
		0x12,		    /* 6..21: short, the same line */
		0x80 | 15 << 3 | 0, /* 22..23: none */
		0x80 | 14 << 3 | 0,
		0x40 | 0,
		0x40 | 32,
		0x40 | 56,
		1,
		0,
		1,
		1, /* 24..25: + 246784 */
		0x80 | 13 << 3 | 0,
		11, /* 26..27: - 5 */
	};
	static const uint32_t want[][2] = {{0, 9},  {2, 11},	  {5, 11},	{6, 11}, {21, 11},
					   {22, 0}, {24, 246795}, {26, 246790}, {28, 0}};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		assert_int_equal(ty_python_line(TY_PY_LOCATIONS, t, sizeof(t), 9, want[i][0]),
				 want[i][1]);
	assert_int_equal(ty_python_line(TY_PY_LOCATIONS, t, sizeof(t), 9, -2), 9);
	/* Cut within an entry's number. */
	assert_int_equal(ty_python_line(TY_PY_LOCATIONS, t, 11, 9, 24), 0);
}

/* Nothing is read beyond the table, and no line is negative. */
static void any_bytes(void **state)
{
	srand(1);
	for (unsigned i = 0; i < 30000; i++) {
		const size_t n = (size_t)rand() % 40;
		uint8_t *t = malloc(n ? n : 1);

		for (size_t k = 0; k < n; k++)
			t[k] = (uint8_t)rand();
		for (unsigned kind = 0; kind <= TY_PY_LOCATIONS; kind++)
			assert_true(ty_python_line(kind, t, n, rand() - RAND_MAX / 2,
						   rand() % 200) <= INT32_MAX);
		free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lnotab_of_3_9),
		cmocka_unit_test(linetable_of_3_10),
		cmocka_unit_test(locations_of_3_11),
		cmocka_unit_test(any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
