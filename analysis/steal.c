/* SPDX-License-Identifier: MIT */
/*
 * See steal.h. Evidence that a CPU was running within a run: the run's two ends, starts and ends of
 * interrupts, points, and starts and ends of the thread's system calls. The tick is one of the
 * interrupts (irq_vectors:local_timer on x86, irq:irq_handler_entry of a timer elsewhere) or
 * appears as an expiry of a high-resolution timer in hard interrupt context.
 *
 * Linux kernel/time/tick-sched.c: the tick is stopped while a CPU is idle and, with NO_HZ_FULL, on
 * the CPUs of that list while one thread runs.
 */
#include "steal.h"

#include <stdlib.h>
#include <string.h>

#include "cpu_ranges.h"
#include "err.h"
#include "thread_walk.h"

#define SAMPLE	512   /* interrupts or points of a CPU that are examined for its ticks */
#define ENOUGH	8     /* intervals of one length are a period */
#define OTHERS	65536 /* signs of life within one time without an interrupt */
#define RUNS	4096  /* spans of a track that are examined for one time */
#define INSIDE	8     /* interrupts within each other */
#define SHARE	8     /* a CPU ticks when it has this part of the ticks that its runs should have */
#define MIN_RAN 4     /* periods: in less, no tick may have come by chance */

/* ticks ------------------------------------------------------------------------------------- */

/* A timer's interrupts on a CPU: by the interrupts' names, or, where there are none, expiries. */
struct timer {
	const struct ty_model *m;
	uint32_t cpu, i, n;
	bool points;
	/* The kinds of names that were seen last. */
	uint32_t name;
	bool is_timer;
};

static bool names_timer(struct timer *t, const struct ty_irq_span *q)
{
	if (q->kind == 1)
		return false;
	if (t->name != q->name) {
		t->name = q->name;
		t->is_timer = strstr(ty_model_str(t->m, q->name), "timer");
	}
	return t->is_timer;
}

static bool next_timer(struct timer *t, uint64_t *at)
{
	for (; t->i < t->n; t->i++) {
		if (t->points) {
			struct ty_point p = ty_model_point(t->m, t->cpu, t->i);

			if (p.kind != TY_PT_HRTIMER || !(p.context & TY_EVF_HARDIRQ))
				continue;
			*at = p.ts_ns;
		} else {
			struct ty_irq_span q = ty_model_irq_span(t->m, t->cpu, t->i);

			if (!names_timer(t, &q))
				continue;
			*at = q.start_ns;
		}
		t->i++;
		return true;
	}
	return false;
}

static struct timer timer_of(const struct ty_model *m, uint32_t cpu)
{
	struct timer t = {.m = m, .cpu = cpu, .n = ty_model_irq_spans(m, cpu), .name = TY_NONE};
	uint64_t at;

	t.n = t.n < SAMPLE ? t.n : SAMPLE;
	if (!next_timer(&t, &at)) {
		t.points = true;
		t.n = ty_model_points(m, cpu);
		t.n = t.n < SAMPLE ? t.n : SAMPLE;
	}
	t.i = 0;
	return t;
}

/* The lengths that CONFIG_HZ may have: 1000, 300, 250, 100. */
static const uint64_t lengths[] = {1000000, 3333333, 4000000, 10000000};
#define LENGTHS (sizeof(lengths) / sizeof(*lengths))

static void measure(const struct ty_model *m, uint32_t cpu, unsigned count[LENGTHS])
{
	struct timer t = timer_of(m, cpu);
	uint64_t at, last = 0;

	for (; next_timer(&t, &at); last = at)
		for (unsigned i = 0; i < LENGTHS && last; i++) {
			uint64_t off = at - last > lengths[i] ? at - last - lengths[i]
							      : lengths[i] - (at - last);

			count[i] += off < lengths[i] / 20;
		}
}

