/* SPDX-License-Identifier: MIT */
/* Lanes of CPU samples and performance counters on the timeline, and what is under the cursor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "counter_measures.h"
#include "fixture_story.h"
#include "fixture_timeline.h"
#include "sample_marks.h"
#include "samples.h"

static struct ty_sample_marks *marks;
static struct ty_counts *counts;
static struct ty_samples *names;

static int lanes(void *ctx, const atomic_bool *stop, const struct ty_sample_marks **m,
		 const struct ty_counts **c, struct ty_err *err)
{
	*m = marks;
	*c = counts;
	return 0;
}

static int samples(void *ctx, const atomic_bool *stop, const struct ty_samples **s,
		   struct ty_err *err)
{
	*s = names;
	return 0;
}

static void sample(uint64_t us, int tid, unsigned cpu, const char *function)
{
	const uint64_t ns = TY_STORY_START + us * 1000;
	const struct ty_sample_frame f = {.func = ty_samples_func(names, function, "prog", false)};

	assert_int_equal(ty_sample_marks_add(marks, ns, (uint32_t)tid, cpu), 0);
	assert_int_equal(
		vec_push(&names->v,
			 (struct ty_sample){
				 .ns = ns,
				 .tid = tid,
				 .cpu = (uint16_t)cpu,
				 .node = ty_samples_node(names, 0, ty_samples_frame(names, &f))}),
		0);
}

static void reading(uint64_t from_us, uint64_t to_us, int tid, uint64_t faults, uint64_t cycles,
		    unsigned percent)
{
	const uint64_t ns = (to_us - from_us) * 1000,
		       v[7] = {faults, cycles, cycles / 2, ns, ns, ns, ns / 100 * percent};

	assert_true(ty_counts_add(counts,
				  (struct ty_count_reading){TY_STORY_START + from_us * 1000,
							    TY_STORY_START + to_us * 1000, tid, 0},
				  v));
}

/* 7 runs, sleeps, runs again; 8 runs meanwhile and has no lanes. */
static struct ty_model *built(void)
{
	const struct ty_build_facts facts = {.arch = "x86_64", .cpus = 1};

	ty_tl_build(&facts);
	ty_tl_switch(0, 0, 0, 0, 7);
	ty_tl_switch(1000000, 0, 7, TY_TASK_INTERRUPTIBLE, 8);
	ty_tl_switch(2000000, 0, 8, TY_TASK_INTERRUPTIBLE, 7);
	ty_tl_switch(3000000, 0, 7, TY_TASK_INTERRUPTIBLE, 0);
	marks = ty_sample_marks_new();
	names = ty_samples_new();
	counts = ty_counts_new();
	assert_true(marks && names && counts);
	marks->period_ns = 10000000;
	sample(2500000, 7, 0, "late");
	sample(100000, 7, 0, "early");
	for (uint64_t us = 500000; us < 600000; us += 10000)
		sample(us, 7, 0, us % 30000 ? "busy" : "rare");
	ty_sample_marks_sort(marks);
	ty_samples_sort(names);
	counts->n = 3;
	counts->groups = 2;
	strcpy(counts->def[0].name, "page-faults");
	strcpy(counts->def[1].name, "cycles");
	strcpy(counts->def[2].name, "instructions");
	counts->def[1].group = counts->def[2].group = 1;
	ty_count_ratios(counts);
	reading(2000000, 3000000, 7, 10, 0, 0);
	reading(0, 500000, 7, 1000, 5000, 100);
	reading(500000, 1000000, 7, 0, 2000, 25);
	assert_int_equal(ty_counts_finish(counts), 0);
	return ty_tl_built();
}

static void to_row(struct ty_timeline *t, unsigned kind, unsigned sub)
{
	vec_each (r, &t->tracks.rows)
		if (r->kind == kind && r->sub == sub) {
			t->row = (uint32_t)(r - t->tracks.rows.v);
			return;
		}
	fail_msg("no such lane");
}

static void says(struct ty_timeline *t, uint64_t us, const char *what)
{
	const char *frame;

	t->cursor_ns = TY_STORY_START + us * 1000;
	ty_tl_frame(t, &ty_tl_ascii, 120, 30); /* what the cursor is on is read first */
	frame = ty_tl_flat(ty_tl_frame(t, &ty_tl_ascii, 120, 30));
	if (!strstr(frame, what))
		fail_msg("'%s' is not in\n%s", what, frame);
}

