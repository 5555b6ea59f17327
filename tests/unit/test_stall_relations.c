/* SPDX-License-Identifier: MIT */
/* Stall or not, by what threads had sent, received and waited for: semaphores, sleeps, first parts,
 * greetings and programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_stall_count.h"
#include "fixture_turns.h"
#include "wait_peer.h"

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

/* 11 sleeps, sends a request to 12, of its process, and waits; 12 sleeps for long, and replies; 11
 * sleeps. Each sleeps on a word of its own, or where it is parked: then 12 is given the place where
 * 11 had waited. */
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

enum { NR_POLL = 7 };

/* The command, 11, had sent a request, and polls, or sleeps. Its timeout expires, and as it runs
 * again the reply is there, or it has to wait once more. `ret` of its call. */
static unsigned reply_at_timeout(bool there, int nr, int64_t ret, bool *known, char *text,
				 size_t size)
{
	struct ty_request q = {.fd = 5};
	struct ty_requests r = {.client_waits = &q, .client_waits_n = 1};
	struct ty_stalls_opts o = {.requests = &r};
	const struct ty_model *m;
	struct ty_explain x;
	struct ty_window w;
	struct ty_syscall wait;
	struct ty_stalls s;
	uint32_t first;
	unsigned n;

	begin("mode=pids\npid=11\ncommand_tid=11\n", "taken 1 2\n" ROW("11", "11", "1", "job"));
	ty_mx_switch(0, t, 0, R, 11);
	q.start_ns = t + MS / 20;
	sleeps(11, nr, 0x7000, 2, 0);
	time_is_up(11, nr, ret, 400);
	if (!there) {
		sleeps(11, NR_POLL, 0x7000, 2, 0);
		time_is_up(11, NR_POLL, 1, 5);
	}
	call(t += 1000, 11, NR_RECVFROM, 7, 5);
	q.end_ns = t += 1000;
	ends(t += 3 * MS, 11);
	ty_mx_switch(0, t += 1000, 11, TY_TASK_DEAD, 0);
	m = ty_mx_end();
	x = explain(m, 11);
	q.thread = ty_model_thread_find(m, 11, t);
	w = window_all(m);
	first = ty_model_thread(m, q.thread)->syscalls_first;
	wait = ty_model_syscall(m, first);
	*known = ty_wait_reply_there(&x, &r, q.thread, first, wait.start_ns, wait.end_ns);
	assert_int_equal(ty_stalls_find(&x, &w, &o, 100, &s, NULL), 0);
	n = s.n;
	snprintf(text, size, "%s", n ? s.v[0].sentence : "");
	ty_stalls_fini(&s);
	ty_mx_drop();
	return n;
}

static void a_reply_that_came_with_the_timeout(void **state)
{
	char text[TY_STALL_SENTENCE];

	bool known;

	(void)state;
	assert_int_equal(reply_at_timeout(true, NR_POLL, 1, &known, text, sizeof(text)), 1);
	assert_non_null(strstr(text, " in poll for a reply on fd 5 at "));
	assert_non_null(strstr(text, ", woken by its timeout as the reply arrived [inferred]"));
	assert_true(known);
	reply_at_timeout(false, NR_POLL, 1, &known, text, sizeof(text));
	assert_null(strstr(text, "the reply arrived"));
	assert_false(known);
	/* It timed out: what was there at once is not what it had waited for. */
	reply_at_timeout(true, NR_POLL, 0, &known, text, sizeof(text));
	assert_null(strstr(text, "reply"));
	assert_false(known);
	/* Nor is it what a sleep was for. */
	reply_at_timeout(true, NR_NANOSLEEP, 0, &known, text, sizeof(text));
	assert_null(strstr(text, "reply"));
	assert_false(known);
}

/* 11 sends a request to 12, which gives a first part at once and the rest later (or was done, and
 * waited for requests in between); 11 takes the first part without waiting. */
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

