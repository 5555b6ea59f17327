/* SPDX-License-Identifier: MIT */
/*
 * States of all threads and CPUs, from scheduler events (Linux include/trace/events/sched.h;
 * meaning of the order of events: kernel/sched/core.c, try_to_wake_up and __schedule).
 *
 * Every event also names the thread that was current on its CPU (common_pid). Where that differs
 * from what the switches say, a switch was not delivered (some virtual machines never deliver a
 * CPU's switches from idle) or lost. Rules, all marked in the spans' flags:
 *
 * - from idle: the run begins, INFERRED, when the CPU was last seen idle, or at the wakeup if that
 *   came later: an idle CPU starts a runnable thread within microseconds, while the first event of
 *   a computing thread may come much later. (Measured against schedstat: tests/e2e/report.sh.)
 * - from another thread: that one is UNKNOWN after its last event; the run of the new one is
 *   INFERRED from then, or from its wakeup if that came later. If it was woken inside a system
 *   call and its first event is the call's end, the run begins there: that is the first event of
 *   a woken thread.
 *   The inferred part is a span of its own, up to the first event; from there on the run counts
 *   as recorded.
 * - a thread that is still runnable at the end of the recording, on a CPU without switches from
 *   idle that was idle meanwhile, is UNKNOWN since its wakeup: it ran there, and was not seen
 * again.
 * - in a gap nothing is inferred: the CPU is UNKNOWN throughout, and so are the threads that ran
 *   there or waited for it, until the next evidence. Sleeping threads of all CPUs: gap_doubt.c.
 *
 * sched_waking may come before its target's own switch-out (another CPU wakes it between its
 * decision to sleep and the switch). Such a wakeup is remembered; it counts when the thread sleeps
 * and then runs without another one, and had no effect otherwise.
 */
#include "builder.h"

#include <string.h>

/* enum trace_flag_type, include/linux/trace_events.h */
#define IRQS_OFF     0x01
#define NEED_RESCHED 0x04

/* Longest that __schedule is taken to go on between sched_switch and the change of stacks. */
#define TAIL_NS 100000

/* threads ----------------------------------------------------------------------------------- */

static bool waits(unsigned state)
{
	return state == TY_ST_SLEEPING || state == TY_ST_BLOCKED || state == TY_ST_STOPPED;
}

/* The first event that shows this thread's state: derive the state before it. */
static void first_woken(struct ty_builder *b, struct ty_bthread *t, uint64_t ts)
{
	if (t->seen)
		return;
	t->seen = true;
	if (t->in_snapshot && waits(t->open_state) && ts >= b->snap_from)
		return;
	if (!t->pub.born)
		t->open_state = TY_ST_UNKNOWN;
}

static void first_switched_in(struct ty_builder *b, struct ty_bthread *t, uint64_t ts, uint32_t cpu)
{
	if (t->seen)
		return;
	t->seen = true;
	/* It was there at the start, was not woken since, and runs: it was runnable all the time.
	 */
	if (t->in_snapshot && !ty_gap_stack_any(&b->gaps) &&
	    !(waits(t->open_state) && ts > b->snap_to)) {
		t->open_state = TY_ST_RUNNABLE;
		t->open_flags = TY_SF_BEFORE;
		t->open_cpu = (uint16_t)cpu;
	}
}

/* The thread is about to run on cpu from ts on: is its known state consistent with that? */
static void leave_wait(struct ty_builder *b, uint32_t thread, uint64_t ts, uint32_t cpu)
{
	struct ty_bthread *t = &b->thread.v[thread];
	uint64_t from;

	if (t->open_state == TY_ST_RUNNABLE) {
		/* It may have run, slept and been woken again in a gap of the CPU it waited for;
		 * if it moved without a recorded migration, in any gap. */
		if (t->open_cpu < b->cpus && t->open_cpu == cpu)
			from = ty_gap_stack_from(&b->cpu[cpu].gaps, t->open_start);
		else
			from = ty_gap_stack_from(&b->gaps, t->open_start);
		if (from < ts)
			ty_sched_doubt(b, thread, from, TY_SF_LOST);
	} else if (waits(t->open_state) && t->wake_pending) {
		t->open_state = TY_ST_RUNNABLE;
		t->open_flags = 0;
		t->open_cpu = (uint16_t)cpu;
	}
	/* A wait that ends without a wakeup: gap_doubt.c, when all gaps are known. */
}

