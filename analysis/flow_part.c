/* SPDX-License-Identifier: MIT */
/* See flow_part.h. Steps are searched by time, so times never decrease here, although those of a
 * file may: a clock estimated from CYC packets overshoots, and after a loss the time may be
 * unknown. */
#include "flow_part.h"

#include <stdlib.h>

#include "err.h"
#include "partition.h"

#define LOOK 4096 /* items between two checks at stop */

struct going_on {
	uint64_t seq;
	uint32_t call; /* number in the part */
};

struct reading {
	const struct ty_flow *flow;
	struct ty_flow_part *p;
	const struct ty_flow_part_request *request;
	VEC(struct going_on) stack;
	bool inside;	  /* the window has begun */
	uint64_t last_ns; /* the largest time in it; TY_FLOW_NO_TIME: none yet */
	int r;
};

static uint32_t innermost(const struct reading *g)
{
	return g->stack.n ? g->stack.v[g->stack.n - 1].call : TY_NO_CALL;
}

/* They are reported when the first instruction after them is fed, which is the next step. */
static void begins(void *ctx, const struct ty_flow_call *c)
{
	struct reading *g = ctx;
	struct ty_flow_part *p = g->p;
	struct ty_flow_part_call call = {
		.start_ns = c->start_ns,
		.end_ns = TY_FLOW_NO_TIME,
		.first = (uint32_t)p->steps.n,
		.last = UINT32_MAX,
		.depth = c->depth,
		.func = c->func,
		.parent = innermost(g),
		.flags = c->flags,
	};
	struct going_on top = {.seq = c->seq, .call = (uint32_t)p->calls.n};

	if (vec_push(&p->calls, call) || vec_push(&g->stack, top))
		g->r = -TY_ENOMEM;
}

static void ends(void *ctx, const struct ty_flow_call *c)
{
	struct reading *g = ctx;
	struct ty_flow_part_call *call;
	size_t i = g->stack.n;

	/* The topmost, but for a thread whose process became known only later. */
	while (i && g->stack.v[i - 1].seq != c->seq)
		i--;
	if (!i)
		return;
	call = &g->p->calls.v[g->stack.v[i - 1].call];
	for (g->stack.n--; i <= g->stack.n; i++)
		g->stack.v[i - 1] = g->stack.v[i];
	/* Over before the window: nothing of it belongs to it. */
	if (!g->inside && call == &g->p->calls.v[g->p->calls.n - 1])
		g->p->calls.n--;
	call->last = (uint32_t)g->p->steps.n;
	call->end_ns = c->end_ns;
	call->insns = c->insns;
	call->flags = c->flags;
}

/* Forget the calls that ended before the window: those left are still open. */
static void drop_before(struct reading *g)
{
	struct ty_flow_part *p = g->p;

	for (uint32_t i = 0; i < g->stack.n; i++) {
		p->calls.v[i] = p->calls.v[g->stack.v[i].call];
		p->calls.v[i].parent = i ? i - 1 : TY_NO_CALL;
		g->stack.v[i].call = i;
	}
	p->calls.n = g->stack.n;
}

static bool kept(const struct ty_flow_at *at)
{
	return at->item.kind == TY_FLOW_INSN || at->item.kind == TY_FLOW_GAP ||
	       at->item.kind == TY_FLOW_OVERFLOW;
}

static void keep(struct reading *g, const struct ty_flow_at *at)
{
	struct ty_flow_part *p = g->p;
	const struct ty_flow_item *it = &at->item;
	struct ty_flow_step s = {
		.ip = it->ip,
		.ts_ns = at->ts_ns,
		.call = innermost(g),
		.kind = it->kind,
		.size = it->size,
		.cls = it->cls,
		.flags = it->flags,
	};

	if ((it->kind == TY_FLOW_STOP || (it->kind == TY_FLOW_ASYNC && !it->to)) &&
	    vec_push(&p->ends, (struct ty_flow_part_end){(uint32_t)p->steps.n, at->ts_ns}))
		g->r = -TY_ENOMEM;
	if (!kept(at))
		return;
	if (s.kind != TY_FLOW_INSN &&
	    vec_push(&p->ends, (struct ty_flow_part_end){(uint32_t)p->steps.n, at->ts_ns}))
		g->r = -TY_ENOMEM;
	if (it->kind != TY_FLOW_INSN) {
		struct ty_flow_gap gap = ty_flow_gap(g->flow, at);

		s.text = gap.text;
		if (vec_push(&p->gaps, (uint32_t)p->steps.n) || vec_push(&p->gap, gap))
			g->r = -TY_ENOMEM;
	}
	if (vec_push(&p->steps, s))
		g->r = -TY_ENOMEM;
}