/* Has the CPU a tick while it runs? */
static bool has_tick(const struct ty_model *m, uint32_t cpu, uint64_t period_ns)
{
	struct timer t = timer_of(m, cpu);
	uint64_t at, to = ty_model_summary(m)->start_ns, from = to, n = 0;
	uint32_t spans = ty_model_cpu_spans(m, cpu), k = 0;
	struct ty_cell c;

	if (!spans)
		return false;
	while (next_timer(&t, &at)) {
		struct ty_span s;

		while (k + 1 < spans && ty_model_cpu_span_brief(m, cpu, k).end_ns <= at)
			k++;
		s = ty_model_cpu_span_brief(m, cpu, k);
		n += s.state == TY_ST_RUNNING && s.start_ns <= at && at < s.end_ns;
		to = at;
	}
	if (to <= from)
		return false;
	ty_model_cells(m, (struct ty_track){TY_TRACK_CPU, cpu}, from, to, 1, &c);
	return c.ns[TY_ST_RUNNING] >= MIN_RAN * period_ns &&
	       n * SHARE >= c.ns[TY_ST_RUNNING] / period_ns;
}

int ty_ticks_find(const struct ty_model *m, uint64_t tick_ns, const char *nohz_full,
		  struct ty_ticks *t)
{
	unsigned count[LENGTHS] = {0}, best = 0;

	*t = (struct ty_ticks){.cpus = ty_model_summary(m)->cpus};
	t->period_ns = calloc((size_t)t->cpus + 1, sizeof(*t->period_ns));
	if (!t->period_ns)
		return -TY_ENOMEM;
	for (uint32_t c = 0; c < t->cpus && !tick_ns; c++)
		measure(m, c, count);
	for (unsigned i = 1; i < LENGTHS; i++)
		best = count[i] > count[best] ? i : best;
	if (!tick_ns && count[best] >= ENOUGH)
		tick_ns = lengths[best];
	for (uint32_t c = 0; c < t->cpus && tick_ns; c++)
		if (!ty_cpu_ranges_have(nohz_full, c) && has_tick(m, c, tick_ns))
			t->period_ns[c] = tick_ns;
	return 0;
}

void ty_ticks_fini(struct ty_ticks *t)
{
	free(t->period_ns);
	*t = (struct ty_ticks){0};
}

/* runs -------------------------------------------------------------------------------------- */

/* Were events of the CPU lost in [from, to], at which a run may have been cut by that? */
static bool lost(const struct ty_model *m, uint32_t cpu, uint64_t from, uint64_t to)
{
	uint32_t n;
	const struct ty_gap_span *g = ty_model_gaps(m, &n);

	for (uint32_t i = 0; i < n; i++)
		if (g[i].cpu == cpu && g[i].from_ns <= to && g[i].to_ns >= from)
			return true;
	return false;
}

/* Signs of life of a CPU that are no interrupts: points, and starts and ends of a thread's calls.
 */
struct others {
	const struct ty_model *m;
	uint32_t thread, cpu, call, calls, point, points;
	bool inside; /* the call's begin was taken */
};

static struct others others_after(const struct ty_model *m, uint32_t thread, uint32_t cpu,
				  uint64_t t)
{
	struct others o = {.m = m,
			   .thread = thread,
			   .cpu = cpu,
			   .call = TY_NONE,
			   .point = ty_model_point_after(m, cpu, t + 1),
			   .points = ty_model_points(m, cpu)};

	if (thread != TY_NONE) {
		o.calls = ty_model_thread(m, thread)->syscalls_first +
			  ty_model_thread(m, thread)->syscalls_n;
		o.call = ty_model_syscall_after(m, thread, t);
		if (o.call < o.calls)
			o.inside = ty_model_syscall_brief(m, thread, o.call).start_ns <= t;
	}
	return o;
}

/* The next one, but no later than `to`; tick: a timer expired there. */
static uint64_t next_other(struct others *o, uint64_t to, bool *tick)
{
	uint64_t call = UINT64_MAX;

	*tick = false;
	if (o->call < o->calls) {
		struct ty_syscall c = ty_model_syscall_brief(o->m, o->thread, o->call);

		if (!o->inside)
			call = c.start_ns;
		else if (!(c.flags & (TY_SF_OPEN | TY_SF_ENDED)))
			call = c.end_ns;
	}
	if (o->point < o->points) {
		struct ty_point p = ty_model_point(o->m, o->cpu, o->point);

		if (p.ts_ns < to && p.ts_ns <= call) {
			*tick = p.kind == TY_PT_HRTIMER && p.context & TY_EVF_HARDIRQ;
			o->point++;
			return p.ts_ns;
		}
	}
	if (call >= to)
		return to;
	o->call += o->inside;
	o->inside = !o->inside;
	return call;
}

