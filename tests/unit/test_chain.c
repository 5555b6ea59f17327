/* SPDX-License-Identifier: MIT */
/* The path behind a wait: which threads and waits are on it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_given.h"
#include "fixture_lock.h"
#include "fixture_model.h"
#include "stalls.h"

/* A signal interrupts a wait, whose handler wakes the thread that ends the next attempt (Ruby's
 * timer thread): behind that thread's wait is what had interrupted the first attempt. Only a thread
 * that slept when it is said to have woken another one is in a cycle of waits. */
static void no_cycle_behind_an_interrupted_wait(void **state)
{
	enum { NR_WRITE = 1, NR_SIGRETURN = 15, US = 1000 };
	struct ty_path p = {0};
	struct ty_explain x;
	struct ty_root r;

	(void)state;
	givens = 0;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	give(2 * MS, 5, 0, 8);
	ty_mx_enter(0, 2 * MS, 11, NR_READ);
	ty_mx_switch(0, 3 * MS, 11, S, 12);
	give(4 * MS, 6, 0, 8);
	ty_mx_enter(0, 4 * MS, 12, NR_READ);
	ty_mx_switch(0, 5 * MS, 12, S, 13);
	ty_mx_waking(0, 100 * MS, 13, 11, 0);
	ty_mx_switch(0, 100 * MS + 1 * US, 13, S, 11);
	ty_mx_exit(0, 100 * MS + 2 * US, 11, NR_READ, -512);
	call(100 * MS + 4 * US, 11, NR_WRITE, 8, 6);
	ty_mx_waking(0, 100 * MS + 10 * US, 11, 12, 0);
	call(100 * MS + 14 * US, 11, NR_SIGRETURN, -4, 0);
	give(100 * MS + 20 * US, 5, 0, 8);
	ty_mx_enter(0, 100 * MS + 20 * US, 11, NR_READ);
	ty_mx_switch(0, 100 * MS + 21 * US, 11, S, 12);
	ty_mx_exit(0, 100 * MS + 22 * US, 12, NR_READ, 8);
	ty_mx_waking(0, 100 * MS + 30 * US, 12, 11, 0);
	ty_mx_switch(0, 101 * MS, 12, S, 11);
	ty_mx_exit(0, 102 * MS, 11, NR_READ, 8);
	ty_mx_switch(0, 110 * MS, 11, S, 0);
	x = explain(ty_mx_end(), 0);
	x.args = args_of;
	assert_int_equal(ty_path_find(&x, thread(x.m, 11), 3 * MS, 100 * MS + 30 * US, &p), 0);
	r = ty_path_root(&p);
	assert_int_equal(r.thread, thread(x.m, 13));
	assert_int_equal(p.seg.v[r.seg].what, TY_SEG_RUNS);
	assert_int_equal(r.what_ns[TY_SEG_RUNS], 95 * MS);
	vec_each (s, &p.seg)
		assert_int_not_equal(s->what, TY_SEG_LOOP);
	ty_path_fini(&p);
	givens = 0;
	ty_mx_drop();
}

/* 12 sends a signal to 11, which waits, and ends by it, or continues: the ms of 12 on the path. */
static uint64_t signalled_ms(int signal, bool goes_on)
{
	struct ty_event sig = {.kind = TY_EV_SIGNAL_GENERATE, .id = 33, .tid = 12},
			end = {.kind = TY_EV_EXIT, .id = 9, .tid = 11};
	struct ty_path p = {0};
	struct ty_explain x;
	uint64_t ns = 0;
	bool killed = false;

	givens = 0;
	ty_mx_begin("mode=pids\npid=11\n", "taken 1 2\n" ROW("11", "11", "1", "job"));
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	give(2 * MS, 5, 0, 8);
	ty_mx_enter(0, 2 * MS, 11, NR_READ);
	ty_mx_switch(0, 3 * MS, 11, S, 12);
	ty_mx_waking(0, 100 * MS, 12, 11, 0);
	sig.ts_ns = 100 * MS + 1000;
	sig.u.sig.sig = signal;
	sig.u.sig.tid = 11;
	ty_mx_feed(sig);
	ty_mx_switch(0, 101 * MS, 12, S, 11);
	ty_mx_exit(0, 101 * MS + 1000, 11, NR_READ, -512);
	if (goes_on)
		call(101 * MS + 2000, 11, NR_READ, 8, 5);
	end.ts_ns = 102 * MS;
	end.u.tex.tid = 11;
	ty_mx_feed(end);
	ty_mx_switch(0, 102 * MS + 1000, 11, TY_TASK_DEAD, 0);
	x = explain(ty_mx_end(), 0);
	assert_int_equal(ty_path_find(&x, thread(x.m, 11), 3 * MS, 100 * MS, &p), 0);
	vec_each (s, &p.seg) {
		ns += ty_model_thread(x.m, s->thread)->tid == 12 ? s->end_ns - s->start_ns : 0;
		killed |= s->what == TY_SEG_KILLED;
	}
	ty_path_fini(&p);
	givens = 0;
	ty_mx_drop();
	assert_int_equal(killed, !ns);
	return ns / MS;
}

