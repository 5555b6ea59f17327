/* SPDX-License-Identifier: MIT */
/*
 * The timeline on a small made-up recording: golden frames (tests/golden, made again with
 * GOLDEN_UPDATE=1), every action, mouse, jumps, and long random walks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <time.h>

#include "app.h"
#include "build.h"
#include "fixture_story.h"
#include "glyphs.h"
#include "help.h"
#include "timeline_priv.h"

#define MS    1000000ull
#define START TY_STORY_START

enum { WEB = TY_STORY_WEB, BACKUP = TY_STORY_BACKUP, KWORKER = TY_STORY_KWORKER };
enum { NR_FSYNC = 74, NR_NANOSLEEP = 230 };

static struct ty_builder *builder;

static void emit(const struct ty_event *story)
{
	struct ty_err err = {0};
	static ty_loc loc;
	struct ty_event ev = *story;

	ev.loc = ++loc;
	assert_int_equal(ty_builder_feed(builder, &ev, &err), 0);
}

static void feed(struct ty_event ev, uint64_t us, uint32_t cpu, int tid, int kind)
{
	ev.ts_ns = START + us * 1000;
	ev.cpu = cpu;
	ev.tid = tid;
	ev.kind = (uint8_t)kind;
	ev.id = (uint16_t)kind;
	emit(&ev);
}

static void sw(uint64_t us, uint32_t cpu, int prev, uint64_t state, int next)
{
	struct ty_event ev = {0};

	ev.u.sw.prev_tid = prev;
	ev.u.sw.next_tid = next;
	ev.u.sw.prev_state = state;
	ev.u.sw.prev_prio = ev.u.sw.next_prio = 120;
	snprintf(ev.u.sw.prev_comm, sizeof(ev.u.sw.prev_comm), "%s", prev ? "busy" : "swapper");
	snprintf(ev.u.sw.next_comm, sizeof(ev.u.sw.next_comm), "%s", next ? "busy" : "swapper");
	feed(ev, us, cpu, prev, TY_EV_SWITCH);
}

static void wake(uint64_t us, uint32_t cpu, int by, uint8_t flags, int tid, int target_cpu)
{
	struct ty_event ev = {.flags = flags};

	ev.u.wake.tid = tid;
	ev.u.wake.prio = 120;
	ev.u.wake.target_cpu = target_cpu;
	snprintf(ev.u.wake.comm, sizeof(ev.u.wake.comm), "%s", "busy");
	feed(ev, us, cpu, by, TY_EV_WAKING);
}

static void enter(uint64_t us, uint32_t cpu, int tid, int nr)
{
	struct ty_event ev = {0};

	ev.u.enter.nr = nr;
	feed(ev, us, cpu, tid, TY_EV_SYS_ENTER);
}

static void leave(uint64_t us, uint32_t cpu, int tid, int nr)
{
	struct ty_event ev = {0};

	ev.u.exit.nr = nr;
	ev.u.exit.ret = 0;
	feed(ev, us, cpu, tid, TY_EV_SYS_EXIT);
}

static struct ty_model *stall_model(void)
{
	struct ty_build_facts facts = {
		.cpus = 2, .long_size = 8, .arch = "x86_64", .threads = TY_STORY_THREADS};
	struct ty_model *m;
	struct ty_err err = {0};

	builder = ty_builder_new(&facts);
	assert_non_null(builder);
	ty_story_stall(emit);
	assert_int_equal(ty_builder_finish(builder, &m, &err), 0);
	ty_builder_free(builder);
	return m;
}

static const char *args(void *ctx, uint32_t syscall, char *buf, size_t n)
{
	snprintf(buf, n, "3, LOCK_EX");
	return buf;
}

static struct ty_view_input input_of(const struct ty_model *m)
{
	static struct ty_explain x;

	x = (struct ty_explain){.m = m, .arch = ty_sysarch_find("x86_64"), .command_tid = WEB};
	return (struct ty_view_input){.model = m,
				      .explain = &x,
				      .path = "some/where/demo.dat",
				      .window = ty_window_all(m),
				      .arch = ty_sysarch_find("x86_64"),
				      .syscall_args = args,
				      .recorder_cpu_ns = 12 * MS};
}

static const struct ty_palette utf8 = {.mode = TY_COLOR_NONE, .utf8 = true};
static const struct ty_palette ascii = {.mode = TY_COLOR_NONE};

static char *frame(struct ty_timeline *t, const struct ty_palette *p, int w, int h)
{
	static struct ty_buf b;
	struct ty_grid g;

	ty_buf_fini(&b);
	ty_buf_init(&b, 1 << 24);
	assert_int_equal(ty_grid_init(&g, w, h), 0);
	ty_timeline_ops.draw(t, &g, p);
	assert_int_equal(ty_grid_dump(&g, p, &b), 0);
	ty_grid_fini(&g);
	return b.p;
}

static void golden(const char *name, const char *got)
{
	char path[256], *want;
	size_t n = 0, cap = 1 << 20;
	FILE *f;

	snprintf(path, sizeof(path), "tests/golden/%s.txt", name);
	if (getenv("GOLDEN_UPDATE")) {
		f = fopen(path, "w");
		assert_non_null(f);
		fputs(got, f);
		fclose(f);
		return;
	}
	f = fopen(path, "r");
	if (!f)
		fail_msg("%s is missing: run from the project's root, or with GOLDEN_UPDATE=1",
			 path);
	want = malloc(cap);
	assert_non_null(want);
	n = fread(want, 1, cap - 1, f);
	want[n] = 0;
	fclose(f);
	if (strcmp(want, got))
		fail_msg("%s differs; this was drawn:\n%s", path, got);
	free(want);
}

static struct ty_timeline *open_view(const struct ty_view_input *in)
{
	struct ty_timeline *t;
	struct ty_err err = {0};

	if (ty_timeline_new(in, &t, &err))
		fail_msg("%s", err.msg);
	return t;
}

static void frames_are_as_they_were(void **state)
{
	struct ty_model *m = stall_model();
	struct ty_view_input in = input_of(m);
	struct ty_timeline *t = open_view(&in);

	golden("start-80x24", frame(t, &utf8, 80, 24));
	golden("start-80x24-ascii", frame(t, &ascii, 80, 24));
	golden("start-200x60", frame(t, &utf8, 200, 60));
	golden("start-40x10", frame(t, &utf8, 40, 10));
	ty_timeline_ops.act(t, TY_ACT_NEXT);
	ty_timeline_ops.act(t, TY_ACT_UNDO);
	ty_timeline_ops.act(t, TY_ACT_NEXT);
	ty_timeline_free(t);
	in.at_finding = 1;
	t = open_view(&in);
	golden("finding-80x24", frame(t, &utf8, 80, 24));
	golden("finding-80x24-ascii", frame(t, &ascii, 80, 24));
	golden("finding-200x60-ascii", frame(t, &ascii, 200, 60));
	ty_timeline_ops.act(t, TY_ACT_FOCUS);
	golden("list-40x10", frame(t, &utf8, 40, 10));
	ty_timeline_free(t);
	ty_model_free(m);
}

static void a_jump_shows_call_and_waker(void **state)
{
	struct ty_model *m = stall_model();
	struct ty_view_input in = input_of(m);
	struct ty_timeline *t = open_view(&in);
	const char *s;

	for (uint32_t i = 0; i < t->findings.n; i++) {
		const struct ty_wait *f = &t->findings.v[i];

		ty_timeline_ops.act(t, TY_ACT_NEXT);
		assert_int_equal(t->finding, i);
		s = frame(t, &utf8, 80, 24);
		assert_true(t->vp.from_ns <= f->start_ns);
		assert_true(t->vp.to_ns >= f->start_ns + f->duration_ns);
		assert_int_equal(t->tracks.rows.v[t->row].id, f->thread);
		assert_true(t->row >= t->top && t->row < t->top + (uint32_t)t->lay.rows_h);
		if (ty_model_thread(m, f->thread)->tid == WEB && f->duration_ns > 2900 * MS) {
			assert_non_null(strstr(s, "webserver/100 sleeping for 2.999"));
			assert_non_null(strstr(s, "in flock(3, LOCK_EX) = 0"));
			assert_non_null(strstr(s, "ended by backup/101 on CPU 1 (in flock)"));
			ty_model_free(m);
			ty_timeline_free(t);
			return;
		}
	}
	fail_msg("the stall is not in the list");
}

static void every_action_is_handled(void **state)
{
	struct ty_model *m = stall_model();
	struct ty_view_input in = input_of(m);
	struct ty_help help = {0};
	struct ty_grid g;

	for (int a = 1; a < TY_ACT_COUNT; a++) {
		struct ty_timeline *t = open_view(&in);
		enum ty_view_result r = ty_timeline_ops.act(t, (enum ty_action)a);

		assert_int_equal(r, a == TY_ACT_HELP			      ? TY_VIEW_HELP
				    : a == TY_ACT_QUIT			      ? TY_VIEW_QUIT
				    : a == TY_ACT_REDRAW		      ? TY_VIEW_REDRAW
				    : a == TY_ACT_CHAIN || a == TY_ACT_LEDGER ? TY_VIEW_PUSH
									      : TY_VIEW_CHANGED);
		ty_timeline_free(t);
	}
	assert_int_equal(ty_grid_init(&g, 80, 24), 0);
	ty_help_ops.draw(&help, &g, &utf8);
	assert_int_equal(ty_help_ops.act(&help, TY_ACT_PAGE_DOWN), TY_VIEW_CHANGED);
	assert_true(help.top > 0);
	assert_int_equal(ty_help_ops.act(&help, TY_ACT_BACK), TY_VIEW_CLOSE);
	ty_grid_fini(&g);
	ty_model_free(m);
}

static void the_mouse_points(void **state)
{
	struct ty_model *m = stall_model();
	struct ty_view_input in = input_of(m);
	struct ty_timeline *t = open_view(&in);
	struct ty_mouse ev = {.what = TY_MOUSE_WHEEL_UP};
	uint64_t at, length = t->vp.to_ns - t->vp.from_ns;

	frame(t, &utf8, 80, 24);
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
	struct ty_model *m = stall_model();
	struct ty_view_input in = input_of(m);
	struct ty_timeline *t = open_view(&in);
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

static void type(struct ty_timeline *t, const char *s)
{
	while (*s)
		ty_timeline_ops.text(t, ty_utf8_next(&s));
	ty_timeline_ops.text(t, TY_KEY_ENTER);
}

/* The story begins at 22:13:20 (UTC) and 0 ns. */
static void times_in_the_clock_asked_for(void **state)
{
	struct ty_model *m = stall_model();
	struct ty_view_input in = input_of(m);
	struct ty_timeline *t;
	char trace[32];
	const char *s;

	in.at_finding = 1;
	in.clock = TY_CLOCK_WALL;
	t = open_view(&in);
	s = frame(t, &utf8, 120, 30);
	assert_non_null(strstr(s, " from 22:13:20."));
	assert_non_null(strstr(s, "at 22:13:2"));
	assert_non_null(strstr(s, " s from the start"));
	assert_non_null(strstr(s, "\u252c22:13:2"));
	assert_null(strstr(s, "clock 22:"));
	ty_timeline_free(t);
	in.clock = TY_CLOCK_TRACE;
	t = open_view(&in);
	snprintf(trace, sizeof(trace), " from %llu.", (unsigned long long)START / 1000000000);
	assert_non_null(strstr(frame(t, &utf8, 120, 30), trace));
	ty_timeline_free(t);
	ty_model_free(m);
}

