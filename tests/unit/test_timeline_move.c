/* SPDX-License-Identifier: MIT */
/* Going about in the timeline: jumps, links, times, the mouse, selections, marks, folding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture_story.h"
#include "fixture_timeline.h"
#include "glyphs.h"

#define MS    1000000ull
#define START TY_STORY_START

static void a_jump_shows_call_and_waker(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t = ty_tl_open(&in);
	const char *s;

	for (uint32_t i = 0; i < t->findings.n; i++) {
		const struct ty_wait *f = &t->findings.v[i];

		ty_timeline_ops.act(t, TY_ACT_NEXT);
		assert_int_equal(t->finding, i);
		s = ty_tl_frame(t, &ty_tl_utf8, 80, 24);
		assert_true(t->vp.from_ns <= f->start_ns);
		assert_true(t->vp.to_ns >= f->start_ns + f->duration_ns);
		assert_int_equal(t->tracks.rows.v[t->row].id, f->thread);
		assert_true(t->row >= t->top && t->row < t->top + (uint32_t)t->lay.rows_h);
		if (ty_model_thread(m, f->thread)->tid == TY_STORY_WEB &&
		    f->duration_ns > 2900 * MS) {
			/* The culprit without a key, the rest below it. */
			assert_non_null(strstr(s, "webserver/100 sleeping for 3.000"));
			assert_non_null(strstr(s, "stall 1, proven: "));
			assert_non_null(strstr(ty_tl_flat(s), "c shows the chain"));
			s = ty_tl_frame(t, &ty_tl_utf8, 80, 24);
			assert_non_null(strstr(s, " (J: "));
			for (int k = 0; k < 20; k++)
				ty_timeline_ops.act(t, TY_ACT_DETAILS_DOWN);
			s = ty_tl_frame(t, &ty_tl_utf8, 80, 24);
			assert_non_null(strstr(s, "in flock(3, LOCK_EX) = 0"));
			assert_non_null(strstr(s, "woken by backup/101 on CPU 1 (in flock)"));
			assert_null(strstr(s, "webserver/100 sleeping for 3.000"));
			assert_non_null(strstr(s, " (K: "));
			for (int k = 0; k < 20; k++)
				ty_timeline_ops.act(t, TY_ACT_DETAILS_UP);
			s = ty_tl_frame(t, &ty_tl_utf8, 80, 24);
			assert_non_null(strstr(s, "webserver/100 sleeping for 3.000"));
			/* of something else they begin anew */
			ty_timeline_ops.act(t, TY_ACT_DETAILS_DOWN);
			ty_timeline_ops.act(t, TY_ACT_LEFT);
			ty_tl_frame(t, &ty_tl_utf8, 80, 24);
			assert_int_equal(t->details_top, 0);
			ty_model_free(m);
			ty_timeline_free(t);
			return;
		}
	}
	fail_msg("the stall is not in the list");
}

static void the_mouse_points(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t = ty_tl_open(&in);
	struct ty_mouse ev = {.what = TY_MOUSE_WHEEL_UP};
	uint64_t at, length = t->vp.to_ns - t->vp.from_ns;
	uint32_t row;

	ty_tl_frame(t, &ty_tl_utf8, 80, 24);
	ev.x = t->lay.cells_x + 30;
	ev.y = t->lay.ruler_y;
	at = ty_viewport_edge(&t->vp, 30, (uint32_t)t->lay.cells_w);
	ty_timeline_ops.mouse(t, &ev);
	assert_int_equal(t->vp.to_ns - t->vp.from_ns, length / 2);
	assert_in_range(ty_viewport_column(&t->vp, at, (uint32_t)t->lay.cells_w), 29, 30);
	/* with Ctrl it zooms over rows, too, at the pointer, on no other row */
	ev.y = t->lay.rows_y + 2;
	ev.x = t->lay.cells_x + 12;
	ev.ctrl = true;
	row = t->row;
	at = ty_viewport_edge(&t->vp, 12, (uint32_t)t->lay.cells_w);
	ty_timeline_ops.mouse(t, &ev);
	assert_int_equal(t->vp.to_ns - t->vp.from_ns, length / 4);
	assert_in_range(ty_viewport_column(&t->vp, at, (uint32_t)t->lay.cells_w), 11, 12);
	assert_int_equal(t->row, row);
	ev.ctrl = false;
	ty_timeline_ops.mouse(t, &ev);
	assert_int_equal(t->vp.to_ns - t->vp.from_ns, length / 4);
	/* a click into a row selects row and time */
	ev = (struct ty_mouse){
		.what = TY_MOUSE_CLICK, .x = t->lay.cells_x + 7, .y = t->lay.rows_y + 1};
	ty_timeline_ops.mouse(t, &ev);
	assert_int_equal(t->row, t->top + 1);
	assert_int_equal(ty_viewport_column(&t->vp, t->cursor_ns, (uint32_t)t->lay.cells_w), 7);
	/* a click into the list jumps */
	ev = (struct ty_mouse){.what = TY_MOUSE_CLICK, .x = 5, .y = t->lay.list_y + 2};
	ty_timeline_ops.mouse(t, &ev);
	assert_int_equal(t->finding, 1);
	assert_true(t->list_focus);
	ty_timeline_free(t);
	ty_model_free(m);
}

static void going_to_a_time(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t = ty_tl_open(&in);
	static const struct {
		const char *typed;
		uint64_t at; /* us from the start; UINT64_MAX: refused */
	} cases[] = {{"1.5", 1500000},	 {"+250ms", 1750000},  {"-1", 750000},
		     {"99", UINT64_MAX}, {"soon", UINT64_MAX}, {"-2", UINT64_MAX}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t before = t->cursor_ns;

		ty_timeline_ops.act(t, TY_ACT_GOTO);
		assert_true(ty_timeline_ops.wants_text(t));
		for (const char *s = cases[i].typed; *s; s++)
			ty_timeline_ops.text(t, (uint32_t)*s);
		ty_timeline_ops.text(t, TY_KEY_ENTER);
		assert_false(ty_timeline_ops.wants_text(t));
		if (cases[i].at == UINT64_MAX) {
			assert_int_equal(t->cursor_ns, before);
			assert_true(t->message[0]);
		} else {
			assert_int_equal(t->cursor_ns, START + cases[i].at * 1000);
		}
	}
	ty_timeline_free(t);
	ty_model_free(m);
}

