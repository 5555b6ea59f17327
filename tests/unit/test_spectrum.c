/* SPDX-License-Identifier: MIT */
/* Latencies over time: the counts against one look at every span, percentiles and longest against
 * the statistics of system calls; and the view on them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture_model.h"
#include "fixture_story.h"
#include "fixture_timeline.h"
#include "process_of_thread.h"
#include "spectrum.h"
#include "spectrum_priv.h"
#include "syscall_stats.h"
#include "window_all.h"

static void bins_are_in_order_and_meet(void **state)
{
	assert_int_equal(ty_spec_bin(0), 0);
	for (unsigned b = 0; b + 1 < 4 * 62; b++) {
		uint64_t at = ty_spec_bin_begin(b), end = ty_spec_bin_begin(b + 1);

		assert_true(at < end);
		assert_int_equal(ty_spec_bin(at), b);
		assert_int_equal(ty_spec_bin(end - 1), b);
	}
	assert_true(ty_spec_bin(UINT64_MAX) < TY_SPEC_BINS);
	assert_true(ty_spec_bin_begin(TY_SPEC_BINS) == UINT64_MAX);
}

/* Some threads that call, wait and run at random; events are lost in between. */
static const struct ty_model *random_model(unsigned seed, unsigned steps)
{
	static const int64_t nrs[] = {0, 1, 7, 35, 202};
	int on[2] = {0, 0};
	int64_t in[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
	uint64_t ts = 1000;

	ty_mx_begin("mode=all\n", NULL);
	for (unsigned i = 0; i < steps; i++) {
		unsigned cpu = (unsigned)rand_r(&seed) % 2;
		int next = 10 + (int)cpu * 4 + rand_r(&seed) % 4, who = on[cpu];

		ts += 1 + ((uint64_t)rand_r(&seed) >> (rand_r(&seed) % 30));
		if (rand_r(&seed) % 500 == 0) {
			ty_mx_gap(cpu, ts, ts + 1000, 3);
			ts += 2000;
		} else if (rand_r(&seed) % 3 == 0) {
			static const uint64_t states[] = {S, D, RP};

			if (next == who)
				next = 0;
			ty_mx_switch(cpu, ts, who, states[rand_r(&seed) % 3], next);
			on[cpu] = next;
		} else if (who && in[who - 10] < 0) {
			in[who - 10] = nrs[rand_r(&seed) % 5];
			ty_mx_enter(cpu, ts, who, in[who - 10]);
		} else if (who) {
			ty_mx_exit(cpu, ts, who, in[who - 10], 0);
			in[who - 10] = -1;
		}
	}
	return ty_mx_end();
}

/* What the span or call is to the picture: 0 nothing, 1 counted, 2 without a known start. */
static int judge(const struct ty_spec_query *a, const struct ty_model *m, uint64_t start,
		 uint64_t end, bool timed)
{
	const struct ty_window *w = &a->window;

	if (start >= w->to_ns && !(start == w->to_ns && w->to_ns == ty_model_summary(m)->end_ns))
		return 0;
	if (start < w->from_ns && end <= w->from_ns)
		return 0;
	return timed ? 1 : 2;
}

struct brute {
	struct ty_spectrum s;
	uint64_t in_box;
};

static void brute_add(struct brute *b, const struct ty_spec_query *a, const struct ty_model *m,
		      uint32_t cols, uint64_t start, uint64_t end, bool timed)
{
	struct ty_viewport vp = {.from_ns = a->window.from_ns, .to_ns = a->window.to_ns};
	int j = judge(a, m, start, end, timed);

	if (j == 2)
		b->s.untimed++;
	if (j != 1)
		return;
	b->s.n++;
	b->s.total_ns += end - start;
	b->s.count[ty_spec_bin(end - start) * cols + ty_viewport_column(&vp, start, cols)]++;
	if (end - start > b->s.worst.end_ns)
		b->s.worst.end_ns = end - start;
	b->in_box += end - start >= 1000 && end - start < 100000;
}

static struct brute by_hand(const struct ty_model *m, const struct ty_spec_query *a, uint32_t cols)
{
	struct brute b = {.s.count = calloc((size_t)cols * TY_SPEC_BINS, 4)};

	assert_non_null(b.s.count);
	for (uint32_t i = 0; i < ty_model_summary(m)->threads; i++) {
		const struct ty_thread *t = ty_model_thread(m, i);

		if (a->scope == TY_SPEC_THREAD && i != a->thread)
			continue;
		if (a->kind.of == TY_SPEC_CALL)
			for (uint32_t k = t->syscalls_first; k < t->syscalls_first + t->syscalls_n;
			     k++) {
				struct ty_syscall c = ty_model_syscall(m, k);

				if (c.nr == a->kind.nr && !(c.flags & TY_SF_SNAPSHOT))
					brute_add(&b, a, m, cols, c.start_ns, c.end_ns,
						  c.loc != TY_NO_LOC &&
							  !(c.flags & (TY_SF_BEFORE | TY_SF_LOST)));
			}
		else
			for (uint32_t k = t->spans_first; k < t->spans_first + t->spans_n; k++) {
				struct ty_span s = ty_model_span(m, k);

				if (s.state == a->kind.state)
					brute_add(&b, a, m, cols, s.start_ns, s.end_ns,
						  !(s.flags &
						    (TY_SF_BEFORE | TY_SF_LOST | TY_SF_SNAPSHOT)));
			}
	}
	return b;
}

static void compare(const struct ty_model *m, const struct ty_spec_query *a, uint32_t cols)
{
	struct ty_explain x = {.m = m};
	struct brute b = by_hand(m, a, cols);
	struct ty_spectrum s;
	struct ty_spec_span *v;
	uint32_t n;
	uint64_t all, sum = 0;

	assert_int_equal(ty_spectrum_find(&x, a, cols, &s), 0);
	assert_int_equal(s.n, b.s.n);
	assert_int_equal(s.untimed, b.s.untimed);
	assert_int_equal(s.total_ns, b.s.total_ns);
	assert_memory_equal(s.count, b.s.count, (size_t)cols * TY_SPEC_BINS * 4);
	for (size_t i = 0; i < (size_t)cols * TY_SPEC_BINS; i++) {
		sum += s.count[i];
		assert_true(s.count[i] <= s.most);
		assert_true(!s.count[i] || (i / cols >= s.first && i / cols < s.end));
	}
	assert_int_equal(sum, s.n);
	if (s.n) {
		uint64_t longest = s.worst.end_ns - s.worst.start_ns;

		assert_int_equal(longest, b.s.worst.end_ns);
		assert_true(s.count[ty_spec_bin(longest) * cols + s.worst_col] > 0);
		assert_true(s.p50_ns <= s.p90_ns && s.p90_ns <= s.p99_ns && s.p99_ns <= s.p999_ns &&
			    s.p999_ns <= longest);
	}
	assert_int_equal(ty_spectrum_list(&x, a, true, 1000, 100000, 7, &v, &n, &all), 0);
	assert_int_equal(all, b.in_box);
	assert_int_equal(n, all < 7 ? all : 7);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t ns = v[i].end_ns - v[i].start_ns;

		assert_true(ns >= 1000 && ns < 100000);
		assert_true(!i || ns <= v[i - 1].end_ns - v[i - 1].start_ns);
	}
	free(v);
	ty_spectrum_fini(&s);
	free(b.s.count);
}

