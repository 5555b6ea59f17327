/* SPDX-License-Identifier: MIT */
/*
 * Who has asked and waits for an answer, who has answered and waits for work: where the wait is not
 * over when the recording ends, and where both pass a lock around besides.
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

enum end { COMPUTES, WAITS, READS, WENT_BACK };

int main(void)
{
	const struct CMUnitTest tests[] = {};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
