/* SPDX-License-Identifier: MIT */
/* Stop-the-world: a thread that is stopped for one that works alone, and one that only waits for
 * its work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>

#include "fixture_turns.h"
#include "window_all.h"

enum {
	NR_READ = 0,
	NR_NANOSLEEP = 35,
	NR_FUTEX = 202,
	NR_TGKILL = 234,
	NR_EPOLL_WAIT = 232,
	WAIT = 128,
	WAKE = 129,
	ASKED = 0x1000,
	DONE = 0x2000,
	GO_ON = 0x3000,
	RESUME = 0x4000
};

#define THREE                                                                                      \
	"taken 1 2\n" ROW("11", "11", "1", "asker") ROW("12", "11", "1", "service")                \
		ROW("13", "11", "1", "other")

enum how { STOPS, WAITED_BEFORE, WORKS_ON, WAITS_ELSEWHERE, SIGNALLED, TASKS };

static void on_request(enum how how)
{
	sleeps(12, NR_FUTEX, ASKED, WAIT, 13);
	if (how == WAITED_BEFORE)
		sleeps(13, NR_FUTEX, GO_ON, WAIT, 11);
	else
		ty_mx_switch(0, t += 20 * MS, 13, R, 11);
	wakes(11, NR_FUTEX, ASKED, WAKE, 12);
	sleeps(11, NR_FUTEX, DONE, WAIT, how == WAITED_BEFORE ? 12 : 13);
	if (how == WORKS_ON) {
		ty_mx_switch(0, t += 100 * MS, 13, R, 12);
	} else if (how != WAITED_BEFORE) {
		t += MS;
		sleeps(13, NR_FUTEX, GO_ON, WAIT, 12);
	}
	ty_mx_exit(0, t += 1000, 12, NR_FUTEX, 0);
	t += 200 * MS;
	wakes(12, NR_FUTEX, DONE, WAKE, 11);
	if (how != WORKS_ON)
		wakes(12, NR_FUTEX, GO_ON, WAKE, 13);
	if (how == WAITS_ELSEWHERE)
		sleeps(12, NR_EPOLL_WAIT, 4, 0, 11);
	else
		sleeps(12, NR_FUTEX, ASKED, WAIT, 11);
	ty_mx_exit(0, t += 1000, 11, NR_FUTEX, 0);
	ty_mx_switch(0, t += MS, 11, S, how == WORKS_ON ? 0 : 13);
	if (how != WORKS_ON) {
		ty_mx_exit(0, t += 1000, 13, NR_FUTEX, 0);
		ty_mx_switch(0, t += MS, 13, S, 0);
	}
}

/* 12 wakes 11 and 13 from what they wait for, which ends with `ret`; they wait for it until it has
 * worked for 200 ms. */
static void by_turns(int64_t ret)
{
	sleeps(12, NR_NANOSLEEP, 0, 0, 11);
	sleeps(11, NR_READ, 5, 0, 13);
	sleeps(13, NR_READ, 6, 0, 12);
	ty_mx_exit(0, t += 1000, 12, NR_NANOSLEEP, 0);
	wakes(12, NR_TGKILL, 11, 11, 11);
	wakes(12, NR_TGKILL, 11, 13, 13);
	ty_mx_switch(0, t += 1000, 12, R, 11);
	ty_mx_exit(0, t += 1000, 11, NR_READ, ret);
	sleeps(11, NR_FUTEX, GO_ON, WAIT, 13);
	ty_mx_exit(0, t += 1000, 13, NR_READ, ret);
	sleeps(13, NR_FUTEX, RESUME, WAIT, 12);
	t += 200 * MS;
	wakes(12, NR_FUTEX, GO_ON, WAKE, 11);
	wakes(12, NR_FUTEX, RESUME, WAKE, 13);
	sleeps(12, NR_NANOSLEEP, 0, 0, 11);
	ty_mx_exit(0, t += 1000, 11, NR_FUTEX, 0);
	ty_mx_switch(0, t += MS, 11, S, 13);
	ty_mx_exit(0, t += 1000, 13, NR_FUTEX, 0);
	ty_mx_switch(0, t += MS, 13, S, 0);
}

/* 11 requests work from 12, which works for 200 ms and then wakes 11 and 13. Which rule decides on
 * the wait of `tid`? */
static const char *rule_of(enum how how, int tid)
{
	static char id[32];
	struct ty_window w;
	struct ty_explain x;
	struct ty_stalls_opts o = {.rejected = true};
	struct ty_stalls s;

	begin("mode=all\n", THREE);
	ty_mx_switch(0, t, 0, R, 12);
	if (how == SIGNALLED || how == TASKS)
		by_turns(how == SIGNALLED ? -EINTR : 0);
	else
		on_request(how);
	ty_mx_event(0, t += 5 * MS, 0, TY_EV_OTHER);
	x = explain(ty_mx_end(), 0);
	w = window_all(x.m);
	assert_int_equal(ty_stalls_find(&x, &w, &o, 100, &s, NULL), 0);
	strcpy(id, "none");
	for (uint32_t i = 0; i < s.n + s.rejected_n; i++) {
		const struct ty_stall *v = i < s.n ? &s.v[i] : &s.rejected[i - s.n];

		if (ty_model_tid(x.m, v->thread, v->start_ns) != tid || v->duration_ns < 150 * MS ||
		    v->duration_ns > 400 * MS || v->state != TY_ST_SLEEPING)
			continue;
		snprintf(id, sizeof(id), "%s", v->rule->id);
		if (!strcmp(id, "stop-the-world")) {
			assert_false(v->proven);
			assert_int_equal(v->threads, 2);
			assert_int_equal(ty_model_tid(x.m, v->culprit, v->start_ns), 12);
		}
	}
	ty_stalls_fini(&s);
	ty_mx_drop();
	return id;
}

