/* SPDX-License-Identifier: MIT */
/* The rules of model/sched_state.c, each on the smallest stream that shows it; of lost events:
 * test_model_gaps.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_model.h"

/* A file of tarry's own; its CPUs' streams begin at the start. */
#define OURS	"tarry=0.1\nmode=all\n"
#define NO_IDLE OURS "no_idle_switch=1\n"

static int drop(void **state)
{
	ty_mx_drop();
	return 0;
}

#define tracks(tid, text)    assert_string_equal(ty_mx_thread(tid, 0), text)
#define cpu_track(cpu, text) assert_string_equal(ty_mx_cpu(cpu), text)

static struct ty_span span_at(const struct ty_model *m, int tid, uint64_t t)
{
	return ty_model_span(m, ty_model_span_find(m, ty_model_thread_find(m, tid, t), t));
}

static void wait_and_run(void **state)
{
	const struct ty_model *m;
	struct ty_edge e;

	ty_mx_begin(OURS, NULL);
	ty_mx_event(0, 50, 10, TY_EV_OTHER);
	ty_mx_switch(0, 100, 10, S, 20);
	ty_mx_waking_irq(0, 150, 20, 10, 0);
	ty_mx_switch(0, 160, 20, RP, 10);
	ty_mx_switch(0, 200, 10, D, 20);
	ty_mx_event(0, 300, 20, TY_EV_OTHER);
	m = ty_mx_end();
	tracks(10, "R@0:50-100< S100-150 w@0:150-160 R@0:160-200 D200-300>");
	tracks(20, "?50-100< R@0:100-160 w@0:160-200+ R@0:200-300>");
	cpu_track(0, "R50-100<:10 R100-160:20 R160-200:10 R200-300>:20");
	e = ty_model_edge(m, span_at(m, 10, 120).edge);
	assert_int_equal(ty_model_thread(m, e.waker)->tid, 20);
	assert_int_equal(e.context, TY_EVF_HARDIRQ);
	assert_int_equal(e.ts_ns, 150);
	assert_int_equal(span_at(m, 10, 155).edge, span_at(m, 10, 120).edge);
	/* The preempted one was not woken. */
	assert_int_equal(span_at(m, 20, 170).edge, TY_NONE);
	assert_int_equal(ty_model_wakeups(m, ty_model_thread_find(m, 10, 0), 0, 1000), 1);
	assert_int_equal(ty_model_wakeups(m, ty_model_thread_find(m, 10, 0), 151, 1000), 0);
}

/* The first event of a CPU shows what ran there since the start. */
static void first_events(void **state)
{
	ty_mx_begin(OURS, NULL);
	ty_mx_event(1, 50, 30, TY_EV_OTHER);
	ty_mx_event(0, 60, 0, TY_EV_OTHER);
	ty_mx_switch(1, 100, 30, S, 0);
	ty_mx_switch(0, 120, 0, R, 40);
	ty_mx_event(0, 200, 40, TY_EV_OTHER);
	ty_mx_end();
	tracks(30, "R@1:50-100< S100-200>");
	tracks(40, "?50-120< R@0:120-200>");
	cpu_track(0, ".50-120< R120-200>:40");
	cpu_track(1, "R50-100<:30 .100-200>");
	/* In a foreign file a CPU's stream may begin late: nothing is known before. */
	ty_mx_begin(NULL, NULL);
	ty_mx_event(1, 50, 30, TY_EV_OTHER);
	ty_mx_event(0, 90, 40, TY_EV_OTHER);
	ty_mx_switch(0, 100, 40, S, 0);
	ty_mx_end();
	tracks(40, "?50-90< R@0:90-100< S100-100>");
	cpu_track(0, "?50-90< R90-100<:40 .100-100>");
}

static void states_of_switch(void **state)
{
	static const struct {
		uint64_t st;
		const char *want;
	} t[] = {{TY_TASK_INTERRUPTIBLE, "R@0:10-20< S20-30>"},
		 {TY_TASK_UNINTERRUPTIBLE, "R@0:10-20< D20-30>"},
		 {TY_TASK_STOPPED, "R@0:10-20< T20-30>"},
		 {TY_TASK_TRACED, "R@0:10-20< T20-30>"},
		 {TY_TASK_DEAD, "R@0:10-20<"},
		 {TY_TASK_ZOMBIE, "R@0:10-20<"},
		 {TY_TASK_PARKED, "R@0:10-20< S20-30>"},
		 {TY_TASK_IDLE, "R@0:10-20< S20-30>"},
		 {TY_TASK_PREEMPTED, "R@0:10-20< w@0:20-30>+"},
		 {0, "R@0:10-20< w@0:20-30>+"}};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		ty_mx_begin(OURS, NULL);
		ty_mx_event(0, 10, 5, TY_EV_OTHER);
		ty_mx_switch(0, 20, 5, t[i].st, 0);
		ty_mx_event(0, 30, 0, TY_EV_OTHER);
		ty_mx_end();
		tracks(5, t[i].want);
	}
}