static void going_to_a_clock_time(void **state)
{
	struct ty_model *m = stall_model();
	struct ty_view_input in = input_of(m);
	struct ty_timeline *t = open_view(&in);

	/* The recording began at 22:13:20 (UTC) and 0 ns. */
	ty_timeline_ops.act(t, TY_ACT_GOTO);
	type(t, "22:13:21.25");
	assert_int_equal(t->cursor_ns, START + 1250 * MS);
	ty_timeline_ops.act(t, TY_ACT_GOTO);
	type(t, "25:13");
	assert_non_null(strstr(t->message, "not a clock time"));
	ty_timeline_ops.act(t, TY_ACT_GOTO);
	type(t, "22:14");
	assert_non_null(strstr(t->message, "outside the recording"));
	assert_int_equal(t->cursor_ns, START + 1250 * MS);
	ty_timeline_free(t);
	ty_model_free(m);
}

/* [1] of a wait is who ended it; undo comes back to row and time, redo goes again. */
static void links_lead_to_the_waker_and_undo_leads_back(void **state)
{
	struct ty_model *m = stall_model();
	struct ty_view_input in = input_of(m);
	struct ty_timeline *t;
	uint64_t at;
	uint32_t row;

	in.at_finding = 1;
	t = open_view(&in);
	assert_non_null(strstr(frame(t, &utf8, 80, 24), "(in flock) at 3.510050 s [1]"));
	at = t->cursor_ns;
	row = t->row;
	ty_timeline_ops.act(t, TY_ACT_LINK_1);
	assert_int_equal(ty_model_thread(m, t->tracks.rows.v[t->row].id)->tid, BACKUP);
	assert_int_equal(t->cursor_ns, START + 3510050000);
	ty_timeline_ops.act(t, TY_ACT_LINK_3);
	assert_int_equal(t->cursor_ns, START + 3510050000);
	assert_true(t->message[0]);
	ty_timeline_ops.act(t, TY_ACT_UNDO);
	assert_int_equal(t->cursor_ns, at);
	assert_int_equal(t->row, row);
	ty_timeline_ops.act(t, TY_ACT_REDO);
	assert_int_equal(t->cursor_ns, START + 3510050000);
	assert_int_equal(ty_model_thread(m, t->tracks.rows.v[t->row].id)->tid, BACKUP);
	ty_timeline_free(t);
	/* of a runnable span: who woke it, and who ran instead */
	for (in.at_finding = 1; in.at_finding < 10; in.at_finding++) {
		t = open_view(&in);
		frame(t, &utf8, 80, 24);
		if (t->findings.v[t->finding].state == TY_ST_RUNNABLE)
			break;
		ty_timeline_free(t);
	}
	assert_in_range(in.at_finding, 1, 9);
	ty_timeline_ops.act(t, TY_ACT_LINK_1);
	assert_int_equal(ty_model_thread(m, t->tracks.rows.v[t->row].id)->tid, KWORKER);
	ty_timeline_free(t);
	ty_model_free(m);
}

