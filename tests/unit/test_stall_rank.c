/* SPDX-License-Identifier: MIT */
/*
 * Which finding is reported, and which is first: of two that wait for each other the one that sent
 * the request; what is lost while the command's first thread sleeps by its own choice; what is
 * known before what is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "fixture_turns.h"

enum {
	NR_READ = 0,
	NR_WRITE = 1,
	NR_POLL = 7,
	NR_NANOSLEEP = 35,
	NR_GETPID = 39,
	NR_SOCKET = 41,
	NR_WAIT4 = 61,
	NR_FSYNC = 74,
	NR_FLOCK = 73,
	NR_UNLINK = 87,
	NR_FUTEX = 202,
	CLONE_THREAD = 0x10000,
	LIST = 0x1000, /* poll's descriptors, of which there is one */
	WORD = 0x2000
};

/* Of the model that was begun: the findings, without waits for a CPU, as "TID KIND" by rank. */
static const char *findings(int command)
{
	static char text[256];
	const struct ty_model *m = ty_mx_end();
	struct ty_stalls s = stalls_of(m, command, false);
	size_t n = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < s.n; i++)
		if (s.v[i].kind != TY_STALL_RUNQUEUE && n < sizeof(text))
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%d %s", n ? ", " : "",
					      ty_model_thread(m, s.v[i].thread)->tid,
					      ty_stall_kind_name(s.v[i].kind));
	ty_stalls_fini(&s);
	ty_mx_drop();
	return text;
}

/* The thread, which has CPU 0, ends. */
static void is_over(int tid)
{
	ends(t += 3 * MS, tid);
	ty_mx_switch(0, t += 1000, tid, TY_TASK_DEAD, 0);
}

/* The command, 10, reads the requests of its child, 11, which waits with a time-out for each
 * answer; the first request is lost. It woke the command; or came while that computed. The command
 * answers the second one; or never, and what 11 writes to is a socket or goes one way. */
enum requests { HEARD, UNHEARD, NO_ANSWER, ONE_WAY };

static const char *wait_for_each_other(enum requests how)
{
	begin("mode=pids\npid=10\ncommand_tid=10\n", "taken 1 2\n" ROW("10", "10", "1", "job"));
	ty_mx_switch(0, t, 0, R, 10);
	call(t += MS, 10, NR_GETPID, 1, 0);
	ty_mx_fork(0, t += MS, 10, 11, 0);
	if (how == UNHEARD)
		ty_mx_switch(0, t += MS, 10, RP, 11);
	else
		sleeps(10, NR_READ, 4, 0, 11);
	if (how == NO_ANSWER)
		call(t += MS, 11, NR_SOCKET, 3, 1);
	t += 5 * MS;
	if (how == UNHEARD)
		call(t, 11, NR_WRITE, 1, 3);
	else
		wakes(11, NR_WRITE, 3, 0, 10);
	sleeps(11, NR_POLL, LIST, 1, 10);
	if (how == UNHEARD)
		call(t += MS, 10, NR_READ, 1, 4);
	else
		ty_mx_exit(0, t += 1000, 10, NR_READ, 1);
	sleeps(10, NR_READ, 4, 0, 0);
	time_is_up(11, NR_POLL, 0, 300);
	wakes(11, NR_WRITE, 3, 0, 10);
	sleeps(11, NR_POLL, LIST, 1, 10);
	ty_mx_exit(0, t += 1000, 10, NR_READ, 1);
	if (how == HEARD || how == UNHEARD)
		wakes(10, NR_WRITE, 4, 0, 11);
	sleeps(10, NR_WAIT4, 11, 0, 0);
	if (how == HEARD || how == UNHEARD) {
		ty_mx_switch(0, t += 1000, 0, R, 11);
		ty_mx_exit(0, t += 1000, 11, NR_POLL, 1);
	} else {
		time_is_up(11, NR_POLL, 0, 5);
	}
	ends(t += MS, 11);
	ty_mx_waking(0, t += 1000, 11, 10, 0);
	goes_on(11, TY_TASK_DEAD, 10, NR_WAIT4, 11);
	is_over(10);
	return findings(10);
}

static void who_asked_is_held_up(void **state)
{
	assert_string_equal(wait_for_each_other(HEARD), "11 timer");
	assert_string_equal(wait_for_each_other(UNHEARD), "11 timer");
	assert_string_equal(wait_for_each_other(NO_ANSWER), "11 timer");
	assert_string_equal(wait_for_each_other(ONE_WAY), "10 fd");
}

/* The command waits for the end of its child, 11, which waits for a lock of 12 and then sleeps for
 * longer than that. */