static void every_cell_counts_what_is_there(void **state)
{
	for (unsigned seed = 1; seed < 6; seed++) {
		const struct ty_model *m = random_model(seed, 4000);
		struct ty_spec_query a = {.window = window_all(m)};
		struct ty_explain x = {.m = m};
		uint64_t length = a.window.to_ns - a.window.from_ns;
		struct ty_spec_kind_sum *k;
		unsigned r = seed;
		uint32_t n;

		assert_int_equal(ty_spectrum_kinds(&x, &a, &k, &n), 0);
		assert_true(n >= 8);
		for (uint32_t i = 0; i < n; i++) {
			a.kind = k[i].kind;
			a.scope = TY_SPEC_ALL;
			a.window = window_all(m);
			compare(m, &a, 100);
			for (int w = 0; w < 4; w++) {
				a.window.from_ns = ty_model_summary(m)->start_ns +
						   (uint64_t)rand_r(&r) % length;
				a.window.to_ns =
					a.window.from_ns + 1 + (length >> (rand_r(&r) % 20));
				if (a.window.to_ns > ty_model_summary(m)->end_ns)
					a.window.to_ns = ty_model_summary(m)->end_ns + (w & 1);
				if (a.window.to_ns <= a.window.from_ns)
					continue;
				a.scope = w < 2 ? TY_SPEC_ALL : TY_SPEC_THREAD;
				a.thread = (uint32_t)rand_r(&r) % ty_model_summary(m)->threads;
				compare(m, &a, 1 + (uint32_t)rand_r(&r) % 200);
			}
		}
		free(k);
		ty_mx_drop();
	}
}

