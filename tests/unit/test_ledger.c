/* SPDX-License-Identifier: MIT */
/* Rows of the ledger that say what is not known, and how many threads are shown as one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cpu_gaps.h"
#include "fixture_given.h"
#include "ledger.h"

#define MS UINT64_C(1000000)

enum { NR_READ = 0, NR_WRITE = 1, NR_NANOSLEEP = 35, NR_FUTEX = 202 };

/* Time in rows that read so; all rows sum to the ledger's time. */
static uint64_t row_ns(const struct ty_ledger *l, const char *row)
{
	uint64_t sum = 0, ns = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		sum += l->rows[i].ns;
		ns += strcmp(l->rows[i].row, row) ? 0 : l->rows[i].ns;
	}
	assert_int_equal(sum, l->end_ns - l->start_ns);
	return ns;
}

static struct ty_ledger ledger_of(const struct ty_explain *x, int tid, uint64_t from, uint64_t to)
{
	uint32_t i = ty_model_thread_find(x->m, tid, ty_model_summary(x->m)->end_ns);
	struct ty_ledger l;

	assert_int_not_equal(i, TY_NONE);
	assert_int_equal(ty_ledger_thread(x, i, from, to, &l), 0);
	return l;
}

static void mode_of_those_without_calls(void **state)
{
	struct ty_explain x;
	struct ty_ledger l;

	(void)state;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_switch(0, 5 * MS, 11, TY_TASK_IDLE, 12); /* 11 is a kernel thread */
	ty_mx_switch(0, 12 * MS, 12, S, 13);
	ty_mx_enter(0, 15 * MS, 13, NR_READ);
	ty_mx_exit(0, 16 * MS, 13, NR_READ, 0);
	ty_mx_switch(0, 20 * MS, 13, S, 0);
	x = explain(ty_mx_end(), 0);
	l = ledger_of(&x, 11, 0, UINT64_MAX);
	assert_int_equal(row_ns(&l, "on CPU in kernel (kernel thread)"), 4 * MS);
	ty_ledger_fini(&l);
	l = ledger_of(&x, 12, 0, UINT64_MAX);
	assert_int_equal(row_ns(&l, "on CPU, no system call recorded"), 7 * MS);
	ty_ledger_fini(&l);
	l = ledger_of(&x, 13, 0, UINT64_MAX);
	assert_int_equal(row_ns(&l, "on CPU outside system calls"), 7 * MS);
	assert_int_equal(row_ns(&l, "on CPU in kernel: read"), 1 * MS);
	ty_ledger_fini(&l);
	ty_mx_drop();
}

static void second_buffer(struct ty_event ev)
{
	ev.buffer = 1;
	ty_mx_feed(ev);
}

static void call_event(uint64_t ts, unsigned kind, int64_t nr)
{
	struct ty_event ev = {
		.ts_ns = ts, .tid = 11, .kind = kind, .id = kind == TY_EV_SYS_ENTER ? 3 : 4};

	if (kind == TY_EV_SYS_ENTER) {
		ev.u.enter.nr = nr;
		ev.u.enter.args[0] = UINT64_C(0x7fff00000000); /* a 64-bit caller */
	} else {
		ev.u.exit.nr = nr;
	}
	second_buffer(ev);
}

static void lost_calls(uint64_t from, uint64_t to, unsigned cpu)
{
	struct ty_event ev = {.ts_ns = to, .cpu = cpu, .kind = TY_EV_GAP};

	ev.u.gap.from_ns = from;
	ev.u.gap.count = 100;
	second_buffer(ev);
}

/* The scheduler's events are all there, system calls lie in a buffer that lost some: 11 ran on, and
 * in which mode is not known. What ends after the loss began in it. */