static void selections(void **state)
{
	struct ty_model *m = stall_model();
	struct ty_view_input in = input_of(m);
	struct ty_timeline *t = open_view(&in);
	struct ty_mouse ev = {.what = TY_MOUSE_CLICK};
	uint64_t from, to, want;
	uint32_t first, last, row, n;

	frame(t, &utf8, 80, 24);
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
	struct ty_model *m = stall_model();
	struct ty_view_input in = input_of(m);
	struct ty_timeline *t;
	struct ty_mouse ev = {.what = TY_MOUSE_CLICK};

	in.at_finding = 1;
	t = open_view(&in);
	frame(t, &utf8, 80, 24);
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
	struct ty_model *m = stall_model();
	struct ty_view_input in = input_of(m);
	struct ty_timeline *t = open_view(&in);
	uint32_t row;

	ty_timeline_ops.act(t, TY_ACT_MARK_JUMP);
	type(t, "");
	assert_non_null(strstr(t->message, "no mark yet"));
	ty_timeline_ops.act(t, TY_ACT_GOTO);
	type(t, "2");
	row = t->row;
	ty_timeline_ops.act(t, TY_ACT_MARK);
	type(t, "h\xc3\xa4nger");
	ty_timeline_ops.act(t, TY_ACT_DOWN);
	ty_timeline_ops.act(t, TY_ACT_GOTO);
	type(t, "1");
	ty_timeline_ops.act(t, TY_ACT_MARK);
	type(t, "");
	assert_int_equal(t->marks.n, 2);
	assert_string_equal(t->marks.v[0].name, "a");
	assert_non_null(strstr(frame(t, &utf8, 80, 24), "mark 'a' is here"));
	ty_timeline_ops.act(t, TY_ACT_MARK_JUMP);
	type(t, ""); /* the next one in time */
	assert_int_equal(t->cursor_ns, START + 2000 * MS);
	assert_int_equal(t->row, row);
	ty_timeline_ops.act(t, TY_ACT_MARK_JUMP);
	type(t, "a");
	assert_int_equal(t->cursor_ns, START + 1000 * MS);
	ty_timeline_ops.act(t, TY_ACT_MARK_JUMP);
	type(t, "b");
	assert_non_null(strstr(t->message, "no mark 'b'"));
	/* the same name again moves it */
	ty_timeline_ops.act(t, TY_ACT_TIME_LAST);
	ty_timeline_ops.act(t, TY_ACT_MARK);
	type(t, "a");
	assert_int_equal(t->marks.n, 2);
	assert_string_equal(t->marks.v[1].name, "a");
	for (int i = 0; i < 40; i++) {
		ty_timeline_ops.act(t, TY_ACT_MARK);
		type(t, "");
	}
	assert_int_equal(t->marks.n, 42);
	assert_non_null(strstr(frame(t, &utf8, 80, 24), "mark '"));
	ty_timeline_free(t);
	ty_model_free(m);
}

static void work(struct ty_timeline *t)
{
	for (int i = 0; ty_timeline_ops.wait_ms(t) >= 0; i++) {
		assert_true(i < 10000);
		ty_timeline_ops.work(t);
	}
}

/* Arguments that take as long as the test wants. */
static atomic_bool gate;
static int slow_args(void *ctx, const struct ty_syscall *c, uint64_t v[6])
{
	while (!atomic_load(&gate))
		usleep(1000);
	memset(v, 0, 6 * sizeof(*v));
	return 0;
}