static void run(struct ty_builder *b, uint32_t thread, uint32_t cpu, uint64_t s, unsigned flags)
{
	struct ty_bthread *t = &b->thread.v[thread];
	struct ty_bcpu *c = &b->cpu[cpu];

	if (s < t->open_start)
		s = t->open_start;
	if (s < c->open_start)
		s = c->open_start;
	t->wake_pending = t->fresh = false;
	ty_sched_set(b, thread, s, TY_ST_RUNNING, flags, cpu);
	ty_sched_cpu_set(b, cpu, s, thread, TY_ST_RUNNING, flags);
	c->cur = thread;
}

/* current threads --------------------------------------------------------------------------- */

static void infer_idle(struct ty_builder *b, uint32_t cpu, uint64_t ts)
{
	struct ty_bcpu *c = &b->cpu[cpu];

	if (c->cur == TY_CUR_UNKNOWN && b->complete) {
		/* Nothing happened before: it was idle all along. */
		c->open_state = TY_ST_IDLE;
		c->open_flags = TY_SF_BEFORE;
	} else {
		ty_sched_cpu_set(b, cpu, ts, TY_NONE, TY_ST_IDLE,
				 c->cur == TY_CUR_LOST && !b->none_lost ? TY_SF_LOST
									: TY_SF_INFERRED);
	}
	c->cur = TY_CUR_IDLE;
}

/* Up to ts its run was inferred; from there on it is proven. */
static void certain(struct ty_builder *b, uint32_t thread, uint32_t cpu, uint64_t ts)
{
	ty_sched_set(b, thread, ts, TY_ST_RUNNING, 0, cpu);
	ty_sched_cpu_set(b, cpu, ts, thread, TY_ST_RUNNING, 0);
}

/* The life of tid, after what another CPU than `cpu` has in suspense about it is settled (which may
 * even end it). TY_NONE as ty_identity_get. */
static uint32_t settled(struct ty_builder *b, int32_t tid, uint64_t ts, uint32_t cpu)
{
	uint32_t thread = ty_identity_get(b, tid, ts);

	if (thread == TY_NONE || b->thread.v[thread].prov_cpu == TY_NONE ||
	    b->thread.v[thread].prov_cpu == cpu)
		return thread;
	ty_sched_resolve(b, b->thread.v[thread].prov_cpu);
	return ty_identity_get(b, tid, ts);
}

/* With events of chosen threads only: no event reports that tid arrived. The thread switched to
 * before was not a chosen one, so nothing is known of it. */
static void infer_own(struct ty_builder *b, uint32_t cpu, int32_t tid, uint64_t ts, uint64_t left)
{
	struct ty_bcpu *c = &b->cpu[cpu];
	uint32_t was = c->cur, thread;
	struct ty_bthread *t;

	if (ty_is_thread(was)) {
		if (tid && ty_identity_handover(b, was, tid, ts, false))
			return;
		if (b->thread.v[was].exiting)
			ty_identity_end(b, was, left);
		else
			ty_sched_set(b, was, left, TY_ST_UNKNOWN, 0, TY_NO_CPU);
		ty_sched_cpu_set(b, cpu, left, TY_NONE, TY_ST_UNKNOWN, 0);
	}
	c->cur = TY_CUR_UNKNOWN;
	thread = tid ? settled(b, tid, ts, cpu) : TY_NONE;
	if (thread == TY_NONE)
		return;
	t = &b->thread.v[thread];
	if (t->open_state == TY_ST_RUNNING)
		ty_sched_vacate(b, thread);
	t->seen = true;
	/* It may have returned long before its first recorded action. */
	if (t->open_state == TY_ST_RUNNABLE)
		ty_sched_set(b, thread, t->open_start, TY_ST_UNKNOWN, 0, TY_NO_CPU);
	run(b, thread, cpu, ts, 0);
}

