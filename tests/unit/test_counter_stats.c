/* SPDX-License-Identifier: MIT */
/* Performance counters: scaling, windows, and sections of files that say anything. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "counter_load.h"
#include "counter_measures.h"
#include "counter_stats.h"
#include "counter_record.h"
#include "export_trace.h"
#include "fixture_story.h"
#include "fixture_trace.h"
#include "section.h"
#include "session.h"

#define MS 1000000ull

static void test_scaled(void **state)
{
	uint64_t v;

	(void)state;
	/* Never without an estimate's mark: equal only where it counted all the time. */
	assert_true(ty_count_scaled(100, 50, 50, &v) && v == 100);
	assert_true(ty_count_scaled(100, 100, 25, &v) && v == 400);
	assert_true(ty_count_scaled(1, 3, 2, &v) && v == 2); /* 1.5, to the nearest */
	assert_true(ty_count_scaled(0, 100, 1, &v) && v == 0);
	assert_true(ty_count_scaled(0, 0, 0, &v) && v == 0);
	assert_false(ty_count_scaled(0, 100, 0, &v)); /* it never counted: not 0, unknown */
	assert_true(ty_count_scaled(UINT64_MAX, UINT64_MAX, 1, &v) && v == UINT64_MAX);
	assert_true(ty_count_scaled(UINT64_MAX / 2, UINT64_MAX, UINT64_MAX / 2, &v));
	assert_true(v >= UINT64_MAX - 2);
	assert_true(ty_count_scaled(7, 10, 11, &v) && v == 7);
}

static struct ty_counts *two_counters(void)
{
	struct ty_counts *c = ty_counts_new();

	assert_non_null(c);
	c->n = 2;
	c->groups = 2;
	c->def[1].group = 1;
	return c;
}

static void put(struct ty_counts *c, int tid, uint64_t from, uint64_t to, uint64_t a, uint64_t b,
		uint64_t running)
{
	const uint64_t v[6] = {a, b, to - from, to - from, to - from, running};

	assert_true(ty_counts_add(c, (struct ty_count_reading){from, to, tid, 0}, v));
}

static struct ty_count_sum sum(const struct ty_counts *c, int tid, uint64_t from, uint64_t to)
{
	struct ty_count_sum s = {0};
	size_t first, end;

	ty_counts_of(c, tid, &first, &end);
	ty_counts_sum(c, first, end, from, to, &s);
	return s;
}

static void test_sums(void **state)
{
	struct ty_counts *c = two_counters();
	struct ty_count_sum s;
	size_t first, end;

	(void)state;
	/* Out of order, and another thread between them. */
	put(c, 5, 300, 400, 40, 8, 50);
	put(c, 6, 200, 300, 1000, 0, 100);
	put(c, 5, 100, 200, 10, 2, 100);
	put(c, 5, 500, 600, 100, 4, 0);
	put(c, 4, 0, 600, 7777, 7, 600);
	assert_int_equal(ty_counts_finish(c), 0);
	s = sum(c, 5, 0, 1000);
	assert_int_equal(s.v[0], 150);
	assert_int_equal(s.v[1], 14);
	assert_int_equal(s.on_ns, 300);
	assert_int_equal(s.enabled[1], 300);
	assert_int_equal(s.running[1], 150);
	assert_int_equal(s.running[0], 300);
	assert_int_equal(s.readings, 3);
	assert_int_equal(s.cut, 0);
	/* The ends of a window divide readings, and that is said. */
	s = sum(c, 5, 150, 550);
	assert_int_equal(s.v[0], 5 + 40 + 50);
	assert_int_equal(s.on_ns, 50 + 100 + 50);
	assert_int_equal(s.readings, 3);
	assert_int_equal(s.cut, 2);
	s = sum(c, 5, 325, 350);
	assert_int_equal(s.v[0], 10);
	assert_int_equal(s.v[1], 2);
	assert_int_equal(s.cut, 1);
	s = sum(c, 5, 200, 300); /* it was not on a CPU */
	assert_int_equal(s.readings, 0);
	assert_int_equal(s.on_ns, 0);
	s = sum(c, 6, 0, 1000);
	assert_int_equal(s.v[0], 1000);
	ty_counts_of(c, 7, &first, &end);
	assert_int_equal(first, end);
	/* Any cut of a window adds up to it. */
	for (uint64_t at = 100; at < 600; at += 7) {
		const struct ty_count_sum a = sum(c, 5, 0, at), b = sum(c, 5, at, 1000);

		assert_in_range(a.v[0] + b.v[0], 149, 151);
		assert_int_equal(a.on_ns + b.on_ns, 300);
	}
	assert_false(c->damaged);
	ty_counts_free(c);
}

