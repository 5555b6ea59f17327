/* SPDX-License-Identifier: MIT */
/* Regions of user code on the timeline: nested lanes under their thread, and the region under the
 * cursor in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "fixture_story.h"
#include "fixture_timeline.h"

static void region(uint64_t us, int tid, uint32_t kind, const char *name, int64_t value)
{
	struct ty_event ev = {0};

	ev.u.region.kind = kind;
	ev.u.region.name = name;
	ev.u.region.value = value;
	ty_tl_feed(ev, us, 0, tid, TY_EV_REGION);
}

/* One thread: a request of 2 s with its parts, 400 short ones in 40 ms, one that does not end; two
 * by id that overlap. */
static struct ty_model *built(void)
{
	const struct ty_build_facts facts = {.arch = "x86_64", .cpus = 1};

	ty_tl_build(&facts);
	ty_tl_switch(0, 0, 0, 0, 7);
	region(100000, 7, TY_REG_BEGIN, "request", 0);
	region(150000, 7, TY_REG_ASYNC_BEGIN, "upload", 1);
	region(200000, 7, TY_REG_BEGIN, "parse", 0);
	region(500000, 7, TY_REG_END, "", 0);
	region(550000, 7, TY_REG_ASYNC_BEGIN, "upload", 2);
	region(600000, 7, TY_REG_BEGIN, "execute a query with a long name", 0);
	region(700000, 7, TY_REG_BEGIN, "plan", 0);
	region(1000000, 7, TY_REG_END, "", 0);
	region(1500000, 7, TY_REG_END, "", 0);
	region(1600000, 7, TY_REG_ASYNC_END, "upload", 1);
	for (uint64_t i = 0; i < 400; i++) {
		region(1700000 + i * 100, 7, TY_REG_BEGIN, "row", 0);
		region(1700050 + i * 100, 7, TY_REG_END, "", 0);
	}
	region(2100000, 7, TY_REG_END, "", 0);
	region(2200000, 7, TY_REG_ASYNC_END, "upload", 2);
	region(2500000, 7, TY_REG_BEGIN, "open", 0);
	region(2600000, 7, TY_REG_BEGIN, "tiny", 0);
	region(2600001, 7, TY_REG_END, "", 0);
	ty_tl_switch(3000000, 0, 7, TY_TASK_INTERRUPTIBLE, 0);
	return ty_tl_built();
}

static void to_lane(struct ty_timeline *t, unsigned sub)
{
	for (uint32_t i = 0; i < t->tracks.rows.n; i++)
		if (t->tracks.rows.v[i].kind == TY_ROW_REGIONS && t->tracks.rows.v[i].sub == sub) {
			t->row = i;
			return;
		}
	fail_msg("no such lane");
}

static bool says(struct ty_timeline *t, uint64_t us, const char *what)
{
	t->cursor_ns = TY_STORY_START + us * 1000;
	return strstr(ty_tl_flat(ty_tl_frame(t, &ty_tl_ascii, 120, 30)), what) != NULL;
}

static void lanes(void **state)
{
	struct ty_model *m = built();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t = ty_tl_open(&in);
	static const struct ty_palette color = {.mode = TY_COLOR_256, .utf8 = true};
	unsigned n = 0;

	vec_each (r, &t->tracks.rows)
		n += r->kind == TY_ROW_REGIONS;
	assert_int_equal(n, 5); /* three depths, two by id */
	to_lane(t, 0);
	ty_tl_golden("timeline-regions-80x24", ty_tl_frame(t, &ty_tl_utf8, 80, 24));
	ty_tl_golden("timeline-regions-80x24-ascii", ty_tl_frame(t, &ty_tl_ascii, 80, 24));
	ty_tl_golden("timeline-regions-200x60", ty_tl_frame(t, &ty_tl_utf8, 200, 60));
	ty_tl_golden("timeline-regions-200x60-color", ty_tl_frame(t, &color, 200, 60));
	assert_true(says(t, 300000, "request for 2.000 s, starting at "));
	assert_true(says(t, 300000, "outside regions within it"));
	assert_true(says(t, 2550000, "open for 500.000 ms"));
	assert_true(says(t, 2550000, "still open when the recording ended"));
	assert_true(says(t, 2400000, "no region here"));
	to_lane(t, 2);
	assert_true(says(t, 800000, "plan for 300.000 ms"));
	to_lane(t, TY_TRACKS_NESTED + 1);
	assert_true(says(t, 800000, "upload for 1.650 s, starting at "));
	assert_true(says(t, 800000, "id 2"));
	/* Folded with the thread, and back. */
	ty_timeline_ops.act(t, TY_ACT_FOLD);
	vec_each (r, &t->tracks.rows)
		assert_int_not_equal(r->kind, TY_ROW_REGIONS);
	ty_timeline_ops.act(t, TY_ACT_FOLD);
	to_lane(t, 1);
	/* Every size, every column of a deep zoom: no crash, the short ones are apart then. */
	for (int w = 20; w < 240; w += 7)
		ty_tl_frame(t, &ty_tl_utf8, w, 12);
	t->vp.from_ns = TY_STORY_START + 1700000000;
	t->vp.to_ns = TY_STORY_START + 1700000000 + 300000;
	assert_true(says(t, 1700010, "row for 50.000 us"));
	assert_true(says(t, 1700060, "no region here"));
	ty_timeline_free(t);
	ty_model_free(m);
}

