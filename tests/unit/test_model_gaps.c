/* SPDX-License-Identifier: MIT */
/* What is said of threads and CPUs where events were lost, each on the smallest stream that shows
 * it (model/sched_state.c, model/gap_doubt.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_model.h"

/* A file of tarry's own; its CPUs' streams begin at the start. */
#define OURS "tarry=0.1\nmode=all\n"

static int drop(void **state)
{
	ty_mx_drop();
	return 0;
}

#define tracks(tid, text)    assert_string_equal(ty_mx_thread(tid, 0), text)
#define cpu_track(cpu, text) assert_string_equal(ty_mx_cpu(cpu), text)

static void gap_on_a_cpu(void **state)
{
	const struct ty_model *m;

	ty_mx_begin(OURS, NULL);
	ty_mx_event(0, 10, 5, TY_EV_OTHER);
	ty_mx_event(1, 10, 7, TY_EV_OTHER);
	ty_mx_switch(0, 15, 5, S, 6);
	ty_mx_gap(0, 20, 40, 123);
	ty_mx_event(0, 40, 8, TY_EV_OTHER); /* another thread now */
	ty_mx_switch(0, 60, 8, S, 5);	    /* woken in the gap */
	ty_mx_waking(1, 70, 7, 6, 0);	    /* 6 slept in between */
	ty_mx_event(0, 80, 5, TY_EV_OTHER);
	m = ty_mx_end();
	cpu_track(0, "R10-15<:5 R15-20:6 ?20-40! R40-60!:8 R60-80>:5");
	tracks(6, "?10-15< R@0:15-20 ?20-70! w@0:70-80>");
	tracks(5, "R@0:10-15< S15-20 ?20-60! R@0:60-80>");
	tracks(7, "R@1:10-80<>");
	assert_int_equal(ty_model_summary(m)->lost, 123);
	/* A sleeper that is woken after the gap may have run and slept again in it. */
	ty_mx_begin(OURS, NULL);
	ty_mx_event(0, 10, 5, TY_EV_OTHER);
	ty_mx_event(1, 10, 7, TY_EV_OTHER);
	ty_mx_switch(0, 15, 5, S, 0);
	ty_mx_gap(0, 20, 40, UINT64_MAX);
	ty_mx_waking(1, 50, 7, 5, 0);
	m = ty_mx_end();
	tracks(5, "R@0:10-15< S15-20 ?20-50! w@0:50-50>");
	assert_int_equal(ty_model_summary(m)->gaps_unknown, 1);
	assert_int_equal(ty_model_summary(m)->lost, 0);
}

/* A wakeup lost in a gap that is known only after its victim ran elsewhere. */
static void gap_that_shows_later(void **state)
{
	ty_mx_begin(OURS, NULL);
	ty_mx_event(0, 10, 5, TY_EV_OTHER);
	ty_mx_event(1, 10, 7, TY_EV_OTHER);
	ty_mx_waking(1, 11, 7, 9, 1); /* there are wakeups in this trace */
	ty_mx_switch(0, 15, 5, S, 0);
	ty_mx_switch(1, 60, 7, S, 5); /* no waker, by what is known so far */
	ty_mx_event(1, 70, 5, TY_EV_OTHER);
	ty_mx_gap(0, 50, 90, 5);
	ty_mx_event(0, 90, 0, TY_EV_OTHER);
	ty_mx_end();
	tracks(5, "R@0:10-15< S15-50 ?50-60! R@1:60-90>");
	/* Without the gap it just was never recorded; nothing is made up. */
	ty_mx_begin(OURS, NULL);
	ty_mx_event(0, 10, 5, TY_EV_OTHER);
	ty_mx_event(1, 10, 7, TY_EV_OTHER);
	ty_mx_waking(1, 11, 7, 9, 1);
	ty_mx_switch(0, 15, 5, S, 0);
	ty_mx_switch(1, 60, 7, S, 5);
	ty_mx_end();
	tracks(5, "R@0:10-15< S15-60 R@1:60-60>");
}

static void call_in(uint16_t buffer, uint64_t ts, int tid, bool enter)
{
	struct ty_event ev = {.ts_ns = ts,
			      .cpu = 0,
			      .buffer = buffer,
			      .tid = tid,
			      .kind = enter ? TY_EV_SYS_ENTER : TY_EV_SYS_EXIT,
			      .id = 3};

	if (enter)
		ev.u.enter.args[0] = UINT64_C(0x7fff00000000);
	ty_mx_feed(ev);
}

static void gap_in(uint16_t buffer, uint64_t from, uint64_t to)
{
	struct ty_event ev = {.ts_ns = to, .cpu = 1, .buffer = buffer, .kind = TY_EV_GAP};

	ev.u.gap.from_ns = from;
	ev.u.gap.count = 1;
	ty_mx_feed(ev);
}

