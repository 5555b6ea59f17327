/* SPDX-License-Identifier: MIT */
/* What the timeline finds: stalls and waits in their order, searches, filters, chains, statistics,
 * and that input does not wait for any of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call_objects_load.h"
#include "fixture_story.h"
#include "fixture_timeline.h"

#define MS    1000000ull
#define START TY_STORY_START

enum { NR_FSYNC = 74, NR_NANOSLEEP = 230 };

/* Arguments that take as long as the test wants. */
static atomic_bool gate;
static int slow_args(void *ctx, const struct ty_syscall *c, uint64_t v[6])
{
	while (!atomic_load(&gate))
		usleep(1000);
	memset(v, 0, 6 * sizeof(*v));
	return 0;
}

/* What names of processes need is read before the search, in its thread. */
static atomic_uint titles;
static void load_titles(void *ctx)
{
	const struct ty_timeline *const *t = ctx;

	slow_args(ctx, NULL, (uint64_t[6]){0});
	atomic_fetch_add(&titles, (*t)->findings.n ? 100 : 1);
}

static void input_does_not_wait_for_analyses(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_explain x = *in.explain;
	struct ty_timeline *t;

	x.args = slow_args;
	in.explain = &x;
	in.aside = true;
	in.host.ctx = &t;
	in.host.titles_load = load_titles;
	atomic_store(&gate, false);
	t = ty_tl_open(&in);
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "Searching for stalls..."));
	/* every key works meanwhile */
	for (int a = 1; a < TY_ACT_COUNT; a++) {
		if (a == TY_ACT_CHAIN || a == TY_ACT_LEDGER)
			continue;
		ty_timeline_ops.act(t, (enum ty_action)a);
		if (ty_timeline_ops.wants_text(t))
			ty_timeline_ops.text(t, TY_KEY_ESC);
		if (ty_timeline_ops.wait_ms(t) >= 0)
			ty_timeline_ops.work(t);
		ty_tl_frame(t, &ty_tl_utf8, 80, 24);
	}
	assert_int_equal(t->findings.n, 0);
	ty_timeline_ops.act(t, TY_ACT_NEXT);
	assert_non_null(strstr(t->message, "still searching for stalls"));
	/* what the user folded stays so when they are there */
	t->tracks.hidden[ty_model_summary(m)->threads - 1] = 1;
	t->tracks.hidden_n = 1;
	atomic_store(&gate, true);
	for (int i = 0; t->stall_search.aside.on; i++) {
		assert_true(i < 10000);
		usleep(1000);
		ty_timeline_ops.work(t);
	}
	assert_int_equal(atomic_load(&titles), 1);
	assert_true(t->findings.stalls.n > 0);
	assert_int_equal(t->finding, 0); /* where n wanted to go */
	assert_int_equal(t->tracks.hidden[ty_model_summary(m)->threads - 1], 1);
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), " by filter"));
	ty_timeline_free(t);
	/* closed while the search runs: it ends first */
	atomic_store(&gate, false);
	t = ty_tl_open(&in);
	assert_true(t->stall_search.aside.on);
	atomic_store(&gate, true);
	ty_timeline_free(t);
	ty_model_free(m);
}

static const char *slow_numbers(void *ctx, uint32_t call, char *buf, size_t n)
{
	slow_args(ctx, NULL, (uint64_t[6]){0});
	snprintf(buf, n, "as numbers");
	return buf;
}

/* Reading the arguments of the call under the cursor may take long: a frame is drawn without. */
static void a_frame_waits_for_no_arguments(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t;

	in.host.syscall_args = slow_numbers;
	atomic_store(&gate, true);
	t = ty_tl_open(&in);
	assert_non_null(strstr(ty_tl_flat(ty_tl_frame(t, &ty_tl_utf8, 80, 24)), "(as numbers)"));
	ty_timeline_free(t);
	in.aside = true;
	t = ty_tl_open(&in);
	for (int i = 0; t->stall_search.aside.on; i++) {
		assert_true(i < 10000);
		usleep(1000);
		ty_timeline_ops.work(t);
	}
	atomic_store(&gate, false);
	assert_non_null(strstr(ty_tl_flat(ty_tl_frame(t, &ty_tl_utf8, 80, 24)), "(...)"));
	atomic_store(&gate, true);
	for (int i = 0; t->names.aside.on; i++) {
		assert_true(i < 10000);
		usleep(1000);
		ty_timeline_ops.work(t);
	}
	assert_non_null(strstr(ty_tl_flat(ty_tl_frame(t, &ty_tl_utf8, 80, 24)), "(as numbers)"));
	ty_timeline_free(t);
	ty_model_free(m);
}