static void yield(void **state)
{
	ty_mx_begin(OURS, NULL);
	ty_mx_enter(0, 10, 5, 24); /* sched_yield on x86_64 */
	ty_mx_switch(0, 20, 5, R, 6);
	ty_mx_switch(0, 30, 6, S, 5);
	ty_mx_exit(0, 40, 5, 24, 0);
	ty_mx_switch(0, 50, 5, R, 6);
	ty_mx_end();
	tracks(5, "R@0:10-20< w@0:20-30y R@0:30-50 w@0:50-50>+");
}

/* sched_waking before the victim's own switch-out, seen from another CPU. */
static void waking_before_switch_out(void **state)
{
	const struct ty_model *m;

	ty_mx_begin(OURS, NULL);
	ty_mx_event(0, 10, 5, TY_EV_OTHER);
	ty_mx_event(1, 10, 6, TY_EV_OTHER);
	ty_mx_waking(1, 95, 6, 5, 0);
	ty_mx_switch(0, 100, 5, S, 7); /* it had decided to sleep before 95 */
	ty_mx_switch(0, 120, 7, S, 5); /* and runs without another wakeup */
	ty_mx_switch(0, 130, 5, S, 0);
	m = ty_mx_end();
	tracks(5, "R@0:10-100< w@0:100-120 R@0:120-130 S130-130>");
	assert_int_equal(ty_model_edge(m, span_at(m, 5, 110).edge).ts_ns, 95);
	/* The same, but another wakeup comes: the first had no effect. */
	ty_mx_begin(OURS, NULL);
	ty_mx_event(0, 10, 5, TY_EV_OTHER);
	ty_mx_event(1, 10, 6, TY_EV_OTHER);
	ty_mx_waking(1, 95, 6, 5, 0);
	ty_mx_switch(0, 100, 5, S, 7);
	ty_mx_waking(1, 115, 6, 5, 0);
	ty_mx_switch(0, 120, 7, S, 5);
	m = ty_mx_end();
	tracks(5, "R@0:10-100< S100-115 w@0:115-120 R@0:120-120>");
	assert_int_equal(ty_model_edge(m, span_at(m, 5, 105).edge).ts_ns, 115);
}

/* CPU 1 never delivers switches from idle: runs begin when the CPU was last seen idle. */
static void missing_switch_from_idle(void **state)
{
	const struct ty_model *m;

	ty_mx_begin(NO_IDLE, NULL);
	ty_mx_event(1, 10, 5, TY_EV_OTHER);
	ty_mx_switch(1, 20, 5, S, 0);
	ty_mx_event(1, 50, 0, TY_EV_VECTOR_ENTRY);
	ty_mx_waking_irq(1, 51, 0, 5, 1);
	ty_mx_event(1, 58, 0, TY_EV_VECTOR_EXIT);
	ty_mx_exit(1, 60, 5, 230, 0); /* first event */
	ty_mx_switch(1, 100, 5, S, 0);
	ty_mx_waking(0, 150, 9, 5, 1); /* from another CPU; the only evidence is prev */
	ty_mx_switch(1, 190, 5, S, 0);
	ty_mx_event(1, 200, 0, TY_EV_OTHER);
	m = ty_mx_end();
	tracks(5,
	       "R@1:10-20< S20-51 w@1:51-58 R@1:58-60~ R@1:60-100 S100-150 R@1:150-190~ S190-200>");
	cpu_track(1, "R10-20<:5 .20-58 R58-60~:5 R60-100:5 .100-150 R150-190~:5 .190-200>");
	/* The second wait has no time of being ready after it, but it has a wakeup. */
	assert_int_equal(ty_model_edge(m, span_at(m, 5, 120).edge).ts_ns, 150);
	assert_int_equal(span_at(m, 5, 195).edge, TY_NONE);
}