/* Of a time that was requested, the span at that time is shown, not the longest of its cell; it
 * stays so while the window is zoomed. */
static void a_time_shows_its_span(void **state)
{
	struct ty_build_facts facts = {.cpus = 1, .long_size = 8, .arch = "x86_64"};
	struct ty_view_input in;
	struct ty_timeline *t;
	struct ty_model *m;

	ty_tl_build(&facts);
	ty_tl_switch(0, 0, 0, 0, 55);
	ty_tl_enter(990000, 0, 55, 1);
	ty_tl_leave(990100, 0, 55, 1);
	ty_tl_enter(990200, 0, 55, 1);
	ty_tl_leave(990300, 0, 55, 1);
	ty_tl_switch(1000000, 0, 55, TY_TASK_INTERRUPTIBLE, 0);
	ty_tl_switch(1000900, 0, 0, 0, 56); /* for 20 us of a cell of 33 ms */
	ty_tl_switch(1000920, 0, 56, TY_TASK_INTERRUPTIBLE, 0);
	ty_tl_switch(2000000, 0, 0, 0, 55);
	m = ty_tl_built();
	in = ty_tl_input(m);
	t = ty_tl_open(&in);
	ty_tl_frame(t, &ty_tl_utf8, 80, 24);
	t->row = ty_tracks_find(&t->tracks, TY_ROW_CPU, 0);
	ty_tl_ask(t, TY_ACT_GOTO, "1.0196"); /* the cursor's time is rounded, not cut */
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), " at 1.02 s"));
	ty_tl_ask(t, TY_ACT_GOTO, "1.00091");
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "CPU 0 ran busy/56"));
	for (int i = 0; i < 3; i++)
		ty_timeline_ops.act(t, TY_ACT_ZOOM_IN);
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "CPU 0 ran busy/56"));
	assert_non_null(strstr(ty_tl_flat(ty_tl_frame(t, &ty_tl_utf8, 80, 40)),
			       "shown above: the one at the cursor"));
	/* and when the row changes: what each row has at that time */
	ty_timeline_ops.act(t, TY_ACT_ALL);
	t->row = ty_tracks_find(&t->tracks, TY_ROW_CPU, 0);
	ty_timeline_ops.act(t, TY_ACT_ROW_LAST);
	ty_tl_ask(t, TY_ACT_GOTO, "1.0009");
	ty_timeline_ops.act(t, TY_ACT_ROW_FIRST);
	assert_int_equal(t->row, ty_tracks_find(&t->tracks, TY_ROW_CPU, 0));
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "CPU 0 ran busy/56"));
	ty_tl_ask(t, TY_ACT_GOTO, "0.995");
	t->row = ty_tracks_find(&t->tracks, TY_ROW_SYSCALLS, ty_model_thread_find(m, 55, START));
	assert_int_not_equal(t->row, TY_NONE);
	assert_non_null(strstr(ty_tl_flat(ty_tl_frame(t, &ty_tl_utf8, 80, 40)),
			       "none at the cursor; shown above: the longest"));
	t->row = ty_tracks_find(&t->tracks, TY_ROW_CPU, 0);
	/* by cells it is the cell's again */
	ty_timeline_ops.act(t, TY_ACT_RIGHT);
	ty_timeline_ops.act(t, TY_ACT_LEFT);
	assert_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "CPU 0 ran busy/56"));
	ty_timeline_free(t);
	ty_model_free(m);
}

/* A stall, and a span that was zoomed to, are what the details are of at every zoom. */
static void a_jump_keeps_its_span(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t = ty_tl_open(&in);
	struct ty_track track;
	struct ty_cell cell;
	uint64_t from, to;
	uint32_t idx, was;

	ty_tl_frame(t, &ty_tl_utf8, 40, 24); /* wide cells */
	assert_true(t->findings.n > 1);
	for (uint32_t i = 0; i < t->findings.n; i++) {
		t->finding = i;
		ty_timeline_to_finding(t);
		assert_true(ty_timeline_subject(t, &track, &cell, &was, &from, &to));
		ty_timeline_ops.act(t, TY_ACT_ALL);
		assert_true(ty_timeline_subject(t, &track, &cell, &idx, &from, &to));
		assert_int_equal(idx, was);
		ty_tl_ask(t, TY_ACT_MARK, "it");
		ty_timeline_ops.act(t, TY_ACT_RIGHT);
		ty_tl_ask(t, TY_ACT_MARK_JUMP, "it");
		assert_true(ty_timeline_subject(t, &track, &cell, &idx, &from, &to));
		assert_int_equal(idx, was);
		ty_timeline_ops.act(t, TY_ACT_RIGHT);
		ty_timeline_ops.act(t, TY_ACT_LEFT);
		assert_true(ty_timeline_subject(t, &track, &cell, &was, &from, &to));
		ty_timeline_ops.act(t, TY_ACT_ZOOM_SPAN);
		ty_timeline_ops.act(t, TY_ACT_ALL);
		assert_true(ty_timeline_subject(t, &track, &cell, &idx, &from, &to));
		assert_int_equal(idx, was);
	}
	ty_timeline_free(t);
	ty_model_free(m);
}

static void going_to_a_clock_time(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t = ty_tl_open(&in);
	char text[40];

	/* The recording began at 22:13:20 (UTC) and 0 ns. */
	ty_timeline_ops.act(t, TY_ACT_GOTO);
	ty_tl_type(t, "22:13:21.25");
	assert_int_equal(t->cursor_ns, START + 1250 * MS);
	ty_timeline_ops.act(t, TY_ACT_GOTO);
	ty_tl_type(t, "25:13");
	assert_non_null(strstr(t->message, "not a time of day"));
	ty_timeline_ops.act(t, TY_ACT_GOTO);
	ty_tl_type(t, "22:14");
	assert_non_null(strstr(t->message, "outside the recording, from 0.000000 s to "));
	assert_int_equal(t->cursor_ns, START + 1250 * MS);
	/* What is outside by less than a thousandth of it is its edge. */
	snprintf(text, sizeof(text), "%.9f",
		 (double)(t->vp.end_ns - t->vp.start_ns) * 1.0005 / 1e9);
	ty_timeline_ops.act(t, TY_ACT_GOTO);
	ty_tl_type(t, text);
	assert_int_equal(t->cursor_ns, t->vp.end_ns - 1);
	snprintf(text, sizeof(text), "%.9f", (double)(t->vp.end_ns - t->vp.start_ns) * 1.002 / 1e9);
	ty_timeline_ops.act(t, TY_ACT_GOTO);
	ty_tl_type(t, text);
	assert_non_null(strstr(t->message, "outside the recording"));
	ty_timeline_free(t);
	ty_model_free(m);
}

