/* SPDX-License-Identifier: MIT */
/* What the answer shows sums to the total that is shown. */
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

/* What is shown sums to the total that is shown: to the last digit, of any values. */
static void shown_sums(void **state)
{
	uint64_t seed = 88172645463325252u;

	(void)state;
	for (unsigned k = 0; k < 20000; k++) {
		uint64_t ns[7], total = 0, sum = 0;
		char text[8][TY_ANSWER_FIXED];
		unsigned n = 1 + k % 7;
		double shown, step;

		for (unsigned i = 0; i < n; i++) {
			seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
			ns[i] = seed >> (22 + seed % 40);
			total += ns[i];
		}
		ty_answer_fixed(ns, n, total, text);
		for (unsigned i = 0; i <= n; i++) {
			const char *unit = strchr(text[i], ' ');
			uint64_t v = 0;

			assert_non_null(unit);
			assert_string_equal(unit, strchr(text[n], ' '));
			for (const char *c = text[i]; c < unit; c++)
				v = *c == '.' ? v : v * 10 + (uint64_t)(*c - '0');
			if (i < n)
				sum += v;
			else
				assert_int_equal(sum, v);
		}
		/* None is off by a step. */
		for (unsigned i = 0; i < n; i++) {
			const char *dot = strchr(text[i], '.'), *unit = strchr(text[i], ' ');

			step = !strcmp(unit, " s")    ? 1e9
			       : !strcmp(unit, " ms") ? 1e6
			       : !strcmp(unit, " us") ? 1e3
						      : 1;
			shown = strtod(text[i], NULL) * step;
			for (const char *c = dot ? dot + 1 : unit; c < unit; c++)
				step /= 10;
			assert_true(shown - (double)ns[i] < 1.001 * step &&
				    (double)ns[i] - shown < 1.001 * step);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shown_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
