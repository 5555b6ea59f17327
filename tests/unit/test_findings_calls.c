/* SPDX-License-Identifier: MIT */
/* Findings of sums of calls: each is reported for a model that has it, and not for one that has a
 * little less. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_findings.h"
#include "fixture_given.h"
#include "findings.h"

static void calls_that_fail(void **state)
{
	(void)state;
	for (unsigned n = 999; n <= 1000; n++) {
		struct ty_findings f;

		begin();
		for (unsigned i = 0; i < n; i++)
			one(11, NR_OPENAT, -ENOENT, 2 * US, 8 * US);
		f = find(11);
		assert_int_equal(f.n, n >= 1000);
		if (!f.n)
			continue;
		assert_int_equal(f.v[0].kind, TY_FINDING_FAILING);
		assert_int_equal(f.v[0].ns, 2 * MS);
		assert_string_equal(f.v[0].text,
				    "t11/11: openat failed 1,000 times on \"/etc/absent\", "
				    "with ENOENT, 2.00 us on average");
		assert_false(f.v[0].inferred);
	}
	/* So many, but a small part of the time. */
	begin();
	for (unsigned i = 0; i < 2000; i++)
		one(11, NR_OPENAT, -ENOENT, 2 * US, 50 * US);
	assert_int_equal(find(11).n, 0);
}

static void tiny_reads(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct ty_findings f;

		begin();
		for (unsigned i = 0; i < 3000; i++)
			one(11, NR_READ, k ? 4096 : 1, US, US);
		f = find(11);
		assert_int_equal(f.n, !k);
		if (k)
			continue;
		assert_int_equal(f.v[0].kind, TY_FINDING_SMALL_IO);
		assert_string_equal(
			f.v[0].text,
			"t11/11 made 3,000 calls of read on fd 5, 1 byte in 1.00 us on average");
	}
}

static void storms(void **state)
{
	struct ty_findings f;

	(void)state;
	begin();
	for (unsigned i = 0; i < 6000; i++)
		one(11, NR_GETPPID, 1, US, 2 * US);
	f = find(11);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.v[0].kind, TY_FINDING_STORM);
	assert_string_equal(f.v[0].text, "t11/11 made 6,001 calls of getppid, 1.00 us on average");
	begin();
	for (unsigned i = 0; i < 30; i++)
		one(11, NR_FSYNC, 0, MS, MS);
	f = find(11);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.v[0].kind, TY_FINDING_STORM);
	assert_string_equal(f.v[0].text,
			    "t11/11 made 30 calls of fsync on fd 5, 1.00 ms on average");
	/* One long one, which is a stall, among short ones. */
	begin();
	for (unsigned i = 0; i < 60; i++)
		one(11, NR_FSYNC, 0, i == 30 ? 600 * MS : MS, 10 * MS);
	assert_int_equal(find(11).n, 0);
	/* Every second one is of another file. */
	begin();
	for (unsigned i = 0; i < 256; i++)
		one(11, NR_FSYNC, 0, MS, 2 * MS);
	f = find(11);
	assert_int_equal(f.n, 1);
	assert_non_null(
		strstr(f.v[0].text, " (about half of them) and others, 1.00 ms on average"));
	/* What a program does that works. */
	begin();
	for (unsigned i = 0; i < 3000; i++) {
		one(11, NR_OPENAT, 5, US, 20 * US);
		one(11, NR_READ, 500, US, 50 * US);
		one(11, NR_CLOSE, 0, US, US);
	}
	assert_int_equal(find(11).n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_that_fail),
		cmocka_unit_test(tiny_reads),
		cmocka_unit_test(storms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
