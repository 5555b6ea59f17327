/* SPDX-License-Identifier: MIT */
/* What the timeline shows, on a small made-up recording: golden frames (tests/golden, made again by
 * `make golden`), every size, every action, and long random walks. */
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
#include "help.h"
#include "samples.h"

#define MS    1000000ull
#define START TY_STORY_START

static void frames_are_as_they_were(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t = ty_tl_open(&in);

	ty_tl_golden("start-80x24", ty_tl_frame(t, &ty_tl_utf8, 80, 24));
	ty_tl_golden("start-80x24-ascii", ty_tl_frame(t, &ty_tl_ascii, 80, 24));
	ty_tl_golden("start-200x60", ty_tl_frame(t, &ty_tl_utf8, 200, 60));
	ty_tl_golden("start-200x60-ascii", ty_tl_frame(t, &ty_tl_ascii, 200, 60));
	ty_tl_golden("start-40x10", ty_tl_frame(t, &ty_tl_utf8, 40, 10));
	ty_timeline_ops.act(t, TY_ACT_NEXT);
	ty_timeline_ops.act(t, TY_ACT_UNDO);
	ty_timeline_ops.act(t, TY_ACT_NEXT);
	ty_timeline_free(t);
	in.at_finding = 1;
	t = ty_tl_open(&in);
	ty_tl_golden("finding-80x24", ty_tl_frame(t, &ty_tl_utf8, 80, 24));
	ty_tl_golden("finding-80x24-ascii", ty_tl_frame(t, &ty_tl_ascii, 80, 24));
	ty_tl_golden("finding-200x60", ty_tl_frame(t, &ty_tl_utf8, 200, 60));
	ty_tl_golden("finding-200x60-ascii", ty_tl_frame(t, &ty_tl_ascii, 200, 60));
	ty_timeline_ops.act(t, TY_ACT_FOCUS);
	ty_tl_golden("list-40x10", ty_tl_frame(t, &ty_tl_utf8, 40, 10));
	ty_timeline_free(t);
	ty_model_free(m);
}

static struct ty_samples *functions;

/* A sample a millisecond of each thread, wherever it was. */
static int functions_load(void *ctx, const atomic_bool *stop, const struct ty_samples **out,
			  struct ty_err *err)
{
	static const char *const names[] = {"parse", "parse", "compress", "parse", "copy"};

	for (unsigned i = 0; i < 8000; i++) {
		const struct ty_sample_frame f = {
			.func = ty_samples_func(functions, names[i / 2 % 5], "/bin/web", false)};
		const struct ty_sample v = {
			.ns = START + i / 2 * MS,
			.tid = i & 1 ? 100 : 101,
			.period = MS,
			.node = ty_samples_node(functions, 0, ty_samples_frame(functions, &f))};

		assert_int_equal(vec_push(&functions->v, v), 0);
	}
	ty_samples_sort(functions);
	*out = functions;
	return ty_samples_by_thread(functions);
}

/* What is opened on top of the timeline: help, chain, ledger, statistics. */
static void pages_are_as_they_were(void **state)
{
	static const struct {
		enum ty_action a;
		const char *name;
	} pages[] = {{TY_ACT_CHAIN, "chain"}, {TY_ACT_LEDGER, "ledger"}, {TY_ACT_STATS, "stats"}};
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_help help = {0}, own = {0};
	const struct ty_view_ops *ops;
	const char *s;
	char name[40];
	void *page;

	in.at_finding = 1;
	in.host.functions_load = functions_load;
	functions = ty_samples_new();
	for (unsigned i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
		struct ty_timeline *t = ty_tl_open(&in);
		enum ty_view_result r = ty_timeline_ops.act(t, pages[i].a);

		while (r == TY_VIEW_CHANGED)
			r = ty_timeline_ops.work(t);
		assert_int_equal(r, TY_VIEW_PUSH);
		ty_timeline_ops.child(t, &ops, &page);
		snprintf(name, sizeof(name), "%s-80x24", pages[i].name);
		ty_tl_golden(name, ty_tl_view_frame(ops, page, &ty_tl_utf8, 80, 24));
		ty_tl_moves(ops, page, false);
		/* It has a help of its own, and what it cannot do it says. */
		own.topic = ops->help(page);
		assert_non_null(own.topic.about);
		s = ty_tl_view_frame(&ty_help_ops, &own, &ty_tl_utf8, 80, 40);
		assert_non_null(strstr(s, own.topic.title));
		assert_non_null(strstr(s, "the next, the previous such line"));
		assert_null(strstr(s, "fit the window"));
		assert_int_equal(ops->act(page, ty_keys_action('G')), TY_VIEW_CHANGED);
		assert_int_equal(t->page.at, t->page.lines.n - 1);
		assert_int_equal(ops->act(page, ty_keys_action('g')), TY_VIEW_CHANGED);
		assert_int_equal(t->page.at, 0);
		assert_int_equal(ops->act(page, ty_keys_action('l')), TY_VIEW_CHANGED);
		s = ty_tl_view_frame(ops, page, &ty_tl_utf8, 80, 24);
		assert_non_null(strstr(s, TY_NO_KEY));
		ty_timeline_free(t);
	}
	ty_tl_golden("help-80x130", ty_tl_view_frame(&ty_help_ops, &help, &ty_tl_utf8, 80, 130));
	ty_tl_golden("help-80x130-ascii",
		     ty_tl_view_frame(&ty_help_ops, &help, &ty_tl_ascii, 80, 130));
	ty_samples_free(functions);
	ty_model_free(m);
}