/* 5 sleeps on CPU 0 while CPU 1 loses events; `calls` is where its system calls are. */
static void sleeper(uint16_t calls, bool two_calls, bool late, bool woken, bool returns)
{
	ty_mx_begin(OURS, NULL);
	ty_mx_event(1, 10, 7, TY_EV_OTHER);
	call_in(calls, 10, 5, true);
	ty_mx_switch(0, 15, 5, S, 0);
	if (!late)
		gap_in(0, 20, 40);
	if (two_calls) {
		call_in(calls, 42, 5, false);
		call_in(calls, 43, 5, true);
	}
	if (woken)
		ty_mx_waking(0, 50, 0, 5, 0);
	if (late)
		gap_in(0, 20, 55);
	if (returns) {
		ty_mx_switch(0, 60, 0, R, 5);
		call_in(calls, 70, 5, false);
	}
	ty_mx_event(1, 80, 7, TY_EV_OTHER);
	ty_mx_end();
}

/* What shows that a wait lasted through a gap: one system call, all the time. */
static void gap_in_a_wait(void **state)
{
	sleeper(1, false, false, true, true);
	tracks(5, "R@0:10-15< S15-50! w@0:50-60 R@0:60-80>");
	/* The gap may have swallowed events of the calls as well. */
	sleeper(0, false, false, true, true);
	tracks(5, "R@0:10-15< S15-20 ?20-50! w@0:50-60 R@0:60-80>");
	/* A gap that is reported after the wakeup. */
	sleeper(0, false, true, true, true);
	tracks(5, "R@0:10-15< S15-20 ?20-50! w@0:50-60 R@0:60-80>");
	sleeper(1, false, true, true, true);
	tracks(5, "R@0:10-15< S15-50! w@0:50-60 R@0:60-80>");
	/* It was woken at a time that is lost. */
	sleeper(1, false, false, false, true);
	tracks(5, "R@0:10-15< S15-20 ?20-60! R@0:60-80>");
	/* To the end of the recording. */
	sleeper(1, false, false, false, false);
	tracks(5, "R@0:10-15< S15-80>!");
	sleeper(0, false, false, false, false);
	tracks(5, "R@0:10-15< S15-20 ?20-80>!");
	/* Another call in between: it was awake. */
	sleeper(1, true, false, true, true);
	tracks(5, "R@0:10-15< S15-20 ?20-42! R@0:42-43 ?43-50 w@0:50-60 R@0:60-80>");
}

/* From 40 on nothing more of CPU 1 is in the file. */
static void loss_to_the_end(void **state)
{
	struct ty_event end = {.ts_ns = 40, .cpu = 1, .kind = TY_EV_GAP};
	const struct ty_gap_span *g;
	const struct ty_model *m;
	uint32_t n;

	end.u.gap = (typeof(end.u.gap)){40, UINT64_MAX, TY_GAP_UNFINISHED, true};
	ty_mx_begin(OURS, NULL);
	ty_mx_event(0, 10, 5, TY_EV_OTHER);
	ty_mx_event(1, 10, 7, TY_EV_OTHER);
	ty_mx_switch(0, 15, 5, S, 6);
	ty_mx_waking(1, 30, 7, 8, 1); /* ready on CPU 1 */
	ty_mx_event(1, 40, 7, TY_EV_OTHER);
	ty_mx_feed(end);
	ty_mx_switch(0, 50, 6, S, 9);
	ty_mx_enter(0, 55, 9, 0);
	call_in(1, 60, 9, false);
	end.cpu = 0;
	ty_mx_waking(0, 70, 9, 6, 1);
	ty_mx_event(0, 100, 9, TY_EV_OTHER);
	m = ty_mx_end();
	tracks(5, "R@0:10-15< S15-40 ?40-100>!");
	tracks(7, "R@1:10-40< ?40-100>!");
	tracks(8, "?10-30< w@1:30-40 ?40-100>!");
	tracks(6, "?10-15< R@0:15-50 ?50-100>!");
	tracks(9, "?10-50< R@0:50-100>");
	cpu_track(1, "R10-40<:7 ?40-100>!");
	g = ty_model_gaps(m, &n);
	assert_int_equal(n, 1);
	assert_int_equal(g->from_ns, 40);
	assert_int_equal(g->to_ns, 100);
	/* A call that begins later: its end may have been there. */
	ty_mx_begin(OURS, NULL);
	ty_mx_event(0, 10, 5, TY_EV_OTHER);
	end.cpu = 1;
	ty_mx_feed(end);
	ty_mx_enter(0, 55, 5, 0);
	ty_mx_event(0, 100, 5, TY_EV_OTHER);
	m = ty_mx_end();
	n = ty_model_syscall_at(m, ty_model_thread_find(m, 5, 60), 60);
	assert_int_equal(ty_model_syscall(m, n).flags, TY_SF_LOST);
	assert_int_equal(ty_model_syscall(m, n).end_ns, 100);
	/* The other buffer's events there prove instants only. */
	ty_mx_begin(OURS, NULL);
	ty_mx_event(0, 10, 5, TY_EV_OTHER);
	ty_mx_event(1, 10, 7, TY_EV_OTHER);
	ty_mx_switch(1, 20, 7, S, 0);
	ty_mx_event(1, 40, 0, TY_EV_OTHER);
	ty_mx_feed(end);
	ty_mx_feed((struct ty_event){
		.ts_ns = 60, .cpu = 1, .tid = 7, .buffer = 1, .kind = TY_EV_SYS_EXIT, .id = 4});
	ty_mx_event(0, 100, 5, TY_EV_OTHER);
	ty_mx_end();
	tracks(7, "R@1:10-20< S20-40 ?40-100>!");
	cpu_track(1, "R10-20<:7 .20-40 ?40-100>!");
}