/* Before any key the cursor is set to the first stall, once it is found, and the details say so; a
 * cursor that was moved stays. */
static void the_first_stall_is_under_the_cursor(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_explain x = *in.explain;

	(void)state;
	x.args = slow_args;
	in.explain = &x;
	for (int i = 0; i < 4; i++) {
		bool late = i % 2, moved = i == 3;
		const struct ty_stall *s;
		struct ty_timeline *t;
		struct ty_span span;
		bool on;

		in.aside = late;
		atomic_store(&gate, !late);
		t = ty_tl_open(&in);
		if (moved)
			ty_timeline_ops.act(t, TY_ACT_TIME_FIRST);
		atomic_store(&gate, true);
		for (int k = 0; t->stall_search.aside.on; k++) {
			assert_true(k < 10000);
			usleep(1000);
			ty_timeline_ops.work(t);
		}
		s = &t->findings.stalls.v[0];
		span = ty_model_span(m, s->span);
		on = t->cursor_ns == span.start_ns + (span.end_ns - span.start_ns) / 2;
		assert_int_equal(on, !moved);
		assert_int_equal(!strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "cursor: stall 1 "),
				 moved);
		if (!moved) {
			assert_int_equal(t->tracks.rows.v[t->row].kind, TY_ROW_THREAD);
			assert_int_equal(t->tracks.rows.v[t->row].id, s->thread);
			assert_true(t->row >= t->top && t->row < t->top + (uint32_t)t->lay.rows_h);
		}
		assert_int_equal(t->finding, TY_NONE); /* the first n goes there */
		ty_timeline_free(t);
	}
	ty_model_free(m);
}