/* No interrupt is recorded in [last, to), which is long. The first time in it, from when a tick was
 * due, without any event of the CPU that ends behind `after`. */
static bool silent(const struct ty_explain *x, const struct ty_span *s, uint64_t last, uint64_t to,
		   uint64_t after, struct ty_stolen *out)
{
	const uint64_t period = x->ticks->period_ns[s->cpu];
	struct others o = others_after(x->m, s->thread, s->cpu, last);
	uint64_t due = last + period;

	for (unsigned n = 0; n < OTHERS && last < to; n++) {
		bool tick;
		uint64_t at = next_other(&o, to, &tick), from = last > due ? last : due;

		if (at > after && at >= from + TY_STEAL_LATE_NS) {
			*out = (struct ty_stolen){from, at};
			return !lost(x->m, s->cpu, last, at);
		}
		due = tick ? at + period : due;
		last = at > last ? at : last;
	}
	return false;
}

/* The starts and ends of a CPU's interrupts, in order: those that run are kept until they end. */
struct signs {
	const struct ty_model *m;
	uint32_t cpu, i, n;
	uint64_t end_ns[INSIDE];
	unsigned inside;
};

/* Those behind t, of which *last (before) becomes the last one up to there. */
static struct signs signs_after(const struct ty_model *m, uint32_t cpu, uint64_t t, uint64_t *last)
{
	struct signs g = {.m = m, .cpu = cpu, .n = ty_model_irq_spans(m, cpu)};

	g.i = ty_model_irq_at(m, cpu, t + 1);
	for (uint32_t k = g.i; k && g.i - k < INSIDE; k--) {
		struct ty_irq_span q = ty_model_irq_span(m, cpu, k - 1);
		uint64_t at = q.end_ns <= t ? q.end_ns : q.start_ns;

		*last = at > *last ? at : *last;
		if (q.end_ns > t)
			g.end_ns[g.inside++] = q.end_ns;
	}
	return g;
}

/* The next one; UINT64_MAX behind the last. */
static uint64_t next_sign(struct signs *g)
{
	uint64_t at = UINT64_MAX;
	unsigned best = 0;

	for (unsigned k = 0; k < g->inside; k++)
		if (g->end_ns[k] < at) {
			at = g->end_ns[k];
			best = k;
		}
	if (g->i < g->n) {
		struct ty_irq_span q = ty_model_irq_span(g->m, g->cpu, g->i);

		if (q.start_ns <= at) {
			g->i++;
			if (g->inside < INSIDE)
				g->end_ns[g->inside++] = q.end_ns;
			return q.start_ns;
		}
	}
	if (at != UINT64_MAX)
		g->end_ns[best] = g->end_ns[--g->inside];
	return at;
}

bool ty_stolen_next(const struct ty_explain *x, const struct ty_span *s, uint64_t from_ns,
		    uint64_t to_ns, struct ty_stolen *out)
{
	uint64_t last = s->start_ns, period;
	struct signs g;

	if (!x->ticks || s->cpu >= x->ticks->cpus || !(period = x->ticks->period_ns[s->cpu]) ||
	    s->flags & (TY_SF_LOST | TY_SF_INFERRED) ||
	    s->end_ns - s->start_ns <= period + TY_STEAL_LATE_NS || from_ns >= to_ns)
		return false;
	g = signs_after(x->m, s->cpu, from_ns, &last);
	while (last < to_ns && last < s->end_ns) {
		uint64_t at = next_sign(&g);

		at = at < s->end_ns ? at : s->end_ns;
		if (at > last + period + TY_STEAL_LATE_NS && at > from_ns &&
		    silent(x, s, last, at, from_ns, out)) {
			if (out->from_ns >= to_ns)
				return false;
			out->from_ns = out->from_ns > from_ns ? out->from_ns : from_ns;
			out->to_ns = out->to_ns < to_ns ? out->to_ns : to_ns;
			return true;
		}
		last = at > last ? at : last;
	}
	return false;
}

uint64_t ty_stolen_of_run(const struct ty_explain *x, const struct ty_span *s, uint64_t from_ns,
			  uint64_t to_ns)
{
	uint64_t sum = 0;
	struct ty_stolen g;

	for (; ty_stolen_next(x, s, from_ns, to_ns, &g); from_ns = g.to_ns)
		sum += g.to_ns - g.from_ns;
	return sum;
}