static void input_does_not_wait_for_analyses(void **state)
{
	struct ty_model *m = stall_model();
	struct ty_view_input in = input_of(m);
	struct ty_explain x = *in.explain;
	struct ty_timeline *t;

	x.args = slow_args;
	in.explain = &x;
	in.aside = true;
	atomic_store(&gate, false);
	t = open_view(&in);
	assert_non_null(strstr(frame(t, &utf8, 80, 24), "Finding stalls..."));
	/* every key works meanwhile */
	for (int a = 1; a < TY_ACT_COUNT; a++) {
		if (a == TY_ACT_CHAIN || a == TY_ACT_LEDGER)
			continue;
		ty_timeline_ops.act(t, (enum ty_action)a);
		if (ty_timeline_ops.wants_text(t))
			ty_timeline_ops.text(t, TY_KEY_ESC);
		if (ty_timeline_ops.wait_ms(t) >= 0)
			ty_timeline_ops.work(t);
		frame(t, &utf8, 80, 24);
	}
	assert_int_equal(t->findings.n, 0);
	ty_timeline_ops.act(t, TY_ACT_NEXT);
	assert_non_null(strstr(t->message, "still being looked for"));
	/* what the user folded stays so when they are there */
	t->tracks.hidden[ty_model_summary(m)->threads - 1] = 1;
	t->tracks.hidden_n = 1;
	atomic_store(&gate, true);
	for (int i = 0; t->hunting.aside.on; i++) {
		assert_true(i < 10000);
		usleep(1000);
		ty_timeline_ops.work(t);
	}
	assert_true(t->findings.stalls.n > 0);
	assert_int_equal(t->finding, 0); /* where n wanted to go */
	assert_int_equal(t->tracks.hidden[ty_model_summary(m)->threads - 1], 1);
	assert_non_null(strstr(frame(t, &utf8, 80, 24), "stalls,"));
	ty_timeline_free(t);
	/* closed while the search runs: it ends first */
	atomic_store(&gate, false);
	t = open_view(&in);
	assert_true(t->hunting.aside.on);
	atomic_store(&gate, true);
	ty_timeline_free(t);
	ty_model_free(m);
}

static void ask(struct ty_timeline *t, enum ty_action a, const char *text)
{
	ty_timeline_ops.act(t, a);
	assert_true(ty_timeline_ops.wants_text(t));
	type(t, text);
	work(t);
}

static void searching(void **state)
{
	struct ty_model *m = stall_model();
	struct ty_view_input in = input_of(m);
	struct ty_timeline *t = open_view(&in);
	const char *s;

	ty_timeline_ops.act(t, TY_ACT_HIT_NEXT);
	assert_non_null(strstr(t->message, "nothing was searched"));
	ty_timeline_ops.act(t, TY_ACT_TIME_FIRST);
	ask(t, TY_ACT_SEARCH, "fsync");
	assert_int_equal(t->cursor_ns, START + 900010000);
	assert_int_equal(t->tracks.rows.v[t->row].kind, TY_ROW_SYSCALLS);
	s = frame(t, &utf8, 80, 24);
	assert_non_null(strstr(s, "fsync of backup/101 at 0.900010 s"));
	assert_non_null(strstr(s, "backup/101 in fsync("));
	/* the only one: round the end it is found again, and that is said */
	ty_timeline_ops.act(t, TY_ACT_HIT_NEXT);
	work(t);
	assert_int_equal(t->cursor_ns, START + 900010000);
	assert_non_null(strstr(frame(t, &utf8, 80, 24), "round the end, from the start"));
	ty_timeline_ops.act(t, TY_ACT_HIT_PREV);
	work(t);
	assert_non_null(strstr(frame(t, &utf8, 80, 24), "round the start, from the end"));
	/* waits of one thread by length; back by ] and [ */
	ty_timeline_ops.act(t, TY_ACT_TIME_FIRST);
	ask(t, TY_ACT_SEARCH, "thread:backup >1s");
	assert_int_equal(t->cursor_ns, START + 2300020000);
	assert_non_null(strstr(frame(t, &utf8, 80, 24), "sleeping of backup/101"));
	ty_timeline_ops.act(t, TY_ACT_TIME_LAST);
	ty_timeline_ops.act(t, TY_ACT_HIT_PREV);
	work(t);
	assert_int_equal(t->cursor_ns, START + 2300020000);
	ask(t, TY_ACT_SEARCH, "lost");
	assert_int_equal(t->cursor_ns, START + 3700 * MS);
	assert_int_equal(t->tracks.rows.v[t->row].kind, TY_ROW_CPU);
	ask(t, TY_ACT_SEARCH, "no such thing");
	assert_non_null(strstr(t->message, "nowhere in the recording"));
	ask(t, TY_ACT_SEARCH, "(");
	assert_non_null(strstr(t->message, "not a regular expression"));
	/* Esc stops one that is under way */
	ty_timeline_ops.act(t, TY_ACT_SEARCH);
	type(t, "fsync");
	ty_timeline_ops.act(t, TY_ACT_BACK);
	assert_int_equal(ty_timeline_ops.wait_ms(t), -1);
	ty_timeline_free(t);
	ty_model_free(m);
}

/* The demo's chain: the web server's flock, and the backup that slept with the lock. */
static void the_chain_leads_to_the_culprit(void **state)
{
	struct ty_model *m = stall_model();
	struct ty_view_input in = input_of(m);
	struct ty_timeline *t;
	const struct ty_view_ops *ops;
	struct ty_grid g;
	struct ty_buf b;
	void *page;

	in.at_finding = 1;
	t = open_view(&in);
	assert_non_null(strstr(frame(t, &utf8, 120, 40), "stall 1, "));
	assert_int_equal(ty_timeline_ops.act(t, TY_ACT_CHAIN), TY_VIEW_PUSH);
	ty_timeline_ops.child(t, &ops, &page);
	assert_int_equal(ty_grid_init(&g, 80, 24), 0);
	ty_buf_init(&b, 1 << 20);
	ops->draw(page, &g, &utf8);
	assert_int_equal(ty_grid_dump(&g, &utf8, &b), 0);
	assert_non_null(strstr(b.p, "Chain behind webserver/100 sleeping for 2.999 s"));
	assert_non_null(strstr(b.p, ">webserver/100 blocked in flock"));
	assert_non_null(strstr(b.p, "<- backup/101 "));
	assert_int_equal(ops->act(page, TY_ACT_OPEN), TY_VIEW_CLOSE);
	ops->act(page, TY_ACT_DOWN);
	assert_int_equal(ops->act(page, TY_ACT_OPEN), TY_VIEW_CLOSE);
	ty_timeline_ops.resumed(t);
	assert_int_equal(ty_model_thread(m, t->tracks.rows.v[t->row].id)->tid, BACKUP);
	ty_buf_fini(&b);
	ty_grid_fini(&g);
	ty_timeline_free(t);
	ty_model_free(m);
}

