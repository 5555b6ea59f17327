/* SPDX-License-Identifier: MIT */
/* Statistics of regions and counters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_model.h"
#include "fixture_regions.h"
#include "region_stats.h"
#include "report.h"
#include "session.h"

/* What the thread's counters grew by in regions: whole readings are exact, divided ones estimates.
 */
#define THREAD(tid) tid "\t5\t1\t5\tR\t0\t0\t0\t-\t-\t-\t-\tprog\n"
static void counters(void **state)
{
	struct ty_region_report r;
	struct ty_explain x = {0};
	struct ty_window w = {.to_ns = UINT64_MAX};
	struct ty_counts *c = ty_counts_new();

	ty_mx_begin("mode=all\n", "taken 1 2\n" THREAD("5") THREAD("6"));
	ty_mx_switch(0, 100, 0, R, 5);
	at(1000, 5, TY_REG_BEGIN, "whole", 0);
	at(1200, 5, TY_REG_END, "", 0);
	at(1250, 5, TY_REG_BEGIN, "part", 0);
	at(1300, 5, TY_REG_END, "", 0);
	at(1300, 5, TY_REG_ASYNC_BEGIN, "other", 9);
	at(1400, 5, TY_REG_ASYNC_END, "other", 9);
	at(1400, 5, TY_REG_ASYNC_BEGIN, "handed on", 9);
	at(1500, 6, TY_REG_ASYNC_END, "handed on", 9);
	x.m = ty_mx_end();
	c->n = c->groups = 1;
	for (uint64_t from = 1000; from < 1600; from += 100)
		assert_true(ty_counts_add(c, (struct ty_count_reading){from, from + 100, 5, 0},
					  (uint64_t[]){from, 100, 100}));
	assert_true(ty_counts_add(c, (struct ty_count_reading){1000, 1600, 6, 0},
				  (uint64_t[]){1 << 20, 600, 600}));
	assert_int_equal(ty_counts_finish(c), 0);
	x.counts = c;
	assert_int_equal(ty_region_report_find(&x, &w, NULL, &r), 0);
	assert_int_equal(r.n, 4);
	for (uint32_t i = 0; i < r.n; i++) {
		const char *name = ty_model_str(x.m, r.v[i].name);
		const bool whole = !strcmp(name, "whole"), part = !strcmp(name, "part"),
			   handed_on = !strcmp(name, "handed on");

		assert_int_equal(r.v[i].counts.v[0], whole	 ? 2100
						     : part	 ? 600
						     : handed_on ? 0
								 : 1300);
		assert_int_equal(r.v[i].counts.readings, whole ? 2 : !handed_on);
		assert_int_equal(r.v[i].elsewhere, handed_on);
		assert_int_equal(r.v[i].counts.cut, part);
	}
	ty_region_report_fini(&r);
	ty_counts_free(c);
	ty_mx_drop();
}

/* The report of "work" (1..200 ns, each once) says how many are of each power of two. */
static void histogram(const struct ty_explain *x, const struct ty_region_report *found)
{
	static const uint64_t want[] = {0, 1, 2, 4, 8, 16, 32, 64, 73};
	struct ty_session s = {.model = (struct ty_model *)x->m};
	struct ty_report r = {.s = &s, .regions = *found};
	struct ty_json j = {0};
	char *text = NULL, line[120];
	size_t n = 0;
	FILE *f;

	for (unsigned k = 0; k < TY_REGION_POWERS; k++)
		assert_int_equal(found->lengths[0].count[k], k < 9 ? want[k] : 0);
	f = open_memstream(&text, &n);
	ty_regions_text(&r, f);
	fclose(f);
	for (unsigned k = 1; k < 9; k++) {
		unsigned bar = (unsigned)(want[k] * 40 + 72) / 73;

		snprintf(line, sizeof(line), "\n%8u ns %8u ns %9u  %.*s\n", 1u << (k - 1), 1u << k,
			 (unsigned)want[k], (int)bar, "########################################");
		assert_non_null(strstr(text, line));
	}
	assert_null(strstr(text, "256 ns      512 ns"));
	free(text);
	text = NULL;
	f = open_memstream(&text, &n);
	ty_json_init(&j, f);
	ty_json_object(&j, NULL);
	ty_regions_json(&r, &j);
	ty_json_end_object(&j);
	ty_json_fini(&j);
	fclose(f);
	assert_non_null(strstr(text, "\"lengths\":[{\"from_ns\":1,\"below_ns\":2,\"count\":1},"));
	assert_non_null(strstr(text, "{\"from_ns\":128,\"below_ns\":256,\"count\":73}]"));
	free(text);
}