/* The spans of a track from a time on, of some states and at least so long: short ones are passed
 * by the zoom forest. */
struct spans {
	const struct ty_model *m;
	struct ty_track track;
	struct ty_seek q;
	uint32_t i, looked; /* TY_NONE: none is left */
};

static struct spans spans_from(const struct ty_model *m, struct ty_track track, uint64_t from_ns,
			       uint32_t state, uint64_t min_ns)
{
	return (struct spans){.m = m,
			      .track = track,
			      .q = {.states = 1u << state, .min_ns = min_ns, .nr = -1},
			      .i = track.kind == TY_TRACK_CPU
					   ? ty_model_cpu_span_find(m, track.id, from_ns)
					   : ty_model_span_find(m, track.id, from_ns)};
}

/* The next one that begins before to_ns. The first may be of another state or shorter. */
static bool next_span(struct spans *g, uint64_t to_ns, struct ty_span *s)
{
	bool cpu = g->track.kind == TY_TRACK_CPU;
	uint32_t was = g->i;

	if (was == TY_NONE || g->looked++ >= RUNS)
		return false;
	*s = cpu ? ty_model_cpu_span_brief(g->m, g->track.id, was)
		 : ty_model_span_brief(g->m, g->track.id, was);
	if (cpu)
		s->cpu = g->track.id;
	g->i = ty_row_behind(g->m, g->track, &g->q, was, s->start_ns);
	return s->start_ns < to_ns;
}

static uint64_t stolen_of_track(const struct ty_explain *x, struct ty_track track, uint64_t from_ns,
				uint64_t to_ns)
{
	struct spans g;
	struct ty_span s;
	uint64_t sum = 0;

	if (!x->ticks)
		return 0;
	g = spans_from(x->m, track, from_ns, TY_ST_RUNNING, TY_STEAL_LATE_NS);
	while (next_span(&g, to_ns, &s))
		if (s.state == TY_ST_RUNNING)
			sum += ty_stolen_of_run(x, &s, s.start_ns > from_ns ? s.start_ns : from_ns,
						s.end_ns < to_ns ? s.end_ns : to_ns);
	return sum;
}

uint64_t ty_stolen_of_thread(const struct ty_explain *x, uint32_t thread, uint64_t from_ns,
			     uint64_t to_ns)
{
	return stolen_of_track(x, (struct ty_track){TY_TRACK_THREAD, thread}, from_ns, to_ns);
}

uint64_t ty_stolen_of_cpu(const struct ty_explain *x, uint32_t cpu, uint64_t from_ns,
			  uint64_t to_ns)
{
	return ty_model_cpu_spans(x->m, cpu)
		       ? stolen_of_track(x, (struct ty_track){TY_TRACK_CPU, cpu}, from_ns, to_ns)
		       : 0;
}

uint64_t ty_silent_while_idle(const struct ty_explain *x, uint32_t cpu, uint64_t from_ns,
			      uint64_t to_ns)
{
	struct spans g;
	struct ty_span s;
	uint64_t sum = 0;

	if (!x->ticks || cpu >= x->ticks->cpus || !x->ticks->period_ns[cpu] ||
	    !ty_model_cpu_spans(x->m, cpu) || lost(x->m, cpu, from_ns, to_ns))
		return 0;
	g = spans_from(x->m, (struct ty_track){TY_TRACK_CPU, cpu}, from_ns, TY_ST_IDLE,
		       TY_STEAL_LATE_NS);
	while (next_span(&g, to_ns, &s)) {
		uint64_t a = s.start_ns > from_ns ? s.start_ns : from_ns,
			 b = s.end_ns < to_ns ? s.end_ns : to_ns;
		uint32_t irq, irqs = ty_model_irq_spans(x->m, cpu);

		if (s.state != TY_ST_IDLE || s.flags & (TY_SF_LOST | TY_SF_INFERRED) || a >= b)
			continue;
		/* Up to its first event: then the CPU was there, and did not run the thread. */
		irq = ty_model_irq_at(x->m, cpu, a);
		if (irq < irqs && ty_model_irq_span(x->m, cpu, irq).start_ns < b)
			b = ty_model_irq_span(x->m, cpu, irq).start_ns;
		sum += b - a >= TY_STEAL_LATE_NS ? b - a : 0;
	}
	return sum;
}