static void test_lanes(void **state)
{
	struct ty_model *m = built();
	struct ty_view_input in = ty_tl_input(m);
	const struct ty_view_ops *ops;
	struct ty_timeline *t;
	unsigned n = 0;
	void *page;

	(void)state;
	in.host.lanes_load = lanes;
	in.host.functions_load = samples;
	t = ty_tl_open(&in);
	t->row = 0;
	assert_int_equal(t->tracks.rows.v[0].kind, TY_ROW_CPU);
	ty_timeline_ops.act(t, TY_ACT_FOLD);
	vec_each (r, &t->tracks.rows)
		if (r->kind == TY_ROW_THREAD && r->foldable && r->folded)
			n = (unsigned)(r - t->tracks.rows.v);
	if (n) { /* without system calls a thread is folded at first */
		t->row = n;
		ty_timeline_ops.act(t, TY_ACT_FOLD);
	}
	n = 0;
	vec_each (r, &t->tracks.rows)
		n += ty_row_is_lane(r);
	assert_int_equal(n, 2 * (1 + 3 + 1)); /* samples, counters, a ratio: of the CPU, of 7 */
	to_row(t, TY_ROW_SAMPLES, 0);
	ty_tl_golden("timeline-lanes-80x24", ty_tl_frame(t, &ty_tl_utf8, 80, 24));
	ty_tl_golden("timeline-lanes-80x24-ascii", ty_tl_frame(t, &ty_tl_ascii, 80, 24));
	ty_tl_golden("timeline-lanes-200x60", ty_tl_frame(t, &ty_tl_utf8, 200, 60));
	says(t, 100000, "1 CPU sample in this cell, 1 in early");
	says(t, 2500000, "1 CPU sample in this cell, 1 in late");
	says(t, 300000, "no CPU sample in this cell");
	t->vp.from_ns = TY_STORY_START;
	t->vp.to_ns = TY_STORY_START + 3000000000ull * 30;
	says(t, 550000, "11 CPU samples in this cell, 7 in busy");
	t->vp.to_ns = TY_STORY_START + 3000000000ull;
	to_row(t, TY_ROW_COUNTER, 0);
	says(t, 1500000, "page-faults: the thread did not run in this cell");
	says(t, 2500000, "on a CPU (readings split by time)");
	to_row(t, TY_ROW_COUNTER, 1);
	/* What was scaled never looks as counted, and what never counted has no number. */
	says(t, 700000, "scaled (an estimate: counting 25.0% of the time)");
	says(t, 2500000, "cycles: not counted here");
	to_row(t, TY_ROW_COUNTER, 3);
	says(t, 300000, "IPC: ~0.50 in");
	says(t, 700000, "IPC: ~0.50 (an estimate: of a part of the time) in");
	says(t, 2500000, "IPC: not counted here");
	to_row(t, TY_ROW_CPU_COUNTER, 0);
	says(t, 1500000, "page-faults: no counted thread ran in this cell");
	says(t, 2500000, "page-faults: ~");
	/* A span: what the thread counted in it, as recorded. */
	to_row(t, TY_ROW_COUNTER, 0);
	while (t->tracks.rows.v[t->row].kind != TY_ROW_THREAD)
		t->row--;
	says(t, 2500000,
	     "counted: page-faults 10, cycles not counted, instructions not counted, IPC");
	says(t, 300000,
	     "counted: page-faults 1,000, cycles ~11,200, instructions ~5,600, IPC ~0.50");
	ty_timeline_ops.act(t, TY_ACT_STATS);
	while (ty_timeline_ops.work(t) == TY_VIEW_CHANGED)
		;
	ty_timeline_ops.child(t, &ops, &page);
	ty_tl_golden("stats-counters-80x24", ty_tl_view_frame(ops, page, &ty_tl_utf8, 80, 24));
	ops->act(page, TY_ACT_QUIT);
	to_row(t, TY_ROW_COUNTER, 1);
	ty_timeline_ops.act(t, TY_ACT_FOLD);
	to_row(t, TY_ROW_CPU_COUNTER, 1);
	ty_timeline_ops.act(t, TY_ACT_FOLD);
	vec_each (r, &t->tracks.rows)
		assert_false(ty_row_is_lane(r));
	ty_timeline_ops.act(t, TY_ACT_FOLD);
	for (int w = 20; w < 240; w += 7)
		ty_tl_frame(t, &ty_tl_utf8, w, 16);
	ty_timeline_free(t);
	ty_model_free(m);
	ty_sample_marks_free(marks);
	ty_counts_free(counts);
	ty_samples_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_lanes)};

	ty_tl_locale();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