/* A thread is switched in, and then another one is there: not what the switches say. */
static void switch_not_delivered(void **state)
{
	ty_mx_begin(OURS, NULL);
	ty_mx_event(0, 10, 5, TY_EV_OTHER);
	ty_mx_switch(0, 20, 5, RP, 68); /* 68's switch-out is never seen */
	ty_mx_event(0, 30, 68, TY_EV_OTHER);
	ty_mx_event(0, 50, 5, TY_EV_SOFTIRQ_ENTRY);
	ty_mx_switch(0, 60, 5, S, 0);
	ty_mx_end();
	tracks(5, "R@0:10-20< w@0:20-30+ R@0:30-50~ R@0:50-60 S60-60>");
	tracks(68, "?10-20< R@0:20-30 ?30-60>"); /* not known, but nothing was lost */
	cpu_track(0, "R10-20<:5 R20-30:68 R30-50~:5 R50-60:5 .60-60>");
	/* Woken twice: between, it ran and slept again, and neither is seen. */
	ty_mx_begin(OURS, NULL);
	ty_mx_event(0, 10, 5, TY_EV_OTHER);
	ty_mx_switch(0, 20, 5, S, 0);
	ty_mx_waking(0, 30, 0, 5, 1);
	ty_mx_waking(0, 50, 0, 5, 0);
	ty_mx_switch(0, 60, 0, R, 5);
	ty_mx_event(1, 80, 7, TY_EV_OTHER);
	ty_mx_end();
	tracks(5, "R@0:10-20< S20-30 ?30-50 w@0:50-60 R@0:60-80>");
	/* The same after it gave up the CPU, which is not on the way to sleep either. */
	ty_mx_begin(OURS, NULL);
	ty_mx_enter(0, 10, 5, 24); /* sched_yield */
	ty_mx_switch(0, 20, 5, R, 6);
	ty_mx_waking(0, 50, 6, 5, 0);
	ty_mx_switch(0, 60, 6, S, 5);
	ty_mx_event(1, 80, 7, TY_EV_OTHER);
	ty_mx_end();
	tracks(5, "R@0:10-20< ?20-50 w@0:50-60 R@0:60-80>");
	/* Woken inside a system call: its end is the first thing it comes to. */
	ty_mx_begin(OURS, NULL);
	ty_mx_enter(0, 10, 5, 230);
	ty_mx_switch(0, 20, 5, S, 68);
	ty_mx_waking(0, 30, 68, 5, 0);
	ty_mx_exit(0, 90, 5, 230, 0);
	ty_mx_end();
	tracks(5, "R@0:10-20< S20-30 w@0:30-90 R@0:90-90>");
	tracks(68, "?10-20< R@0:20-30 ?30-90>");
	/* And it shows up on another CPU. */
	ty_mx_begin(OURS, NULL);
	ty_mx_event(0, 10, 5, TY_EV_OTHER);
	ty_mx_event(1, 10, 6, TY_EV_OTHER);
	ty_mx_event(0, 20, 5, TY_EV_OTHER);
	ty_mx_switch(1, 30, 6, S, 5);
	ty_mx_event(0, 50, 0, TY_EV_OTHER);
	ty_mx_end();
	tracks(5, "R@0:10-20< ?20-30! R@1:30-50>");
	cpu_track(0, "R10-20<:5 ?20-50! .50-50>!");
}

/* Lock contention inside __schedule carries the old thread's tid. */
static void tail_of_switch(void **state)
{
	struct ty_event ev = {.ts_ns = 21, .cpu = 0, .tid = 5, .id = 9, .flags = 1};

	ev.kind = TY_EV_CONTENTION_BEGIN;
	ty_mx_begin(OURS, NULL);
	ty_mx_event(0, 10, 5, TY_EV_OTHER);
	ty_mx_switch(0, 20, 5, S, 6);
	ty_mx_feed(ev);
	ty_mx_event(0, 30, 6, TY_EV_OTHER);
	ty_mx_end();
	tracks(5, "R@0:10-20< S20-30>");
	tracks(6, "?10-20< R@0:20-30>");
}

static void feed_twice(struct ty_event ev)
{
	ty_mx_feed(ev);
	ev.buffer = 1;
	ty_mx_feed(ev);
}