/* By the name that its row has, not by the one that it had when the window began. */
static void ledger_of_a_renamed_thread(void **state)
{
	const struct ty_build_facts facts = {.cpus = 1, .long_size = 8, .arch = "x86_64"};
	struct ty_event ev = {.u.rename = {.tid = 7, .old_comm = "busy", .new_comm = "later"}},
			out = {.u.sw = {.prev_tid = 7, .prev_state = 1, .prev_comm = "later"}};
	struct ty_view_input in;
	struct ty_timeline *t;
	struct ty_model *m;

	ty_tl_build(&facts);
	ty_tl_switch(0, 0, 0, 0, 7);
	ty_tl_feed(ev, 20, 0, 7, TY_EV_RENAME);
	ty_tl_feed(out, 90, 0, 7, TY_EV_SWITCH);
	m = ty_tl_built();
	in = ty_tl_input(m);
	t = ty_tl_open(&in);
	t->row = ty_tracks_reveal(&t->tracks, ty_model_thread_find(m, 7, t->vp.from_ns));
	assert_true(ty_timeline_ledger(t));
	while (ty_timeline_ops.work(t) == TY_VIEW_CHANGED)
		;
	assert_non_null(strstr(t->page.title, "Ledger of later/7: "));
	ty_timeline_free(t);
	ty_model_free(m);
}

/* Help is searched: the lines that hold it, all of a topic that does, under their titles. */
static void help_is_searched(void **state)
{
	struct ty_help help = {0};
	const char *s;

	ty_tl_view_frame(&ty_help_ops, &help, &ty_tl_utf8, 80, 24);
	ty_tl_moves(&ty_help_ops, &help, false);
	ty_help_ops.act(&help, TY_ACT_SEARCH);
	assert_true(ty_help_ops.wants_text(&help));
	for (s = "LEDGER"; *s; s++)
		ty_help_ops.text(&help, (uint32_t)*s);
	s = ty_tl_view_frame(&ty_help_ops, &help, &ty_tl_utf8, 80, 24);
	assert_non_null(strstr(s, "Analysis"));
	assert_non_null(strstr(s, "ledger: where the time"));
	assert_null(strstr(s, "zoom in"));
	assert_null(strstr(s, "Symbols"));
	assert_non_null(strstr(s, "find: LEDGER_"));
	ty_help_ops.text(&help, TY_KEY_ENTER);
	assert_false(ty_help_ops.wants_text(&help));
	/* Esc: all again, then close */
	assert_int_equal(ty_help_ops.act(&help, TY_ACT_BACK), TY_VIEW_CHANGED);
	assert_non_null(
		strstr(ty_tl_view_frame(&ty_help_ops, &help, &ty_tl_utf8, 80, 24), "zoom in"));
	assert_int_equal(ty_help_ops.act(&help, TY_ACT_BACK), TY_VIEW_CLOSE);
	/* a topic by its title; and what is nowhere */
	ty_help_ops.act(&help, TY_ACT_SEARCH);
	for (s = "symbols"; *s; s++)
		ty_help_ops.text(&help, (uint32_t)*s);
	s = ty_tl_view_frame(&ty_help_ops, &help, &ty_tl_utf8, 80, 40);
	assert_non_null(strstr(s, "events were lost here"));
	assert_null(strstr(s, "Analysis"));
	ty_help_ops.text(&help, 'x');
	s = ty_tl_view_frame(&ty_help_ops, &help, &ty_tl_utf8, 80, 24);
	assert_non_null(strstr(s, "no match in this help"));
}