/* [1] of a wait is its waker; undo returns to row and time, redo goes again. */
static void links_lead_to_the_waker_and_undo_leads_back(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t;
	const char *s;
	uint64_t at;
	uint32_t row;

	in.at_finding = 1;
	t = ty_tl_open(&in);
	assert_non_null(
		strstr(ty_tl_frame(t, &ty_tl_utf8, 200, 40), "(in flock) at 3.510050 s [1]"));
	at = t->cursor_ns;
	row = t->row;
	ty_timeline_ops.act(t, TY_ACT_LINK_1);
	assert_int_equal(ty_model_thread(m, t->tracks.rows.v[t->row].id)->tid, TY_STORY_BACKUP);
	assert_int_equal(t->cursor_ns, START + 3510050000);
	ty_timeline_ops.act(t, TY_ACT_UNDO);
	assert_int_equal(t->cursor_ns, at);
	assert_int_equal(t->row, row);
	ty_timeline_ops.act(t, TY_ACT_REDO);
	assert_int_equal(t->cursor_ns, START + 3510050000);
	assert_int_equal(ty_model_thread(m, t->tracks.rows.v[t->row].id)->tid, TY_STORY_BACKUP);
	ty_timeline_free(t);
	/* what held it up, in its midst; the call on its own row; no more than these */
	t = ty_tl_open(&in);
	s = ty_tl_flat(ty_tl_frame(t, &ty_tl_utf8, 200, 40));
	assert_non_null(strstr(s, "woken by an interrupt [2]; c shows the chain"));
	assert_non_null(strstr(s, "3.000 s, starting at 0.510050 s [3]"));
	ty_timeline_ops.act(t, TY_ACT_LINK_4);
	assert_non_null(strstr(t->message, "no link [4]"));
	ty_timeline_ops.act(t, TY_ACT_LINK_2);
	assert_int_equal(ty_model_thread(m, t->tracks.rows.v[t->row].id)->tid, TY_STORY_BACKUP);
	assert_in_range(t->cursor_ns, START + 2300 * MS, START + 3500 * MS);
	ty_timeline_ops.act(t, TY_ACT_UNDO);
	ty_tl_frame(t, &ty_tl_utf8, 200, 40);
	ty_timeline_ops.act(t, TY_ACT_LINK_3);
	assert_int_equal(t->tracks.rows.v[t->row].kind, TY_ROW_SYSCALLS);
	assert_int_equal(t->cursor_ns, at);
	/* and from the call back to what it did most of the time */
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 200, 40), "sleeping 3.000 s [1]"));
	ty_timeline_ops.act(t, TY_ACT_LINK_1);
	assert_int_equal(t->tracks.rows.v[t->row].kind, TY_ROW_THREAD);
	assert_int_equal(t->cursor_ns, at);
	ty_timeline_free(t);
	/* of a runnable span: what ran instead, and where */
	for (in.at_finding = 1; in.at_finding < 10; in.at_finding++) {
		t = ty_tl_open(&in);
		ty_tl_frame(t, &ty_tl_utf8, 80, 24);
		if (t->findings.v[t->finding].state == TY_ST_RUNNABLE)
			break;
		ty_timeline_free(t);
	}
	assert_in_range(in.at_finding, 1, 9);
	at = t->cursor_ns;
	ty_timeline_ops.act(t, TY_ACT_LINK_1);
	assert_int_equal(ty_model_thread(m, t->tracks.rows.v[t->row].id)->tid, TY_STORY_KWORKER);
	ty_timeline_ops.act(t, TY_ACT_UNDO);
	ty_timeline_ops.act(t, TY_ACT_LINK_2);
	assert_int_equal(t->tracks.rows.v[t->row].kind, TY_ROW_CPU);
	assert_int_equal(t->tracks.rows.v[t->row].id, 1);
	assert_int_equal(t->cursor_ns, at);
	/* and of a run of the CPU the thread */
	ty_tl_frame(t, &ty_tl_utf8, 80, 24);
	ty_timeline_ops.act(t, TY_ACT_LINK_1);
	assert_int_equal(ty_model_thread(m, t->tracks.rows.v[t->row].id)->tid, TY_STORY_KWORKER);
	assert_int_equal(t->cursor_ns, at);
	ty_timeline_free(t);
	ty_model_free(m);
}