static void who_was_held_up_comes_before_who_waited_for_its_end(void **state)
{
	begin("mode=pids\npid=10\ncommand_tid=10\n", "taken 1 2\n" ROW("10", "10", "1", "job"));
	ty_mx_switch(0, t, 0, R, 10);
	call(t += MS, 10, NR_GETPID, 1, 0);
	ty_mx_fork(0, t += MS, 10, 11, 0);
	ty_mx_fork(0, t += MS, 10, 12, 0);
	sleeps(10, NR_WAIT4, 11, 0, 12);
	sleeps(12, NR_NANOSLEEP, 0, 0, 11);
	sleeps(11, NR_FLOCK, 3, 2, 0);
	time_is_up(12, NR_NANOSLEEP, 0, 100);
	wakes(12, NR_FLOCK, 3, 8, 11);
	sleeps(12, NR_NANOSLEEP, 0, 0, 0);
	ty_mx_switch(0, t += 1000, 0, R, 11);
	ty_mx_exit(0, t += 1000, 11, NR_FLOCK, 0);
	sleeps(11, NR_NANOSLEEP, 0, 0, 0);
	time_is_up(11, NR_NANOSLEEP, 0, 300);
	ends(t += MS, 11);
	ty_mx_waking(0, t += 1000, 11, 10, 0);
	goes_on(11, TY_TASK_DEAD, 10, NR_WAIT4, 11);
	is_over(10);
	assert_string_equal(findings(10), "11 lock, 10 child");
	(void)state;
}

/* The thread, which has CPU 0, waits uninterruptibly in a call. */
static void blocks(int tid, int nr, int next)
{
	give(t += MS / 10, 5, 0, 0);
	ty_mx_enter(0, t, tid, nr);
	ty_mx_switch(0, t += 1000, tid, D, next);
}

static void is_done(int tid, int nr)
{
	ty_mx_waking_irq(0, t += 1000, 0, tid, 0);
	ty_mx_switch(0, t += 1000, 0, R, tid);
	ty_mx_exit(0, t += 1000, tid, nr, 0);
}

/* The command's second thread, 11, syncs for 200 ms, another one, 12, for longer. Meanwhile the
 * command's first thread sleeps, or waits with a time-out for an answer; after that it removes a
 * file, for 50 ms. */
static const char *sleeps_aside(int nr)
{
	begin("mode=all\ncommand_tid=10\n",
	      "taken 1 2\n" ROW("10", "10", "1", "job") ROW("12", "12", "1", "other"));
	ty_mx_switch(0, t, 0, R, 10);
	call(t += MS, 10, NR_GETPID, 1, 0);
	ty_mx_fork(0, t += MS, 10, 11, CLONE_THREAD);
	if (nr == NR_POLL)
		call(t += MS, 10, NR_WRITE, 1, 4);
	sleeps(10, nr, LIST, 1, 11);
	blocks(11, NR_FSYNC, 12);
	blocks(12, NR_FSYNC, 0);
	t += 200 * MS;
	is_done(11, NR_FSYNC);
	is_over(11);
	t += 30 * MS;
	is_done(12, NR_FSYNC);
	is_over(12);
	time_is_up(10, nr, 0, 50);
	blocks(10, NR_UNLINK, 0);
	t += 50 * MS;
	is_done(10, NR_UNLINK);
	is_over(10);
	return findings(10);
}

static void what_a_sleeping_command_loses_counts(void **state)
{
	assert_string_equal(sleeps_aside(NR_NANOSLEEP), "11 uninterruptible, 10 uninterruptible, "
							"12 uninterruptible");
	assert_string_equal(sleeps_aside(NR_POLL), "10 timer, 10 uninterruptible, "
						   "12 uninterruptible, 11 uninterruptible");
}

/* A call in a ring of its own, of which nothing is lost. */
static void calls_aside(uint64_t at, int kind, int tid)
{
	struct ty_event ev = {
		.ts_ns = at, .cpu = 1, .tid = tid, .kind = (uint8_t)kind, .buffer = 1};

	if (kind == TY_EV_SYS_ENTER)
		ev.u.enter.nr = NR_FUTEX;
	else
		ev.u.exit.nr = NR_FUTEX;
	ty_mx_feed(ev);
}

/* 11 waits for a page. Of 12, which is in one call for 400 ms, the states are lost meanwhile. */
static const char *is_lost(unsigned ms)
{
	begin("mode=all\n",
	      "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "12", "1", "other"));
	ty_mx_switch(0, t, 0, R, 11);
	ty_mx_switch(1, t += 1000, 0, R, 12);
	ty_mx_switch(0, t += MS, 11, D, 0);
	t += ms * MS;
	ty_mx_waking_irq(0, t += 1000, 0, 11, 0);
	ty_mx_switch(0, t += 1000, 0, R, 11);
	is_over(11);
	calls_aside(t += MS, TY_EV_SYS_ENTER, 12);
	ty_mx_gap(1, t + MS, t + 401 * MS, 5);
	calls_aside(t += 402 * MS, TY_EV_SYS_EXIT, 12);
	ends(t += MS, 12);
	ty_mx_switch(1, t += MS, 12, TY_TASK_DEAD, 0);
	return findings(0);
}

static void what_is_known_comes_first(void **state)
{
	assert_string_equal(is_lost(150), "11 uninterruptible, 12 lost");
	assert_string_equal(is_lost(50), "12 lost, 11 uninterruptible");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_asked_is_held_up),
		cmocka_unit_test(who_was_held_up_comes_before_who_waited_for_its_end),
		cmocka_unit_test(what_a_sleeping_command_loses_counts),
		cmocka_unit_test(what_is_known_comes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
