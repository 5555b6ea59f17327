/* SPDX-License-Identifier: MIT */
/* A request and a wait for its reply, where both threads pass a lock around besides. */
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
		cmocka_unit_test(a_turn_that_is_handed_over_is_no_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
