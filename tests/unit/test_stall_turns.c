/* SPDX-License-Identifier: MIT */
/*
 * A client that waits for a reply, a server that has replied and is idle: where the wait has not
 * ended when the recording ends, and where both also hand over a lock.
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
	NR_GETPID = 39,
	NR_NANOSLEEP = 35,
	NR_FUTEX = 202,
	WAIT = 0,
	WAKE = 1,
	WORK = 0x1000, /* words */
	ANSWER = 0x2000,
	TURN = 0x3000
};

#define TWO "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "11", "1", "job")
#define ONE_ASLEEP                                                                                 \
	"taken 1 2\n" ROW("11", "11", "1", "job") "12\t11\t1\t5\tS\t0\t0\t0\t-\t-\t-\t-\tjob\n"

/* How many of the stalls are waits of the thread. */
static unsigned waits_of(int tid)
{
	const struct ty_model *m = ty_mx_end();
	struct ty_stalls s = stalls_of(m, 0, false);
	unsigned n = 0;

	for (uint32_t i = 0; i < s.n; i++)
		n += ty_model_thread(m, s.v[i].thread)->tid == tid && s.v[i].kind == TY_STALL_FUTEX;
	ty_stalls_fini(&s);
	ty_mx_drop();
	return n;
}

enum end { COMPUTES, WAITS, READS, WENT_BACK };

/* 11 wakes 12 and waits to the end of the recording, 100 ms. Was it asked to; had 12 waited since
 * before the recording; and does 12 wait, too: at another word, for a descriptor, where it was? */
static unsigned waits_to_the_end(bool was_asked, bool before, enum end how)
{
	begin("mode=all\n", before ? ONE_ASLEEP : TWO);
	if (!before) {
		ty_mx_switch(0, t, 0, R, 11);
		if (was_asked) {
			sleeps(11, NR_FUTEX, WORK, WAIT, 12);
			wakes(12, NR_FUTEX, WORK, WAKE, 11);
			sleeps(12, NR_FUTEX, ANSWER, WAIT, 11);
			ty_mx_exit(0, t += 1000, 11, NR_FUTEX, 0);
		} else {
			ty_mx_switch(0, t += MS, 11, RP, 12);
			sleeps(12, NR_FUTEX, ANSWER, WAIT, 11);
		}
		call(t += 5 * MS, 11, NR_GETPID, 11, 0);
	} else {
		ty_mx_switch(0, t += MS, 0, R, 11);
	}
	wakes(11, NR_FUTEX, ANSWER, WAKE, 12);
	sleeps(11, NR_FUTEX, WORK, WAIT, 12);
	ty_mx_exit(0, t += 1000, 12, NR_FUTEX, 0);
	if (how == READS)
		sleeps(12, NR_READ, 7, 0, 0);
	else if (how != COMPUTES)
		sleeps(12, NR_FUTEX, how == WAITS ? TURN : ANSWER, WAIT, 0);
	call(t += 100 * MS, how != COMPUTES ? 13 : 12, NR_GETPID, 12, 0);
	return waits_of(11);
}

static void who_has_answered_waits_for_work(void **state)
{
	assert_int_equal(waits_to_the_end(false, false, COMPUTES), 1);
	assert_int_equal(waits_to_the_end(true, false, COMPUTES), 0);
	assert_int_equal(waits_to_the_end(false, true, COMPUTES), 0);
	assert_int_equal(waits_to_the_end(false, false, WENT_BACK), 0);
	/* Words may be others each time. */
	assert_int_equal(waits_to_the_end(false, false, WAITS), 0);
	/* A hang, where the one that was asked waits for yet another one. */
	assert_int_equal(waits_to_the_end(false, false, READS), 1);
}

/* 11, of a pool, writes to 12, of another process, and waits by futex to the end of the recording,
 * 100 ms, while 12 computes or ends. Had 11 heard 12's request there before? */
static unsigned pool_thread(bool heard, bool over)
{
	begin("mode=all\n",
	      "taken 1 2\n" ROW("11", "11", "1", "server") ROW("12", "12", "1", "client"));
	ty_mx_switch(0, t, 0, R, 12);
	sleeps(12, NR_READ, 9, 0, 11);
	call(t += MS, 11, heard ? NR_READ : NR_GETPID, 20, 7);
	wakes(11, NR_WRITE, 7, 0, 12);
	sleeps(11, NR_FUTEX, WORK, WAIT, 12);
	ty_mx_exit(0, t += 1000, 12, NR_READ, 20);
	if (over) {
		ends(t += MS, 12);
		ty_mx_switch(0, t += 1000, 12, TY_TASK_DEAD, 0);
		call(t += 100 * MS, 13, NR_GETPID, 13, 0);
	} else {
		call(t += 100 * MS, 12, NR_GETPID, 12, 0);
	}
	return waits_of(11);
}

