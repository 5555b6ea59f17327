/* SPDX-License-Identifier: MIT */
/* Findings of many short children, and of CPU time that the critical path waited for. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_findings.h"
#include "fixture_given.h"
#include "findings.h"

/* Of the one name, from 11 to it or back. */
static void sw(int prev, uint64_t state, int next)
{
	struct ty_event ev = {.ts_ns = at, .tid = prev, .kind = TY_EV_SWITCH, .id = 1};

	ev.u.sw.prev_tid = prev;
	ev.u.sw.next_tid = next;
	ev.u.sw.prev_state = state;
	snprintf(ev.u.sw.prev_comm, sizeof(ev.u.sw.prev_comm), prev == 11 ? "t11" : "child");
	snprintf(ev.u.sw.next_comm, sizeof(ev.u.sw.next_comm), next == 11 ? "t11" : "child");
	ty_mx_feed(ev);
}

static void short_children(void **state)
{
	(void)state;
	for (int n = 99; n <= 100; n++) {
		struct ty_findings f;

		begin();
		for (int i = 0; i < n; i++) {
			struct ty_event ev = {.tid = 100 + i, .kind = TY_EV_EXIT, .id = 9};

			ty_mx_fork(0, at, 11, 100 + i, 0);
			ty_mx_waking(0, at, 11, 100 + i, 0);
			at += US;
			sw(11, S, 100 + i);
			at += US;
			one(100 + i, NR_GETPPID, 1, US, MS);
			ev.ts_ns = at;
			ev.u.tex.tid = 100 + i;
			ty_mx_feed(ev);
			ty_mx_waking(0, at, 100 + i, 11, 0);
			at += US;
			sw(100 + i, TY_TASK_DEAD, 11);
			one(11, NR_GETPPID, 1, US, US);
		}
		f = find(11);
		assert_int_equal(f.n, n >= 100);
		if (!f.n)
			continue;
		assert_int_equal(f.v[0].kind, TY_FINDING_CHILDREN);
		assert_string_equal(f.v[0].text, "t11/11 started 100 short-lived children (child), "
						 "1.00 ms on average, 100 ms in total");
	}
}

static void cpu_starved(void **state)
{
	struct ty_findings f;

	(void)state;
	begin();
	for (unsigned i = 0; i < 1000; i++) {
		ty_mx_switch(0, at, 11, R, 20);
		at += 100 * US;
		ty_mx_switch(0, at, 20, R, 11);
		at += 200 * US;
	}
	f = find(11);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.v[0].kind, TY_FINDING_STARVED);
	assert_int_equal(f.v[0].n, 1000);
	assert_string_equal(
		f.v[0].text,
		"1,000 waits for a CPU took 33% of the 300 ms of the command's critical path; "
		"meanwhile on those CPUs t20 ran 100 ms");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_children),
		cmocka_unit_test(cpu_starved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