/* Two buffers trace the same events: each counts once. */
static void doubles(void **state)
{
	const struct ty_model *m;
	struct ty_event ev = {.ts_ns = 10, .cpu = 0, .tid = 5, .kind = TY_EV_IRQ_ENTRY, .id = 9};

	ty_mx_begin(OURS, NULL);
	ev.u.irq.name = "eth0";
	feed_twice(ev);
	ev.kind = TY_EV_SOFTIRQ_ENTRY;
	ev.ts_ns = 12;
	feed_twice(ev);
	ev.kind = TY_EV_SOFTIRQ_EXIT;
	ev.ts_ns = 14;
	feed_twice(ev);
	ev.kind = TY_EV_IRQ_EXIT;
	ev.ts_ns = 20;
	feed_twice(ev);
	ev = (struct ty_event){.ts_ns = 30, .cpu = 0, .tid = 5, .kind = TY_EV_WAKEUP_NEW, .id = 7};
	ev.u.wake.tid = 8;
	feed_twice(ev);
	ev.kind = TY_EV_MIGRATE;
	ev.u.migrate.tid = 8;
	ev.u.migrate.from_cpu = 0;
	ev.u.migrate.to_cpu = 1;
	ev.ts_ns = 40;
	feed_twice(ev);
	ty_mx_switch(0, 50, 5, S, 0);
	ev.kind = TY_EV_WAKEUP;
	ev.tid = 0;
	ev.ts_ns = 60;
	ev.u.wake.tid = 5;
	feed_twice(ev);
	m = ty_mx_end();
	assert_int_equal(ty_model_irq_spans(m, 0), 2);
	assert_int_equal(ty_model_irq_span(m, 0, 0).end_ns, 20);
	assert_int_equal(ty_model_irq_span(m, 0, 0).flags, 0);
	assert_int_equal(ty_model_migrations(m, ty_model_thread_find(m, 8, 50), 0, 100), 1);
	assert_int_equal(ty_model_wakeups(m, ty_model_thread_find(m, 8, 50), 0, 100), 1);
	assert_int_equal(ty_model_wakeups(m, ty_model_thread_find(m, 5, 50), 0, 100), 1);
}

static void snapshot(void **state)
{
	static const char threads[] = "taken 5 8\n"
				      "1\t1\t0\t7\tS\tnormal\t0\t0\t232\t-\t0-1\t/\tinit\n"
				      "5\t5\t1\t7\tD\tnormal\t0\t0\t0\t-\t0-1\t/\tcopy er\n"
				      "6\t5\t1\t7\tR\tnormal\t0\t0\trunning\t-\t0-1\t/\ta\\tb\n"
				      "9\t9\t2\t7\tI\tnormal\t0\t0\t-\t-\t0-1\t/\tkworker/0:0\n";
	const struct ty_model *m;
	struct ty_span s;

	ty_mx_begin(OURS, threads);
	ty_mx_event(0, 10, 7, TY_EV_OTHER);
	ty_mx_waking(0, 20, 7, 5, 0);
	ty_mx_switch(0, 30, 7, S, 6);
	ty_mx_switch(0, 40, 6, S, 5);
	m = ty_mx_end();
	tracks(1, "S10-40<>s");
	tracks(5, "D10-20<s w@0:20-40 R@0:40-40>");
	tracks(6, "w@0:10-30< R@0:30-40 S40-40>");
	assert_int_equal(ty_model_thread(m, ty_model_thread_find(m, 6, 10))->tgid, 5);
	assert_true(ty_model_thread(m, ty_model_thread_find(m, 9, 10))->kernel);
	assert_string_equal(ty_model_comm(m, ty_model_thread_find(m, 6, 10), 10), "a\tb");
	assert_string_equal(ty_model_comm(m, ty_model_thread_find(m, 6, 10), 35), "t6");
	/* Never had an event: still in the call that the snapshot saw. */
	s = span_at(m, 1, 20);
	assert_int_not_equal(s.syscall, TY_NONE);
	assert_int_equal(ty_model_syscall(m, s.syscall).nr, 232);
	assert_int_equal(ty_model_syscall(m, s.syscall).flags,
			 TY_SF_SNAPSHOT | TY_SF_BEFORE | TY_SF_OPEN);
}

static void no_scheduler_events(void **state)
{
	const struct ty_model *m;

	ty_mx_begin(NULL, NULL);
	ty_mx_enter(0, 10, 5, 0);
	ty_mx_exit(0, 20, 5, 0, 3);
	ty_mx_enter(0, 25, 6, 1);
	m = ty_mx_end();
	tracks(5, "?10-25>");
	assert_false(ty_model_summary(m)->has_sched);
	assert_true(ty_model_summary(m)->has_syscalls);
	assert_int_equal(ty_model_thread(m, ty_model_thread_find(m, 5, 0))->syscalls_n, 1);
}

