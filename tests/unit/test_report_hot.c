/* SPDX-License-Identifier: MIT */
/* Which rows of functions by samples the text has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture_story.h"
#include "fixture_trace.h"
#include "report.h"
#include "window_all.h"

static uint32_t node(struct ty_samples *s, uint32_t caller, const char *func)
{
	struct ty_sample_frame frame = {.func = ty_samples_func(s, func, "prog", false)};

	return ty_samples_node(s, caller, ty_samples_frame(s, &frame));
}

static void sample(struct ty_samples *s, uint64_t ns, uint32_t caller, const char *func,
		   uint64_t period)
{
	struct ty_sample v = {.ns = ns, .period = period, .tid = 100, .pid = 100};

	v.node = node(s, caller, func);
	assert_int_equal(vec_push(&s->v, v), 0);
}

/* Four samples of a long period each, and behind them a function that has two of short ones; then
 * one with a single sample, and its caller. */
static void rows_behind_a_single_sample(void **state)
{
	static const char *const heavy[] = {"heavy0", "heavy1", "heavy2", "heavy3"};
	const char *path = ty_fx_path("hot.dat");
	struct ty_session s = {0};
	struct ty_report r = {.s = &s};
	struct ty_samples *v = ty_samples_new();
	struct ty_hot_of of;
	struct ty_err err = {0};
	const uint32_t cpu = 0;
	uint64_t ns = TY_STORY_START;
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	(void)state;
	assert_non_null(f);
	ty_story_begin(path, 1, "tarry=1\narch=x86_64\nmode=all\n", NULL);
	for (int i = 0; i < 2; i++) {
		struct ty_event ev = {.ts_ns = ns + (uint64_t)i, .kind = TY_EV_SWITCH};

		ev.tid = ev.u.sw.prev_tid = i ? 100 : 0;
		ev.u.sw.next_tid = i ? 0 : 100;
		ev.u.sw.prev_state = TY_TASK_INTERRUPTIBLE;
		snprintf(ev.u.sw.prev_comm, sizeof(ev.u.sw.prev_comm), "t%d", ev.tid);
		snprintf(ev.u.sw.next_comm, sizeof(ev.u.sw.next_comm), "t%d", ev.u.sw.next_tid);
		ty_story_event(&ev);
	}
	ty_story_end();
	if (ty_session_open(&s, path, TY_OPEN_MODEL | TY_OPEN_NO_INDEX, 0, &err))
		fail_msg("%s", err.msg);
	for (unsigned i = 0; i < 4; i++)
		sample(v, ++ns, 0, heavy[i], 1000);
	sample(v, ++ns, 0, "twice", 10);
	sample(v, ++ns, 0, "twice", 10);
	sample(v, ++ns, node(v, 0, "caller"), "least", 1);
	ty_samples_sort(v);
	s.samples = v;
	r.w = (struct ty_window){.to_ns = UINT64_MAX};
	of = (struct ty_hot_of){.s = v, .w = &r.w, .model = s.model};
	assert_int_equal(ty_hot_find(&of, &r.hot), 0);
	ty_hot_text(&r, f);
	fclose(f);
	assert_non_null(strstr(text, "heavy3"));
	assert_non_null(strstr(text, "twice"));
	assert_null(strstr(text, "least"));
	assert_non_null(
		strstr(text, "and 2 more: 1 with one sample each, 1 only as callers (--json"));
	assert_non_null(strstr(text, " runnable, "));
	free(text);
	/* Only the time on CPU can be split by CPU. */
	ty_hot_fini(&r.hot);
	r.w.cpus = &cpu;
	r.w.cpus_n = 1;
	assert_int_equal(ty_hot_find(&of, &r.hot), 0);
	f = open_memstream(&text, &n);
	assert_non_null(f);
	ty_hot_text(&r, f);
	fclose(f);
	assert_non_null(strstr(text, " on CPU in "));
	assert_null(strstr(text, "runnable"));
	free(text);
	ty_hot_fini(&r.hot);
	ty_session_fini(&s);
	unlink(path);
}

static int remove_all(void **state)
{
	(void)state;
	ty_fx_remove_dir();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(rows_behind_a_single_sample)};

	return cmocka_run_group_tests(tests, NULL, remove_all);
}
