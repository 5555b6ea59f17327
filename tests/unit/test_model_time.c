/* SPDX-License-Identifier: MIT */
/* Times of a recording as text in each clock, cut to the wanted resolution. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "fixture_model.h"
#include "model_time.h"

#define S_NS UINT64_C(1000000000)

/* 100 s to 120 s of the trace clock; at 100 s it is 2024-05-06T12:53:20Z. */
static const struct ty_model *recording(bool marker)
{
	struct ty_event ev = {.ts_ns = 100 * S_NS, .kind = TY_EV_PRINT, .tid = 5};

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_event(0, 100 * S_NS, 5, TY_EV_OTHER);
	ev.u.print.text = "tarry_clock realtime_ns=1715000000000000000 monotonic_ns=1 "
			  "boottime_ns=2 tsc=3";
	if (marker)
		ty_mx_feed(ev);
	ty_mx_event(0, 120 * S_NS, 5, TY_EV_OTHER);
	return ty_mx_end();
}

static void each_clock(void **state)
{
	const struct ty_model *m = recording(true);
	const uint64_t t = 103 * S_NS + 214567890;
	char out[TY_TIME_MAX];

	assert_string_equal(ty_time_text(m, TY_CLOCK_START, t, 1000000, out), "3.214 s");
	assert_string_equal(ty_time_digits(m, TY_CLOCK_START, t, 1000000, out), "3.214");
	assert_string_equal(ty_time_text(m, TY_CLOCK_TRACE, t, 1000, out), "103.214567 s");
	assert_string_equal(ty_time_text(m, TY_CLOCK_WALL, t, 1000000, out), "12:53:23.214");
	assert_string_equal(ty_time_text(m, TY_CLOCK_START, t, S_NS, out), "3 s");
	ty_mx_drop();
}

static void before_the_start(void **state)
{
	const struct ty_model *m = recording(true);
	char out[TY_TIME_MAX];

	assert_string_equal(ty_time_text(m, TY_CLOCK_START, 99 * S_NS, S_NS, out), "0 s");
	ty_mx_drop();
}

/* A file without clock markers has no wall clock: seconds from the start, no invented time. */
static void no_wall_clock(void **state)
{
	const struct ty_model *m = recording(false);
	char out[TY_TIME_MAX];

	assert_string_equal(ty_time_digits(m, TY_CLOCK_WALL, 103 * S_NS, S_NS, out), "3");
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_clock),
		cmocka_unit_test(before_the_start),
		cmocka_unit_test(no_wall_clock),
	};

	setenv("TZ", "UTC0", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
