/* SPDX-License-Identifier: MIT */
/* Which waits of small machines are reported as stalls, and for which thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "answer.h"
#include "fixture_given.h"
#include "fixture_lock.h"
#include "fixture_model.h"
#include "ledger.h"
#include "model_priv.h"
#include "report_explain.h"
#include "stalls.h"
#include "window_all.h"

static void lock_stall_is_found_once(void **state)
{
	const struct ty_model *m = lock_and_sleep();
	struct ty_explain x = explain(m, 0);
	struct ty_window w = window_all(m);
	struct ty_stalls_opts o = {0};
	struct ty_stalls s;

	s = stalls_by(&x, o.all);
	/* No thread has to reply to the clerk's read; the sleep is voluntary. */
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].thread, thread(m, 12));
	assert_int_equal(s.v[0].kind, TY_STALL_LOCK);
	assert_int_equal(s.v[0].culprit, thread(m, 13));
	assert_int_equal(s.v[0].duration_ns, 103 * MS);
	assert_non_null(strstr(s.v[0].sentence, "t12/12 waited in flock"));
	assert_false(s.by_command);
	assert_non_null(strstr(s.v[0].sentence, "t13/13"));
	ty_stalls_fini(&s);
	/* A command that is the clerk could not go on without the read: its chain shows all. */
	x = explain(m, 11);
	s = stalls_by(&x, o.all);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].thread, thread(m, 11));
	assert_int_equal(s.v[0].culprit, thread(m, 13));
	assert_int_equal(s.v[0].links, 3);
	ty_stalls_fini(&s);
	o.all = true;
	x = explain(m, 0);
	assert_int_equal(ty_stalls_find(&x, &w, &o, 1, &s, NULL), 0);
	assert_int_equal(s.n, 1); /* no more than asked for */
	ty_stalls_fini(&s);
	ty_mx_drop();
}

/* A program waits for a shell that waits for what it started: one stall, the program's; where it
 * was no program that was started, that one's. */
static void by_way_of_a_shell(void **state)
{
	for (int shell = 0; shell < 2; shell++) {
		struct ty_event ev = {
			.kind = TY_EV_VECTOR_ENTRY, .id = 30, .flags = TY_EVF_HARDIRQ};
		const struct ty_model *m;
		struct ty_explain x;
		struct ty_stalls s;
		char *printed;
		size_t size;
		FILE *text;

		ty_mx_begin("mode=all\n", NULL);
		ty_mx_switch(0, 1 * MS, 0, R, 11);
		ty_mx_enter(0, 2 * MS, 11, NR_WAIT4);
		ty_mx_switch(0, 2 * MS + 9, 11, S, 12);
		if (shell) {
			ty_mx_enter(0, 3 * MS, 12, NR_EXECVE);
			ty_mx_exit(0, 3 * MS + 9, 12, NR_EXECVE, 0);
		}
		ty_mx_enter(0, 4 * MS, 12, NR_WAIT4);
		ty_mx_switch(0, 4 * MS + 9, 12, S, 13);
		ty_mx_enter(0, 5 * MS, 13, NR_NANOSLEEP);
		ty_mx_switch(0, 5 * MS + 9, 13, S, 0);
		ev.ts_ns = 107 * MS;
		ty_mx_feed(ev);
		ev.kind = TY_EV_HRTIMER_EXPIRE;
		ty_mx_feed(ev);
		ty_mx_waking_irq(0, 107 * MS + 1000, 0, 13, 0);
		ty_mx_switch(0, 107 * MS + 2000, 0, R, 13);
		ty_mx_exit(0, 107 * MS + 3000, 13, NR_NANOSLEEP, 0);
		ty_mx_waking(0, 107 * MS + 4000, 13, 12, 0);
		ty_mx_switch(0, 107 * MS + 5000, 13, TY_TASK_ZOMBIE, 12);
		ty_mx_exit(0, 107 * MS + 6000, 12, NR_WAIT4, 13);
		ty_mx_waking(0, 107 * MS + 7000, 12, 11, 0);
		ty_mx_switch(0, 107 * MS + 8000, 12, TY_TASK_ZOMBIE, 11);
		ty_mx_exit(0, 107 * MS + 9000, 11, NR_WAIT4, 12);
		ty_mx_switch(0, 110 * MS, 11, S, 0);
		m = ty_mx_end();
		x = explain(m, 0);
		s = stalls_by(&x, false);
		assert_int_equal(s.n, 1);
		assert_int_equal(s.v[0].thread, thread(m, shell ? 11 : 12));
		assert_int_equal(s.v[0].kind, TY_STALL_CHILD);
		assert_int_equal(s.v[0].culprit, thread(m, 13));
		assert_non_null(
			strstr(s.v[0].sentence,
			       shell ? "t11/11 waited in wait4 at 0.001 s, woken by t12/12. "
				       "Root cause: t13/13 slept 102 ms in nanosleep"
				     : "t12/12 waited in wait4 at 0.003 s, woken by t13/13"));
		/* The links of a longer chain follow, one each line. */
		text = open_memstream(&printed, &size);
		assert_non_null(text);
		ty_stalls_text(&(struct ty_explained){.x = x, .stalls = s}, text);
		fclose(text);
		assert_int_equal(shell,
				 strstr(printed, "\n                <- t12/12 waited 103 ms in "
						 "wait4\n                <- t13/13 slept 102 ms "
						 "in nanosleep\n") != NULL);
		free(printed);
		ty_stalls_fini(&s);
		ty_mx_drop();
	}
	(void)state;
}

