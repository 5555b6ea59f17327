/* SPDX-License-Identifier: MIT */
/* How a command's time divides between itself and its children. */
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

/* The shell 11 computes, makes the child 12 and waits for it; the child sleeps, and computes. */
static void child_has_the_time(void **state)
{
	struct ty_answer a;

	(void)state;
	ty_mx_begin("mode=command\ncommand_tid=11\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	call(1 * MS, 11, NR_READ, 0, 0);
	ty_mx_fork(0, 5 * MS, 11, 12, 0);
	ty_mx_waking(0, 5 * MS, 11, 12, 1);
	ty_mx_enter(0, 6 * MS, 11, NR_WAIT4);
	ty_mx_switch(0, 7 * MS, 11, S, 0);
	ty_mx_switch(1, 7 * MS, 0, R, 12);
	ty_mx_enter(1, 10 * MS, 12, NR_NANOSLEEP);
	ty_mx_switch(1, 10 * MS, 12, S, 0);
	timer(310 * MS, 12);
	ty_mx_switch(1, 311 * MS, 0, R, 12);
	ty_mx_exit(1, 311 * MS, 12, NR_NANOSLEEP, 0);
	ty_mx_waking(1, 400 * MS, 12, 11, 0);
	ty_mx_switch(1, 400 * MS, 12, TY_TASK_DEAD, 0);
	ty_mx_switch(0, 401 * MS, 0, R, 11);
	ty_mx_exit(0, 401 * MS, 11, NR_WAIT4, 12);
	ty_mx_switch(0, 411 * MS, 11, TY_TASK_DEAD, 0);
	a = answer_of(11);
	assert_int_equal(a.of, TY_ANSWER_COMMAND);
	assert_int_equal(a.total_ns, 410 * MS);
	assert_int_equal(a.part_ns[TY_PART_SLEEP], 300 * MS);
	assert_int_equal(a.part_ns[TY_PART_CPU], (6 + 3 + 89 + 10) * MS);
	assert_int_equal(a.part_ns[TY_PART_RUNNABLE], 2 * MS);
	assert_string_equal(a.item[0].text, "t12/12 slept in nanosleep");
	assert_string_equal(a.item[1].text, "t12/12 ran: 100% outside system calls");
	assert_string_equal(a.children,
			    "17.0 ms in t11/11 itself. By child, with descendants: t12/12 393 ms");
	assert_int_equal(a.items, 2);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(child_has_the_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
