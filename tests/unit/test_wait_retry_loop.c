/* SPDX-License-Identifier: MIT */
/* An event loop that timers wake while another process keeps it waiting: the path leads there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "chain.h"
#include "fixture_stall_count.h"

enum how {
	RECORDED,   /* the loop's calls are */
	UNRECORDED, /* neither the loop's nor the backend's calls are */
	PAUSES,	    /* so, and a timer ended before it woke the backend, some time ago */
	ASKED,	    /* between two of its waits it wakes the backend */
	WORKS,	    /* or computes for 3 ms */
	READS,	    /* it waits for one descriptor, each time */
	OWN_THREAD, /* the first wait ends by a thread of its process, which a timer woke */
	OTHERS,	    /* by one of another process, asleep since before the backend was woken */
	OTHERS_NEW, /* or only since then */
};

static void sleeps_in(bool recorded, int tid, int nr, uint64_t fd, int next)
{
	if (recorded)
		sleeps(tid, nr, fd, 0, next);
	else
		ty_mx_switch(0, t += MS / 10, tid, S, next);
}

static void timer_ends(bool recorded, int tid, int nr, unsigned ms)
{
	timer_wakes(tid, ms);
	if (recorded)
		ty_mx_exit(0, t += 1000, tid, nr, 0);
}

/* 11 waits for 12, an event loop, which a timer wakes after 200 ms, and 13, which sleeps for 300 ms
 * in all, after 100 more. How many ms of the path of 11's wait are 13's? */
static unsigned backend_ms(enum how how)
{
	bool rec = how != UNRECORDED && how != PAUSES;
	const bool others = how == OTHERS || how == OTHERS_NEW;
	int nr = how == READS ? NR_READ : NR_EPOLL_WAIT;
	struct ty_path p = {0};
	struct ty_explain x;
	uint64_t from, ns = 0;
	bool inferred;

	begin(rec ? "mode=all\n" : "mode=pids\npid=11\n",
	      rec ? "taken 1 2\n" ROW("11", "11", "1", "client") ROW("12", "12", "1", "loop")
			      ROW("13", "13", "1", "backend") ROW("14", "12", "1", "loop")
				      ROW("15", "15", "1", "pinger")
		  : "taken 1 2\n" ROW("11", "11", "1", "client"));
	if (how == PAUSES) {
		ty_mx_switch(0, t, 0, R, 13);
		ty_mx_switch(0, t += 1000, 13, S, 12);
		ty_mx_switch(0, t += 1000, 12, S, 0);
		timer_wakes(12, 200);
		ty_mx_waking(0, t += 1000, 12, 13, 0);
		ty_mx_switch(0, t += 1000, 12, S, 13);
		ty_mx_waking(0, t += 1000, 13, 12, 0);
		ty_mx_switch(0, t += 1000, 13, R, 12);
		ty_mx_waking(0, t += 1000, 12, 11, 0);
		ty_mx_switch(0, t += 1000, 12, R, 11);
	} else {
		ty_mx_switch(0, t, 0, R, 11);
	}
	from = t + MS / 10 + 1000;
	sleeps(11, NR_READ, 3, 0, how == OTHERS ? 15 : 13);
	if (how == OTHERS)
		sleeps(15, NR_NANOSLEEP, 0, 0, 13);
	if (others) {
		sleeps(13, NR_READ, 6, 0, 12);
		wakes(12, NR_WRITE, 6, 0, 13);
		sleeps(12, nr, 4, 0, 13);
		ty_mx_exit(0, t += 1000, 13, NR_READ, 1);
		sleeps(13, NR_NANOSLEEP, 0, 0, how == OTHERS_NEW ? 15 : 0);
		if (how == OTHERS_NEW)
			sleeps(15, NR_NANOSLEEP, 0, 0, 0);
	} else {
		sleeps_in(rec, 13, NR_NANOSLEEP, 0, how == OWN_THREAD ? 14 : 12);
	}
	if (how == OWN_THREAD)
		sleeps_in(rec, 14, NR_FUTEX, 0x1400, 12);
	if (!others)
		sleeps_in(rec, 12, nr, 4, 0);
	if (how == OWN_THREAD || others) {
		const int by = others ? 15 : 14;

		timer_ends(rec, by, others ? NR_NANOSLEEP : NR_FUTEX, 200);
		wakes(by, NR_WRITE, 5, 0, 12);
		goes_on(by, S, 12, nr, 1);
	} else {
		timer_ends(rec, 12, nr, 200);
	}
	if (rec)
		call(t += 1000, 12, NR_WRITE, 1, 7); /* a log: no attempt of one wait */
	t += how == WORKS ? 3 * MS : 0;
	if (how == ASKED)
		wakes(12, NR_WRITE, 6, 0, 13);
	sleeps_in(rec, 12, nr, 4, how == ASKED ? 13 : 0);
	if (how == ASKED) {
		ty_mx_exit(0, t += 1000, 13, NR_NANOSLEEP, 0);
		sleeps(13, NR_NANOSLEEP, 0, 0, 0);
	}
	timer_ends(rec, 13, NR_NANOSLEEP, 100);
	ty_mx_waking(0, t += 1000, 13, 12, 0);
	ty_mx_switch(0, t += 1000, 13, S, 12);
	if (rec)
		ty_mx_exit(0, t += 1000, 12, nr, 1);
	ty_mx_waking(0, t += 1000, 12, 11, 0);
	ty_mx_switch(0, t += 1000, 12, S, 11);
	ty_mx_exit(0, t += 1000, 11, NR_READ, 1);
	ty_mx_switch(0, t += MS, 11, S, 0);
	x = explain(ty_mx_end(), 0);
	assert_int_equal(
		ty_path_find(&x, ty_model_thread_find(x.m, 11, t), from, t - MS - 1000, &p), 0);
	vec_each (s, &p.seg)
		ns += ty_model_thread(x.m, s->thread)->tid == 13 ? s->end_ns - s->start_ns : 0;
	inferred = p.inferred;
	ty_path_fini(&p);
	ty_mx_drop();
	assert_int_equal(inferred, ns > 200 * MS);
	return (unsigned)(ns / (100 * MS)) * 100;
}

static void what_timers_wake_waits_for_the_one_that_ends_it(void **state)
{
	assert_int_equal(backend_ms(RECORDED), 300);
	assert_int_equal(backend_ms(UNRECORDED), 300);
	assert_int_equal(backend_ms(OWN_THREAD), 300);
	assert_int_equal(backend_ms(OTHERS), 300);
}

/* Its own work, a request made only then, a wait for one descriptor: these come before. */
static void what_the_loop_did_itself_is_its_own(void **state)
{
	assert_int_equal(backend_ms(ASKED), 100);
	assert_int_equal(backend_ms(WORKS), 100);
	assert_int_equal(backend_ms(READS), 100);
	assert_int_equal(backend_ms(PAUSES), 100);
	assert_int_equal(backend_ms(OTHERS_NEW), 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_timers_wake_waits_for_the_one_that_ends_it),
		cmocka_unit_test(what_the_loop_did_itself_is_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
