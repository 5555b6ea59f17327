/* SPDX-License-Identifier: MIT */
/* Which ledgers a report has, and in which order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture_model.h"
#include "fixture_story.h"
#include "fixture_trace.h"
#include "report_explain.h"
#include "report_renamed.h"
#include "window_all.h"

#define MS	UINT64_C(1000000)
#define THREADS 30

static void sw(uint64_t at_ns, int prev, int next)
{
	struct ty_event ev = {.ts_ns = TY_STORY_START + at_ns, .tid = prev, .kind = TY_EV_SWITCH};

	ev.u.sw.prev_tid = prev;
	ev.u.sw.next_tid = next;
	ev.u.sw.prev_state = TY_TASK_INTERRUPTIBLE;
	snprintf(ev.u.sw.prev_comm, sizeof(ev.u.sw.prev_comm), "t%d", prev);
	snprintf(ev.u.sw.next_comm, sizeof(ev.u.sw.next_comm), "t%d", next);
	ty_story_event(&ev);
}

static void born(uint64_t at_ns, int by, int tid)
{
	struct ty_event ev = {.ts_ns = TY_STORY_START + at_ns, .tid = by, .kind = TY_EV_NEWTASK};

	ev.u.newtask.tid = tid;
	snprintf(ev.u.newtask.comm, sizeof(ev.u.newtask.comm), "t%d", tid);
	ty_story_event(&ev);
}

/* Threads 100 and on are made and run one after the other, for 7, 14, 0, 7 ... ms and a bit more
 * each. */
static void record(const char *path, const char *machine)
{
	uint64_t at = MS;
	int prev = 0;

	ty_story_begin(path, 1, machine, NULL);
	for (int i = 0; i < THREADS; i++) {
		if (i)
			born(at - 1000, prev, 100 + i);
		sw(at, prev, 100 + i);
		prev = 100 + i;
		at += (uint64_t)((i + 1) % 3 * 7 + 1) * MS + (uint64_t)i * 1000;
	}
	sw(at, prev, 0);
	ty_story_end();
}

static uint64_t ran(const struct ty_ledger *l)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < l->n; i++)
		ns += l->rows[i].state == TY_ST_RUNNING ? l->rows[i].ns : 0;
	return ns;
}

/* As many as the text shows, the command's among them; all of them for JSON. */
static void number_and_order(void **state)
{
	const char *path = ty_fx_path("many.dat");

	(void)state;
	for (unsigned k = 0; k < 8; k++) {
		bool command = k & 1, few = k & 2, processes = k & 4;
		const unsigned what = TY_EXPLAIN_LEDGER | (few ? TY_EXPLAIN_FEW : 0) |
				      (processes ? TY_EXPLAIN_PROCESSES : 0);
		struct ty_session s = {0};
		struct ty_explained e;
		struct ty_err err = {0};
		struct ty_window w;

		record(path, command ? "tarry=1\narch=x86_64\nmode=all\ncommand_tid=100\n"
				     : "tarry=1\narch=x86_64\nmode=all\n");
		if (ty_session_open(&s, path, TY_OPEN_MODEL | TY_OPEN_NO_INDEX, 0, &err))
			fail_msg("%s", err.msg);
		w = window_all(s.model);
		if (ty_explained_find(&s, &w, what, NULL, NULL, &e, &err))
			fail_msg("%s", err.msg);
		assert_int_equal(e.ledgers, few ? 20 : THREADS + command);
		assert_int_equal(e.ledgers_left, few ? THREADS + command - 20 : 0);
		for (uint32_t i = 0; i < e.ledgers; i++) {
			assert_int_equal(e.ledger[i].thread == TY_NONE, command && !i);
			if (i > (uint32_t)command)
				assert_true(ran(&e.ledger[i]) < ran(&e.ledger[i - 1]));
		}
		ty_explained_fini(&e);
		ty_session_fini(&s);
		unlink(path);
	}
}

static bool place(void *ctx, int32_t tid, uint64_t from_ns, uint64_t to_ns, char *buf, size_t n)
{
	(void)ctx;
	snprintf(buf, n, "place_%d_%llu_%llu", tid, (unsigned long long)from_ns,
		 (unsigned long long)to_ns);
	return true;
}

/* A stall of several waits has the stack of its chief wait, not of what lies between them; a thread
 * that it goes back to that of its whole wait. */
