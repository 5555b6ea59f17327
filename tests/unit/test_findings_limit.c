/* SPDX-License-Identifier: MIT */
/* A call that fails at a limit is a finding even once, with the time until it succeeds again. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_findings.h"

enum { NR_DUP = 32, NR_FORK = 57, NR_FCNTL = 72 };

static void until_it_succeeds(void **state)
{
	struct ty_findings f;

	begin();
	one(11, NR_ACCEPT, -EMFILE, 2 * US, US);
	one(11, NR_DUP, -EMFILE, 2 * US, 2000 * MS);
	one(11, NR_READ, 5, US, US);
	one(11, NR_ACCEPT, -EMFILE, US, 1000 * MS);
	one(11, NR_ACCEPT, 7, US, MS);
	one(11, NR_ACCEPT, 8, US, MS);
	one(11, NR_ACCEPT, -EMFILE, US, 500 * MS);
	one(11, NR_ACCEPT, 8, US, MS);
	f = find(11);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.v[0].kind, TY_FINDING_LIMIT);
	assert_int_equal(f.v[0].n, 4);
	assert_int_equal(f.v[0].ns, 3000 * MS + 9 * US);
	assert_string_equal(
		f.v[0].text,
		"t11/11: accept and other calls failed 4 times, first on fd 3, with EMFILE (too "
		"many open files in the process); up to 3.000 s passed until accept succeeded "
		"again in the same thread");
	assert_false(f.v[0].inferred);
}

static void softirq(int tid, int kind)
{
	struct ty_event ev = {.ts_ns = at += US,
			      .kind = (uint8_t)kind,
			      .tid = tid,
			      .id = 30,
			      .flags = kind == TY_EV_SOFTIRQ_RAISE ? 0 : TY_EVF_SOFTIRQ};

	ev.u.softirq.vec = 3;
	if (kind == TY_EV_WAKING)
		ev.u.wake.tid = 11;
	ty_mx_feed(ev);
}

/* 11 sleeps until the thread sends it a packet. */
static void packet_of(int tid)
{
	ty_mx_switch(0, at += US, 11, S, tid);
	softirq(tid, TY_EV_SOFTIRQ_RAISE);
	softirq(tid, TY_EV_SOFTIRQ_ENTRY);
	softirq(tid, TY_EV_WAKING);
	softirq(tid, TY_EV_SOFTIRQ_EXIT);
	ty_mx_switch(0, at += US, tid, S, 11);
	at += US;
}

/* 12 connects so often, 13 eight times; nine of 12 were long ago. */
static void whose_packets_came_before(void **state)
{
	for (unsigned n = 8; n <= 9; n++) {
		struct ty_findings f;

		begin();
		for (unsigned i = 0; i < 9; i++)
			packet_of(12);
		at += 2000 * MS;
		for (unsigned i = 0; i < 8; i++)
			packet_of(13);
		for (unsigned i = 0; i < n; i++)
			packet_of(12);
		one(11, NR_ACCEPT, -EMFILE, 2 * US, US);
		f = find(11);
		assert_int_equal(f.n, 1);
		assert_int_equal(n == 9, !!strstr(f.v[0].text,
						  ". In the 1 s before the first failure, 9 of 17 "
						  "packets that woke it came from "
						  "t12/12"));
		assert_int_equal(n == 9, !!strstr(f.v[0].text, "packets"));
	}
}

/* Nothing is said of a success of the same call on what may be another file. */
static void or_never(void **state)
{
	struct ty_findings f;

	begin();
	one(11, NR_WRITE, 4096, 2 * US, US);
	one(11, NR_WRITE, -ENOSPC, 2 * US, MS);
	one(11, NR_WRITE, 20, 2 * US, MS);	/* its message on a terminal */
	one(11, NR_FCNTL, -EMFILE, 2 * US, MS); /* another command may succeed */
	one(11, NR_FCNTL, 0, 2 * US, MS);
	one(11, NR_FORK, -EAGAIN, 2 * US, MS);
	f = find(11);
	assert_int_equal(f.n, 3);
	assert_int_equal(f.v[0].ns, 2 * US);
	assert_string_equal(f.v[0].text,
			    "t11/11: write failed 1 time on fd 5, with ENOSPC (no space or other "
			    "resource left)");
	assert_string_equal(f.v[2].text,
			    "t11/11: fork failed 1 time, with EAGAIN (limit of processes)");
}

/* A descriptor that is not ready is no limit; nor is a file that is not there. */
static void other_errors(void **state)
{
	begin();
	one(11, NR_ACCEPT, -EAGAIN, 2 * US, US);
	one(11, NR_OPENAT, -ENOENT, 2 * US, US);
	assert_int_equal(find(11).n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(until_it_succeeds),
		cmocka_unit_test(whose_packets_came_before),
		cmocka_unit_test(or_never),
		cmocka_unit_test(other_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