static bool stack_of(void *ctx, int32_t tid, uint64_t from_ns, uint64_t to_ns, bool waker,
		     int32_t *who, struct ty_buf *out)
{
	if (tid != 100)
		return false;
	*who = waker ? *(int32_t *)ctx : tid;
	return !ty_buf_adds(out, waker ? "flock+0x7\nrelease (backup.c:90)\nmain (backup.c:120)\n"
				       : "flock+0x7\ntake_lock (site.c:31) (inlined)\n"
					 "serve (site.c:77)\n[cut: no mapping is known for the "
					 "caller]\n");
}

/* The waker's stack is shown only if it is of the thread that woke this one. */
static void stacks_of_a_wait_and_its_waker(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_explain x = *in.explain;
	const struct ty_view_ops *ops;
	int32_t waker = 101;
	struct ty_timeline *t;
	void *page;
	char *s;

	x.stack = stack_of;
	x.ctx = &waker;
	in.explain = &x;
	in.at_finding = 1;
	for (unsigned wide = 0; wide < 2; wide++) {
		const int w = wide ? 200 : 80, h = wide ? 60 : 24;

		t = ty_tl_open(&in);
		ty_tl_frame(t, &ty_tl_utf8, w, h);
		assert_int_equal(ty_timeline_ops.act(t, TY_ACT_STACK), TY_VIEW_PUSH);
		ty_timeline_ops.child(t, &ops, &page);
		ty_tl_golden(wide ? "stack-200x60" : "stack-80x24",
			     ty_tl_view_frame(ops, page, &ty_tl_utf8, w, h));
		ty_timeline_free(t);
	}
	waker = 7;
	t = ty_tl_open(&in);
	ty_tl_frame(t, &ty_tl_utf8, 80, 24);
	assert_int_equal(ty_timeline_ops.act(t, TY_ACT_STACK), TY_VIEW_PUSH);
	ty_timeline_ops.child(t, &ops, &page);
	s = ty_tl_view_frame(ops, page, &ty_tl_utf8, 80, 24);
	assert_non_null(strstr(s, "take_lock (site.c:31)"));
	assert_null(strstr(s, "release"));
	assert_non_null(strstr(s, "whose stack was not recorded"));
	ty_timeline_free(t);
	ty_model_free(m);
}

static void every_action_is_handled(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_help help = {0};
	struct ty_grid g;

	for (int a = 1; a < TY_ACT_COUNT; a++) {
		struct ty_timeline *t = ty_tl_open(&in);
		enum ty_view_result r = ty_timeline_ops.act(t, (enum ty_action)a);

		assert_int_equal(r,
				 a == TY_ACT_HELP     ? TY_VIEW_HELP
				 : a == TY_ACT_QUIT   ? TY_VIEW_QUIT
				 : a == TY_ACT_REDRAW ? TY_VIEW_REDRAW
				 : a == TY_ACT_CHAIN || a == TY_ACT_LEDGER || a == TY_ACT_SPECTRUM
					 ? TY_VIEW_PUSH
					 : TY_VIEW_CHANGED);
		ty_timeline_free(t);
	}
	assert_int_equal(ty_grid_init(&g, 80, 24), 0);
	ty_help_ops.draw(&help, &g, &ty_tl_utf8);
	assert_int_equal(ty_help_ops.act(&help, TY_ACT_PAGE_DOWN), TY_VIEW_CHANGED);
	assert_true(help.top > 0);
	assert_int_equal(ty_help_ops.act(&help, TY_ACT_BACK), TY_VIEW_CLOSE);
	ty_grid_fini(&g);
	ty_model_free(m);
}

/* The story begins at 22:13:20 (UTC) and 0 ns. */
static void times_in_the_clock_asked_for(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t;
	char trace[32];
	const char *s;

	in.at_finding = 1;
	in.clock = TY_CLOCK_WALL;
	t = ty_tl_open(&in);
	s = ty_tl_frame(t, &ty_tl_utf8, 120, 30);
	assert_non_null(strstr(s, " at 22:13:20."));
	assert_non_null(strstr(s, "at 22:13:2"));
	assert_non_null(strstr(s, " s from the start"));
	assert_non_null(strstr(s, "\u252c22:13:2"));
	assert_null(strstr(s, "clock 22:"));
	ty_timeline_free(t);
	in.clock = TY_CLOCK_TRACE;
	t = ty_tl_open(&in);
	snprintf(trace, sizeof(trace), " at %llu.", (unsigned long long)START / 1000000000);
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 120, 30), trace));
	ty_timeline_free(t);
	ty_model_free(m);
}