/* Calls by depth, for drawing. Depths are few (flow_calls.c bounds them). */
static int sort_depths(struct ty_flow_part *p)
{
	uint32_t depths = 0;

	vec_each (c, &p->calls)
		if (c->depth + 1 > depths)
			depths = c->depth + 1;
	for (uint32_t d = 0; d <= depths; d++)
		if (vec_push(&p->depth_first, 0))
			return -TY_ENOMEM;
	vec_each (c, &p->calls) {
		p->depth_first.v[c->depth + 1]++;
		if (vec_push(&p->by_depth, 0))
			return -TY_ENOMEM;
	}
	for (uint32_t d = 0; d < depths; d++)
		p->depth_first.v[d + 1] += p->depth_first.v[d];
	/* Each depth's start is its running place, and back where it was behind the last. */
	for (uint32_t i = 0; i < p->calls.n; i++)
		p->by_depth.v[p->depth_first.v[p->calls.v[i].depth]++] = i;
	for (uint32_t d = depths; d > 0; d--)
		p->depth_first.v[d] = p->depth_first.v[d - 1];
	p->depth_first.v[0] = 0;
	return 0;
}

/* A step with a time earlier than its predecessor's, or without a time after one with a time, takes
 * the last time and is not marked as having a time stamp: its order is more certain than its
 * time. */
static void order(struct reading *g, struct ty_flow_at *at)
{
	if (g->last_ns != TY_FLOW_NO_TIME &&
	    (at->ts_ns == TY_FLOW_NO_TIME || at->ts_ns < g->last_ns)) {
		at->ts_ns = g->last_ns;
		at->item.flags &= (uint8_t)~TY_FF_EXACT;
	}
}

static int read_all(struct reading *g, struct ty_flow *f)
{
	const struct ty_flow_part_request *request = g->request;
	struct ty_flow_part *p = g->p;
	struct ty_flow_at at;
	int more = 1;

	for (unsigned n = 0; !g->r && (more = ty_flow_next(f, &at)) > 0; n++) {
		bool timed;

		if (n % LOOK == 0 && request->stop && atomic_load(request->stop))
			return -TY_EINTR;
		if (at.tid != request->tid)
			continue;
		order(g, &at);
		timed = at.ts_ns != TY_FLOW_NO_TIME;
		if (timed && at.ts_ns >= request->to_ns)
			break;
		if (p->steps.n >= request->most && kept(&at)) {
			p->cut = true;
			break;
		}
		p->pid = at.pid;
		if (ty_flow_calls_feed(p->names, &at))
			return -TY_ENOMEM;
		if (timed && at.ts_ns < request->from_ns)
			continue;
		if (!g->inside)
			drop_before(g);
		g->inside = true;
		g->last_ns = at.ts_ns;
		keep(g, &at);
	}
	if (!g->inside)
		drop_before(g);
	ty_flow_calls_finish(p->names);
	return more < 0 ? more : g->r;
}

int ty_flow_part_read(struct ty_flow *f, struct ty_flow_names *names,
		      const struct ty_flow_part_request *request, struct ty_flow_part *out)
{
	struct reading g = {.flow = f, .p = out, .request = request, .last_ns = TY_FLOW_NO_TIME};
	int r;

	*out = (struct ty_flow_part){.tid = request->tid,
				     .pid = -1,
				     .from_ns = request->from_ns,
				     .to_ns = request->to_ns};
	out->names = ty_flow_calls_new(names, begins, ends, &g);
	r = out->names ? read_all(&g, f) : -TY_ENOMEM;
	vec_fini(&g.stack);
	return r ? r : sort_depths(out);
}