static void becomes_a_program(int tid)
{
	ty_mx_enter(0, t += 1000, tid, NR_EXECVE);
	ty_mx_exit(0, t += 1000, tid, NR_EXECVE, 0);
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

/* 11 sends requests to 12 through one pipe and receives replies through another one. 12 reads the
 * first request only when that is there, so that it is the first of both to wake the other. The
 * second one takes long. Or 12 sent something first. */
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

static const char *input_name;

static const char *input_before(void *ctx, int32_t pid, int32_t fd, bool *cloexec)
{
	(void)ctx;
	(void)pid;
	*cloexec = false;
	return fd == 5 ? input_name : NULL;
}

static bool none_left_out(void *ctx, int32_t pid)
{
	(void)ctx;
	(void)pid;
	return false;
}

/* The command, 11, writes to fd 5 and reads from it, until a kworker, or 13, wakes it. */
static unsigned reads_input(const char *name, int by)
{
	struct ty_explain x;
	struct ty_stalls s;
	unsigned n;

	begin("mode=pids\npid=11\ncommand_tid=11\n",
	      "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "12", "2", "kworker/u8:1")
		      ROW("13", "13", "1", "other"));
	ty_mx_switch(0, t, 0, R, 11);
	wakes(11, NR_WRITE, 5, 0, by);
	sleeps(11, NR_READ, 5, 0, by);
	ty_mx_switch(0, t += MS, by, by == 12 ? TY_TASK_IDLE : S, 0);
	t += 400 * MS;
	ty_mx_switch(0, t, 0, R, by);
	ty_mx_waking(0, t += 1000, by, 11, 0);
	goes_on(by, S, 11, NR_READ, 3);
	ends(t += 3 * MS, 11);
	ty_mx_switch(0, t += 1000, 11, TY_TASK_DEAD, 0);
	x = explain(ty_mx_end(), 11);
	input_name = name;
	x.fd_before = input_before;
	x.fds_left_out = none_left_out;
	x.fds_since_ns = x.fds_ns = 1;
	s = stalls_by(&x, false);
	n = s.n;
	ty_stalls_fini(&s);
	ty_mx_drop();
	return n;
}

static void input_on_a_terminal_is_not_awaited(void **state)
{
	(void)state;
	assert_int_equal(reads_input("/dev/pts/1", 12), 0);
	assert_int_equal(reads_input("/dev/tty", 12), 0);
	assert_int_equal(reads_input("/dev/tty2", 12), 0);
	assert_int_equal(reads_input("/dev/pts/1", 13), 1);
	assert_int_equal(reads_input("/dev/ttyS0", 12), 1);
	assert_int_equal(reads_input("/dev/ptmx", 12), 1);
	assert_int_equal(reads_input("/run/fifo", 12), 1);
}

/* 11 waits in a call on a socket, until a timer wakes it. */
static unsigned waits_for_timer(int nr)
{
	begin("mode=pids\npid=11\n", "taken 1 2\n" ROW("11", "11", "1", "job"));
	ty_mx_switch(0, t, 0, R, 11);
	sleeps(11, nr, 5, 0, 0);
	time_is_up(11, nr, 0, 1000);
	call(t += MS, 11, NR_GETPID, 11, 0);
	return stalls_of_thread(0, 11);
}

static void a_connection_is_awaited(void **state)
{
	enum { NR_CONNECT = 42 };

	assert_int_equal(waits_for_timer(NR_CONNECT), 1);
	assert_int_equal(waits_for_timer(NR_RECVFROM), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reply_that_came_with_the_timeout),
		cmocka_unit_test(input_on_a_terminal_is_not_awaited),
		cmocka_unit_test(two_semaphores_are_no_lock),
		cmocka_unit_test(a_nap_hands_nothing_over),
		cmocka_unit_test(a_first_part_is_no_answer),
		cmocka_unit_test(what_it_becomes_later_says_nothing),
		cmocka_unit_test(a_request_that_was_not_heard_is_one),
		cmocka_unit_test(only_a_thread_that_ends_is_told_to),
		cmocka_unit_test(a_program_that_greets_asks_nothing),
		cmocka_unit_test(a_connection_is_awaited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
