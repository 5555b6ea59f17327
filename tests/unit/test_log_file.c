/* SPDX-License-Identifier: MIT */
/* Log lines on the time axis of a recording. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture_model.h"
#include "log_file.h"

#define S_NS UINT64_C(1000000000)
#define T0   (1715000000 * S_NS) /* 2024-05-06T12:53:20Z */

static void marker(uint64_t ts, uint64_t real, uint64_t mono)
{
	struct ty_event ev = {.ts_ns = ts, .kind = TY_EV_PRINT, .tid = 5};
	char text[160];

	snprintf(text, sizeof(text),
		 "tarry_clock realtime_ns=%llu monotonic_ns=%llu boottime_ns=2 tsc=3",
		 (unsigned long long)real, (unsigned long long)mono);
	ev.u.print.text = text;
	ty_mx_feed(ev);
}

/* Trace time 100 s .. 120 s; wall T0 at 100 s and 1 s ahead at 110 s; monotonic 50 s before. */
static const struct ty_model *recording(void)
{
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_event(0, 100 * S_NS, 5, TY_EV_OTHER);
	marker(100 * S_NS, T0, 50 * S_NS);
	marker(110 * S_NS, T0 + 11 * S_NS, 60 * S_NS);
	ty_mx_event(0, 120 * S_NS, 5, TY_EV_OTHER);
	return ty_mx_end();
}

static void on_the_axis(void **state)
{
	static const char text[] = "no time yet\n"
				   "2024-05-06T12:53:19Z before\n"
				   "\tof it\n"
				   "2024-05-06T12:53:33Z late\r\n"
				   "[   52.500000] kernel \x1b[31m\n"
				   "2024-05-06T12:53:31Z first\n"
				   "  second line\n"
				   "\n"
				   "2024-05-06T13:53:31Z after\n"
				   "of that\n"
				   "1715000000.0 last, without an end";
	const struct ty_model *m = recording();
	struct ty_log l = {0};
	uint64_t ts;

	assert_true(ty_log_trace_time(m, TY_LOG_REALTIME, T0 + 5500 * UINT64_C(1000000), &ts));
	assert_int_equal(ts, 105 * S_NS);
	assert_int_equal(ty_log_add(&l, m, text, strlen(text), 3), 0);
	ty_log_sort(&l);
	assert_int_equal(l.line.n, 4);
	assert_int_equal(l.outside, 2);
	assert_int_equal(l.untimed, 1);
	assert_int_equal(l.line.v[0].ts_ns, 100 * S_NS);
	assert_int_equal(l.line.v[0].number, 11);
	assert_int_equal(l.line.v[0].file, 3);
	assert_int_equal(l.line.v[1].ts_ns, 102500000000);
	assert_string_equal(l.line.v[1].text, "[   52.500000] kernel ?[31m");
	assert_int_equal(l.line.v[2].ts_ns, 110 * S_NS);
	assert_string_equal(l.line.v[2].text, "2024-05-06T12:53:31Z first\n  second line\n");
	assert_int_equal(l.line.v[3].ts_ns, 112 * S_NS);
	assert_string_equal(l.line.v[3].text, "2024-05-06T12:53:33Z late");
	assert_int_equal(ty_log_after(&l, 0), 0);
	assert_int_equal(ty_log_after(&l, 110 * S_NS), 2);
	assert_int_equal(ty_log_after(&l, 110 * S_NS + 1), 3);
	assert_int_equal(ty_log_after(&l, UINT64_MAX), 4);
	ty_log_fini(&l);
	ty_mx_drop();
}

/* A clock that is set back. */
static void set_back(void **state)
{
	const struct ty_model *m;
	uint64_t ts;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_event(0, 100 * S_NS, 5, TY_EV_OTHER);
	marker(100 * S_NS, T0, 1);
	marker(110 * S_NS, T0 - 5 * S_NS, 2);
	marker(120 * S_NS, T0 + 5 * S_NS, 3);
	m = ty_mx_end();
	assert_true(ty_log_trace_time(m, TY_LOG_REALTIME, T0 - 1 * S_NS, &ts));
	assert_int_equal(ts, 114 * S_NS);
	ty_mx_drop();
}

static void limits(void **state)
{
	const struct ty_model *m = recording();
	size_t n = 30u << 20;
	char *p = malloc(n);
	struct ty_log l = {0};

	assert_non_null(p);
	/* One line without end. */
	memset(p, 'x', n);
	memcpy(p, "1715000001 ", 11);
	assert_int_equal(ty_log_add(&l, m, p, n, 0), 0);
	assert_int_equal(l.line.n, 1);
	assert_int_equal(strlen(l.line.v[0].text), TY_LOG_LINE);
	assert_int_equal(l.cut, 1);
	ty_log_fini(&l);
	/* Too many lines, and too many behind one. */
	l = (struct ty_log){0};
	for (size_t i = 0; i + 11 <= n; i += 11)
		memcpy(p + i, "1715000001\n", 11);
	assert_int_equal(ty_log_add(&l, m, p, n / 8, 0), 0);
	assert_int_equal(l.line.n, TY_LOG_LINES);
	assert_true(l.full);
	ty_log_fini(&l);
	l = (struct ty_log){0};
	memset(p + 11, '\n', n - 11);
	assert_int_equal(ty_log_add(&l, m, p, n, 0), 0);
	assert_int_equal(l.line.n, 1);
	assert_true(l.bytes < 5000 && l.cut);
	ty_log_fini(&l);
	free(p);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(on_the_axis),
		cmocka_unit_test(set_back),
		cmocka_unit_test(limits),
	};

	setenv("TZ", "UTC0", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
