/* SPDX-License-Identifier: MIT */
/* The culprit of a wait: the thread served by a kernel thread; and of a sum of waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "fixture_stall_count.h"
#include "fixture_turns.h"

/*
 * 11 sends a request to 12, both through a kernel thread, 20, which a timer wakes before 12's reply
 * does. Or another one, 13, is in such a call then, too; or it alone; or 12 replies when 20 runs.
 */
enum late { ANSWER, TWO_GIVE, STRANGER, RUNS };

static struct ty_stall served_late(enum late how)
{
	bool other = how == TWO_GIVE || how == STRANGER, own = how == ANSWER || how == TWO_GIVE;
	const struct ty_model *m;
	struct ty_stalls s;
	static char sentence[TY_STALL_SENTENCE];
	struct ty_stall first;

	begin("mode=pids\npid=10\n",
	      "taken 1 2\n" ROW("10", "10", "1", "job") ROW("20", "20", "2", "kworker"));
	ty_mx_switch(0, t, 0, R, 10);
	call(t += MS, 10, NR_READ, 1, 0);
	ty_mx_fork(0, t += MS, 10, 11, 0);
	ty_mx_fork(0, t += 1000, 10, 12, 0);
	ty_mx_fork(0, t += 1000, 10, 13, 0);
	ty_mx_switch(1, t += 1000, 0, R, 13);
	sleeps(10, NR_WAIT4, 0, 0, 12);
	sleeps(12, NR_READ, 6, 0, 11);
	wakes(11, NR_WRITE, 5, 0, 20);
	sleeps(11, NR_READ, 5, 0, 20);
	ty_mx_waking(0, t += 1000, 20, 12, 0);
	goes_on(20, S, 12, NR_READ, 1);
	sleeps(12, NR_NANOSLEEP, 0, 0, 0);
	time_is_up(12, NR_NANOSLEEP, 0, 300);
	if (other) {
		give(t += 1000, 7, 0, 1);
		ty_mx_enter(1, t, 13, NR_WRITE);
	}
	if (own) {
		give(t += 1000, 6, 0, 1);
		ty_mx_enter(0, t, 12, NR_WRITE);
	}
	ty_mx_feed((struct ty_event){.kind = TY_EV_VECTOR_ENTRY,
				     .id = 30,
				     .ts_ns = t += 1000,
				     .tid = 12,
				     .flags = TY_EVF_HARDIRQ});
	ty_mx_feed((struct ty_event){
		.kind = TY_EV_HRTIMER_EXPIRE, .ts_ns = t, .tid = 12, .flags = TY_EVF_HARDIRQ});
	ty_mx_waking_irq(0, t += 1000, 12, 20, 0);
	if (own)
		ty_mx_exit(0, t += 1000, 12, NR_WRITE, 1);
	ty_mx_switch(0, t += 1000, 12, R, 20);
	if (how == RUNS) {
		ty_mx_switch(1, t += 1000, 13, S, 12);
		give(t += 1000, 6, 0, 1);
		ty_mx_enter(1, t, 12, NR_WRITE);
		ty_mx_exit(1, t += 1000, 12, NR_WRITE, 1);
	}
	ty_mx_waking(0, t += 1000, 20, 11, 0);
	if (other)
		ty_mx_exit(1, t, 13, NR_WRITE, 1);
	goes_on(20, S, 11, NR_READ, 1);
	ty_mx_switch(0, t += 3 * MS, 11, R, 0);
	m = ty_mx_end();
	s = stalls_of(m, 0, false);
	assert_int_equal(s.n, 1);
	first = s.v[0];
	snprintf(sentence, sizeof(sentence), "%s", first.sentence);
	first.sentence = sentence;
	assert_int_equal(ty_model_thread(m, first.thread)->tid, 11);
	first.culprit = (uint32_t)ty_model_thread(m, first.culprit)->tid;
	ty_stalls_fini(&s);
	ty_mx_drop();
	return first;
}

