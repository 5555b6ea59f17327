/* SPDX-License-Identifier: MIT */
/* Thousands of signals: how many, which sender, and what they cost at least. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_findings.h"

enum { NR_SIGPROCMASK = 14, NR_SIGRETURN = 15, TIMER, SENT, ITSELF, BLOCKED, LATE };

static void point(unsigned kind, unsigned id, int tid, unsigned flags)
{
	struct ty_event ev = {.ts_ns = at, .tid = tid, .kind = (uint8_t)kind, .id = (uint16_t)id};

	ev.flags = (uint8_t)flags;
	if (kind != TY_EV_HRTIMER_EXPIRE) {
		ev.u.sig.sig = 14;
		ev.u.sig.tid = 11;
	}
	ty_mx_feed(ev);
}

/* 11 handles n signals, each for 4 us from its generation on, which another thread may have made
 * long before; then it computes. */
static struct ty_findings handles(unsigned n, int by, uint64_t pause_ns)
{
	begin();
	for (unsigned i = 0; i < n; i++) {
		if (by == TIMER || by == BLOCKED || by == LATE)
			point(TY_EV_HRTIMER_EXPIRE, 41, 11, TY_EVF_HARDIRQ);
		if (by == SENT) {
			ty_mx_switch(0, at, 11, R, 20);
			at += US;
		}
		point(TY_EV_SIGNAL_GENERATE, 40, by == SENT ? 20 : 11,
		      by == TIMER || by == BLOCKED || by == LATE ? TY_EVF_HARDIRQ : 0);
		if (by == SENT) {
			at += US;
			ty_mx_switch(0, at, 20, S, 11);
		}
		at += by == LATE ? 200 * US : US;
		if (by == BLOCKED)
			one(11, NR_SIGPROCMASK, 0, US, US);
		point(TY_EV_SIGNAL_DELIVER, 42, 11, 0);
		at += US;
		one(11, NR_GETPPID, 1, US / 2, US / 2);
		one(11, NR_SIGRETURN, 0, US, pause_ns);
	}
	return find(11);
}

static void many_signals(void **state)
{
	struct ty_findings f;

	(void)state;
	for (unsigned n = 999; n <= 1000; n++) {
		f = handles(n, TIMER, US);
		assert_int_equal(f.n, n == 1000);
	}
	assert_int_equal(f.v[0].kind, TY_FINDING_STORM);
	assert_int_equal(f.v[0].n, 1000);
	assert_int_equal(f.v[0].ns, 4 * MS);
	assert_string_equal(f.v[0].text, "t11/11 handled 1,000 signals (SIGALRM) from a timer, at "
					 "least 4.00 us of CPU time on average");
	/* So many, but a small part of the time. */
	assert_int_equal(handles(1000, TIMER, 100 * US).n, 0);
}

/* What a thread computes before it lets a pending signal through is not the handler's time. */
static void blocked_until_a_call(void **state)
{
	struct ty_findings f = handles(1000, BLOCKED, US);

	(void)state;
	assert_int_equal(f.n, 1);
	assert_int_equal(f.v[0].kind, TY_FINDING_STORM);
	assert_int_equal(f.v[0].ns, 3 * MS);
	/* Delivered late, without a call: as little is known of the time in between. */
	assert_int_equal(handles(1000, LATE, US).n, 0);
}

static void their_sender(void **state)
{
	struct ty_findings f = handles(1000, ITSELF, US);

	(void)state;
	assert_string_equal(f.v[0].text,
			    "t11/11 handled 1,000 signals (SIGALRM) from itself (a CPU timer, a "
			    "fault or a call), at least 4.00 us of CPU time on average");
	/* What the sender ran is not the receiver's time. */
	f = handles(1000, SENT, US);
	for (uint32_t i = 0; i < f.n; i++)
		if (f.v[i].kind == TY_FINDING_STORM) {
			assert_string_equal(f.v[i].text,
					    "t11/11 handled 1,000 signals (SIGALRM) from t20/20, "
					    "at least 4.00 us of CPU time on average");
			return;
		}
	fail_msg("no finding of %u", f.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_signals),
		cmocka_unit_test(blocked_until_a_call),
		cmocka_unit_test(their_sender),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
