/* SPDX-License-Identifier: MIT */
/* The timeline beside other clocks and other times: log files on its axis, the key for the clock,
 * and what was different then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "fixture_story.h"
#include "fixture_timeline.h"

#define MS    1000000ull
#define START TY_STORY_START

static const char *const names[] = {"/var/log/app.log", "kernel.log"};

static struct ty_view_input input_of(const struct ty_model *m, const struct ty_log *log)
{
	struct ty_view_input in = ty_tl_input(m);

	in.log = log;
	in.log_names = names;
	return in;
}

/* The story begins at 22:13:20 (UTC) and 0 ns; this is a second later, and so on. */
static void read_log(struct ty_log *log, const struct ty_model *m)
{
	static const char app[] = "2023-11-14T22:13:21Z the request comes in\n"
				  "\tfrom nowhere\n"
				  "2023-11-14T22:13:23.500Z the answer\n"
				  "2023-11-14T22:13:23.500Z is sent\n"
				  "2023-11-15T22:13:23Z too late\n";
	static const char kernel[] = "[    1.500000005] something in between\n";

	assert_int_equal(ty_log_add(log, m, app, strlen(app), 0), 0);
	assert_int_equal(ty_log_add(log, m, kernel, strlen(kernel), 1), 0);
	ty_log_sort(log);
	assert_int_equal(log->line.n, 4);
}

static void lines_are_signs_under_the_ruler(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_log log = {0};
	struct ty_view_input in;
	struct ty_timeline *t;
	const char *s;

	read_log(&log, m);
	in = input_of(m, &log);
	t = ty_tl_open(&in);
	s = ty_tl_frame(t, &ty_tl_utf8, 120, 30);
	assert_non_null(strstr(s, " logs "));
	assert_non_null(strstr(s, "\u25c6the requ"));
	assert_non_null(strstr(s, "\u25c6something in between"));
	assert_non_null(strstr(s, "2is sent")); /* two in one cell; the last one's text */
	s = ty_tl_frame(t, &ty_tl_ascii, 80, 24);
	assert_non_null(strstr(s, "*something i"));
	assert_null(strstr(s, "too late"));
	/* The smallest screen has it, too; without --log there is no such line. */
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_ascii, 40, 10), "*something"));
	ty_timeline_free(t);
	in.log = NULL;
	t = ty_tl_open(&in);
	assert_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 120, 30), "something in between"));
	ty_timeline_ops.act(t, TY_ACT_LOG_NEXT);
	assert_non_null(strstr(t->message, "--log"));
	ty_timeline_free(t);
	ty_log_fini(&log);
	in.log = &log;
	t = ty_tl_open(&in);
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 120, 30), "the log has no line within"));
	ty_timeline_ops.act(t, TY_ACT_LOG_PREV);
	assert_non_null(strstr(t->message, "the log has no line"));
	ty_timeline_free(t);
	ty_model_free(m);
}

static void steps_go_from_line_to_line(void **state)
{
	static const uint64_t at[] = {START + 1000 * MS, START + 1500 * MS, START + 3500 * MS,
				      START + 3500 * MS};
	struct ty_model *m = ty_tl_stall();
	struct ty_log log = {0};
	struct ty_view_input in;
	struct ty_timeline *t;

	read_log(&log, m);
	in = input_of(m, &log);
	t = ty_tl_open(&in);
	ty_timeline_ops.act(t, TY_ACT_TIME_FIRST);
	for (unsigned i = 0; i < 5; i++) { /* all of them, and round */
		ty_timeline_ops.act(t, TY_ACT_LOG_NEXT);
		assert_int_equal(t->cursor_ns, at[i % 4]);
		assert_int_equal(t->log_at, i % 4);
	}
	assert_non_null(strstr(t->message, "1 of 4: app.log:1 at 1.0"));
	assert_non_null(strstr(t->message, ": the request comes in ..."));
	for (unsigned i = 4; i-- > 0;) {
		ty_timeline_ops.act(t, TY_ACT_LOG_PREV);
		assert_int_equal(t->cursor_ns, at[i]);
		assert_int_equal(t->log_at, i);
	}
	ty_timeline_ops.act(t, TY_ACT_LOG_PREV);
	ty_timeline_ops.act(t, TY_ACT_LOG_PREV);
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 120, 30),
			       "app.log:3 at 3.500000 s: the answer (1 of 2 here)"));
	/* Each jump is undone by itself, where it went to another instant. */
	ty_timeline_ops.act(t, TY_ACT_UNDO);
	assert_int_equal(t->cursor_ns, at[0]);
	ty_timeline_free(t);
	ty_log_fini(&log);
	ty_model_free(m);
}

