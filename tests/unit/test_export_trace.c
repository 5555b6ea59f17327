/* SPDX-License-Identifier: MIT */
/* A part of a recording as a recording of its own: which threads were traced where it begins, and
 * whether nothing was lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "call_data_record.h"
#include "export_trace.h"
#include "fixture_story.h"
#include "fixture_trace.h"
#include "model_time.h"
#include "section.h"
#include "stack_record.h"
#include "window_select.h"

#define TRACED "traced=7 7\ntraced=100 101\n"

/* From then on; 0: all. */
static void cut(const char *path, uint64_t from, const char *out)
{
	struct ty_session s = {0};
	struct ty_err err = {0};

	if (ty_session_open(&s, path, TY_OPEN_MODEL | TY_OPEN_NO_INDEX, 0, &err) ||
	    ty_export_trace(&s, out, from ? from : ty_model_summary(s.model)->start_ns, UINT64_MAX,
			    &err))
		fail_msg("%s", err.msg);
	ty_session_fini(&s);
}

/* The file's lines of the traced threads, whole. */
static void check(const char *path, const char *want)
{
	struct ty_err err = {0};
	struct ty_trace *t;
	const char *p;

	if (ty_trace_open(path, &t, &err))
		fail_msg("%s", err.msg);
	p = strstr(ty_trace_section(t, TY_SEC_MACHINE).s, "traced=");
	assert_non_null(p);
	assert_memory_equal(p, want, strlen(want));
	assert_null(strstr(p + strlen(want), "traced="));
	ty_trace_close(t);
}

/* A recording that begins later than it was begun, and, again, all of what was cut out of it. */
static void test_traced_from_start(void **state)
{
	const char *path = ty_fx_path("later.dat"), *all = ty_fx_path("all.dat"),
		   *again = ty_fx_path("again.dat"), *part = ty_fx_path("part.dat");

	(void)state;
	for (unsigned kept = 0; kept < 2; kept++) {
		static const char *const machine[] = {
			"arch=x86_64\ncut_from_ns=1000000000000\n" TRACED, "arch=x86_64\n"};
		static const char facts[] = "from_ns=1000000000000\nbegan_ns=1\n" TRACED;

		ty_story_begin(path, 4, machine[kept], TY_STORY_THREADS);
		if (kept)
			ty_story_section(TY_SEC_KEPT, facts, strlen(facts));
		ty_story_stall(ty_story_event);
		ty_story_end();
		cut(path, 0, all);
		check(all, TRACED);
		cut(all, 0, again);
		check(again, TRACED);
		/* Later: those that live then and have recorded calls. */
		cut(path, TY_STORY_START + 1000000000, part);
		check(part, "traced=100 102\n");
		unlink(all);
		unlink(again);
		unlink(part);
	}
}

static void sw(unsigned cpu, unsigned ms, int prev, int next)
{
	struct ty_event ev = {.ts_ns = TY_STORY_START + ms * UINT64_C(1000000),
			      .cpu = cpu,
			      .tid = prev,
			      .kind = TY_EV_SWITCH};

	ev.u.sw.prev_tid = prev;
	ev.u.sw.next_tid = next;
	ev.u.sw.prev_state = TY_TASK_INTERRUPTIBLE;
	snprintf(ev.u.sw.prev_comm, sizeof(ev.u.sw.prev_comm), "t%d", prev);
	snprintf(ev.u.sw.next_comm, sizeof(ev.u.sw.next_comm), "t%d", next);
	ty_story_event(&ev);
}

/* 11 runs on CPU 1, and then is seen on CPU 0, of which time CPU 1 has no events, or lost them:
 * which is known later. */
static void elsewhere(const char *path, bool gap, const char *self)
{
	struct ty_event ev = {
		.ts_ns = TY_STORY_START + 10000000, .tid = 11, .kind = TY_EV_SYS_ENTER};

	ty_story_begin(path, 2, "tarry=1\narch=x86_64\nmode=all\n", NULL);
	sw(0, 1, 0, 12);
	sw(1, 2, 0, 11);
	ty_story_event(&ev);
	sw(0, 30, 12, 11);
	sw(0, 40, 11, 0);
	if (gap)
		ty_story_event(&(struct ty_event){.cpu = 1, .kind = TY_EV_GAP, .u.gap.count = 3});
	sw(1, 60, 0, 12);
	ty_story_section(TY_SEC_SELF, self, strlen(self));
	ty_story_end();
}

/* Are events said to be lost while 11 was nowhere? */
static bool lost_elsewhere(const char *path)
{
	const uint64_t t = TY_STORY_START + 20000000;
	struct ty_session s = {0};
	struct ty_err err = {0};
	struct ty_span span;

	if (ty_session_open(&s, path, TY_OPEN_MODEL | TY_OPEN_NO_INDEX, 0, &err))
		fail_msg("%s", err.msg);
	span = ty_model_span(s.model,
			     ty_model_span_find(s.model, ty_model_thread_find(s.model, 11, t), t));
	assert_int_equal(span.state, TY_ST_UNKNOWN);
	ty_session_fini(&s);
	return span.flags & TY_SF_LOST;
}