static void what_is_missing_is_told(void **state)
{
	struct ty_build_facts facts = {.cpus = 2, .long_size = 8, .arch = "x86_64"};
	static const char note[] = "the recording was not finished: the recorder was killed; the "
				   "last 2 s of CPU 1 may be missing";
	static const char scope[] = "scheduling has only switches";
	struct ty_event gap = {0};
	struct ty_view_input in;
	struct ty_timeline *t;
	struct ty_model *m;
	struct ty_help help = {.note = note, .scope = scope};
	struct ty_grid g;
	char *s;

	ty_tl_build(&facts);
	ty_tl_switch(0, 0, 0, 0, 55);
	gap.u.gap.from_ns = START + 100 * MS;
	gap.u.gap.count = 1234567;
	ty_tl_feed(gap, 200000, 1, 0, TY_EV_GAP);
	ty_tl_switch(1000000, 0, 55, TY_TASK_INTERRUPTIBLE, 0);
	m = ty_tl_built();
	in = ty_tl_input(m);
	in.path = "a/recording-of-the-web-server-with-a-long-name.dat";
	in.note = note;
	in.scope = scope;
	t = ty_tl_open(&in);
	for (int w = TY_VIEW_MIN_W; w < 160; w++) {
		s = ty_tl_frame(t, &ty_tl_utf8, w, 24);
		s[strcspn(s, "\n")] = 0;
		assert_non_null(strstr(s, " recording"));
		assert_non_null(strstr(s, " INCOMPLETE "));
		assert_non_null(strstr(s, w < 100 ? " lost 1234567" : " lost events: 1234567"));
	}
	s = strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "recorder 12.0 ms");
	assert_null(s);
	assert_non_null(strstr(ty_tl_flat(ty_tl_frame(t, &ty_tl_utf8, 80, 24)), note));
	assert_non_null(strstr(ty_tl_flat(ty_tl_frame(t, &ty_tl_utf8, 80, 24)), scope));
	ty_timeline_ops.act(t, TY_ACT_RIGHT);
	assert_null(strstr(ty_tl_flat(ty_tl_frame(t, &ty_tl_utf8, 80, 24)), note));
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "INCOMPLETE"));
	ty_timeline_free(t);
	ty_model_free(m);
	/* help keeps it */
	assert_int_equal(ty_grid_init(&g, 80, 24), 0);
	ty_help_ops.draw(&help, &g, &ty_tl_utf8);
	{
		struct ty_buf b;

		ty_buf_init(&b, 1 << 20);
		assert_int_equal(ty_grid_dump(&g, &ty_tl_utf8, &b), 0);
		assert_non_null(strstr(ty_tl_flat(b.p), note));
		assert_non_null(strstr(ty_tl_flat(b.p), scope));
		ty_buf_fini(&b);
	}
	ty_grid_fini(&g);
}

/* Every sentence of the help is whole on every screen. */
static void help_is_whole(void **state)
{
	static const int sizes[][2] = {{80, 24}, {40, 10}, {200, 60}};
	unsigned n;
	const struct ty_key_row *keys = ty_keys_table(&n);

	for (unsigned k = 0; k < 3; k++) {
		struct ty_help help = {0};
		struct ty_grid g;
		struct ty_buf b;
		char *s;

		assert_int_equal(ty_grid_init(&g, sizes[k][0], sizes[k][1]), 0);
		ty_buf_init(&b, 1 << 20);
		ty_help_ops.draw(&help, &g, &ty_tl_utf8);
		assert_int_equal(ty_grid_dump(&g, &ty_tl_utf8, &b), 0);
		s = b.p;
		for (int y = 0; y < sizes[k][1] - 1; y++)
			s = strchr(s, '\n') + 1;
		assert_non_null(strstr(s, "q close"));
		s[strcspn(s, "\n")] = 0;
		assert_int_equal(atoi(strstr(s, " of ") + 4), help.lines);
		/* all of it on one tall screen of the same width */
		ty_grid_fini(&g);
		assert_int_equal(ty_grid_init(&g, sizes[k][0], 300), 0);
		ty_help_ops.draw(&help, &g, &ty_tl_utf8);
		ty_buf_reset(&b);
		assert_int_equal(ty_grid_dump(&g, &ty_tl_utf8, &b), 0);
		s = ty_tl_flat(b.p);
		for (unsigned i = 0; i < n; i++)
			assert_non_null(strstr(s, keys[i].help));
		ty_buf_fini(&b);
		ty_grid_fini(&g);
	}
}

static void the_footer_names_the_list(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t = ty_tl_open(&in);
	const char *s = ty_tl_frame(t, &ty_tl_utf8, 80, 24);

	assert_non_null(strstr(s, "Tab list"));
	assert_non_null(strstr(s, "Enter open"));
	assert_non_null(strstr(s, "q quit"));
	ty_timeline_free(t);
	ty_model_free(m);
}

