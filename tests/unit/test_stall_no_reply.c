/* SPDX-License-Identifier: MIT */
/* A thread that still waits when the recording ends: for a reply, or for the next request? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture_stall_count.h"

enum {
	WORK = 0x1000, /* words */
	ANSWER = 0x2000,
	TURN = 0x3000
};

#define TWO "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "11", "1", "job")
#define ONE_ASLEEP                                                                                 \
	"taken 1 2\n" ROW("11", "11", "1", "job") "12\t11\t1\t5\tS\t0\t0\t0\t-\t-\t-\t-\tjob\n"

enum first { NOBODY, PEER, SINCE_BEFORE };

/* 11 wakes 12 by a call on the first of two places, then waits at the other one when the recording
 * ends. 12 had woken it before, or had waited since before the recording. How many of its waits are
 * stalls? */
static unsigned not_over(enum first how, int wake, uint64_t to, int wait, uint64_t from)
{
	const struct ty_model *m;
	struct ty_stalls s;
	unsigned n = 0;

	begin("mode=all\n",
	      how == SINCE_BEFORE
		      ? "taken 1 2\n" ROW("11", "11", "1",
					  "job") "12\t12\t1\t5\tS\t0\t0\t0\t-\t-\t-\t-\tother\n"
		      : "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "12", "1", "other"));
	if (how == PEER) {
		ty_mx_switch(0, t, 0, R, 11);
		sleeps(11, NR_READ, 4, 0, 12);
		wakes(12, NR_WRITE, 5, 0, 11);
		sleeps(12, NR_READ, 6, 0, 11);
		ty_mx_exit(0, t += 1000, 11, NR_READ, 1);
	} else if (how == NOBODY) {
		ty_mx_switch(0, t, 0, R, 12);
		sleeps(12, NR_READ, 6, 0, 11);
	} else {
		ty_mx_switch(0, t, 0, R, 11);
	}
	wakes(11, wake, to, GIVE, 12);
	sleeps(11, wait, from, TAKE, 12);
	ty_mx_exit(0, t += MS, 12, NR_READ, 1);
	sleeps(12, NR_NANOSLEEP, 0, 0, 0); /* busy with it */
	ty_mx_event(0, t += 300 * MS, 0, TY_EV_OTHER);
	m = ty_mx_end();
	s = stalls_of(m, 0, false);
	for (uint32_t i = 0; i < s.n; i++) {
		if (!(s.v[i].flags & TY_SF_OPEN) || s.v[i].syscall == TY_NONE)
			continue;
		n++;
		assert_string_equal(s.v[i].rule->id, "no-reply");
		assert_int_equal(ty_model_thread(m, s.v[i].request_to)->tid, 12);
		assert_true(s.v[i].sent_request_ns && s.v[i].sent_request_ns < s.v[i].start_ns);
	}
	ty_stalls_fini(&s);
	ty_mx_drop();
	return n;
}

static void who_was_asked_has_not_replied(void **state)
{
	assert_int_equal(not_over(NOBODY, NR_WRITE, 4, NR_READ, 4), 1);
	assert_int_equal(not_over(PEER, NR_WRITE, 4, NR_READ, 4), 0);
	/* By two channels, as over a pair of pipes. */
	assert_int_equal(not_over(NOBODY, NR_WRITE, 3, NR_READ, 4), 1);
	assert_int_equal(not_over(PEER, NR_WRITE, 3, NR_READ, 4), 0);
	/* It may have been asked before anything was recorded. */
	assert_int_equal(not_over(SINCE_BEFORE, NR_WRITE, 3, NR_READ, 4), 0);
	/* A lock is handed on, not asked for anything. */
	assert_int_equal(not_over(NOBODY, NR_SEMOP, SET, NR_SEMOP, SET + 1), 1);
	assert_int_equal(not_over(NOBODY, NR_SEMOP, SET, NR_SEMOP, SET), 0);
}

/* 12 or 13 wakes 11, which waits on a word since before; 11 wakes 12 and waits there again, until
 * the recording ends. */
static unsigned pool_worker(int first)
{
	begin("mode=all\n",
	      "taken 1 2\n" ROW("12", "11", "1", "a")
		      ROW("13", "11", "1", "b") "11\t11\t1\t5\tS\t0\t0\t0\t202\t-\t-\t-\tworker\n");
	ty_mx_switch(0, t, 0, R, first);
	wakes(first, NR_FUTEX, 0x1000, WAKE, 11);
	sleeps(first, NR_FUTEX, 0x2000, WAIT, first == 12 ? 11 : 12);
	if (first != 12)
		sleeps(12, NR_FUTEX, 0x3000, WAIT, 11);
	ty_mx_exit(0, t += 1000, 11, NR_FUTEX, 0);
	wakes(11, NR_FUTEX, first == 12 ? 0x2000 : 0x3000, WAKE, 12);
	sleeps(11, NR_FUTEX, 0x1000, WAIT, 12);
	ty_mx_exit(0, t += MS, 12, NR_FUTEX, 0);
	sleeps(12, NR_NANOSLEEP, 0, 0, 0);
	ty_mx_event(0, t += 300 * MS, 0, TY_EV_OTHER);
	return count_stalls(0, false, 11);
}

/* The second job was queued, so 11 was not seen to be woken for it. */
static void a_worker_waits_for_the_next_of_several(void **state)
{
	assert_int_equal(pool_worker(13), 0);
	assert_int_equal(pool_worker(12), 0);
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
	return stalls_of_thread(0, 11);
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
	return stalls_of_thread(0, 11);
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
	return stalls_of_thread(0, 11);
}

static void who_has_served_others_for_long_is_asked(void **state)
{
	assert_int_equal(asks_late(0, 1), 1);
	assert_int_equal(asks_late(400, 1), 1);
	assert_int_equal(asks_late(400, 2), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_was_asked_has_not_replied),
		cmocka_unit_test(a_worker_waits_for_the_next_of_several),
		cmocka_unit_test(who_has_answered_waits_for_work),
		cmocka_unit_test(who_has_replied_waits_for_work),
		cmocka_unit_test(who_has_served_others_for_long_is_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