static void all_threads_are_stopped_for_one(void **state)
{
	assert_string_equal(rule_of(STOPS, 11), "stop-the-world");
	/* 13 stands in the same finding. */
	assert_string_equal(rule_of(STOPS, 13), "none");
}

/* Each handler waits; a thread that is only woken may have been given a task. */
static void threads_are_stopped_by_signals(void **state)
{
	assert_string_equal(rule_of(SIGNALLED, 11), "stop-the-world");
	assert_string_equal(rule_of(SIGNALLED, 13), "none");
	assert_string_not_equal(rule_of(TASKS, 11), "stop-the-world");
}

static void who_waited_before_is_given_work(void **state)
{
	assert_string_equal(rule_of(WAITED_BEFORE, 13), "no-dependent-work");
	assert_string_not_equal(rule_of(WAITED_BEFORE, 11), "stop-the-world");
}

static void others_that_work_on_are_not_stopped(void **state)
{
	assert_string_not_equal(rule_of(WORKS_ON, 11), "stop-the-world");
}

static void an_event_loop_stops_nobody(void **state)
{
	assert_string_not_equal(rule_of(WAITS_ELSEWHERE, 11), "stop-the-world");
	assert_string_not_equal(rule_of(WAITS_ELSEWHERE, 13), "stop-the-world");
}

/* 12 hands tasks to 11 and 13, the first of which to be done says so; then it wakes 14, which
 * computes and requests the next one. How many waits of the workers are stops by 14 or 12? */
static unsigned stops_of_workers(void)
{
	struct ty_window w;
	struct ty_explain x;
	struct ty_stalls_opts o = {0};
	struct ty_stalls s;
	unsigned n = 0;

	begin("mode=all\n", THREE ROW("14", "11", "1", "main"));
	ty_mx_switch(0, t, 0, R, 11);
	sleeps(11, NR_FUTEX, GO_ON, WAIT, 13);
	sleeps(13, NR_FUTEX, GO_ON, WAIT, 12);
	sleeps(12, NR_FUTEX, ASKED, WAIT, 14);
	for (int i = 0; i < 6; i++) {
		int first = i % 2 ? 11 : 13, last = 24 - first;

		t += 100 * MS;
		wakes(14, NR_FUTEX, ASKED, WAKE, 12);
		sleeps(14, NR_FUTEX, RESUME, WAIT, 12);
		ty_mx_exit(0, t += 1000, 12, NR_FUTEX, 0);
		wakes(12, NR_FUTEX, GO_ON, WAKE, 11);
		wakes(12, NR_FUTEX, GO_ON, WAKE, 13);
		sleeps(12, NR_FUTEX, DONE, WAIT, first);
		ty_mx_exit(0, t += 1000, first, NR_FUTEX, 0);
		t += 2 * MS;
		wakes(first, NR_FUTEX, DONE, WAKE, 12);
		sleeps(first, NR_FUTEX, GO_ON, WAIT, last);
		ty_mx_exit(0, t += 1000, last, NR_FUTEX, 0);
		t += 2 * MS;
		sleeps(last, NR_FUTEX, GO_ON, WAIT, 12);
		ty_mx_exit(0, t += 1000, 12, NR_FUTEX, 0);
		wakes(12, NR_FUTEX, RESUME, WAKE, 14);
		sleeps(12, NR_FUTEX, ASKED, WAIT, 14);
		ty_mx_exit(0, t += 1000, 14, NR_FUTEX, 0);
	}
	ty_mx_event(0, t += 5 * MS, 14, TY_EV_OTHER);
	x = explain(ty_mx_end(), 0);
	w = window_all(x.m);
	assert_int_equal(ty_stalls_find(&x, &w, &o, 100, &s, NULL), 0);
	for (uint32_t i = 0; i < s.n; i++)
		n += ty_model_tid(x.m, s.v[i].thread, s.v[i].start_ns) != 14 &&
		     !strcmp(s.v[i].rule->id, "stop-the-world");
	ty_stalls_fini(&s);
	ty_mx_drop();
	return n;
}

static void workers_wait_for_their_next_task(void **state)
{
	assert_int_equal(stops_of_workers(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_threads_are_stopped_for_one),
		cmocka_unit_test(threads_are_stopped_by_signals),
		cmocka_unit_test(who_waited_before_is_given_work),
		cmocka_unit_test(others_that_work_on_are_not_stopped),
		cmocka_unit_test(an_event_loop_stops_nobody),
		cmocka_unit_test(workers_wait_for_their_next_task),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
