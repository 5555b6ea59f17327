/* SPDX-License-Identifier: MIT */
/* A command's answer: what another process held up, and what is unknown. */
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

/* The command waits for a lock that 20, which it did not make, holds while that sleeps. */
static void another_process_held_it_up(void **state)
{
	struct ty_answer a;

	(void)state;
	ty_mx_begin("mode=command\ncommand_tid=11\n", NULL);
	ty_mx_switch(1, 1 * MS, 0, R, 20);
	ty_mx_enter(1, 1 * MS, 20, NR_NANOSLEEP);
	ty_mx_switch(0, 2 * MS, 0, R, 11);
	call(2 * MS, 11, NR_READ, 0, 0);
	ty_mx_switch(1, 2 * MS, 20, S, 0);
	ty_mx_enter(0, 10 * MS, 11, NR_FLOCK);
	ty_mx_switch(0, 10 * MS, 11, S, 0);
	timer(190 * MS, 20);
	ty_mx_switch(1, 190 * MS, 0, R, 20);
	ty_mx_exit(1, 190 * MS, 20, NR_NANOSLEEP, 0);
	ty_mx_enter(1, 195 * MS, 20, NR_FLOCK);
	ty_mx_waking(1, 195 * MS, 20, 11, 0);
	ty_mx_exit(1, 195 * MS, 20, NR_FLOCK, 0);
	ty_mx_switch(0, 195 * MS, 0, R, 11);
	ty_mx_exit(0, 195 * MS, 11, NR_FLOCK, 0);
	ty_mx_switch(0, 202 * MS, 11, TY_TASK_DEAD, 0);
	a = answer_of(11);
	assert_int_equal(a.total_ns, 200 * MS);
	assert_int_equal(a.part_ns[TY_PART_OTHERS], 185 * MS);
	assert_int_equal(a.part_ns[TY_PART_CPU], 15 * MS);
	assert_string_equal(a.item[0].text,
			    "t11/11 waited in flock for t20/20, which slept in nanosleep");
	assert_string_equal(a.children, "");
	ty_mx_drop();
}

/* No scheduler's events of the command: all of it is unknown, and said to be. */
static void nothing_known(void **state)
{
	struct ty_answer a;

	(void)state;
	ty_mx_begin("mode=command\ncommand_tid=11\n", NULL);
	ty_mx_enter(0, 10 * MS, 11, NR_READ);
	ty_mx_exit(0, 20 * MS, 11, NR_READ, 0);
	ty_mx_enter(0, 30 * MS, 11, NR_READ);
	a = answer_of(11);
	assert_int_equal(a.total_ns, 20 * MS);
	assert_int_equal(a.part_ns[TY_PART_UNKNOWN], 20 * MS);
	assert_string_equal(a.item[0].text, "[no name]/11: unknown");
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_process_held_it_up),
		cmocka_unit_test(nothing_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
