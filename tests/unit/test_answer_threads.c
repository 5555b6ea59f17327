/* SPDX-License-Identifier: MIT */
/* The answer of threads without a command or requests. */
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

/* Without requests: what the thread did. */
static void without_requests(void **state)
{
	struct ty_window w;
	struct ty_requests q;
	struct ty_explain x = slow_request(&w, &q);
	struct ty_answer a;

	(void)state;
	assert_int_equal(ty_answer_find(&x, &w, NULL, &a), 0);
	assert_int_equal(a.of, TY_ANSWER_THREADS);
	assert_int_equal(a.part_ns[TY_PART_WAIT], 50 * MS);
	assert_string_equal(a.item[0].text, "t11/11 ran: 100% outside system calls");
	ty_requests_fini(&q);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