static void mode_while_calls_were_lost(void **state)
{
	struct ty_explain x;
	struct ty_cpu_gaps gaps = {0};
	struct ty_ledger l;

	(void)state;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	call_event(2 * MS, TY_EV_SYS_ENTER, NR_READ);
	call_event(3 * MS, TY_EV_SYS_EXIT, NR_READ);
	lost_calls(8 * MS, 9 * MS, 1); /* of another CPU */
	lost_calls(10 * MS, 30 * MS, 0);
	call_event(34 * MS, TY_EV_SYS_EXIT, NR_WRITE);
	call_event(36 * MS, TY_EV_SYS_ENTER, NR_READ);
	call_event(37 * MS, TY_EV_SYS_EXIT, NR_READ);
	ty_mx_switch(0, 41 * MS, 11, S, 0);
	x = explain(ty_mx_end(), 0);
	l = ledger_of(&x, 11, 0, UINT64_MAX);
	assert_int_equal(row_ns(&l, "on CPU, mode unknown because of lost events"), 20 * MS);
	assert_int_equal(row_ns(&l, "on CPU in kernel: write"), 4 * MS);
	assert_int_equal(row_ns(&l, "on CPU in kernel: read"), 2 * MS);
	assert_int_equal(row_ns(&l, "on CPU outside system calls"), (1 + 7 + 2 + 4) * MS);
	ty_ledger_fini(&l);
	/* A part of it; the gaps looked for here, and given with others. */
	assert_int_equal(ty_cpu_gaps_find(x.m, 0, UINT64_MAX, &gaps), 0);
	for (unsigned g = 0; g < 2; g++) {
		x.gaps = g ? &gaps : NULL;
		l = ledger_of(&x, 11, 12 * MS, 20 * MS);
		assert_int_equal(row_ns(&l, "on CPU, mode unknown because of lost events"), 8 * MS);
		ty_ledger_fini(&l);
	}
	ty_cpu_gaps_fini(&gaps);
	ty_mx_drop();
}

/* A wait in no call is for a page only where no call can have been lost. */
static void faults_and_lost_calls(void **state)
{
	for (int lost = 0; lost < 2; lost++) {
		struct ty_explain x;
		struct ty_ledger l;

		ty_mx_begin("mode=all\n", NULL);
		ty_mx_switch(0, 1 * MS, 0, R, 11);
		call_event(2 * MS, TY_EV_SYS_ENTER, NR_READ);
		call_event(3 * MS, TY_EV_SYS_EXIT, NR_READ);
		if (lost)
			lost_calls(4 * MS, 5 * MS, 0);
		ty_mx_switch(0, 6 * MS, 11, D, 0);
		ty_mx_waking(0, 26 * MS, 0, 11, 0);
		ty_mx_switch(0, 26 * MS, 0, R, 11);
		ty_mx_switch(0, 27 * MS, 11, S, 0);
		x = explain(ty_mx_end(), 0);
		l = ledger_of(&x, 11, 0, UINT64_MAX);
		assert_int_equal(row_ns(&l, "waiting in a page fault, woken by an interrupt"),
				 lost ? 0 : 20 * MS);
		ty_ledger_fini(&l);
		ty_mx_drop();
	}
	(void)state;
}

static struct ty_throttled group;

static bool throttled(void *ctx, int32_t tid, uint64_t from_ns, uint64_t to_ns,
		      struct ty_throttled *out)
{
	(void)ctx;
	(void)to_ns;
	assert_int_equal(from_ns, 5 * MS); /* the whole wait, in any window */
	*out = group;
	return tid == 11;
}

/* Held back for the first 60 of 80 ms; where the count says less than half of it, the thread stood
 * in a queue. */
static void quota(void **state)
{
	struct ty_explain x;
	struct ty_ledger l;

	(void)state;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_switch(0, 5 * MS, 11, RP, 12);
	ty_mx_switch(0, 85 * MS, 12, S, 11);
	ty_mx_switch(0, 90 * MS, 11, S, 0);
	x = explain(ty_mx_end(), 0);
	x.throttled = throttled;
	group.ns = 60 * MS;
	l = ledger_of(&x, 11, 0, UINT64_MAX);
	assert_int_equal(row_ns(&l, "throttled by CPU quota (inferred)"), 60 * MS);
	assert_int_equal(row_ns(&l, "runnable after preemption, t12 ran on its CPU"), 20 * MS);
	ty_ledger_fini(&l);
	l = ledger_of(&x, 11, 55 * MS, 75 * MS);
	assert_int_equal(row_ns(&l, "throttled by CPU quota (inferred)"), 10 * MS);
	assert_int_equal(row_ns(&l, "runnable after preemption, t12 ran on its CPU"), 10 * MS);
	ty_ledger_fini(&l);
	group.ns = 30 * MS;
	l = ledger_of(&x, 11, 0, UINT64_MAX);
	assert_int_equal(row_ns(&l, "throttled by CPU quota (inferred)"), 0);
	ty_ledger_fini(&l);
	ty_mx_drop();
}