static void searching(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t = ty_tl_open(&in);
	const char *s;
	char want[60];

	ty_timeline_ops.act(t, TY_ACT_HIT_NEXT);
	assert_non_null(strstr(t->message, "no search yet"));
	ty_timeline_ops.act(t, TY_ACT_TIME_FIRST);
	ty_tl_ask(t, TY_ACT_SEARCH, "fsync");
	assert_int_equal(t->cursor_ns, START + 900010000);
	assert_int_equal(t->tracks.rows.v[t->row].kind, TY_ROW_SYSCALLS);
	s = ty_tl_frame(t, &ty_tl_utf8, 80, 24);
	assert_non_null(strstr(s, "hit 1 of 1: fsync of backup/101 at 0.900010 s"));
	assert_non_null(strstr(s, "backup/101 in fsync("));
	/* scrolled up to a call, the thread's own row is seen, too */
	ty_timeline_ops.act(t, TY_ACT_ROW_LAST);
	ty_tl_frame(t, &ty_tl_utf8, 80, 10);
	assert_true(t->top > 4);
	ty_tl_ask(t, TY_ACT_SEARCH, "thread:webserver call:flock");
	ty_tl_frame(t, &ty_tl_utf8, 80, 10);
	assert_int_equal(t->tracks.rows.v[t->row].kind, TY_ROW_SYSCALLS);
	assert_int_equal(t->top, t->row - 1);
	assert_int_equal(t->tracks.rows.v[t->top].kind, TY_ROW_THREAD);
	ty_tl_ask(t, TY_ACT_SEARCH, "fsync");
	/* the only one: round the end it is found again, and that is said */
	ty_timeline_ops.act(t, TY_ACT_HIT_NEXT);
	ty_tl_work(t);
	assert_int_equal(t->cursor_ns, START + 900010000);
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "wrapped to the start"));
	ty_timeline_ops.act(t, TY_ACT_HIT_PREV);
	ty_tl_work(t);
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "wrapped to the end"));
	/* waits of one thread by length; back by ] and [ */
	ty_timeline_ops.act(t, TY_ACT_TIME_FIRST);
	ty_tl_ask(t, TY_ACT_SEARCH, "thread:backup >1s");
	assert_int_equal(t->cursor_ns, START + 2300020000);
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "sleeping of backup/101"));
	ty_timeline_ops.act(t, TY_ACT_TIME_LAST);
	ty_timeline_ops.act(t, TY_ACT_HIT_PREV);
	ty_tl_work(t);
	assert_int_equal(t->cursor_ns, START + 2300020000);
	ty_tl_ask(t, TY_ACT_SEARCH, "lost");
	assert_int_equal(t->cursor_ns, START + 3700 * MS);
	assert_int_equal(t->tracks.rows.v[t->row].kind, TY_ROW_CPU);
	ty_tl_ask(t, TY_ACT_SEARCH, "no such thing");
	assert_non_null(strstr(t->message, "not found in the recording"));
	ty_tl_ask(t, TY_ACT_SEARCH, "(");
	assert_non_null(strstr(t->message, "not a valid regular expression"));
	/* which of how many, step by step and from elsewhere; bad words are named */
	ty_timeline_ops.act(t, TY_ACT_TIME_FIRST);
	ty_tl_ask(t, TY_ACT_SEARCH, "call:^write$");
	assert_true(t->hits_known && t->hits_n > 2);
	for (uint64_t i = 1; i <= t->hits_n + 1; i++) {
		snprintf(want, sizeof(want), "hit %u of %u: ", (unsigned)((i - 1) % t->hits_n) + 1,
			 (unsigned)t->hits_n);
		assert_non_null(strstr(t->message, want));
		ty_timeline_ops.act(t, TY_ACT_HIT_NEXT);
		ty_tl_work(t);
	}
	ty_timeline_ops.act(t, TY_ACT_HIT_PREV);
	ty_tl_work(t);
	assert_non_null(strstr(t->message, "hit 1 of "));
	ty_timeline_ops.act(t, TY_ACT_TIME_LAST);
	ty_timeline_ops.act(t, TY_ACT_HIT_PREV);
	ty_tl_work(t);
	snprintf(want, sizeof(want), "hit %u of %u: ", (unsigned)t->hits_n, (unsigned)t->hits_n);
	assert_non_null(strstr(t->message, want));
	ty_tl_ask(t, TY_ACT_SEARCH, "cal:write");
	assert_non_null(strstr(t->message, "not found in the recording; keys are"));
	/* Esc stops one that is under way */
	ty_timeline_ops.act(t, TY_ACT_SEARCH);
	ty_tl_type(t, "fsync");
	ty_timeline_ops.act(t, TY_ACT_BACK);
	assert_int_equal(ty_timeline_ops.wait_ms(t), -1);
	ty_timeline_free(t);
	ty_model_free(m);
}

static struct ty_call_objects *loaded_objects;

/* Files by name: calls of the story act on files as these. */
static int objects_load(void *ctx, const atomic_bool *stop, atomic_uint *permille,
			const struct ty_call_objects **out, struct ty_err *err)
{
	static const struct {
		int nr;
		const char *name;
	} of[] = {{1, "/srv/log"}, {73, "/srv/site.lock"}, {74, "/srv/journal"}};
	struct ty_view_input *in = ctx;
	struct ty_call_objects *o = calloc(1, sizeof(*o));

	assert_non_null(o);
	o->calls = 1 << 16;
	o->of = calloc(o->calls, sizeof(*o->of));
	o->names = ty_strtab_new();
	assert_true(o->of && o->names);
	for (uint32_t t = 0; t < ty_model_summary(in->model)->threads; t++) {
		const struct ty_thread *th = ty_model_thread(in->model, t);

		for (uint32_t i = 0; i < th->syscalls_n; i++)
			for (unsigned k = 0; k < 3; k++)
				if (ty_model_syscall(in->model, th->syscalls_first + i).nr ==
				    of[k].nr)
					o->of[th->syscalls_first + i] = ty_strtab_add(
						o->names, of[k].name, strlen(of[k].name));
	}
	ty_call_objects_free(loaded_objects);
	*out = loaded_objects = o;
	return 0;
}

