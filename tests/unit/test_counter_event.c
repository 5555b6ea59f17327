/* SPDX-License-Identifier: MIT */
/* Names of events of performance counters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "counter_event.h"

static char root[64];

static void file(const char *path, const char *text)
{
	char p[256];
	FILE *f;

	snprintf(p, sizeof(p), "%s/%s", root, path);
	for (char *s = p + strlen(root) + 1; (s = strchr(s, '/')); *s++ = '/') {
		*s = 0;
		mkdir(p, 0700);
	}
	f = fopen(p, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int setup(void **state)
{
	(void)state;
	strcpy(root, "/tmp/tarry-counter-XXXXXX");
	assert_non_null(mkdtemp(root));
	file("cpu/type", "4\n");
	file("cpu/format/event", "config:0-7,32-35\n");
	file("cpu/format/umask", "config:8-15\n");
	file("cpu/format/edge", "config:18\n");
	file("cpu/format/ldlat", "config1:0-15\n");
	file("cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
	file("cpu/events/loop", "loop\n");
	file("package/type", "21\n");
	file("package/cpumask", "0,4000\n");
	file("package/format/event", "config:0-7\n");
	file("each/type", "22\n");
	file("each/cpumask", "0-4000\n");
	file("each/format/event", "config:0-7\n");
	file("events/sched/sched_switch/id", "316\n");
	return 0;
}

static int teardown(void **state)
{
	char c[128];

	(void)state;
	snprintf(c, sizeof(c), "rm -rf '%s'", root);
	return system(c);
}

static int parse(const char *name, struct ty_counter_event *e)
{
	struct ty_err err = {0};
	const int r = ty_counter_event(name, strlen(name), root, root, e, &err);

	assert_true(!r == !*err.msg);
	if (r)
		assert_non_null(strstr(err.msg, "--counter"));
	return r;
}

static void good(const char *name, unsigned type, unsigned long long config)
{
	struct ty_counter_event e;

	if (parse(name, &e) || e.attr.type != type || e.attr.config != config)
		fail_msg("%s: %u %llx", name, e.attr.type, (unsigned long long)e.attr.config);
	assert_string_equal(e.name, name);
}

static void test_names(void **state)
{
	struct ty_counter_event e;

	(void)state;
	/* As `perf stat -vv` opens them. */
	good("page-faults", PERF_TYPE_SOFTWARE, 2);
	good("cs", PERF_TYPE_SOFTWARE, 3);
	good("cpu-migrations", PERF_TYPE_SOFTWARE, 4);
	good("minor-faults:u", PERF_TYPE_SOFTWARE, 5);
	good("cycles", PERF_TYPE_HARDWARE, 0);
	good("instructions:u", PERF_TYPE_HARDWARE, 1);
	good("branch-misses", PERF_TYPE_HARDWARE, 5);
	good("L1-dcache-loads", PERF_TYPE_HW_CACHE, 0);
	good("L1-dcache-load-misses", PERF_TYPE_HW_CACHE, 0x10000);
	good("LLC-store-misses", PERF_TYPE_HW_CACHE, 0x10102);
	good("dTLB-load-misses", PERF_TYPE_HW_CACHE, 0x10003);
	good("branch-loads", PERF_TYPE_HW_CACHE, 5);
	good("r1a8", PERF_TYPE_RAW, 0x1a8);
	good("cpu/event=0x3c,umask=0x2/", 4, 0x23c);
	good("cpu/event=0xf3c/", 4, 0xf0000003cull);
	good("cpu/event=0x3c,edge/u", 4, 0x4003c);
	good("cpu/mem-loads/", 4, 0x1cd);
	good("cpu/config=0x77/", 4, 0x77);
	good("each/event=1/", 22, 1);
	good("sched:sched_switch", PERF_TYPE_TRACEPOINT, 316);
	assert_int_equal(parse("cpu/mem-loads,ldlat=0/:u", &e), 0);
	assert_int_equal(e.attr.config1, 3);
	assert_true(e.attr.exclude_kernel && !e.attr.exclude_user);
	assert_int_equal(parse("sched:sched_switch:k", &e), 0);
	assert_true(!e.attr.exclude_kernel && e.attr.exclude_user);
	assert_int_equal(parse("task-clock", &e), 0);
	assert_true(e.is_time);
	assert_int_equal(parse("page-faults", &e), 0);
	assert_false(e.is_time);
}

/* Counters of a package belong to no thread. (On a machine of one CPU, they do.) */
static void test_shared(void **state)
{
	struct ty_counter_event e;

	(void)state;
	assert_int_equal(parse("package/event=1/", &e),
			 sysconf(_SC_NPROCESSORS_ONLN) > 1 ? -TY_EUNSUPPORTED : 0);
}

static void test_wrong_names(void **state)
{
	static const char *const wrong[] = {"",
					    "foo",
					    "cycles:x",
					    "cpu/event=0x3c",
					    "cpu/event=0x1ffff/",
					    "cpu/edge=2/",
					    "cpu/event=abc/",
					    "cpu/nothing/",
					    "cpu/nothing=1/",
					    "cpu/loop/",
					    "cpu/../x/",
					    "gpu/event=1/",
					    "../event=1/",
					    "sched:nothing",
					    "sched:../../x",
					    "L1-dcache-foo",
					    "L1-dcache",
					    "page faults",
					    "\x1b[2J",
					    "r",
					    "r123456789abcdef01"};
	struct ty_counter_event e;
	char big[TY_COUNTER_NAME + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (!parse(wrong[i], &e))
			fail_msg("%s is taken", wrong[i]);
	memset(big, 'a', sizeof(big) - 1);
	big[sizeof(big) - 1] = 0;
	assert_int_not_equal(parse(big, &e), 0);
}

static void test_lists(void **state)
{
	(void)state;
	assert_int_equal(ty_counter_name_length("a,b"), 1);
	assert_int_equal(ty_counter_name_length("cpu/event=1,umask=2/u,b"), 21);
	assert_int_equal(ty_counter_name_length("cpu/event=1,umask"), 17);
	assert_int_equal(ty_counter_name_length(""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names), cmocka_unit_test(test_shared),
		cmocka_unit_test(test_wrong_names), cmocka_unit_test(test_lists)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