static void who_a_timer_woke_serves_the_one_that_gave(void **state)
{
	struct ty_stall s = served_late(ANSWER);

	assert_int_equal(s.culprit, 12);
	assert_false(s.proven);
	assert_non_null(strstr(s.sentence, ". Root cause: "));
	for (uint32_t i = 0; i < s.links; i++)
		assert_int_equal(s.link[i].waker.inferred, i + 2 == s.links);
	assert_int_equal(served_late(TWO_GIVE).culprit, 20);
	assert_int_equal(served_late(STRANGER).culprit, 20);
	assert_int_equal(served_late(RUNS).culprit, 20);
}

/* 11 syncs a file, and a thread of the kernel, which a timer wakes, ends its wait: a throttled
 * write, perhaps, but nothing proves it. */
static void a_timer_of_the_kernel_proves_no_culprit(void **state)
{
	struct ty_stalls s;

	(void)state;
	begin("mode=all\n",
	      "taken 1 2\n" ROW("11", "11", "1", "job") ROW("20", "20", "2", "kworker"));
	ty_mx_switch(0, t, 0, R, 20);
	ty_mx_switch(0, t += MS, 20, S, 11);
	ty_mx_enter(0, t += MS, 11, NR_FSYNC);
	ty_mx_switch(0, t += 1000, 11, D, 0);
	ty_mx_feed((struct ty_event){.kind = TY_EV_VECTOR_ENTRY,
				     .id = 30,
				     .ts_ns = t += 200 * MS,
				     .flags = TY_EVF_HARDIRQ});
	ty_mx_feed((struct ty_event){
		.kind = TY_EV_HRTIMER_EXPIRE, .ts_ns = t, .flags = TY_EVF_HARDIRQ});
	ty_mx_waking_irq(0, t += 1000, 0, 20, 0);
	ty_mx_switch(0, t += 1000, 0, R, 20);
	ty_mx_waking(0, t += 1000, 20, 11, 0);
	goes_on(20, S, 11, NR_FSYNC, 0);
	ty_mx_switch(0, t += 3 * MS, 11, R, 0);
	s = stalls_of(ty_mx_end(), 0, false);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].kind, TY_STALL_UNINTERRUPTIBLE);
	assert_false(s.v[0].proven);
	assert_non_null(strstr(s.v[0].sentence, "The purpose of that timer is not recorded"));
	ty_stalls_fini(&s);
	ty_mx_drop();
}

/* 11 syncs a file in eight short waits. A device ends them; or another thread, which computes: all,
 * or the longest only, which speaks for the sum no more. */
static unsigned syncs(bool all, bool longest)
{
	begin("mode=all\n",
	      "taken 1 2\n" ROW("11", "11", "1", "job") ROW("12", "12", "1", "other"));
	ty_mx_switch(0, t, 0, R, 11);
	for (unsigned i = 0; i < 8; i++) {
		bool thread = all || (longest && i == 5);

		ty_mx_enter(0, t += MS, 11, NR_FSYNC);
		ty_mx_switch(0, t += 1000, 11, D, thread ? 12 : 0);
		t += (i == 5 ? 14 : 8) * MS;
		if (thread) {
			ty_mx_waking(0, t, 12, 11, 0);
		} else {
			ty_mx_feed((struct ty_event){.kind = TY_EV_IRQ_ENTRY,
						     .id = 31,
						     .ts_ns = t,
						     .flags = TY_EVF_HARDIRQ});
			ty_mx_waking_irq(0, t += 1000, 0, 11, 0);
			ty_mx_feed((struct ty_event){.kind = TY_EV_IRQ_EXIT,
						     .id = 32,
						     .ts_ns = t += 1000,
						     .flags = TY_EVF_HARDIRQ});
		}
		ty_mx_switch(0, t += 1000, thread ? 12 : 0, thread ? S : R, 11);
		ty_mx_exit(0, t += 1000, 11, NR_FSYNC, 0);
	}
	ty_mx_switch(0, t += MS, 11, R, 0);
	return stalls_of_thread(0, 11);
}

static void one_wait_does_not_speak_for_all(void **state)
{
	assert_int_equal(syncs(false, false), 1);
	assert_int_equal(syncs(false, true), 1);
	assert_int_equal(syncs(true, true), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_a_timer_woke_serves_the_one_that_gave),
		cmocka_unit_test(a_timer_of_the_kernel_proves_no_culprit),
		cmocka_unit_test(one_wait_does_not_speak_for_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
