/* SPDX-License-Identifier: MIT */
/* Answers of small machines. Included behind cmocka.h. */
#ifndef TY_FIXTURE_ANSWER_H
#define TY_FIXTURE_ANSWER_H

#include "answer.h"
#include "fixture_given.h"
#include "stalls.h"
#include "window_all.h"

#define MS UINT64_C(1000000)

enum {
	NR_READ = 0,
	NR_WRITE = 1,
	NR_ACCEPT = 43,
	NR_NANOSLEEP = 35,
	NR_WAIT4 = 61,
	NR_FLOCK = 73,
	NR_MKDIR = 83
};

static inline struct ty_answer answer_of(int command)
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
static inline void timer(uint64_t at_ns, int tid)
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

/* A server that was attached to: each reply takes a millisecond on the CPU, but one waits for a
 * lock that 20, another process, holds meanwhile. */
static inline struct ty_explain slow_request(struct ty_window *w, struct ty_requests *q)
{
	struct ty_explain x;
	uint64_t at = 2 * MS;

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
	*w = window_all(x.m);
	assert_int_equal(ty_requests_find(&x, w, 100, 0, q, NULL), 0);
	return x;
}

#endif
