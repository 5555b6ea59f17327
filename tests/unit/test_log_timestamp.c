/* SPDX-License-Identifier: MIT */
/* Time stamps in log lines, and times that users type. */
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

#include "log_timestamp.h"

#define S_NS UINT64_C(1000000000)
#define T0   (1715000000 * S_NS) /* 2024-05-06T12:53:20Z */

static struct ty_log_stamp stamp(const char *line)
{
	struct ty_log_stamp s;

	if (!ty_log_stamp(line, strlen(line), T0, &s))
		s = (struct ty_log_stamp){.clock = TY_LOG_NONE};
	return s;
}

static void zoned(void **state)
{
	static const struct {
		const char *line;
		uint64_t ns;
	} t[] = {
		{"2024-05-06T12:53:20Z hello", T0},
		{"2024-05-06T12:53:20.5Z", T0 + 500000000},
		{"2024-05-06T12:53:20,123456789Z", T0 + 123456789},
		{"2024-05-06T12:53:20.1234567899Z", T0 + 123456789},
		{"2024-05-06T14:53:20+02:00 x", T0},
		{"2024-05-06T14:53:20+0200 x", T0},
		{"2024-05-06T02:53:20-10 x", T0},
		{"2024-05-06 12:53:20.25 UTC [77] LOG:  ready", T0 + 250000000},
		{"2024/05/06 12:53:20 GMT nginx", T0},
		{"2024-05-06 18:23:20 +0530 x", T0},
		{"I [2024-05-06T12:53:20Z] x", T0},
		{"{\"time\":1,\"t\":\"2024-05-06T12:53:20Z\"}", T0},
		{"ts=2024-05-06T12:53:20Z level=info", T0},
		{"10.0.0.1 - - [06/May/2024:12:53:20 +0000] \"GET / HTTP/1.1\" 200", T0},
		{"::1 - bob [06/May/2024:14:53:20 +0200] \"GET /\"", T0},
		{"Date: Mon, 06 May 2024 12:53:20 GMT", T0},
		{"6 May 2024 12:53:20.5 UTC x", T0 + 500000000},
		{"app.log:2024-05-06T12:53:20Z of grep", T0},
		{"{\"level\":\"info\",\"ts\":1715000000.25,\"msg\":\"x\"}", T0 + 250000000},
		{"{\"level\":30,\"time\":1715000000123,\"pid\":1}", T0 + 123000000},
		{"{\"timestamp\": 1715000000}", T0},
		{"level=info ts=1715000000.5 msg=x", T0 + 500000000},
		{"ts=1715000000 msg=x", T0},
		{"1715000000 x", T0},
		{"1715000000.000001 x", T0 + 1000},
		{"1715000000123 x", T0 + 123000000},
		{"1715000000123456: x", T0 + 123456000},
		{"1715000000123456789", T0 + 123456789},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct ty_log_stamp s = stamp(t[i].line);

		if (s.clock != TY_LOG_REALTIME || s.ns != t[i].ns || s.local || s.doubtful)
			fail_msg("%s: clock %u, %llu", t[i].line, s.clock,
				 (unsigned long long)s.ns);
	}
}

static void none(void **state)
{
	static const char *const t[] = {
		"",
		"hello",
		"\tat java.lang.Thread.run(Thread.java:748)",
		"2024-13-06T12:53:20Z",
		"2023-02-29T12:53:20Z",
		"2024-05-06T24:53:20Z",
		"2024-05-06",
		"12024-05-06T12:53:20Z",
		"17150000001 x",
		"12 x",
		"1715000000abc",
		"[12345] no fraction",
		"[12345.6 no end",
		"May 32 12:53:20 x",
		"32/May/2024:12:53:20 +0000",
		"06/Mai/2024:12:53:20 +0000",
		"06/May/2024 12:53:20",
		"06 May 12:53:20",
		"I1306 12:53:20.5 x",
		"I0506 12:53:20 x",
		"X0506 12:53:20.5 x",
		" I0506 12:53:20.5 x",
		"size=1715000000 x",
		"{\"bytes\":1715000000}",
		"{\"ts\":12}",
		"{\"uts\":1715000000}",
		"uts=1715000000",
		"Mayor 6 12:53:20",
		("123456789012345678901234567890123456789012345678901234567890123 "
		 "2024-05-06T12:53:20Z"),
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++)
		if (stamp(t[i]).clock != TY_LOG_NONE)
			fail_msg("a time in: %s", t[i]);
	/* Never a byte behind the end. */
	for (size_t n = 0; n < 20; n++) {
		struct ty_log_stamp s;
		char *p = malloc(n ? n : 1);

		assert_non_null(p);
		memcpy(p, "2024-05-06T12:53:20Z", n);
		ty_log_stamp(p, n, T0, &s);
		free(p);
	}
}