static void statistics(void **state)
{
	struct ty_model *m = stall_model();
	struct ty_view_input in = input_of(m);
	struct ty_timeline *t;
	const struct ty_view_ops *ops;
	struct ty_grid g;
	struct ty_buf b;
	void *page;

	in.at_finding = 1;
	t = open_view(&in);
	frame(t, &utf8, 80, 24);
	ty_timeline_ops.act(t, TY_ACT_STATS);
	while (ty_timeline_ops.work(t) != TY_VIEW_PUSH)
		;
	ty_timeline_ops.child(t, &ops, &page);
	assert_int_equal(ty_grid_init(&g, 80, 24), 0);
	ty_buf_init(&b, 1 << 20);
	ops->draw(page, &g, &utf8);
	assert_int_equal(ty_grid_dump(&g, &utf8, &b), 0);
	assert_non_null(strstr(b.p, "Window, this row"));
	assert_non_null(strstr(b.p, "sleeping "));
	assert_non_null(strstr(b.p, "flock "));
	/* the longest sleep is one key away */
	assert_int_equal(ops->act(page, TY_ACT_OPEN), TY_VIEW_CLOSE);
	ty_timeline_ops.act(t, TY_ACT_TIME_FIRST);
	t->page.chosen = true;
	ty_timeline_ops.resumed(t);
	assert_int_equal(t->cursor_ns, START + 510070000);
	ty_buf_fini(&b);
	ty_grid_fini(&g);
	ty_timeline_free(t);
	ty_model_free(m);
}

static void filtering(void **state)
{
	struct ty_model *m = stall_model();
	struct ty_view_input in = input_of(m);
	struct ty_timeline *t = open_view(&in);
	size_t rows = t->tracks.rows.n;
	const char *s;

	ask(t, TY_ACT_FILTER, "backup");
	s = frame(t, &utf8, 80, 24);
	assert_non_null(strstr(s, "filter: 3 hidden"));
	assert_non_null(strstr(s, "1 of 4 threads are shown"));
	assert_null(strstr(s, "kworker/1:0    7"));
	assert_non_null(strstr(frame(t, &utf8, 40, 10), "3 hidden"));
	/* what did an fsync; and a jump shows what the filter hides */
	ask(t, TY_ACT_FILTER, "call:fsync|flock");
	assert_int_equal(t->tracks.hidden_n, 2);
	ask(t, TY_ACT_SEARCH, "kworker");
	assert_int_equal(t->tracks.hidden_n, 1);
	assert_non_null(strstr(frame(t, &utf8, 80, 24), "filter: 1 hidden"));
	ask(t, TY_ACT_FILTER, "nobody");
	assert_int_equal(t->tracks.hidden_n, 4);
	frame(t, &utf8, 80, 24);
	ask(t, TY_ACT_FILTER, "");
	assert_int_equal(t->tracks.rows.n, rows);
	assert_null(strstr(frame(t, &utf8, 80, 24), "hidden"));
	ty_timeline_free(t);
	ty_model_free(m);
}

/* A wait of 2 s among hundreds of thousands of short spans, an hour on 40 cells. */
static void a_stall_keeps_its_sign(void **state)
{
	struct ty_build_facts facts = {.cpus = 1, .long_size = 8, .arch = "x86_64"};
	struct ty_view_input in;
	struct ty_timeline *t;
	struct ty_model *m;
	struct ty_err err = {0};
	const char *s;
	int pass;

	for (pass = 0; pass < 2; pass++) {
		builder = ty_builder_new(&facts);
		sw(0, 0, 0, 0, 55);
		for (uint64_t ms = 1; ms < 3600000; ms += 40) {
			uint64_t us = ms * 1000;
			bool stall = pass && ms == 1800001;

			enter(us - 10, 0, 55, NR_FSYNC);
			sw(us, 0, 55, stall ? TY_TASK_UNINTERRUPTIBLE : TY_TASK_INTERRUPTIBLE, 0);
			us += stall ? 2000000 : 10000;
			wake(us, 0, 0, TY_EVF_HARDIRQ, 55, 0);
			sw(us + 5, 0, 0, 0, 55);
			leave(us + 10, 0, 55, NR_FSYNC);
			if (stall)
				ms += 2000;
		}
		assert_int_equal(ty_builder_finish(builder, &m, &err), 0);
		ty_builder_free(builder);
		in = input_of(m);
		t = open_view(&in);
		s = strstr(frame(t, &utf8, 60, 24), "busy");
		assert_non_null(s);
		s = strndup(s, strcspn(s, "\n"));
		if (pass)
			assert_non_null(strstr(s, "\xe2\x95\x90"));
		else
			assert_null(strstr(s, "\xe2\x95\x90"));
		free((void *)s);
		/* and among the system calls, with and without UTF-8 */
		s = strstr(frame(t, &utf8, 60, 24), "syscalls");
		assert_non_null(s);
		s = strndup(s, strcspn(s, "\n"));
		assert_true(!strstr(s, "\xe2\x96\xa0") == !pass);
		free((void *)s);
		s = strstr(frame(t, &ascii, 60, 24), "syscalls");
		assert_non_null(s);
		s = strndup(s, strcspn(s, "\n"));
		assert_true(!strchr(s, '=') == !pass);
		free((void *)s);
		ty_timeline_free(t);
		ty_model_free(m);
	}
}

/* A switch that was never delivered cuts a run, but does not hide the state of its cell; an event
 * that was lost is marked on the CPU that lost it, and there only. */
static void only_lost_events_are_exclamation_marks(void **state)
{
	struct ty_build_facts facts = {.cpus = 2, .long_size = 8, .arch = "x86_64"};
	struct ty_event gap = {0};
	struct ty_view_input in;
	struct ty_timeline *t;
	struct ty_model *m;
	struct ty_err err = {0};

	for (int lost = 0; lost < 2; lost++) {
		const char *s, *cpu0, *cpu1;
		bool flagged = false;

		builder = ty_builder_new(&facts);
		sw(0, 0, 0, 0, 55);
		for (uint64_t ms = 1; ms < 1000; ms += 2) {
			/* 55 leaves; 56 is there although nobody switched to it */
			sw(ms * 1000, 0, ms % 10 == 1 ? 56 : 55, TY_TASK_INTERRUPTIBLE, 0);
			wake(ms * 1000 + 500, 0, 0, TY_EVF_HARDIRQ, 55, 0);
			sw(ms * 1000 + 505, 0, 0, 0, 55);
			if (lost && ms == 501) {
				gap.u.gap.from_ns = START + 500 * MS;
				gap.u.gap.count = 3;
				feed(gap, 501600, 1, 0, TY_EV_GAP);
			}
		}
		assert_int_equal(ty_builder_finish(builder, &m, &err), 0);
		ty_builder_free(builder);
		for (uint32_t i = 0; i < ty_model_cpu_spans(m, 0); i++)
			flagged |= ty_model_cpu_span(m, 0, i).flags & TY_SF_LOST;
		assert_true(flagged); /* else nothing is tested here */
		in = input_of(m);
		t = open_view(&in);
		s = frame(t, &utf8, 80, 24);
		cpu0 = strstr(s, "CPU 0");
		cpu1 = strstr(s, "CPU 1");
		assert_true(cpu0 && cpu1);
		assert_null(memchr(cpu0, '!', strcspn(cpu0, "\n")));
		assert_true(!memchr(cpu1, '!', strcspn(cpu1, "\n")) == !lost);
		ty_timeline_free(t);
		ty_model_free(m);
	}
}

