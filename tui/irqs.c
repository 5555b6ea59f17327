/* SPDX-License-Identifier: MIT */
/* Cells of interrupts; see irqs.h. Budget: log(interrupts) + 2 x TY_IRQ_WALK rows per cell. */
#include "irqs.h"

#include <stdio.h>
#include <string.h>

/* So many interrupts before a cell are asked whether they reach into it: what lies inside a longer
 * one comes after it. */
#define BACK 32

uint32_t ty_irq_at(const struct ty_model *m, uint32_t cpu, uint64_t t)
{
	uint32_t lo = 0, hi = ty_model_irq_spans(m, cpu);

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (ty_model_irq_span(m, cpu, mid).start_ns < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The cell while it is being walked, in order of begin. */
struct walk {
	struct ty_cell *c;
	uint64_t from, to, covered; /* covered: time up to here is counted */
	uint64_t most;		    /* what the longest covers of the cell */
};

static void take(struct walk *w, const struct ty_irq_span *s, uint32_t i)
{
	struct ty_cell *c = w->c;
	uint64_t a = s->start_ns > w->from ? s->start_ns : w->from,
		 b = s->end_ns < w->to ? s->end_ns : w->to;

	c->flags |= s->flags;
	if (c->longest_whole == TY_NONE || s->end_ns - s->start_ns > c->longest_ns) {
		c->longest_whole = i;
		c->longest_ns = s->end_ns - s->start_ns;
	}
	if (c->longest == TY_NONE || b - a >= w->most) {
		c->longest = i;
		w->most = b - a;
	}
	if (a < w->covered)
		a = w->covered;
	if (b > a) {
		c->ns[TY_ST_RUNNING] += b - a;
		w->covered = b;
	}
}

bool ty_irq_cell(const struct ty_model *m, uint32_t cpu, uint64_t from, uint64_t to,
		 struct ty_cell *c)
{
	struct walk w = {.c = c, .from = from, .to = to, .covered = from};
	uint32_t first = ty_irq_at(m, cpu, from), end = ty_irq_at(m, cpu, to), k;
	uint64_t before, sum;

	*c = (struct ty_cell){.longest = TY_NONE, .longest_whole = TY_NONE};
	for (k = first > BACK ? first - BACK : 0; k < first; k++) {
		struct ty_irq_span s = ty_model_irq_span(m, cpu, k);

		if (s.end_ns > from) {
			take(&w, &s, k);
			c->spans++;
		}
	}
	c->spans += end - first;
	if (end - first <= TY_IRQ_WALK) {
		for (k = first; k < end; k++) {
			struct ty_irq_span s = ty_model_irq_span(m, cpu, k);

			take(&w, &s, k);
		}
		return false;
	}
	before = c->ns[TY_ST_RUNNING];
	for (k = 0; k < TY_IRQ_WALK; k++) {
		uint32_t i = first + (uint32_t)((uint64_t)(end - first) * k / TY_IRQ_WALK);
		struct ty_irq_span s = ty_model_irq_span(m, cpu, i);

		take(&w, &s, i);
	}
	sum = (uint64_t)((unsigned __int128)(c->ns[TY_ST_RUNNING] - before) * (end - first) /
			 TY_IRQ_WALK) +
	      before;
	c->ns[TY_ST_RUNNING] = sum < to - from ? sum : to - from;
	return true;
}

const char *ty_irq_name(const struct ty_model *m, const struct ty_irq_span *s,
			char out[TY_IRQ_NAME_MAX])
{
	const char *name = ty_model_str(m, s->name);

	if (s->kind == 1)
		snprintf(out, TY_IRQ_NAME_MAX, "softirq %.60s", name);
	else
		snprintf(out, TY_IRQ_NAME_MAX, "%s %.60s (%u)", s->kind ? "vector" : "interrupt",
			 name && *name ? name : "?", s->vec);
	return out;
}
