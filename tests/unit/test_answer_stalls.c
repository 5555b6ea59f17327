/* SPDX-License-Identifier: MIT */
/* What stalls add to an answer. */
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
#include "stalls.h"
#include "window_all.h"

/* A lock that the command's threads waited for, which no item names. */
static void lock_beside_the_path(void **state)
{
	struct ty_stall v[2] = {{.kind = TY_STALL_LOCK,
				 .object = "fd 4 <link.lock>",
				 .duration_ns = 30 * MS,
				 .sum_ns = 80 * MS,
				 .threads = 3,
				 .culprit = TY_NONE}};
	struct ty_stalls s = {.v = v, .n = 2};
	struct ty_explain x;
	struct ty_answer a;

	(void)state;
	ty_mx_begin("mode=command\ncommand_tid=11\n", NULL);
	ty_mx_switch(0, 2 * MS, 0, R, 11);
	ty_mx_enter(0, 10 * MS, 11, NR_READ);
	ty_mx_switch(0, 202 * MS, 11, TY_TASK_DEAD, 0);
	x = explain(ty_mx_end(), 11);
	v[1] = v[0];
	v[1].sum_ns = 0;
	a = (struct ty_answer){.of = TY_ANSWER_COMMAND, .total_ns = 790 * MS};
	ty_answer_stalls(&x, &s, &a);
	assert_int_equal(a.notes, 1);
	assert_string_equal(a.note[0],
			    "t11/11 and 2 more waited a total of 80.0 ms for the lock on fd 4 "
			    "<link.lock> (stall 1)");
	/* One of the others waited for something else. */
	v[0].by_root = true;
	a = (struct ty_answer){.of = TY_ANSWER_COMMAND, .total_ns = 290 * MS};
	ty_answer_stalls(&x, &s, &a);
	assert_int_equal(a.notes, 1);
	assert_string_equal(a.note[0],
			    "t11/11 waited 30.0 ms for the lock on fd 4 <link.lock> (stall 1)");
	v[0].by_root = false;
	/* Little of the command; or an item that names it. */
	a = (struct ty_answer){.of = TY_ANSWER_COMMAND, .total_ns = 801 * MS};
	ty_answer_stalls(&x, &s, &a);
	assert_int_equal(a.notes, 0);
	a = (struct ty_answer){.of = TY_ANSWER_COMMAND, .total_ns = 790 * MS, .items = 1};
	strcpy(a.item[0].text,
	       "t11/11 waited in flock on fd 4 <link.lock> for t20/20, which slept");
	ty_answer_stalls(&x, &s, &a);
	assert_int_equal(a.notes, 0);
	/* Of threads attached to, the first one, whatever it is, and whose reply is missing. */
	strcpy(v[0].peer, "fd 6 <UDP:[10.0.0.2:53]>");
	v[0].state = TY_ST_SLEEPING;
	a = (struct ty_answer){.of = TY_ANSWER_THREADS, .total_ns = 790 * MS};
	ty_answer_stalls(&x, &s, &a);
	assert_int_equal(a.notes, 1);
	assert_string_equal(a.note[0],
			    "stall with the most time: t11/11 waited 30.0 ms for a reply on fd 6 "
			    "<UDP:[10.0.0.2:53]> (stall 1)");
	/* What it did is not known. */
	v[0].state = TY_ST_UNKNOWN;
	a = (struct ty_answer){.of = TY_ANSWER_THREADS, .total_ns = 790 * MS};
	ty_answer_stalls(&x, &s, &a);
	assert_non_null(strstr(a.note[0], "t11/11 was in an unknown state for 30.0 ms"));
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lock_beside_the_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
