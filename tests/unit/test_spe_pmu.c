/* SPDX-License-Identifier: MIT */
/* Arm SPE events are configured as the PMU's folder says, and what it cannot is refused: on folders
 * of our own making, of a machine with two kinds of cores. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spe_pmu.h"

static char root[] = "/tmp/tarry-spe-XXXXXX";

static void put(const char *path, const char *text)
{
	char full[300];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	if (!text) {
		assert_int_equal(mkdir(full, 0755), 0);
		return;
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fprintf(f, "%s\n", text);
	fclose(f);
}

static int make(void **state)
{
	static const char *const files[][2] = {
		{"arm_spe_1", NULL},
		{"arm_spe_1/type", "11"},
		{"arm_spe_1/cpumask", "2,4-5"},
		{"arm_spe_0", NULL},
		{"arm_spe_0/type", "9"},
		{"arm_spe_0/cpumask", "0-1,3"},
		{"arm_spe_0/caps", NULL},
		{"arm_spe_0/caps/min_interval", "1024"},
		{"arm_spe_0/caps/event_filter", "0xfff"},
		{"arm_spe_0/format", NULL},
		/* Not where the driver of today has them. */
		{"arm_spe_0/format/ts_enable", "config:5"},
		{"arm_spe_0/format/jitter", "config:20"},
		{"arm_spe_0/format/pa_enable", "config:40"},
		{"arm_spe_0/format/load_filter", "config1:1"},
		{"arm_spe_0/format/store_filter", "config1:63"},
		{"arm_spe_0/format/event_filter", "config2:0-63"},
		{"arm_spe_0/format/min_latency", "config:48-59"},
		{"arm_spe_0/format/branch_filter", "config:3,7-9"},
		{"arm_spe_0_no_type", NULL},
		{"arm_pmu", NULL},
	};

	assert_non_null(mkdtemp(root));
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		put(files[i][0], files[i][1]);
	return 0;
}

static int remove_all(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static struct ty_spe_pmu first(void)
{
	struct ty_spe_pmu p[TY_SPE_PMUS_MAX];

	assert_int_equal(ty_spe_pmus(root, p, TY_SPE_PMUS_MAX), 2);
	return p[0];
}

static void pmus_and_their_cpus(void **state)
{
	struct ty_spe_pmu p[TY_SPE_PMUS_MAX];

	assert_int_equal(ty_spe_pmus(root, p, 1), 1);
	assert_int_equal(ty_spe_pmus(root, p, TY_SPE_PMUS_MAX), 2);
	assert_string_equal(p[0].name, "arm_spe_0");
	assert_int_equal(p[0].type, 9);
	assert_int_equal(p[0].min_interval, 1024);
	assert_int_equal(p[0].event_filter, 0xfff);
	assert_string_equal(p[1].name, "arm_spe_1");
	assert_int_equal(p[1].min_interval, 0);
	for (unsigned cpu = 0; cpu < 8; cpu++) {
		assert_int_equal(ty_spe_has_cpu(&p[0], cpu), cpu == 0 || cpu == 1 || cpu == 3);
		assert_int_equal(ty_spe_has_cpu(&p[1], cpu), cpu == 2 || cpu == 4 || cpu == 5);
	}
	assert_int_equal(ty_spe_pmus("/nowhere", p, TY_SPE_PMUS_MAX), 0);
}

static void periods(void **state)
{
	struct ty_spe_pmu p = {.min_interval = 1024};

	assert_int_equal(ty_spe_period(&p, 0), 4096);
	assert_int_equal(ty_spe_period(&p, 1), 1024);
	assert_int_equal(ty_spe_period(&p, 5000), 4864);
	assert_int_equal(ty_spe_period(&p, 4096), 4096);
	assert_int_equal(ty_spe_period(&p, UINT64_MAX), 0xffffff00);
	p.min_interval = 0;
	assert_int_equal(ty_spe_period(&p, 1), 256);
	p.min_interval = 8192;
	assert_int_equal(ty_spe_period(&p, 0), 8192);
}

static void fields_lie_where_the_format_says(void **state)
{
	struct ty_spe_pmu p = first();
	struct ty_spe_opts o = {.ops = TY_SPE_LOAD | TY_SPE_STORE,
				.min_latency = 4095,
				.events = 0x22,
				.period = 5000,
				.phys = true};
	struct perf_event_attr a = {0};
	struct ty_err err = {0};

	assert_int_equal(ty_spe_config(&p, &o, &a, &err), 0);
	assert_int_equal(a.type, 9);
	assert_int_equal(a.sample_period, 4864);
	assert_true(a.config == (1ull << 5 | 1ull << 20 | 1ull << 40 | 4095ull << 48));
	assert_true(a.config1 == (1ull << 1 | 1ull << 63));
	assert_true(a.config2 == 0x22);
}

static void refused(struct ty_spe_opts o, int code, const char *word)
{
	struct ty_spe_pmu p = first();
	struct perf_event_attr a = {0};
	struct ty_err err = {0};

	assert_int_equal(ty_spe_config(&p, &o, &a, &err), code);
	assert_non_null(strstr(err.msg, word));
}

static void what_the_pmu_cannot(void **state)
{
	struct ty_spe_pmu p[TY_SPE_PMUS_MAX];
	struct perf_event_attr a = {0};
	struct ty_err err = {0};

	refused((struct ty_spe_opts){.min_latency = 4096}, -TY_EUSAGE, "4095");
	refused((struct ty_spe_opts){.events_not = 2}, -TY_EUNSUPPORTED, "inv_event_filter");
	refused((struct ty_spe_opts){.events = 0x1000}, -TY_EUNSUPPORTED, "0xfff");
	/* A field in pieces. */
	refused((struct ty_spe_opts){.ops = TY_SPE_BRANCH}, -TY_EUNSUPPORTED, "3,7-9");
	/* A PMU without formats. */
	assert_int_equal(ty_spe_pmus(root, p, TY_SPE_PMUS_MAX), 2);
	assert_int_equal(ty_spe_config(&p[1], &(struct ty_spe_opts){0}, &a, &err),
			 -TY_EUNSUPPORTED);
	assert_non_null(strstr(err.msg, "ts_enable"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pmus_and_their_cpus),
		cmocka_unit_test(periods),
		cmocka_unit_test(fields_lie_where_the_format_says),
		cmocka_unit_test(what_the_pmu_cannot),
	};

	return cmocka_run_group_tests(tests, make, remove_all);
}
