/* SPDX-License-Identifier: MIT */
/* The longest waits: ranking, windows, the thread that ran meanwhile, lost ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_two_cpus.h"
#include "longest_waits.h"
#include "window_all.h"

#define BLOCKED (1u << TY_ST_SLEEPING | 1u << TY_ST_BLOCKED | 1u << TY_ST_STOPPED)

static int drop(void **state)
{
	ty_mx_drop();
	return 0;
}

static void longest(void **state)
{
	const struct ty_model *m = turns();
	struct ty_window w = window_all(m);
	struct ty_wait out[10];
	int32_t tid = 6;

	assert_int_equal(ty_longest(m, &w, BLOCKED, out, 10), 2);
	assert_int_equal(out[0].duration_ns, 1000);
	assert_int_equal(out[0].start_ns, 100);
	assert_int_equal(ty_model_thread(m, out[0].thread)->tid, 5);
	assert_int_equal(ty_model_syscall(m, (uint32_t)out[0].syscall).nr, 202);
	assert_int_equal(ty_model_thread(m, (uint32_t)out[0].waker)->tid, 7);
	assert_true(out[0].woken);
	assert_int_equal(out[1].duration_ns, 500);
	assert_int_equal(out[1].waker, -1);
	assert_int_equal(out[1].syscall, -1);
	/* Only as many as there is room for, and those are the longest. */
	assert_int_equal(ty_longest(m, &w, BLOCKED, out, 1), 1);
	assert_int_equal(out[0].duration_ns, 1000);
	assert_int_equal(ty_longest(m, &w, 1u << TY_ST_RUNNABLE, out, 10), 2);
	assert_int_equal(out[0].duration_ns, 300);
	assert_int_equal(ty_model_thread(m, (uint32_t)out[0].ran)->tid, 6);
	assert_int_equal(ty_model_thread(m, (uint32_t)out[1].ran)->tid, 5);
	/* Cut to the window. */
	w.from_ns = 600;
	w.to_ns = 1200;
	assert_int_equal(ty_longest(m, &w, BLOCKED, out, 10), 1);
	assert_int_equal(out[0].duration_ns, 500);
	assert_int_equal(out[0].start_ns, 600);
	w.tids = &tid;
	w.tids_n = 1;
	assert_int_equal(ty_longest(m, &w, BLOCKED, out, 10), 0);
}

/* The thread shown as running meanwhile had most of the CPU, not the longest single turn. */
static void ran_most(void **state)
{
	const struct ty_model *m;
	struct ty_wait out[10];
	struct ty_window w;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_event(0, 0, 5, TY_EV_OTHER);
	ty_mx_switch(0, 10, 5, RP, 6);
	ty_mx_switch(0, 50, 6, RP, 7); /* 6: 40 at once */
	ty_mx_switch(0, 80, 7, RP, 8);
	ty_mx_switch(0, 85, 8, S, 7);
	ty_mx_switch(0, 115, 7, RP, 5); /* 7: twice 30 */
	ty_mx_event(0, 120, 5, TY_EV_OTHER);
	m = ty_mx_end();
	w = window_all(m);
	assert_int_equal(ty_longest(m, &w, 1u << TY_ST_RUNNABLE, out, 1), 1);
	assert_int_equal(ty_model_thread(m, out[0].thread)->tid, 5);
	assert_int_equal(ty_model_thread(m, (uint32_t)out[0].ran)->tid, 7);
	/* Within the window only. */
	w.to_ns = 60;
	assert_int_equal(ty_longest(m, &w, 1u << TY_ST_RUNNABLE, out, 1), 1);
	assert_int_equal(ty_model_thread(m, (uint32_t)out[0].ran)->tid, 6);
}

/* Bystanders' sleeps are their own; their waits for devices may be ours. */
static void bystanders(void **state)
{
	const struct ty_model *m;
	struct ty_wait out[10];
	struct ty_window w;

	ty_mx_begin("mode=tree\n", NULL);
	ty_mx_enter(0, 0, 5, 1);
	ty_mx_event(1, 0, 6, TY_EV_OTHER);
	ty_mx_switch(0, 10, 5, S, 7);
	ty_mx_switch(0, 20, 7, S, 0);
	ty_mx_switch(1, 30, 6, D, 0);
	ty_mx_event(0, 100, 0, TY_EV_OTHER);
	m = ty_mx_end();
	w = window_all(m);
	assert_int_equal(ty_longest(m, &w, BLOCKED, out, 10), 3);
	assert_int_equal(ty_longest(m, &w, BLOCKED | TY_LONGEST_OURS, out, 10), 2);
	assert_int_equal(ty_model_thread(m, out[0].thread)->tid, 5);
	assert_int_equal(ty_model_thread(m, out[1].thread)->tid, 6);
}

/* A wait whose end is hidden by lost events says so; its length is what was seen. */
static void end_lost(void **state)
{
	const struct ty_model *m;
	struct ty_wait out[10];
	struct ty_window w;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_event(0, 0, 5, TY_EV_OTHER);
	ty_mx_switch(0, 10, 5, S, 0);
	ty_mx_gap(0, 60, 70, 1);
	ty_mx_waking(0, 90, 0, 5, 0);
	ty_mx_switch(0, 95, 0, R, 5);
	ty_mx_switch(0, 100, 5, S, 0);
	ty_mx_event(0, 120, 0, TY_EV_OTHER);
	m = ty_mx_end();
	w = window_all(m);
	assert_int_equal(ty_longest(m, &w, BLOCKED, out, 10), 2);
	assert_int_equal(out[0].duration_ns, 50);
	assert_true(out[0].end_lost);
	assert_false(out[1].end_lost);
	w.to_ns = 50; /* the window ends it first */
	assert_int_equal(ty_longest(m, &w, BLOCKED, out, 10), 1);
	assert_false(out[0].end_lost);
}

/* What the command waits for before its execve is tarry, not a wait of the command. */
static void command_before_its_release(void **state)
{
	struct ty_wait out[8];
	const struct ty_model *m;
	struct ty_window w;
	uint32_t n, own = 0;

	ty_mx_begin("command_tid=5\n", NULL);
	ty_mx_switch(0, 10, 5, S, 9);
	ty_mx_waking(0, 500, 9, 5, 0);
	ty_mx_switch(0, 510, 9, S, 5);
	ty_mx_enter(0, 520, 5, 59);
	ty_mx_exit(0, 530, 5, 59, 0);
	ty_mx_waking(0, 535, 5, 9, 0);
	ty_mx_switch(0, 540, 5, S, 9);
	ty_mx_waking(0, 600, 9, 5, 0);
	ty_mx_switch(0, 610, 9, S, 5);
	m = ty_mx_end();
	w = window_all(m);
	n = ty_longest(m, &w, 1u << TY_ST_SLEEPING, out, 8);
	for (uint32_t i = 0; i < n; i++)
		if (ty_model_thread(m, out[i].thread)->tid == 5) {
			assert_int_equal(out[i].start_ns, 540);
			own++;
		}
	assert_int_equal(own, 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_teardown(f, drop)
	const struct CMUnitTest tests[] = {
		T(longest), T(ran_most), T(bystanders), T(end_lost), T(command_before_its_release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