static void files_are_found_by_name(void **state)
{
	uint32_t cut_n = 0;
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t;
	const struct ty_view_ops *ops;
	uint64_t all, last = UINT64_MAX;
	void *page;

	in.host.ctx = &in;
	in.host.objects_load = objects_load;
	in.host.keep_load = NULL;
	t = ty_tl_open(&in);
	ty_tl_ask(t, TY_ACT_SEARCH, "file:site.lock");
	assert_non_null(strstr(t->message, "flock of "));
	all = t->hits_n;
	/* a word that names nothing else; what names a call stays that */
	ty_tl_ask(t, TY_ACT_SEARCH, "site.lock");
	assert_int_equal(t->hits_n, all);
	ty_tl_ask(t, TY_ACT_SEARCH, "path:site >1s");
	assert_int_equal(t->hits_n, 1);
	ty_tl_ask(t, TY_ACT_SEARCH, "call:fsync file:/srv/");
	assert_non_null(strstr(t->message, "fsync of "));
	ty_tl_ask(t, TY_ACT_SEARCH, "call:fsync file:site");
	assert_non_null(strstr(t->message, "not found"));
	ty_tl_ask(t, TY_ACT_SEARCH, "file:nowhere");
	assert_non_null(strstr(t->message, "not found in the recording"));
	/* what found nothing is not kept */
	for (size_t i = 0; i < t->history.n; i++)
		assert_null(strstr(t->history.v[i].text, "nowhere"));
	assert_int_equal(ty_timeline_ops.act(t, TY_ACT_HITS), TY_VIEW_CHANGED);
	assert_non_null(strstr(t->message, "no hits yet"));
	/* all of them, the longest first */
	ty_tl_ask(t, TY_ACT_SEARCH, "file:/srv/");
	all = t->hits_n;
	assert_int_equal(ty_timeline_ops.act(t, TY_ACT_HITS), TY_VIEW_CHANGED);
	for (enum ty_view_result r = TY_VIEW_IGNORED; r != TY_VIEW_PUSH;)
		r = ty_timeline_ops.work(t);
	ty_timeline_ops.child(t, &ops, &page);
	assert_ptr_equal(page, &t->page);
	assert_int_equal(t->longest.n, all < TY_HITS_MAX ? all : TY_HITS_MAX);
	for (uint32_t i = 0; i < t->longest.n; i++) {
		assert_true(t->longest.v[i].ns <= last);
		last = t->longest.v[i].ns;
	}
	assert_non_null(strstr(t->page.title, "of 'file:/srv/', the longest first"));
	assert_non_null(strstr(t->page.lines.v[0].text, "flock"));
	/* found in the page, from line to line; Esc ends that first */
	assert_false(ops->wants_text(page));
	ops->act(page, TY_ACT_SEARCH);
	for (const char *s = "FSYNC"; *s; s++) {
		assert_true(ops->wants_text(page));
		ops->text(page, (uint32_t)*s);
	}
	assert_non_null(strstr(ty_tl_view_frame(ops, page, &ty_tl_utf8, 80, 24), "find: FSYNC_"));
	ops->text(page, TY_KEY_ENTER);
	assert_false(ops->wants_text(page));
	assert_non_null(strstr(t->page.lines.v[t->page.at].text, "fsync"));
	all = (uint64_t)t->page.at;
	ops->act(page, TY_ACT_NEXT);
	assert_non_null(strstr(t->page.lines.v[t->page.at].text, "fsync"));
	ops->act(page, TY_ACT_PREV);
	assert_int_equal(t->page.at, all);
	assert_int_equal(ops->act(page, TY_ACT_BACK), TY_VIEW_CHANGED);
	ops->act(page, TY_ACT_ROW_FIRST);
	assert_int_equal(ops->act(page, TY_ACT_OPEN), TY_VIEW_CLOSE);
	ty_timeline_ops.resumed(t);
	assert_int_equal(t->tracks.rows.v[t->row].kind, TY_ROW_SYSCALLS);
	assert_int_equal(t->cursor_ns, t->longest.v[0].at_ns);
	/* opened again where it was left */
	ty_timeline_ops.act(t, TY_ACT_HITS);
	for (enum ty_view_result r = TY_VIEW_IGNORED; r != TY_VIEW_PUSH;)
		r = ty_timeline_ops.work(t);
	ops->act(page, TY_ACT_DOWN);
	ops->act(page, TY_ACT_QUIT);
	ty_timeline_ops.resumed(t);
	ty_timeline_ops.act(t, TY_ACT_HITS);
	for (enum ty_view_result r = TY_VIEW_IGNORED; r != TY_VIEW_PUSH;)
		r = ty_timeline_ops.work(t);
	assert_int_equal(t->page.at, 1);
	ops->act(page, TY_ACT_QUIT);
	ty_timeline_ops.resumed(t);
	/* What was not over, or began before, was longer than it is here. */
	ty_tl_ask(t, TY_ACT_SEARCH, "state:sleeping|unknown");
	ty_timeline_ops.act(t, TY_ACT_HITS);
	for (enum ty_view_result r = TY_VIEW_IGNORED; r != TY_VIEW_PUSH;)
		r = ty_timeline_ops.work(t);
	for (uint32_t i = 0; i < t->longest.n; i++) {
		const struct ty_hit *h = &t->longest.v[i];
		const bool cut =
			h->ns && ty_model_span(m, h->idx).flags & (TY_SF_BEFORE | TY_SF_OPEN);
		const char *text = t->page.lines.v[i].text;

		cut_n += cut;
		assert_int_equal(text[strspn(text, " ")] == '>', cut);
	}
	assert_true(cut_n && cut_n < t->longest.n);
	ops->act(page, TY_ACT_QUIT);
	ty_timeline_ops.resumed(t);
	/* and rows are filtered by them */
	ty_tl_ask(t, TY_ACT_FILTER, "file:site"); /* the waiter, and the holder */
	assert_int_equal(t->tracks.hidden_n, t->tracks.threads - 2);
	ty_timeline_free(t);
	ty_call_objects_free(loaded_objects);
	ty_model_free(m);
}