/* Lines never wider than the screen, ASCII where asked for, whatever the size. */
static void frames_fit_every_screen(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t = ty_tl_open(&in);

	for (int w = 1; w < 260; w += 13)
		for (int h = 1; h < 70; h += 3) {
			char *s = ty_tl_frame(t, &ty_tl_ascii, w, h);
			int lines = 0;

			for (; *s; s++) {
				size_t n = strcspn(s, "\n");

				assert_true((int)n <= w);
				for (size_t i = 0; i < n; i++)
					assert_in_range((unsigned char)s[i], 0x20, 0x7e);
				s += n;
				lines++;
			}
			assert_int_equal(lines, h);
		}
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_ascii, 39, 10), "tarry needs 40x10"));
	ty_timeline_free(t);
	ty_model_free(m);
}

static void random_walks_stay_inside(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t = ty_tl_open(&in);
	struct ty_grid g;
	const struct ty_palette colors = {.mode = TY_COLOR_256, .utf8 = true};
	unsigned seed = 42;

	assert_int_equal(ty_grid_init(&g, 80, 24), 0);
	for (int i = 0; i < 20000; i++) {
		int k = rand_r(&seed) % 100;

		if (t->prompt) {
			static const char keys[] = "0123456789.+-msaek>:\n\n\n";

			ty_timeline_ops.text(t,
					     (uint32_t)keys[(size_t)rand_r(&seed) % strlen(keys)]);
		} else if (k < 80) {
			ty_timeline_ops.act(
				t, (enum ty_action)(1 + rand_r(&seed) % (TY_ACT_COUNT - 1)));
		} else {
			struct ty_mouse ev = {
				.what = (enum ty_mouse_what)(rand_r(&seed) % TY_MOUSE_COUNT),
				.x = rand_r(&seed) % 300 - 5,
				.y = rand_r(&seed) % 100 - 5};

			ty_timeline_ops.mouse(t, &ev);
		}
		if (k == 0) {
			ty_grid_fini(&g);
			assert_int_equal(
				ty_grid_init(&g, 1 + rand_r(&seed) % 220, 1 + rand_r(&seed) % 70),
				0);
		}
		if (k % 8 == 0)
			ty_timeline_ops.draw(t, &g, &colors);
		if (k % 5 == 0 && ty_timeline_ops.wait_ms(t) >= 0)
			ty_timeline_ops.work(t);
		assert_true(t->vp.start_ns <= t->vp.from_ns && t->vp.from_ns < t->vp.to_ns &&
			    t->vp.to_ns <= t->vp.end_ns);
		assert_true(t->vp.from_ns <= t->cursor_ns && t->cursor_ns < t->vp.to_ns);
		assert_true(t->row < t->tracks.rows.n);
	}
	ty_grid_fini(&g);
	ty_timeline_free(t);
	ty_model_free(m);
}

static void an_empty_recording_opens(void **state)
{
	struct ty_build_facts facts = {.cpus = 1, .long_size = 8, .arch = "x86_64"};
	struct ty_view_input in;
	struct ty_timeline *t;
	struct ty_model *m;
	struct ty_err err = {0};

	ty_tl_build(&facts);
	m = ty_tl_built();
	in = ty_tl_input(m);
	t = ty_tl_open(&in);
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "none"));
	for (int a = 1; a < TY_ACT_COUNT; a++) {
		ty_timeline_ops.act(t, (enum ty_action)a);
		ty_tl_frame(t, &ty_tl_utf8, 80, 24);
	}
	ty_timeline_free(t);
	in.at_finding = 1;
	assert_int_equal(ty_timeline_new(&in, &t, &err), -TY_EUSAGE);
	assert_non_null(strstr(err.msg, "the list has only 0 entries"));
	ty_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_as_they_were),
		cmocka_unit_test(pages_are_as_they_were),
		cmocka_unit_test(ledger_of_a_renamed_thread),
		cmocka_unit_test(help_is_searched),
		cmocka_unit_test(stacks_of_a_wait_and_its_waker),
		cmocka_unit_test(every_action_is_handled),
		cmocka_unit_test(times_in_the_clock_asked_for),
		cmocka_unit_test(what_is_missing_is_told),
		cmocka_unit_test(help_is_whole),
		cmocka_unit_test(the_footer_names_the_list),
		cmocka_unit_test(frames_fit_every_screen),
		cmocka_unit_test(random_walks_stay_inside),
		cmocka_unit_test(an_empty_recording_opens),
	};

	ty_tl_locale();
	return cmocka_run_group_tests_name("timeline", tests, NULL, NULL);
}