static void selections(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t = ty_tl_open(&in);
	struct ty_mouse ev = {.what = TY_MOUSE_CLICK};
	uint64_t from, to, want;
	uint32_t first, last, row, n;

	ty_tl_frame(t, &ty_tl_utf8, 80, 24);
	n = (uint32_t)t->lay.cells_w;
	assert_false(ty_timeline_selected(t, &from, &to, &first, &last));
	/* by keys: both corners' cells belong to it, in whichever direction */
	ty_timeline_to_column(t, 20);
	row = t->row;
	ty_timeline_ops.act(t, TY_ACT_SELECT);
	for (int i = 0; i < 5; i++)
		ty_timeline_ops.act(t, TY_ACT_LEFT);
	ty_timeline_ops.act(t, TY_ACT_DOWN);
	ty_timeline_ops.act(t, TY_ACT_SELECT);
	ty_timeline_ops.act(t, TY_ACT_TIME_FIRST); /* held: the cursor goes alone */
	assert_true(ty_timeline_selected(t, &from, &to, &first, &last));
	assert_int_equal(from, ty_viewport_edge(&t->vp, 15, n));
	assert_int_equal(to, ty_viewport_edge(&t->vp, 21, n));
	assert_int_equal(first, row);
	assert_int_equal(last, row + 1);
	ty_timeline_ops.act(t, TY_ACT_ZOOM_SPAN);
	assert_int_equal(t->vp.from_ns, from);
	assert_int_equal(t->vp.to_ns, to);
	assert_false(t->sel.on);
	ty_timeline_ops.act(t, TY_ACT_ALL);
	/* by mouse */
	ev.x = t->lay.cells_x + 10;
	ev.y = t->lay.rows_y + 2;
	want = ty_viewport_edge(&t->vp, 10, n);
	ty_timeline_ops.mouse(t, &ev);
	ev.what = TY_MOUSE_DRAG;
	ev.x += 7;
	ev.y -= 1;
	ty_timeline_ops.mouse(t, &ev);
	ev.what = TY_MOUSE_DROP;
	ty_timeline_ops.mouse(t, &ev);
	assert_true(ty_timeline_selected(t, &from, &to, &first, &last));
	assert_true(t->sel.held);
	assert_int_equal(from, want);
	assert_int_equal(to, ty_viewport_edge(&t->vp, 18, n));
	assert_int_equal(first, t->top + 1);
	assert_int_equal(last, t->top + 2);
	ty_timeline_ops.act(t, TY_ACT_BACK);
	assert_false(t->sel.on);
	/* between times that were typed: exactly these, in whichever order */
	for (int back = 0; back < 2; back++) {
		ty_timeline_ops.act(t, TY_ACT_GOTO);
		ty_tl_type(t, back ? "0.7654321" : "0.1234567");
		ty_timeline_ops.act(t, TY_ACT_SELECT);
		ty_timeline_ops.act(t, TY_ACT_GOTO);
		ty_tl_type(t, back ? "0.1234567" : "0.7654321");
		ty_timeline_ops.act(t, TY_ACT_SELECT);
		assert_true(ty_timeline_selected(t, &from, &to, &first, &last));
		assert_int_equal(from, t->vp.start_ns + 123456700);
		assert_int_equal(to, t->vp.start_ns + 765432100);
		ty_timeline_ops.act(t, TY_ACT_BACK);
	}
	ty_timeline_free(t);
	ty_model_free(m);
}

static void a_double_click_fits_the_span(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t;
	struct ty_mouse ev = {.what = TY_MOUSE_CLICK};

	in.at_finding = 1;
	t = ty_tl_open(&in);
	ty_tl_frame(t, &ty_tl_utf8, 80, 24);
	ty_timeline_ops.act(t, TY_ACT_ALL);
	ev.x = t->lay.cells_x + 30;
	ev.y = t->lay.rows_y + (int)(t->row - t->top);
	ty_timeline_ops.mouse(t, &ev);
	ev.what = TY_MOUSE_DOUBLE;
	ty_timeline_ops.mouse(t, &ev);
	assert_int_equal(t->vp.from_ns, START + 510070000 - 2999980000 / 6 - 1);
	assert_true(t->vp.to_ns > START + 3510050000 && t->vp.to_ns < t->vp.end_ns + 1);
	ty_timeline_free(t);
	ty_model_free(m);
}

/* A mark at a row that the present filter hides, a head, is jumped to without that filter. */
static void a_mark_at_a_hidden_head(void **state)
{
	static const char threads[] = "taken 1 2\n"
				      "1000\t1000\t1\t5\tR\t0\t0\t0\t-\t-\t-\t-\tfirst\n"
				      "1001\t1000\t1\t5\tR\t0\t0\t0\t-\t-\t-\t-\tfirst\n"
				      "2000\t2000\t1\t5\tR\t0\t0\t0\t-\t-\t-\t-\tother\n";
	struct ty_build_facts facts = {
		.cpus = 1, .long_size = 8, .arch = "x86_64", .threads = threads};
	struct ty_view_input in;
	struct ty_timeline *t;
	struct ty_model *m;
	uint32_t row = TY_NONE;

	ty_tl_build(&facts);
	ty_tl_switch(0, 0, 0, 0, 1000);
	ty_tl_switch(100, 0, 1000, TY_TASK_INTERRUPTIBLE, 1001);
	ty_tl_switch(200, 0, 1001, TY_TASK_INTERRUPTIBLE, 2000);
	ty_tl_switch(300, 0, 2000, TY_TASK_INTERRUPTIBLE, 0);
	m = ty_tl_built();
	in = ty_tl_input(m);
	t = ty_tl_open(&in);
	ty_tl_frame(t, &ty_tl_utf8, 80, 24);
	for (uint32_t i = 0; i < t->tracks.rows.n; i++)
		if (t->tracks.rows.v[i].kind == TY_ROW_PROCESS)
			row = i;
	assert_int_not_equal(row, TY_NONE);
	t->row = row;
	ty_timeline_ops.act(t, TY_ACT_MARK);
	ty_tl_type(t, "h");
	ty_tl_ask(t, TY_ACT_FILTER, "tid:2000");
	ty_tl_work(t);
	for (uint32_t i = 0; i < t->tracks.rows.n; i++)
		assert_int_not_equal(t->tracks.rows.v[i].kind, TY_ROW_PROCESS);
	ty_timeline_ops.act(t, TY_ACT_MARK_JUMP);
	ty_tl_type(t, "h");
	assert_null(t->filter);
	assert_int_equal(t->tracks.rows.v[t->row].kind, TY_ROW_PROCESS);
	ty_timeline_free(t);
	ty_model_free(m);
}