static void filtering(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t = ty_tl_open(&in);
	size_t rows = t->tracks.rows.n;
	const char *s;

	ty_tl_ask(t, TY_ACT_FILTER, "backup");
	s = ty_tl_frame(t, &ty_tl_utf8, 80, 24);
	assert_non_null(strstr(s, "filter: 3 hidden"));
	assert_non_null(strstr(s, "1 of 4 threads shown"));
	assert_null(strstr(s, "kworker/1:0    7"));
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 40, 10), "3 hidden"));
	/* one that hides all is not applied; a number alone may be meant as a thread's */
	ty_tl_ask(t, TY_ACT_FILTER, "7035");
	s = ty_tl_flat(ty_tl_frame(t, &ty_tl_utf8, 100, 24));
	assert_non_null(
		strstr(s, "no thread matches '7035': all are shown (tid:7035 is the thread"));
	assert_null(t->filter);
	ty_tl_ask(t, TY_ACT_SEARCH, "7035");
	s = ty_tl_flat(ty_tl_frame(t, &ty_tl_utf8, 100, 24));
	assert_non_null(strstr(s, "'7035' not found in the recording (tid:7035 is"));
	/* what did an fsync; and a jump shows what the filter hides */
	ty_tl_ask(t, TY_ACT_FILTER, "call:fsync|flock");
	assert_int_equal(t->tracks.hidden_n, 2);
	ty_tl_ask(t, TY_ACT_SEARCH, "kworker");
	assert_int_equal(t->tracks.hidden_n, 1);
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "filter: 1 hidden"));
	ty_tl_ask(t, TY_ACT_FILTER, "nobody");
	assert_int_equal(t->tracks.hidden_n, 0);
	ty_tl_frame(t, &ty_tl_utf8, 80, 24);
	ty_tl_ask(t, TY_ACT_FILTER, "");
	assert_int_equal(t->tracks.rows.n, rows);
	assert_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "hidden"));
	ty_timeline_free(t);
	ty_model_free(m);
}

