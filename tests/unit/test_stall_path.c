/* SPDX-License-Identifier: MIT */
/* The path of a command or a job: which process is a job, and where a path begins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture_stall_count.h"
#include "fixture_turns.h"

/* Of the whole machine: 10 waits for what its child has to say, and comes to its end, or not. */
static unsigned ends_meanwhile(bool end)
{
	begin("mode=all\n", "taken 1 2\n" ROW("10", "10", "1", "job"));
	ty_mx_switch(0, t, 0, R, 10);
	call(t += MS, 10, NR_READ, 1, 0);
	ty_mx_fork(0, t += MS, 10, 11, 0);
	sleeps(10, NR_READ, 3, 0, 11);
	t += 400 * MS;
	wakes(11, NR_WRITE, 4, 0, 10);
	goes_on(11, S, 10, NR_READ, 1);
	t += 3 * MS;
	if (end)
		ends(t, 10);
	ty_mx_switch(0, t += 1000, 10, end ? TY_TASK_DEAD : S, 0);
	return count_stalls(0, true, 10);
}

/* Of the whole machine: a shell, 9, starts jobs one after the other, each of which waits for what
 * its child has to say and ends. The shell lives on, or ends when it has started the first. */
static unsigned start_jobs(unsigned jobs, bool shell_ends)
{
	begin("mode=all\n", "taken 1 2\n" ROW("9", "9", "1", "sh"));
	ty_mx_switch(0, t, 0, R, 9);
	for (int tid = 10; jobs; jobs--, tid += 2) {
		ty_mx_fork(0, t += MS, 9, tid, 0);
		if (shell_ends)
			ends(t += 1000, 9);
		ty_mx_switch(0, t += 1000, 9, shell_ends ? TY_TASK_DEAD : R, tid);
		call(t += MS, tid, NR_READ, 1, 0);
		ty_mx_fork(0, t += MS, tid, tid + 1, 0);
		sleeps(tid, NR_READ, 3, 0, tid + 1);
		t += 400 * MS;
		wakes(tid + 1, NR_WRITE, 4, 0, tid);
		goes_on(tid + 1, R, tid, NR_READ, 1);
		ends(t += 3 * MS, tid);
		ty_mx_switch(0, t += 1000, tid, TY_TASK_DEAD, shell_ends ? 0 : 9);
	}
	return count_stalls(0, true, 0);
}

/* The command, 11, reads once, for 400 ms, what 12 has to say. It is the same wait in each part of
 * the recording. */
static void a_part_of_a_wait_is_judged_as_all_of_it(void **state)
{
	const uint64_t cut[][2] = {{0, 0}, {100, 0}, {0, 100}, {100, 100}, {300, 0}, {0, 300}};
	struct ty_stalls_opts o = {0};
	struct ty_explain x;
	uint64_t from, to;

	(void)state;
	begin("mode=command\ncommand_tid=11\n", "taken 1 2\n" ROW("11", "11", "1", "job"));
	ty_mx_switch(0, t, 0, R, 11);
	from = t += MS;
	sleeps(11, NR_READ, 3, 0, 12);
	to = t += 400 * MS;
	wakes(12, NR_WRITE, 4, 0, 11);
	goes_on(12, S, 11, NR_READ, 1);
	ends(t += 3 * MS, 11);
	ty_mx_switch(0, t += 1000, 11, TY_TASK_DEAD, 0);
	x = explain(ty_mx_end(), 11);
	for (unsigned i = 0; i < sizeof(cut) / sizeof(*cut); i++) {
		struct ty_window w = window_all(x.m);
		struct ty_stalls s;

		w.from_ns = cut[i][0] ? from + cut[i][0] * MS : w.from_ns;
		w.to_ns = cut[i][1] ? to - cut[i][1] * MS : w.to_ns;
		assert_int_equal(ty_stalls_find(&x, &w, &o, 100, &s, NULL), 0);
		assert_int_equal(s.n, 1);
		assert_string_equal(s.v[0].rule->id, "critical-path");
		assert_in_range(s.v[0].duration_ns, (399 - cut[i][0] - cut[i][1]) * MS,
				(401 - cut[i][0] - cut[i][1]) * MS);
		ty_stalls_fini(&s);
	}
	ty_mx_drop();
}

static void what_ends_is_a_job(void **state)
{
	assert_int_equal(ends_meanwhile(true), 1);
	assert_int_equal(ends_meanwhile(false), 0);
	assert_int_equal(start_jobs(1, false), 1);
	assert_int_equal(start_jobs(40, false), 40);
	assert_int_equal(start_jobs(1, true), 1);
}

/* The start of the command's execve is lost: the exec itself shows when the recorder started it. */
static void a_lost_execve_costs_no_path(void **state)
{
	struct ty_event ev = {.kind = TY_EV_EXEC, .id = 34, .tid = 10};
	const struct ty_model *m;

	begin("mode=pids\npid=10\ncommand_tid=10\n", "taken 1 2\n" ROW("10", "10", "1", "job"));
	ty_mx_switch(0, t, 0, R, 10);
	ev.ts_ns = t += MS;
	ty_mx_feed(ev);
	call(t + 50 * MS, 10, NR_READ, 1, 0);
	ty_mx_switch(0, t + 60 * MS, 10, S, 0);
	m = ty_mx_end();
	assert_int_equal(ty_model_thread(m, ty_model_thread_find(m, 10, t))->released_ns, t);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_part_of_a_wait_is_judged_as_all_of_it),
		cmocka_unit_test(what_ends_is_a_job),
		cmocka_unit_test(a_lost_execve_costs_no_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