/* s without line breaks, frame borders of blanks squeezed to one. */
static char *flat(const char *s)
{
	static char out[1 << 16];
	size_t n = 0;

	for (; *s && n + 1 < sizeof(out); s++) {
		char c = *s == '\n' ? ' ' : *s;

		if (c != ' ' || (n && out[n - 1] != ' '))
			out[n++] = c;
	}
	out[n] = 0;
	return out;
}

/* The glyph of [from, to) of a CPU. */
static struct ty_glyph glyph_of(const struct ty_palette *p, const struct ty_model *m,
				const struct ty_gaps *gaps, uint32_t cpu, uint64_t from,
				uint64_t to)
{
	struct ty_track track = {.kind = TY_TRACK_CPU, .id = cpu};
	struct ty_cell c;

	ty_model_cells(m, track, from, to, 1, &c);
	return ty_glyph_cell(p, m, gaps, track, &c, from, to);
}

/* Lost, not known, inferred: by shape unlike everything else and each other in every mode, and lost
 * by its style, too, wherever there are styles. */
static void every_mode_tells_what_is_not_known(void **state)
{
	struct ty_build_facts facts = {.cpus = 2,
				       .long_size = 8,
				       .arch = "x86_64",
				       .machine = "mode=all\nno_idle_switch=0\n"};
	struct ty_event gap = {0};
	struct ty_span inferred = {0};
	struct ty_gaps gaps;
	struct ty_model *m;
	struct ty_err err = {0};

	builder = ty_builder_new(&facts);
	sw(0, 0, 0, 0, 55);
	sw(1000, 0, 55, TY_TASK_INTERRUPTIBLE, 0);
	wake(5000, 0, 0, TY_EVF_HARDIRQ, 55, 0);
	sw(9000, 0, 55, TY_TASK_INTERRUPTIBLE, 0);
	gap.u.gap.from_ns = START + 20 * MS;
	gap.u.gap.count = 3;
	feed(gap, 30000, 1, 0, TY_EV_GAP);
	sw(40000, 0, 0, 0, 55);
	assert_int_equal(ty_builder_finish(builder, &m, &err), 0);
	ty_builder_free(builder);
	assert_int_equal(ty_gaps_init(&gaps, m, &err), 0);
	for (uint32_t i = 0; i < ty_model_cpu_spans(m, 0); i++)
		if (ty_model_cpu_span(m, 0, i).flags & TY_SF_INFERRED)
			inferred = ty_model_cpu_span(m, 0, i);
	assert_true(inferred.end_ns > inferred.start_ns);
	for (unsigned k = 0; k < 4u * (TY_COLOR_TRUE + 1); k++) {
		struct ty_palette p = {
			.mode = (enum ty_color_mode)(k / 4), .utf8 = k & 1, .light = k & 2};
		struct ty_glyph sign[] = {
			glyph_of(&p, m, &gaps, 1, START + 19 * MS, START + 31 * MS),
			ty_glyph_state(&p, TY_ST_UNKNOWN),
			glyph_of(&p, m, &gaps, 0, inferred.start_ns, inferred.end_ns)};
		char lost[TY_SGR_MAX], other[TY_SGR_MAX];

		assert_int_equal(sign[0].ch, '!');
		ty_palette_sgr(&p, sign[0].st, lost);
		for (unsigned i = 0; i < 3; i++) {
			for (unsigned j = 0; j < i; j++)
				assert_int_not_equal(sign[i].ch, sign[j].ch);
			for (unsigned e = 0; e <= 8; e++)
				assert_int_not_equal(sign[i].ch,
						     ty_glyph_bar(&p, e, TY_C_RUNNING).ch);
			for (unsigned s = 0; s < TY_ST_COUNT; s++) {
				struct ty_glyph g = ty_glyph_state(&p, (enum ty_state)s);

				if (s != TY_ST_UNKNOWN || i != 1)
					assert_int_not_equal(sign[i].ch, g.ch);
				if (p.mode > TY_COLOR_NONE)
					assert_string_not_equal(lost,
								ty_palette_sgr(&p, g.st, other));
			}
		}
	}
	ty_gaps_fini(&gaps);
	ty_model_free(m);
}

