/* SPDX-License-Identifier: MIT */
/* The flame graph on made-up samples: golden frames, keys, mouse, search, callers and callees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "fixture_model.h"
#include "fixture_timeline.h"
#include "flame_priv.h"
#include "grid.h"

static struct ty_samples *samples;

/* n samples of a stack, the outermost function first; "k:" before a name: of the kernel. */
static void put(uint64_t ns, int32_t tid, unsigned n, const char *stack)
{
	struct ty_sample v = {.ns = ns, .period = 10101010, .tid = tid, .pid = 100};
	char text[400], *save = NULL;

	strcpy(text, stack);
	for (char *f = strtok_r(text, ">", &save); f; f = strtok_r(NULL, ">", &save)) {
		const bool kernel = !strncmp(f, "k:", 2);
		struct ty_sample_frame frame = {
			.func = ty_samples_func(samples, f + 2 * kernel,
						kernel ? "[kernel.kallsyms]" : "/usr/bin/prog",
						kernel)};

		v.node = ty_samples_node(samples, v.node, ty_samples_frame(samples, &frame));
	}
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(vec_push(&samples->v, v), 0);
}

static int setup(void **state)
{
	samples = ty_samples_new();
	assert_non_null(samples);
	strcpy(samples->event, "cpu-clock");
	samples->clock = true;
	put(1000, 7, 40, "main>compute>matrix_multiply");
	put(2000, 7, 10, "main>compute");
	put(3000, 7, 20, "main>parse>read_line>k:entry_SYSCALL_64>k:vfs_read");
	put(4000, 8, 5, "main>parse>parse_number");
	put(5000, 8, 25, "start_thread>worker>matrix_multiply");
	ty_samples_sort(samples);
	return 0;
}

static int teardown(void **state)
{
	ty_samples_free(samples);
	return 0;
}

static struct ty_flame_view *open_view(int32_t tid)
{
	struct ty_flame_input in = {.samples = samples,
				    .to_ns = UINT64_MAX,
				    .tid = tid,
				    .pid = tid ? 100 : 0,
				    .comm = "app",
				    .when = "1.000 s, starting at 0.500 s"};
	struct ty_flame_view *v = ty_flame_view_new(&in);

	assert_non_null(v);
	return v;
}

static const char *frame(struct ty_flame_view *v, const struct ty_palette *p, int w, int h)
{
	return ty_tl_view_frame(&ty_flame_view_ops, v, p, w, h);
}

static void act(struct ty_flame_view *v, enum ty_action a)
{
	assert_int_equal(ty_flame_view_ops.act(v, a), TY_VIEW_CHANGED);
	frame(v, &ty_tl_utf8, 80, 24);
}

static const char *chosen(const struct ty_flame_view *v)
{
	return ty_flame_name(v, ty_flame_node_of(v, v->at, v->node));
}

/* Where most stacks are deep, what ran is first at every size, not the frames of a runtime. */
static void deep_stacks_open_on_what_ran(void **state)
{
	struct ty_samples *all = samples;
	char deep[400] = "start";
	struct ty_flame_view *v;

	for (int i = 0; i < 24; i++)
		strcat(deep, ">interpret");
	strcat(deep, ">sha256_block_data_order");
	samples = ty_samples_new();
	strcpy(samples->event, "cpu-clock");
	put(1000, 7, 9, deep);
	put(2000, 7, 4, "start>parse");
	ty_samples_sort(samples);
	for (int large = 0; large < 2; large++) {
		const int w = large ? 200 : 80, h = large ? 60 : 24;
		const char *text;

		v = open_view(0);
		text = frame(v, &ty_tl_utf8, w, h);
		assert_non_null(strstr(text, "sha256_block_data_order 69.2%"));
		assert_non_null(strstr(text, "leaf functions are first"));
		text = frame(v, &ty_tl_ascii, 40, 24);
		assert_non_null(strstr(text, "|sha256_block_data_o~ 69.2%"));
		act(v, TY_ACT_FLAME);
		assert_int_equal(!strstr(frame(v, &ty_tl_utf8, w, h), "sha256"), !large);
		ty_flame_view_free(v);
	}
	ty_samples_free(samples);
	samples = all;
}

