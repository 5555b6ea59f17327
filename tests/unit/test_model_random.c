/* SPDX-License-Identifier: MIT */
/*
 * Random machines: a small scheduler simulator emits events of two buffers and knows the truth.
 *
 *   nothing lost            every thread's running spans are exactly the truth
 *   switches from idle not  running spans contain the truth's, begin not before the wakeup, and no
 *   delivered on CPU 1      thread is ever shown running on two CPUs
 *   random loss with gaps   what is shown as running, not inferred, is true; what is shown asleep
 * or ready, not flagged as lost, did not run random garbage          every promise of model.h holds
 * (ty_mx_check)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_model.h"
#include "model_priv.h"

#define CPUS	3
#define THREADS 8
#define STEPS	1500
#define RUNS	4096

static uint64_t seed;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

struct run {
	uint64_t from, to, woken;
	unsigned cpu;
};

static struct {
	uint64_t now;
	int cur[CPUS];		  /* 0 idle, else thread 1..THREADS */
	int queue[CPUS][THREADS]; /* ready threads */
	unsigned queued[CPUS];
	bool asleep[THREADS + 1], in_call[THREADS + 1];
	uint64_t woken[THREADS + 1];
	struct run run[THREADS + 1][RUNS];
	unsigned runs[THREADS + 1];
	bool no_idle; /* CPU 1 */
	bool lossy;
	unsigned dropping[CPUS];	 /* events of the top buffer still to drop */
	uint64_t last[CPUS], lost[CPUS]; /* time of the last one kept; number dropped */
} sim;

static int tid_of(int thread)
{
	return thread ? 100 + thread : 0;
}

static void emit(unsigned cpu, struct ty_event ev)
{
	ev.ts_ns = sim.now;
	ev.cpu = cpu;
	if (!ev.buffer) {
		if (sim.lossy && !sim.dropping[cpu] && rnd() % 60 == 0)
			sim.dropping[cpu] = 1 + rnd() % 20;
		if (sim.dropping[cpu]) {
			sim.dropping[cpu]--;
			sim.lost[cpu]++;
			return;
		}
		if (sim.lost[cpu]) {
			ty_mx_gap(cpu, sim.last[cpu], sim.now, sim.lost[cpu]);
			sim.lost[cpu] = 0;
		}
		sim.last[cpu] = sim.now;
	}
	ty_mx_feed(ev);
}

static void now_runs(unsigned cpu, int thread, uint64_t state)
{
	struct ty_event ev = {.tid = tid_of(sim.cur[cpu]), .kind = TY_EV_SWITCH, .id = 1};
	int prev = sim.cur[cpu];

	ev.u.sw.prev_tid = tid_of(prev);
	ev.u.sw.next_tid = tid_of(thread);
	ev.u.sw.prev_state = state;
	if (prev)
		sim.run[prev][sim.runs[prev] - 1].to = sim.now;
	if (thread) {
		assert_true(sim.runs[thread] < RUNS);
		sim.run[thread][sim.runs[thread]++] =
			(struct run){sim.now, UINT64_MAX, sim.woken[thread], cpu};
	}
	if (prev || cpu != 1 || !sim.no_idle)
		emit(cpu, ev);
	sim.cur[cpu] = thread;
}

static int dequeue(unsigned cpu)
{
	int t;

	if (!sim.queued[cpu])
		return 0;
	t = sim.queue[cpu][0];
	memmove(sim.queue[cpu], sim.queue[cpu] + 1, --sim.queued[cpu] * sizeof(int));
	return t;
}

static void wake(unsigned cpu)
{
	int t = 1 + (int)(rnd() % THREADS);
	unsigned to = rnd() % CPUS;
	struct ty_event ev = {.tid = tid_of(sim.cur[cpu]), .kind = TY_EV_WAKING, .id = 2};

	if (!sim.asleep[t])
		return;
	ev.u.wake.tid = tid_of(t);
	ev.u.wake.target_cpu = (int)to;
	sim.asleep[t] = false;
	sim.woken[t] = sim.now;
	emit(cpu, ev);
	sim.queue[to][sim.queued[to]++] = t;
}

