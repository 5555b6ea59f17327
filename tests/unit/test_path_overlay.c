/* SPDX-License-Identifier: MIT */
/* What is laid over the timeline's rows: arrows of a chain, and the command's critical path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "fixture_story.h"
#include "fixture_timeline.h"

/* The character of line y at column x of a frame without wide ones; static. */
static const char *cell(const char *frame, int x, int y)
{
	static char out[8];
	const char *s = frame, *at;

	while (y--)
		s = strchr(s, '\n') + 1;
	while (x-- && *s && *s != '\n')
		ty_utf8_next(&s);
	at = s;
	if (!*s || *s == '\n')
		return " ";
	ty_utf8_next(&s);
	memcpy(out, at, (size_t)(s - at));
	out[s - at] = 0;
	return out;
}

static int line_of_thread(const struct ty_timeline *t, int32_t tid)
{
	uint32_t thread = ty_model_thread_find(t->m, tid, ty_model_summary(t->m)->end_ns);
	uint32_t row = ty_tracks_find(&t->tracks, TY_ROW_THREAD, thread);

	assert_int_not_equal(row, TY_NONE);
	return t->lay.rows_y + (int)(row - t->top);
}

/* C: only what waited and what held it up, whatever lies between them. */
static void the_chain_alone(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t;
	const char *s;

	in.at_finding = 1;
	t = ty_tl_open(&in);
	ty_tl_frame(t, &ty_tl_utf8, 100, 30);
	ty_timeline_ops.act(t, TY_ACT_ONLY);
	ty_tl_work(t);
	assert_string_equal(ty_query_text(t->filter), "tid:100,101");
	s = ty_tl_frame(t, &ty_tl_utf8, 100, 30);
	assert_non_null(strstr(s, " filter: tid:100,101 "));
	assert_non_null(strstr(s, " webserver"));
	assert_non_null(strstr(s, " backup "));
	assert_null(strstr(s, " log"));
	assert_null(strstr(s, " kworker/1:0 "));
	assert_false(t->arrows.on); /* as before */
	ty_timeline_ops.act(t, TY_ACT_BACK);
	assert_null(t->filter);
	/* another wait under the cursor, while the chain is computed, is not what was requested */
	ty_timeline_ops.act(t, TY_ACT_ARROWS);
	ty_tl_frame(t, &ty_tl_utf8, 100, 30);
	t->arrows.only = true;
	t->arrows.was_on = false;
	t->arrows.thread++;
	ty_tl_frame(t, &ty_tl_utf8, 100, 30);
	assert_false(t->arrows.only);
	assert_false(t->arrows.on);
	/* without a wait there is none */
	t->row = ty_tracks_find(&t->tracks, TY_ROW_CPU, 0);
	ty_timeline_ops.act(t, TY_ACT_ONLY);
	assert_non_null(strstr(t->message, "no wait is under the cursor"));
	ty_timeline_free(t);
	ty_model_free(m);
}

/* The web server waited until the backup gave the lock back, at 3.51 s. */
static void arrows_lead_from_who_ended_it(void **state)
{
	static const struct {
		const char *tail, *up, *down, *line;
	} sign[] = {{"o", "^", "v", "|"}, {"\u25cf", "\u25b2", "\u25bc", "\u2502"}};
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t;
	char *plain;

	in.at_finding = 1;
	t = ty_tl_open(&in);
	plain = strdup(ty_tl_frame(t, &ty_tl_utf8, 100, 30));
	ty_timeline_ops.act(t, TY_ACT_ARROWS);
	assert_non_null(strstr(t->message, "arrows"));
	for (int utf8 = 0; utf8 < 2; utf8++) {
		const char *s = ty_tl_frame(t, utf8 ? &ty_tl_utf8 : &ty_tl_ascii, 100, 30);
		int x = t->lay.cells_x + (int)ty_viewport_column(&t->vp,
								 t->arrows.link[0].waker.ts_ns,
								 (uint32_t)t->lay.cells_w);
		int web = line_of_thread(t, TY_STORY_WEB),
		    backup = line_of_thread(t, TY_STORY_BACKUP);

		assert_true(t->arrows.links >= 2);
		assert_string_equal(cell(s, x, backup), sign[utf8].tail);
		assert_string_equal(cell(s, x, web),
				    web < backup ? sign[utf8].up : sign[utf8].down);
		for (int y = (web < backup ? web : backup) + 1; y < (web < backup ? backup : web);
		     y++)
			if (y != line_of_thread(t, TY_STORY_LOGGER)) /* wide characters */
				assert_string_equal(cell(s, x, y), sign[utf8].line);
	}
	/* Of a row out of sight the line goes to the edge; the frame stays whole. */
	for (int h = 10; h < 30; h++)
		ty_tl_frame(t, &ty_tl_utf8, 60, h);
	/* Elsewhere there are others, or none; and off is as before. */
	ty_timeline_ops.act(t, TY_ACT_TIME_FIRST);
	ty_tl_frame(t, &ty_tl_utf8, 100, 30);
	ty_timeline_ops.act(t, TY_ACT_UNDO);
	ty_timeline_ops.act(t, TY_ACT_ARROWS);
	ty_timeline_free(t);
	t = ty_tl_open(&in);
	ty_timeline_ops.act(t, TY_ACT_ARROWS);
	ty_timeline_ops.act(t, TY_ACT_ARROWS);
	t->message[0] = 0;
	assert_string_equal(ty_tl_frame(t, &ty_tl_utf8, 100, 30), plain);
	free(plain);
	ty_timeline_free(t);
	ty_model_free(m);
}

