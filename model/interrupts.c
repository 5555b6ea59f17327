/* SPDX-License-Identifier: MIT */
/*
 * Interrupts, softirqs and vectors of each CPU, with their nesting (builder.h). One whose end is
 * missing, because of a gap or a damaged file, is cut and marked.
 */
#include "builder.h"
#include "ends_with.h"

#include <string.h>

static uint32_t softirq_name(struct ty_builder *b, uint32_t vec)
{
	/* include/linux/interrupt.h, fixed since 2.6.30 */
	static const char *const names[] = {"HI",	"TIMER",   "NET_TX", "NET_RX",	"BLOCK",
					    "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};
	const char *s = vec < sizeof(names) / sizeof(*names) ? names[vec] : "softirq";

	return ty_strtab_add(b->strs, s, strlen(s));
}

/* "local_timer" of event local_timer_entry. */
static uint32_t vector_name(struct ty_builder *b, uint16_t id)
{
	if (!b->vector_name[id]) {
		const char *s = b->facts.event_name ? b->facts.event_name(b->facts.ctx, id) : NULL;
		size_t n = s ? strlen(s) : 0;

		if (s && ty_ends_with(s, "_entry"))
			n -= 6;
		b->vector_name[id] =
			n ? ty_strtab_add(b->strs, s, n) : ty_strtab_add(b->strs, "vector", 6);
	}
	return b->vector_name[id];
}

/* Ended interrupts are added to the table, ordered by begin, when none around them is open. */
static void push(struct ty_builder *b, uint32_t cpu)
{
	struct ty_bcpu *c = &b->cpu[cpu];

	if (c->irq_depth)
		return;
	for (size_t i = 0; i < c->irq.n; i++)
		ty_build_fail(b, ty_table_push(&b->fill[TY_T_IRQS], cpu, &c->irq.v[i]));
	c->irq.n = 0;
}

void ty_irq_cut(struct ty_builder *b, uint32_t cpu, uint64_t ts, uint8_t flags)
{
	struct ty_bcpu *c = &b->cpu[cpu];

	for (unsigned k = 0; k < c->irq_depth; k++) {
		struct ty_irq_row *s = &c->irq.v[c->irq_open[k]];

		s->length = ts > s->start ? ts - s->start : 0;
		s->flags = flags;
	}
	c->irq_depth = 0;
	push(b, cpu);
}

static void enter(struct ty_builder *b, const struct ty_event *ev, uint64_t ts)
{
	struct ty_bcpu *c = &b->cpu[ev->cpu];
	struct ty_irq_row s = {.start = ts};

	if (ev->kind == TY_EV_IRQ_ENTRY) {
		const char *name = ev->u.irq.name ? ev->u.irq.name : "";

		s.kind = 0;
		s.vec = (uint32_t)ev->u.irq.irq;
		s.name = ty_strtab_add(b->strs, name, strnlen(name, 64));
	} else if (ev->kind == TY_EV_SOFTIRQ_ENTRY) {
		s.kind = 1;
		s.vec = ev->u.softirq.vec;
		s.name = softirq_name(b, s.vec);
	} else {
		s.kind = 2;
		s.vec = ev->u.softirq.vec;
		s.name = vector_name(b, ev->id);
	}
	if (c->irq.n == TY_IRQ_INSIDE)
		ty_irq_cut(b, ev->cpu, ts, TY_SF_LOST); /* so many inside one: its end was lost */
	if (c->irq_depth == TY_IRQ_DEPTH)
		return; /* deeper than any kernel nests them: a damaged file */
	s.state = c->irq_depth ? TY_ST_UNKNOWN : TY_ST_RUNNING;
	if (s.name == UINT32_MAX || vec_push(&c->irq, s)) {
		ty_build_fail(b, -TY_ENOMEM);
		return;
	}
	c->irq_open[c->irq_depth++] = (uint32_t)c->irq.n - 1;
}

/* The innermost open one of this kind and number ends; what is open inside it lost its end. An end
 * whose start was not recorded is in the event counts only. */
static void leave(struct ty_builder *b, const struct ty_event *ev, uint64_t ts)
{
	struct ty_bcpu *c = &b->cpu[ev->cpu];
	uint8_t kind = ev->kind == TY_EV_IRQ_EXIT ? 0 : ev->kind == TY_EV_SOFTIRQ_EXIT ? 1 : 2;
	uint32_t vec = kind ? ev->u.softirq.vec : (uint32_t)ev->u.irq.irq;
	unsigned d = c->irq_depth;

	while (d && (c->irq.v[c->irq_open[d - 1]].kind != kind ||
		     c->irq.v[c->irq_open[d - 1]].vec != vec))
		d--;
	if (!d)
		return;
	for (unsigned k = d - 1; k < c->irq_depth; k++) {
		struct ty_irq_row *s = &c->irq.v[c->irq_open[k]];

		s->length = ts - s->start;
		s->flags = k >= d ? TY_SF_LOST : 0;
	}
	c->irq_depth = d - 1;
	push(b, ev->cpu);
}

void ty_irq_event(struct ty_builder *b, const struct ty_event *ev, uint64_t ts)
{
	if (ev->kind == TY_EV_IRQ_ENTRY || ev->kind == TY_EV_SOFTIRQ_ENTRY ||
	    ev->kind == TY_EV_VECTOR_ENTRY)
		enter(b, ev, ts);
	else
		leave(b, ev, ts);
}
