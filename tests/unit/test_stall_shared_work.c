/* SPDX-License-Identifier: MIT */
/* Work that is shared out, and what only looks like it: a log beside the request, a stranger. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture_stall_count.h"
#include "fixture_turns.h"

/* 10 has started a client, 11, a server, 12, and 13, which computes on a CPU of its own. The client
 * first writes to what its own call made (a file, which another process may follow, or another
 * socket), to two logs in turn so often, then sends a request. */
static unsigned asks_and_writes(int nr, bool thirteen_hears, bool followed, unsigned logs)
{
	begin("mode=pids\npid=10\n",
	      "taken 1 2\n" ROW("10", "10", "1", "job") ROW("14", "14", "1", "tail"));
	ty_mx_switch(0, t, 0, R, 10);
	call(t += MS, 10, NR_READ, 1, 0);
	ty_mx_fork(0, t += MS, 10, 11, 0);
	ty_mx_fork(0, t += 1000, 10, 12, 0);
	ty_mx_fork(0, t += 1000, 10, 13, 0);
	ty_mx_switch(1, t += 1000, 0, R, 14);
	ty_mx_switch(1, t += 1000, 14, S, 13);
	if (thirteen_hears) {
		give(t += 1000, 8, 0, 1);
		ty_mx_enter(1, t, 13, NR_READ);
		ty_mx_exit(1, t += 1000, 13, NR_READ, 1);
	}
	sleeps(10, NR_WAIT4, 0, 0, 12);
	sleeps(12, NR_READ, 6, 0, 11);
	call(t += MS, 11, nr, 3, 0);
	call(t += MS, 11, NR_SOCKET, 5, 0);
	if (followed)
		wakes(11, NR_WRITE, 3, 0, 14);
	else
		call(t += MS, 11, NR_WRITE, 5, 3);
	for (unsigned i = 0; i < 2 && logs; i++)
		call(t += MS, 11, NR_OPENAT, 7 + i, 0);
	for (unsigned i = 0; i < logs; i++)
		call(t += MS, 11, NR_WRITE, 5, 7 + i % 2);
	wakes(11, NR_WRITE, 5, 0, 12);
	sleeps(11, NR_READ, 5, 0, 12);
	ty_mx_exit(0, t += 1000, 12, NR_READ, 1);
	t += 600 * MS;
	if (thirteen_hears) {
		give(t += 1000, 8, 0, 1);
		ty_mx_enter(1, t, 13, NR_WRITE);
		ty_mx_exit(1, t += 1000, 13, NR_WRITE, 1);
	}
	wakes(12, NR_WRITE, 6, 0, 11);
	goes_on(12, S, 11, NR_READ, 1);
	ty_mx_switch(1, t, 13, R, 0);
	ty_mx_switch(0, t += 3 * MS, 11, R, 0);
	return stalls_of_thread(0, 11);
}

static void a_log_is_no_share(void **state)
{
	assert_int_equal(asks_and_writes(NR_OPENAT, false, false, 0), 1);
	assert_int_equal(asks_and_writes(NR_OPENAT, true, false, 0), 1);
	assert_int_equal(asks_and_writes(NR_OPENAT, true, true, 0), 1);
	/* A thread that received and sent nothing was given nothing. */
	assert_int_equal(asks_and_writes(NR_SOCKET, false, false, 0), 1);
	assert_int_equal(asks_and_writes(NR_SOCKET, true, false, 0), 0);
	assert_int_equal(asks_and_writes(NR_SOCKET, true, false, 20), 0);
}

/* A birth as other programs record it: its process is unknown. */
static void born(int parent, int child)
{
	struct ty_event ev = {.ts_ns = t += 1000, .tid = parent, .kind = TY_EV_FORK, .id = 6};

	ev.u.fork.parent_tid = parent;
	ev.u.fork.child_tid = child;
	ty_mx_feed(ev);
	ev.kind = TY_EV_WAKEUP_NEW;
	ev.id = 7;
	ev.ts_ns = t += 1;
	memset(&ev.u, 0, sizeof(ev.u));
	ev.u.wake.tid = child;
	ty_mx_feed(ev);
}

/* 11 waits for 12, its child; 13, which `maker` made, works meanwhile. Both made before. */
static unsigned waits_for_child(int maker)
{
	begin("mode=all\n", NULL);
	ty_mx_switch(0, t, 0, R, maker);
	if (maker != 11)
		ty_mx_switch(0, t += 1000, maker, R, 11);
	born(11, 12);
	ty_mx_switch(0, t += 1000, 11, R, maker);
	born(maker, 13);
	ty_mx_switch(0, t += 1000, maker, S, 11);
	ty_mx_switch(1, t += 1000, 0, R, 13);
	sleeps(11, NR_WAIT4, 0, 0, 12);
	ends(t += 400 * MS, 12);
	ty_mx_waking(0, t += 1000, 12, 11, 0);
	goes_on(12, TY_TASK_DEAD, 11, NR_WAIT4, 12);
	ty_mx_switch(1, t += MS, 13, R, 0);
	ty_mx_switch(0, t += 3 * MS, 11, R, 0);
	return stalls_of_thread(0, 11);
}

static void a_child_shares_whatever_is_known_of_it(void **state)
{
	assert_int_equal(waits_for_child(11), 0);
	assert_int_equal(waits_for_child(14), 1);
}

/* The command, 10, waits in epoll for what another one, its child or not, says, and computes. */
static unsigned waits_for_any(bool child)
{
	begin("mode=all\n",
	      "taken 1 2\n" ROW("10", "10", "1", "job") ROW("12", "12", "1", "other"));
	ty_mx_switch(0, t, 0, R, 10);
	call(t += MS, 10, NR_GETPID, 1, 0);
	if (child)
		ty_mx_fork(0, t += MS, 10, 11, 0);
	sleeps(10, NR_EPOLL_WAIT, 8, 0, child ? 11 : 12);
	t += 400 * MS;
	wakes(child ? 11 : 12, NR_WRITE, 4, 0, 10);
	goes_on(child ? 11 : 12, S, 10, NR_EPOLL_WAIT, 1);
	call(t += 1000, 10, NR_READ, 1, 5);
	ends(t += 50 * MS, 10);
	ty_mx_switch(0, t += 1000, 10, TY_TASK_DEAD, 0);
	return stalls_of_thread(10, 10);
}

static void strangers_give_work(void **state)
{
	assert_int_equal(waits_for_any(true), 1);
	assert_int_equal(waits_for_any(false), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_log_is_no_share),
		cmocka_unit_test(a_child_shares_whatever_is_known_of_it),
		cmocka_unit_test(strangers_give_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