/* The killer of a thread that waits (Ctrl-C, a timeout) is not what it waited for. */
static void a_killer_is_not_what_was_waited_for(void **state)
{
	(void)state;
	assert_int_equal(signalled_ms(2, false), 0);
	assert_int_equal(signalled_ms(9, false), 0);
	assert_int_equal(signalled_ms(2, true), 97);
	assert_int_equal(signalled_ms(17, false), 97);
}

/* 13 wakes 12 at 99 ms, which raises a softirq and sleeps; another thread runs that softirq, which
 * wakes 11 at 100 ms; a timer ends the sleep of 12 at 150 ms. */
static void what_ends_a_wakers_sleep_later_is_no_cause(void **state)
{
	struct ty_event
		raise = {.kind = TY_EV_SOFTIRQ_RAISE, .id = 31, .tid = 12},
		entry = {.kind = TY_EV_SOFTIRQ_ENTRY, .id = 32, .tid = 14, .flags = TY_EVF_SOFTIRQ},
		waking = {.kind = TY_EV_WAKING, .id = 2, .tid = 14, .flags = TY_EVF_SOFTIRQ},
		timer = {.kind = TY_EV_VECTOR_ENTRY, .id = 30, .flags = TY_EVF_HARDIRQ};
	struct ty_path p = {0};
	struct ty_explain x;
	uint64_t ns = 0;

	(void)state;
	givens = 0;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 12);
	ty_mx_switch(0, 2 * MS, 12, S, 11);
	ty_mx_enter(0, 2 * MS + 1000, 11, NR_READ);
	ty_mx_switch(0, 3 * MS, 11, S, 13);
	ty_mx_waking(0, 99 * MS, 13, 12, 0);
	ty_mx_switch(0, 99 * MS + 1000, 13, S, 12);
	raise.u.softirq.vec = entry.u.softirq.vec = 4;
	raise.ts_ns = 99 * MS + 2000;
	ty_mx_feed(raise);
	ty_mx_switch(0, 99 * MS + 3000, 12, S, 14);
	entry.ts_ns = 99 * MS + 4000;
	ty_mx_feed(entry);
	waking.ts_ns = 100 * MS;
	waking.u.wake.tid = 11;
	ty_mx_feed(waking);
	entry.kind = TY_EV_SOFTIRQ_EXIT;
	entry.ts_ns = 100 * MS + 1000;
	ty_mx_feed(entry);
	ty_mx_switch(0, 101 * MS, 14, S, 11);
	ty_mx_exit(0, 102 * MS, 11, NR_READ, 1);
	ty_mx_switch(0, 103 * MS, 11, S, 0);
	timer.ts_ns = 150 * MS;
	ty_mx_feed(timer);
	timer.kind = TY_EV_HRTIMER_EXPIRE;
	ty_mx_feed(timer);
	ty_mx_waking_irq(0, 150 * MS + 1000, 0, 12, 0);
	ty_mx_switch(0, 151 * MS, 0, R, 12);
	x = explain(ty_mx_end(), 0);
	assert_int_equal(ty_path_find(&x, thread(x.m, 11), 3 * MS, 100 * MS, &p), 0);
	vec_each (s, &p.seg) {
		assert_int_not_equal(s->what, TY_SEG_TIMER);
		ns += s->thread == thread(x.m, 13) ? s->end_ns - s->start_ns : 0;
	}
	assert_int_equal(ns, 96 * MS);
	assert_int_equal(p.seg.v[p.seg.n - 1].what, TY_SEG_IRQ);
	assert_int_equal(p.seg.v[p.seg.n - 1].end_ns, 100 * MS);
	ty_path_fini(&p);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_ends_a_wakers_sleep_later_is_no_cause),
		cmocka_unit_test(a_killer_is_not_what_was_waited_for),
		cmocka_unit_test(no_cycle_behind_an_interrupted_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