/* Every cell of the strip is with the thread that the path is with for most of the cell. */
static void the_path_is_laid_over_the_rows(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t = ty_tl_open(&in);
	const struct ty_path *p = &t->route.path;
	const char *s;
	int seen = 0;

	ty_timeline_ops.act(t, TY_ACT_PATH);
	assert_non_null(strstr(t->message, "critical path: "));
	assert_true(t->route.made && p->seg.n > 3);
	s = ty_tl_frame(t, &ty_tl_ascii, 140, 40);
	assert_non_null(strstr(s, "critical path"));
	assert_non_null(strstr(s, " backup/101 "));
	for (int c = 0; c < t->lay.cells_w; c++) {
		uint64_t a = ty_viewport_edge(&t->vp, (uint32_t)c, (uint32_t)t->lay.cells_w),
			 b = ty_viewport_edge(&t->vp, (uint32_t)c + 1, (uint32_t)t->lay.cells_w),
			 most = 0;
		uint32_t with = TY_NONE;

		for (size_t i = 0; i < p->seg.n; i++) {
			uint64_t from = p->seg.v[i].start_ns > a ? p->seg.v[i].start_ns : a,
				 to = p->seg.v[i].end_ns < b ? p->seg.v[i].end_ns : b;

			if (to > from && to - from > most && p->seg.v[i].what != TY_SEG_LOST) {
				most = to - from;
				with = p->seg.v[i].thread;
			}
		}
		if (with == TY_NONE || most * 2 < b - a)
			continue;
		assert_string_equal(cell(s, t->lay.cells_x + c,
					 line_of_thread(t, ty_model_thread(m, with)->tid)),
				    "=");
		seen++;
	}
	assert_true(seen > t->lay.cells_w / 2);
	t->message[0] = 0;
	ty_tl_golden("path-80x24", ty_tl_frame(t, &ty_tl_utf8, 80, 24));
	ty_tl_golden("path-80x24-ascii", ty_tl_frame(t, &ty_tl_ascii, 80, 24));
	assert_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 40, 9), "critical"));
	ty_timeline_ops.act(t, TY_ACT_PATH);
	assert_null(strstr(ty_tl_frame(t, &ty_tl_ascii, 140, 40), "| backup/101"));
	/* Again: it is not looked for anew. */
	ty_timeline_ops.act(t, TY_ACT_PATH);
	assert_non_null(strstr(t->message, "critical path: "));
	ty_timeline_free(t);
	ty_model_free(m);
}

static void without_a_command_there_is_no_path(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_explain x = *in.explain;
	struct ty_timeline *t;

	x.command_tid = 0;
	in.explain = &x;
	t = ty_tl_open(&in);
	ty_timeline_ops.act(t, TY_ACT_PATH);
	assert_non_null(strstr(t->message, "no command was traced"));
	assert_false(t->route.on);
	ty_timeline_free(t);
	ty_model_free(m);
}

/* In threads of their own, as in the real program: made, stopped and made anew in any order. */
static void aside_and_stopped_at_any_time(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	const struct ty_palette colors = {.mode = TY_COLOR_256, .utf8 = true};
	static const enum ty_action acts[] = {TY_ACT_ARROWS,  TY_ACT_PATH, TY_ACT_NEXT,
					      TY_ACT_UP,      TY_ACT_DOWN, TY_ACT_SPAN_NEXT,
					      TY_ACT_ZOOM_OUT};
	struct ty_timeline *t;
	struct ty_grid g;
	unsigned seed = 5;

	in.aside = true;
	t = ty_tl_open(&in);
	assert_int_equal(ty_grid_init(&g, 80, 24), 0);
	for (int i = 0; i < 1500; i++) {
		ty_timeline_ops.act(t, acts[(unsigned)rand_r(&seed) % 7]);
		if (i % 50 == 0) {
			ty_grid_fini(&g);
			assert_int_equal(
				ty_grid_init(&g, 40 + rand_r(&seed) % 160, 10 + rand_r(&seed) % 50),
				0);
		}
		if (rand_r(&seed) % 2)
			ty_timeline_ops.draw(t, &g, &colors);
		if (rand_r(&seed) % 2 && ty_timeline_ops.wait_ms(t) >= 0)
			ty_timeline_ops.work(t);
	}
	ty_grid_fini(&g);
	ty_timeline_free(t);
	ty_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrows_lead_from_who_ended_it),
		cmocka_unit_test(the_chain_alone),
		cmocka_unit_test(the_path_is_laid_over_the_rows),
		cmocka_unit_test(without_a_command_there_is_no_path),
		cmocka_unit_test(aside_and_stopped_at_any_time),
	};

	ty_tl_locale();
	return cmocka_run_group_tests_name("path_overlay", tests, NULL, NULL);
}