/* The demo's chain: the web server's flock, and the backup that slept with the lock. */
static void the_chain_leads_to_the_culprit(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t;
	const struct ty_view_ops *ops;
	struct ty_grid g;
	struct ty_buf b;
	void *page;

	in.at_finding = 1;
	t = ty_tl_open(&in);
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 120, 40), "stall 1, "));
	assert_int_equal(ty_timeline_ops.act(t, TY_ACT_CHAIN), TY_VIEW_PUSH);
	ty_timeline_ops.child(t, &ops, &page);
	assert_int_equal(ty_grid_init(&g, 80, 24), 0);
	ty_buf_init(&b, 1 << 20);
	ops->draw(page, &g, &ty_tl_utf8);
	assert_int_equal(ty_grid_dump(&g, &ty_tl_utf8, &b), 0);
	assert_non_null(strstr(b.p, "Wakeup chain of webserver/100 sleeping for 3.000 s"));
	assert_non_null(strstr(b.p, "3.000 s  webserver/100 waited in flock"));
	assert_non_null(strstr(b.p, "<- backup/101 "));
	assert_int_equal(ops->act(page, TY_ACT_OPEN), TY_VIEW_CLOSE);
	ops->act(page, TY_ACT_DOWN);
	assert_int_equal(ops->act(page, TY_ACT_OPEN), TY_VIEW_CLOSE);
	ty_timeline_ops.resumed(t);
	assert_int_equal(ty_model_thread(m, t->tracks.rows.v[t->row].id)->tid, TY_STORY_BACKUP);
	ty_buf_fini(&b);
	ty_grid_fini(&g);
	ty_timeline_free(t);
	ty_model_free(m);
}