static void marks(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t = ty_tl_open(&in);
	uint32_t row;

	ty_timeline_ops.act(t, TY_ACT_MARK_JUMP);
	ty_tl_type(t, "");
	assert_non_null(strstr(t->message, "no mark yet"));
	ty_timeline_ops.act(t, TY_ACT_GOTO);
	ty_tl_type(t, "2");
	row = t->row;
	ty_timeline_ops.act(t, TY_ACT_MARK);
	ty_tl_type(t, "h\xc3\xa4nger");
	/* Its name is whole on the ruler, beside the cursor and without it, and no number under it.
	 */
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "\xe2\x96\xbch\xc3\xa4nger"));
	ty_timeline_ops.act(t, TY_ACT_DOWN);
	ty_timeline_ops.act(t, TY_ACT_GOTO);
	ty_tl_type(t, "1");
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "h\xc3\xa4nger\xe2\x94"));
	ty_timeline_ops.act(t, TY_ACT_MARK);
	ty_tl_type(t, "");
	assert_int_equal(t->marks.n, 2);
	assert_string_equal(t->marks.v[0].name, "a");
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "mark 'a' is set"));
	ty_timeline_ops.act(t, TY_ACT_MARK_JUMP);
	ty_tl_type(t, ""); /* the next one in time */
	assert_int_equal(t->cursor_ns, START + 2000 * MS);
	assert_int_equal(t->row, row);
	ty_timeline_ops.act(t, TY_ACT_MARK_JUMP);
	ty_tl_type(t, "a");
	assert_int_equal(t->cursor_ns, START + 1000 * MS);
	ty_timeline_ops.act(t, TY_ACT_MARK_JUMP);
	ty_tl_type(t, "b");
	assert_non_null(strstr(t->message, "no mark 'b'"));
	/* the same name again moves it */
	ty_timeline_ops.act(t, TY_ACT_TIME_LAST);
	ty_timeline_ops.act(t, TY_ACT_MARK);
	ty_tl_type(t, "a");
	assert_int_equal(t->marks.n, 2);
	assert_string_equal(t->marks.v[1].name, "a");
	for (int i = 0; i < 40; i++) {
		ty_timeline_ops.act(t, TY_ACT_MARK);
		ty_tl_type(t, "");
	}
	assert_int_equal(t->marks.n, 42);
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "mark '"));
	ty_timeline_free(t);
	ty_model_free(m);
}

/* One step is one span, however many share a cell, and never past the row's ends. */
static void steps_go_from_span_to_span(void **state)
{
	struct ty_build_facts facts = {.cpus = 1, .long_size = 8, .arch = "x86_64"};
	struct ty_track track = {.kind = TY_TRACK_THREAD};
	struct ty_view_input in;
	struct ty_timeline *t;
	struct ty_model *m;
	const struct ty_thread *th;
	uint32_t last;
	uint64_t at;

	ty_tl_build(&facts);
	ty_tl_switch(0, 0, 0, 0, 55);
	for (uint64_t us = 100; us < 100000; us += 100) {
		ty_tl_switch(us, 0, 55, TY_TASK_INTERRUPTIBLE, 0);
		ty_tl_wake(us + 40, 0, 0, TY_EVF_HARDIRQ, 55, 0);
		ty_tl_switch(us + 50, 0, 0, 0, 55);
	}
	m = ty_tl_built();
	in = ty_tl_input(m);
	t = ty_tl_open(&in);
	ty_tl_frame(t, &ty_tl_utf8, 80, 24);
	t->row = ty_tracks_find(&t->tracks, TY_ROW_THREAD, 0);
	th = ty_model_thread(m, 0);
	assert_true(th->spans_n > 2000); /* some fifty in each of 60 cells */
	ty_timeline_ops.act(t, TY_ACT_TIME_FIRST);
	for (int i = 0; i < 200 && !t->message[0]; i++)
		ty_timeline_ops.act(t, TY_ACT_SPAN_PREV);
	assert_non_null(strstr(t->message, "first span"));
	for (uint32_t i = 1; i < th->spans_n; i++) {
		ty_timeline_ops.act(t, TY_ACT_SPAN_NEXT);
		assert_true(t->pin.on && t->pin.idx == th->spans_first + i);
		at = ty_track_span(m, track, t->pin.idx).start_ns;
		assert_int_equal(t->cursor_ns, at < t->vp.end_ns ? at : t->vp.end_ns - 1);
	}
	last = t->pin.idx;
	ty_timeline_ops.act(t, TY_ACT_SPAN_NEXT);
	assert_non_null(strstr(t->message, "last span"));
	assert_int_equal(t->pin.idx, last);
	ty_timeline_ops.act(t, TY_ACT_SPAN_PREV);
	assert_int_equal(t->pin.idx, last - 1);
	ty_timeline_free(t);
	ty_model_free(m);
}

/* Esc: list, arrows, filter, selection, one a time; the window stays. */
static void esc_takes_back_one_thing_at_a_time(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t = ty_tl_open(&in);
	uint64_t from, to;

	ty_tl_frame(t, &ty_tl_utf8, 80, 24);
	ty_timeline_ops.act(t, TY_ACT_NEXT);
	ty_timeline_ops.act(t, TY_ACT_ZOOM_IN);
	ty_tl_ask(t, TY_ACT_FILTER, "webserver");
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "filter: webserver"));
	ty_timeline_ops.act(t, TY_ACT_SELECT);
	ty_timeline_ops.act(t, TY_ACT_RIGHT);
	ty_timeline_ops.act(t, TY_ACT_SELECT);
	ty_timeline_ops.act(t, TY_ACT_ARROWS);
	ty_timeline_ops.act(t, TY_ACT_FOCUS);
	from = t->vp.from_ns;
	to = t->vp.to_ns;
	ty_timeline_ops.act(t, TY_ACT_BACK);
	assert_true(!t->list_focus && t->arrows.on && t->filter && t->sel.on);
	ty_timeline_ops.act(t, TY_ACT_BACK);
	assert_true(!t->arrows.on && t->filter && t->sel.on);
	ty_timeline_ops.act(t, TY_ACT_BACK);
	assert_true(!t->filter && t->sel.on);
	assert_int_equal(t->tracks.hidden_n, 0);
	assert_int_equal(t->tracks.rows.v[t->sel.a_row].kind, TY_ROW_THREAD);
	assert_int_equal(ty_model_thread(m, t->tracks.rows.v[t->sel.a_row].id)->tid, TY_STORY_WEB);
	assert_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "filter: webserver"));
	ty_timeline_ops.act(t, TY_ACT_BACK);
	assert_false(t->sel.on);
	ty_timeline_ops.act(t, TY_ACT_BACK);
	assert_non_null(strstr(t->message, "nothing to close"));
	assert_int_equal(t->vp.from_ns, from);
	assert_int_equal(t->vp.to_ns, to);
	ty_timeline_free(t);
	ty_model_free(m);
}