static void stack_of_several_waits(void **state)
{
	struct ty_stall stall = {.start_ns = 10,
				 .last_end_ns = 90,
				 .duration_ns = 60,
				 .waits = 2,
				 .text = "",
				 .sentence = ""};
	struct ty_explained e = {.x = {.where = place}, .stalls = {.v = &stall, .n = 1}};
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	(void)state;
	assert_non_null(f);
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_event(0, 5, 5, TY_EV_OTHER);
	ty_mx_switch(0, 10, 5, TY_TASK_INTERRUPTIBLE, 6);
	ty_mx_switch(0, 30, 6, TY_TASK_INTERRUPTIBLE, 5);
	ty_mx_switch(0, 50, 5, TY_TASK_INTERRUPTIBLE, 6);
	ty_mx_switch(0, 90, 6, TY_TASK_INTERRUPTIBLE, 5);
	ty_mx_event(0, 100, 5, TY_EV_OTHER);
	e.x.m = ty_mx_end();
	stall.thread = ty_model_thread_find(e.x.m, 5, 60);
	stall.span = ty_model_span_find(e.x.m, stall.thread, 60);
	stall.links = 2;
	stall.link[1] = (struct ty_link){.start_ns = 35, .end_ns = 45};
	stall.link[1].thread = ty_model_thread_find(e.x.m, 6, 40);
	stall.link[1].span = ty_model_span_find(e.x.m, stall.link[1].thread, 40);
	ty_stalls_text(&e, f);
	fclose(f);
	assert_non_null(strstr(text, "in function: place_5_50_90 (one of these waits)\n"));
	assert_non_null(strstr(text, "<- "));
	assert_non_null(strstr(text, "; in function: place_6_30_50\n"));
	free(text);
	ty_mx_drop();
}

/* Is what JSON has of the stall's sum proven? */
static bool sum_proven(const struct ty_explained *e)
{
	struct ty_json j;
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	bool yes;

	ty_json_init(&j, f);
	ty_json_object(&j, NULL);
	ty_stalls_json(e, &j);
	ty_json_end_object(&j);
	ty_json_line(&j);
	ty_json_fini(&j);
	fclose(f);
	yes = strstr(text, "\"sum_proven\":true");
	assert_int_not_equal(yes, strstr(text, "\"sum_proven\":false") != NULL);
	free(text);
	return yes;
}

static void a_sum_is_proven_if_all_of_it_is(void **state)
{
	static const struct ty_rule rule = {.id = "r", .says = "s"};
	const char *path = ty_fx_path("sum.dat");
	struct ty_stall stall = {.text = "",
				 .sentence = "",
				 .waits = 1,
				 .more_waits = 1,
				 .syscall = TY_NONE,
				 .culprit = TY_NONE,
				 .proven = true,
				 .rule = &rule};
	struct ty_explained e = {0};
	struct ty_session s = {0};
	struct ty_err err = {0};

	(void)state;
	record(path, "tarry=1\narch=x86_64\nmode=all\n");
	if (ty_session_open(&s, path, TY_OPEN_MODEL | TY_OPEN_NO_INDEX, 0, &err))
		fail_msg("%s", err.msg);
	e.x.m = s.model;
	e.stalls.v = &stall;
	e.stalls.n = 1;
	assert_true(sum_proven(&e));
	stall.sum_inferred = true;
	assert_false(sum_proven(&e));
	stall.sum_inferred = stall.proven = false;
	assert_false(sum_proven(&e));
	ty_session_fini(&s);
	unlink(path);
}

static int remove_all(void **state)
{
	(void)state;
	ty_fx_remove_dir();
	return 0;
}

/* 11 is t11 in the stall, and has another name at its end; 12 keeps its name. */
static void a_changed_name_is_said(void **state)
{
	struct ty_event ev = {.kind = TY_EV_SWITCH, .id = 1, .tid = 11, .ts_ns = 30 * MS};
	struct ty_stall v = {.text = "", .sentence = "", .named_ns = 5 * MS, .links = 2};
	const struct ty_model *m;
	char *text = NULL;
	size_t n;
	FILE *f;

	(void)state;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, 0, 11);
	ty_mx_switch(0, 10 * MS, 11, 1, 12);
	ty_mx_switch(0, 20 * MS, 12, 1, 11);
	ev.u.sw.prev_tid = 11;
	ev.u.sw.prev_state = 1;
	strcpy(ev.u.sw.prev_comm, "new");
	ty_mx_feed(ev);
	ty_mx_event(0, 40 * MS, 0, TY_EV_OTHER);
	m = ty_mx_end();
	v.thread = ty_model_thread_find(m, 11, 5 * MS);
	v.culprit = ty_model_thread_find(m, 12, 15 * MS);
	v.culprit_ns = 15 * MS;
	v.link[1] = (struct ty_link){.thread = v.culprit, .start_ns = 10 * MS, .end_ns = 20 * MS};
	f = open_memstream(&text, &n);
	ty_report_renamed(m, &v, 1, f);
	fclose(f);
	assert_string_equal(text, "     thread 11 changed its name: first t11, then new\n");
	free(text);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(number_and_order),
					   cmocka_unit_test(stack_of_several_waits),
					   cmocka_unit_test(a_sum_is_proven_if_all_of_it_is),
					   cmocka_unit_test(a_changed_name_is_said)};

	return cmocka_run_group_tests(tests, NULL, remove_all);
}
