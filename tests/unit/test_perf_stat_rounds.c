/* SPDX-License-Identifier: MIT */
/* Counts of perf stat record over time: what grew in each interval, and lanes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "counter_load.h"
#include "counter_stats.h"
#include "fixture_timeline.h"
#include "perf_write.h"
#include "session.h"

#define MS 1000000ull

static void words(struct perf_write *w, uint32_t type, const uint64_t *v, unsigned n)
{
	pw_rec(w, type, 0, v, n * sizeof(*v));
}

static void stat(struct perf_write *w, uint64_t id, uint32_t cpu, uint32_t thread, uint64_t value,
		 uint64_t enabled_ns, uint64_t running_ns)
{
	words(w, TY_PERF_STAT,
	      (uint64_t[]){id, (uint64_t)thread << 32 | cpu, value, enabled_ns, running_ns}, 5);
}

static void round_at(struct perf_write *w, uint64_t ns)
{
	words(w, TY_PERF_STAT_ROUND, (uint64_t[]){0, ns}, 2);
}

/* The threads 7 "worker" and unknown (all of a CPU), then what perf stat was called with. */
static void begin(struct perf_write *w)
{
	uint64_t map[1 + 2 * 3] = {2, 7, 0, 0, UINT64_MAX};

	pw_init(w);
	w->cpus = 2;
	memcpy(&map[2], "worker", 6);
	words(w, TY_PERF_THREAD_MAP, map, 7);
	words(w, TY_PERF_STAT_CONFIG, (uint64_t[]){0}, 1);
}

static void open_it(struct perf_write *w, struct ty_session *s)
{
	struct ty_err err = {0};
	struct ty_buf b;
	char path[32];

	ty_buf_init(&b, 1 << 20);
	pw_file(w, &b);
	pw_save(&b, path);
	ty_buf_fini(&b);
	pw_fini(w);
	assert_true(ty_trace_of_perf_stat(path));
	assert_false(ty_trace_in_perf(path));
	if (ty_session_open(s, path, TY_OPEN_MODEL | TY_OPEN_NO_INDEX, 0, &err) ||
	    ty_session_counts(s, &err))
		fail_msg("%s", err.msg);
	unlink(path);
}

/* CPU 0 in three intervals, the last one without a round; CPU 1 with a counter that shared it. */
static void of_cpus(struct perf_write *w)
{
	begin(w);
	stat(w, PW_ID, 0, 1, 100, 10 * MS, 10 * MS);
	stat(w, PW_ID, 1, 1, 40, 10 * MS, 5 * MS);
	round_at(w, 10 * MS);
	stat(w, PW_ID, 0, 1, 1100, 20 * MS, 20 * MS);
	stat(w, PW_ID, 1, 1, 50, 20 * MS, 10 * MS);
	round_at(w, 20 * MS);
	stat(w, PW_ID, 0, 1, 1103, 22 * MS, 22 * MS);
	stat(w, PW_ID, 1, 1, 50, 22 * MS, 11 * MS);
}

static struct ty_count_stats found(const struct ty_session *s, uint64_t from_ns, uint64_t to_ns)
{
	const struct ty_window w = {.from_ns = from_ns, .to_ns = to_ns};
	struct ty_count_stats st;

	assert_int_equal(ty_count_stats_find(s->counts, s->model, &w, &st), 0);
	return st;
}

static void test_intervals(void **state)
{
	struct ty_session s = {0};
	struct ty_count_stats st;
	struct perf_write w;

	(void)state;
	of_cpus(&w);
	open_it(&w, &s);
	assert_true(s.trace->counts_only && strstr(ty_session_scope(&s), "only counters"));
	assert_int_equal(ty_model_summary(s.model)->start_ns, 0);
	assert_in_range(ty_model_summary(s.model)->end_ns, 22 * MS, 22 * MS + 1);
	st = found(&s, 0, UINT64_MAX);
	assert_int_equal(st.threads_n, 0);
	assert_int_equal(st.cpus_n, 2);
	assert_int_equal(st.cpus[0].sum.v[0], 1103);
	assert_int_equal(st.cpus[0].sum.on_ns, 22 * MS);
	assert_int_equal(st.cpus[1].sum.v[0], 50);
	assert_int_equal(st.cpus[1].sum.running[0], 11 * MS);
	assert_int_equal(st.all.v[0], 1153);
	ty_count_stats_fini(&st);
	st = found(&s, 10 * MS, 20 * MS);
	assert_int_equal(st.cpus[0].sum.v[0], 1000);
	assert_int_equal(st.cpus[1].sum.v[0], 10);
	assert_int_equal(st.all.cut, 0);
	ty_count_stats_fini(&st);
	ty_session_fini(&s);
}