void ty_sched_own_end(struct ty_builder *b, uint32_t cpu)
{
	struct ty_bcpu *c = &b->cpu[cpu];

	/* Switched to, and no event since: it may not be a chosen thread. */
	if (!ty_is_thread(c->cur) || c->tail_ns != c->last_ns)
		return;
	ty_sched_set(b, c->cur, c->last_ns, TY_ST_UNKNOWN, 0, TY_NO_CPU);
	ty_sched_cpu_set(b, cpu, c->last_ns, TY_NONE, TY_ST_UNKNOWN, 0);
	c->cur = TY_CUR_UNKNOWN;
}

/* tid runs on cpu at ts although no switch was recorded. sure: no gap is in progress there.
 * at_once: the evidence is the end of a system call; a thread that was woken inside a call reaches
 * its end at once. */
static void infer(struct ty_builder *b, uint32_t cpu, int32_t tid, uint64_t ts, bool sure,
		  bool at_once)
{
	struct ty_bcpu *c = &b->cpu[cpu];
	uint32_t was = c->cur, thread;
	uint64_t s = ts, left = sure ? c->last_ns : c->sched_ns;
	unsigned flags = 0, why = sure ? 0 : TY_SF_LOST;
	struct ty_bthread *t;

	if (b->own_only) {
		infer_own(b, cpu, tid, ts, left);
		return;
	}
	if (ty_is_thread(was)) {
		if (tid && (ty_identity_handover(b, was, tid, ts, false) ||
			    ty_identity_leader_left(b, was, tid, ts)))
			return;
		if (b->thread.v[was].exiting)
			ty_identity_end(b, was, left);
		else
			ty_sched_doubt(b, was, left, why);
		ty_sched_cpu_set(b, cpu, left, TY_NONE, TY_ST_UNKNOWN, why);
		c->cur = TY_NONE; /* neither: distinguished from a gap below */
	}
	if (!tid) {
		infer_idle(b, cpu, ts);
		return;
	}
	thread = settled(b, tid, ts, cpu);
	if (thread == TY_NONE)
		return;
	t = &b->thread.v[thread];
	if (t->open_state == TY_ST_RUNNING)
		ty_sched_vacate(b, thread);
	if (was == TY_CUR_UNKNOWN && b->complete && !t->seen && !t->pub.born &&
	    t->open_start <= b->start && !ty_gap_stack_any(&b->gaps)) {
		/* The CPU's first event: it has been running since before the recording, unless
		 * the recording is a cut of one that did not know. */
		bool inferred = (c->no_idle || t->snap_letter == '-') && ts > b->start;

		t->seen = true;
		t->open_state = c->open_state = TY_ST_RUNNING;
		t->open_flags = c->open_flags =
			(uint8_t)(TY_SF_BEFORE | (inferred ? TY_SF_INFERRED : 0));
		t->open_cpu = (uint16_t)cpu;
		c->open_thread = c->cur = thread;
		if (inferred)
			certain(b, thread, cpu, ts);
		return;
	}
	if (was == TY_CUR_LOST) {
		/* Cut, not begun here. */
		flags = b->none_lost ? 0 : TY_SF_LOST;
	} else if (was == TY_CUR_UNKNOWN && !b->complete) {
		flags = TY_SF_BEFORE;
	} else if (at_once && ty_is_thread(was) && t->open_state == TY_ST_RUNNABLE &&
		   !(t->open_flags & (TY_SF_PREEMPT | TY_SF_YIELD))) {
		s = ts;
	} else if (t->open_state == TY_ST_RUNNABLE || (was == TY_CUR_IDLE && c->idle_resched)) {
		s = t->open_start > c->last_ns ? t->open_start : c->last_ns;
		flags = s < ts ? TY_SF_INFERRED : 0;
	}
	first_switched_in(b, t, ts, cpu);
	leave_wait(b, thread, s, cpu);
	run(b, thread, cpu, s, flags);
	if (s < ts)
		certain(b, thread, cpu, ts);
}

