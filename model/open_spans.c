/* SPDX-License-Identifier: MIT */
/*
 * The open span of each thread and each CPU, and the gaps that may make it uncertain; sched_state.c
 * decides when a span closes and the next one opens. Spans go to the tables in time order, delayed
 * by one, because an unknown span may still be joined with its neighbour.
 */
#include "builder.h"

#include <stdlib.h>

#include "partition.h"

int ty_builder_cpu_add(struct ty_builder *b, uint32_t cpu)
{
	if (cpu >= b->cpus_cap) {
		uint32_t cap = b->cpus_cap ? b->cpus_cap : 16;
		struct ty_bcpu *v;

		while (cap <= cpu)
			cap *= 2;
		v = realloc(b->cpu, cap * sizeof(*v));
		if (!v)
			return -TY_ENOMEM;
		b->cpu = v;
		b->cpus_cap = cap;
	}
	for (; b->cpus <= cpu; b->cpus++)
		b->cpu[b->cpus] = (struct ty_bcpu){.cur = TY_CUR_UNKNOWN,
						   .open_start = b->start,
						   .open_thread = TY_NONE,
						   .open_state = TY_ST_UNKNOWN,
						   .open_flags = TY_SF_BEFORE,
						   .gaps.endless = UINT64_MAX};
	return 0;
}

static void push_last(struct ty_builder *b, uint32_t thread)
{
	struct ty_bthread *t = &b->thread.v[thread];

	if (t->has_last)
		ty_build_fail(
			b, ty_table_add(&b->fill[TY_T_SPANS], thread, &t->last, sizeof(t->last)));
	t->has_last = false;
}

void ty_sched_close(struct ty_builder *b, uint32_t thread, unsigned flags)
{
	struct ty_bthread *t = &b->thread.v[thread];
	struct ty_span_row row = {t->open_start, (uint16_t)(t->open_cpu + 1), t->open_state,
				  (uint8_t)(t->open_flags | flags)};

	if (t->has_last && t->last.state == TY_ST_UNKNOWN && row.state == TY_ST_UNKNOWN) {
		/* Unknown neighbours are one span. */
		t->last.flags |= row.flags;
		return;
	}
	push_last(b, thread);
	t->last = row;
	t->has_last = true;
}

void ty_sched_finish(struct ty_builder *b, uint32_t thread)
{
	push_last(b, thread);
	ty_build_fail(b,
		      ty_table_seal(&b->fill[TY_T_SPANS], thread, b->thread.v[thread].pub.end_ns));
}

void ty_sched_set(struct ty_builder *b, uint32_t thread, uint64_t at, enum ty_state state,
		  unsigned flags, uint32_t cpu)
{
	struct ty_bthread *t = &b->thread.v[thread];

	if (state == TY_ST_UNKNOWN && t->open_state == state && t->open_flags == flags)
		return;
	if (at > t->open_start) {
		ty_sched_close(b, thread, 0);
		t->open_start = at;
	}
	t->open_state = (uint8_t)state;
	t->open_flags = (uint8_t)flags;
	t->open_cpu = cpu < TY_NO_CPU ? (uint16_t)cpu : TY_NO_CPU;
}

void ty_sched_cpu_close(struct ty_builder *b, uint32_t cpu, unsigned flags)
{
	struct ty_bcpu *c = &b->cpu[cpu];
	struct ty_cpu_row row = {c->open_start, c->open_thread + 1, c->open_state,
				 (uint8_t)(c->open_flags | flags)};

	ty_build_fail(b, ty_table_add(&b->fill[TY_T_CPU], cpu, &row, sizeof(row)));
}

void ty_sched_cpu_set(struct ty_builder *b, uint32_t cpu, uint64_t at, uint32_t thread,
		      enum ty_state state, unsigned flags)
{
	struct ty_bcpu *c = &b->cpu[cpu];

	if (state == TY_ST_UNKNOWN && c->open_state == state && c->open_flags == flags)
		return;
	if (at > c->open_start) {
		ty_sched_cpu_close(b, cpu, 0);
		if (c->open_state == TY_ST_IDLE && at - c->open_start >= TY_IDLE_NS) {
			c->idle_from = c->open_start;
			c->idle_to = at;
		}
		c->open_start = at;
	}
	c->open_thread = thread;
	c->open_state = (uint8_t)state;
	c->open_flags = (uint8_t)flags;
}

void ty_gap_stack_push(struct ty_builder *b, struct ty_gap_stack *s, uint64_t from, uint64_t to,
		       bool to_end)
{
	if (to_end && from < s->endless)
		s->endless = from;
	while (s->g.n && s->g.v[s->g.n - 1].from >= from)
		s->g.n--;
	if (vec_reserve(&s->g, s->g.n + 1)) {
		ty_build_fail(b, -TY_ENOMEM);
		return;
	}
	s->g.v[s->g.n].from = from;
	s->g.v[s->g.n++].to = to;
}

uint64_t ty_gap_stack_from(const struct ty_gap_stack *s, uint64_t t)
{
	size_t lo = partition_point(i, 0, s->g.n, s->g.v[i].to <= t);

	return lo < s->g.n && s->g.v[lo].from < s->endless ? s->g.v[lo].from : s->endless;
}

void ty_sched_vacate(struct ty_builder *b, uint32_t thread)
{
	struct ty_bthread *t = &b->thread.v[thread];
	unsigned why = b->none_lost ? 0 : TY_SF_LOST;
	struct ty_bcpu *c;
	uint64_t at;

	if (t->open_state != TY_ST_RUNNING || t->open_cpu >= b->cpus)
		return;
	c = &b->cpu[t->open_cpu];
	/* A gap may be in progress there, which is reported only at its end: events of other
	 * buffers since then prove instants only. */
	at = c->sched_ns > t->open_start ? c->sched_ns : t->open_start;
	if (c->cur == thread) {
		ty_sched_cpu_set(b, t->open_cpu, at, TY_NONE, TY_ST_UNKNOWN, why);
		c->cur = TY_CUR_LOST;
	}
	ty_sched_doubt(b, thread, at, why);
}
