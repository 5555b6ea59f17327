/* SPDX-License-Identifier: MIT */
/*
 * Possibly stolen time (steal.h) in a stall: in a thread's own run, in its wait for a CPU, or in
 * the activity of the threads that it waited for. Facts and thresholds only; the words are in
 * stall_text.c. Budget: that of steal.h, for candidates.
 */
#include "stalls_priv.h"
#include "steal.h"

/* Less than that of a stall does not change its culprit. */
#define LITTLE(c) ((c)->s.duration_ns / 10)

static uint64_t counted(const struct ty_stall_search *h, uint32_t cpu, uint64_t a, uint64_t b)
{
	return h->x->steal && cpu != TY_NONE && a < b ? h->x->steal(h->x->ctx, cpu, a, b) : 0;
}

static bool has_ticks(const struct ty_stall_search *h, uint32_t cpu)
{
	return h->x->ticks && cpu < h->x->ticks->cpus && h->x->ticks->period_ns[cpu];
}

int ty_stall_add_steal(struct ty_stall_search *h, uint32_t thread, uint32_t span,
		       const struct ty_span *s, uint64_t a, uint64_t b)
{
	uint64_t ns = ty_stolen_of_run(h->x, s, a, b);
	struct ty_candidate *c;
	int r;

	if (ns < h->o.min_ns)
		return 0;
	r = ty_stall_add(h, thread, span, a, b, TY_ST_RUNNING, s->flags);
	if (r)
		return r;
	c = &h->cand.v[h->cand.n - 1];
	c->steal = true;
	c->s.steal_ns = c->s.duration_ns = ns;
	c->s.steal_counted_ns = counted(h, s->cpu, a, b);
	return 1;
}

void ty_stall_judge_run(struct ty_stall_search *h, struct ty_candidate *c)
{
	struct ty_span s = ty_model_span_brief(h->x->m, c->s.thread, c->s.span);

	if (c->steal) {
		c->s.proven = false;
		return;
	}
	c->s.steal_ns = ty_stolen_of_thread(h->x, c->s.thread, c->s.start_ns, c->end_ns);
	c->s.steal_counted_ns = counted(h, s.cpu, c->s.start_ns, c->end_ns);
	if (c->s.steal_ns >= LITTLE(c) || c->s.steal_counted_ns >= LITTLE(c))
		c->s.proven = false;
	/* Samples say how much, not when: no cause where the ticks show that the CPU was there. */
	if (!has_ticks(h, s.cpu) && c->s.steal_counted_ns >= c->s.duration_ns / 2)
		c->s.kind = TY_STALL_STEAL;
}

bool ty_stall_steal_of_queue(struct ty_stall_search *h, struct ty_candidate *c, uint32_t cpu)
{
	c->s.steal_ns = ty_stolen_of_cpu(h->x, cpu, c->s.start_ns, c->end_ns) +
			ty_silent_while_idle(h->x, cpu, c->s.start_ns, c->end_ns);
	c->s.steal_counted_ns = counted(h, cpu, c->s.start_ns, c->end_ns);
	return c->s.steal_ns >= c->s.duration_ns / 2 ||
	       (!has_ticks(h, cpu) && c->s.steal_counted_ns >= c->s.duration_ns / 2);
}

bool ty_stall_steal_matters(const struct ty_candidate *c)
{
	return c->s.steal_ns && c->s.steal_ns >= LITTLE(c);
}

void ty_stall_steal_of_path(struct ty_candidate *c, const struct ty_path *p)
{
	vec_each (s, &p->seg)
		if (s->what == TY_SEG_STOLEN)
			c->s.steal_ns += s->end_ns - s->start_ns;
	if (ty_stall_steal_matters(c))
		c->s.proven = false;
}