static void statistics(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t;
	const struct ty_view_ops *ops;
	struct ty_grid g;
	struct ty_buf b;
	void *page;

	in.at_finding = 1;
	t = ty_tl_open(&in);
	ty_tl_frame(t, &ty_tl_utf8, 80, 24);
	ty_timeline_ops.act(t, TY_ACT_STATS);
	while (ty_timeline_ops.work(t) != TY_VIEW_PUSH)
		;
	ty_timeline_ops.child(t, &ops, &page);
	assert_int_equal(ty_grid_init(&g, 80, 24), 0);
	ty_buf_init(&b, 1 << 20);
	ops->draw(page, &g, &ty_tl_utf8);
	assert_int_equal(ty_grid_dump(&g, &ty_tl_utf8, &b), 0);
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

/* In a recording of trace_all, daemons that slept all through are neither first nor in the way. */
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

	ty_tl_build(&facts);
	ty_tl_switch(0, 0, 0, 0, 55);
	ty_tl_enter(900, 0, 55, NR_NANOSLEEP);
	ty_tl_switch(1000, 0, 55, TY_TASK_INTERRUPTIBLE, 0);
	ty_tl_wake(900000, 0, 0, TY_EVF_HARDIRQ, 55, 0);
	ty_tl_switch(900010, 0, 0, 0, 55);
	ty_tl_switch(1000000, 0, 55, TY_TASK_INTERRUPTIBLE, 0);
	m = ty_tl_built();
	in = ty_tl_input(m);
	t = ty_tl_open(&in);
	assert_true(t->findings.n >= 3);
	assert_int_equal(ty_model_thread(m, t->findings.v[0].thread)->tid, 51);
	assert_int_equal(ty_model_thread(m, t->findings.v[1].thread)->tid, 55);
	assert_int_equal(ty_model_thread(m, t->findings.v[t->findings.n - 1].thread)->tid, 50);
	assert_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), " daemon "));
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "did not run"));
	ty_tl_ask(t, TY_ACT_FILTER, "tid:55"); /* which hides them all */
	assert_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "did not run"));
	ty_tl_ask(t, TY_ACT_FILTER, "");
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "did not run"));
	/* but the list reaches it */
	ty_timeline_ops.act(t, TY_ACT_PREV);
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), " daemon "));
	ty_timeline_free(t);
	ty_model_free(m);
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
	int i;

	ty_tl_build(&facts);
	ty_tl_switch(0, 1, 0, 0, 55);
	for (i = 0; i < 17000; i++) {
		uint64_t us = 1000 + (uint64_t)i * 11000;

		ty_tl_switch(us, 1, 55, TY_TASK_INTERRUPTIBLE, 0);
		if (i >= 1000 && i < 1000 + TRACED) {
			ty_tl_switch(us + 1, 0, 0, 0, FIRST + i);
			ty_tl_enter(us + 2, 0, FIRST + i, NR_NANOSLEEP);
			ty_tl_switch(us + 3, 0, FIRST + i, TY_TASK_INTERRUPTIBLE, 0);
			ty_tl_wake(us + 1000, 0, 0, TY_EVF_HARDIRQ, FIRST + i, 0);
			ty_tl_switch(us + 1001, 0, 0, 0, FIRST + i);
			ty_tl_leave(us + 1002, 0, FIRST + i, NR_NANOSLEEP);
			ty_tl_switch(us + 1003, 0, FIRST + i, 0x10 /* dead */, 0);
		}
		ty_tl_wake(us + 10000, 1, 0, TY_EVF_HARDIRQ, 55, 1);
		ty_tl_switch(us + 10005, 1, 0, 0, 55);
	}
	m = ty_tl_built();
	in = ty_tl_input(m);
	t = ty_tl_open(&in);
	assert_true(t->findings.traced_only);
	assert_int_equal(t->findings.n, TY_FINDINGS_MAX);
	for (uint32_t k = 0; k < t->findings.n; k++)
		assert_true(ty_model_thread(m, t->findings.v[k].thread)->traced);
	ty_timeline_free(t);
	ty_model_free(m);
}

/* A frame of a large recording does without the stalls, and says how to get them. */
static void a_frame_does_not_wait_for_stalls(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_explain x = *in.explain;
	uint64_t enough = 1000000, left = enough, used;
	struct ty_timeline *t;

	x.steps = &left;
	in.explain = &x;
	t = ty_tl_open(&in);
	assert_true(t->findings.stalls.n > 0);
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 120, 30), "Stalls by delay, then"));
	ty_timeline_free(t);
	used = enough - left;
	assert_true(used > 0 && left > 0);
	for (uint64_t steps = 1; steps <= used; steps++) {
		left = steps;
		t = ty_tl_open(&in);
		assert_int_equal(t->findings.stalls.n, 0);
		assert_true(t->findings.n > 0);
		assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 120, 30),
				       "The longest waits; tarry report shows stalls"));
		assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 120, 30), "? stalls,"));
		ty_timeline_free(t);
	}
	ty_model_free(m);
}

/* Of a command's recording what was traced comes first; the others are one row, until one of them
 * is jumped to, or a filter matches some. */