/* Two roads to the same numbers. */
static void percentiles_are_those_of_the_statistics(void **state)
{
	const struct ty_model *m = random_model(9, 20000);
	const struct ty_sysarch *arch = ty_sysarch_find("x86_64");
	struct ty_spec_query a = {.window = window_all(m)};
	struct ty_explain x = {.m = m, .arch = arch};
	struct ty_syscall_stats *st;
	struct ty_spec_kind_sum *k;
	struct ty_spectrum s;
	uint32_t n, stn, calls = 0;
	char buf[32];

	assert_int_equal(ty_spectrum_kinds(&x, &a, &k, &n), 0);
	assert_int_equal(ty_syscall_stats(m, &a.window, arch, &st, &stn), 0);
	for (uint32_t i = 0; i < n; i++) {
		a.kind = k[i].kind;
		assert_int_equal(ty_spectrum_find(&x, &a, 50, &s), 0);
		assert_int_equal(s.n, k[i].n);
		assert_int_equal(s.total_ns, k[i].total_ns);
		for (uint32_t j = 0; j < stn && a.kind.of == TY_SPEC_CALL; j++)
			if (!strcmp(st[j].name, ty_spec_name(arch, &a.kind, buf))) {
				calls++;
				assert_int_equal(s.n + s.untimed, st[j].count);
				assert_int_equal(s.total_ns, st[j].total_ns);
				assert_int_equal(s.worst.end_ns - s.worst.start_ns, st[j].max_ns);
				assert_true(s.p50_ns <= st[j].p50_ns &&
					    s.p50_ns + s.p50_ns / 500 + 1 >= st[j].p50_ns);
				assert_true(s.p99_ns <= st[j].p99_ns &&
					    s.p99_ns + s.p99_ns / 500 + 1 >= st[j].p99_ns);
			}
		ty_spectrum_fini(&s);
	}
	assert_int_equal(calls, stn);
	assert_true(stn >= 5);
	free(st);
	free(k);
	ty_mx_drop();
}

static void block(uint64_t ts, int tid, int kind, uint64_t sector)
{
	struct ty_event ev = {.ts_ns = ts, .tid = tid, .kind = (uint8_t)kind, .id = 20};

	ev.u.block.sector = sector;
	ev.u.block.nr_sector = 8;
	ev.u.block.rwbs[0] = 'W';
	ty_mx_feed(ev);
}

/* Requests of a chosen thread, by tid or by the name it bore then, and no other thread's. */
static void requests_of_the_chosen_only(void **state)
{
	static const char *const name[] = {"t7"}, *const gone[] = {"gone"};
	const int32_t tid = 6;
	const struct ty_model *m;
	struct ty_spec_query a;
	struct ty_explain x;
	const struct {
		const int32_t *tids;
		const char *const *comms;
		uint64_t n;
	} ask[] = {{NULL, NULL, 4}, {&tid, NULL, 1}, {NULL, name, 2}, {NULL, gone, 0}};

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 100, 0, R, 6);
	block(110, 6, TY_EV_BLOCK_ISSUE, 1000);
	ty_mx_switch(0, 120, 6, S, 7);
	block(130, 7, TY_EV_BLOCK_ISSUE, 2000);
	block(140, 7, TY_EV_BLOCK_ISSUE, 3000);
	block(150, 7, TY_EV_BLOCK_COMPLETE, 1000);
	block(160, 7, TY_EV_BLOCK_COMPLETE, 2000);
	block(170, 7, TY_EV_BLOCK_COMPLETE, 3000);
	ty_mx_switch(0, 180, 7, S, 0);
	block(190, 0, TY_EV_BLOCK_ISSUE, 4000);
	block(200, 0, TY_EV_BLOCK_COMPLETE, 4000);
	m = ty_mx_end();
	x = (struct ty_explain){.m = m};
	a = (struct ty_spec_query){.window = window_all(m), .kind = {.of = TY_SPEC_IO}};
	for (unsigned i = 0; i < sizeof(ask) / sizeof(*ask); i++) {
		struct ty_spectrum s;

		a.window.tids = ask[i].tids;
		a.window.tids_n = ask[i].tids ? 1 : 0;
		a.window.comms = ask[i].comms;
		a.window.comms_n = ask[i].comms ? 1 : 0;
		assert_int_equal(ty_spectrum_find(&x, &a, 10, &s), 0);
		assert_int_equal(s.n, ask[i].n);
		ty_spectrum_fini(&s);
	}
	ty_mx_drop();
}

