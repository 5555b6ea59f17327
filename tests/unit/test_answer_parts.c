/* SPDX-License-Identifier: MIT */
/* Parts of an answer as text: rounded times still sum to the rounded total. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "answer_priv.h"

static void rounded_parts_sum_to_the_total(void **state)
{
	/* Each part alone would round down; one of them is rounded up. */
	const uint64_t ns[] = {1000400000, 1000400000, 1000400000};
	char out[4][TY_ANSWER_FIXED];

	ty_answer_fixed(ns, 3, 3001200000, out);
	assert_string_equal(out[0], "1.001 s");
	assert_string_equal(out[1], "1.000 s");
	assert_string_equal(out[2], "1.000 s");
	assert_string_equal(out[3], "3.001 s");
}

static void the_part_nearest_to_the_next_step_goes_up(void **state)
{
	const uint64_t ns[] = {10200, 20700, 30100};
	char out[4][TY_ANSWER_FIXED];

	ty_answer_fixed(ns, 3, 61000, out);
	assert_string_equal(out[0], "10.20 us");
	assert_string_equal(out[3], "61.00 us");
	ty_answer_fixed((const uint64_t[]){10204, 20709, 30087}, 3, 61000, out);
	assert_string_equal(out[0], "10.20 us");
	assert_string_equal(out[1], "20.71 us");
	assert_string_equal(out[2], "30.09 us");
	ty_answer_fixed(NULL, 0, 999, out);
	assert_string_equal(out[0], "999 ns");
}

static void largest_part_first(void **state)
{
	uint64_t part[TY_ANSWER_PARTS_N] = {0};
	char out[200] = "";

	part[TY_PART_CPU] = 2000000;
	part[TY_PART_DISK] = 5000000;
	part[TY_PART_SLEEP] = 3000000;
	ty_answer_sum_text(part, 10000000, out, sizeof(out));
	assert_string_equal(out,
			    "10.00 ms = 5.00 ms disk + 3.00 ms in sleep calls + 2.00 ms on CPU");
	/* A part that is shown as zero is left out: the others sum to the total all the same. */
	part[TY_PART_CPU] = 1999000;
	part[TY_PART_RUNNABLE] = 1000;
	out[0] = 0;
	ty_answer_sum_text(part, 10000000, out, sizeof(out));
	assert_string_equal(out,
			    "10.00 ms = 5.00 ms disk + 3.00 ms in sleep calls + 2.00 ms on CPU");
	/* One part is not said to be equal to itself. */
	out[0] = 0;
	ty_answer_sum_text((uint64_t[TY_ANSWER_PARTS_N]){[TY_PART_OTHERS] = 7000000}, 7000000, out,
			   sizeof(out));
	assert_string_equal(out, "7.00 ms, all of it waiting for other processes or "
				 "kernel threads");
	part[TY_PART_CPU] = 2000000;
	part[TY_PART_RUNNABLE] = 0;
	/* A short buffer is cut, not overrun. */
	memset(out, 'x', sizeof(out));
	out[0] = 0;
	ty_answer_sum_text(part, 10000000, out, 12);
	assert_string_equal(out, "10.00 ms = ");
	assert_int_equal(out[12], 'x');
}

static void every_part_has_key_and_text(void **state)
{
	for (unsigned p = 0; p < TY_ANSWER_PARTS_N; p++) {
		assert_true(*ty_answer_part_key((enum ty_answer_part)p));
		for (unsigned q = 0; q < p; q++)
			assert_string_not_equal(ty_answer_part_key((enum ty_answer_part)p),
						ty_answer_part_key((enum ty_answer_part)q));
	}
	assert_string_equal(ty_answer_part_key(TY_PART_CPU), "on_cpu");
	assert_string_equal(ty_answer_part_key(TY_ANSWER_PARTS_N), "");
}

static void notes_beyond_the_limit_are_dropped(void **state)
{
	struct ty_answer a = {0};

	for (int i = 0; i < TY_ANSWER_NOTES + 2; i++)
		ty_answer_note(&a, "note %d", i);
	assert_int_equal(a.notes, TY_ANSWER_NOTES);
	assert_string_equal(a.note[0], "note 0");
	assert_string_equal(a.note[TY_ANSWER_NOTES - 1], "note 4");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounded_parts_sum_to_the_total),
		cmocka_unit_test(the_part_nearest_to_the_next_step_goes_up),
		cmocka_unit_test(largest_part_first),
		cmocka_unit_test(every_part_has_key_and_text),
		cmocka_unit_test(notes_beyond_the_limit_are_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
