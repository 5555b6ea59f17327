/* SPDX-License-Identifier: MIT */
/* Waits in attempts, each with a timeout: one stall of all of them, once the last was woken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_turns.h"

enum { NR_NANOSLEEP = 35, NR_FUTEX = 202, WAIT = 0, WAKE = 1, WORD = 0x1000, TIMED_OUT = -110 };

static bool naps; /* for a millisecond between two attempts */

/* 11 sends something to 12, then waits for it in so many attempts of `ms` each; 12, which computes
 * meanwhile, wakes it in the last, or not. */
static struct ty_stalls attempts(unsigned n, unsigned ms, bool woken, const struct ty_model **m)
{
	begin("mode=pids\npid=11\n",
	      "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "11", "1", "job"));
	ty_mx_switch(0, t, 0, R, 11);
	ty_mx_switch(1, t += 1000, 0, R, 12);
	for (unsigned i = 0; i < n; i++) {
		bool last = i + 1 == n;

		sleeps(11, NR_FUTEX, WORD, WAIT, 0);
		if (!last || !woken) {
			time_is_up(11, NR_FUTEX, TIMED_OUT, ms);
			if (naps) {
				sleeps(11, NR_NANOSLEEP, 0, 0, 0);
				time_is_up(11, NR_NANOSLEEP, 0, 1);
			}
			continue;
		}
		give(t += ms * MS, WORD, WAKE, 1);
		ty_mx_enter(1, t, 12, NR_FUTEX);
		ty_mx_waking(1, t += 1000, 12, 11, 0);
		ty_mx_exit(1, t += 1000, 12, NR_FUTEX, 1);
		ty_mx_switch(0, t += 1000, 0, R, 11);
		ty_mx_exit(0, t += 1000, 11, NR_FUTEX, 0);
	}
	ty_mx_switch(0, t += 50 * MS, 11, S, 0);
	ty_mx_switch(1, t += 1000, 12, S, 0);
	*m = ty_mx_end();
	return stalls_of(*m, 0, true);
}

/* The only stall of 11 that is a wait. */
static const struct ty_stall *the_wait(const struct ty_stalls *s, const struct ty_model *m)
{
	const struct ty_stall *found = NULL;

	for (uint32_t i = 0; i < s->n; i++)
		if (ty_model_thread(m, s->v[i].thread)->tid == 11 &&
		    s->v[i].state == TY_ST_SLEEPING) {
			assert_null(found);
			found = &s->v[i];
		}
	return found;
}

static void drop(struct ty_stalls *s)
{
	ty_stalls_fini(s);
	ty_mx_drop();
}

/* Long attempts, each a candidate of its own; and short ones, none of which is. */
static void one_wait_in_attempts(void **state)
{
	for (unsigned ms = 60; ms; ms = ms == 60 ? 5 : 0) {
		const struct ty_model *m;
		struct ty_stalls s = attempts(300 / ms, ms, true, &m);
		const struct ty_stall *w = the_wait(&s, m);

		assert_non_null(w);
		assert_true(w->duration_ns >= 300 * MS);
		assert_non_null(strstr(w->sentence, " waits), woken by t12/12, which ran 30"));
		assert_null(strstr(w->sentence, "longest"));
		drop(&s);
	}
}

/* The last attempt timed out, too: several waits for a timer, not a single one for 12. */
static void in_vain(void **state)
{
	const struct ty_model *m;
	struct ty_stalls s = attempts(5, 60, false, &m);
	const struct ty_stall *w = the_wait(&s, m);

	assert_non_null(w);
	assert_non_null(strstr(w->sentence, " (5 waits, longest 60.0 ms), woken by a timer"));
	drop(&s);
	s = attempts(60, 5, false, &m);
	assert_null(the_wait(&s, m));
	drop(&s);
}

/* A thread that sleeps of its own accord in between (Go's sysmon) does not wait all the time. */
static void sleeps_between_attempts(void **state)
{
	const struct ty_model *m;
	struct ty_stalls s;

	naps = true;
	s = attempts(60, 5, true, &m);
	naps = false;
	assert_null(the_wait(&s, m));
	drop(&s);
}

static void too_short_together(void **state)
{
	const struct ty_model *m;
	struct ty_stalls s = attempts(1, 60, true, &m);

	assert_non_null(the_wait(&s, m));
	assert_null(strstr(the_wait(&s, m)->sentence, " waits"));
	drop(&s);
	s = attempts(2, 1, true, &m);
	assert_null(the_wait(&s, m));
	drop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_wait_in_attempts),
		cmocka_unit_test(in_vain),
		cmocka_unit_test(sleeps_between_attempts),
		cmocka_unit_test(too_short_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