static void it_ends_when_it_is_no_longer_wanted(void **state)
{
	const struct ty_model *m = random_model(3, 2000);
	struct ty_spec_query a = {.window = window_all(m),
				  .kind = {.of = TY_SPEC_STATE, .state = TY_ST_SLEEPING}};
	atomic_bool stop = true;
	struct ty_explain x = {.m = m, .stop = &stop};
	struct ty_spectrum s;

	assert_int_equal(ty_spectrum_find(&x, &a, 50, &s), -TY_EINTR);
	ty_spectrum_fini(&s);
	ty_mx_drop();
}

/* the view ------------------------------------------------------------------------------------ */

static struct ty_spectrum_view *open_it(struct ty_timeline *t)
{
	const struct ty_view_ops *ops;
	void *view;

	assert_int_equal(ty_timeline_ops.act(t, TY_ACT_SPECTRUM), TY_VIEW_PUSH);
	ty_timeline_ops.child(t, &ops, &view);
	assert_ptr_equal(ops, &ty_spectrum_view_ops);
	return view;
}

static char *frame(struct ty_spectrum_view *v, const struct ty_palette *p, int w, int h)
{
	return ty_tl_view_frame(&ty_spectrum_view_ops, v, p, w, h);
}

static void frames_are_as_they_were(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t;
	struct ty_spectrum_view *v;

	in.at_finding = 1;
	t = ty_tl_open(&in);
	v = open_it(t);
	ty_tl_golden("spectrum-80x24", frame(v, &ty_tl_utf8, 80, 24));
	ty_tl_golden("spectrum-80x24-ascii", frame(v, &ty_tl_ascii, 80, 24));
	ty_tl_golden("spectrum-40x10-ascii", frame(v, &ty_tl_ascii, 40, 10));
	ty_tl_moves(&ty_spectrum_view_ops, v, true);
	ty_timeline_free(t);
	ty_model_free(m);
}

/* 20,000 calls of a microsecond, and one of 30 ms among them: it is there at every size and zoom,
 * alone on its row, and one key leads to it. */