static void without_zone(void **state)
{
	struct ty_log_stamp s;

	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	s = stamp("2024-05-06 14:53:20 x");
	assert_true(s.local && !s.doubtful);
	assert_int_equal(s.ns, T0);
	s = stamp("May  6 14:53:20 host prog[1]: x");
	assert_int_equal(s.format, TY_LOG_SYSLOG);
	assert_true(s.local && !s.doubtful);
	assert_int_equal(s.ns, T0);
	s = stamp("I0506 14:53:20.500000 4242 main.cc:7] x");
	assert_true(s.local && s.format == TY_LOG_GLOG && s.first);
	assert_int_equal(s.ns, T0 + S_NS / 2);
	s = stamp("4242:M 06 May 2024 14:53:20.250 * Ready");
	assert_true(s.local && s.format == TY_LOG_DAY_FIRST);
	assert_int_equal(s.ns, T0 + S_NS / 4);
	s = stamp("[Mon May 06 14:53:20.250000 2024] [core:notice] x");
	assert_int_equal(s.ns, T0 + S_NS / 4);
	/* The year is the nearest: at new year the other one. */
	assert_true(ty_log_stamp("Dec 31 23:59:59 x", 17, 1704067300 * S_NS, &s));
	assert_int_equal(s.ns, (1704067200 - 3600 - 1) * S_NS);
	assert_true(ty_log_stamp("Jan  1 00:00:01 x", 17, 1704060000 * S_NS, &s));
	assert_int_equal(s.ns, (1704067200 - 3600 + 1) * S_NS);
	/* 02:30 is there twice on 2024-10-27, and not at all on 2024-03-31. */
	assert_true(stamp("2024-10-27 02:30:00 x").doubtful);
	s = stamp("2024-10-27 02:30:00 CET x");
	assert_false(s.doubtful);
	assert_int_equal(s.ns, 1729992600 * S_NS);
	s = stamp("2024-10-27 02:30:00 CEST x");
	assert_false(s.doubtful);
	assert_int_equal(s.ns, 1729989000 * S_NS);
	assert_true(stamp("2024-03-31 02:30:00 x").doubtful);
	setenv("TZ", "UTC0", 1);
	tzset();
}

/* Times as a user types or pastes them, of a recording of a minute that began at T0. */
static void typed(void **state)
{
	static const struct {
		const char *text;
		int64_t s;
	} good[] = {
		{"12:53:25", 5},
		{"2024-05-06T12:53:25Z", 5},
		{"2024-05-06 14:53:25+02:00", 5},
		{"2024-05-06 12:53:25", 5},
		{"06/May/2024:12:53:25 +0000", 5},
		{"May  6 12:53:25", 5},
		{"1715000005", 5},
		{"1715000005000", 5},
		{"2024-05-06T12:53:19Z", -1},
		{"12:53", -20},
		{"2020-01-01T00:00:00Z", 1577836800 - (int64_t)(T0 / S_NS)},
		{"2024-05-07T12:53:20Z", 86400},
	};
	static const char *const bad[] = {
		"",	  "2024-05-06T12:53:25Z x",  "x 2024-05-06T12:53:25Z", "2024-05-06",
		"[50.5]", "2024-05-06 12:53:25 CEST"};
	uint64_t d;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		if (ty_wall_time(good[i].text, T0, 60 * S_NS, &d) ||
		    (int64_t)(d - T0) != good[i].s * (int64_t)S_NS)
			fail_msg("%s", good[i].text);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (ty_wall_time(bad[i], T0, 60 * S_NS, &d) >= 0)
			fail_msg("taken: %s", bad[i]);
	assert_int_equal(ty_wall_time("00:00:03", T0, 86400 * S_NS, &d), 0);
	assert_int_equal(d - T0, (86400 - 12 * 3600 - 53 * 60 - 17) * S_NS);
	/* The hour that is there twice, and the one that is left out: 27 October, 31 March 2024. */
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	assert_int_equal(ty_wall_time("2024-10-27 02:30:00", T0, 60 * S_NS, &d), 1);
	assert_int_equal(ty_wall_time("2024-03-31 02:30:00", T0, 60 * S_NS, &d), 1);
	assert_int_equal(ty_wall_time("02:30", UINT64_C(1729980000) * S_NS, 3600 * S_NS, &d), 1);
	assert_int_equal(ty_wall_time("2024-10-27 02:30:00+02:00", T0, 60 * S_NS, &d), 0);
	setenv("TZ", "UTC0", 1);
	tzset();
	assert_true(ty_wall_time_like("1715000000.5"));
	assert_false(ty_wall_time_like("12000000000ns"));
	assert_false(ty_wall_time_like("99.5"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zoned),
		cmocka_unit_test(none),
		cmocka_unit_test(without_zone),
		cmocka_unit_test(typed),
	};

	setenv("TZ", "UTC0", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
