/* SPDX-License-Identifier: MIT */
/*
 * A timeline on the first part of a recording that goes over to the whole when that is indexed:
 * what it says meanwhile, what stays, when it waits; and the real program on a file that has no
 * index yet.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture_story.h"
#include "fixture_timeline.h"
#include "fixture_trace.h"
#include "section.h"
#include "vt.h"

#define PART  110     /* events: the lock is being waited for */
#define MARKS 1100000 /* more than the timeline opens on */

/* The thread that indexes the rest. */
static struct ty_indexing_news now;
static bool over;
static unsigned polls;

static bool poll(void *ctx, struct ty_indexing_news *news)
{
	polls++;
	*news = now;
	return over;
}

static struct ty_model *part, *whole;
static struct ty_view_input in_part, in_whole;
static struct ty_timeline *t;

static int open_part(void **state)
{
	ty_tl_locale();
	part = ty_tl_stall_first(PART);
	whole = ty_tl_stall();
	in_part = ty_tl_input(part);
	in_part.host.indexing_poll = poll;
	t = ty_tl_open(&in_part);
	now = (struct ty_indexing_news){.part = 0.4, .left_s = 3};
	over = false;
	polls = 0;
	return 0;
}

static int close_part(void **state)
{
	ty_timeline_free(t);
	ty_model_free(part);
	ty_model_free(whole);
	return 0;
}

static void all_is_there(void)
{
	in_whole = ty_tl_input(whole);
	now.all = &in_whole;
	over = true;
}

static enum ty_view_result act(enum ty_action a)
{
	return ty_timeline_ops.act(t, a);
}

static const char *frame(void)
{
	return ty_tl_frame(t, &ty_tl_utf8, 120, 30);
}

static void has(const char *what)
{
	if (!strstr(frame(), what))
		fail_msg("'%s' is not in:\n%s", what, frame());
}

static void lacks(const char *what)
{
	if (strstr(frame(), what))
		fail_msg("'%s' is in:\n%s", what, frame());
}

static void ask_without_work(enum ty_action a, const char *text)
{
	act(a);
	ty_tl_type(t, text);
	while (t->job)
		ty_timeline_ops.work(t);
}

/* What depends on the whole recording is not shown, and why not. */
static void says_that_it_is_a_part(void **state)
{
	static const enum ty_action waiting[] = {TY_ACT_CHAIN,	TY_ACT_LEDGER, TY_ACT_DIFF,
						 TY_ACT_EXPORT, TY_ACT_NEXT,   TY_ACT_PREV};

	assert_true(ty_timeline_ops.wait_ms(t) > 0);
	has("demo.dat INDEXING 0%");
	assert_int_equal(ty_timeline_ops.work(t), TY_VIEW_CHANGED);
	has("demo.dat INDEXING 40%, 3 s left");
	has("of the first ");
	has("lost events: ?");
	has("No stalls yet");
	has("when the whole recording is indexed");
	/* What did not change is not drawn again. */
	assert_int_equal(ty_timeline_ops.work(t), TY_VIEW_IGNORED);
	for (unsigned i = 0; i < sizeof(waiting) / sizeof(*waiting); i++) {
		assert_int_equal(act(waiting[i]), TY_VIEW_CHANGED);
		assert_false(ty_timeline_ops.wants_text(t));
		has(": available when the whole recording is indexed");
	}
	/* The wait for the lock is not over: the part does not know how it ends. */
	ask_without_work(TY_ACT_GOTO, "0.5");
	ty_timeline_ops.act(t, TY_ACT_DOWN);
	lacks("recording ended");
}

static void goes_over_to_the_whole(void **state)
{
	const struct ty_summary *s = ty_model_summary(whole);
	struct ty_place at;

	ask_without_work(TY_ACT_GOTO, "0.4");
	act(TY_ACT_ZOOM_IN);
	ask_without_work(TY_ACT_MARK, "here");
	ask_without_work(TY_ACT_FILTER, "webserver");
	ask_without_work(TY_ACT_SEARCH, "flock");
	at = ty_timeline_place(t);
	all_is_there();
	ty_tl_work(t);
	assert_ptr_equal(t->m, whole);
	assert_int_equal(t->vp.end_ns, s->end_ns);
	lacks("INDEXING");
	lacks("of the first");
	lacks("lost events: ?");
	has("Stalls by ");
	/* Where one was, and what was hidden. */
	assert_int_equal(ty_timeline_place(t).cursor_ns, at.cursor_ns);
	assert_int_equal(ty_timeline_place(t).row_kind, at.row_kind);
	assert_int_equal(ty_timeline_place(t).row_id, at.row_id);
	assert_true(t->tracks.hidden_n > 0);
	assert_int_equal(t->marks.n, 1);
	act(TY_ACT_HIT_NEXT);
	ty_tl_work(t);
	has("flock");
	assert_int_equal(act(TY_ACT_EXPORT), TY_VIEW_CHANGED);
	assert_true(ty_timeline_ops.wants_text(t));
}

/* A window over all of it shows all of it then; n goes to the first stall as soon as there is one.
 */