/* The end of a call may be that of a later one when events were lost in between. */
static void gap_in_a_call(void **state)
{
	const struct ty_model *m;
	struct ty_syscall c;

	ty_mx_begin(OURS, NULL);
	ty_mx_enter(0, 10, 5, 0);
	ty_mx_gap(0, 20, 40, 1);
	ty_mx_exit(0, 50, 5, 0, 3);
	ty_mx_enter(0, 60, 5, 0);
	ty_mx_exit(0, 70, 5, 0, 3);
	ty_mx_switch(0, 80, 5, S, 0);
	m = ty_mx_end();
	c = ty_model_syscall(m, ty_model_syscall_at(m, ty_model_thread_find(m, 5, 15), 15));
	assert_int_equal(c.flags, TY_SF_LOST);
	assert_int_equal(c.ret, 0);
	assert_int_equal(c.cpu, 0);
	c = ty_model_syscall(m, ty_model_syscall_at(m, ty_model_thread_find(m, 5, 65), 65));
	assert_int_equal(c.flags, 0);
	assert_int_equal(c.ret, 3);
}

/* A thread that waited for the CPU with the gap may have run and slept in it; one that waited
 * elsewhere not. */
static void gap_and_runnable(void **state)
{
	ty_mx_begin(OURS, NULL);
	ty_mx_event(0, 10, 5, TY_EV_OTHER);
	ty_mx_event(1, 10, 7, TY_EV_OTHER);
	ty_mx_switch(0, 15, 5, RP, 6);
	ty_mx_switch(1, 16, 7, RP, 8);
	ty_mx_gap(0, 20, 40, 1);
	ty_mx_switch(0, 50, 6, S, 5);
	ty_mx_switch(1, 50, 8, S, 7);
	ty_mx_end();
	tracks(5, "R@0:10-15< w@0:15-20+ ?20-50! R@0:50-50>");
	tracks(7, "R@1:10-16< w@1:16-50+ R@1:50-50>");
}

/* The other buffer's events inside the gap prove an instant only. */
static void gap_and_other_buffer(void **state)
{
	struct ty_event sys = {
		.ts_ns = 30, .cpu = 0, .tid = 6, .buffer = 1, .kind = TY_EV_SYS_EXIT, .id = 4};

	ty_mx_begin(OURS, NULL);
	ty_mx_event(0, 10, 5, TY_EV_OTHER);
	ty_mx_switch(0, 15, 5, S, 0);
	ty_mx_waking(0, 18, 0, 6, 0);
	ty_mx_feed(sys);
	ty_mx_gap(0, 20, 40, 1);
	ty_mx_event(0, 40, 0, TY_EV_OTHER);
	ty_mx_switch(0, 50, 0, R, 6);
	ty_mx_end();
	tracks(6, "?10-18< w@0:18-20 ?20-50! R@0:50-50>");
	cpu_track(0, "R10-15<:5 .15-20 ?20-40! .40-50! R50-50>:6");
	/* Without the gap it is the missing switch from idle. */
	ty_mx_begin(OURS, NULL);
	ty_mx_event(0, 10, 5, TY_EV_OTHER);
	ty_mx_switch(0, 15, 5, S, 0);
	ty_mx_waking(0, 18, 0, 6, 0);
	ty_mx_feed(sys);
	ty_mx_switch(0, 40, 6, S, 0);
	ty_mx_end();
	tracks(6, "?10-18< R@0:18-30~ R@0:30-40 S40-40>");
}

/* The kernel counted more lost events than the gaps have. */
static void losses_without_a_place(void **state)
{
	struct ty_build_facts facts = {.self = "events=2\nlost=10\n"};
	struct ty_builder *b = ty_builder_new(&facts);
	struct ty_event ev = {.kind = TY_EV_GAP, .ts_ns = 50};
	struct ty_model *m;

	ev.u.gap.count = 4;
	assert_int_equal(ty_builder_feed(b, &ev, NULL), 0);
	assert_int_equal(ty_builder_finish(b, &m, NULL), 0);
	assert_int_equal(ty_model_summary(m)->lost, 10);
	assert_int_equal(ty_model_summary(m)->lost_unplaced, 6);
	ty_model_free(m);
	ty_builder_free(b);
}

int main(void)
{
#define T(f) cmocka_unit_test_teardown(f, drop)
	const struct CMUnitTest tests[] = {
		T(gap_on_a_cpu),	 T(gap_that_shows_later),   T(gap_in_a_wait),
		T(loss_to_the_end),	 T(gap_in_a_call),	    T(gap_and_runnable),
		T(gap_and_other_buffer), T(losses_without_a_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
