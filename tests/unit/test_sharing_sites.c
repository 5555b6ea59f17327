/* SPDX-License-Identifier: MIT */
/* The access sites of a line: which thread wrote after which. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture_sharing.h"
#include "sharing.h"

/* Loads of modified data show a writer, whatever else is sampled. */
static void test_modified(void **state)
{
	const struct point a[] = {{.tid = 101, .cpu = 1, .va = A, .kind = L, .flags = M},
				  {.tid = 102, .cpu = 2, .va = A, .kind = L, .flags = M},
				  {.tid = 103, .cpu = 3, .va = A + 640, .kind = S}};
	struct result r;

	(void)state;
	points(&r, a, 3, 1);
	one("modified, two threads", &r, TY_SHARING_UNKNOWN, TY_SHARING_PEER, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modified),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