static void worker_switch(uint64_t ts, int prev, int next)
{
	struct ty_event ev = {.ts_ns = ts, .tid = prev, .kind = TY_EV_SWITCH, .id = 1};

	ev.u.sw.prev_tid = prev;
	ev.u.sw.next_tid = next;
	ev.u.sw.prev_state = S;
	snprintf(ev.u.sw.prev_comm, sizeof(ev.u.sw.prev_comm), prev > 11 ? "worker" : "main");
	snprintf(ev.u.sw.next_comm, sizeof(ev.u.sw.next_comm), next > 11 ? "worker" : "main");
	ty_mx_feed(ev);
}

/* A command waits for one child after the other: those of one name are one row when they are many,
 * else each has its own. */
static void same_names_on_the_path(void **state)
{
	for (unsigned children = 4; children < 6; children++) {
		struct ty_explain x;
		struct ty_ledger l;
		char row[64];

		ty_mx_begin("mode=command\ncommand_tid=11\n", NULL);
		ty_mx_switch(0, 1 * MS, 0, R, 11);
		for (unsigned i = 0; i < children; i++) {
			uint64_t at = (10 * i + 2) * MS;
			int child = 21 + (int)i;

			ty_mx_fork(0, at, 11, child, 0);
			worker_switch(at + 1 * MS, 11, child);
			ty_mx_waking(0, at + 8 * MS, child, 11, 0);
			worker_switch(at + 9 * MS, child, 11);
		}
		ty_mx_switch(0, (10 * children + 3) * MS, 11, TY_TASK_DEAD, 0);
		x = explain(ty_mx_end(), 11);
		assert_int_equal(ty_ledger_command(&x, 0, UINT64_MAX, &l), 0);
		for (unsigned i = 0; i < children; i++) {
			snprintf(row, sizeof(row), "worker/%u: on CPU, no system call recorded",
				 21 + i);
			assert_int_equal(row_ns(&l, row), children > 4 ? 0 : 7 * MS);
		}
		assert_int_equal(
			row_ns(&l, "worker (5 processes): on CPU, no system call recorded"),
			children > 4 ? 35 * MS : 0);
		ty_ledger_fini(&l);
		ty_mx_drop();
	}
	(void)state;
}

/* 11 leaves CPU 0 at `at` ms in the call, and 12 wakes it after so many ms. */
static void wait_with(int64_t result, int nr, unsigned at, unsigned ms, uint64_t task_state)
{
	ty_mx_enter(0, at * MS, 11, nr);
	ty_mx_switch(0, at * MS, 11, task_state, 12);
	ty_mx_waking(0, (at + ms) * MS, 12, 11, 0);
	ty_mx_switch(0, (at + ms) * MS, 12, R, 11);
	ty_mx_exit(0, (at + ms) * MS, 11, nr, result);
}

static void wait_in(int nr, unsigned at, unsigned ms, uint64_t task_state)
{
	wait_with(0, nr, at, ms, task_state);
}

/* EINTR and the kernel's ERESTART numbers; ENOIOCTLCMD lies between these. */
static void waits_that_signals_interrupt(void **state)
{
	static const int64_t results[] = {-4, -512, -513, -514, -515, -516, -517};
	struct ty_explain x;
	struct ty_ledger l;

	(void)state;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	for (unsigned i = 0; i < 7; i++)
		wait_with(results[i], NR_READ, 10 + 10 * i, 1 + (results[i] == -515), S);
	ty_mx_switch(0, 110 * MS, 11, S, 0);
	x = explain(ty_mx_end(), 0);
	l = ledger_of(&x, 11, 0, UINT64_MAX);
	assert_int_equal(row_ns(&l, "sleeping in read, woken by a signal from t12"), 5 * MS);
	assert_int_equal(row_ns(&l, "sleeping in read, woken by t12"), 3 * MS);
	ty_ledger_fini(&l);
	ty_mx_drop();
}

/* Waits of one call that may be broken off, and such that may not. A row that stands for several
 * kinds of time leads to the longest of them, whichever came first. */