static void the_whole_window_grows(void **state)
{
	assert_int_equal(t->vp.to_ns, ty_model_summary(part)->end_ns);
	act(TY_ACT_NEXT);
	all_is_there();
	ty_timeline_ops.work(t);
	assert_int_equal(t->vp.to_ns, ty_model_summary(whole)->end_ns);
	ty_tl_work(t);
	has("stall 1 of");
}

/* A prompt, a page, a held button: nothing is taken away under the hand. */
static void waits_for_what_is_open(void **state)
{
	const struct ty_view_ops *ops;
	void *page;

	act(TY_ACT_SEARCH);
	all_is_there();
	ty_timeline_ops.work(t);
	assert_ptr_equal(t->m, part);
	ty_timeline_ops.text(t, TY_KEY_ESC);
	act(TY_ACT_STATS);
	while (ty_timeline_ops.work(t) != TY_VIEW_PUSH)
		;
	ty_timeline_ops.child(t, &ops, &page);
	ty_timeline_ops.work(t);
	assert_ptr_equal(t->m, part);
	ty_timeline_ops.resumed(t);
	t->dragging = true;
	ty_timeline_ops.work(t);
	assert_ptr_equal(t->m, part);
	t->dragging = false;
	assert_int_equal(ty_timeline_ops.work(t), TY_VIEW_CHANGED);
	assert_ptr_equal(t->m, whole);
	assert_int_equal(polls, 1); /* its end is reported once */
}

static void stays_when_that_fails(void **state)
{
	ty_fail(&now.err, TY_ENOMEM, TY_NO_OFFSET, "no room for the index");
	now.failed = over = true;
	ty_tl_work(t);
	assert_ptr_equal(t->m, part);
	has("BEGINNING ONLY");
	has("no room for the index");
	act(TY_ACT_NEXT);
	has("only the beginning of the recording could be indexed");
	assert_int_equal(ty_timeline_ops.wait_ms(t), -1);
}

/* The part's threads have the same indices in the whole, wherever it is cut. */
static void threads_are_the_same(void **state)
{
	const struct ty_summary *s = ty_model_summary(whole);

	for (unsigned n = 1; n < 191; n += 7) {
		struct ty_model *m = ty_tl_stall_first(n);
		uint32_t threads = ty_model_summary(m)->threads;

		assert_true(threads <= s->threads);
		for (uint32_t i = 0; i < threads; i++) {
			const struct ty_thread *a = ty_model_thread(m, i),
					       *b = ty_model_thread(whole, i);

			assert_int_equal(a->tid, b->tid);
			assert_int_equal(a->gen, b->gen);
		}
		ty_model_free(m);
	}
}

/* The real program ---------------------------------------------------------------------------- */

/* The story, with so many marks in it that the timeline opens before its lock is waited for, and of
 * such that the file is large when it is compressed. */
static void with_marks(const struct ty_event *ev)
{
	static uint64_t n, x = 1;
	char text[13] = "";
	struct ty_event mark = {.ts_ns = ev->ts_ns,
				.cpu = ev->cpu,
				.tid = ev->tid,
				.kind = TY_EV_PRINT,
				.id = TY_EV_PRINT,
				.u.print.text = text};

	for (unsigned i = 0; n == PART && i < MARKS; i++) {
		for (unsigned k = 0; k < sizeof(text) - 1; k++) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			text[k] = (char)('0' + (x >> 58));
		}
		ty_story_event(&mark);
	}
	n++;
	ty_story_event(ev);
}

static const char *large_file(void)
{
	static char path[300];
	struct stat st;

	snprintf(path, sizeof(path), "%s", ty_fx_path("large.dat"));
	ty_story_begin(path, 2,
		       "tarry=test\narch=x86_64\nmode=command\ncpus=0-1\ncommand_tid=100\n",
		       TY_STORY_THREADS);
	ty_story_stall(with_marks);
	ty_story_end();
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size > 8 << 20); /* else it is opened as a whole */
	return path;
}

static void real_program(void **state)
{
	const char *tarry = getenv("TARRY") ? getenv("TARRY") : "build/tarry";
	const char *env[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", NULL};
	const char *argv[] = {tarry, "view", "--no-index", large_file(), NULL};

	if (access(tarry, X_OK))
		skip();
	for (int round = 0; round < 3; round++) {
		ty_vt_start(120, 30, env, argv);
		assert_true(ty_vt_shows("q quit"));
		if (!ty_vt_lacks("INDEXING") || !ty_vt_shows("(all 3.965 s") ||
		    !ty_vt_shows("Stalls by "))
			fail_msg("%s", ty_vt_screen());
		ty_vt_send("q", 1);
		assert_int_equal(ty_vt_end(), 0);
		/* And at any moment before that. */
		ty_vt_start(120, 30, env, argv);
		ty_vt_send("wdq", 3);
		assert_int_equal(ty_vt_end(), 0);
	}
	ty_fx_remove_dir();
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, open_part, close_part)
	const struct CMUnitTest tests[] = {
		T(says_that_it_is_a_part),	T(goes_over_to_the_whole),
		T(the_whole_window_grows),	T(waits_for_what_is_open),
		T(stays_when_that_fails),	T(threads_are_the_same),
		cmocka_unit_test(real_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
