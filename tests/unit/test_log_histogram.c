/* SPDX-License-Identifier: MIT */
/* Bars of a histogram on a logarithmic scale: each value has one, and they follow each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "log_histogram.h"

static void bars_follow_each_other(void **state)
{
	uint64_t at = 0, width;

	for (unsigned bar = 0; bar < TY_BARS; bar++) {
		assert_true(ty_bar_begin(bar, &width) == at);
		assert_int_equal(ty_bar_of(at), bar);
		assert_int_equal(ty_bar_of(at + width - 1), bar);
		/* Small ones are exact; a bar is at most a 32nd of what it stands for. */
		assert_true(bar >= 64 ? width * 32 <= at : width == 1);
		at += width;
	}
	assert_true(at == 0); /* 2 to the 64th */
	assert_int_equal(ty_bar_of(UINT64_MAX), TY_BARS - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bars_follow_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
