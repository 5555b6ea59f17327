/* SPDX-License-Identifier: MIT */
/*
 * Marks what lost events make uncertain, once all gaps are known (a gap is reported at its end,
 * often after other CPUs' events of the same time).
 *
 * A sleeping thread may have been woken, have run and slept again on a CPU whose events were lost.
 * A wakeup after the gap, or none, says nothing about the time in between: the thread is UNKNOWN
 * from the start of the first gap on any CPU to the end of its wait. The exception is a system call
 * known to have lasted through the gap (both ends recorded and none lost between, or unfinished
 * when a complete stream of calls ended). The thread waited in that call, possibly with
 * interruptions: its state stays, with TY_SF_LOST. A wait that ends in a run without a recorded
 * wakeup is not such a case: the wakeup was lost, and with it its time.
 *
 * A runnable thread may have run, slept and been woken again in a gap of the CPU that it waits for;
 * if it then runs on another CPU, in a gap of any CPU.
 *
 * Invariant: a thread's spans remain contiguous, and adjacent unknown ones are joined. Cost:
 * nothing without gaps; with gaps log(gaps) per waiting span, log(calls) per uncertain one.
 */
#include "builder.h"

#include <stdlib.h>

#define SURE	  UINT64_MAX
#define LOOK_ROWS 4096 /* between two checks whether to go on */

static bool waits(unsigned state)
{
	return state == TY_ST_SLEEPING || state == TY_ST_BLOCKED || state == TY_ST_STOPPED;
}

/* Was the thread in one and the same system call all through [from, to)? */
static bool in_one_call(const struct ty_model *m, uint32_t thread, uint64_t from, uint64_t to)
{
	const struct ty_table *t = &m->t[TY_T_CALLS];
	uint32_t i = ty_table_before(t, thread, from + 1); /* those that begin by then */

	return i && ty_table_row_end(t, thread, i - 1) > from &&
	       ty_table_row_end(t, thread, i - 1) >= to &&
	       !(ty_table_value(t, thread, i - 1, TY_CALL_FLAGS) &
		 ~(uint64_t)(TY_SF_BEFORE | TY_SF_OPEN));
}

static struct ty_span_row row_of(const struct ty_table *t, uint32_t thread, uint32_t i)
{
	return (struct ty_span_row){
		ty_table_value(t, thread, i, TY_SPAN_START),
		(uint16_t)ty_table_value(t, thread, i, TY_SPAN_CPU),
		(uint8_t)ty_table_value(t, thread, i, TY_SPAN_STATE),
		(uint8_t)ty_table_value(t, thread, i, TY_SPAN_FLAGS),
	};
}

/* From when on the state of span s is unknown: within it, or SURE. next: the one behind it, NULL
 * for the last. *lost: nothing is to be taken back, but events were lost meanwhile. */
static uint64_t doubtful(const struct ty_builder *b, const struct ty_model *m, uint32_t thread,
			 const struct ty_span_row *s, const struct ty_span_row *next, uint64_t end,
			 bool *lost)
{
	unsigned after = next ? next->state : TY_ST_UNKNOWN;
	uint32_t cpu = (uint16_t)(s->cpu1 - 1);
	uint64_t at;

	*lost = false;
	if (waits(s->state))
		at = ty_gap_stack_from(&b->gaps, s->start);
	else if (s->state != TY_ST_RUNNABLE)
		return SURE;
	else if (cpu >= b->cpus || (after == TY_ST_RUNNING && next->cpu1 != s->cpu1))
		at = ty_gap_stack_from(&b->gaps, s->start);
	else
		at = ty_gap_stack_from(&b->cpu[cpu].gaps, s->start);
	if (at < s->start)
		at = s->start;
	if (at >= end)
		return SURE;
	*lost = waits(s->state) && (after == TY_ST_RUNNABLE || (!next && s->flags & TY_SF_OPEN)) &&
		in_one_call(m, thread, at, end);
	return *lost ? SURE : at;
}

/* One thread's new spans on their way: unknown neighbours are joined. */
struct out {
	struct ty_table_fill *f;
	uint32_t thread;
	struct ty_span_row last;
	bool any;
	int r;
};

static void put(struct out *o, struct ty_span_row s)
{
	if (o->any && s.state == TY_ST_UNKNOWN && o->last.state == TY_ST_UNKNOWN) {
		o->last.flags |= s.flags;
		return;
	}
	if (o->any && !o->r)
		o->r = ty_table_push(o->f, o->thread, &o->last);
	o->last = s;
	o->any = true;
}

/* Rows of a table in order of threads: how far `row` of this one is. */
static int go_on(const struct ty_builder *b, const struct ty_table *t, uint32_t thread,
		 uint32_t row)
{
	return row % LOOK_ROWS ? 0
			       : ty_build_go_on(b, (t->row_first[thread] + row) / (t->rows + 1.0));
}

/* 1, 0 or -TY_EINTR. */
static int touched(const struct ty_builder *b, const struct ty_model *m, uint32_t thread)
{
	const struct ty_table *t = &m->t[TY_T_SPANS];
	uint32_t n = ty_table_rows(t, thread);
	struct ty_span_row s, next;
	int r = 0;

	for (uint32_t i = 0; i < n; i++, s = next) {
		bool last = i + 1 == n, lost;

		r = go_on(b, t, thread, i);
		if (r)
			return r;

		if (!i)
			s = row_of(t, thread, 0);
		if (!last)
			next = row_of(t, thread, i + 1);
		if (doubtful(b, m, thread, &s, last ? NULL : &next,
			     last ? t->end[thread] : next.start, &lost) != SURE ||
		    lost)
			return 1;
		if (last)
			break;
	}
	return 0;
}

static int rewrite(const struct ty_builder *b, const struct ty_model *m, uint32_t thread,
		   struct ty_table_fill *f)
{
	const struct ty_table *t = &m->t[TY_T_SPANS];
	uint32_t n = ty_table_rows(t, thread);
	struct out o = {.f = f, .thread = thread};
	struct ty_span_row s, next = {0};

	for (uint32_t i = 0; i < n && !o.r; i++, s = next) {
		bool last = i + 1 == n, lost;
		uint64_t at;

		o.r = go_on(b, t, thread, i);
		if (!i)
			s = row_of(t, thread, 0);
		if (!last)
			next = row_of(t, thread, i + 1);
		at = doubtful(b, m, thread, &s, last ? NULL : &next,
			      last ? t->end[thread] : next.start, &lost);
		if (at > s.start)
			put(&o,
			    (struct ty_span_row){s.start, s.cpu1, s.state,
						 lost	      ? s.flags | TY_SF_LOST
						 : at == SURE ? s.flags
							      : s.flags & (uint8_t)~TY_SF_OPEN});
		if (at != SURE)
			put(&o, (struct ty_span_row){at, 0, TY_ST_UNKNOWN,
						     TY_SF_LOST | (s.flags & TY_SF_OPEN)});
	}
	if (o.any && !o.r)
		o.r = ty_table_push(f, thread, &o.last);
	return o.r;
}

int ty_gap_doubt(const struct ty_builder *b, const struct ty_model *m, struct ty_table_fill *out)
{
	int r = 0;

	for (uint32_t i = 0; !r && i < m->threads; i++) {
		r = touched(b, m, i);
		if (r >= 0)
			r = r ? rewrite(b, m, i, out) : ty_table_adopt(out, &m->t[TY_T_SPANS], i);
	}
	return r;
}