static void migration(void **state)
{
	struct ty_event ev = {.ts_ns = 22, .cpu = 1, .tid = 7, .kind = TY_EV_MIGRATE, .id = 8};
	const struct ty_model *m;

	ev.u.migrate.tid = 5;
	ev.u.migrate.to_cpu = 1;
	ty_mx_begin(OURS, NULL);
	ty_mx_event(0, 10, 5, TY_EV_OTHER);
	ty_mx_event(1, 10, 7, TY_EV_OTHER);
	ty_mx_switch(0, 15, 5, RP, 6);
	ty_mx_feed(ev);
	ty_mx_switch(1, 30, 7, S, 5);
	m = ty_mx_end();
	tracks(5, "R@0:10-15< w@1:15-30+ R@1:30-30>");
	assert_int_equal(ty_model_migrations(m, ty_model_thread_find(m, 5, 0), 0, 100), 1);
	assert_int_equal(ty_model_migrations(m, ty_model_thread_find(m, 5, 0), 23, 100), 0);
}

/* Time that goes back, CPUs and tids that cannot be: taken as damage, not believed. */
static void nonsense(void **state)
{
	const struct ty_model *m;

	ty_mx_begin(OURS, NULL);
	ty_mx_event(0, 100, 5, TY_EV_OTHER);
	ty_mx_event(0, 50, 5, TY_EV_OTHER);
	ty_mx_event(4000000000u, 110, 5, TY_EV_OTHER);
	ty_mx_switch(0, 120, -7, 12345678, 2000000000);
	ty_mx_waking(0, 130, 2000000000, -1, -5);
	ty_mx_fork(0, 140, -3, -4, 0);
	ty_mx_gap(9000, 500, 150, 7);
	ty_mx_gap(0, UINT64_MAX, 160, UINT64_MAX);
	ty_mx_exit(0, 170, INT32_MAX, INT64_MIN, INT64_MIN);
	m = ty_mx_end();
	assert_int_equal(ty_model_summary(m)->cpus, 1);
	assert_int_equal(ty_model_span(m, UINT32_MAX).thread, TY_NONE);
	assert_int_equal(ty_model_syscall(m, 12345).thread, TY_NONE);
	assert_int_equal(ty_model_cpu_span(m, 77, 0).thread, TY_NONE);
	/* Nothing at all. */
	ty_mx_begin(NULL, NULL);
	m = ty_mx_end();
	assert_int_equal(ty_model_summary(m)->events, 0);
}

/* Says no at the at-th request. */
struct asked {
	unsigned n, at;
	double last;
};

static bool finishing(void *ctx, double part)
{
	struct asked *a = ctx;

	assert_true(part >= 0 && part <= 1);
	assert_true(part >= a->last);
	a->last = part;
	return a->n++ != a->at;
}

/* Many spans, and a loss that makes each of them be looked at again. */
static int finish_when(struct asked *a, struct ty_model **m, struct ty_err *err)
{
	struct ty_build_facts facts = {.finishing = finishing, .finishing_ctx = a};
	struct ty_builder *b = ty_builder_new(&facts);
	struct ty_event ev = {.kind = TY_EV_SWITCH};
	int r;

	assert_non_null(b);
	for (unsigned i = 0; i < 40000; i++) {
		ev.ts_ns = 1000 + 10 * i;
		ev.tid = ev.u.sw.prev_tid = i % 2 ? 5 : 6;
		ev.u.sw.next_tid = i % 2 ? 6 : 5;
		ev.u.sw.prev_state = S;
		assert_int_equal(ty_builder_feed(b, &ev, NULL), 0);
	}
	ev = (struct ty_event){.kind = TY_EV_GAP, .ts_ns = ev.ts_ns + 10};
	ev.u.gap.count = 4;
	assert_int_equal(ty_builder_feed(b, &ev, NULL), 0);
	r = ty_builder_finish(b, m, err);
	ty_builder_free(b);
	return r;
}

