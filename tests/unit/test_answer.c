/* SPDX-License-Identifier: MIT */
/* The answer at the top of a report: sums that are exact, also as shown; whose time it was. */
#include <errno.h>
#include <inttypes.h>
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
#include "stalls.h"
#include "window_all.h"

#define MS UINT64_C(1000000)

enum { NR_READ = 0, NR_WRITE = 1, NR_ACCEPT = 43, NR_NANOSLEEP = 35, NR_WAIT4 = 61, NR_FLOCK = 73 };

static struct ty_answer answer_of(int command)
{
	struct ty_explain x = explain(ty_mx_end(), command);
	struct ty_window w = window_all(x.m);
	struct ty_answer a;
	uint64_t parts = 0, items = 0, rows = 0;

	assert_int_equal(ty_answer_find(&x, &w, NULL, &a), 0);
	for (unsigned p = 0; p < TY_ANSWER_PARTS_N; p++)
		parts += a.part_ns[p];
	for (uint32_t i = 0; i < a.items; i++)
		items += a.item[i].ns;
	assert_int_equal(parts, a.total_ns);
	assert_int_equal(items + a.rest_ns, a.total_ns);
	/* Of a command its ledger, too: every nanosecond. */
	for (uint32_t i = 0; i < a.rows; i++)
		rows += a.row[i].ns;
	assert_int_equal(rows + a.rows_left_ns, a.of == TY_ANSWER_COMMAND ? a.total_ns : 0);
	return a;
}

/* On CPU 1, which is idle, a timer expires and wakes the thread. */
static void timer(uint64_t at_ns, int tid)
{
	struct ty_event ev = {.ts_ns = at_ns,
			      .cpu = 1,
			      .kind = TY_EV_HRTIMER_EXPIRE,
			      .id = 34,
			      .flags = TY_EVF_HARDIRQ};

	ev.u.hrtimer.function = 4711;
	ty_mx_feed(ev);
	ty_mx_waking_irq(1, at_ns, 0, tid, 1);
}

/* What is shown sums to the total that is shown: to the last digit, of any values. */
static void shown_sums(void **state)
{
	uint64_t seed = 88172645463325252u;

	(void)state;
	for (unsigned k = 0; k < 20000; k++) {
		uint64_t ns[7], total = 0, sum = 0;
		char text[8][TY_ANSWER_FIXED];
		unsigned n = 1 + k % 7;
		double shown, step;

		for (unsigned i = 0; i < n; i++) {
			seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
			ns[i] = seed >> (22 + seed % 40);
			total += ns[i];
		}
		ty_answer_fixed(ns, n, total, text);
		for (unsigned i = 0; i <= n; i++) {
			const char *unit = strchr(text[i], ' ');
			uint64_t v = 0;

			assert_non_null(unit);
			assert_string_equal(unit, strchr(text[n], ' '));
			for (const char *c = text[i]; c < unit; c++)
				v = *c == '.' ? v : v * 10 + (uint64_t)(*c - '0');
			if (i < n)
				sum += v;
			else
				assert_int_equal(sum, v);
		}
		/* None is off by a step. */
		for (unsigned i = 0; i < n; i++) {
			const char *dot = strchr(text[i], '.'), *unit = strchr(text[i], ' ');

			step = !strcmp(unit, " s")    ? 1e9
			       : !strcmp(unit, " ms") ? 1e6
			       : !strcmp(unit, " us") ? 1e3
						      : 1;
			shown = strtod(text[i], NULL) * step;
			for (const char *c = dot ? dot + 1 : unit; c < unit; c++)
				step /= 10;
			assert_true(shown - (double)ns[i] < 1.001 * step &&
				    (double)ns[i] - shown < 1.001 * step);
		}
	}
}