static void what_was_not_traced_is_folded(void **state)
{
	struct ty_build_facts facts = {.cpus = 1, .long_size = 8, .arch = "x86_64"};
	uint32_t others, one, traced;
	struct ty_view_input in;
	struct ty_timeline *t;
	struct ty_model *m;
	const char *s;

	ty_tl_build(&facts);
	ty_tl_switch(0, 0, 0, 0, 55);
	for (unsigned i = 0; i < 20; i++)
		ty_tl_switch(1000 * (i + 1), 0, 55 + (int)i, TY_TASK_INTERRUPTIBLE, 56 + (int)i);
	ty_tl_enter(21000, 0, 75, NR_NANOSLEEP);
	ty_tl_switch(22000, 0, 75, TY_TASK_INTERRUPTIBLE, 0);
	ty_tl_wake(900000, 0, 0, TY_EVF_HARDIRQ, 75, 0);
	ty_tl_switch(900010, 0, 0, 0, 75);
	ty_tl_switch(1000000, 0, 75, TY_TASK_INTERRUPTIBLE, 0);
	m = ty_tl_built();
	in = ty_tl_input(m);
	t = ty_tl_open(&in);
	s = ty_tl_frame(t, &ty_tl_utf8, 80, 24);
	assert_non_null(strstr(s, "not traced (20) │"));
	others = ty_tracks_find(&t->tracks, TY_ROW_OTHERS, 0);
	traced = t->findings.v[0].thread;
	assert_int_equal(ty_model_thread(m, traced)->tid, 75);
	assert_true(ty_tracks_find(&t->tracks, TY_ROW_THREAD, traced) < others);
	assert_int_equal(t->tracks.rows.n, others + 1);
	/* one of them alone comes up */
	for (one = 0; ty_model_thread(m, one)->tid != 60;)
		one++;
	ty_timeline_visit(t, one, TY_STORY_START + 5500000);
	assert_int_equal(t->tracks.rows.v[t->row].id, one);
	others = ty_tracks_find(&t->tracks, TY_ROW_OTHERS, 0);
	assert_true(t->row < others);
	assert_int_equal(t->tracks.rows.n, others + 1);
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "not traced (19) │"));
	/* the head unfolds all, and says what it is */
	t->row = others;
	s = ty_tl_flat(ty_tl_frame(t, &ty_tl_utf8, 80, 24));
	assert_non_null(strstr(s, "19 processes that were not traced"));
	ty_timeline_ops.act(t, TY_ACT_FOLD);
	assert_int_equal(t->tracks.rows.n, others + 20);
	ty_timeline_ops.act(t, TY_ACT_FOLD);
	assert_int_equal(t->tracks.rows.n, others + 1);
	/* what a filter lets through is seen */
	ty_tl_ask(t, TY_ACT_FILTER, "tid:65");
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), " 65│"));
	ty_tl_ask(t, TY_ACT_FILTER, "");
	assert_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), " 65│"));
	ty_timeline_free(t);
	ty_model_free(m);
}

/* A row of the list that is too narrow for a stall's sentence keeps the root cause. */
static void rows_keep_the_root_cause(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t = ty_tl_open(&in);
	bool both = false;

	assert_true(t->findings.stalls.n > 0);
	strcpy(t->findings.stalls.v[0].text,
	       "woken by python3 app.py/8035. Root cause: python3 app.py/7834 held the lock on "
	       "/tmp/trial/data/site.lock (flock) and slept 1.200 s");
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "root: python3 app.py/7834 h"));
	for (int w = 80; w < 250; w++) {
		const char *row = strstr(ty_tl_frame(t, &ty_tl_ascii, w, 60), " 1     3.000 s "),
			   *at;

		assert_non_null(row);
		at = strstr(row, "oot");
		assert_true(at && at < strchr(row, '\n'));
		at = strstr(at, ": python3 app.py/7834 h");
		assert_true(at && at < strchr(row, '\n'));
		both |= !strncmp(at - 11, "~Root cause", 11);
	}
	assert_true(both);
	ty_timeline_free(t);
	ty_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_keep_the_root_cause),
		cmocka_unit_test(input_does_not_wait_for_analyses),
		cmocka_unit_test(a_frame_waits_for_no_arguments),
		cmocka_unit_test(a_frame_does_not_wait_for_stalls),
		cmocka_unit_test(the_first_stall_is_under_the_cursor),
		cmocka_unit_test(searching),
		cmocka_unit_test(files_are_found_by_name),
		cmocka_unit_test(filtering),
		cmocka_unit_test(the_chain_leads_to_the_culprit),
		cmocka_unit_test(statistics),
		cmocka_unit_test(sleepers_that_never_stirred_come_last),
		cmocka_unit_test(traced_waits_are_found_among_everybodys),
		cmocka_unit_test(what_was_not_traced_is_folded),
	};

	ty_tl_locale();
	return cmocka_run_group_tests_name("timeline_find", tests, NULL, NULL);
}