static uint64_t length_of(const struct ty_model *m, uint32_t region)
{
	const struct ty_region r = ty_model_region(m, region);

	return r.end_ns - r.start_ns;
}

/* 200 regions of 1..200 ns, and one that does not end: percentiles by nearest rank. */
static void statistics(void **state)
{
	struct ty_region_slowest slow;
	struct ty_region_report r;
	struct ty_explain x = {0};
	struct ty_window w = {.to_ns = UINT64_MAX};
	uint64_t ts = 1000;

	start();
	for (unsigned i = 1; i <= 200; i++) {
		unsigned length = i * 77 % 201; /* each length once */

		at(ts, 5, TY_REG_BEGIN, "work", 0);
		at(ts + length, 5, TY_REG_END, "", 0);
		ts += 500;
	}
	at(ts, 5, TY_REG_BEGIN, "work", 0);
	at(ts + 1, 6, TY_REG_COUNTER, "q", 3);
	at(ts + 2, 6, TY_REG_COUNTER, "q", -4);
	x.m = ty_mx_end();
	assert_int_equal(ty_region_report_find(&x, &w, NULL, &r), 0);
	assert_int_equal(r.n, 2);
	assert_string_equal(ty_model_str(x.m, r.v[0].name), "work");
	assert_int_equal(r.v[0].count, 201);
	assert_int_equal(r.v[0].timed, 200);
	assert_int_equal(r.v[0].unended, 1);
	assert_int_equal(r.v[0].p50_ns, 100);
	assert_int_equal(r.v[0].p90_ns, 180);
	assert_int_equal(r.v[0].p99_ns, 198);
	assert_int_equal(r.v[0].max_ns, 200);
	assert_int_equal(r.v[0].total_ns, 200 * 201 / 2);
	assert_int_equal(r.v[1].kind, TY_REG_COUNTER);
	assert_true(r.v[1].p50_ns == UINT64_MAX);
	assert_int_equal(r.v[1].min, -4);
	assert_int_equal(r.v[1].max, 3);
	assert_int_equal(r.v[1].last, -4);
	ty_region_report_fini(&r);
	assert_int_equal(ty_region_report_find(&x, &w, "work", &r), 0);
	assert_int_equal(r.by_thread_n, 1);
	assert_int_equal(r.beside.slow_ns, 200);
	histogram(&x, &r);
	assert_int_equal(r.beside.median_ns, 100);
	/* The slowest of the name of the third region, each length once; the median's own is the
	 * next. */
	assert_int_equal(ty_region_slowest_find(&x, &w, 2, 3, &slow), 0);
	assert_int_equal(slow.n, 3);
	for (uint32_t i = 0; i < slow.n; i++)
		assert_int_equal(length_of(x.m, slow.v[i]), 200 - i);
	assert_int_equal(slow.all.timed, 200);
	assert_int_equal(slow.by_thread_n, 1);
	assert_int_equal(slow.all.median, r.v[0].median);
	assert_int_equal(length_of(x.m, slow.other), 101);
	ty_region_slowest_fini(&slow);
	ty_region_report_fini(&r);
	assert_int_equal(ty_region_report_find(&x, &w, "none", &r), -TY_ENOTFOUND);
	ty_region_report_fini(&r);
	/* Stopped at the first region, also where that is of another name; and once they are
	 * chosen. */
	for (uint64_t steps = 1; steps <= 2; steps++) {
		uint64_t left = steps;

		x.steps = &left;
		assert_int_equal(ty_region_report_find(&x, &w, "q", &r), -TY_EINTR);
		ty_region_report_fini(&r);
		left = steps;
		assert_int_equal(ty_region_slowest_find(&x, &w, 200, 3, &slow), -TY_EINTR);
		ty_region_slowest_fini(&slow);
	}
	x.steps = NULL;
	/* The first two only: [1000, 1600). */
	w.to_ns = 1600;
	assert_int_equal(ty_region_report_find(&x, &w, NULL, &r), 0);
	assert_int_equal(r.v[0].count, 2);
	ty_region_report_fini(&r);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statistics),
		cmocka_unit_test(counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