static void test_overflow(void **state)
{
	struct ty_counts *c = two_counters();

	(void)state;
	put(c, 5, 0, 10, UINT64_MAX, UINT64_MAX, 10);
	put(c, 5, 10, 20, UINT64_MAX, 1, 10);
	put(c, 5, 15, 15, 1, 1, 0);
	assert_int_equal(ty_counts_finish(c), 0);
	assert_true(c->damaged);
	assert_int_equal(sum(c, 5, 0, 100).v[0], UINT64_MAX);
	assert_false(ty_counts_add(c, (struct ty_count_reading){5, 4, 1, 0}, (uint64_t[6]){0}));
	ty_counts_free(c);
}

/* files ---------------------------------------------------------------------------------------- */

static const char facts[] = "arch=x86_64\nmode=all\ncounter=0 count cycles\ncounter=1 ns a b/c\n";

static void reading(struct ty_buf *b, uint64_t ns, uint64_t dur_ns, uint32_t tid, unsigned flags,
		    uint64_t v)
{
	const struct ty_counter_head h = {ns, dur_ns, tid, tid, 1, (uint16_t)flags, 0};
	const uint64_t values[6] = {v, 10 * v, dur_ns, dur_ns, dur_ns, dur_ns / 2};

	ty_buf_add(b, &h, sizeof(h));
	ty_buf_add(b, values, sizeof(values));
}

static void story(const char *path, const char *machine, const struct ty_buf *b)
{
	ty_story_begin(path, 4, machine, TY_STORY_THREADS);
	if (b->len)
		ty_story_section(TY_SEC_COUNTERS, b->p, b->len);
	ty_story_stall(ty_story_event);
	ty_story_end();
}

/* Ratios are of counters of one group with equal modifiers; estimates are marked. */
static void test_measures(void **state)
{
	static const char *const names[] = {
		"cycles",   "instructions", "cache-misses",	  "instructions:u",
		"cycles:u", "page-faults",  "cpu/instructions/k", "cpu/LLC-load-misses/k"};
	const uint64_t v[][8 + 6] = {
		{1000, 500, 10, 900, 300, 3, 0, 7, 100, 100, 100, 25, 100, 100},
		{1000, 700, 20, 900, 300, 1, 0, 7, 100, 100, 100, 0, 100, 100}};
	struct ty_counts *c = ty_counts_new(), *cpus;
	struct ty_count_sum s = {0};
	char text[TY_COUNT_TEXT];
	bool estimated;
	double x;

	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		snprintf(c->def[i].name, sizeof(c->def[i].name), "%s", names[i]);
		c->def[i].group = i < 3 ? 0 : i < 6 ? 1 : 2;
	}
	c->n = 8;
	c->groups = 3;
	ty_count_ratios(c);
	assert_int_equal(c->ratios, 4);
	assert_string_equal(ty_count_measure_name(c, 8), "IPC");
	assert_string_equal(ty_count_measure_name(c, 9), "cache-misses/1,000 instr.");
	assert_string_equal(ty_count_measure_name(c, 10), "IPC:u");
	assert_string_equal(ty_count_measure_name(c, 11), "LLC-load-misses:k/1,000 instr.");
	assert_true(ty_counts_add(c, (struct ty_count_reading){0, 100, 7, 3}, v[0]));
	assert_true(ty_counts_add(c, (struct ty_count_reading){100, 200, 8, 3}, v[1]));
	assert_int_equal(ty_counts_finish(c), 0);
	assert_false(ty_count_measure(c, &s, 0, &x, &estimated)); /* no reading: no value, not 0 */
	assert_string_equal(ty_count_measure_text(c, &s, 0, text), "-");
	ty_counts_sum(c, 0, 1, 0, 100, &s);
	assert_string_equal(ty_count_measure_text(c, &s, 0, text), "1,000");
	assert_string_equal(ty_count_measure_text(c, &s, 8, text), "0.50");
	assert_string_equal(ty_count_measure_text(c, &s, 9, text), "20.00");
	assert_string_equal(ty_count_measure_text(c, &s, 3, text), "~3,600");
	assert_string_equal(ty_count_measure_text(c, &s, 10, text), "~3.00");
	assert_string_equal(ty_count_measure_text(c, &s, 11, text), "-"); /* no instructions */
	assert_true(ty_count_measure(c, &s, 8, &x, &estimated) && !estimated && x == 0.5);
	assert_true(ty_count_measure(c, &s, 10, &x, &estimated) && estimated && x == 3);
	/* A part of a reading: all are estimates, and a ratio stays what it is. */
	s = (struct ty_count_sum){0};
	ty_counts_sum(c, 0, 1, 50, 100, &s);
	assert_string_equal(ty_count_measure_text(c, &s, 0, text), "~500");
	assert_string_equal(ty_count_measure_text(c, &s, 8, text), "~0.50");
	s = (struct ty_count_sum){0};
	ty_counts_sum(c, 1, 2, 100, 200, &s);
	assert_string_equal(ty_count_measure_text(c, &s, 3, text), "not counted");
	assert_string_equal(ty_count_measure_text(c, &s, 10, text), "not counted");
	/* Two threads on one CPU. */
	cpus = ty_counts_of_cpus(c);
	assert_non_null(cpus);
	assert_false(cpus->damaged);
	assert_int_equal(cpus->readings.n, 2);
	s = (struct ty_count_sum){0};
	ty_counts_sum(cpus, 0, 2, 0, 200, &s);
	assert_int_equal(s.v[1], 1200);
	assert_int_equal(s.running[1], 25);
	assert_int_equal(s.on_ns, 200);
	ty_counts_free(cpus);
	ty_counts_free(c);
}