/* A parent waits for the holder of the lock, for longer than the victim does: that is reported
 * second.
 */
static void an_end_stands_behind_what_it_explains(void **state)
{
	struct ty_event ev = {.kind = TY_EV_VECTOR_ENTRY, .id = 30, .flags = TY_EVF_HARDIRQ};
	const struct ty_model *m;
	struct ty_explain x;
	struct ty_stalls s;

	/* Its known children. */
	ty_mx_begin("mode=all\n", "11\t11\t1\t5\tR\t0\t0\t0\t-\t-\t-\t-\tt11\n"
				  "12\t12\t11\t5\tR\t0\t0\t0\t-\t-\t-\t-\tt12\n"
				  "13\t13\t11\t5\tR\t0\t0\t0\t-\t-\t-\t-\tt13\n");
	ty_mx_switch(0, 1 * MS, 0, R, 11); /* the parent */
	ty_mx_enter(0, 2 * MS, 11, NR_WAIT4);
	ty_mx_switch(0, 3 * MS, 11, S, 12); /* the victim */
	ty_mx_enter(0, 4 * MS, 12, NR_FLOCK);
	ty_mx_switch(0, 5 * MS, 12, S, 13); /* the keeper */
	ty_mx_enter(0, 6 * MS, 13, NR_NANOSLEEP);
	ty_mx_switch(0, 7 * MS, 13, S, 0);
	ev.ts_ns = 107 * MS;
	ty_mx_feed(ev);
	ev.kind = TY_EV_HRTIMER_EXPIRE;
	ty_mx_feed(ev);
	ty_mx_waking_irq(0, 107 * MS + 1000, 0, 13, 0);
	ty_mx_switch(0, 107 * MS + 2000, 0, R, 13);
	ty_mx_exit(0, 107 * MS + 3000, 13, NR_NANOSLEEP, 0);
	ty_mx_waking(0, 108 * MS, 13, 12, 0);
	ty_mx_waking(0, 109 * MS, 13, 11, 0);
	ty_mx_switch(0, 110 * MS, 13, S, 12);
	ty_mx_exit(0, 111 * MS, 12, NR_FLOCK, 0);
	ty_mx_switch(0, 112 * MS, 12, S, 11);
	ty_mx_exit(0, 113 * MS, 11, NR_WAIT4, 13);
	ty_mx_switch(0, 120 * MS, 11, S, 0);
	m = ty_mx_end();
	x = explain(m, 11);
	s = stalls_by(&x, false);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].thread, thread(m, 12));
	assert_int_equal(s.v[0].kind, TY_STALL_LOCK);
	assert_int_equal(s.v[0].threads, 2);
	assert_non_null(strstr(s.v[0].sentence,
			       ". t11/11 also waited for t13/13 (all these waits together: "));
	ty_stalls_fini(&s);
	ty_mx_drop();
}

static void idle_waits_are_no_stalls(void **state)
{
	const struct ty_model *m;
	struct ty_explain x;
	struct ty_stalls s;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_enter(0, 2 * MS, 11, NR_EPOLL_WAIT);
	ty_mx_switch(0, 3 * MS, 11, S, 12);
	ty_mx_waking(0, 203 * MS, 12, 11, 0);
	ty_mx_switch(0, 204 * MS, 12, S, 11);
	ty_mx_exit(0, 205 * MS, 11, NR_EPOLL_WAIT, 1);
	ty_mx_switch(0, 206 * MS, 11, S, 0);
	m = ty_mx_end();
	x = explain(m, 0);
	s = stalls_by(&x, false);
	assert_int_equal(s.n, 0);
	ty_stalls_fini(&s);
	s = stalls_by(&x, true);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].kind, TY_STALL_EVENTS);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lock_stall_is_found_once),
		cmocka_unit_test(by_way_of_a_shell),
		cmocka_unit_test(an_end_stands_behind_what_it_explains),
		cmocka_unit_test(idle_waits_are_no_stalls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
