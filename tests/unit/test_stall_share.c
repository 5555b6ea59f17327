/* SPDX-License-Identifier: MIT */
/*
 * What looks like work that is shared or handed on, and is none: a log beside the request, a nap
 * beside it, two semaphores of one set, a first part of the answer; whose children work; which
 * stops are one; who lives for one wait; what a program is only later; what a pipeline is; and what
 * a sum of waits is; who is told to end; who greets; and strangers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture_turns.h"

enum {
	NR_READ = 0,
	NR_WRITE = 1,
	NR_NANOSLEEP = 35,
	NR_GETPID = 39,
	NR_SOCKET = 41,
	NR_SENDTO = 44,
	NR_RECVFROM = 45,
	NR_EXECVE = 59,
	NR_FSYNC = 74,
	NR_WAIT4 = 61,
	NR_KILL = 62,
	NR_SEMOP = 65,
	NR_FUTEX = 202,
	NR_EPOLL_WAIT = 232,
	NR_OPENAT = 257,
	WAIT = 0,
	WAKE = 1,
	SET = 5,
	CLONE_THREAD = 0x10000,
	TAKE = 0x100, /* operations, by their place in memory */
	GIVE = 0x200
};

/* How many of the stalls are the thread's, or anybody's (0); the CPU's share aside. */
static unsigned count_stalls(int command, bool whole_machine, int tid)
{
	const struct ty_model *m = ty_mx_end();
	struct ty_explain x = explain(m, command);
	struct ty_stalls s;
	unsigned n = 0;

	x.whole_machine = whole_machine;
	s = stalls_by(&x, false);

	for (uint32_t i = 0; i < s.n; i++)
		n += (!tid || ty_model_thread(m, s.v[i].thread)->tid == tid) &&
		     s.v[i].kind != TY_STALL_RUNQUEUE;
	ty_stalls_fini(&s);
	ty_mx_drop();
	return n;
}

static unsigned stalls_of_thread(int command, int tid)
{
	return count_stalls(command, false, tid);
}

/* 10 has made a client, 11, a server, 12, and 13, which computes on a CPU of its own. The client
 * writes to what its own call made first (a file, which somebody may follow, or another socket), to
 * two logs in turn so often, then asks. */
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
	/* Who heard and told nothing was given nothing. */
	assert_int_equal(asks_and_writes(NR_SOCKET, false, false, 0), 1);
	assert_int_equal(asks_and_writes(NR_SOCKET, true, false, 0), 0);
	assert_int_equal(asks_and_writes(NR_SOCKET, true, false, 20), 0);
}

/* A server, 12, waits for a request at one semaphore, its client, 11, for the answer at another
 * one: for the second request it waits long. */