/* How long it is, and where the time of its rows went, while it is being made. */
static void a_selection_tells_its_length_and_shares(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t;
	const char *s;

	in.at_finding = 1;
	t = ty_tl_open(&in);
	ty_tl_frame(t, &ty_tl_utf8, 80, 24);
	ty_timeline_ops.act(t, TY_ACT_ZOOM_SPAN);
	ty_timeline_ops.act(t, TY_ACT_GOTO);
	ty_tl_type(t, "1");
	ty_timeline_ops.act(t, TY_ACT_SELECT);
	ty_timeline_ops.act(t, TY_ACT_GOTO);
	ty_tl_type(t, "2");
	s = ty_tl_frame(t, &ty_tl_utf8, 80, 24);
	assert_non_null(strstr(s, "selection: 1.0")); /* two half cells more */
	assert_non_null(strstr(s, ", 1 row; v ends it here"));
	assert_non_null(strstr(s, " sleeping 1.0"));
	ty_timeline_ops.act(t, TY_ACT_DOWN); /* its system calls */
	s = ty_tl_frame(t, &ty_tl_utf8, 80, 24);
	assert_non_null(strstr(s, ", 2 rows"));
	assert_non_null(strstr(s, "; 1 system call, 1.0"));
	ty_timeline_free(t);
	ty_model_free(m);
}

/* Numbers of the ruler are whole, whatever signs are set: they give way as a whole. */
static void signs_leave_the_numbers_whole(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t = ty_tl_open(&in);

	ty_tl_frame(t, &ty_tl_ascii, 80, 24);
	for (uint32_t c = 0; c < 60; c++) {
		const char *line = NULL, *s;
		char word[16];
		int n = 0;

		t->marks.n = 0;
		ty_timeline_to_column(t, c);
		ty_timeline_ops.act(t, TY_ACT_MARK);
		ty_tl_type(t, "x");
		ty_timeline_ops.act(t, TY_ACT_SELECT);
		for (int i = 0; i < 9; i++)
			ty_timeline_ops.act(t, c < 30 ? TY_ACT_RIGHT : TY_ACT_LEFT);
		ty_timeline_ops.act(t, TY_ACT_SELECT);
		ty_timeline_to_column(t, 59 - c);
		line = ty_tl_frame(t, &ty_tl_ascii, 80, 24);
		for (int y = 0; y < t->lay.ruler_y; y++)
			line = strchr(line, '\n') + 1;
		assert_non_null(memchr(line, ']', 80));
		/* What looks like a part of a number is all of "N.N s". */
		for (s = line; *s && *s != '\n'; s++)
			if ((*s >= '0' && *s <= '9') || *s == '.') {
				assert_int_equal(sscanf(s, "%15[0-9.]%n", word, &n), 1);
				assert_true(strlen(word) == 3 && word[1] == '.');
				assert_memory_equal(s + n, " s", 2);
				s += n + 1;
			}
		ty_timeline_ops.act(t, TY_ACT_BACK);
	}
	ty_timeline_free(t);
	ty_model_free(m);
}

/* A line at the cursor's time through all rows; the span that it is on marked on the ruler. */
static void the_cursor_is_a_line_and_its_span_is_marked(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t;
	struct ty_palette color = {.mode = TY_COLOR_256, .utf8 = true};
	struct ty_grid g;
	int x, y0, c0, c1, lines = 0;

	in.at_finding = 1;
	t = ty_tl_open(&in);
	assert_int_equal(ty_grid_init(&g, 80, 24), 0);
	ty_timeline_ops.draw(t, &g, &color);
	x = t->lay.cells_x + (int)ty_timeline_cursor_column(t);
	for (int i = 0; i < t->lay.rows_h && t->top + (uint32_t)i < t->tracks.rows.n; i++) {
		const struct ty_gcell *c = ty_grid_at(&g, x, t->lay.rows_y + i);

		/* A cell of two states, or of a name, keeps what it says. */
		lines += c->ch == 0x2506 || c->ch == 0x253c || c->st.bg == TY_C_SELECT ||
			 c->st.attr & TY_A_REVERSE || (c->ch >= 0x2589 && c->ch <= 0x258f) ||
			 (i > 0 && c->ch == ' ' && c[-1].ch >= '0' && c[-1].ch <= '9' &&
			  c[1].ch == 's');
	}
	assert_int_equal(lines, t->tracks.rows.n < (size_t)t->lay.rows_h ? (int)t->tracks.rows.n
									 : t->lay.rows_h);
	/* Text on the selection's ground has its own colour, whatever the terminal's is. */
	for (int i = 0; i < 80 * 24; i++) {
		const struct ty_gcell *c = ty_grid_at(&g, i % 80, i / 80);

		assert_false(c->st.bg == TY_C_SELECT && c->ch != ' ' && c->st.fg == TY_C_DEFAULT);
	}
	y0 = t->lay.ruler_y;
	c0 = t->lay.cells_x + (int)ty_viewport_column(&t->vp, START + 510070000, 60);
	c1 = t->lay.cells_x + (int)ty_viewport_column(&t->vp, START + 3510050000 - 1, 60);
	for (int c = t->lay.cells_x; c < 80; c++) {
		uint32_t ch = ty_grid_at(&g, c, y0)->ch;

		if (c < c0 || c > c1)
			assert_int_not_equal(ch, 0x2501);
		else
			assert_int_not_equal(ch, 0x2500);
	}
	ty_grid_fini(&g);
	ty_timeline_free(t);
	ty_model_free(m);
}

/* What the program around it keeps, as it does. */
static char kept[64 << 10];

static void keep_load(void *ctx, struct ty_buf *out)
{
	ty_buf_adds(out, kept);
}

static bool keep_locked;

static void keep_lock(void *ctx, bool on)
{
	assert_int_equal(keep_locked, !on);
	keep_locked = on;
}

static int keep_save(void *ctx, const char *text, size_t n, struct ty_err *err)
{
	assert_true(keep_locked);
	assert_true(n < sizeof(kept));
	memcpy(kept, text, n);
	kept[n] = 0;
	return 0;
}