static void a_chain_tells_the_lines_around_it(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_log log = {0};
	struct ty_view_input in;
	struct ty_timeline *t;
	const char *s;

	read_log(&log, m);
	in = input_of(m, &log);
	in.at_finding = 1;
	t = ty_tl_open(&in);
	assert_int_equal(ty_timeline_ops.act(t, TY_ACT_CHAIN), TY_VIEW_PUSH);
	s = ty_tl_view_frame(&ty_page_ops, &t->page, &ty_tl_utf8, 100, 30);
	assert_non_null(strstr(s, "Log lines around it:"));
	assert_non_null(strstr(s, "kernel.log:1 at 1.500000 s: something in between"));
	/* Enter on the line goes there, on the row where one is. */
	t->page.at = 0;
	while (!strstr(t->page.lines.v[t->page.at].text, "kernel.log:1"))
		t->page.at++;
	assert_int_equal(ty_page_ops.act(&t->page, TY_ACT_OPEN), TY_VIEW_CLOSE);
	ty_timeline_ops.resumed(t);
	assert_int_equal(t->cursor_ns, START + 1500 * MS);
	/* A q that follows was meant for the page. */
	assert_int_equal(ty_timeline_ops.act(t, TY_ACT_QUIT), TY_VIEW_CHANGED);
	assert_non_null(strstr(t->message, "q again quits"));
	assert_int_equal(ty_timeline_ops.act(t, TY_ACT_QUIT), TY_VIEW_QUIT);
	ty_timeline_free(t);
	ty_log_fini(&log);
	ty_model_free(m);
}

static void the_clock_goes_round(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = input_of(m, NULL);
	struct ty_timeline *t = ty_tl_open(&in);

	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 120, 30), " 0.000 s to "));
	ty_timeline_ops.act(t, TY_ACT_CLOCK);
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 120, 30), " 22:13:20.000 to "));
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 120, 30), "\u252c22:13:2"));
	ty_timeline_ops.act(t, TY_ACT_CLOCK);
	assert_int_equal(t->clock, TY_CLOCK_TRACE);
	ty_timeline_ops.act(t, TY_ACT_CLOCK);
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 120, 30), " 0.000 s to "));
	ty_timeline_free(t);
	ty_model_free(m);
}

static void what_was_different_then(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = input_of(m, NULL);
	struct ty_timeline *t = ty_tl_open(&in);
	const char *s;

	assert_int_equal(ty_timeline_ops.act(t, TY_ACT_DIFF), TY_VIEW_CHANGED);
	assert_non_null(strstr(t->message, "nothing to compare"));
	/* q was meant for the page */
	assert_int_equal(ty_timeline_ops.act(t, TY_ACT_QUIT), TY_VIEW_CHANGED);
	assert_non_null(strstr(t->message, "q again quits"));
	assert_int_equal(ty_timeline_ops.act(t, TY_ACT_QUIT), TY_VIEW_QUIT);
	ty_timeline_ops.act(t, TY_ACT_DIFF);
	ty_timeline_ops.act(t, TY_ACT_LEFT);
	assert_int_equal(ty_timeline_ops.act(t, TY_ACT_QUIT), TY_VIEW_QUIT);
	/* The backup's fsyncs are in the first second only. */
	ty_viewport_jump(&t->vp, START, START + 1000 * MS);
	assert_int_equal(ty_timeline_ops.act(t, TY_ACT_DIFF), TY_VIEW_PUSH);
	assert_non_null(strstr(t->page.title, "1.000 s, starting at 0.000"));
	s = ty_tl_view_frame(&ty_page_ops, &t->page, &ty_tl_ascii, 100, 40);
	assert_non_null(strstr(s, "selected        rest"));
	assert_non_null(strstr(s, "ranked by each row"));
	ty_timeline_free(t);
	ty_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_signs_under_the_ruler),
		cmocka_unit_test(steps_go_from_line_to_line),
		cmocka_unit_test(a_chain_tells_the_lines_around_it),
		cmocka_unit_test(the_clock_goes_round),
		cmocka_unit_test(what_was_different_then),
	};

	ty_tl_locale();
	return cmocka_run_group_tests_name("timeline_log", tests, NULL, NULL);
}