static void two_semaphores_are_no_lock(void **state)
{
	begin("mode=pids\npid=11\ncommand_tid=11\n",
	      "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "12", "11", "server"));
	ty_mx_switch(0, t, 0, R, 12);
	for (unsigned i = 0; i < 2; i++) {
		sleeps(12, NR_SEMOP, SET, TAKE, 11);
		if (i)
			ty_mx_exit(0, t += 1000, 11, NR_SEMOP, 0);
		t += i ? 400 * MS : MS;
		wakes(11, NR_SEMOP, SET, GIVE, 12);
		sleeps(11, NR_SEMOP, SET, TAKE, 12);
		ty_mx_exit(0, t += 1000, 12, NR_SEMOP, 0);
		t += 3 * MS;
		wakes(12, NR_SEMOP, SET, GIVE, 11);
	}
	goes_on(12, S, 11, NR_SEMOP, 0);
	ends(t += 3 * MS, 11);
	ty_mx_switch(0, t += 1000, 11, TY_TASK_DEAD, 0);
	assert_int_equal(stalls_of_thread(11, 12), 0);
}

#define PARK(tid) (0x1000u * (tid))
#define NAP(tid)  (0x1000u * (tid) + 0x100)
#define TIMED_OUT (-110)

/* 11 naps, asks 12, of its process, and waits; 12 naps for long, and answers; 11 naps. Each naps on
 * a word of its own, or where it is parked: then 12 is given the place where 11 had waited. */
static unsigned naps(bool parked)
{
	uint64_t on[2] = {parked ? PARK(11) : NAP(11), parked ? PARK(12) : NAP(12)};

	begin("mode=all\n", "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "11", "1", "job"));
	ty_mx_switch(0, t, 0, R, 12);
	sleeps(12, NR_FUTEX, PARK(12), WAIT, 11);
	sleeps(11, NR_FUTEX, on[0], WAIT, 0);
	time_is_up(11, NR_FUTEX, TIMED_OUT, 20);
	wakes(11, NR_FUTEX, PARK(12), WAKE, 12);
	sleeps(11, NR_FUTEX, PARK(11), WAIT, 12);
	ty_mx_exit(0, t += 1000, 12, NR_FUTEX, 0);
	sleeps(12, NR_FUTEX, on[1], WAIT, 0);
	time_is_up(12, NR_FUTEX, TIMED_OUT, 300);
	wakes(12, NR_FUTEX, PARK(11), WAKE, 11);
	goes_on(12, S, 11, NR_FUTEX, 0);
	sleeps(11, NR_FUTEX, on[0], WAIT, 0);
	time_is_up(11, NR_FUTEX, TIMED_OUT, 20);
	ty_mx_switch(0, t += 3 * MS, 11, R, 0);
	return stalls_of_thread(0, 11);
}

static void a_nap_hands_nothing_over(void **state)
{
	assert_int_equal(naps(false), 1);
	assert_int_equal(naps(true), 0);
}

/* 11 asks 12, which gives a first part at once and the rest later (or was done, and waited for
 * requests in between); 11 takes the first part without waiting. */
static unsigned in_parts(bool back)
{
	begin("mode=all\n", "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "12", "1", "srv"));
	ty_mx_switch(0, t, 0, R, 12);
	sleeps(12, NR_READ, 7, 0, 11);
	wakes(11, NR_WRITE, 4, 0, 12);
	ty_mx_switch(0, t += 1000, 11, RP, 12);
	ty_mx_exit(0, t += 1000, 12, NR_READ, 1);
	call(t += MS, 12, NR_WRITE, 1, 7);
	sleeps(12, back ? NR_READ : NR_NANOSLEEP, 7, 0, 11);
	call(t += MS, 11, NR_READ, 1, 4);
	sleeps(11, NR_READ, 4, 0, 0);
	time_is_up(12, back ? NR_READ : NR_NANOSLEEP, 0, 500);
	wakes(12, NR_WRITE, 7, 0, 11);
	goes_on(12, S, 11, NR_READ, 1);
	ty_mx_switch(0, t += 3 * MS, 11, R, 0);
	return stalls_of_thread(0, 11);
}

static void a_first_part_is_no_answer(void **state)
{
	assert_int_equal(in_parts(false), 1);
	assert_int_equal(in_parts(true), 0);
}

/* A birth as other programs record it: nothing tells of which process. */
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

/*
 * 11 asks 12, both by way of a thread of the kernel, 20, which a timer wakes before 12's answer
 * does. Or another one, 13, is in such a call then, too; or it alone; or 12 answers when 20 runs.
 */
enum late { ANSWER, TWO_GIVE, STRANGER, RUNS };

static struct ty_stall served_late(enum late how)
{
	bool other = how == TWO_GIVE || how == STRANGER, own = how == ANSWER || how == TWO_GIVE;
	const struct ty_model *m;
	struct ty_stalls s;
	struct ty_stall first;

	begin("mode=pids\npid=10\n",
	      "taken 1 2\n" ROW("10", "10", "1", "job") ROW("20", "20", "2", "kworker"));
	ty_mx_switch(0, t, 0, R, 10);
	call(t += MS, 10, NR_READ, 1, 0);
	ty_mx_fork(0, t += MS, 10, 11, 0);
	ty_mx_fork(0, t += 1000, 10, 12, 0);
	ty_mx_fork(0, t += 1000, 10, 13, 0);
	ty_mx_switch(1, t += 1000, 0, R, 13);
	sleeps(10, NR_WAIT4, 0, 0, 12);
	sleeps(12, NR_READ, 6, 0, 11);
	wakes(11, NR_WRITE, 5, 0, 20);
	sleeps(11, NR_READ, 5, 0, 20);
	ty_mx_waking(0, t += 1000, 20, 12, 0);
	goes_on(20, S, 12, NR_READ, 1);
	sleeps(12, NR_NANOSLEEP, 0, 0, 0);
	time_is_up(12, NR_NANOSLEEP, 0, 300);
	if (other) {
		give(t += 1000, 7, 0, 1);
		ty_mx_enter(1, t, 13, NR_WRITE);
	}
	if (own) {
		give(t += 1000, 6, 0, 1);
		ty_mx_enter(0, t, 12, NR_WRITE);
	}
	ty_mx_feed((struct ty_event){.kind = TY_EV_VECTOR_ENTRY,
				     .id = 30,
				     .ts_ns = t += 1000,
				     .tid = 12,
				     .flags = TY_EVF_HARDIRQ});
	ty_mx_feed((struct ty_event){
		.kind = TY_EV_HRTIMER_EXPIRE, .ts_ns = t, .tid = 12, .flags = TY_EVF_HARDIRQ});
	ty_mx_waking_irq(0, t += 1000, 12, 20, 0);
	if (own)
		ty_mx_exit(0, t += 1000, 12, NR_WRITE, 1);
	ty_mx_switch(0, t += 1000, 12, R, 20);
	if (how == RUNS) {
		ty_mx_switch(1, t += 1000, 13, S, 12);
		give(t += 1000, 6, 0, 1);
		ty_mx_enter(1, t, 12, NR_WRITE);
		ty_mx_exit(1, t += 1000, 12, NR_WRITE, 1);
	}
	ty_mx_waking(0, t += 1000, 20, 11, 0);
	if (other)
		ty_mx_exit(1, t, 13, NR_WRITE, 1);
	goes_on(20, S, 11, NR_READ, 1);
	ty_mx_switch(0, t += 3 * MS, 11, R, 0);
	m = ty_mx_end();
	s = stalls_of(m, 0, false);
	assert_int_equal(s.n, 1);
	first = s.v[0];
	assert_int_equal(ty_model_thread(m, first.thread)->tid, 11);
	first.culprit = (uint32_t)ty_model_thread(m, first.culprit)->tid;
	ty_stalls_fini(&s);
	ty_mx_drop();
	return first;
}

static void who_a_timer_woke_serves_the_one_that_gave(void **state)
{
	struct ty_stall s = served_late(ANSWER);

	assert_int_equal(s.culprit, 12);
	assert_false(s.proven);
	assert_non_null(strstr(s.sentence, "slept (inferred: the thread it served) "));
	for (uint32_t i = 0; i < s.links; i++)
		assert_int_equal(s.link[i].waker.inferred, i + 2 == s.links);
	assert_int_equal(served_late(TWO_GIVE).culprit, 20);
	assert_int_equal(served_late(STRANGER).culprit, 20);
	assert_int_equal(served_late(RUNS).culprit, 20);
}

static void becomes_a_program(int tid)
{
	ty_mx_enter(0, t += 1000, tid, NR_EXECVE);
	ty_mx_exit(0, t += 1000, tid, NR_EXECVE, 0);
}

enum peer { COMPUTES, PROGRAM, MAKER, COMES_BACK };

/* The command, 10, makes 11, which reads what 12, its other child, or 10 itself computes first; and
 * waits for the end of both, 12's first. Or 11 comes back for more. */
static unsigned lives_for_one_wait(enum peer how)
{
	int by = how == MAKER ? 10 : 12;

	begin("mode=pids\npid=10\ncommand_tid=10\n", "taken 1 2\n" ROW("10", "10", "1", "job"));
	ty_mx_switch(0, t, 0, R, 10);
	call(t += MS, 10, NR_READ, 1, 0);
	ty_mx_fork(0, t += MS, 10, 11, 0);
	ty_mx_fork(0, t += 1000, 10, 12, 0);
	ty_mx_switch(0, t += 1000, 10, RP, 11);
	sleeps(11, NR_READ, 3, 0, 10);
	if (how != MAKER)
		sleeps(10, NR_WAIT4, 12, 0, 12);
	if (how == PROGRAM)
		becomes_a_program(12);
	t += 400 * MS;
	wakes(by, NR_WRITE, 4, 0, 11);
	if (how == MAKER)
		sleeps(10, NR_WAIT4, 12, 0, 12);
	ends(t += 1000, 12);
	ty_mx_waking(0, t += 1000, 12, 10, 0);
	goes_on(12, TY_TASK_DEAD, 10, NR_WAIT4, 12);
	sleeps(10, NR_WAIT4, 11, 0, 11);
	ty_mx_exit(0, t += 1000, 11, NR_READ, 1);
	if (how == COMES_BACK) {
		sleeps(11, NR_READ, 3, 0, 0);
		time_is_up(11, NR_READ, 0, 5);
	}
	ends(t += 1000, 11);
	ty_mx_waking(0, t += 1000, 11, 10, 0);
	goes_on(11, TY_TASK_DEAD, 10, NR_WAIT4, 11);
	ends(t += 1000, 10);
	ty_mx_switch(0, t += 1000, 10, TY_TASK_DEAD, 0);
	return stalls_of_thread(10, 11);
}

static void who_lives_for_one_wait_had_work(void **state)
{
	assert_int_equal(lives_for_one_wait(COMPUTES), 1);
	assert_int_equal(lives_for_one_wait(PROGRAM), 0);
	assert_int_equal(lives_for_one_wait(MAKER), 0);
	assert_int_equal(lives_for_one_wait(COMES_BACK), 0);
}

/* The command, 10, reads what its child 11 has computed; which becomes another program then, or
 * before. */
static unsigned reads_of_a_child(bool before)
{
	begin("mode=pids\npid=10\ncommand_tid=10\n", "taken 1 2\n" ROW("10", "10", "1", "job"));
	ty_mx_switch(0, t, 0, R, 10);
	call(t += MS, 10, NR_READ, 1, 0);
	ty_mx_fork(0, t += MS, 10, 11, 0);
	sleeps(10, NR_READ, 3, 0, 11);
	if (before)
		becomes_a_program(11);
	t += 400 * MS;
	wakes(11, NR_WRITE, 4, 0, 10);
	if (!before)
		becomes_a_program(11);
	goes_on(11, R, 10, NR_READ, 1);
	ends(t += 3 * MS, 10);
	ty_mx_switch(0, t += 1000, 10, TY_TASK_DEAD, 0);
	return stalls_of_thread(10, 10);
}

static void what_it_becomes_later_says_nothing(void **state)
{
	assert_int_equal(reads_of_a_child(false), 1);
	assert_int_equal(reads_of_a_child(true), 0);
}

/* 11 waits for room to write; 12 takes something only after it has computed. Both are children of
 * 10; programs, as in a shell's pipeline, or not quite. */
enum pipeline { NO_PROGRAMS, SHELL, TO_ANOTHER, FROM_ANOTHER, BY_SOCKET, AWAITED };

static unsigned waits_for_room(enum pipeline how)
{
	int out = how == TO_ANOTHER ? 4 : 1, in = how == FROM_ANOTHER ? 3 : 0;

	begin("mode=pids\npid=10\n", "taken 1 2\n" ROW("10", "10", "1", "sh"));
	ty_mx_switch(0, t, 0, R, 10);
	call(t += MS, 10, NR_READ, 1, 0);
	ty_mx_fork(0, t += MS, 10, 11, 0);
	ty_mx_fork(0, t += 1000, 10, 12, 0);
	sleeps(10, NR_WAIT4, 11, 0, 11);
	if (how == BY_SOCKET)
		call(t += 1000, 11, NR_SOCKET, 1, 1);
	if (how != NO_PROGRAMS)
		becomes_a_program(11);
	sleeps(11, NR_WRITE, out, 0, 12);
	if (how != NO_PROGRAMS)
		becomes_a_program(12);
	t += 400 * MS;
	wakes(12, NR_READ, in, 0, 11);
	goes_on(12, S, 11, NR_WRITE, 1);
	if (how == AWAITED) {
		ends(t += 3 * MS, 11);
		ty_mx_waking(0, t += 1000, 11, 10, 0);
		goes_on(11, TY_TASK_DEAD, 10, NR_WAIT4, 11);
		ends(t += MS, 10);
	}
	ty_mx_switch(0, t += MS, how == AWAITED ? 10 : 11, how == AWAITED ? TY_TASK_DEAD : R, 0);
	return stalls_of_thread(how == AWAITED ? 10 : 0, 11);
}

static void a_pipeline_that_computes_is_no_stall(void **state)
{
	assert_int_equal(waits_for_room(NO_PROGRAMS), 1);
	assert_int_equal(waits_for_room(SHELL), 0);
	assert_int_equal(waits_for_room(TO_ANOTHER), 1);
	assert_int_equal(waits_for_room(FROM_ANOTHER), 1);
	assert_int_equal(waits_for_room(BY_SOCKET), 1);
	assert_int_equal(waits_for_room(AWAITED), 1);
}

/* 11 asks 12 through one pipe and hears it through another one. 12 comes to hear the first request
 * only when that is there, so that it is the first of both to wake the other. The second one takes
 * long. Or 12 had something to say first. */
static unsigned first_request_unheard(bool greeted)
{
	begin("mode=all\n", "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "12", "1", "srv"));
	ty_mx_switch(0, t, 0, R, 11);
	if (greeted)
		call(t += MS, 11, NR_READ, 1, 5);
	call(t += MS, 11, NR_WRITE, 1, 4);
	sleeps(11, NR_READ, 5, 0, 12);
	call(t += MS, 12, NR_READ, 1, 3);
	wakes(12, NR_WRITE, 6, 0, 11);
	sleeps(12, NR_READ, 3, 0, 11);
	ty_mx_exit(0, t += 1000, 11, NR_READ, 1);
	wakes(11, NR_WRITE, 4, 0, 12);
	sleeps(11, NR_READ, 5, 0, 12);
	ty_mx_exit(0, t += 1000, 12, NR_READ, 1);
	t += 400 * MS;
	wakes(12, NR_WRITE, 6, 0, 11);
	goes_on(12, S, 11, NR_READ, 1);
	ty_mx_switch(0, t += 3 * MS, 11, R, 0);
	return stalls_of_thread(0, 11);
}

static void a_request_that_was_not_heard_is_one(void **state)
{
	assert_int_equal(first_request_unheard(false), 1);
	assert_int_equal(first_request_unheard(true), 0);
}

/* 11 syncs a file in eight short waits. A device ends them; or another thread, which computes: all,
 * or the longest only, which speaks for the sum no more. */
static unsigned syncs(bool all, bool longest)
{
	begin("mode=all\n",
	      "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "12", "1", "other"));
	ty_mx_switch(0, t, 0, R, 11);
	for (unsigned i = 0; i < 8; i++) {
		bool thread = all || (longest && i == 5);

		ty_mx_enter(0, t += MS, 11, NR_FSYNC);
		ty_mx_switch(0, t += 1000, 11, D, thread ? 12 : 0);
		t += (i == 5 ? 14 : 8) * MS;
		if (thread) {
			ty_mx_waking(0, t, 12, 11, 0);
		} else {
			ty_mx_feed((struct ty_event){.kind = TY_EV_IRQ_ENTRY,
						     .id = 31,
						     .ts_ns = t,
						     .flags = TY_EVF_HARDIRQ});
			ty_mx_waking_irq(0, t += 1000, 0, 11, 0);
			ty_mx_feed((struct ty_event){.kind = TY_EV_IRQ_EXIT,
						     .id = 32,
						     .ts_ns = t += 1000,
						     .flags = TY_EVF_HARDIRQ});
		}
		ty_mx_switch(0, t += 1000, thread ? 12 : 0, thread ? S : R, 11);
		ty_mx_exit(0, t += 1000, 11, NR_FSYNC, 0);
	}
	ty_mx_switch(0, t += MS, 11, R, 0);
	return stalls_of_thread(0, 11);
}

static void one_wait_does_not_speak_for_all(void **state)
{
	assert_int_equal(syncs(false, false), 1);
	assert_int_equal(syncs(false, true), 1);
	assert_int_equal(syncs(true, true), 0);
}

/* Of the whole machine: 10 waits for what its child has to say, and comes to its end, or not. */
static unsigned ends_meanwhile(bool end)
{
	begin("mode=all\n", "taken 1 2\n" ROW("10", "10", "1", "job"));
	ty_mx_switch(0, t, 0, R, 10);
	call(t += MS, 10, NR_READ, 1, 0);
	ty_mx_fork(0, t += MS, 10, 11, 0);
	sleeps(10, NR_READ, 3, 0, 11);
	t += 400 * MS;
	wakes(11, NR_WRITE, 4, 0, 10);
	goes_on(11, S, 10, NR_READ, 1);
	t += 3 * MS;
	if (end)
		ends(t, 10);
	ty_mx_switch(0, t += 1000, 10, end ? TY_TASK_DEAD : S, 0);
	return count_stalls(0, true, 10);
}

/* Of the whole machine: a shell, 9, starts jobs one after the other, each of which waits for what
 * its child has to say and ends. The shell lives on, or ends when it has started the first. */
static unsigned start_jobs(unsigned jobs, bool shell_ends)
{
	begin("mode=all\n", "taken 1 2\n" ROW("9", "9", "1", "sh"));
	ty_mx_switch(0, t, 0, R, 9);
	for (int tid = 10; jobs; jobs--, tid += 2) {
		ty_mx_fork(0, t += MS, 9, tid, 0);
		if (shell_ends)
			ends(t += 1000, 9);
		ty_mx_switch(0, t += 1000, 9, shell_ends ? TY_TASK_DEAD : R, tid);
		call(t += MS, tid, NR_READ, 1, 0);
		ty_mx_fork(0, t += MS, tid, tid + 1, 0);
		sleeps(tid, NR_READ, 3, 0, tid + 1);
		t += 400 * MS;
		wakes(tid + 1, NR_WRITE, 4, 0, tid);
		goes_on(tid + 1, R, tid, NR_READ, 1);
		ends(t += 3 * MS, tid);
		ty_mx_switch(0, t += 1000, tid, TY_TASK_DEAD, shell_ends ? 0 : 9);
	}
	return count_stalls(0, true, 0);
}

static void what_ends_is_a_job(void **state)
{
	assert_int_equal(ends_meanwhile(true), 1);
	assert_int_equal(ends_meanwhile(false), 0);
	assert_int_equal(start_jobs(1, false), 1);
	assert_int_equal(start_jobs(40, false), 40);
	assert_int_equal(start_jobs(1, true), 1);
}

/* 11, that was attached to, waits in epoll, if so with a request in hand, until 12, of whom no
 * calls are recorded, wakes it, by a signal or otherwise; then it sends something and hears more
 * there, as who answers, or as who asks. */
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

/* The begin of the command's execve is lost: the exec itself tells when the recorder let it go. */
static void a_lost_execve_costs_no_path(void **state)
{
	struct ty_event ev = {.kind = TY_EV_EXEC, .id = 34, .tid = 10};
	const struct ty_model *m;

	begin("mode=pids\npid=10\ncommand_tid=10\n", "taken 1 2\n" ROW("10", "10", "1", "job"));
	ty_mx_switch(0, t, 0, R, 10);
	ev.ts_ns = t += MS;
	ty_mx_feed(ev);
	call(t + 50 * MS, 10, NR_READ, 1, 0);
	ty_mx_switch(0, t + 60 * MS, 10, S, 0);
	m = ty_mx_end();
	assert_int_equal(ty_model_thread(m, ty_model_thread_find(m, 10, t))->released_ns, t);
	ty_mx_drop();
}

/* A thread hands something to another one of its process, 10, by a descriptor, and waits by futex
 * until that has computed; then it ends, at once or after one more wait. Or 10 does so, which the
 * thread serves. */
static unsigned waits_by_futex_then(bool leader, bool more)
{
	int waiter = leader ? 10 : 11, peer = leader ? 11 : 10;

	begin("mode=pids\npid=10\n", "taken 1 2\n" ROW("10", "10", "1", "job"));
	ty_mx_switch(0, t, 0, R, 10);
	call(t += MS, 10, NR_GETPID, 1, 0);
	ty_mx_fork(0, t += MS, 10, 11, CLONE_THREAD);
	if (leader)
		ty_mx_switch(0, t += 1000, 10, RP, 11);
	sleeps(peer, NR_READ, 3, 0, waiter);
	wakes(waiter, NR_WRITE, 4, 0, peer);
	sleeps(waiter, NR_FUTEX, 0x1000, WAIT, peer);
	ty_mx_exit(0, t += 1000, peer, NR_READ, 1);
	t += 400 * MS;
	wakes(peer, NR_FUTEX, 0x1000, WAKE, waiter);
	goes_on(peer, S, waiter, NR_FUTEX, 0);
	if (more) {
		sleeps(waiter, NR_READ, 5, 0, 0);
		time_is_up(waiter, NR_READ, 0, 5);
	}
	ends(t += 1000, waiter);
	ty_mx_switch(0, t += 1000, waiter, TY_TASK_DEAD, 0);
	return stalls_of_thread(0, waiter);
}

static void only_a_thread_that_ends_is_told_to(void **state)
{
	assert_int_equal(waits_by_futex_then(false, false), 0);
	assert_int_equal(waits_by_futex_then(false, true), 1);
	assert_int_equal(waits_by_futex_then(true, false), 1);
}

/* 10 has started 11, which says something, then reads from fd until 10 has computed: a program that
 * greets and serves, or not. */
static unsigned speaks_first(bool program, int fd)
{
	begin("mode=pids\npid=10\n", "taken 1 2\n" ROW("10", "10", "1", "driver"));
	ty_mx_switch(0, t, 0, R, 10);
	call(t += MS, 10, NR_GETPID, 1, 0);
	ty_mx_fork(0, t += MS, 10, 11, 0);
	sleeps(10, NR_READ, 5, 0, 11);
	if (program)
		becomes_a_program(11);
	wakes(11, NR_WRITE, 1, 0, 10);
	sleeps(11, NR_READ, fd, 0, 10);
	ty_mx_exit(0, t += 1000, 10, NR_READ, 1);
	t += 400 * MS;
	wakes(10, NR_WRITE, 6, 0, 11);
	goes_on(10, S, 11, NR_READ, 1);
	ty_mx_switch(0, t += 3 * MS, 11, R, 0);
	return stalls_of_thread(0, 11);
}

static void a_program_that_greets_asks_nothing(void **state)
{
	assert_int_equal(speaks_first(true, 0), 0);
	assert_int_equal(speaks_first(false, 0), 1);
	assert_int_equal(speaks_first(true, 6), 1);
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
		cmocka_unit_test(two_semaphores_are_no_lock),
		cmocka_unit_test(a_nap_hands_nothing_over),
		cmocka_unit_test(a_first_part_is_no_answer),
		cmocka_unit_test(a_child_shares_whatever_is_known_of_it),
		cmocka_unit_test(what_one_signal_ends_is_one_stop),
		cmocka_unit_test(who_a_timer_woke_serves_the_one_that_gave),
		cmocka_unit_test(who_lives_for_one_wait_had_work),
		cmocka_unit_test(what_it_becomes_later_says_nothing),
		cmocka_unit_test(a_pipeline_that_computes_is_no_stall),
		cmocka_unit_test(a_request_that_was_not_heard_is_one),
		cmocka_unit_test(one_wait_does_not_speak_for_all),
		cmocka_unit_test(what_ends_is_a_job),
		cmocka_unit_test(an_idle_program_owes_nothing_to_a_signal),
		cmocka_unit_test(a_lost_execve_costs_no_path),
		cmocka_unit_test(only_a_thread_that_ends_is_told_to),
		cmocka_unit_test(a_program_that_greets_asks_nothing),
		cmocka_unit_test(strangers_give_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