/* Marks with their windows, searches and filters come back, and lead where they led. */
static void a_view_is_saved_and_comes_back(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t;
	const struct ty_view_ops *ops;
	void *page;
	uint64_t from, to, at;
	uint32_t row;

	kept[0] = 0;
	in.host.keep_load = keep_load;
	in.host.keep_lock = keep_lock;
	in.host.keep_save = keep_save;
	in.at_finding = 1;
	t = ty_tl_open(&in);
	ty_timeline_ops.act(t, TY_ACT_ZOOM_IN);
	from = t->vp.from_ns;
	to = t->vp.to_ns;
	at = t->cursor_ns;
	row = t->row;
	ty_timeline_ops.act(t, TY_ACT_MARK);
	ty_tl_type(t, "the stall");
	ty_timeline_ops.act(t, TY_ACT_ALL);
	ty_timeline_ops.act(t, TY_ACT_MARK);
	ty_tl_type(t, "gone");
	ty_tl_ask(t, TY_ACT_SEARCH, "fsync");
	ty_tl_ask(t, TY_ACT_SEARCH, "call:flock");
	ty_tl_ask(t, TY_ACT_SEARCH, "fsync"); /* again: it is the last one, once */
	ty_tl_ask(t, TY_ACT_FILTER, "backup");
	ty_timeline_ops.act(t, TY_ACT_MARK);
	ty_tl_type(t, "-gone");
	assert_int_equal(t->marks.n, 1);
	ty_timeline_ops.act(t, TY_ACT_MARK);
	ty_tl_type(t, "backups");
	ty_timeline_ops.act(t, TY_ACT_LEFT); /* the cursor's sign is beside it */
	ty_timeline_ops.act(t, TY_ACT_LEFT);
	/* as much of a name as the ruler has room for */
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 200, 60), "the sta"));
	ty_timeline_free(t);

	in.at_finding = 0;
	t = ty_tl_open(&in);
	assert_int_equal(t->marks.n, 2);
	assert_int_equal(t->history.n, 3);
	/* with the filter that was in force, and without one where there was none */
	assert_null(t->filter);
	ty_timeline_ops.act(t, TY_ACT_MARK_JUMP);
	ty_tl_type(t, "backups");
	ty_tl_work(t);
	assert_string_equal(ty_query_text(t->filter), "backup");
	assert_true(t->tracks.hidden_n > 0);
	ty_timeline_ops.act(t, TY_ACT_MARK_JUMP);
	ty_tl_type(t, "the stall");
	ty_tl_work(t);
	assert_null(t->filter);
	assert_int_equal(t->vp.from_ns, from);
	assert_int_equal(t->vp.to_ns, to);
	assert_int_equal(t->cursor_ns, at);
	assert_int_equal(t->row, row);
	/* the prompt goes through what was asked, the newest first */
	ty_timeline_ops.act(t, TY_ACT_SEARCH);
	ty_timeline_ops.text(t, TY_KEY_UP);
	assert_string_equal(t->input, "fsync");
	ty_timeline_ops.text(t, TY_KEY_UP);
	assert_string_equal(t->input, "call:flock");
	assert_int_equal(ty_timeline_ops.text(t, TY_KEY_UP), TY_VIEW_IGNORED);
	ty_timeline_ops.text(t, TY_KEY_DOWN);
	assert_string_equal(t->input, "fsync");
	ty_timeline_ops.text(t, TY_KEY_DOWN);
	assert_string_equal(t->input, "");
	ty_timeline_ops.text(t, TY_KEY_ESC);
	/* the page lists all; its lines lead there */
	assert_int_equal(ty_timeline_ops.act(t, TY_ACT_KEPT), TY_VIEW_PUSH);
	ty_timeline_ops.child(t, &ops, &page);
	assert_non_null(strstr(ty_tl_view_frame(ops, page, &ty_tl_utf8, 80, 24), "  the stall "));
	assert_non_null(strstr(ty_tl_view_frame(ops, page, &ty_tl_utf8, 80, 24), "  call:flock"));
	ops->act(page, TY_ACT_TIME_LAST);
	assert_int_equal(ops->act(page, TY_ACT_OPEN), TY_VIEW_CLOSE);
	ty_timeline_ops.resumed(t);
	ty_tl_work(t);
	assert_true(t->filter && !strcmp(ty_query_text(t->filter), "backup"));
	ty_timeline_free(t);

	/* what cannot be of this recording is left */
	snprintf(kept, sizeof(kept),
		 "tarry-view 1\nmark 1 2 3 5 0 early\nmark %llu %llu %llu 5 99999 norow\n"
		 "mark %llu %llu %llu 77 0 nokind\nmark x\nmark\n\nsearch \nnonsense\n"
		 "mark %llu %llu %llu 5 0 good\nmark %llu %llu %llu 5 0 backwards",
		 START + 5, START + 1, START + 9, START + 5, START + 1, START + 9, START + 5,
		 START + 1, START + 9, START + 5, START + 9, START + 1);
	t = ty_tl_open(&in);
	assert_int_equal(t->marks.n, 1);
	assert_string_equal(t->marks.v[0].name, "good");
	assert_int_equal(t->history.n, 0);
	ty_timeline_free(t);
	snprintf(kept, sizeof(kept), "tarry-view 2\nsearch x\n");
	t = ty_tl_open(&in);
	assert_int_equal(t->history.n, 0);
	ty_timeline_free(t);
	ty_model_free(m);
}

/* Two views of one recording lose nothing of each other. */
static void two_views_keep_both(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *a, *b;

	kept[0] = 0;
	in.host.keep_load = keep_load;
	in.host.keep_lock = keep_lock;
	in.host.keep_save = keep_save;
	a = ty_tl_open(&in);
	b = ty_tl_open(&in);
	ty_timeline_ops.act(a, TY_ACT_MARK);
	ty_tl_ask(b, TY_ACT_MARK, "two"); /* while a prompts for the name */
	ty_tl_type(a, "one");
	ty_tl_ask(a, TY_ACT_MARK, ""); /* of itself they take different names */
	ty_tl_ask(b, TY_ACT_MARK, "");
	ty_tl_ask(a, TY_ACT_SEARCH, "fsync");
	ty_tl_ask(b, TY_ACT_FILTER, "backup");
	assert_non_null(strstr(kept, " one\n"));
	assert_non_null(strstr(kept, " two\n"));
	assert_non_null(strstr(kept, " a\n"));
	assert_non_null(strstr(kept, " b\n"));
	assert_non_null(strstr(kept, "search fsync\nfilter backup\n"));
	/* each sees what the other has; what one removed the other one does not bring back */
	ty_tl_ask(a, TY_ACT_MARK_JUMP, "two");
	assert_string_equal(a->message, "mark 'two'");
	ty_tl_ask(b, TY_ACT_MARK, "-one");
	ty_tl_ask(a, TY_ACT_MARK, "three");
	assert_null(strstr(kept, " one\n"));
	ty_tl_ask(b, TY_ACT_SEARCH, "flock");
	assert_int_equal(ty_timeline_ops.act(a, TY_ACT_KEPT), TY_VIEW_PUSH);
	assert_int_equal(a->marks.n, 4);
	assert_int_equal(a->history.n, 3);
	/* where nothing is left of the file, nothing is lost here */
	kept[0] = 0;
	ty_tl_ask(a, TY_ACT_MARK, "four");
	assert_non_null(strstr(kept, " three\n"));
	assert_non_null(strstr(kept, " four\n"));
	assert_false(keep_locked);
	ty_timeline_free(a);
	ty_timeline_free(b);
	ty_model_free(m);
}

