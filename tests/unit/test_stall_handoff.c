/* SPDX-License-Identifier: MIT */
/*
 * Locks by what is done with their words, whatever values they have: waited on and woken by both,
 * once or in short attempts; and the exit of a child that slept and notified others before it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture_turns.h"

enum {
	NR_WRITE = 1,
	NR_NANOSLEEP = 35,
	NR_GETPID = 39,
	NR_EXECVE = 59,
	NR_WAIT4 = 61,
	NR_FUTEX = 202,
	WAIT = 0,
	WAKE = 1,
	WORD = 0x1000,
	OTHER = 0x2000
};

#define TWO "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "11", "1", "job")

/* Of the function that 11 waits in, by its stack. */
static enum ty_stack_role in_function;

static enum ty_stack_role role_of(void *ctx, int32_t tid, uint64_t from_ns, uint64_t to_ns)
{
	return tid == 11 && from_ns < to_ns ? in_function : TY_ROLE_NONE;
}

/* How many of the stalls are the thread's, and of this kind. */
static unsigned count_stalls(int tid, unsigned kind)
{
	const struct ty_model *m = ty_mx_end();
	struct ty_explain x = explain(m, 0);
	struct ty_stalls s;
	unsigned n = 0;

	x.role = in_function == TY_ROLE_NONE ? NULL : role_of;
	s = stalls_by(&x, false);

	for (uint32_t i = 0; i < s.n; i++)
		n += ty_model_thread(m, s.v[i].thread)->tid == tid && s.v[i].kind == kind;
	ty_stalls_fini(&s);
	ty_mx_drop();
	return n;
}

/* 11 waits on the word for 200 ms, 12 wakes it, and waits on a word itself; 11 wakes a word. Does
 * 11 wait so again? */
static unsigned takes_turns(uint64_t waited, uint64_t woken, bool again)
{
	begin("mode=all\n", TWO);
	ty_mx_switch(0, t, 0, R, 11);
	call(t += MS, 11, NR_GETPID, 11, 0);
	for (unsigned n = 0; n < (again ? 2 : 1); n++) {
		sleeps(11, NR_FUTEX, WORD, WAIT, 12);
		call(t += 200 * MS, 12, NR_GETPID, 11, 0);
		wakes(12, NR_FUTEX, WORD, WAKE, 11);
		sleeps(12, NR_FUTEX, waited, WAIT, 11);
		ty_mx_exit(0, t += 1000, 11, NR_FUTEX, 0);
		wakes(11, NR_FUTEX, woken, WAKE, 12);
		ty_mx_switch(0, t += 1000, 11, RP, 12);
		ty_mx_exit(0, t += 1000, 12, NR_FUTEX, 0);
		ty_mx_switch(0, t += 1000, 12, RP, 11);
	}
	sleeps(11, NR_NANOSLEEP, 0, 0, 12);
	call(t += MS, 12, NR_GETPID, 11, 0);
	return count_stalls(11, TY_STALL_FUTEX);
}

static void who_waits_for_a_lock_lets_it_go(void **state)
{
	assert_int_equal(takes_turns(WORD, WORD, false), 1);
	assert_int_equal(takes_turns(OTHER, WORD, false), 0);
	assert_int_equal(takes_turns(WORD, OTHER, false), 0);
	assert_int_equal(takes_turns(WORD, WORD, true), 0); /* idle workers wake, too */
	/* The word beside it is another one. */
	assert_int_equal(takes_turns(WORD, WORD + 4, false), 0);
}

/* 11 waits on the word, 12 wakes it, but is faster to lock it again, and wakes it again; 11 wakes
 * it after so long. */
static unsigned is_not_first(unsigned has_ms)
{
	begin("mode=all\n", TWO);
	ty_mx_switch(0, t, 0, R, 11);
	for (unsigned n = 0; n < 2; n++) {
		sleeps(11, NR_FUTEX, WORD, WAIT, 12);
		call(t += 200 * MS, 12, NR_GETPID, 11, 0);
		wakes(12, NR_FUTEX, WORD, WAKE, 11);
		if (n)
			sleeps(12, NR_FUTEX, WORD, WAIT, 11);
		else
			ty_mx_switch(0, t += 1000, 12, RP, 11);
		ty_mx_exit(0, t += 1000, 11, NR_FUTEX, 0);
	}
	t += has_ms * MS;
	wakes(11, NR_FUTEX, WORD, WAKE, 12);
	sleeps(11, NR_FUTEX, WORD, WAIT, 12);
	call(t += MS, 12, NR_GETPID, 11, 0);
	return count_stalls(11, TY_STALL_FUTEX);
}

static void who_is_not_first_waits_again(void **state)
{
	assert_int_equal(is_not_first(2), 1);
	assert_int_equal(is_not_first(0), 0);
}

/* What nothing else shows to be a lock's word is one where the stack says so. */
static void a_function_that_locks_waits_for_a_lock(void **state)
{
	in_function = TY_ROLE_LOCK;
	assert_int_equal(takes_turns(OTHER, WORD, false), 0); /* a futex */
	begin("mode=all\n", TWO);
	ty_mx_switch(0, t, 0, R, 11);
	sleeps(11, NR_FUTEX, WORD, WAIT, 12);
	call(t += 200 * MS, 12, NR_GETPID, 11, 0);
	wakes(12, NR_FUTEX, WORD, WAKE, 11);
	sleeps(12, NR_FUTEX, OTHER, WAIT, 11);
	ty_mx_exit(0, t += 1000, 11, NR_FUTEX, 0);
	assert_int_equal(count_stalls(11, TY_STALL_LOCK), 1);
	in_function = TY_ROLE_NONE;
}