static void who_has_replied_waits_for_work(void **state)
{
	assert_int_equal(pool_thread(false, false), 1);
	assert_int_equal(pool_thread(true, false), 0);
	assert_int_equal(pool_thread(false, true), 0);
	(void)state;
}

/* 12 has done so much else before it makes 11, which sends it so many requests, the last one
 * without a reply. */
static unsigned asks_late(unsigned naps, unsigned requests)
{
	begin("mode=all\n", "taken 1 2\n" ROW("12", "11", "1", "job"));
	ty_mx_switch(0, t, 0, R, 12);
	for (unsigned n = 0; n < naps; n++) {
		sleeps(12, NR_NANOSLEEP, 0, 0, 0);
		time_is_up(12, NR_NANOSLEEP, 0, 1);
	}
	ty_mx_fork(0, t += 1000, 12, 11, 0);
	for (unsigned n = 0; n < requests; n++) {
		sleeps(12, NR_FUTEX, ANSWER, WAIT, 11);
		call(t += 5 * MS, 11, NR_GETPID, 11, 0);
		wakes(11, NR_FUTEX, ANSWER, WAKE, 12);
		sleeps(11, NR_FUTEX, WORK, WAIT, 12);
		ty_mx_exit(0, t += 1000, 12, NR_FUTEX, 0);
		if (n + 1 == requests)
			break;
		wakes(12, NR_FUTEX, WORK, WAKE, 11);
		goes_on(12, RP, 11, NR_FUTEX, 0);
		ty_mx_switch(0, t += 1000, 11, RP, 12);
	}
	call(t += 100 * MS, 12, NR_GETPID, 12, 0);
	return waits_of(11);
}

static void who_has_served_others_for_long_is_asked(void **state)
{
	assert_int_equal(asks_late(0, 1), 1);
	assert_int_equal(asks_late(400, 1), 1);
	assert_int_equal(asks_late(400, 2), 1);
}

/* 11 gives 12 work (if it requests it), and then their turn, for which it sometimes waits, too; and
 * waits 200 ms for the reply. */
static unsigned asks_and_hands_over(bool asks)
{
	begin("mode=all\n", TWO);
	ty_mx_switch(0, t, 0, R, 12);
	if (asks) {
		sleeps(12, NR_FUTEX, WORK, WAIT, 11);
		call(t += MS, 11, NR_GETPID, 11, 0);
		wakes(11, NR_FUTEX, WORK, WAKE, 12);
		ty_mx_switch(0, t += 1000, 11, RP, 12);
		ty_mx_exit(0, t += 1000, 12, NR_FUTEX, 0);
	}
	sleeps(12, NR_FUTEX, TURN, WAIT, 11);
	wakes(11, NR_FUTEX, TURN, WAKE, 12);
	sleeps(11, NR_FUTEX, ANSWER, WAIT, 12);
	ty_mx_exit(0, t += 1000, 12, NR_FUTEX, 0);
	sleeps(12, NR_NANOSLEEP, 0, 0, 0);
	time_is_up(12, NR_NANOSLEEP, 0, 200);
	wakes(12, NR_FUTEX, ANSWER, WAKE, 11);
	ty_mx_switch(0, t += 1000, 12, RP, 11);
	ty_mx_exit(0, t += 1000, 11, NR_FUTEX, 0);
	sleeps(11, NR_FUTEX, TURN, WAIT, 12);
	wakes(12, NR_FUTEX, TURN, WAKE, 11);
	sleeps(12, NR_FUTEX, WORK, WAIT, 11);
	ty_mx_exit(0, t += 1000, 11, NR_FUTEX, 0);
	sleeps(11, NR_NANOSLEEP, 0, 0, 0);
	time_is_up(11, NR_NANOSLEEP, 0, 10);
	return waits_of(11);
}

static void a_turn_that_is_handed_over_is_no_request(void **state)
{
	assert_int_equal(asks_and_hands_over(true), 1);
	assert_int_equal(asks_and_hands_over(false), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_has_answered_waits_for_work),
		cmocka_unit_test(who_has_replied_waits_for_work),
		cmocka_unit_test(who_has_served_others_for_long_is_asked),
		cmocka_unit_test(a_turn_that_is_handed_over_is_no_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