static void frames(void **state)
{
	struct ty_flame_view *v = open_view(0);
	struct ty_palette color = ty_tl_utf8;

	ty_tl_golden("flame-80x24", frame(v, &ty_tl_utf8, 80, 24));
	ty_tl_golden("flame-80x24-ascii", frame(v, &ty_tl_ascii, 80, 24));
	ty_tl_golden("flame-200x60", frame(v, &ty_tl_utf8, 200, 60));
	ty_tl_golden("flame-40x10", frame(v, &ty_tl_utf8, 40, 10));
	color.mode = TY_COLOR_256;
	ty_tl_golden("flame-80x24-color", frame(v, &color, 80, 24));
	act(v, TY_ACT_FOLD);
	ty_tl_golden("flame-below-80x24", frame(v, &ty_tl_utf8, 80, 24));
	act(v, TY_ACT_FLAME);
	ty_tl_golden("flame-inverted-80x24", frame(v, &ty_tl_utf8, 80, 24));
	act(v, TY_ACT_UP);
	ty_tl_golden("flame-inverted-ran-80x24", frame(v, &ty_tl_utf8, 80, 24));
	ty_flame_view_free(v);
}

/* With switches a box is as wide as its part of the time on a CPU; what has no sample is a box,
 * too. */
static void boxes_of_time(void **state)
{
	const struct ty_model *m;
	struct ty_flame_view *v;

	(void)state;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 500, 0, 0, 7);
	ty_mx_switch(0, 3500, 7, 0, 8);
	ty_mx_switch(0, 6500, 8, 0, 9);
	ty_mx_switch(0, 7500, 9, 0, 0);
	m = ty_mx_end();
	samples->of_time = samples->all_threads = true;
	v = ty_flame_view_new(&(struct ty_flame_input){
		.samples = samples, .model = m, .to_ns = UINT64_MAX, .when = "all"});
	assert_non_null(v);
	assert_non_null(strstr(frame(v, &ty_tl_utf8, 80, 24),
			       "100.0%: 7.00 us of 7.00 us on CPU, 100 samples of cpu-clock"));
	act(v, TY_ACT_DOWN);
	assert_string_equal(chosen(v), "main");
	/* All of 7 and a sixth of 8, which has fewer samples in the same time. */
	assert_non_null(strstr(frame(v, &ty_tl_utf8, 80, 24),
			       "~3.50 us of 7.00 us on CPU, 75 of 100 samples"));
	act(v, TY_ACT_RIGHT);
	assert_string_equal(chosen(v), "start_thread");
	act(v, TY_ACT_RIGHT);
	assert_non_null(strstr(frame(v, &ty_tl_utf8, 80, 24),
			       "14.3%: 1.00 us of 7.00 us on CPU, 0 samples"));
	assert_string_equal(chosen(v), "[threads without samples]");
	ty_flame_view_free(v);
	samples->of_time = samples->all_threads = false;
	ty_mx_drop();
}

static void keys_move(void **state)
{
	struct ty_flame_view *v = open_view(0);

	frame(v, &ty_tl_utf8, 80, 24);
	assert_string_equal(chosen(v), "all");
	ty_tl_moves(&ty_flame_view_ops, v, true);
	act(v, TY_ACT_ROW_LAST);
	assert_string_equal(chosen(v), "matrix_multiply");
	act(v, TY_ACT_ROW_FIRST);
	assert_string_equal(chosen(v), "all");
	act(v, TY_ACT_DOWN);
	assert_string_equal(chosen(v), "main");
	act(v, TY_ACT_RIGHT);
	assert_string_equal(chosen(v), "start_thread");
	act(v, TY_ACT_RIGHT); /* the last one */
	assert_string_equal(chosen(v), "start_thread");
	act(v, TY_ACT_LEFT);
	act(v, TY_ACT_DOWN);
	assert_string_equal(chosen(v), "compute"); /* the largest first */
	act(v, TY_ACT_RIGHT);
	assert_string_equal(chosen(v), "parse");
	act(v, TY_ACT_OPEN);
	assert_non_null(strstr(frame(v, &ty_tl_utf8, 80, 24), "read_line"));
	ty_tl_golden("flame-zoom-80x24", frame(v, &ty_tl_utf8, 80, 24));
	act(v, TY_ACT_UP);
	assert_string_equal(chosen(v), "main");
	act(v, TY_ACT_DOWN); /* on the way to what is zoomed in on */
	assert_string_equal(chosen(v), "parse");
	act(v, TY_ACT_BACK);
	act(v, TY_ACT_BACK);
	assert_int_equal(ty_flame_view_ops.act(v, TY_ACT_BACK), TY_VIEW_CLOSE);
	act(v, TY_ACT_FOLD); /* the root below: up is deeper */
	act(v, TY_ACT_UP);
	assert_string_equal(chosen(v), "read_line");
	assert_int_equal(ty_flame_view_ops.act(v, TY_ACT_HELP), TY_VIEW_HELP);
	assert_int_equal(ty_flame_view_ops.act(v, TY_ACT_QUIT), TY_VIEW_CLOSE);
	ty_flame_view_free(v);
}