static int load(const char *path, struct ty_counts **c)
{
	struct ty_err err = {0};
	struct ty_trace *t;
	int e;

	if (ty_trace_open(path, &t, &err))
		fail_msg("%s", err.msg);
	e = ty_counts_of_trace(t, c, &err);
	ty_trace_close(t);
	return e;
}

static void test_file(void **state)
{
	const char *path = ty_fx_path("counted.dat"), *part = ty_fx_path("part.dat");
	const uint64_t t0 = TY_STORY_START;
	struct ty_session s = {0};
	struct ty_count_stats st;
	struct ty_err err = {0};
	struct ty_window w;
	struct ty_counts *c;
	struct ty_buf b;

	(void)state;
	ty_buf_init(&b, 1 << 20);
	reading(&b, t0 + 1200 * MS, 10 * MS, TY_STORY_WEB, 0, 7);
	reading(&b, t0 + 20 * MS, 10 * MS, TY_STORY_WEB, 0, 1000);
	reading(&b, t0, 3, 0, TY_CT_LOST, 0);
	/* What could not be read is garbage, and in no sum. */
	reading(&b, t0 + 30 * MS, 5 * MS, TY_STORY_WEB, TY_CT_UNREAD, UINT64_MAX / 20);
	story(path, facts, &b);
	if (ty_session_open(&s, path, TY_OPEN_MODEL | TY_OPEN_NO_INDEX, 0, &err) ||
	    ty_session_counts(&s, &err))
		fail_msg("%s", err.msg);
	c = s.counts;
	assert_int_equal(c->n, 2);
	assert_int_equal(c->groups, 2);
	assert_string_equal(c->def[1].name, "a b/c");
	assert_true(c->def[1].is_time);
	assert_int_equal(c->lost, 3);
	assert_int_equal(c->unread, 1);
	assert_false(c->damaged);
	w = (struct ty_window){.from_ns = t0 + 15 * MS, .to_ns = t0 + 2000 * MS};
	assert_int_equal(ty_count_stats_find(c, s.model, &w, &st), 0);
	assert_int_equal(st.threads_n, 1);
	assert_int_equal(st.threads[0].tid, TY_STORY_WEB);
	assert_int_equal(st.threads[0].sum.v[0], 500 + 7);
	assert_int_equal(st.threads[0].sum.cut, 1);
	assert_int_equal(st.cpus_n, 1);
	assert_int_equal(st.cpus[0].cpu, 1);
	assert_int_equal(st.all.v[1], 5070);
	ty_count_stats_fini(&st);
	w.tids = (const int32_t[]){TY_STORY_WEB, TY_STORY_WEB};
	w.tids_n = 2;
	assert_int_equal(ty_count_stats_find(c, s.model, &w, &st), 0);
	assert_int_equal(st.threads_n, 1);
	assert_int_equal(st.threads[0].sum.v[0], 500 + 7);
	ty_count_stats_fini(&st);
	/* A part has the readings that touch it, whole. */
	if (ty_export_trace(&s, part, t0 + 1195 * MS, UINT64_MAX, &err))
		fail_msg("%s", err.msg);
	ty_session_fini(&s);
	assert_int_equal(load(part, &c), 0);
	assert_int_equal(c->readings.n, 1);
	assert_int_equal(c->values.v[0], 7);
	assert_int_equal(c->lost, 3);
	ty_counts_free(c);
	ty_buf_fini(&b);
	unlink(path);
	unlink(part);
}

