/* SPDX-License-Identifier: MIT */
#include "fixture_timeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fixture_story.h"
#include "window_all.h"

static struct ty_builder *builder;
static unsigned left; /* events of the story that are still taken */

static void emit(const struct ty_event *story)
{
	struct ty_err err = {0};
	static ty_loc loc;
	struct ty_event ev = *story;

	ev.loc = ++loc;
	assert_int_equal(ty_builder_feed(builder, &ev, &err), 0);
}

void ty_tl_build(const struct ty_build_facts *facts)
{
	builder = ty_builder_new(facts);
	assert_non_null(builder);
}

struct ty_model *ty_tl_built(void)
{
	struct ty_model *m;
	struct ty_err err = {0};

	assert_int_equal(ty_builder_finish(builder, &m, &err), 0);
	ty_builder_free(builder);
	return m;
}

void ty_tl_feed(struct ty_event ev, uint64_t us, uint32_t cpu, int tid, int kind)
{
	ev.ts_ns = TY_STORY_START + us * 1000;
	ev.cpu = cpu;
	ev.tid = tid;
	ev.kind = (uint8_t)kind;
	ev.id = (uint16_t)kind;
	emit(&ev);
}

void ty_tl_switch(uint64_t us, uint32_t cpu, int prev, uint64_t state, int next)
{
	struct ty_event ev = {0};

	ev.u.sw.prev_tid = prev;
	ev.u.sw.next_tid = next;
	ev.u.sw.prev_state = state;
	ev.u.sw.prev_prio = ev.u.sw.next_prio = 120;
	snprintf(ev.u.sw.prev_comm, sizeof(ev.u.sw.prev_comm), "%s", prev ? "busy" : "swapper");
	snprintf(ev.u.sw.next_comm, sizeof(ev.u.sw.next_comm), "%s", next ? "busy" : "swapper");
	ty_tl_feed(ev, us, cpu, prev, TY_EV_SWITCH);
}

void ty_tl_wake(uint64_t us, uint32_t cpu, int by, uint8_t flags, int tid, int target_cpu)
{
	struct ty_event ev = {.flags = flags};

	ev.u.wake.tid = tid;
	ev.u.wake.prio = 120;
	ev.u.wake.target_cpu = target_cpu;
	snprintf(ev.u.wake.comm, sizeof(ev.u.wake.comm), "%s", "busy");
	ty_tl_feed(ev, us, cpu, by, TY_EV_WAKING);
}

void ty_tl_enter(uint64_t us, uint32_t cpu, int tid, int nr)
{
	struct ty_event ev = {0};

	ev.u.enter.nr = nr;
	ty_tl_feed(ev, us, cpu, tid, TY_EV_SYS_ENTER);
}

void ty_tl_leave(uint64_t us, uint32_t cpu, int tid, int nr)
{
	struct ty_event ev = {0};

	ev.u.exit.nr = nr;
	ev.u.exit.ret = 0;
	ty_tl_feed(ev, us, cpu, tid, TY_EV_SYS_EXIT);
}

static void emit_first(const struct ty_event *ev)
{
	if (left) {
		left--;
		emit(ev);
	}
}

struct ty_model *ty_tl_stall_first(unsigned events)
{
	struct ty_build_facts facts = {
		.cpus = 2, .long_size = 8, .arch = "x86_64", .threads = TY_STORY_THREADS};

	ty_tl_build(&facts);
	left = events;
	ty_story_stall(emit_first);
	return ty_tl_built();
}

struct ty_model *ty_tl_stall(void)
{
	return ty_tl_stall_first(UINT_MAX);
}

static const char *args(void *ctx, uint32_t syscall, char *buf, size_t n)
{
	snprintf(buf, n, "3, LOCK_EX");
	return buf;
}

struct ty_view_input ty_tl_input(const struct ty_model *m)
{
	static struct ty_explain x;

	x = (struct ty_explain){
		.m = m, .arch = ty_sysarch_find("x86_64"), .command_tid = TY_STORY_WEB};
	return (struct ty_view_input){.model = m,
				      .explain = &x,
				      .path = "some/where/demo.dat",
				      .window = window_all(m),
				      .arch = ty_sysarch_find("x86_64"),
				      .host = {.syscall_args = args},
				      .recorder_cpu_ns = 12000000};
}