static void type(struct ty_flame_view *v, const char *text)
{
	act(v, TY_ACT_SEARCH);
	for (; *text; text++)
		ty_flame_view_ops.text(v, (uint32_t)*text);
	assert_true(ty_flame_view_ops.wants_text(v));
	ty_flame_view_ops.text(v, TY_KEY_ENTER);
	assert_false(ty_flame_view_ops.wants_text(v));
}

/* There is no frame between them: what the first requests, the second acts on. */
static void keys_of_one_burst(void **state)
{
	static const enum ty_action then[] = {TY_ACT_UP, TY_ACT_LEFT, TY_ACT_ROW_FIRST, TY_ACT_OPEN,
					      TY_ACT_ZOOM_OUT};

	for (size_t i = 0; i < sizeof(then) / sizeof(*then); i++) {
		struct ty_flame_view *v = open_view(7);

		frame(v, &ty_tl_utf8, 80, 24);
		act(v, TY_ACT_DOWN);
		ty_flame_view_ops.act(v, TY_ACT_CHAIN);
		ty_flame_view_ops.act(v, then[i]);
		ty_flame_view_ops.act(v, TY_ACT_FLAME);
		ty_flame_view_ops.act(v, then[i]);
		ty_flame_view_ops.act(v, TY_ACT_FOCUS);
		ty_flame_view_ops.act(v, then[i]);
		frame(v, &ty_tl_utf8, 80, 24);
		ty_flame_view_free(v);
	}
}

/* 0 shows all boxes; where that is so, all of the recording. */
static void all_is_all(void **state)
{
	struct ty_model *m = ty_tl_stall();
	const struct ty_summary *s = ty_model_summary(m);
	struct ty_flame_view *v = open_view(0);

	v->in.model = m;
	v->in.from_ns = s->start_ns + 1;
	v->in.to_ns = s->end_ns;
	v->pane[1].zoom = 0;
	ty_flame_view_ops.act(v, TY_ACT_ALL);
	assert_int_equal(v->in.from_ns, s->start_ns);
	assert_non_null(strstr(frame(v, &ty_tl_utf8, 80, 24), "the whole recording"));
	assert_int_equal(*v->message, 0);
	ty_flame_view_ops.act(v, TY_ACT_ALL);
	assert_non_null(strstr(frame(v, &ty_tl_utf8, 80, 24), "not zoomed"));
	ty_flame_view_free(v);
	v = open_view(0);
	frame(v, &ty_tl_utf8, 80, 24);
	v->in.model = m;
	v->in.from_ns = s->start_ns + 1;
	v->pane[1].zoom = v->node = 1;
	ty_flame_view_ops.act(v, TY_ACT_ALL);
	assert_int_equal(v->pane[1].zoom, 0);
	assert_int_equal(v->in.from_ns, s->start_ns + 1);
	ty_flame_view_free(v);
	ty_model_free(m);
}