static void what_is_missing_is_told(void **state)
{
	struct ty_build_facts facts = {.cpus = 2, .long_size = 8, .arch = "x86_64"};
	static const char note[] = "the recording was not finished: the recorder was killed; the "
				   "last 2 s of CPU 1 may be missing";
	struct ty_event gap = {0};
	struct ty_view_input in;
	struct ty_timeline *t;
	struct ty_model *m;
	struct ty_err err = {0};
	struct ty_help help = {.note = note};
	struct ty_grid g;
	char *s;

	builder = ty_builder_new(&facts);
	sw(0, 0, 0, 0, 55);
	gap.u.gap.from_ns = START + 100 * MS;
	gap.u.gap.count = 1234567;
	feed(gap, 200000, 1, 0, TY_EV_GAP);
	sw(1000000, 0, 55, TY_TASK_INTERRUPTIBLE, 0);
	assert_int_equal(ty_builder_finish(builder, &m, &err), 0);
	ty_builder_free(builder);
	in = input_of(m);
	in.path = "a/recording-of-the-web-server-with-a-long-name.dat";
	in.note = note;
	t = open_view(&in);
	for (int w = TY_VIEW_MIN_W; w < 160; w++) {
		s = frame(t, &utf8, w, 24);
		s[strcspn(s, "\n")] = 0;
		assert_non_null(strstr(s, " recording"));
		assert_non_null(strstr(s, " INCOMPLETE "));
		assert_non_null(strstr(s, " lost 1234567"));
	}
	s = strstr(frame(t, &utf8, 80, 24), "recorder 12.0 ms");
	assert_null(s);
	assert_non_null(strstr(flat(frame(t, &utf8, 80, 24)), note));
	ty_timeline_ops.act(t, TY_ACT_RIGHT);
	assert_null(strstr(flat(frame(t, &utf8, 80, 24)), note));
	assert_non_null(strstr(frame(t, &utf8, 80, 24), "INCOMPLETE"));
	ty_timeline_free(t);
	ty_model_free(m);
	/* help keeps it */
	assert_int_equal(ty_grid_init(&g, 80, 24), 0);
	ty_help_ops.draw(&help, &g, &utf8);
	{
		struct ty_buf b;

		ty_buf_init(&b, 1 << 20);
		assert_int_equal(ty_grid_dump(&g, &utf8, &b), 0);
		assert_non_null(strstr(flat(b.p), note));
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
		ty_help_ops.draw(&help, &g, &utf8);
		assert_int_equal(ty_grid_dump(&g, &utf8, &b), 0);
		s = b.p;
		for (int y = 0; y < sizes[k][1] - 1; y++)
			s = strchr(s, '\n') + 1;
		assert_non_null(strstr(s, "q closes"));
		s[strcspn(s, "\n")] = 0;
		assert_int_equal(atoi(strstr(s, " of ") + 4), help.lines);
		/* all of it on one tall screen of the same width */
		ty_grid_fini(&g);
		assert_int_equal(ty_grid_init(&g, sizes[k][0], 300), 0);
		ty_help_ops.draw(&help, &g, &utf8);
		ty_buf_reset(&b);
		assert_int_equal(ty_grid_dump(&g, &utf8, &b), 0);
		s = flat(b.p);
		for (unsigned i = 0; i < n; i++)
			assert_non_null(strstr(s, keys[i].help));
		ty_buf_fini(&b);
		ty_grid_fini(&g);
	}
}

static void the_footer_names_the_list(void **state)
{
	struct ty_model *m = stall_model();
	struct ty_view_input in = input_of(m);
	struct ty_timeline *t = open_view(&in);
	const char *s = frame(t, &utf8, 80, 24);

	assert_non_null(strstr(s, "Tab list"));
	assert_non_null(strstr(s, "Enter open"));
	assert_non_null(strstr(s, "q quit"));
	ty_timeline_free(t);
	ty_model_free(m);
}

/* The index says what a walk over all gaps says. */
static void gaps_are_found(void **state)
{
	struct ty_build_facts facts = {.cpus = 4, .long_size = 8, .arch = "x86_64"};
	const struct ty_gap_span *v;
	struct ty_gaps g;
	struct ty_model *m;
	struct ty_err err = {0};
	unsigned seed = 7;
	uint32_t n;

	builder = ty_builder_new(&facts);
	for (uint64_t us = 1000; us < 60000; us += 100) {
		struct ty_event gap = {0};

		gap.u.gap.count = 1;
		gap.u.gap.from_ns = START + (us - (uint64_t)(rand_r(&seed) % 900)) * 1000;
		feed(gap, us, (uint32_t)(rand_r(&seed) % 4), 0, TY_EV_GAP);
	}
	assert_int_equal(ty_builder_finish(builder, &m, &err), 0);
	ty_builder_free(builder);
	v = ty_model_gaps(m, &n);
	assert_true(n > 100);
	assert_int_equal(ty_gaps_init(&g, m, &err), 0);
	for (int i = 0; i < 20000; i++) {
		uint64_t from = START + (uint64_t)(rand_r(&seed) % 70000) * 1000;
		uint64_t to = from + (uint64_t)(rand_r(&seed) % 400) * 1000;
		uint32_t cpu = i % 3 ? (uint32_t)(rand_r(&seed) % 5) : TY_NONE;
		bool want = false;

		for (uint32_t k = 0; k < n; k++)
			want |= v[k].from_ns <= to && v[k].to_ns >= from &&
				(cpu == TY_NONE || v[k].cpu == cpu);
		assert_int_equal(ty_gaps_touch(&g, from, to, cpu), want);
	}
	ty_gaps_fini(&g);
	ty_model_free(m);
}