static void step(void)
{
	unsigned cpu = rnd() % CPUS;
	int t = sim.cur[cpu];
	struct ty_event ev = {.tid = tid_of(t), .buffer = 1, .id = 3};

	sim.now += 1 + rnd() % 20;
	if (!t) {
		if (sim.queued[cpu])
			now_runs(cpu, dequeue(cpu), 0);
		else
			wake(cpu);
		return;
	}
	switch (rnd() % 5) {
	case 0:
		sim.asleep[t] = true;
		now_runs(cpu, dequeue(cpu), S);
		break;
	case 1:
		if (sim.queued[cpu]) {
			int next = dequeue(cpu);

			sim.woken[t] = sim.now;
			sim.queue[cpu][sim.queued[cpu]++] = t;
			now_runs(cpu, next, RP);
		}
		break;
	case 2: wake(cpu); break;
	default:
		ev.kind = sim.in_call[t] ? TY_EV_SYS_EXIT : TY_EV_SYS_ENTER;
		sim.in_call[t] = !sim.in_call[t];
		emit(cpu, ev);
	}
}

static const struct ty_model *simulate(uint64_t s, bool no_idle, bool lossy)
{
	memset(&sim, 0, sizeof(sim));
	seed = s * 0x9e3779b97f4a7c15u + 1;
	sim.now = 1000;
	sim.no_idle = no_idle;
	ty_mx_begin(no_idle ? "mode=all\nno_idle_switch=1\n" : "mode=all\n", NULL);
	for (unsigned c = 0; c < CPUS; c++)
		ty_mx_event(c, sim.now, 0, TY_EV_OTHER), sim.last[c] = sim.now;
	for (int t = 1; t <= THREADS; t++)
		sim.asleep[t] = true;
	sim.lossy = lossy;
	for (unsigned i = 0; i < STEPS; i++)
		step();
	for (unsigned c = 0; c < CPUS; c++)
		if (sim.lost[c]) {
			struct ty_event ev = {.ts_ns = sim.now, .cpu = c, .kind = TY_EV_GAP};

			ev.u.gap.from_ns = sim.last[c];
			ev.u.gap.count = sim.lost[c];
			ev.u.gap.to_end = true;
			ty_mx_feed(ev);
		}
	for (int t = 1; t <= THREADS; t++)
		if (sim.runs[t] && sim.run[t][sim.runs[t] - 1].to == UINT64_MAX)
			sim.run[t][sim.runs[t] - 1].to = sim.now;
	return ty_mx_end();
}

static void exact(void **state)
{
	for (uint64_t s = 0; s < 60; s++) {
		const struct ty_model *m = simulate(s, false, false);

		for (int t = 1; t <= THREADS; t++) {
			uint32_t i = ty_model_thread_find(m, tid_of(t), 0);
			const struct ty_thread *th = ty_model_thread(m, i);
			unsigned k = 0;

			for (uint32_t n = 0; n < th->spans_n; n++) {
				struct ty_span p = ty_model_span(m, th->spans_first + n);

				assert_false(p.flags & (TY_SF_LOST | TY_SF_INFERRED));
				if (p.state != TY_ST_RUNNING)
					continue;
				assert_true(k < sim.runs[t]);
				assert_int_equal(p.start_ns, sim.run[t][k].from);
				assert_int_equal(p.end_ns <= sim.run[t][k].to, 1);
				assert_int_equal(p.cpu, sim.run[t][k].cpu);
				k++;
			}
			assert_int_equal(k, sim.runs[t]);
		}
	}
	ty_mx_drop();
}

/* The true run that holds [a, b); NULL: there is none. */
static const struct run *true_run(int t, uint64_t a, uint64_t b, unsigned cpu)
{
	for (unsigned k = 0; k < sim.runs[t]; k++)
		if (sim.run[t][k].from <= a && b <= sim.run[t][k].to && sim.run[t][k].cpu == cpu)
			return &sim.run[t][k];
	return NULL;
}

/* Did it run at any time within (a, b)? */
static bool ran_within(int t, uint64_t a, uint64_t b)
{
	for (unsigned k = 0; k < sim.runs[t]; k++)
		if (sim.run[t][k].from < b && a < sim.run[t][k].to)
			return true;
	return false;
}

