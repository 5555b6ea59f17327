/* SPDX-License-Identifier: MIT */
/* What a window chooses: threads by tid and by the names they bore in it, spans by their time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fixture_two_cpus.h"
#include "longest_waits.h"
#include "syscall_stats.h"
#include "window.h"
#include "window_all.h"

/* 10 is "t10", from 200 on "second", from 300 on "t10" again; 11 is "t11". */
static const struct ty_model *model(void)
{
	struct ty_event named = {.ts_ns = 200, .tid = 10, .kind = TY_EV_RENAME};

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 100, 0, R, 10);
	named.u.rename.tid = 10;
	strcpy(named.u.rename.old_comm, "t10");
	strcpy(named.u.rename.new_comm, "second");
	ty_mx_feed(named);
	ty_mx_switch(0, 300, 10, S, 0);
	ty_mx_switch(0, 400, 0, R, 11);
	return ty_mx_end();
}

static uint32_t of(const struct ty_model *m, int32_t tid)
{
	return ty_model_thread_find(m, tid, 400);
}

static void threads_by_tid(void **state)
{
	const struct ty_model *m = model();
	struct ty_window w = window_all(m);

	assert_true(ty_window_thread(&w, m, of(m, 10)));
	w.tids = (int32_t[]){11};
	w.tids_n = 1;
	assert_false(ty_window_thread(&w, m, of(m, 10)));
	assert_true(ty_window_thread(&w, m, of(m, 11)));
	ty_mx_drop();
}

static bool chosen(const struct ty_model *m, const char *comm, uint64_t from_ns, uint64_t to_ns)
{
	const struct ty_window w = {
		.from_ns = from_ns, .to_ns = to_ns, .comms = &comm, .comms_n = 1};

	return ty_window_thread(&w, m, of(m, 10));
}

static void threads_by_names_within_it(void **state)
{
	const struct ty_model *m = model();

	assert_true(chosen(m, "t1*", 100, 400));
	assert_false(chosen(m, "t11", 100, 400));
	assert_true(chosen(m, "t10", 199, 300));
	assert_false(chosen(m, "t10", 200, 300));
	assert_true(chosen(m, "t10", 200, 301));
	assert_false(chosen(m, "second", 100, 200));
	assert_true(chosen(m, "second", 100, 201));
	assert_true(chosen(m, "second", 299, 400));
	assert_false(chosen(m, "second", 300, 400));
	ty_mx_drop();
}

static void an_instant_by_its_name(void **state)
{
	const struct ty_model *m = model();
	struct ty_window w = {.comms = (const char *[]){"second"}, .comms_n = 1};
	struct ty_comm_memo memo = {0};

	assert_false(ty_window_comm(&w, m, of(m, 10), 199, &memo));
	assert_true(ty_window_comm(&w, m, of(m, 10), 200, &memo));
	assert_true(ty_window_comm(&w, m, of(m, 10), 250, &memo));
	assert_false(ty_window_comm(&w, m, of(m, 11), 250, &memo));
	w.comms_n = 0;
	assert_true(ty_window_comm(&w, m, of(m, 11), 250, &memo));
	ty_mx_drop();
}

static void spans_are_cut(void **state)
{
	const struct ty_window w = {.from_ns = 100, .to_ns = 200};
	uint64_t from = 50, to = 150;

	assert_true(ty_window_clip(&w, &from, &to));
	assert_int_equal(from, 100);
	assert_int_equal(to, 150);
	from = 150, to = 250;
	assert_true(ty_window_clip(&w, &from, &to));
	assert_int_equal(to, 200);
	from = 200, to = 250;
	assert_false(ty_window_clip(&w, &from, &to));
	from = 50, to = 100;
	assert_false(ty_window_clip(&w, &from, &to));
}

static void by_name_and_cpu(void **state)
{
	const struct ty_model *m = turns();
	struct ty_window w = window_all(m);
	const char *pat = "t[56]";
	uint32_t cpu = 1;
	uint64_t a = 10, b = 5000;

	assert_int_equal(w.from_ns, 0);
	assert_int_equal(w.to_ns, 2000);
	assert_true(ty_window_clip(&w, &a, &b));
	assert_int_equal(b, 2000);
	a = b = 2000;
	assert_false(ty_window_clip(&w, &a, &b));
	w.comms = &pat;
	w.comms_n = 1;
	assert_true(ty_window_thread(&w, m, ty_model_thread_find(m, 5, 0)));
	assert_false(ty_window_thread(&w, m, ty_model_thread_find(m, 7, 0)));
	w.cpus = &cpu;
	w.cpus_n = 1;
	assert_true(ty_window_cpu(&w, 1));
	assert_false(ty_window_cpu(&w, 0));
	ty_mx_drop();
}

/* Calls and waits by the name at their start, threads by any name within the window. */
static void names_at_the_start(void **state)
{
	struct ty_event ev = {.ts_ns = 100, .cpu = 0, .tid = 5, .kind = TY_EV_RENAME, .id = 9};
	const char *pat = "new";
	struct ty_syscall_stats *s;
	const struct ty_model *m;
	struct ty_wait out[10];
	struct ty_window w;
	uint32_t n, t;

	ev.u.rename.tid = 5;
	strcpy(ev.u.rename.old_comm, "t5");
	strcpy(ev.u.rename.new_comm, "new");
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_event(0, 0, 5, TY_EV_OTHER);
	ty_mx_switch(0, 10, 5, S, 0);
	ty_mx_waking(0, 40, 0, 5, 0);
	ty_mx_switch(0, 50, 0, R, 5);
	ty_mx_enter(0, 80, 5, 0);
	ty_mx_exit(0, 85, 5, 0, 0);
	ty_mx_enter(0, 90, 5, 157); /* prctl(PR_SET_NAME) */
	ty_mx_feed(ev);
	ty_mx_exit(0, 110, 5, 157, 0);
	ty_mx_enter(0, 120, 5, 1);
	ev = (struct ty_event){.ts_ns = 130, .cpu = 0, .tid = 5, .kind = TY_EV_SWITCH, .id = 1};
	ev.u.sw.prev_tid = 5;
	ev.u.sw.prev_state = S;
	strcpy(ev.u.sw.prev_comm, "new");
	ty_mx_feed(ev);
	ty_mx_event(0, 200, 0, TY_EV_OTHER);
	m = ty_mx_end();
	t = ty_model_thread_find(m, 5, 0);
	w = window_all(m);
	w.comms = &pat;
	w.comms_n = 1;
	assert_int_equal(ty_longest(m, &w, 1u << TY_ST_SLEEPING, out, 10), 1);
	assert_int_equal(out[0].start_ns, 130);
	assert_int_equal(ty_syscall_stats(m, &w, ty_sysarch_find("x86_64"), &s, &n), 0);
	assert_int_equal(n, 1);
	assert_string_equal(s[0].name, "write");
	free(s);
	assert_true(ty_window_thread(&w, m, t));
	w.to_ns = 100;
	assert_false(ty_window_thread(&w, m, t));
	w.to_ns = 101;
	assert_true(ty_window_thread(&w, m, t));
	pat = "t5";
	assert_true(ty_window_thread(&w, m, t));
	w.from_ns = 100;
	assert_false(ty_window_thread(&w, m, t));
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_by_tid),
		cmocka_unit_test(threads_by_names_within_it),
		cmocka_unit_test(an_instant_by_its_name),
		cmocka_unit_test(spans_are_cut),
		cmocka_unit_test(by_name_and_cpu),
		cmocka_unit_test(names_at_the_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