/* From region to region by search, in the lane that has it; the details are of the one found, also
 * where its cell has others. A filter by name keeps its threads. */
static void searching(void **state)
{
	struct ty_model *m = built();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t = ty_tl_open(&in);
	const struct ty_row *row;

	ty_timeline_ops.act(t, TY_ACT_TIME_FIRST);
	ty_tl_ask(t, TY_ACT_SEARCH, "region:^plan");
	assert_non_null(strstr(t->message, "hit 1 of 1: plan of "));
	assert_int_equal(t->cursor_ns, TY_STORY_START + 700000000);
	row = &t->tracks.rows.v[t->row];
	assert_int_equal(row->kind, TY_ROW_REGIONS);
	assert_int_equal(row->sub, 2);
	/* a plain word, from hit to hit; the lane is unfolded */
	ty_timeline_ops.act(t, TY_ACT_TIME_FIRST);
	t->row = ty_tracks_find(&t->tracks, TY_ROW_THREAD, row->id);
	ty_timeline_ops.act(t, TY_ACT_FOLD);
	ty_tl_ask(t, TY_ACT_SEARCH, "upload >1s");
	assert_non_null(strstr(t->message, "hit 1 of 2: upload of "));
	assert_int_equal(t->tracks.rows.v[t->row].kind, TY_ROW_REGIONS);
	assert_int_equal(t->tracks.rows.v[t->row].sub, TY_TRACKS_NESTED);
	ty_timeline_ops.act(t, TY_ACT_HIT_NEXT);
	ty_tl_work(t);
	assert_int_equal(t->cursor_ns, TY_STORY_START + 550000000);
	assert_int_equal(t->tracks.rows.v[t->row].sub, TY_TRACKS_NESTED + 1);
	ty_timeline_ops.act(t, TY_ACT_HIT_PREV);
	ty_tl_work(t);
	assert_int_equal(t->cursor_ns, TY_STORY_START + 150000000);
	/* 400 in a few cells: each has its own details */
	ty_tl_ask(t, TY_ACT_SEARCH, "row >49us");
	for (unsigned i = 0; i < 3; i++) {
		char want[60];

		snprintf(want, sizeof(want), "row for 50.000 us, starting at 1.700%u00 s", i);
		assert_non_null(strstr(ty_tl_flat(ty_tl_frame(t, &ty_tl_ascii, 120, 30)), want));
		assert_non_null(strstr(t->message, "of 400: row of "));
		assert_int_equal(t->cursor_ns, TY_STORY_START + 1700000000 + i * 100000);
		ty_timeline_ops.act(t, TY_ACT_HIT_NEXT);
		ty_tl_work(t);
	}
	ty_tl_ask(t, TY_ACT_SEARCH, "region:row >1ms");
	assert_non_null(strstr(t->message, "not found"));
	ty_tl_ask(t, TY_ACT_FILTER, "region:plan");
	assert_int_equal(t->tracks.threads - t->tracks.hidden_n, 1);
	assert_int_not_equal(ty_tracks_find(&t->tracks, TY_ROW_THREAD, row->id), TY_NONE);
	ty_tl_ask(t, TY_ACT_FILTER, "region:nobody"); /* would hide all: nothing is changed */
	assert_int_equal(t->tracks.threads - t->tracks.hidden_n, 1);
	ty_timeline_free(t);
	ty_model_free(m);
}

static struct ty_counts *counts;

static int counters(void *ctx, const atomic_bool *stop, const struct ty_sample_marks **m,
		    const struct ty_counts **c, struct ty_err *err)
{
	*m = NULL;
	*c = counts;
	return 0;
}

/* "query" of 3, 90, 4, 2 and 5 ms, of which the longest sleeps; each has 10 faults per ms. */
static struct ty_model *queries(void)
{
	static const unsigned ms[] = {3, 90, 4, 2, 5};
	const struct ty_build_facts facts = {.arch = "x86_64", .cpus = 1};
	enum { NANOSLEEP = 35 };
	uint64_t us = 1000;