static void rows_of_waits(void **state)
{
	struct ty_explain x;
	struct ty_ledger l;

	(void)state;
	for (unsigned first = 10; first <= 30; first += 20) {
		ty_mx_begin("mode=all\n", NULL);
		ty_mx_switch(0, 1 * MS, 0, R, 11);
		wait_in(NR_READ, 2, 3, S);
		wait_in(NR_READ, 6, 5, D);
		wait_in(NR_READ, 20, first, TY_TASK_STOPPED);
		wait_in(NR_WRITE, 60, 40 - first, TY_TASK_STOPPED);
		ty_mx_switch(0, 110 * MS, 11, S, 0);
		x = explain(ty_mx_end(), 0);
		l = ledger_of(&x, 11, 0, UINT64_MAX);
		assert_int_equal(row_ns(&l, "sleeping in read, woken by t12"), 3 * MS);
		assert_int_equal(row_ns(&l, "blocked (uninterruptible) in read, woken by t12"),
				 5 * MS);
		assert_int_equal(row_ns(&l, "stopped, woken by t12"), 40 * MS);
		for (uint32_t i = 0; i < l.n; i++)
			if (l.rows[i].state == TY_ST_STOPPED) {
				struct ty_span s = ty_model_span(x.m, l.rows[i].span);

				assert_int_equal(s.start_ns, (first > 20 ? 20 : 60) * MS);
				assert_int_equal(s.end_ns - s.start_ns, 30 * MS);
				assert_int_equal(l.rows[i].longest_ns, 30 * MS);
			}
		ty_ledger_fini(&l);
		ty_mx_drop();
	}
}

/* Arguments are read from the file: not of calls that have no object. */
static int args_but_of_sleeps(void *ctx, const struct ty_syscall *c, uint64_t args[6])
{
	assert_int_not_equal(c->nr, NR_NANOSLEEP);
	return args_of(ctx, c, args);
}

static void objects_of_waits(void **state)
{
	struct ty_explain x;
	struct ty_ledger l;

	(void)state;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	give(2 * MS, 5, 0, 0);
	wait_in(NR_READ, 2, 3, S);
	give(6 * MS, 0x1000, 0x80, 2);
	wait_in(NR_FUTEX, 6, 4, S);
	give(11 * MS, 0x1000, 0x80, 2);
	wait_in(NR_FUTEX, 11, 5, D);
	wait_in(NR_NANOSLEEP, 20, 6, S);
	ty_mx_switch(0, 30 * MS, 11, S, 0);
	x = explain(ty_mx_end(), 0);
	x.args = args_but_of_sleeps;
	l = ledger_of(&x, 11, 0, UINT64_MAX);
	assert_int_equal(row_ns(&l, "sleeping in read(fd 5), woken by t12"), 3 * MS);
	assert_int_equal(row_ns(&l, "sleeping in futex(0x1000), woken by t12"), 4 * MS);
	/* In the kernel it waits for something else. */
	assert_int_equal(row_ns(&l, "blocked (uninterruptible) in futex, woken by t12"), 5 * MS);
	assert_int_equal(row_ns(&l, "sleeping in nanosleep, woken by t12"), 6 * MS);
	ty_ledger_fini(&l);
	ty_mx_drop();
	givens = 0;
}

/* Of several buffers they overlap; asked for by CPU and time. */
static void gaps_of_a_cpu(void **state)
{
	struct ty_cpu_gaps g = {0};
	const struct ty_cpu_gap *p;

	(void)state;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_gap(0, 10 * MS, 20 * MS, 1);
	lost_calls(15 * MS, 30 * MS, 0);
	lost_calls(31 * MS, 32 * MS, 1);
	ty_mx_gap(0, 40 * MS, 50 * MS, 1);
	ty_mx_switch(0, 60 * MS, 11, S, 0);
	assert_int_equal(ty_cpu_gaps_find(ty_mx_end(), 0, 45 * MS, &g), 0);
	assert_int_equal(g.gap.n, 3);
	p = ty_cpu_gap_after(&g, 0, 12 * MS);
	assert_non_null(p);
	assert_int_equal(p->from_ns, 10 * MS);
	assert_int_equal(p->to_ns, 30 * MS);
	assert_int_equal(ty_cpu_gap_after(&g, 0, 30 * MS)->from_ns, 40 * MS);
	assert_null(ty_cpu_gap_after(&g, 0, 50 * MS));
	assert_int_equal(ty_cpu_gap_after(&g, 1, 0)->to_ns, 32 * MS);
	assert_null(ty_cpu_gap_after(&g, 2, 0));
	ty_cpu_gaps_fini(&g);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mode_of_those_without_calls),
		cmocka_unit_test(mode_while_calls_were_lost),
		cmocka_unit_test(faults_and_lost_calls),
		cmocka_unit_test(quota),
		cmocka_unit_test(same_names_on_the_path),
		cmocka_unit_test(rows_of_waits),
		cmocka_unit_test(objects_of_waits),
		cmocka_unit_test(waits_that_signals_interrupt),
		cmocka_unit_test(gaps_of_a_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