/* Of a thread wherever it ran: for as long as it was enabled it was on a CPU. What a damaged file
 * has: a thread that its map lacks, a round back in time, a sum that shrank. */
static void test_threads(void **state)
{
	struct ty_session s = {0};
	struct ty_count_stats st;
	struct perf_write w;

	(void)state;
	begin(&w);
	stat(&w, PW_ID, UINT32_MAX, 0, 5, 3 * MS, 3 * MS);
	stat(&w, PW_ID, UINT32_MAX, 9, 1000, 3 * MS, 3 * MS);
	stat(&w, PW_ID, 0, 9, 1000, 3 * MS, 3 * MS);
	round_at(&w, 10 * MS);
	stat(&w, PW_ID, UINT32_MAX, 0, 8, 4 * MS, 4 * MS);
	round_at(&w, 5 * MS);
	round_at(&w, 20 * MS);
	stat(&w, PW_ID, UINT32_MAX, 0, 7, 5 * MS, 5 * MS);
	round_at(&w, 30 * MS);
	open_it(&w, &s);
	assert_non_null(
		strstr(s.trace->note.s, "3 records of counters have an impossible time or "));
	st = found(&s, 0, UINT64_MAX);
	assert_int_equal(st.cpus_n, 0);
	assert_int_equal(st.threads_n, 1);
	assert_int_equal(st.threads[0].tid, 7);
	assert_int_equal(st.threads[0].sum.v[0], 8);
	assert_int_equal(st.threads[0].sum.on_ns, 4 * MS);
	assert_string_equal(
		ty_model_str(s.model, ty_model_thread(s.model, st.threads[0].thread)->name),
		"worker");
	assert_int_equal(s.counts->unread, 1);
	ty_count_stats_fini(&st);
	ty_session_fini(&s);
}

static const struct ty_counts *shown;

static int lanes(void *ctx, const atomic_bool *stop, const struct ty_sample_marks **m,
		 const struct ty_counts **c, struct ty_err *err)
{
	*m = NULL;
	*c = shown;
	return 0;
}

static void frames(struct ty_session *s, const char *what)
{
	struct ty_view_input in = ty_tl_input(s->model);
	struct ty_timeline *t;
	char name[64];

	shown = s->counts;
	in.host.lanes_load = lanes;
	in.scope = ty_session_scope(s);
	t = ty_tl_open(&in);
	snprintf(name, sizeof(name), "perf-stat-%s-80x24", what);
	ty_tl_golden(name, ty_tl_frame(t, &ty_tl_utf8, 80, 24));
	snprintf(name, sizeof(name), "perf-stat-%s-200x60", what);
	ty_tl_golden(name, ty_tl_frame(t, &ty_tl_utf8, 200, 60));
	/* As when the search for stalls has ended. */
	assert_int_equal(ty_tracks_reorder(&t->tracks, s->model, &in.window, &t->findings, NULL),
			 0);
	ty_tl_golden(name, ty_tl_frame(t, &ty_tl_utf8, 200, 60));
	ty_timeline_free(t);
	ty_session_fini(s);
}

static void test_frames(void **state)
{
	struct ty_session s = {0};
	struct perf_write w;

	(void)state;
	ty_tl_locale();
	of_cpus(&w);
	open_it(&w, &s);
	frames(&s, "cpus");
	begin(&w);
	stat(&w, PW_ID, UINT32_MAX, 0, 5000, 3 * MS, 3 * MS);
	round_at(&w, 10 * MS);
	open_it(&w, &s);
	frames(&s, "thread");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_intervals),
					   cmocka_unit_test(test_threads),
					   cmocka_unit_test(test_frames)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