/* Finishing can be stopped at any moment, and reports its progress. */
static void stopped_while_finishing(void **state)
{
	struct asked all = {.at = UINT32_MAX};
	struct ty_model *m;

	assert_int_equal(finish_when(&all, &m, NULL), 0);
	ty_model_free(m);
	assert_true(all.n > 10);
	assert_true(all.last > 0.5);
	for (unsigned i = 0; i < all.n; i++) {
		struct asked a = {.at = i};
		struct ty_err err = {0};

		assert_int_equal(finish_when(&a, &m, &err), -TY_EINTR);
		assert_null(m);
		assert_int_equal(err.code, TY_EINTR);
		assert_int_equal(a.n, i + 1);
	}
}

/* 11 runs on CPU 1, and then on CPU 0: what it did between is reported as lost, unless the recorder
 * counted no loss; then a switch was not delivered. */
static void elsewhere_without_a_switch(void **state)
{
	for (int lost = 0; lost < 2; lost++) {
		ty_mx_begin_self("mode=all\nno_idle_switch=1\n", NULL,
				 lost ? "lost=5\n" : "lost=0\n");
		ty_mx_switch(0, 1, 0, R, 12);
		ty_mx_switch(1, 2, 0, R, 11);
		ty_mx_event(1, 10, 11, TY_EV_OTHER);
		ty_mx_switch(0, 30, 12, S, 11);
		ty_mx_switch(0, 40, 11, S, 0);
		ty_mx_end();
		tracks(11, lost ? "?1-2< R@1:2-10 ?10-30! R@0:30-40 S40-40>"
				: "?1-2< R@1:2-10 ?10-30 R@0:30-40 S40-40>");
	}
	(void)state;
}

/* 11 is woken on CPU 1 (or 0, whose switches from idle are all there), which is idle for 2 ms
 * afterwards, or all the time busy with 10: an idle CPU has no thread that waits for it. */
static void woken_and_not_seen_again(void **state)
{
	(void)state;
	for (unsigned how = 0; how < 3; how++) {
		const unsigned cpu = how != 1;

		ty_mx_begin(NO_IDLE, NULL);
		ty_mx_event(cpu, 0, 10, TY_EV_OTHER);
		ty_mx_event(!cpu, 0, 9, TY_EV_OTHER);
		ty_mx_switch(!cpu, 1000, 9, S, 11);
		ty_mx_switch(!cpu, 2000, 11, S, 9);
		if (how < 2)
			ty_mx_switch(cpu, 1000000, 10, S, 0);
		ty_mx_waking(!cpu, 2000000, 9, 11, (int)cpu);
		if (how < 2)
			ty_mx_waking(!cpu, 4000000, 9, 10, (int)cpu);
		ty_mx_event(cpu, 4000000, 10, TY_EV_OTHER);
		ty_mx_event(!cpu, 5000000, 9, TY_EV_OTHER);
		ty_mx_end();
		assert_non_null(strstr(ty_mx_thread(11, 0), how == 0   ? " ?2000000-5000000>"
							    : how == 1 ? " w@0:2000000-5000000>"
								       : " w@1:2000000-5000000>"));
	}
}

/* In a cut 10 ran where it begins, or the whole had only inferred that. */
static void begin_of_a_cut(void **state)
{
	for (int known = 0; known < 2; known++) {
		ty_mx_begin(
			OURS,
			known ? "taken 40 40\n10\t10\t1\t-\tR\t-\t-\t0\trunning\t-\t-\t-\tten\n"
			      : "taken 40 40\n10\t10\t1\t-\t-\t-\t-\t0\trunning\t-\t-\t-\tten\n");
		ty_mx_event(1, 50, 11, TY_EV_OTHER);
		ty_mx_event(0, 80, 10, TY_EV_OTHER);
		ty_mx_switch(0, 100, 10, S, 0);
		ty_mx_event(1, 200, 11, TY_EV_OTHER);
		ty_mx_end();
		tracks(10, known ? "R@0:50-100< S100-200>" : "R@0:50-80<~ R@0:80-100 S100-200>");
	}
	(void)state;
}

int main(void)
{
#define T(f) cmocka_unit_test_teardown(f, drop)
	const struct CMUnitTest tests[] = {
		T(wait_and_run),
		T(first_events),
		T(states_of_switch),
		T(yield),
		T(waking_before_switch_out),
		T(missing_switch_from_idle),
		T(switch_not_delivered),
		T(tail_of_switch),
		T(doubles),
		T(snapshot),
		T(no_scheduler_events),
		T(migration),
		T(nonsense),
		T(stopped_while_finishing),
		T(elsewhere_without_a_switch),
		T(woken_and_not_seen_again),
		T(begin_of_a_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