static bool is_current(const struct ty_builder *b, const struct ty_bcpu *c, int32_t tid)
{
	if (ty_is_thread(c->cur))
		return b->thread.v[c->cur].tid_now == tid;
	return c->cur == TY_CUR_IDLE && !tid;
}

static void resolve(struct ty_builder *b, uint32_t cpu, bool sure)
{
	struct ty_bcpu *c = &b->cpu[cpu];
	uint32_t thread;

	if (!c->prov)
		return;
	c->prov = false;
	thread = ty_identity_find(b, c->prov_tid);
	if (thread != TY_NONE)
		b->thread.v[thread].prov_cpu = TY_NONE;
	if (!is_current(b, c, c->prov_tid))
		infer(b, cpu, c->prov_tid, c->prov_first, sure, c->prov_exit);
	c->last_ns = c->prov_last;
}

void ty_sched_resolve(struct ty_builder *b, uint32_t cpu)
{
	resolve(b, cpu, false);
}

/*
 * Between sched_switch and the change of stacks the old thread is still "current": lock contention
 * and wakeups there, with interrupts off, carry its tid. They do not show which thread runs.
 */
static bool is_tail(const struct ty_bcpu *c, const struct ty_brief *br, uint64_t ts)
{
	if (!c->tail_ns || br->tid != c->tail_tid || ts - c->tail_ns > TAIL_NS)
		return false;
	switch (br->kind) {
	case TY_EV_SWITCH:
	case TY_EV_SYS_ENTER:
	case TY_EV_SYS_EXIT: return false;
	default: break;
	}
	if (br->flags & TY_EVF_NMI)
		return true;
	return br->flags & IRQS_OFF && !(br->flags & (TY_EVF_HARDIRQ | TY_EVF_SOFTIRQ));
}

/* A third thread on a CPU between two scheduler events there: most likely in the middle of a gap.
 * Its state is in doubt since the first of them. */
static void seen_in_passing(struct ty_builder *b, const struct ty_bcpu *c, int32_t tid, uint64_t ts)
{
	uint32_t thread = settled(b, tid, ts, TY_NONE);

	if (thread == TY_NONE)
		return;
	b->thread.v[thread].seen = true;
	if (b->thread.v[thread].open_state == TY_ST_RUNNING)
		ty_sched_vacate(b, thread);
	else
		ty_sched_doubt(b, thread, c->sched_ns, b->none_lost ? 0 : TY_SF_LOST);
}

void ty_sched_evidence(struct ty_builder *b, const struct ty_brief *br, uint64_t ts)
{
	struct ty_bcpu *c = &b->cpu[br->cpu];

	if (br->buffer == b->sched_buf)
		c->sched_ns = ts;
	if (is_tail(c, br, ts))
		return;
	c->tail_ns = 0;
	if (c->gaps.endless != UINT64_MAX && br->buffer != b->sched_buf) {
		/* No further scheduler event follows here: this proves an instant only. */
		if (br->tid)
			seen_in_passing(b, c, br->tid, ts);
		return;
	}
	if (c->prov && br->buffer == b->sched_buf)
		resolve(b, br->cpu, true);
	if (c->prov) {
		if (br->tid == c->prov_tid)
			c->prov_last = ts;
		else if (br->tid && !is_current(b, c, br->tid))
			seen_in_passing(b, c, br->tid, ts);
		return;
	}
	if (!is_current(b, c, br->tid)) {
		if (br->buffer != b->sched_buf) {
			uint32_t thread = ty_identity_find(b, br->tid);

			c->prov = true;
			c->prov_tid = br->tid;
			c->prov_exit = br->kind == TY_EV_SYS_EXIT;
			c->prov_first = c->prov_last = ts;
			if (br->tid && thread != TY_NONE)
				b->thread.v[thread].prov_cpu = br->cpu;
			return;
		}
		infer(b, br->cpu, br->tid, ts, true, br->kind == TY_EV_SYS_EXIT);
	}
	c->last_ns = ts;
	c->idle_resched = !br->tid && (br->flags & NEED_RESCHED);
}