static void idle_not_delivered(void **state)
{
	unsigned inferred = 0;

	for (uint64_t s = 0; s < 60; s++) {
		const struct ty_model *m = simulate(s, true, false);

		for (int t = 1; t <= THREADS; t++) {
			uint32_t i = ty_model_thread_find(m, tid_of(t), 0);
			const struct ty_thread *th = ty_model_thread(m, i);

			for (unsigned k = 0; i != TY_NONE && k < sim.runs[t]; k++) {
				const struct run *r = &sim.run[t][k];
				struct ty_span p =
					ty_model_span(m, ty_model_span_find(m, i, r->to - 1));

				/* A run that left no trace yet when the recording ended. */
				if (r->to == sim.now && p.state != TY_ST_RUNNING)
					continue;
				assert_int_equal(p.state, TY_ST_RUNNING);
				assert_int_equal(p.cpu, r->cpu);
				/* What is not inferred is true; before it, what is. */
				if (!(p.flags & TY_SF_INFERRED)) {
					struct ty_span q = ty_model_span(
						m, ty_model_span_find(m, i, p.start_ns - 1));

					assert_true(p.start_ns >= r->from);
					if (q.state == TY_ST_RUNNING && q.flags & TY_SF_INFERRED)
						p.start_ns = q.start_ns, inferred++;
				}
				assert_true(p.start_ns <= r->from && p.start_ns >= r->woken);
			}
			(void)th;
		}
	}
	assert_true(inferred > 1000);
	ty_mx_drop();
}

static void loss(void **state)
{
	unsigned claims = 0, unknown = 0, waits = 0;

	for (uint64_t s = 0; s < 200; s++) {
		const struct ty_model *m = simulate(s, false, true);

		for (int t = 1; t <= THREADS; t++) {
			uint32_t i = ty_model_thread_find(m, tid_of(t), 0);
			const struct ty_thread *th = ty_model_thread(m, i);

			for (uint32_t n = 0; n < th->spans_n; n++) {
				struct ty_span p = ty_model_span(m, th->spans_first + n);

				unknown += p.state == TY_ST_UNKNOWN && p.flags & TY_SF_LOST;
				if ((p.state == TY_ST_SLEEPING || p.state == TY_ST_RUNNABLE) &&
				    !(p.flags & (TY_SF_LOST | TY_SF_BEFORE))) {
					waits++;
					if (ran_within(t, p.start_ns, p.end_ns))
						fail_msg("seed %u: thread %d is shown asleep from "
							 "%u "
							 "to %u, flags %#x",
							 (unsigned)s, tid_of(t),
							 (unsigned)p.start_ns, (unsigned)p.end_ns,
							 p.flags);
				}
				if (p.state != TY_ST_RUNNING || p.flags & TY_SF_INFERRED ||
				    p.start_ns == p.end_ns)
					continue;
				claims++;
				if (!true_run(t, p.start_ns, p.end_ns, p.cpu))
					fail_msg("seed %u: thread %d is shown running on CPU %u "
						 "from %u to %u",
						 (unsigned)s, tid_of(t), p.cpu,
						 (unsigned)p.start_ns, (unsigned)p.end_ns);
			}
		}
		for (unsigned c = 0; c < CPUS; c++)
			for (uint32_t n = 0; n < ty_model_cpu_spans(m, c); n++) {
				struct ty_span p = ty_model_cpu_span(m, c, n);

				if (p.state != TY_ST_RUNNING || p.flags & TY_SF_INFERRED ||
				    p.start_ns == p.end_ns)
					continue;
				assert_non_null(true_run(ty_model_thread(m, p.thread)->tid - 100,
							 p.start_ns, p.end_ns, c));
			}
	}
	assert_true(claims > 10000 && unknown > 1000 && waits > 5000);
	ty_mx_drop();
}