static void one_among_many_is_seen(void **state)
{
	struct ty_build_facts facts = {.cpus = 1, .long_size = 8, .arch = "x86_64"};
	static const int sizes[][2] = {{40, 10}, {80, 24}, {200, 60}};
	struct ty_view_input in;
	struct ty_spectrum_view *v;
	struct ty_timeline *t;
	struct ty_model *m;
	uint32_t thread;
	bool calls;
	uint64_t us = 0, at, slow_us = 0;

	ty_tl_build(&facts);
	ty_tl_switch(us++, 0, 0, 0, 50);
	for (int i = 0; i < 20000; i++) {
		ty_tl_enter(us += 2, 0, 50, 0);
		if (i == 12345)
			slow_us = us;
		ty_tl_leave(us += i == 12345 ? 30000 : 1, 0, 50, 0);
	}
	m = ty_tl_built();
	in = ty_tl_input(m);
	t = ty_tl_open(&in);
	t->row = ty_tracks_find(&t->tracks, TY_ROW_SYSCALLS, 0);
	assert_int_not_equal(t->row, TY_NONE);
	v = open_it(t);
	assert_int_equal(v->kind.of, TY_SPEC_CALL);
	for (unsigned i = 0; i < 3; i++)
		for (int utf8 = 0; utf8 < 2; utf8++) {
			char *s = frame(v, utf8 ? &ty_tl_utf8 : &ty_tl_ascii, sizes[i][0],
					sizes[i][1]);

			assert_non_null(strstr(s, utf8 ? "\u25c6" : "*"));
			assert_non_null(strstr(s, utf8 ? "\u2588" : "@"));
			assert_non_null(strstr(s, "longest"));
			assert_non_null(strstr(s, "30.000 ms"));
		}
	assert_int_equal(v->s.n, 20000);
	/* The cursor's row is that of the longest; its column is stepped to. */
	ty_spectrum_view_ops.act(v, TY_ACT_TIME_FIRST);
	/* in its cell is none: all of the window */
	assert_int_equal(ty_spectrum_view_ops.act(v, TY_ACT_OPEN), TY_VIEW_PUSH);
	assert_non_null(strstr(v->page.title, " in the window, the longest first"));
	assert_non_null(strstr(v->page.lines.v[0].text, "30.000 ms"));
	ty_spectrum_view_ops.resumed(v);
	ty_spectrum_view_ops.act(v, TY_ACT_SPAN_NEXT);
	assert_non_null(strstr(frame(v, &ty_tl_ascii, 80, 24), "cell: 1 call of "));
	assert_int_equal(ty_spectrum_view_ops.act(v, TY_ACT_OPEN), TY_VIEW_PUSH);
	assert_int_equal(v->page.lines.n, 1);
	assert_int_equal(ty_page_ops.act(&v->page, TY_ACT_OPEN), TY_VIEW_CLOSE);
	assert_int_equal(ty_spectrum_view_ops.resumed(v), TY_VIEW_CLOSE);
	assert_true(ty_spectrum_view_leads(v, &thread, &at, &calls));
	assert_int_equal(ty_timeline_ops.resumed(t), TY_VIEW_CHANGED);
	assert_null(t->spectrum);
	assert_int_equal(t->cursor_ns, TY_STORY_START + slow_us * 1000);
	/* A rectangle over everything holds all; the list says how many more there are. */
	v = open_it(t);
	frame(v, &ty_tl_ascii, 80, 24);
	ty_spectrum_view_ops.act(v, TY_ACT_TIME_FIRST);
	for (int i = 0; i < 20; i++)
		ty_spectrum_view_ops.act(v, TY_ACT_PAGE_DOWN);
	ty_spectrum_view_ops.act(v, TY_ACT_SELECT);
	ty_spectrum_view_ops.act(v, TY_ACT_TIME_LAST);
	for (int i = 0; i < 20; i++)
		ty_spectrum_view_ops.act(v, TY_ACT_PAGE_UP);
	assert_non_null(strstr(frame(v, &ty_tl_ascii, 80, 24), "rectangle: 20000 calls of "));
	assert_int_equal(ty_spectrum_view_ops.act(v, TY_ACT_OPEN), TY_VIEW_PUSH);
	assert_non_null(strstr(v->page.title, "20000 of read"));
	assert_int_equal(v->page.lines.n, TY_SPEC_LIST_MAX + 1);
	assert_non_null(strstr(v->page.lines.v[0].text, "30.000 ms"));
	/* Back drops the rectangle, then leaves. */
	assert_int_equal(ty_spectrum_view_ops.act(v, TY_ACT_BACK), TY_VIEW_CHANGED);
	assert_int_equal(ty_spectrum_view_ops.act(v, TY_ACT_BACK), TY_VIEW_CLOSE);
	ty_timeline_free(t);
	ty_model_free(m);
}

static void kinds_and_whose(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t;
	struct ty_spectrum_view *v;
	struct ty_spec_kind first;
	uint32_t n;

	in.at_finding = 1;
	t = ty_tl_open(&in);
	v = open_it(t);
	frame(v, &ty_tl_utf8, 100, 30);
	assert_non_null(v->kinds);
	n = v->kinds_n;
	first = v->kind;
	for (uint32_t i = 0; i < n; i++) { /* all of them, and round */
		ty_spectrum_view_ops.act(v, TY_ACT_NEXT);
		frame(v, &ty_tl_utf8, 100, 30);
		assert_true(ty_spec_is_counted(v));
	}
	assert_true(ty_spec_same(&v->kind, &first));
	assert_int_equal(ty_spectrum_view_ops.act(v, TY_ACT_SEARCH), TY_VIEW_PUSH);
	assert_int_equal(v->page.lines.n, n);
	/* A name that is typed at once chooses. */
	for (const char *s = "runna"; *s; s++) {
		assert_true(ty_page_ops.wants_text(&v->page));
		ty_page_ops.text(&v->page, (uint32_t)*s);
	}
	ty_page_ops.text(&v->page, 'x'); /* nothing is chosen that was not meant */
	assert_int_equal(ty_page_ops.text(&v->page, TY_KEY_ENTER), TY_VIEW_CHANGED);
	assert_true(ty_page_ops.wants_text(&v->page));
	ty_page_ops.text(&v->page, TY_KEY_BACKSPACE);
	assert_int_equal(ty_page_ops.text(&v->page, TY_KEY_ENTER), TY_VIEW_CLOSE);
	assert_int_equal(ty_spectrum_view_ops.resumed(v), TY_VIEW_CHANGED);
	assert_string_equal(ty_spectrum_view_ops.help(v).title, "Latencies");
	assert_int_equal(v->kind.state, TY_ST_RUNNABLE);
	assert_non_null(strstr(frame(v, &ty_tl_utf8, 100, 30), "of runnable, all threads"));
	ty_spectrum_view_ops.act(v, TY_ACT_FOCUS);
	assert_non_null(strstr(frame(v, &ty_tl_utf8, 100, 30), "of runnable, process webserver/"));
	ty_spectrum_view_ops.act(v, TY_ACT_FOCUS);
	assert_non_null(strstr(frame(v, &ty_tl_utf8, 100, 30), "of runnable, webserver/100"));
	assert_true(v->kinds_n < n);
	ty_timeline_free(t);
	ty_model_free(m);
}