/* The recorder's count is believed where the file has no gap, and goes with a part of it. */
static void test_nothing_lost(void **state)
{
	static const struct {
		bool gap;
		const char *self;
		bool lost;
	} t[] = {{false, "lost=0\n", false},
		 {true, "lost=0\n", true},
		 {false, "lost=3\n", true},
		 {false, "stop=done\n", true}};
	const char *path = ty_fx_path("self.dat"), *part = ty_fx_path("part.dat"),
		   *again = ty_fx_path("again.dat");

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		elsewhere(path, t[i].gap, t[i].self);
		assert_int_equal(lost_elsewhere(path), t[i].lost);
		cut(path, 0, part);
		assert_int_equal(lost_elsewhere(part), t[i].lost);
		cut(part, TY_STORY_START + 1500000, again);
		assert_int_equal(lost_elsewhere(again), t[i].lost);
		unlink(path);
		unlink(part);
		unlink(again);
	}
}

/* A time that is requested by its seconds from the start, and as it is shown. */
static uint64_t at_second(const char *path, const char *arg, char shown[TY_TIME_MAX])
{
	struct ty_select sel = {.from = arg};
	struct ty_session s = {0};
	struct ty_err err = {0};
	struct ty_window w = {0};

	if (ty_session_open(&s, path, TY_OPEN_MODEL | TY_OPEN_NO_INDEX, 0, &err) ||
	    ty_select_window(&sel, &s, &w, &err))
		fail_msg("%s", err.msg);
	ty_time_text(s.model, TY_CLOCK_START, TY_STORY_START + 2000000000, 1000000, shown);
	ty_session_fini(&s);
	return w.from_ns;
}

/* A moment has one time, in the whole and in a part, and in a part of that. */
static void test_same_times(void **state)
{
	const char *path = ty_fx_path("whole.dat"), *part = ty_fx_path("part.dat"),
		   *again = ty_fx_path("again.dat");
	const char *const files[] = {path, part, again};
	char shown[TY_TIME_MAX], want[TY_TIME_MAX], of_clock[40];
	struct ty_err err = {0};
	struct ty_trace *t;
	uint64_t at;

	(void)state;
	ty_story_begin(path, 4, "arch=x86_64\n", TY_STORY_THREADS);
	ty_story_stall(ty_story_event);
	ty_story_end();
	at = at_second(path, "1.8", want);
	assert_true(at > TY_STORY_START + 1000000000);
	cut(path, TY_STORY_START + 500000000, part);
	cut(part, TY_STORY_START + 1000000000, again);
	/* As dump events prints it, where that is beyond the end. */
	snprintf(of_clock, sizeof(of_clock), "%u.%09u", (unsigned)(at / 1000000000),
		 (unsigned)(at % 1000000000));
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(at_second(files[i], "1.8", shown), at);
		assert_string_equal(shown, want);
		assert_int_equal(at_second(files[i], of_clock, shown), at);
	}
	if (ty_trace_open(again, &t, &err))
		fail_msg("%s", err.msg);
	assert_non_null(strstr(ty_trace_section(t, TY_SEC_MACHINE).s, "\ncut_of=whole.dat\n"));
	assert_true(ty_trace_cut_keeps(t));
	ty_trace_close(t);
	unlink(path);
	unlink(part);
	unlink(again);
}

/* Descriptors that were listed after the part begins are not known before that. */
static void test_listed_later(void **state)
{
	const char *path = ty_fx_path("whole.dat"), *part = ty_fx_path("part.dat");
	const uint64_t listed = TY_STORY_START + 700000000,
		       from[] = {listed - 200000000, listed + 200000000};
	char text[80], taken[128];
	struct ty_err err = {0};
	struct ty_trace *t;

	(void)state;
	snprintf(text, sizeof(text), "taken %llu %llu\n7\t3\t-\tthree\n",
		 (unsigned long long)TY_STORY_START, (unsigned long long)listed);
	ty_story_begin(path, 4, "arch=x86_64\n", TY_STORY_THREADS);
	ty_story_section(TY_SEC_FDS, text, strlen(text));
	ty_story_stall(ty_story_event);
	ty_story_end();
	for (size_t i = 0; i < 2; i++) {
		const unsigned long long at = from[i];

		cut(path, from[i], part);
		if (ty_trace_open(part, &t, &err))
			fail_msg("%s", err.msg);
		snprintf(taken, sizeof(taken), "taken %llu %llu\ntaken %llu %llu\n7\t3\t-\tthree\n",
			 at, at, at, (unsigned long long)listed);
		if (at > listed)
			snprintf(taken, sizeof(taken), "taken %llu %llu\n7\t3\t-\tthree\n", at, at);
		assert_string_equal(ty_trace_section(t, TY_SEC_FDS).s, taken);
		ty_trace_close(t);
		unlink(part);
	}
	unlink(path);
}