/* events ------------------------------------------------------------------------------------ */

static void switch_out(struct ty_builder *b, uint32_t thread, uint64_t st, uint64_t ts,
		       uint32_t cpu)
{
	struct ty_bthread *t = &b->thread.v[thread];

	if (st & TY_TASK_UNRECORDED) {
		if (t->exiting)
			ty_identity_end(b, thread, ts);
		else
			ty_sched_set(b, thread, ts, TY_ST_UNKNOWN, 0, TY_NO_CPU);
	} else if (st & TY_TASK_PREEMPTED) {
		ty_sched_set(b, thread, ts, TY_ST_RUNNABLE, TY_SF_PREEMPT, cpu);
	} else if (!(st & 0xff)) {
		/* Kernels without preemption report R also for a thread that was preempted on its
		 * return to user mode: only sched_yield is known to be a yield. */
		bool yields = t->in_nr >= 0 && t->in_nr == b->yield_nr;

		ty_sched_set(b, thread, ts, TY_ST_RUNNABLE, yields ? TY_SF_YIELD : TY_SF_PREEMPT,
			     cpu);
	} else if (st & (TY_TASK_DEAD | TY_TASK_ZOMBIE)) {
		ty_identity_end(b, thread, ts);
	} else if (st & TY_TASK_IDLE) {
		t->pub.kernel = true; /* TASK_IDLE is a kernel thread's wait for work */
		ty_sched_set(b, thread, ts, TY_ST_SLEEPING, 0, TY_NO_CPU);
	} else if (st & TY_TASK_UNINTERRUPTIBLE) {
		ty_sched_set(b, thread, ts, TY_ST_BLOCKED, 0, TY_NO_CPU);
	} else if (st & (TY_TASK_STOPPED | TY_TASK_TRACED)) {
		ty_sched_set(b, thread, ts, TY_ST_STOPPED, 0, TY_NO_CPU);
	} else {
		ty_sched_set(b, thread, ts, TY_ST_SLEEPING, 0, TY_NO_CPU);
	}
}

void ty_sched_switch(struct ty_builder *b, const struct ty_switch *sw, uint64_t ts)
{
	struct ty_bcpu *c = &b->cpu[sw->cpu];
	int32_t prev = sw->prev, next = sw->next;
	bool has_prio = sw->prev_prio != TY_PRIO_UNKNOWN;
	uint32_t thread;

	b->sum.has_sched = true;
	if (!is_current(b, c, prev))
		infer(b, sw->cpu, prev, ts, true, false);
	c->last_ns = c->tail_ns = ts;
	c->tail_tid = prev;
	c->idle_resched = false;
	if (ty_is_thread(c->cur)) {
		if (has_prio) {
			ty_identity_seen(b, c->cur, ts, sw->prev_comm);
			ty_points_prio(b, sw->cpu, c->cur, sw->prev_prio, ts);
		}
		switch_out(b, c->cur, sw->prev_state, ts, sw->cpu);
	}
	if (!next && b->own_only) {
		/* The end of its idle time is not recorded. */
		ty_sched_cpu_set(b, sw->cpu, ts, TY_NONE, TY_ST_UNKNOWN, 0);
		c->cur = TY_CUR_UNKNOWN;
		return;
	}
	if (!next) {
		ty_sched_cpu_set(b, sw->cpu, ts, TY_NONE, TY_ST_IDLE, 0);
		c->cur = TY_CUR_IDLE;
		return;
	}
	thread = settled(b, next, ts, sw->cpu);
	if (thread == TY_NONE) {
		ty_sched_cpu_set(b, sw->cpu, ts, TY_NONE, TY_ST_UNKNOWN, TY_SF_LOST);
		c->cur = TY_CUR_LOST;
		return;
	}
	if (has_prio) {
		ty_identity_seen(b, thread, ts, sw->next_comm);
		ty_points_prio(b, sw->cpu, thread, sw->next_prio, ts);
	}
	if (b->thread.v[thread].open_state == TY_ST_RUNNING)
		ty_sched_vacate(b, thread);
	first_switched_in(b, &b->thread.v[thread], ts, sw->cpu);
	leave_wait(b, thread, ts, sw->cpu);
	run(b, thread, sw->cpu, ts, 0);
}