	counts = ty_counts_new();
	assert_non_null(counts);
	counts->n = counts->groups = 1;
	strcpy(counts->def[0].name, "page-faults");
	ty_tl_build(&facts);
	ty_tl_switch(0, 0, 0, 0, 7);
	for (unsigned i = 0; i < 5; i++, us += 100000) {
		const uint64_t to = us + ms[i] * 1000, ns = ms[i] * 1000000ull;

		region(us, 7, TY_REG_BEGIN, "query", 0);
		if (ms[i] == 90) {
			ty_tl_enter(us + 5000, 0, 7, NANOSLEEP);
			ty_tl_switch(us + 5010, 0, 7, TY_TASK_INTERRUPTIBLE, 0);
			ty_tl_switch(us + 85000, 0, 0, 0, 7);
			ty_tl_leave(us + 85010, 0, 7, NANOSLEEP);
		}
		region(to, 7, TY_REG_END, "", 0);
		assert_true(
			ty_counts_add(counts,
				      (struct ty_count_reading){TY_STORY_START + us * 1000,
								TY_STORY_START + to * 1000, 7, 0},
				      (uint64_t[]){10 * ms[i], ns, ns}));
	}
	region(us, 7, TY_REG_BEGIN, "open", 0);
	assert_int_equal(ty_counts_finish(counts), 0);
	ty_tl_switch(us + 1000, 0, 7, TY_TASK_INTERRUPTIBLE, 0);
	return ty_tl_built();
}

/* Enter on a region, or a double click: the slowest of its name; Enter there: beside a median one.
 */
static void slowest(void **state)
{
	struct ty_model *m = queries();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_mouse twice = {.what = TY_MOUSE_DOUBLE};
	const struct ty_view_ops *ops;
	struct ty_timeline *t;
	void *page;

	(void)state;
	in.host.lanes_load = counters;
	t = ty_tl_open(&in);
	to_lane(t, 0);
	t->cursor_ns = TY_STORY_START + 202000000;
	ty_tl_frame(t, &ty_tl_utf8, 80, 24);
	assert_int_equal(ty_timeline_ops.act(t, TY_ACT_OPEN), TY_VIEW_PUSH);
	ty_timeline_ops.child(t, &ops, &page);
	ty_tl_golden("slowest-regions-80x24", ty_tl_view_frame(ops, page, &ty_tl_utf8, 80, 24));
	ty_tl_golden("slowest-regions-200x60", ty_tl_view_frame(ops, page, &ty_tl_utf8, 200, 60));
	assert_int_equal(ops->act(page, TY_ACT_OPEN), TY_VIEW_CLOSE);
	assert_int_equal(ty_timeline_ops.resumed(t), TY_VIEW_PUSH);
	ty_timeline_ops.child(t, &ops, &page);
	ty_tl_golden("slow-region-80x24", ty_tl_view_frame(ops, page, &ty_tl_utf8, 80, 24));
	ty_tl_golden("slow-region-200x60", ty_tl_view_frame(ops, page, &ty_tl_utf8, 200, 60));
	assert_int_equal(ops->act(page, TY_ACT_QUIT), TY_VIEW_CLOSE);
	assert_int_equal(ty_timeline_ops.resumed(t), TY_VIEW_PUSH);
	ty_timeline_ops.child(t, &ops, &page);
	/* The median one has another one beside it. */
	while (!strstr(t->page.lines.v[t->page.at].text, "4.00 ms"))
		ops->act(page, TY_ACT_DOWN);
	ops->act(page, TY_ACT_OPEN);
	assert_int_equal(ty_timeline_ops.resumed(t), TY_VIEW_PUSH);
	ty_timeline_ops.child(t, &ops, &page);
	assert_string_equal(t->page.title,
			    "A region of 4.00 ms compared with a median one of 5.00 ms: query");
	ops->act(page, TY_ACT_OPEN);
	assert_int_equal(ty_timeline_ops.resumed(t), TY_VIEW_CHANGED);
	assert_int_equal(t->cursor_ns, TY_STORY_START + 203000000);
	to_lane(t, 0);
	t->cursor_ns = TY_STORY_START + 202000000;
	ty_tl_frame(t, &ty_tl_utf8, 80, 24);
	twice.y = t->lay.rows_y + (int)(t->row - t->top);
	twice.x = t->lay.cells_x + (int)ty_timeline_cursor_column(t);
	assert_int_equal(ty_timeline_ops.mouse(t, &twice), TY_VIEW_PUSH);
	ty_timeline_ops.child(t, &ops, &page);
	assert_non_null(strstr(t->page.title, "The slowest of 5 regions query"));
	ops->act(page, TY_ACT_QUIT);
	ty_timeline_ops.resumed(t);
	/* None with start and end of its name. */
	t->cursor_ns = TY_STORY_START + 501500000;
	ty_tl_frame(t, &ty_tl_utf8, 80, 24);
	assert_int_equal(ty_timeline_ops.act(t, TY_ACT_OPEN), TY_VIEW_CHANGED);
	assert_non_null(strstr(t->message, "no region of this name has both"));
	ty_timeline_free(t);
	ty_model_free(m);
	ty_counts_free(counts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(lanes), cmocka_unit_test(searching),
					   cmocka_unit_test(slowest)};

	ty_tl_locale();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