struct ty_timeline *ty_tl_open(const struct ty_view_input *in)
{
	struct ty_timeline *t;
	struct ty_err err = {0};

	if (ty_timeline_new(in, &t, &err))
		fail_msg("%s", err.msg);
	return t;
}

const struct ty_palette ty_tl_utf8 = {.mode = TY_COLOR_NONE, .utf8 = true};
const struct ty_palette ty_tl_ascii = {.mode = TY_COLOR_NONE};

char *ty_tl_view_frame(const struct ty_view_ops *ops, void *self, const struct ty_palette *p, int w,
		       int h)
{
	static struct ty_buf b;
	struct ty_grid g;

	ty_buf_fini(&b);
	ty_buf_init(&b, 1 << 24);
	assert_int_equal(ty_grid_init(&g, w, h), 0);
	ops->draw(self, &g, p);
	assert_int_equal(ty_grid_dump(&g, p, &b), 0);
	ty_grid_fini(&g);
	return b.p;
}

void ty_tl_moves(const struct ty_view_ops *ops, void *self, bool axis)
{
	static const enum ty_action moves[] = {
		TY_ACT_DOWN,	  TY_ACT_UP,	    TY_ACT_PAGE_DOWN, TY_ACT_PAGE_UP,
		TY_ACT_ROW_LAST,  TY_ACT_ROW_FIRST, TY_ACT_TIME_LAST, TY_ACT_TIME_FIRST,
		TY_ACT_REDRAW,	  TY_ACT_RIGHT,	    TY_ACT_LEFT,      TY_ACT_ZOOM_IN,
		TY_ACT_PAN_RIGHT, TY_ACT_PAN_LEFT,  TY_ACT_ZOOM_OUT,  TY_ACT_ZOOM_IN,
		TY_ACT_UNDO,	  TY_ACT_ALL};
	const size_t n = axis ? sizeof(moves) / sizeof(*moves) : 9;

	ty_tl_view_frame(ops, self, &ty_tl_utf8, 80, 24);
	for (size_t i = 0; i < n; i++) {
		const enum ty_view_result r = ops->act(self, moves[i]);
		char name[TY_KEY_NAMES_MAX];

		if (r != (moves[i] == TY_ACT_REDRAW ? TY_VIEW_REDRAW : TY_VIEW_CHANGED) ||
		    strstr(ty_tl_view_frame(ops, self, &ty_tl_utf8, 80, 24),
			   "in the timeline only"))
			fail_msg("%s: the key %s does not move there", ops->name,
				 ty_key_names(ty_keys_row(moves[i]), 0, name));
	}
}

char *ty_tl_frame(struct ty_timeline *t, const struct ty_palette *p, int w, int h)
{
	return ty_tl_view_frame(&ty_timeline_ops, t, p, w, h);
}

char *ty_tl_flat(const char *s)
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

void ty_tl_golden(const char *name, const char *got)
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
		fail_msg("%s is missing: run from the project's root, or `make golden`", path);
	want = malloc(cap);
	assert_non_null(want);
	n = fread(want, 1, cap - 1, f);
	want[n] = 0;
	fclose(f);
	if (strcmp(want, got))
		fail_msg("%s differs; this was drawn:\n%s", path, got);
	free(want);
}

void ty_tl_type(struct ty_timeline *t, const char *s)
{
	while (*s)
		ty_timeline_ops.text(t, ty_utf8_next(&s));
	ty_timeline_ops.text(t, TY_KEY_ENTER);
}

void ty_tl_work(struct ty_timeline *t)
{
	for (int i = 0; ty_timeline_ops.wait_ms(t) >= 0; i++) {
		assert_true(i < 10000);
		ty_timeline_ops.work(t);
	}
}

void ty_tl_ask(struct ty_timeline *t, enum ty_action a, const char *text)
{
	ty_timeline_ops.act(t, a);
	assert_true(ty_timeline_ops.wants_text(t));
	ty_tl_type(t, text);
	ty_tl_work(t);
}

void ty_tl_locale(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		fail_msg("there is no C.UTF-8 locale");
}