/* ty_identity_find, without a look-up for the current thread of the CPU. */
static uint32_t current_life(const struct ty_builder *b, uint32_t cpu, int32_t tid)
{
	uint32_t cur = b->cpu[cpu].cur;

	if (ty_is_thread(cur) && b->thread.v[cur].tid_now == tid && !b->thread.v[cur].ended)
		return cur;
	return ty_identity_find(b, tid);
}

static void edge(struct ty_builder *b, const struct ty_wake *w, uint64_t ts, uint32_t target)
{
	/* sched_wakeup may run on the target's CPU: the current thread there is not the waker. */
	uint32_t waker =
		w->waker && w->kind != TY_EV_WAKEUP ? current_life(b, w->cpu, w->waker) : TY_NONE;
	int32_t to = w->target_cpu;
	struct ty_edge_row row = {
		.ts = ts,
		.loc1 = (w->loc + 1) & TY_LOC_LOW,
		.loc1_high = (uint16_t)((w->loc + 1) >> 52),
		.waker1 = waker + 1,
		.cpu1 = (uint16_t)(w->cpu + 1),
		.target_cpu1 = to >= 0 && to < TY_NO_CPU ? (uint16_t)(to + 1) : 0,
		.context = w->flags & (TY_EVF_HARDIRQ | TY_EVF_SOFTIRQ | TY_EVF_NMI),
	};

	ty_build_fail(b, ty_table_add(&b->fill[TY_T_EDGES], target, &row, sizeof(row)));
}

void ty_sched_wake(struct ty_builder *b, const struct ty_wake *w, uint64_t ts)
{
	uint32_t thread = w->tid ? settled(b, w->tid, ts, TY_NONE) : TY_NONE;
	struct ty_bthread *t;
	uint64_t from;

	if (thread == TY_NONE)
		return;
	t = &b->thread.v[thread];
	if (w->kind == TY_EV_WAKEUP) {
		/* The second half of a wakeup whose first half is traced as well says no more. */
		if (!waits(t->open_state) || t->wake_pending ||
		    (b->waking_seen && !ty_gap_stack_any(&b->gaps)))
			return;
	} else if (w->kind == TY_EV_WAKING) {
		b->waking_seen = true;
	}
	ty_identity_seen(b, thread, ts, w->comm);
	first_woken(b, t, ts);
	edge(b, w, ts, thread);
	t->pub.wakeups++;
	if (w->kind == TY_EV_WAKEUP_NEW) {
		t->fresh = false;
		if (t->open_state != TY_ST_RUNNING)
			ty_sched_set(b, thread, ts, TY_ST_RUNNABLE, TY_SF_NEW,
				     (uint32_t)w->target_cpu);
		return;
	}
	if (t->open_state == TY_ST_RUNNING) {
		t->wake_pending = true;
		return;
	}
	if (t->open_state == TY_ST_RUNNABLE) {
		/* Only a thread that is not runnable can be woken: in between it ran and slept
		 * again, which was not recorded. (Or it was preempted on its way to sleep; then
		 * nothing is in doubt.) */
		if (t->open_flags & TY_SF_PREEMPT)
			return;
		from = ty_gap_stack_from(&b->gaps, t->open_start);
		if (from < ts)
			ty_sched_doubt(b, thread, from, TY_SF_LOST);
		else
			ty_sched_doubt(b, thread, t->open_start, 0);
	}
	t->wake_pending = false;
	ty_sched_set(b, thread, ts, TY_ST_RUNNABLE, 0, (uint32_t)w->target_cpu);
}