/* All fields of a descriptor are in a part's list. */
static void test_fields_of_descriptors(void **state)
{
	static const char fds[] = "taken 1 2\n7\tcwd\t-\t/home\n7\t3\tcloexec\ta\\tb\n"
				  "7\t4\t-\tpipe:[5]\tr\n7\t5\t-\tpipe:[5]\trw\n"
				  "7\t6\t-\tTCP:[10.0.0.1:1->10.0.0.2:2]\t-\t4026531840\n";
	const char *path = ty_fx_path("whole.dat"), *part = ty_fx_path("part.dat");
	struct ty_err err = {0};
	struct ty_trace *t;

	(void)state;
	ty_story_begin(path, 4, "arch=x86_64\n", TY_STORY_THREADS);
	ty_story_section(TY_SEC_FDS, fds, strlen(fds));
	ty_story_stall(ty_story_event);
	ty_story_end();
	cut(path, TY_STORY_START + 500000000, part);
	if (ty_trace_open(part, &t, &err))
		fail_msg("%s", err.msg);
	assert_string_equal(strchr(ty_trace_section(t, TY_SEC_FDS).s, '\n'), strchr(fds, '\n'));
	ty_trace_close(t);
	unlink(path);
	unlink(part);
}

/* Sections with damage of all kinds, and samples without a description of their event: what can be
 * read is chosen by its time, the rest is in the new file as it was. */
static void test_damaged(void **state)
{
	const char *path = ty_fx_path("damaged.dat"), *part = ty_fx_path("damaged-part.dat");
	const uint64_t at = TY_STORY_START + 500000000;
	struct ty_ev_record string = {.tid = 100, .kind = TY_EVK_STRING, .len = 2};
	struct ty_stk_head stack = {.tid = 100, .kind = TY_STK_WAIT, .len = 8};
	static char samples[3 << 20] = "samples of an event that nothing describes, many of them";
	static const enum ty_section sections[] = {TY_SEC_CALL_DATA, TY_SEC_STACKS};

	(void)state;
	for (unsigned cut_short = 0; cut_short < 2; cut_short++) {
		struct ty_buf b[2], want[2];
		struct ty_err err = {0};
		struct ty_trace *t;

		for (unsigned k = 0; k < 2; k++) {
			const void *head = k ? (void *)&stack : (void *)&string;
			const size_t n = k ? sizeof(stack) : sizeof(string), more = k ? 8 : 2;

			ty_buf_init(&b[k], 4096);
			ty_buf_init(&want[k], 4096);
			stack.ns = string.ns = TY_STORY_START + 1; /* before the window */
			stack.kind = TY_STK_MAP;
			ty_buf_add(&b[k], head, n);
			ty_buf_add(&b[k], "12345678", more);
			stack.ns = string.ns = at + 1000;
			for (unsigned to = 0; to < 2; to++) {
				struct ty_buf *into = to ? &want[k] : &b[k];

				ty_buf_add(into, head, n);
				ty_buf_add(into, "abcdefgh", more);
				/* Half a head, or half of what follows one. */
				ty_buf_add(into, head, cut_short ? n / 2 : n);
				ty_buf_add(into, "x", !cut_short);
			}
		}
		ty_story_begin(path, 4, "arch=x86_64\n", TY_STORY_THREADS);
		for (unsigned k = 0; k < 2; k++)
			ty_story_section(sections[k], b[k].p, b[k].len);
		ty_story_section(TY_SEC_SAMPLES, samples, sizeof(samples));
		if (cut_short)
			ty_story_section(TY_SEC_SAMPLING, "nonsense", 8);
		ty_story_stall(ty_story_event);
		ty_story_end();
		cut(path, at, part);
		if (ty_trace_open(part, &t, &err))
			fail_msg("%s", err.msg);
		for (unsigned k = 0; k < 2; k++) {
			const struct ty_text got = ty_trace_section(t, sections[k]);

			assert_int_equal(want[k].len, got.n);
			assert_memory_equal(want[k].p, got.s, got.n);
			ty_buf_fini(&b[k]);
			ty_buf_fini(&want[k]);
		}
		assert_int_equal(sizeof(samples), ty_trace_section(t, TY_SEC_SAMPLES).n);
		assert_memory_equal(samples, ty_trace_section(t, TY_SEC_SAMPLES).s,
				    sizeof(samples));
		ty_trace_close(t);
		unlink(path);
		unlink(part);
	}
}

static int remove_all(void **state)
{
	(void)state;
	ty_fx_remove_dir();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_traced_from_start),
					   cmocka_unit_test(test_nothing_lost),
					   cmocka_unit_test(test_same_times),
					   cmocka_unit_test(test_listed_later),
					   cmocka_unit_test(test_fields_of_descriptors),
					   cmocka_unit_test(test_damaged)};

	return cmocka_run_group_tests(tests, NULL, remove_all);
}