static void search_and_callers(void **state)
{
	struct ty_flame_view *v = open_view(0);
	uint32_t first;

	frame(v, &ty_tl_utf8, 80, 24);
	type(v, "matrix");
	first = v->node;
	act(v, TY_ACT_NEXT);
	assert_int_not_equal(v->node, first);
	assert_string_equal(chosen(v), "matrix_multiply");
	act(v, TY_ACT_PREV);
	assert_int_equal(v->node, first);
	assert_string_equal(chosen(v), "matrix_multiply");
	assert_non_null(strstr(frame(v, &ty_tl_utf8, 80, 24), "matrix: 65 samples"));
	act(v, TY_ACT_CHAIN);
	/* Of both callers: 65 samples of the function. */
	assert_non_null(strstr(frame(v, &ty_tl_utf8, 80, 24), "65 of 65 samples"));
	ty_tl_golden("flame-callers-80x24", frame(v, &ty_tl_utf8, 80, 24));
	act(v, TY_ACT_UP);
	assert_int_equal(v->at, 0);
	assert_string_equal(chosen(v), "compute");
	act(v, TY_ACT_RIGHT);
	assert_string_equal(chosen(v), "worker");
	act(v, TY_ACT_UP);
	assert_string_equal(chosen(v), "start_thread");
	act(v, TY_ACT_DOWN);
	act(v, TY_ACT_DOWN);
	assert_int_equal(v->at, 1);
	assert_string_equal(chosen(v), "matrix_multiply");
	act(v, TY_ACT_CHAIN);
	assert_int_equal(ty_flame_node_of(v, 1, 0)->total, 100);
	ty_flame_view_free(v);
	/* Esc and q go back to the graph, as it was. */
	v = open_view(0);
	act(v, TY_ACT_FLAME);
	act(v, TY_ACT_DOWN);
	act(v, TY_ACT_CHAIN);
	assert_true(v->sandwich && !v->inverted);
	act(v, TY_ACT_BACK);
	assert_true(!v->sandwich && v->inverted);
	act(v, TY_ACT_DOWN);
	act(v, TY_ACT_CHAIN);
	assert_true(v->sandwich);
	act(v, TY_ACT_QUIT);
	assert_true(!v->sandwich && v->inverted);
	assert_int_equal(ty_flame_view_ops.act(v, TY_ACT_QUIT), TY_VIEW_CLOSE);
	ty_flame_view_free(v);
}

static void whose_samples(void **state)
{
	struct ty_flame_view *v = open_view(8);

	/* Of all at first; the head says so, and what Tab shows. */
	assert_non_null(strstr(frame(v, &ty_tl_utf8, 80, 24), "all threads (Tab: process 100)"));
	assert_int_equal(ty_flame_node_of(v, 1, 0)->total, 100);
	act(v, TY_ACT_FOCUS);
	assert_non_null(strstr(frame(v, &ty_tl_utf8, 80, 24), "process 100 (Tab: thread app/8)"));
	assert_int_equal(ty_flame_node_of(v, 1, 0)->total, 100);
	act(v, TY_ACT_FOCUS);
	assert_non_null(strstr(frame(v, &ty_tl_utf8, 80, 24), "thread app/8 (Tab: all threads)"));
	assert_int_equal(ty_flame_node_of(v, 1, 0)->total, 30);
	ty_flame_view_free(v);
	v = open_view(99);
	act(v, TY_ACT_FOCUS);
	act(v, TY_ACT_FOCUS);
	assert_non_null(strstr(frame(v, &ty_tl_utf8, 80, 24), "no sample in this window"));
	assert_int_equal(ty_flame_view_ops.act(v, TY_ACT_DOWN), TY_VIEW_CHANGED);
	ty_flame_view_free(v);
}

/* A wait from ns on, of a stack as above. */
static void put_wait(uint64_t ns, uint64_t length, int32_t tid, const char *stack)
{
	struct ty_sample v;

	put(ns, tid, 1, stack);
	v = samples->v.v[--samples->v.n];
	v.period = length;
	assert_int_equal(vec_push(&samples->waits, v), 0);
}