static void test_damaged_files(void **state)
{
	static const char *const lists[] = {
		"arch=x86_64\ncounter=\n",
		"arch=x86_64\ncounter=0\n",
		"arch=x86_64\ncounter=0 count\n",
		"arch=x86_64\ncounter=0 count \n",
		"arch=x86_64\ncounter=1 count a\n",
		"arch=x86_64\ncounter=0 count a\ncounter=2 count b\n",
		"arch=x86_64\ncounter=x count a\n",
		"arch=x86_64\ncounter=8 count a\n",
		"arch=x86_64\ncounter=99999999999999999999 count a\n",
		"arch=x86_64\ncounter=0 count a\ncounter=1 count b\ncounter=0 count c\n"};
	const char *path = ty_fx_path("damaged.dat"), *part = ty_fx_path("part.dat");
	struct ty_session s = {0};
	struct ty_err err = {0};
	struct ty_trace *t = NULL;
	struct ty_counts *c;
	char many[64 * 32] = "arch=x86_64\n";
	struct ty_buf b;

	(void)state;
	ty_buf_init(&b, 1 << 20);
	reading(&b, TY_STORY_START, 5, 1, 0, 1);
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		story(path, lists[i], &b);
		assert_int_equal(load(path, &c), -TY_EFORMAT);
		assert_null(c);
	}
	/* A part keeps what it cannot read: its readers report the damage. */
	if (ty_session_open(&s, path, TY_OPEN_MODEL | TY_OPEN_NO_INDEX, 0, &err) ||
	    ty_export_trace(&s, part, TY_STORY_START + 1, UINT64_MAX, &err) ||
	    ty_trace_open(part, &t, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(ty_trace_section(t, TY_SEC_COUNTERS).n, b.len);
	assert_int_equal(ty_counts_of_trace(t, &c, &err), -TY_EFORMAT);
	ty_trace_close(t);
	ty_session_fini(&s);
	unlink(part);
	for (unsigned i = 0; i < TY_COUNTS_MAX + 1; i++)
		strcat(many, "counter=0 count a\n");
	story(path, many, &b);
	assert_int_equal(load(path, &c), -TY_EFORMAT);
	story(path, "arch=x86_64\n", &b);
	assert_int_equal(load(path, &c), -TY_ENOTFOUND);
	/* Half a record, lengths and times that cannot be: what is whole counts. */
	reading(&b, 5, 6, 1, 0, 1);
	reading(&b, TY_STORY_START, 5, UINT32_MAX, 0, 1);
	ty_buf_add(&b, "half", 4);
	story(path, facts, &b);
	assert_int_equal(load(path, &c), 0);
	assert_true(c->damaged);
	assert_int_equal(c->readings.n, 1);
	ty_counts_free(c);
	b.len = 0;
	story(path, facts, &b); /* nothing was read before it ended */
	assert_int_equal(load(path, &c), 0);
	assert_int_equal(c->readings.n, 0);
	ty_counts_free(c);
	ty_buf_fini(&b);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scaled),	      cmocka_unit_test(test_sums),
		cmocka_unit_test(test_overflow),      cmocka_unit_test(test_file),
		cmocka_unit_test(test_damaged_files), cmocka_unit_test(test_measures)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
