/* SPDX-License-Identifier: MIT */
/* Waits that a signal ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture_stall_count.h"
#include "fixture_turns.h"

/* 14 stops the process of 11 and 12, and lets it go on, by one call or two; 12 gets to its stop
 * only late. */
static unsigned stops(bool two)
{
	const struct ty_model *m;
	struct ty_stalls s;
	unsigned n = 0;

	begin("mode=all\n", "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "11", "1", "job")
				    ROW("14", "14", "1", "sh"));
	ty_mx_switch(0, t, 0, R, 11);
	ty_mx_switch(1, t, 0, R, 14);
	ty_mx_switch(0, t += MS, 11, TY_TASK_STOPPED, 12);
	ty_mx_switch(0, t += 70 * MS, 12, TY_TASK_STOPPED, 0);
	t += 40 * MS;
	for (unsigned i = 0; i < 2; i++) {
		if (!i || two)
			ty_mx_enter(1, t += 1000, 14, NR_KILL);
		ty_mx_waking(1, t += 1000, 14, i ? 12 : 11, 0);
		if (i || two)
			ty_mx_exit(1, t += 1000, 14, NR_KILL, 0);
	}
	ty_mx_switch(0, t += 1000, 0, R, 11);
	ty_mx_switch(0, t += MS, 11, S, 12);
	ty_mx_switch(0, t += MS, 12, S, 0);
	m = ty_mx_end();
	s = stalls_of(m, 0, false);
	for (uint32_t i = 0; i < s.n; i++) {
		n += s.v[i].kind == TY_STALL_STOPPED;
		if (s.v[i].kind == TY_STALL_STOPPED)
			assert_int_equal(s.v[i].threads, two ? 1 : 2);
	}
	ty_stalls_fini(&s);
	ty_mx_drop();
	return n;
}

static void what_one_signal_ends_is_one_stop(void **state)
{
	assert_int_equal(stops(false), 1);
	assert_int_equal(stops(true), 2);
}

/* 11, an attached process, waits in epoll, optionally with an open request, until 12, whose calls
 * are not recorded, wakes it, by a signal or otherwise; then it sends something and receives more
 * there, as a server or as a client. */
static unsigned sends_then(bool signal, bool heard)
{
	struct ty_event ev = {.kind = TY_EV_SIGNAL_GENERATE, .id = 33, .tid = 12};

	begin("mode=pids\npid=11\n",
	      "taken 1 2\n" ROW("11", "11", "1", "srv") ROW("12", "12", "1", "other"));
	ty_mx_switch(0, t, 0, R, 11);
	call(t += MS, 11, heard ? NR_RECVFROM : NR_READ, 5, 7);
	sleeps(11, NR_EPOLL_WAIT, 8, 0, 12);
	ty_mx_waking(0, t += 400 * MS, 12, 11, 0);
	ev.ts_ns = t += 1000;
	ev.u.sig.sig = 23;
	ev.u.sig.tid = 11;
	if (signal)
		ty_mx_feed(ev);
	goes_on(12, S, 11, NR_EPOLL_WAIT, 1);
	call(t += MS, 11, NR_SENDTO, 5, 7);
	call(t += MS, 11, NR_RECVFROM, 5, 7);
	ty_mx_switch(0, t += MS, 11, R, 0);
	return stalls_of_thread(0, 11);
}

static void an_idle_program_owes_nothing_to_a_signal(void **state)
{
	assert_int_equal(sends_then(true, true), 1);
	assert_int_equal(sends_then(true, false), 0);
	assert_int_equal(sends_then(false, true), 0);
}

/* A command waits in epoll until 12 sends it the signal, works, and exits. */
static unsigned works_after(int sig)
{
	struct ty_event ev = {.kind = TY_EV_SIGNAL_GENERATE, .id = 33, .tid = 12};

	begin("mode=pids\npid=11\n",
	      "taken 1 2\n" ROW("11", "11", "1", "srv") ROW("12", "11", "1", "other"));
	ty_mx_switch(0, t, 0, R, 11);
	sleeps(11, NR_EPOLL_WAIT, 8, 0, 12);
	t += 400 * MS;
	wakes(12, NR_KILL, 11, 0, 11);
	ev.ts_ns = t;
	ev.u.sig.sig = sig;
	ev.u.sig.tid = 11;
	ty_mx_feed(ev);
	goes_on(12, S, 11, NR_EPOLL_WAIT, -4);
	ends(t += 10 * MS, 11);
	ty_mx_switch(0, t += 1000, 11, TY_TASK_DEAD, 0);
	return stalls_of_thread(11, 11);
}

static void who_is_told_to_end_waited_for_nothing(void **state)
{
	assert_int_equal(works_after(10), 1);
	for (int sig = 1; sig < 4; sig++)
		assert_int_equal(works_after(sig), 0);
	assert_int_equal(works_after(15), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_one_signal_ends_is_one_stop),
		cmocka_unit_test(an_idle_program_owes_nothing_to_a_signal),
		cmocka_unit_test(who_is_told_to_end_waited_for_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