void ty_flow_part_fini(struct ty_flow_part *p)
{
	vec_fini(&p->steps);
	vec_fini(&p->calls);
	vec_fini(&p->by_depth);
	vec_fini(&p->depth_first);
	vec_fini(&p->gaps);
	vec_fini(&p->gap);
	vec_fini(&p->ends);
	ty_flow_calls_free(p->names);
	*p = (struct ty_flow_part){0};
}

uint32_t ty_flow_part_depths(const struct ty_flow_part *p)
{
	return p->depth_first.n ? (uint32_t)p->depth_first.n - 1 : 0;
}

uint32_t ty_flow_part_call_from(const struct ty_flow_part *p, uint32_t depth, uint32_t step)
{
	uint32_t lo, end;

	if (depth >= ty_flow_part_depths(p))
		return TY_NO_CALL;
	end = p->depth_first.v[depth + 1];
	lo = partition_point(i, p->depth_first.v[depth], end,
			     p->calls.v[p->by_depth.v[i]].last <= step);
	return lo < end ? p->by_depth.v[lo] : TY_NO_CALL;
}

uint32_t ty_flow_part_step_at(const struct ty_flow_part *p, uint64_t t_ns)
{
	/* Items without a time are first. */
	return partition_point(i, 0, (uint32_t)p->steps.n,
			       p->steps.v[i].ts_ns == TY_FLOW_NO_TIME ||
				       p->steps.v[i].ts_ns < t_ns);
}

struct ty_flow_part_stretch ty_flow_part_stretch(const struct ty_flow_part *p, uint32_t step)
{
	uint64_t t = p->steps.v[step].ts_ns;
	struct ty_flow_part_stretch s = {.first = step, .n = 1, .from_ns = t, .to_ns = t};
	size_t e = partition_point(i, 0, p->ends.n, p->ends.v[i].step <= step);
	uint32_t lo, hi;

	if (t == TY_FLOW_NO_TIME)
		return s;
	lo = ty_flow_part_step_at(p, t);
	hi = ty_flow_part_step_at(p, t + 1);
	if (hi < p->steps.n)
		s.to_ns = p->steps.v[hi].ts_ns;
	if (e && p->ends.v[e - 1].step > lo)
		lo = p->ends.v[e - 1].step;
	if (e < p->ends.n && p->ends.v[e].step <= hi) {
		hi = p->ends.v[e].step;
		s.to_ns = p->ends.v[e].t_ns == TY_FLOW_NO_TIME || p->ends.v[e].t_ns < t
				  ? t
				  : p->ends.v[e].t_ns;
	}
	/* Not so where the steps are in no order of time. */
	if (step < lo || step >= hi)
		return (struct ty_flow_part_stretch){step, 1, t, t};
	s.first = lo;
	s.n = hi - lo;
	return s;
}

uint32_t ty_flow_part_same(const struct ty_flow_part *p, uint32_t step, int by)
{
	int64_t n = (int64_t)p->steps.n;

	if (step >= n || p->steps.v[step].kind != TY_FLOW_INSN)
		return TY_NO_CALL;
	for (int64_t i = (int64_t)step + by; i >= 0 && i < n; i += by)
		if (p->steps.v[i].ip == p->steps.v[step].ip && p->steps.v[i].kind == TY_FLOW_INSN)
			return (uint32_t)i;
	return TY_NO_CALL;
}

uint64_t ty_flow_part_count(const struct ty_flow_part *p, uint64_t ip, uint32_t first,
			    uint32_t last)
{
	uint64_t n = 0;

	for (uint32_t i = first; i < last && i < p->steps.n; i++)
		n += p->steps.v[i].ip == ip && p->steps.v[i].kind == TY_FLOW_INSN;
	return n;
}

const struct ty_flow_gap *ty_flow_part_gap(const struct ty_flow_part *p, uint32_t step)
{
	size_t i = partition_point(k, 0, p->gaps.n, p->gaps.v[k] < step);

	return &p->gap.v[i];
}

const char *ty_flow_part_function(const struct ty_flow_part *p, uint32_t call)
{
	return call < p->calls.n ? ty_flow_calls_function(p->names, p->calls.v[call].func)->name
				 : "?";
}
