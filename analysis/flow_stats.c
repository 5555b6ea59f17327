/* SPDX-License-Identifier: MIT */
/* See flow_stats.h. Memory: that of the sums (flow_sums.h), and 56 bytes per complete call when the
 * median call is requested, for those in percentiles. */
#include "flow_stats.h"

#include <stdlib.h>

#include "compare.h"
#include "flow_sums.h"
#include "flow_walk.h"
#include "nth_element.h"

#define HELD_MAX ((size_t)128 << 20)

struct one {
	uint64_t ns, insns, start_ns, seq;
	int32_t tid, pid;
	uint32_t depth;
};

/* Whole calls of a function. */
struct whole {
	VEC(struct one) ones;
	struct one longest, most; /* of all: in time, in instructions; insns 0: none */
};

struct stats {
	struct ty_flow_sums sums;
	VEC(struct whole) wholes; /* by function number, where calls are requested */
	size_t ones_held; /* bytes of those that were added, and are not in sums.ranks.held yet */
	bool calls_too;
	ty_flow_choose *choose;
	void *ctx;
};

ORDER(by_ns, struct one, compare(a->ns, b->ns) ?: compare(a->seq, b->seq))

ORDER(by_insns, struct one, compare(a->insns, b->insns) ?: compare(a->seq, b->seq))

static inline bool chosen(const struct stats *s, const struct ty_flow_call *c)
{
	struct ty_flow_at at;

	if (!s->choose)
		return true;
	at = (struct ty_flow_at){.ts_ns = c->start_ns, .tid = c->tid, .pid = c->pid, .cpu = c->cpu};
	return s->choose(s->ctx, &at);
}

static void on_begin(void *ctx, const struct ty_flow_call *c)
{
	struct stats *s = ctx;

	if (chosen(s, c))
		ty_flow_sums_begin(&s->sums, c);
}

/* For the slowest and the median call. */
static void add_whole(struct stats *s, const struct ty_flow_call *c, uint64_t ns)
{
	const struct one one = {.ns = ns,
				.insns = c->insns,
				.start_ns = c->start_ns,
				.seq = c->seq,
				.tid = c->tid,
				.pid = c->pid,
				.depth = c->depth};
	struct whole *w;

	while (s->wholes.n <= c->func)
		if (vec_push(&s->wholes, (struct whole){0})) {
			s->sums.nomem = true;
			return;
		}
	w = &s->wholes.v[c->func];
	if (!w->longest.insns || by_ns(&one, &w->longest) > 0)
		w->longest = one;
	if (!w->most.insns || by_insns(&one, &w->most) > 0)
		w->most = one;
	if (!ty_flow_sums_room(&s->sums))
		return;
	if (vec_push(&w->ones, one))
		s->sums.nomem = true;
	s->ones_held += sizeof(one);
}

static void on_end(void *ctx, const struct ty_flow_call *c)
{
	struct stats *s = ctx;

	if (!chosen(s, c))
		return;
	if (s->calls_too && c->func != TY_NO_FUNC && !(c->flags & TY_CALL_PARTIAL))
		add_whole(s, c, ty_flow_call_ns(c));
	ty_flow_sums_end(&s->sums, c);
	/* Afterwards: a function has as many there as in its percentiles. */
	s->sums.ranks.held += s->ones_held;
	s->ones_held = 0;
}

static struct ty_flow_call as_call(const struct one *o, uint32_t func)
{
	return (struct ty_flow_call){.start_ns = o->start_ns,
				     .end_ns = o->start_ns == TY_FLOW_NO_TIME ? TY_FLOW_NO_TIME
									      : o->start_ns + o->ns,
				     .insns = o->insns,
				     .seq = o->seq,
				     .tid = o->tid,
				     .pid = o->pid,
				     .depth = o->depth,
				     .func = func};
}

static uint64_t value(const struct one *o, bool ns)
{
	return ns ? o->ns : o->insns;
}

/* The call of the middle rank, whose value is p50; of equal ones by their beginning. */
static const struct one *median(const struct one *v, size_t n, bool ns, uint64_t p50,
				uint64_t *scratch)
{
	size_t below = 0, same = 0, i = 0;
	uint64_t seq;

	for (size_t k = 0; k < n; k++) {
		below += value(&v[k], ns) < p50;
		if (value(&v[k], ns) == p50)
			scratch[same++] = v[k].seq;
	}
	seq = ty_nth_element(scratch, same, ty_flow_rank(n, 50) - below);
	while (v[i].seq != seq)
		i++;
	return &v[i];
}

/* The slowest and the median call; NULL: out of memory, or there is none. */
static struct ty_flow_extreme *extreme(const struct whole *w, const struct ty_flow_func *f,
				       bool software)
{
	size_t n = w->ones.n;
	struct ty_flow_extreme *x = n ? calloc(1, sizeof(*x)) : NULL;
	uint64_t *scratch = n ? malloc(n * sizeof(*scratch)) : NULL;

	if (x && scratch) {
		x->slowest = as_call(software ? &w->most : &w->longest, f->func);
		x->median = as_call(median(w->ones.v, n, !software,
					   software ? f->p50_insns : f->p50_ns, scratch),
				    f->func);
	} else {
		free(x);
		x = NULL;
	}
	free(scratch);
	return x;
}

static void close_calls(struct stats *s, struct ty_flow_func *f, bool software)
{
	struct whole *w = f->func < s->wholes.n ? &s->wholes.v[f->func] : NULL;

	if (!w)
		return;
	f->calls = extreme(w, f, software);
	s->sums.nomem |= w->ones.n && !f->calls;
}

