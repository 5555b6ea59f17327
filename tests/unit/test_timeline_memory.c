/* SPDX-License-Identifier: MIT */
/* Memory samples on the timeline: strips under the threads that have some, their details under the
 * cursor, and the memory view above the timeline's window. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "fixture_story.h"
#include "fixture_timeline.h"

/* What memory_load gives; rc: what it returns. */
struct samples {
	struct ty_memory_input in;
	struct ty_mem_points points;
	int rc, loads;
};

static int give(void *ctx, const atomic_bool *stop, const struct ty_memory_input **out,
		struct ty_err *err)
{
	struct samples *m = ctx;

	m->loads++;
	*out = &m->in;
	return m->rc ? ty_fail(err, -m->rc, TY_NO_OFFSET, "the samples are damaged") : 0;
}

/* Of the backup: every 10 ms for 3 s, 90 cycles; one of 50,000 at 1.5 s. One of an unknown thread.
 * All on CPU 1. */
static void make(struct samples *v)
{
	*v = (struct samples){0};
	v->in = (struct ty_memory_input){.points = &v->points,
					 .path = "trace.dat",
					 .line_bytes = 64,
					 .start_ns = TY_STORY_START,
					 .end_ns = TY_STORY_START + 3500000000};
	assert_int_equal(ty_mem_points_begin(&v->points, NULL, 0), 0);
	for (unsigned i = 0; i <= 300; i++) {
		struct ty_mem m = {.ts_ns = TY_STORY_START + 100000000 + i * 10000000ull,
				   .has = TY_MEM_HAS_TIME | TY_MEM_HAS_VA | TY_MEM_HAS_TOTAL |
					  TY_MEM_HAS_CPU,
				   .cpu = 1,
				   .va = 0x7000 + 8 * i,
				   .pid = i < 300 ? TY_STORY_BACKUP : 999,
				   .tid = i < 300 ? TY_STORY_BACKUP : 999,
				   .who = TY_MEM_THREAD_CONTEXT,
				   .kind = TY_MEM_LOAD,
				   .level = TY_MEM_LV_RAM,
				   .lat_total = i == 140 ? 50000 : 90};

		assert_int_equal(ty_mem_points_add(&v->points, &m, "backup", true), 0);
	}
	assert_int_equal(ty_mem_points_end(&v->points), 0);
}

static struct ty_timeline *opened(struct ty_view_input *in, struct samples *v)
{
	in->host.memory_load = give;
	in->host.ctx = v;
	return ty_tl_open(in);
}

/* To the row of this kind. */
static void to_row(struct ty_timeline *t, unsigned kind)
{
	for (uint32_t i = 0; i < t->tracks.rows.n; i++)
		if (t->tracks.rows.v[i].kind == kind) {
			t->row = i;
			return;
		}
	fail_msg("no such row");
}

static unsigned rows_of(const struct ty_timeline *t, unsigned kind)
{
	unsigned n = 0;

	vec_each (r, &t->tracks.rows)
		n += r->kind == kind;
	return n;
}

static void strips_are_under_their_threads(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct samples v;
	struct ty_timeline *t;
	const char *s;

	make(&v);
	t = opened(&in, &v);
	assert_int_equal(v.loads, 1);
	/* One thread of the recording has samples; a thread without samples has no row. */
	assert_int_equal(rows_of(t, TY_ROW_MEMORY), 1);
	to_row(t, TY_ROW_MEMORY);
	ty_tl_golden("timeline-memory-100x24", ty_tl_frame(t, &ty_tl_utf8, 100, 24));
	t->cursor_ns = TY_STORY_START + 1500000000;
	s = ty_tl_flat(ty_tl_frame(t, &ty_tl_ascii, 100, 30));
	assert_non_null(strstr(s, "the longest 50000 cycles; the farthest source: memory"));
	ty_timeline_ops.act(t, TY_ACT_TIME_FIRST);
	s = ty_tl_flat(ty_tl_frame(t, &ty_tl_ascii, 100, 30));
	assert_non_null(strstr(s, "no memory sample in this cell"));
	/* Folded with the thread, and back; a filter and another order of rows keep it. */
	ty_timeline_ops.act(t, TY_ACT_FOLD);
	assert_int_equal(rows_of(t, TY_ROW_MEMORY), 0);
	ty_timeline_ops.act(t, TY_ACT_FOLD);
	assert_int_equal(rows_of(t, TY_ROW_MEMORY), 1);
	ty_timeline_free(t);
	ty_mem_points_fini(&v.points);
	ty_model_free(m);
}

