/* SPDX-License-Identifier: MIT */
/* Accesses across the end of a line count in both. */
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

static void test_over_the_end(void **state)
{
	struct result r;
	struct point a[] = {{.tid = 101, .cpu = 1, .va = A + 60, .kind = S, .size = 8},
			    {.tid = 102, .cpu = 2, .va = A + 64, .kind = L}};

	(void)state;
	points(&r, a, 2, 4);
	assert_int_equal(r.s.lines[0].line, A + 64);
	assert_int_equal(r.s.sites[0].offset, 0);
	assert_int_equal(r.s.sites[0].size, 4);
	assert_false(r.s.sites[0].size_assumed);
	one("a store over the line's end", &r, TY_SHARING_TRUE, TY_SHARING_TIME, 2);
	/* Physical lines follow each other within a page only. */
	a[0].pa = P + 60;
	a[1].pa = P + 64;
	points(&r, a, 2, 4);
	assert_int_equal(r.s.lines[0].line, P + 64);
	assert_int_equal(r.s.lines[0].va, A + 64);
	one("by physical address", &r, TY_SHARING_TRUE, TY_SHARING_TIME, 2);
	a[0].va = A + 4092, a[0].pa = P + 4092;
	a[1].va = A + 4096, a[1].pa = P + 4096;
	points(&r, a, 2, 4);
	none("behind the page", &r);
	a[0].va = A + 60, a[0].pa = 0;
	a[1].va = A + 64, a[1].pa = 0;
	/* Its width is not known, but that it is more than its address is aligned. */
	a[0].size = 0;
	points(&r, a, 2, 4);
	none("not known to reach over the end", &r);
	a[0].events = TY_MEM_EV_UNALIGNED;
	points(&r, a, 2, 4);
	assert_true(r.s.sites[0].size_assumed);
	one("flagged unaligned", &r, TY_SHARING_TRUE, TY_SHARING_TIME, 2);
	a[0].va = A + 58; /* 4 bytes or more */
	points(&r, a, 2, 4);
	none("unaligned, but it may end before", &r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_over_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