/* A function, to be sorted. */
struct place {
	uint64_t self_insns;
	uint32_t func;
};

ORDER(by_self, struct place, compare(b->self_insns, a->self_insns) ?: compare(a->func, b->func))

static void add_gap(struct ty_flow_stats *out, const struct ty_flow *f, const struct ty_flow_at *at)
{
	struct ty_flow_gap g = ty_flow_gap(f, at);

	if (!out->gaps++)
		out->first_gap_ns = g.from_ns;
	out->overflows += !g.sized;
	out->not_decoded += g.bytes;
	out->lost += g.lost;
}

static void add_item(struct ty_flow_stats *out, const struct ty_flow *f,
		     const struct ty_flow_at *at)
{
	out->insns += at->item.kind == TY_FLOW_INSN  ? 1
		      : at->item.kind == TY_FLOW_RUN ? at->item.value
						     : 0;
	if (at->item.kind == TY_FLOW_GAP || at->item.kind == TY_FLOW_OVERFLOW)
		add_gap(out, f, at);
	if (at->ts_ns == TY_FLOW_NO_TIME)
		return;
	if (out->start_ns == TY_FLOW_NO_TIME)
		out->start_ns = at->ts_ns;
	out->end_ns = at->item.kind == TY_FLOW_RUN ? at->last_ns : at->ts_ns;
}

/* All items of the flow. 0 or -TY_E... */
static int feed(struct ty_flow *f, ty_flow_choose *choose, void *ctx, struct ty_flow_stats *out)
{
	const struct ty_walk_run *runs;
	struct ty_flow_at at;
	size_t n = 0;
	int r = 0, more = 0;

	/* The selection is checked for each item. */
	while (!r &&
	       (more = choose ? ty_flow_next(f, &at) : ty_flow_next_runs(f, &at, &runs, &n)) > 0) {
		if (!choose || choose(ctx, &at))
			add_item(out, f, &at);
		r = ty_flow_calls_feed(out->calls_of, &at);
		if (!n || r)
			continue;
		r = ty_flow_calls_runs(out->calls_of, f, &at, runs, n, &out->insns);
		if (ty_flow_timed(f) && runs[n - 1].until)
			out->end_ns = ty_flow_ns(f, runs[n - 1].until);
	}
	return r ? r : more;
}

/* The functions with their sums, in order: the first `most`. */
static void close_all(struct stats *s, bool software, size_t most, struct ty_flow_stats *out)
{
	VEC(struct place) order = {0};
	uint64_t least = 0; /* others have as much, or more: */
	bool full = false;

	out->calls = s->sums.unknown;
	vec_each (a, &s->sums.of) {
		struct place p = {a->self_insns, (uint32_t)(a - s->sums.of.v)};
		const uint64_t calls = a->others + a->calls;

		if (!calls && !a->insns)
			continue;
		out->calls += calls;
		out->functions++;
		if (full && p.self_insns <= least)
			continue;
		s->sums.nomem |= vec_push(&order, p) != 0;
		if (order.n / 2 < most)
			continue;
		vec_sort(&order, by_self);
		order.n = most;
		full = true;
		least = order.v[most - 1].self_insns;
	}
	vec_sort(&order, by_self);
	for (size_t i = 0; i < order.n && i < most; i++) {
		struct ty_flow_func f = ty_flow_sums_func(&s->sums, order.v[i].func);

		close_calls(s, &f, software);
		if (vec_push(&out->funcs, f)) {
			free(f.calls);
			s->sums.nomem = true;
		}
	}
	ty_flow_sums_callers(&s->sums, out->funcs.v, out->funcs.n, &out->callers);
	vec_fini(&order);
}

int ty_flow_stats(struct ty_flow *f, struct ty_flow_names *names, bool calls, size_t most,
		  ty_flow_choose *choose, void *ctx, struct ty_flow_stats *out, struct ty_err *err)
{
	struct stats s = {.calls_too = calls, .choose = choose, .ctx = ctx};
	const uint64_t memory = ty_flow_memory(f);
	int r;

	*out = (struct ty_flow_stats){.start_ns = TY_FLOW_NO_TIME,
				      .end_ns = TY_FLOW_NO_TIME,
				      .first_gap_ns = TY_FLOW_NO_TIME};
	s.sums.most = memory && memory / 2 < HELD_MAX ? memory / 2 : HELD_MAX;
	out->calls_of = ty_flow_calls_new(names, on_begin, on_end, &s);
	if (out->calls_of && !calls && !choose)
		ty_flow_calls_sum_up(out->calls_of, &s.sums);
	r = out->calls_of ? feed(f, choose, ctx, out) : -TY_ENOMEM;
	ty_flow_stop(f);
	if (out->calls_of)
		ty_flow_calls_finish(out->calls_of);
	close_all(&s, ty_flow_software(f), most, out);
	out->beyond = s.sums.beyond;
	out->kept = s.sums.kept;
	out->bytes = ty_flow_window_bytes(f);
	out->headless = ty_flow_headless_bytes(f);
	out->many_pairs = s.sums.many_pairs;
	out->many_funcs = out->calls_of && ty_flow_calls_functions(out->calls_of) == TY_CALLS_FUNCS;
	vec_each (w, &s.wholes)
		vec_fini(&w->ones);
	vec_fini(&s.wholes);
	ty_flow_sums_fini(&s.sums);
	if (r || s.sums.nomem)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for the calls");
	return 0;
}

void ty_flow_stats_fini(struct ty_flow_stats *s)
{
	vec_each (f, &s->funcs)
		free(f->calls);
	vec_fini(&s->funcs);
	free(s->callers);
	ty_flow_calls_free(s->calls_of);
}