/* A CPU's is there when the CPU is unfolded; it has unknown threads, too. */
static void strips_are_under_their_cpus(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct samples v;
	struct ty_timeline *t;
	const char *s;

	make(&v);
	t = opened(&in, &v);
	assert_int_equal(rows_of(t, TY_ROW_CPU_MEMORY), 0);
	t->row = ty_tracks_find(&t->tracks, TY_ROW_CPU, 0);
	ty_timeline_ops.act(t, TY_ACT_FOLD);
	assert_int_equal(rows_of(t, TY_ROW_CPU_MEMORY), 0); /* it has no samples */
	t->row = ty_tracks_find(&t->tracks, TY_ROW_CPU, 1);
	ty_timeline_ops.act(t, TY_ACT_FOLD);
	assert_int_equal(rows_of(t, TY_ROW_CPU_MEMORY), 1);
	to_row(t, TY_ROW_CPU_MEMORY);
	t->cursor_ns = TY_STORY_START + 3100000000; /* of an unknown thread */
	ty_tl_golden("timeline-memory-cpu-100x24", ty_tl_frame(t, &ty_tl_utf8, 100, 24));
	/* Enter changes the colours, here and in the view; Space folds it away. */
	s = ty_tl_flat(ty_tl_frame(t, &ty_tl_ascii, 100, 30));
	assert_non_null(strstr(s, "colors: number of samples"));
	ty_timeline_ops.act(t, TY_ACT_OPEN);
	s = ty_tl_flat(ty_tl_frame(t, &ty_tl_ascii, 100, 30));
	assert_non_null(strstr(s, "colors: ? grey unknown, c green"));
	assert_non_null(strstr(s, "mmmmmmmmmmmm")); /* without colours */
	assert_int_equal(ty_timeline_ops.act(t, TY_ACT_MEMORY), TY_VIEW_PUSH);
	assert_true(ty_memory_view_by_source(t->memory.view));
	ty_timeline_ops.mouse(t, &(struct ty_mouse){.what = TY_MOUSE_DOUBLE,
						    .x = t->lay.cells_x + 5,
						    .y = t->lay.rows_y + (int)(t->row - t->top)});
	assert_false(ty_memory_view_by_source(t->memory.view));
	ty_timeline_ops.act(t, TY_ACT_FOLD);
	assert_int_equal(rows_of(t, TY_ROW_CPU_MEMORY), 0);
	assert_int_equal(t->tracks.rows.v[t->row].kind, TY_ROW_CPU);
	ty_timeline_free(t);
	ty_mem_points_fini(&v.points);
	ty_model_free(m);
}

static void the_view_opens_on_the_window(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct samples v;
	const struct ty_view_ops *ops;
	struct ty_timeline *t;
	void *view;
	const char *s;

	make(&v);
	v.in.end_ns = TY_STORY_START + 3200000000;
	t = opened(&in, &v);
	ty_tl_frame(t, &ty_tl_utf8, 100, 30);
	ty_viewport_jump(&t->vp, TY_STORY_START + 1000000000, TY_STORY_START + 2000000000);
	t->cursor_ns = TY_STORY_START + 1500000000;
	assert_int_equal(ty_timeline_ops.act(t, TY_ACT_MEMORY), TY_VIEW_PUSH);
	ty_timeline_ops.child(t, &ops, &view);
	assert_ptr_equal(ops, &ty_memory_view_ops);
	s = ty_tl_view_frame(ops, view, &ty_tl_utf8, 100, 30);
	assert_non_null(strstr(s, "1.000 s at 1.00"));
	assert_non_null(strstr(s, "100 samples, 100 with latency"));
	assert_int_equal(ops->act(view, TY_ACT_BACK), TY_VIEW_CLOSE);
	ty_timeline_ops.resumed(t);
	/* The samples were read when less of the recording was known. */
	ty_viewport_jump(&t->vp, TY_STORY_START + 3300000000, TY_STORY_START + 3450000000);
	t->cursor_ns = TY_STORY_START + 3400000000;
	assert_int_equal(ty_timeline_ops.act(t, TY_ACT_MEMORY), TY_VIEW_PUSH);
	ty_timeline_ops.child(t, &ops, &view);
	s = ty_tl_view_frame(ops, view, &ty_tl_utf8, 100, 30);
	assert_non_null(strstr(s, "150.000 ms at 3.3"));
	assert_int_equal(ops->act(view, TY_ACT_BACK), TY_VIEW_CLOSE);
	ty_timeline_ops.resumed(t);
	ty_timeline_ops.child(t, &ops, &view);
	assert_null(ops); /* nothing is open any more */
	ty_timeline_free(t);
	ty_mem_points_fini(&v.points);
	ty_model_free(m);
}

static void none_and_damaged_are_told(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct samples v = {.rc = -TY_ENOTFOUND};
	struct ty_timeline *t;

	t = ty_tl_open(&in);
	ty_timeline_ops.act(t, TY_ACT_MEMORY);
	assert_non_null(strstr(t->message, "this recording has no memory samples"));
	ty_timeline_free(t);
	in.host.memory_load = give;
	in.host.ctx = &v;
	t = ty_tl_open(&in);
	assert_string_equal(t->message, "");
	ty_timeline_ops.act(t, TY_ACT_MEMORY);
	assert_non_null(strstr(t->message, "this recording has no memory samples"));
	ty_timeline_free(t);
	v.rc = -TY_EFORMAT;
	t = ty_tl_open(&in);
	assert_non_null(strstr(t->message, "the samples are damaged"));
	assert_int_equal(rows_of(t, TY_ROW_MEMORY), 0);
	ty_timeline_free(t);
	ty_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strips_are_under_their_threads),
		cmocka_unit_test(strips_are_under_their_cpus),
		cmocka_unit_test(the_view_opens_on_the_window),
		cmocka_unit_test(none_and_damaged_are_told),
	};

	ty_tl_locale();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