static void migrated(struct ty_builder *b, const struct ty_event *ev, uint64_t ts)
{
	uint32_t thread = ev->u.migrate.tid ? ty_identity_get(b, ev->u.migrate.tid, ts) : TY_NONE;
	struct ty_bthread *t;

	if (thread == TY_NONE || ev->u.migrate.from_cpu == ev->u.migrate.to_cpu)
		return;
	t = &b->thread.v[thread];
	t->pub.migrations++;
	ty_build_fail(b, ty_table_push(&b->fill[TY_T_MIGS], thread, &(struct ty_mig_row){ts}));
	if (t->open_state == TY_ST_RUNNABLE && ev->u.migrate.to_cpu >= 0)
		t->open_cpu = ev->u.migrate.to_cpu < (int)TY_NO_CPU ? (uint16_t)ev->u.migrate.to_cpu
								    : TY_NO_CPU;
}

static void fixed(char out[TY_COMM], const char *comm)
{
	memset(out, 0, TY_COMM);
	memcpy(out, comm, strnlen(comm, TY_COMM));
}

void ty_sched_event(struct ty_builder *b, const struct ty_event *ev, uint64_t ts)
{
	char comm[TY_COMM], next_comm[TY_COMM];

	switch (ev->kind) {
	case TY_EV_SWITCH:
		fixed(comm, ev->u.sw.prev_comm);
		fixed(next_comm, ev->u.sw.next_comm);
		ty_sched_switch(b,
				&(struct ty_switch){.cpu = ev->cpu,
						    .prev = ev->u.sw.prev_tid,
						    .next = ev->u.sw.next_tid,
						    .prev_prio = ev->u.sw.prev_prio,
						    .next_prio = ev->u.sw.next_prio,
						    .prev_state = ev->u.sw.prev_state,
						    .prev_comm = comm,
						    .next_comm = next_comm},
				ts);
		break;
	case TY_EV_WAKING:
	case TY_EV_WAKEUP:
	case TY_EV_WAKEUP_NEW:
		fixed(comm, ev->u.wake.comm);
		ty_sched_wake(b,
			      &(struct ty_wake){.cpu = ev->cpu,
						.waker = ev->tid,
						.tid = ev->u.wake.tid,
						.target_cpu = ev->u.wake.target_cpu,
						.loc = ev->loc,
						.comm = comm,
						.kind = ev->kind,
						.flags = ev->flags},
			      ts);
		break;
	case TY_EV_MIGRATE: migrated(b, ev, ts); break;
	default: break;
	}
}

void ty_sched_gap(struct ty_builder *b, uint32_t cpu, uint64_t from, uint64_t to, bool to_end)
{
	struct ty_bcpu *c = &b->cpu[cpu];

	if (c->prov) {
		/* What another buffer saw in the gap proves that instant only. */
		uint32_t thread = ty_identity_find(b, c->prov_tid);

		c->prov = false;
		if (c->prov_tid && thread != TY_NONE && !b->thread.v[thread].ended) {
			b->thread.v[thread].prov_cpu = TY_NONE;
			b->thread.v[thread].seen = true;
			if (b->thread.v[thread].open_state == TY_ST_RUNNING)
				ty_sched_vacate(b, thread);
			ty_sched_doubt(b, thread, from, TY_SF_LOST);
		}
	}
	if (ty_is_thread(c->cur)) {
		if (b->thread.v[c->cur].exiting)
			ty_identity_end(b, c->cur, from);
		else
			ty_sched_doubt(b, c->cur, from, TY_SF_LOST);
	}
	ty_sched_cpu_set(b, cpu, from, TY_NONE, TY_ST_UNKNOWN, TY_SF_LOST);
	c->cur = TY_CUR_LOST;
	c->last_ns = to;
	c->tail_ns = 0;
	c->idle_resched = false;
	ty_gap_stack_push(b, &c->gaps, from, to, to_end);
	ty_gap_stack_push(b, &b->gaps, from, to, to_end);
}