/* Waits count by their length within the window; both are one tree, by time. */
static void waits_beside_samples(void **state)
{
	struct ty_flame_input in = {.samples = samples,
				    .from_ns = 0,
				    .to_ns = 2000000000,
				    .when = "2.000 s, starting at 0.000 s"};
	struct ty_flame_view *v = open_view(8);
	const char *text;

	act(v, TY_ACT_LEDGER);
	assert_non_null(strstr(frame(v, &ty_tl_utf8, 80, 24), "no stack of a wait was recorded"));
	ty_flame_view_free(v);
	put_wait(100, 1000000000, 7, "start_thread>worker>flock>[sleeping]");
	put_wait(1500000000, 1000000000, 8, "start_thread>worker>poll>[sleeping]");
	put_wait(2000000000, 1000000000, 8, "start_thread>worker>fsync>[blocked]");
	samples->clock = true;
	v = ty_flame_view_new(&in);
	assert_non_null(v);
	frame(v, &ty_tl_utf8, 80, 24);
	assert_int_equal(ty_flame_node_of(v, 1, 0)->total, 100);
	act(v, TY_ACT_LEDGER);
	/* The second one up to the window's end, the third not at all. */
	assert_int_equal(ty_flame_node_of(v, 1, 0)->total, 2);
	assert_int_equal(ty_flame_node_of(v, 1, 0)->weight, 1500000000);
	text = frame(v, &ty_tl_utf8, 80, 24);
	assert_non_null(strstr(text, "waits with a stack: all threads"));
	assert_non_null(strstr(text, "100.0%: 1.500 s of 1.500 s, 2 of 2 waits"));
	act(v, TY_ACT_LEDGER);
	assert_int_equal(ty_flame_node_of(v, 1, 0)->total, 102);
	assert_int_equal(ty_flame_node_of(v, 1, 0)->weight, 1500000000 + 100 * 10101010ull);
	assert_non_null(strstr(frame(v, &ty_tl_utf8, 80, 24), "samples and waits: all threads"));
	act(v, TY_ACT_LEDGER);
	assert_int_equal(ty_flame_node_of(v, 1, 0)->total, 100);
	ty_flame_view_free(v);
	/* Cycles and nanoseconds have no sum. */
	samples->clock = false;
	v = ty_flame_view_new(&in);
	frame(v, &ty_tl_utf8, 80, 24);
	act(v, TY_ACT_LEDGER);
	act(v, TY_ACT_LEDGER);
	assert_int_equal(ty_flame_node_of(v, 1, 0)->total, 100);
	ty_flame_view_free(v);
	samples->waits.n = 0;
}

static void mouse_chooses(void **state)
{
	struct ty_flame_view *v = open_view(0);
	struct ty_mouse m = {TY_MOUSE_CLICK, 78, 2, false};

	frame(v, &ty_tl_utf8, 80, 24);
	assert_int_equal(ty_flame_view_ops.mouse(v, &m), TY_VIEW_CHANGED);
	assert_string_equal(chosen(v), "start_thread");
	m.y = 3;
	m.what = TY_MOUSE_DOUBLE;
	assert_int_equal(ty_flame_view_ops.mouse(v, &m), TY_VIEW_CHANGED);
	assert_string_equal(chosen(v), "worker");
	frame(v, &ty_tl_utf8, 80, 24);
	m.x = 0; /* it takes the whole width, and so does what called it */
	assert_int_equal(ty_flame_view_ops.mouse(v, &m), TY_VIEW_CHANGED);
	assert_string_equal(chosen(v), "worker");
	m.y = 15;
	assert_int_equal(ty_flame_view_ops.mouse(v, &m), TY_VIEW_IGNORED);
	m = (struct ty_mouse){TY_MOUSE_WHEEL_UP, 0, 5, false};
	assert_int_equal(ty_flame_view_ops.mouse(v, &m), TY_VIEW_CHANGED);
	assert_string_equal(chosen(v), "start_thread");
	ty_flame_view_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(deep_stacks_open_on_what_ran),
					   cmocka_unit_test(keys_of_one_burst),
					   cmocka_unit_test(frames),
					   cmocka_unit_test(boxes_of_time),
					   cmocka_unit_test(keys_move),
					   cmocka_unit_test(search_and_callers),
					   cmocka_unit_test(all_is_all),
					   cmocka_unit_test(whose_samples),
					   cmocka_unit_test(waits_beside_samples),
					   cmocka_unit_test(mouse_chooses)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
