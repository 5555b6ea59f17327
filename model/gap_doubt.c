/* SPDX-License-Identifier: MIT */
/*
 * What lost events make doubtful, when all gaps are known (a gap is told at its end, often after
 * what other CPUs saw meanwhile).
 *
 * A sleeper may have been woken, have run and slept again on a CPU whose events were lost. That it
 * is woken after the gap, or never, says nothing about the time in between: from the begin of the
 * first gap on any CPU to the end of its wait it is UNKNOWN. One thing shows more: a system call
 * that is known to have lasted through (both ends recorded and none lost between, or still going on
 * when a complete stream of calls ended). Then the thread waited in there, if not without a break:
 * its state stays, with TY_SF_LOST. A wait that ends in a run without a recorded wakeup is no such
 * case: the wakeup is among what was lost, and so is when it came.
 *
 * A thread that is ready may have run, slept and been woken again in a gap of the CPU it waits for;
 * if it then runs elsewhere, in any gap.
 *
 * Invariant kept: a thread's spans follow each other without holes, unknown neighbours are joined.
 * Cost: nothing without gaps; with gaps log(gaps) per waiting span, log(calls) per doubtful one.
 */
#include "builder.h"

#include <stdlib.h>
#include <string.h>

#define SURE UINT64_MAX

struct columns {
	uint64_t *start;
	uint16_t *cpu;
	uint8_t *state, *flags;
	uint32_t n;
};

static bool waits(unsigned state)
{
	return state == TY_ST_SLEEPING || state == TY_ST_BLOCKED || state == TY_ST_STOPPED;
}

/* Was the thread in one and the same system call all through [from, to)? */
static bool in_one_call(const struct ty_model *m, uint32_t thread, uint64_t from, uint64_t to)
{
	uint32_t i = ty_model_syscall_after(m, thread, from);

	return i != TY_NONE && m->sc_start[i] <= from && m->sc_end[i] >= to &&
	       !(m->sc_flags[i] & ~(TY_SF_BEFORE | TY_SF_OPEN));
}

/* From when on the span's state is not known: within it, or SURE. *lost: nothing is to be taken
 * back, but events were lost meanwhile. */
static uint64_t doubtful(const struct ty_builder *b, const struct ty_model *m, uint32_t thread,
			 uint32_t i, bool *lost)
{
	const struct ty_thread *t = &m->thread[thread];
	bool last = i + 1 == t->spans_first + t->spans_n;
	uint64_t start = m->span_start[i], end = last ? t->end_ns : m->span_start[i + 1], at;
	unsigned state = m->span_state[i], next = last ? TY_ST_UNKNOWN : m->span_state[i + 1];
	uint16_t cpu = m->span_cpu[i];

	*lost = false;
	if (waits(state))
		at = ty_gap_stack_from(&b->gaps, start);
	else if (state != TY_ST_RUNNABLE)
		return SURE;
	else if (cpu >= b->cpus || (next == TY_ST_RUNNING && m->span_cpu[i + 1] != cpu))
		at = ty_gap_stack_from(&b->gaps, start);
	else
		at = ty_gap_stack_from(&b->cpu[cpu].gaps, start);
	if (at < start)
		at = start;
	if (at >= end)
		return SURE;
	*lost = waits(state) &&
		(next == TY_ST_RUNNABLE || (last && m->span_flags[i] & TY_SF_OPEN)) &&
		in_one_call(m, thread, at, end);
	return *lost ? SURE : at;
}

static void add(struct columns *c, uint32_t first, uint64_t start, uint16_t cpu, uint8_t state,
		uint8_t flags)
{
	if (c->n > first && state == TY_ST_UNKNOWN && c->state[c->n - 1] == TY_ST_UNKNOWN) {
		c->flags[c->n - 1] |= flags;
		return;
	}
	c->start[c->n] = start;
	c->cpu[c->n] = cpu;
	c->state[c->n] = state;
	c->flags[c->n++] = flags;
}

/* The spans again, with `more` of them cut in two at most. */
static int rewrite(const struct ty_builder *b, struct ty_model *m, uint32_t more)
{
	size_t n = (size_t)m->spans + more;
	struct columns c = {malloc(n * sizeof(*c.start)), malloc(n * sizeof(*c.cpu)), malloc(n),
			    malloc(n), 0};

	if (n >= UINT32_MAX || !c.start || !c.cpu || !c.state || !c.flags) {
		free(c.start);
		free(c.cpu);
		free(c.state);
		free(c.flags);
		return n >= UINT32_MAX ? -TY_ELIMIT : -TY_ENOMEM;
	}
	for (uint32_t t = 0; t < m->threads; t++) {
		uint32_t first = c.n, from = m->thread[t].spans_first,
			 to = from + m->thread[t].spans_n;

		for (uint32_t i = from; i < to; i++) {
			uint8_t flags = m->span_flags[i];
			bool lost;
			uint64_t at = doubtful(b, m, t, i, &lost);

			if (at > m->span_start[i])
				add(&c, first, m->span_start[i], m->span_cpu[i], m->span_state[i],
				    at == SURE ? flags : flags & (uint8_t)~TY_SF_OPEN);
			if (at != SURE)
				add(&c, first, at, TY_NO_CPU, TY_ST_UNKNOWN,
				    TY_SF_LOST | (flags & TY_SF_OPEN));
		}
		/* Spans before this thread's are not looked at any more. */
		m->thread[t].spans_first = first;
		m->thread[t].spans_n = c.n - first;
	}
	free(m->span_start);
	free(m->span_cpu);
	free(m->span_state);
	free(m->span_flags);
	m->span_start = c.start;
	m->span_cpu = c.cpu;
	m->span_state = c.state;
	m->span_flags = c.flags;
	m->spans = c.n;
	return 0;
}

int ty_gap_doubt(const struct ty_builder *b, struct ty_model *m)
{
	uint32_t cuts = 0;

	if (!ty_gap_stack_any(&b->gaps))
		return 0;
	for (uint32_t t = 0; t < m->threads; t++) {
		uint32_t i = m->thread[t].spans_first, to = i + m->thread[t].spans_n;

		for (; i < to; i++) {
			bool lost;

			cuts += doubtful(b, m, t, i, &lost) != SURE;
			if (lost)
				m->span_flags[i] |= TY_SF_LOST;
		}
	}
	return cuts ? rewrite(b, m, cuts) : 0;
}