/* The shell 11 computes, makes the child 12 and waits for it; the child sleeps, and computes. */
static void child_has_the_time(void **state)
{
	struct ty_answer a;

	(void)state;
	ty_mx_begin("mode=command\ncommand_tid=11\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	call(1 * MS, 11, NR_READ, 0, 0);
	ty_mx_fork(0, 5 * MS, 11, 12, 0);
	ty_mx_waking(0, 5 * MS, 11, 12, 1);
	ty_mx_enter(0, 6 * MS, 11, NR_WAIT4);
	ty_mx_switch(0, 7 * MS, 11, S, 0);
	ty_mx_switch(1, 7 * MS, 0, R, 12);
	ty_mx_enter(1, 10 * MS, 12, NR_NANOSLEEP);
	ty_mx_switch(1, 10 * MS, 12, S, 0);
	timer(310 * MS, 12);
	ty_mx_switch(1, 311 * MS, 0, R, 12);
	ty_mx_exit(1, 311 * MS, 12, NR_NANOSLEEP, 0);
	ty_mx_waking(1, 400 * MS, 12, 11, 0);
	ty_mx_switch(1, 400 * MS, 12, TY_TASK_DEAD, 0);
	ty_mx_switch(0, 401 * MS, 0, R, 11);
	ty_mx_exit(0, 401 * MS, 11, NR_WAIT4, 12);
	ty_mx_switch(0, 411 * MS, 11, TY_TASK_DEAD, 0);
	a = answer_of(11);
	assert_int_equal(a.of, TY_ANSWER_COMMAND);
	assert_int_equal(a.total_ns, 410 * MS);
	assert_int_equal(a.part_ns[TY_PART_SLEEP], 300 * MS);
	assert_int_equal(a.part_ns[TY_PART_CPU], (6 + 3 + 89 + 10) * MS);
	assert_int_equal(a.part_ns[TY_PART_RUNNABLE], 2 * MS);
	assert_string_equal(a.item[0].text, "t12/12 slept in nanosleep");
	assert_string_equal(a.item[1].text, "t12/12 ran: 100% in user mode");
	assert_string_equal(a.children, "17.0 ms in t11/11 itself; in children: t12/12 393 ms");
	assert_int_equal(a.items, 2);
	ty_mx_drop();
}

/* Two waits of one call are one item: a descriptor that only one of them had is told with that. */
static void waits_of_two_descriptors(void **state)
{
	struct ty_answer a;

	(void)state;
	givens = 0;
	ty_mx_begin("mode=command\ncommand_tid=11\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t from = i ? 110 * MS : 2 * MS, to = i ? 410 * MS : 102 * MS;

		give(from, 4 + i, 0, 0);
		ty_mx_enter(0, from, 11, NR_READ);
		ty_mx_switch(0, from, 11, S, 0);
		timer(to, 11);
		ty_mx_switch(0, to, 0, R, 11);
		ty_mx_exit(0, to, 11, NR_READ, 1);
	}
	ty_mx_switch(0, 420 * MS, 11, TY_TASK_DEAD, 0);
	a = answer_of(11);
	assert_int_equal(a.item[0].ns, 400 * MS);
	assert_string_equal(a.item[0].text,
			    "t11/11 waited in read until it timed out (2 times, the "
			    "longest 300 ms on fd 5)");
	ty_mx_drop();
}

/* The command waits for a lock that 20, which it did not make, holds while that sleeps. */
static void another_process_held_it_up(void **state)
{
	struct ty_answer a;

	(void)state;
	ty_mx_begin("mode=command\ncommand_tid=11\n", NULL);
	ty_mx_switch(1, 1 * MS, 0, R, 20);
	ty_mx_enter(1, 1 * MS, 20, NR_NANOSLEEP);
	ty_mx_switch(0, 2 * MS, 0, R, 11);
	call(2 * MS, 11, NR_READ, 0, 0);
	ty_mx_switch(1, 2 * MS, 20, S, 0);
	ty_mx_enter(0, 10 * MS, 11, NR_FLOCK);
	ty_mx_switch(0, 10 * MS, 11, S, 0);
	timer(190 * MS, 20);
	ty_mx_switch(1, 190 * MS, 0, R, 20);
	ty_mx_exit(1, 190 * MS, 20, NR_NANOSLEEP, 0);
	ty_mx_enter(1, 195 * MS, 20, NR_FLOCK);
	ty_mx_waking(1, 195 * MS, 20, 11, 0);
	ty_mx_exit(1, 195 * MS, 20, NR_FLOCK, 0);
	ty_mx_switch(0, 195 * MS, 0, R, 11);
	ty_mx_exit(0, 195 * MS, 11, NR_FLOCK, 0);
	ty_mx_switch(0, 202 * MS, 11, TY_TASK_DEAD, 0);
	a = answer_of(11);
	assert_int_equal(a.total_ns, 200 * MS);
	assert_int_equal(a.part_ns[TY_PART_OTHERS], 185 * MS);
	assert_int_equal(a.part_ns[TY_PART_CPU], 15 * MS);
	assert_string_equal(a.item[0].text,
			    "t11/11 waited in flock for t20/20, which slept in nanosleep");
	assert_string_equal(a.children, "");
	ty_mx_drop();
}

/* A command that polls several descriptors while it connects: where to is told; and of whom another
 * one's time was, who woke it in between. */
static void the_silent_peer_is_told(void **state)
{
	enum { NR_POLL = 7, NR_SOCKET = 41, NR_CONNECT = 42, NR_CLOSE = 3 };
	struct ty_requests q;
	struct ty_explain x;
	struct ty_window w;
	struct ty_answer a;

	(void)state;
	givens = 0;
	ty_mx_begin("mode=command\ncommand_tid=11\n", NULL);
	ty_mx_switch(0, 2 * MS, 0, R, 11);
	call(3 * MS, 11, NR_SOCKET, 9, 2);
	call(4 * MS, 11, NR_CONNECT, -EINPROGRESS, 9);
	give(5 * MS, 0x7000, 2, 100);
	ty_mx_enter(0, 5 * MS, 11, NR_POLL);
	ty_mx_switch(0, 5 * MS, 11, S, 0);
	timer(105 * MS, 11);
	ty_mx_switch(0, 105 * MS, 0, R, 11);
	ty_mx_exit(0, 105 * MS, 11, NR_POLL, 0);
	call(106 * MS, 11, NR_CLOSE, 0, 9);
	ty_mx_switch(0, 107 * MS, 11, TY_TASK_DEAD, 0);
	x = explain(ty_mx_end(), 11);
	w = window_all(x.m);
	assert_int_equal(ty_requests_find(&x, &w, 100, 0, &q, NULL), 0);
	assert_int_equal(ty_answer_find(&x, &w, &q, &a), 0);
	assert_string_equal(a.item[0].text,
			    "t11/11 waited in poll for a connection on fd 9 until it timed out");
	ty_requests_fini(&q);
	ty_mx_drop();
	/* 11 waits for 12 of another process, and that for 20. */
	givens = 0;
	ty_mx_begin("mode=command\ncommand_tid=11\n", NULL);
	ty_mx_switch(1, 1 * MS, 0, R, 12);
	ty_mx_switch(1, 2 * MS, 12, S, 20);
	ty_mx_switch(0, 2 * MS, 0, R, 11);
	ty_mx_enter(0, 10 * MS, 11, NR_FLOCK);
	ty_mx_switch(0, 10 * MS, 11, S, 0);
	ty_mx_waking(1, 190 * MS, 20, 12, 1);
	ty_mx_switch(1, 190 * MS, 20, S, 12);
	ty_mx_waking(1, 191 * MS, 12, 11, 0);
	ty_mx_switch(0, 191 * MS, 0, R, 11);
	ty_mx_exit(0, 191 * MS, 11, NR_FLOCK, 0);
	ty_mx_switch(0, 202 * MS, 11, TY_TASK_DEAD, 0);
	a = answer_of(11);
	assert_string_equal(
		a.item[0].text,
		"t11/11 waited in flock for t12/12, which waited for t20/20, which ran");
	ty_mx_drop();
}

/* A server that was attached to: each reply takes a millisecond on the CPU, but one waits for a
 * lock that 20, another process, holds meanwhile. */
static void a_slow_request(void **state)
{
	struct ty_explain x;
	struct ty_window w;
	struct ty_stalls_opts o = {0};
	struct ty_stalls s;
	struct ty_requests q;
	struct ty_answer a;
	uint64_t at = 2 * MS;

	(void)state;
	givens = 0;
	ty_mx_begin("mode=pids\npid=11\n", "taken 1 2\n" ROW("11", "11", "1", "server"));
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_switch(1, 1 * MS, 0, R, 20);
	call(at, 11, NR_ACCEPT, 9, 3);
	for (unsigned i = 0; i < 9; i++) {
		at += 2 * MS;
		call(at, 11, NR_READ, 10, 9);
		at += 1 * MS;
		if (i == 6) {
			give(at, 7, 0, 0);
			ty_mx_enter(0, at, 11, NR_FLOCK);
			ty_mx_switch(0, at, 11, S, 0);
			at += 50 * MS;
			ty_mx_waking(1, at, 20, 11, 0);
			ty_mx_switch(0, at, 0, R, 11);
			ty_mx_exit(0, at, 11, NR_FLOCK, 0);
			at += 1000;
		}
		call(at, 11, NR_WRITE, 10, 9);
	}
	ty_mx_switch(0, at + MS, 11, S, 0);
	ty_mx_switch(1, at + MS, 20, S, 0);
	x = explain(ty_mx_end(), 0);
	w = window_all(x.m);
	assert_int_equal(ty_requests_find(&x, &w, 100, 0, &q, NULL), 0);
	assert_int_equal(q.sample_n, 9);
	assert_int_equal(ty_answer_find(&x, &w, &q, &a), 0);
	assert_int_equal(a.of, TY_ANSWER_REQUESTS);
	assert_string_equal(a.head,
			    "t11/11 replied to 9 requests: p50 1.00 ms, p99 1.00 ms, max 51.0 ms");
	assert_string_equal(a.sum_of, "the slowest, ");
	assert_int_equal(a.part_ns[TY_PART_OTHERS], 50 * MS);
	assert_int_equal(a.part_ns[TY_PART_OTHERS] + a.part_ns[TY_PART_CPU], a.total_ns);
	assert_string_equal(a.item[0].text, "t11/11 waited in flock on fd 7 for t20/20, which ran");
	assert_int_equal(a.notes, 1);
	assert_string_equal(a.note[0], "a median one, 1.000 ms = 1.000 ms on CPU");
	/* Without requests: what the thread did. */
	assert_int_equal(ty_answer_find(&x, &w, NULL, &a), 0);
	assert_int_equal(a.of, TY_ANSWER_THREADS);
	assert_int_equal(a.part_ns[TY_PART_WAIT], 50 * MS);
	assert_string_equal(a.item[0].text, "t11/11 ran: 100% in user mode");
	/* Of the whole machine: who had the CPUs. */
	x.whole_machine = true;
	assert_int_equal(ty_answer_find(&x, &w, &q, &a), 0);
	assert_int_equal(a.of, TY_ANSWER_MACHINE);
	assert_int_equal(a.total_ns, 2 * (w.to_ns - w.from_ns));
	assert_string_equal(a.item[0].text, "t20/20 ran");
	assert_string_equal(a.note[0], "t11/11 replied to 9 requests: p50 1.00 ms, max 51.0 ms");
	assert_int_equal(ty_stalls_find(&x, &w, &o, 10, &s, NULL), 0);
	ty_answer_held_up(&x, &s, &a);
	assert_string_equal(a.note[0], "held up longest: t11/11 for 50.0 ms by t20/20 (stall 1)");
	assert_int_equal(a.notes, 2);
	ty_stalls_fini(&s);
	assert_int_equal(a.item[0].ns + a.item[1].ns + a.rest_ns, a.part_ns[TY_PART_CPU]);
	assert_int_equal(a.rest, 0);
	ty_requests_fini(&q);
	ty_mx_drop();
}

static int on_fd_9(void *ctx, const struct ty_syscall *c, uint64_t args[6])
{
	(void)ctx;
	memcpy(args, (uint64_t[6]){c->nr == NR_ACCEPT ? 3 : 9, 0, 10}, 6 * sizeof(*args));
	return 0;
}

/* Every stride-th of more requests than are kept, evenly, in time order. */
static void sampled_requests(void **state)
{
	struct ty_explain x;
	struct ty_window w;
	struct ty_requests q;
	uint64_t at = 2 * MS;

	(void)state;
	givens = 0;
	ty_mx_begin("mode=pids\npid=11\n", "taken 1 2\n" ROW("11", "11", "1", "server"));
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	call(at, 11, NR_ACCEPT, 9, 3);
	for (unsigned i = 0; i < 700; i++) {
		at += 2000;
		ty_mx_enter(0, at, 11, NR_READ);
		ty_mx_exit(0, at + 1000, 11, NR_READ, 10);
		at += 2000;
		ty_mx_enter(0, at, 11, NR_WRITE);
		ty_mx_exit(0, at + 1000, 11, NR_WRITE, 10);
	}
	ty_mx_switch(0, at + MS, 11, S, 0);
	x = explain(ty_mx_end(), 0);
	x.args = on_fd_9;
	w = window_all(x.m);
	assert_int_equal(ty_requests_find(&x, &w, 10, 0, &q, NULL), 0);
	assert_int_equal(q.all, 700);
	assert_int_equal(q.sample_n, 175);
	for (uint32_t i = 1; i < q.sample_n; i++)
		assert_int_equal(q.sample[i].start_ns - q.sample[i - 1].start_ns, 4 * 4000);
	ty_requests_fini(&q);
	ty_mx_drop();
}

/* No scheduler's events of the command: all of it is unknown, and said to be. */
static void nothing_known(void **state)
{
	struct ty_answer a;

	(void)state;
	ty_mx_begin("mode=command\ncommand_tid=11\n", NULL);
	ty_mx_enter(0, 10 * MS, 11, NR_READ);
	ty_mx_exit(0, 20 * MS, 11, NR_READ, 0);
	ty_mx_enter(0, 30 * MS, 11, NR_READ);
	a = answer_of(11);
	assert_int_equal(a.total_ns, 20 * MS);
	assert_int_equal(a.part_ns[TY_PART_UNKNOWN], 20 * MS);
	assert_string_equal(a.item[0].text, "/11: unknown");
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shown_sums),
		cmocka_unit_test(child_has_the_time),
		cmocka_unit_test(waits_of_two_descriptors),
		cmocka_unit_test(another_process_held_it_up),
		cmocka_unit_test(nothing_known),
		cmocka_unit_test(the_silent_peer_is_told),
		cmocka_unit_test(a_slow_request),
		cmocka_unit_test(sampled_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
