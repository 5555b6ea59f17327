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
			assert_non_null(strstr(s, "webserver/100 sleeping for 2.999"));
			assert_non_null(strstr(s, "in flock(3, LOCK_EX) = 0"));
			assert_non_null(strstr(s, "woken by backup/101 on CPU 1 (in flock)"));
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

	ty_tl_frame(t, &ty_tl_utf8, 80, 24);
	ev.x = t->lay.cells_x + 30;
	ev.y = t->lay.ruler_y;
	at = ty_viewport_edge(&t->vp, 30, (uint32_t)t->lay.cells_w);
	ty_timeline_ops.mouse(t, &ev);
	assert_int_equal(t->vp.to_ns - t->vp.from_ns, length / 2);
	assert_in_range(ty_viewport_column(&t->vp, at, (uint32_t)t->lay.cells_w), 29, 30);
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

static void going_to_a_clock_time(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t = ty_tl_open(&in);

	/* The recording began at 22:13:20 (UTC) and 0 ns. */
	ty_timeline_ops.act(t, TY_ACT_GOTO);
	ty_tl_type(t, "22:13:21.25");
	assert_int_equal(t->cursor_ns, START + 1250 * MS);
	ty_timeline_ops.act(t, TY_ACT_GOTO);
	ty_tl_type(t, "25:13");
	assert_non_null(strstr(t->message, "not a time of day"));
	ty_timeline_ops.act(t, TY_ACT_GOTO);
	ty_tl_type(t, "22:14");
	assert_non_null(strstr(t->message, "outside the recording"));
	assert_int_equal(t->cursor_ns, START + 1250 * MS);
	ty_timeline_free(t);
	ty_model_free(m);
}

/* [1] of a wait is who ended it; undo comes back to row and time, redo goes again. */
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
		strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "(in flock) at 3.510050 s [1]"));
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
	assert_non_null(strstr(s, "2.010 s in total [2]; c shows the chain"));
	assert_non_null(strstr(s, "3.000 s from 0.510050 s [3]"));
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
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 200, 40), "sleeping 2.999 s [1]"));
	ty_timeline_ops.act(t, TY_ACT_LINK_1);
	assert_int_equal(t->tracks.rows.v[t->row].kind, TY_ROW_THREAD);
	assert_int_equal(t->cursor_ns, at);
	ty_timeline_free(t);
	/* of a runnable span: who ran instead, and where */
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
	ty_timeline_ops.act(t, TY_ACT_DOWN);
	ty_timeline_ops.act(t, TY_ACT_GOTO);
	ty_tl_type(t, "1");
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
		cmocka_unit_test(going_to_a_clock_time),
		cmocka_unit_test(links_lead_to_the_waker_and_undo_leads_back),
		cmocka_unit_test(selections),
		cmocka_unit_test(a_double_click_fits_the_span),
		cmocka_unit_test(marks),
		cmocka_unit_test(folding_where_nothing_folds_changes_nothing),
	};

	ty_tl_locale();
	return cmocka_run_group_tests_name("timeline_move", tests, NULL, NULL);
}