/* Where there is nothing to count, the view says so and does not count forever. */
static void no_kind_at_all(void **state)
{
	struct ty_build_facts facts = {.cpus = 1, .long_size = 8, .arch = "x86_64"};
	struct ty_event ev = {0};
	struct ty_view_input in;
	struct ty_spectrum_view *v;
	struct ty_timeline *t;
	struct ty_model *m;

	ty_tl_build(&facts);
	ty_tl_feed(ev, 10, 0, 50, TY_EV_OTHER);
	ty_tl_feed(ev, 20, 0, 50, TY_EV_OTHER);
	m = ty_tl_built();
	in = ty_tl_input(m);
	t = ty_tl_open(&in);
	v = open_it(t);
	assert_non_null(strstr(frame(v, &ty_tl_ascii, 80, 24), "nothing to count"));
	ty_spectrum_view_ops.act(v, TY_ACT_NEXT);
	assert_int_equal(ty_spectrum_view_ops.act(v, TY_ACT_SEARCH), TY_VIEW_CHANGED);
	assert_non_null(strstr(frame(v, &ty_tl_ascii, 80, 24), "nothing to list"));
	ty_timeline_free(t);
	ty_model_free(m);
}

static void random_walks_stay_inside(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t = ty_tl_open(&in);
	struct ty_spectrum_view *v = open_it(t);
	const struct ty_palette colors = {.mode = TY_COLOR_256, .utf8 = true};
	unsigned seed = 7;
	struct ty_grid g;

	assert_int_equal(ty_grid_init(&g, 80, 24), 0);
	for (int i = 0; i < 10000; i++) {
		int k = rand_r(&seed) % 100;
		enum ty_view_result r;

		if (k < 80) {
			r = ty_spectrum_view_ops.act(
				v, (enum ty_action)(1 + rand_r(&seed) % (TY_ACT_COUNT - 1)));
		} else {
			struct ty_mouse ev = {
				.what = (enum ty_mouse_what)(rand_r(&seed) % TY_MOUSE_COUNT),
				.x = rand_r(&seed) % 250 - 5,
				.y = rand_r(&seed) % 80 - 5};

			r = ty_spectrum_view_ops.mouse(v, &ev);
		}
		assert_true(r != TY_VIEW_QUIT);
		if (k == 0) {
			ty_grid_fini(&g);
			assert_int_equal(
				ty_grid_init(&g, 1 + rand_r(&seed) % 220, 1 + rand_r(&seed) % 70),
				0);
		}
		if (k % 6 == 0)
			ty_spectrum_view_ops.draw(v, &g, &colors);
		assert_true(t->vp.start_ns <= t->vp.from_ns && t->vp.from_ns < t->vp.to_ns &&
			    t->vp.to_ns <= t->vp.end_ns);
		assert_true(t->vp.from_ns <= t->cursor_ns && t->cursor_ns < t->vp.to_ns);
	}
	ty_grid_fini(&g);
	ty_timeline_free(t);
	ty_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bins_are_in_order_and_meet),
		cmocka_unit_test(every_cell_counts_what_is_there),
		cmocka_unit_test(percentiles_are_those_of_the_statistics),
		cmocka_unit_test(requests_of_the_chosen_only),
		cmocka_unit_test(it_ends_when_it_is_no_longer_wanted),
		cmocka_unit_test(frames_are_as_they_were),
		cmocka_unit_test(one_among_many_is_seen),
		cmocka_unit_test(kinds_and_whose),
		cmocka_unit_test(no_kind_at_all),
		cmocka_unit_test(random_walks_stay_inside),
	};

	ty_tl_locale();
	return cmocka_run_group_tests_name("spectrum", tests, NULL, NULL);
}