/* Lines never wider than the screen, ASCII where asked for, whatever the size. */
static void frames_fit_every_screen(void **state)
{
	struct ty_model *m = stall_model();
	struct ty_view_input in = input_of(m);
	struct ty_timeline *t = open_view(&in);

	for (int w = 1; w < 260; w += 13)
		for (int h = 1; h < 70; h += 3) {
			char *s = frame(t, &ascii, w, h);
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
	assert_non_null(strstr(frame(t, &ascii, 39, 10), "needs a screen of 40x10"));
	ty_timeline_free(t);
	ty_model_free(m);
}

static void random_walks_stay_inside(void **state)
{
	struct ty_model *m = stall_model();
	struct ty_view_input in = input_of(m);
	struct ty_timeline *t = open_view(&in);
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

/* In a recording of everybody, daemons that slept all through are neither first nor in the way. */
static void sleepers_that_never_stirred_come_last(void **state)
{
	static const char threads[] = "taken 999999000000 999999900000\n"
				      "50\t50\t1\t5\tS\t0\t0\t0\t-\t-\t-\t-\tdaemon\n"
				      "51\t51\t1\t5\tD\t0\t0\t0\t-\t-\t-\t-\tstuck\n";
	struct ty_build_facts facts = {.cpus = 1,
				       .long_size = 8,
				       .arch = "x86_64",
				       .machine = "mode=all\n",
				       .threads = threads};
	struct ty_view_input in;
	struct ty_timeline *t;
	struct ty_model *m;
	struct ty_err err = {0};

	builder = ty_builder_new(&facts);
	sw(0, 0, 0, 0, 55);
	enter(900, 0, 55, NR_NANOSLEEP);
	sw(1000, 0, 55, TY_TASK_INTERRUPTIBLE, 0);
	wake(900000, 0, 0, TY_EVF_HARDIRQ, 55, 0);
	sw(900010, 0, 0, 0, 55);
	sw(1000000, 0, 55, TY_TASK_INTERRUPTIBLE, 0);
	assert_int_equal(ty_builder_finish(builder, &m, &err), 0);
	ty_builder_free(builder);
	in = input_of(m);
	t = open_view(&in);
	assert_true(t->findings.n >= 3);
	assert_int_equal(ty_model_thread(m, t->findings.v[0].thread)->tid, 51);
	assert_int_equal(ty_model_thread(m, t->findings.v[1].thread)->tid, 55);
	assert_int_equal(ty_model_thread(m, t->findings.v[t->findings.n - 1].thread)->tid, 50);
	assert_null(strstr(frame(t, &utf8, 80, 24), " daemon "));
	assert_non_null(strstr(frame(t, &utf8, 80, 24), "did not run"));
	/* but the list reaches it */
	ty_timeline_ops.act(t, TY_ACT_PREV);
	assert_non_null(strstr(frame(t, &utf8, 80, 24), " daemon "));
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
		struct ty_err err = {0};
		size_t rows;

		builder = ty_builder_new(&facts);
		sw(0, 0, 0, 0, 55);
		sw(1000, 0, 55, TY_TASK_INTERRUPTIBLE, 0);
		sw(1000000, 0, 0, 0, 55);
		assert_int_equal(ty_builder_finish(builder, &m, &err), 0);
		ty_builder_free(builder);
		in = input_of(m);
		t = open_view(&in);
		t->row = ty_tracks_find(&t->tracks, TY_ROW_THREAD, 0);
		assert_int_not_equal(t->row, TY_NONE);
		rows = t->tracks.rows.n;
		ty_timeline_ops.act(t, TY_ACT_FOLD);
		assert_int_equal(t->tracks.rows.n, rows);
		assert_int_equal(t->tracks.rows.v[t->row].kind, TY_ROW_THREAD);
		assert_non_null(strstr(frame(t, &utf8, 80, 24), "nothing to fold here"));
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

/* Hundreds of traced threads with short waits beside a bystander with tens of thousands of longer
 * ones: the list is still that of the traced ones. */
static void traced_waits_are_found_among_everybodys(void **state)
{
	enum { TRACED = 600, FIRST = 1000 };
	struct ty_build_facts facts = {.cpus = 2, .long_size = 8, .arch = "x86_64"};
	struct ty_view_input in;
	struct ty_timeline *t;
	struct ty_model *m;
	struct ty_err err = {0};
	int i;

	builder = ty_builder_new(&facts);
	sw(0, 1, 0, 0, 55);
	for (i = 0; i < 17000; i++) {
		uint64_t us = 1000 + (uint64_t)i * 11000;

		sw(us, 1, 55, TY_TASK_INTERRUPTIBLE, 0);
		if (i >= 1000 && i < 1000 + TRACED) {
			sw(us + 1, 0, 0, 0, FIRST + i);
			enter(us + 2, 0, FIRST + i, NR_NANOSLEEP);
			sw(us + 3, 0, FIRST + i, TY_TASK_INTERRUPTIBLE, 0);
			wake(us + 1000, 0, 0, TY_EVF_HARDIRQ, FIRST + i, 0);
			sw(us + 1001, 0, 0, 0, FIRST + i);
			leave(us + 1002, 0, FIRST + i, NR_NANOSLEEP);
			sw(us + 1003, 0, FIRST + i, 0x10 /* dead */, 0);
		}
		wake(us + 10000, 1, 0, TY_EVF_HARDIRQ, 55, 1);
		sw(us + 10005, 1, 0, 0, 55);
	}
	assert_int_equal(ty_builder_finish(builder, &m, &err), 0);
	ty_builder_free(builder);
	in = input_of(m);
	t = open_view(&in);
	assert_true(t->findings.traced_only);
	assert_int_equal(t->findings.n, TY_FINDINGS_MAX);
	for (uint32_t k = 0; k < t->findings.n; k++)
		assert_true(ty_model_thread(m, t->findings.v[k].thread)->traced);
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

	builder = ty_builder_new(&facts);
	assert_int_equal(ty_builder_finish(builder, &m, &err), 0);
	ty_builder_free(builder);
	in = input_of(m);
	t = open_view(&in);
	assert_non_null(strstr(frame(t, &utf8, 80, 24), "none"));
	for (int a = 1; a < TY_ACT_COUNT; a++) {
		ty_timeline_ops.act(t, (enum ty_action)a);
		frame(t, &utf8, 80, 24);
	}
	ty_timeline_free(t);
	in.at_finding = 1;
	assert_int_equal(ty_timeline_new(&in, &t, &err), -TY_EUSAGE);
	assert_non_null(strstr(err.msg, "no finding number 1"));
	ty_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_as_they_were),
		cmocka_unit_test(a_jump_shows_call_and_waker),
		cmocka_unit_test(every_action_is_handled),
		cmocka_unit_test(the_mouse_points),
		cmocka_unit_test(going_to_a_time),
		cmocka_unit_test(times_in_the_clock_asked_for),
		cmocka_unit_test(going_to_a_clock_time),
		cmocka_unit_test(links_lead_to_the_waker_and_undo_leads_back),
		cmocka_unit_test(selections),
		cmocka_unit_test(a_double_click_fits_the_span),
		cmocka_unit_test(marks),
		cmocka_unit_test(input_does_not_wait_for_analyses),
		cmocka_unit_test(searching),
		cmocka_unit_test(filtering),
		cmocka_unit_test(the_chain_leads_to_the_culprit),
		cmocka_unit_test(statistics),
		cmocka_unit_test(a_stall_keeps_its_sign),
		cmocka_unit_test(only_lost_events_are_exclamation_marks),
		cmocka_unit_test(gaps_are_found),
		cmocka_unit_test(every_mode_tells_what_is_not_known),
		cmocka_unit_test(what_is_missing_is_told),
		cmocka_unit_test(help_is_whole),
		cmocka_unit_test(the_footer_names_the_list),
		cmocka_unit_test(frames_fit_every_screen),
		cmocka_unit_test(random_walks_stay_inside),
		cmocka_unit_test(sleepers_that_never_stirred_come_last),
		cmocka_unit_test(folding_where_nothing_folds_changes_nothing),
		cmocka_unit_test(traced_waits_are_found_among_everybodys),
		cmocka_unit_test(an_empty_recording_opens),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 1;
	return cmocka_run_group_tests_name("timeline", tests, NULL, NULL);
}
