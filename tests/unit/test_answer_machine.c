/* SPDX-License-Identifier: MIT */
/* The answer of a whole machine. */
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

/* Of the whole machine: which threads had the CPUs. */
static void cpus_of_the_machine(void **state)
{
	struct ty_window w;
	struct ty_requests q;
	struct ty_explain x = slow_request(&w, &q);
	struct ty_stalls_opts o = {0};
	struct ty_stalls s;
	struct ty_answer a;

	(void)state;
	x.whole_machine = true;
	assert_int_equal(ty_answer_find(&x, &w, &q, &a), 0);
	assert_int_equal(a.of, TY_ANSWER_MACHINE);
	assert_int_equal(a.total_ns, 2 * (w.to_ns - w.from_ns));
	assert_string_equal(a.item[0].text, "t20/20 ran");
	assert_string_equal(a.note[0], "t11/11 replied to 9 requests: p50 1.00 ms, max 51.0 ms");
	assert_int_equal(ty_stalls_find(&x, &w, &o, 10, &s, NULL), 0);
	ty_answer_stalls(&x, &s, &a);
	assert_string_equal(
		a.note[0],
		"stall with the most time: t11/11 waited 50.0 ms because of t20/20 (stall 1)");
	assert_int_equal(a.notes, 2);
	ty_stalls_fini(&s);
	assert_int_equal(a.item[0].ns + a.item[1].ns + a.rest_ns, a.part_ns[TY_PART_CPU]);
	assert_int_equal(a.rest, 0);
	ty_requests_fini(&q);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpus_of_the_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