/* Any events at all. */
static void garbage(void **state)
{
	for (uint64_t s = 0; s < 3000; s++) {
		seed = s * 77 + 5;
		ty_mx_begin(
			s % 2 ? "mode=all\nno_idle_switch=0\n" : NULL,
			s % 3 ? NULL
			      : "taken 3 900\n3\t3\t1\t0\tS\tn\t0\t0\t1\t-\t0\t/\tx\n"
				"4\t3\t1\t0\tZ\tn\t0\t0\t-\t-\t0\t/\ty\n4\t4\nrubbish\n\t\t\t\n");
		for (uint64_t i = 0, t = 100; i < 400; i++) {
			struct ty_event ev = {.ts_ns = t += rnd() % 30,
					      .cpu = rnd() % 4,
					      .tid = (int)(rnd() % 6),
					      .buffer = (uint16_t)(rnd() % 2),
					      .flags = (uint8_t)rnd(),
					      .id = (uint16_t)(rnd() % 40),
					      .kind = (uint8_t)(rnd() % TY_EV_KINDS)};
			int32_t a = (int)(rnd() % 8) - 1, b = (int)(rnd() % 6);

			switch (ev.kind) {
			case TY_EV_GAP:
				ev.u.gap.from_ns = t - rnd() % 200;
				ev.u.gap.count = rnd() % 3 ? rnd() : UINT64_MAX;
				break;
			case TY_EV_SWITCH:
				ev.u.sw.prev_tid = rnd() % 4 ? ev.tid : a;
				ev.u.sw.next_tid = b;
				ev.u.sw.prev_state = rnd() % 2 ? rnd() & 0x1ff : 1;
				break;
			case TY_EV_WAKING:
			case TY_EV_WAKEUP:
			case TY_EV_WAKEUP_NEW:
				ev.u.wake.tid = a;
				ev.u.wake.target_cpu = b;
				break;
			case TY_EV_MIGRATE:
				ev.u.migrate.tid = a;
				ev.u.migrate.to_cpu = b;
				break;
			case TY_EV_FORK:
				ev.u.fork.parent_tid = b;
				ev.u.fork.child_tid = a;
				break;
			case TY_EV_NEWTASK:
				ev.u.newtask.tid = a;
				ev.u.newtask.clone_flags = rnd() % 2 ? 0x10000 : 0;
				break;
			case TY_EV_EXEC:
				ev.u.exec.tid = a;
				ev.u.exec.old_tid = b;
				ev.u.exec.filename = "";
				break;
			case TY_EV_EXIT: ev.u.tex.tid = rnd() % 3 ? ev.tid : a; break;
			case TY_EV_RENAME:
				ev.u.rename.tid = a;
				strcpy(ev.u.rename.new_comm, "renamed");
				break;
			case TY_EV_IRQ_ENTRY: ev.u.irq.name = "eth0"; break;
			case TY_EV_SOFTIRQ_ENTRY:
			case TY_EV_SOFTIRQ_EXIT:
			case TY_EV_VECTOR_ENTRY:
			case TY_EV_VECTOR_EXIT: ev.u.softirq.vec = (uint32_t)(rnd() % 3); break;
			case TY_EV_SYS_ENTER: ev.u.enter.nr = b; break;
			case TY_EV_SYS_EXIT: ev.u.exit.nr = b; break;
			default: break;
			}
			ty_mx_feed(ev);
		}
		ty_mx_end();
	}
	ty_mx_drop();
}

/* Budgets of DESIGN: 40 bytes per event where switches abound, 24 where system calls do. */
static void memory(void **state)
{
	const struct ty_model *m;
	double per_event;
	uint64_t t = 1000;

	ty_mx_begin("mode=all\n", NULL);
	for (unsigned i = 0; i < 250000; i++) {
		/* Two threads on one CPU wake each other: nothing but wakeups and switches. */
		ty_mx_waking(0, t += 500, 5, 6, 0);
		ty_mx_switch(0, t += 500, 5, S, 6);
		ty_mx_waking(0, t += 500, 6, 5, 0);
		ty_mx_switch(0, t += 500, 6, S, 5);
	}
	m = ty_mx_end();
	per_event = (double)m->store->used / (double)ty_model_summary(m)->events;
	printf("# wakeups and switches only: %.1f bytes per event\n", per_event);
	assert_true(per_event <= 40);
	ty_mx_begin("mode=all\n", NULL);
	for (unsigned i = 0; i < 250000; i++) {
		/* As a pipe ping-pong really is: each turn with a write and a read. */
		int tid = i % 2 ? 6 : 5;

		ty_mx_exit(0, t += 100, tid, 0, 1);
		ty_mx_enter(0, t += 100, tid, 1);
		ty_mx_waking(0, t += 100, tid, 11 - tid, 0);
		ty_mx_exit(0, t += 100, tid, 1, 1);
		ty_mx_enter(0, t += 100, tid, 0);
		ty_mx_switch(0, t += 100, tid, S, 11 - tid);
	}
	m = ty_mx_end();
	per_event = (double)m->store->used / (double)ty_model_summary(m)->events;
	printf("# pipe ping-pong: %.1f bytes per event\n", per_event);
	assert_true(per_event <= 40);
	ty_mx_begin("mode=all\n", NULL);
	for (unsigned i = 0; i < 500000; i++) {
		ty_mx_enter(0, t += 100, 5, 0);
		ty_mx_exit(0, t += 100, 5, 0, 1);
	}
	m = ty_mx_end();
	per_event = (double)m->store->used / (double)ty_model_summary(m)->events;
	printf("# system calls: %.1f bytes per event\n", per_event);
	assert_true(per_event <= 24);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact),  cmocka_unit_test(idle_not_delivered),
		cmocka_unit_test(loss),	  cmocka_unit_test(garbage),
		cmocka_unit_test(memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
