/* SPDX-License-Identifier: MIT */
/* The largest items of an answer, and the rest. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "answer.h"
#include "fixture_answer.h"
#include "fixture_given.h"

/* More waits than the answer has room for: the largest, longest first; the rest is summed. */
static void largest_items_first(void **state)
{
	enum { CALLS = 2 * TY_ANSWER_ITEMS };
	uint64_t at = 2 * MS, rest = 0;
	struct ty_answer a;

	(void)state;
	givens = 0;
	ty_mx_begin("mode=command\ncommand_tid=11\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	for (unsigned i = 0; i < CALLS; i++) {
		uint64_t ns = (100 + i) * MS;

		ty_mx_enter(0, at, 11, NR_MKDIR + (int)i);
		ty_mx_switch(0, at, 11, D, 0);
		ty_mx_waking(1, at += ns, 20, 11, 0);
		ty_mx_switch(0, at, 0, R, 11);
		ty_mx_exit(0, at, 11, NR_MKDIR + (int)i, 0);
	}
	ty_mx_switch(0, at, 11, TY_TASK_DEAD, 0);
	a = answer_of(11);
	assert_int_equal(a.items, TY_ANSWER_ITEMS);
	for (uint32_t i = 0; i < a.items; i++)
		assert_int_equal(a.item[i].ns, (100 + CALLS - 1 - i) * MS);
	for (unsigned i = 0; i < CALLS - TY_ANSWER_ITEMS; i++)
		rest += (100 + i) * MS;
	assert_int_equal(a.rest_ns, rest);
	assert_int_equal(a.rest, CALLS - TY_ANSWER_ITEMS);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(largest_items_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