/* On CPU 1, where 12 runs. */
static void aside(int nr, uint64_t word, uint64_t op, int wakes)
{
	give(t += 1000, word, op, 1);
	ty_mx_enter(1, t, 12, nr);
	if (wakes)
		ty_mx_waking(1, t += 1000, 12, wakes, 0);
	ty_mx_exit(1, t += 1000, 12, nr, 0);
}

enum earlier { NEVER, LETS_GO, FOR_WORK };

/* 11 wakes up, works for so long, and tries 40 times for 5 ms to get what 12 has, which lets it go
 * then; both have it by turns. Had 11 waited for it before, after work, straight after it had let
 * it go or not? */
static unsigned tries_for(unsigned work_ms, enum earlier how)
{
	begin("mode=all\n", TWO);
	ty_mx_switch(1, t, 0, R, 12);
	ty_mx_switch(0, t += 1000, 0, R, 11);
	if (how != NEVER) {
		call(t += 5 * MS, 11, NR_GETPID, 11, 0);
		if (how == LETS_GO)
			wakes(11, NR_FUTEX, WORD, WAKE, 12);
		sleeps(11, NR_FUTEX, WORD, WAIT, 0);
		t += 5 * MS;
		aside(NR_FUTEX, WORD, WAKE, 11);
		ty_mx_switch(0, t += 1000, 0, R, 11);
		ty_mx_exit(0, t += 1000, 11, NR_FUTEX, 0);
	}
	sleeps(11, NR_NANOSLEEP, 0, 0, 0);
	time_is_up(11, NR_NANOSLEEP, 0, 10);
	t += work_ms * MS;
	for (unsigned n = 0; n < 40; n++) {
		sleeps(11, NR_FUTEX, WORD, WAIT, 0);
		time_is_up(11, NR_FUTEX, -110, 5);
	}
	sleeps(11, NR_FUTEX, WORD, WAIT, 0);
	t += MS;
	aside(NR_FUTEX, WORD, WAKE, 11);
	ty_mx_switch(0, t += 1000, 0, R, 11);
	ty_mx_exit(0, t += 1000, 11, NR_FUTEX, 0);
	aside(NR_FUTEX, WORD, WAIT, 0);
	wakes(11, NR_FUTEX, WORD, WAKE, 12);
	sleeps(11, NR_NANOSLEEP, 0, 0, 0);
	call(t += MS, 12, NR_GETPID, 11, 0);
	return count_stalls(11, TY_STALL_FUTEX);
}

static void who_tries_was_on_its_way(void **state)
{
	assert_int_equal(tries_for(0, NEVER), 1);
	assert_int_equal(tries_for(3, NEVER), 0);
	/* An interpreter lets other threads run; one that finished its work waits for more. */
	assert_int_equal(tries_for(0, LETS_GO), 1);
	assert_int_equal(tries_for(0, FOR_WORK), 0);
}

/* 10 waits for its child, 11, a program or not, which sleeps for `ms` of 200, and wakes 12 before
 * it ends. */
static unsigned child_sleeps(bool program, unsigned ms)
{
	begin("mode=pids\npid=10\n",
	      "taken 1 2\n" ROW("10", "10", "1", "job") ROW("12", "12", "1", "other"));
	ty_mx_switch(0, t, 0, R, 12);
	sleeps(12, NR_NANOSLEEP, 0, 0, 10);
	call(t += MS, 10, NR_GETPID, 1, 0);
	ty_mx_fork(0, t += MS, 10, 11, 0);
	sleeps(10, NR_WAIT4, 11, 0, 11);
	call(t += (200 - ms) * MS, 11, program ? NR_EXECVE : NR_GETPID, 0, 0);
	sleeps(11, NR_NANOSLEEP, 0, 0, 0);
	time_is_up(11, NR_NANOSLEEP, 0, ms);
	wakes(11, NR_WRITE, 1, 0, 12);
	ends(t += MS, 11);
	ty_mx_waking(0, t += 1000, 11, 10, 0);
	goes_on(11, TY_TASK_DEAD, 10, NR_WAIT4, 11);
	sleeps(10, NR_NANOSLEEP, 0, 0, 12);
	call(t += MS, 12, NR_GETPID, 11, 0);
	return count_stalls(10, TY_STALL_CHILD);
}

static void who_sleeps_keeps_its_parent_waiting(void **state)
{
	assert_int_equal(child_sleeps(true, 190), 1);
	assert_int_equal(child_sleeps(true, 140), 0);
	assert_int_equal(child_sleeps(false, 190), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_waits_for_a_lock_lets_it_go),
		cmocka_unit_test(who_is_not_first_waits_again),
		cmocka_unit_test(a_function_that_locks_waits_for_a_lock),
		cmocka_unit_test(who_tries_was_on_its_way),
		cmocka_unit_test(who_sleeps_keeps_its_parent_waiting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