static unsigned keys_shown;

static void first_keys_shown(void *ctx)
{
	keys_shown++;
}

/* The card of a first start is gone with the first key, which does what it says. */
static void the_first_keys_are_shown_once(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t;

	in.first = true;
	t = ty_tl_open(&in);
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "n N      next or previous"));
	assert_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 40, 10), "The first keys"));
	ty_timeline_ops.act(t, TY_ACT_NEXT);
	assert_int_equal(t->finding, 0);
	assert_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "The first keys"));
	ty_timeline_free(t);
	/* On a screen without room for it later, when there is. */
	in.host.first_keys_shown = first_keys_shown;
	keys_shown = 0;
	t = ty_tl_open(&in);
	ty_tl_frame(t, &ty_tl_utf8, 40, 10);
	ty_timeline_ops.act(t, TY_ACT_NEXT);
	assert_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 40, 10), "The first keys"));
	assert_int_equal(keys_shown, 0);
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "The first keys"));
	ty_tl_frame(t, &ty_tl_utf8, 80, 24);
	assert_int_equal(keys_shown, 1);
	ty_timeline_ops.act(t, TY_ACT_PREV);
	assert_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "The first keys"));
	ty_timeline_free(t);
	ty_model_free(m);
}

/* Names: the recorder is said to be one; a filter is whole where there is room; the list keeps the
 * numbers that distinguish threads of one name. */
static void names_tell_apart(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_explain x = *in.explain;
	struct ty_timeline *t;
	const char *s;

	x.recorder_pid = 101;
	in.explain = &x;
	t = ty_tl_open(&in);
	s = ty_tl_frame(t, &ty_tl_utf8, 200, 40);
	assert_non_null(strstr(s, "backup (recorder)"));
	assert_non_null(strstr(s, "backup/101 (recorder)"));
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 44, 24), "S we~/100"));
	ty_timeline_filter(t, "state:uninterruptible");
	assert_non_null(
		strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "filter: state:uninterruptible "));
	ty_timeline_ops.act(t, TY_ACT_ROW_FIRST);
	assert_int_equal(t->row, 0);
	ty_timeline_ops.act(t, TY_ACT_ROW_LAST);
	assert_int_equal(t->row, t->tracks.rows.n - 1);
	ty_timeline_resumed(t); /* q closed a page: the next one quits */
	assert_int_equal(ty_timeline_ops.act(t, TY_ACT_QUIT), TY_VIEW_QUIT);
	ty_timeline_free(t);
	ty_model_free(m);
}

static void folding_where_nothing_folds_changes_nothing(void **state)
{
	static const uint32_t cpus[] = {2, 8};

	for (unsigned k = 0; k < 2; k++) {
		struct ty_build_facts facts = {.cpus = cpus[k], .long_size = 8, .arch = "x86_64"};
		struct ty_view_input in;
		struct ty_timeline *t;
		struct ty_model *m;
		size_t rows;

		ty_tl_build(&facts);
		ty_tl_switch(0, 0, 0, 0, 55);
		ty_tl_switch(1000, 0, 55, TY_TASK_INTERRUPTIBLE, 0);
		ty_tl_switch(1000000, 0, 0, 0, 55);
		m = ty_tl_built();
		in = ty_tl_input(m);
		t = ty_tl_open(&in);
		t->row = ty_tracks_find(&t->tracks, TY_ROW_THREAD, 0);
		assert_int_not_equal(t->row, TY_NONE);
		rows = t->tracks.rows.n;
		ty_timeline_ops.act(t, TY_ACT_FOLD);
		assert_int_equal(t->tracks.rows.n, rows);
		assert_int_equal(t->tracks.rows.v[t->row].kind, TY_ROW_THREAD);
		assert_non_null(
			strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "nothing to fold here"));
		/* a CPU under a head folds it */
		t->row = 0;
		ty_timeline_ops.act(t, TY_ACT_FOLD);
		assert_int_equal(t->tracks.rows.n, k ? rows + 8 : rows);
		if (k) {
			t->row = 3;
			ty_timeline_ops.act(t, TY_ACT_FOLD);
			assert_int_equal(t->tracks.rows.n, rows);
			assert_int_equal(t->row, 0);
		}
		ty_timeline_free(t);
		ty_model_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_jump_shows_call_and_waker),
		cmocka_unit_test(the_mouse_points),
		cmocka_unit_test(going_to_a_time),
		cmocka_unit_test(a_time_shows_its_span),
		cmocka_unit_test(a_jump_keeps_its_span),
		cmocka_unit_test(going_to_a_clock_time),
		cmocka_unit_test(links_lead_to_the_waker_and_undo_leads_back),
		cmocka_unit_test(selections),
		cmocka_unit_test(a_double_click_fits_the_span),
		cmocka_unit_test(marks),
		cmocka_unit_test(a_mark_at_a_hidden_head),
		cmocka_unit_test(steps_go_from_span_to_span),
		cmocka_unit_test(esc_takes_back_one_thing_at_a_time),
		cmocka_unit_test(a_selection_tells_its_length_and_shares),
		cmocka_unit_test(signs_leave_the_numbers_whole),
		cmocka_unit_test(the_cursor_is_a_line_and_its_span_is_marked),
		cmocka_unit_test(a_view_is_saved_and_comes_back),
		cmocka_unit_test(two_views_keep_both),
		cmocka_unit_test(the_first_keys_are_shown_once),
		cmocka_unit_test(names_tell_apart),
		cmocka_unit_test(folding_where_nothing_folds_changes_nothing),
	};

	ty_tl_locale();
	return cmocka_run_group_tests_name("timeline_move", tests, NULL, NULL);
}
