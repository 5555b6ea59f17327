/* SPDX-License-Identifier: MIT */
/* See flow_stats.h. Memory: up to 16 bytes per complete call, for exact percentiles (ranks.h), and
 * 56 when the median call is requested, for the first CALLS_MAX complete calls; counts, sums and
 * maxima include all. 250 bytes per function, 4 per function and thread, for the first LEVELS_MAX,
 * and 40 per caller of a function, for the first PAIRS_MAX. Budget: 20 ns per call. */
#include "flow_stats.h"

#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "flow_walk.h"
#include "nth_element.h"
#include "pair_map.h"
#include "ranks.h"

#define WHOLE_NOT (TY_CALL_BEFORE | TY_CALL_OPEN | TY_CALL_CUT | TY_CALL_GAP | TY_CALL_BACK)
enum { CALLS_MAX = 1 << 23, PAIRS_MAX = 1 << 22, LEVELS_MAX = 1 << 24 };

struct one {
	uint64_t ns, insns, start_ns, seq;
	int32_t tid, pid;
	uint32_t depth;
};

struct acc {
	struct ty_ranks insns, ns; /* of whole calls */
	struct ty_flow_func f;
	uint64_t kept;		    /* so many */
	uint64_t max_seq;	    /* of the call with the most time */
	uint32_t caller, caller_at; /* the last one, and its place among the callers */
	bool called, whole;	    /* there was such a call */
};

/* Whole calls of a function. */
struct whole {
	VEC(struct one) ones;
	struct one longest, most; /* of all: in time, in instructions; insns 0: none */
};

/* A thread's calls that are going on, by function. */
struct levels {
	VEC(uint32_t) n;
};

struct stats {
	VEC(struct acc) accs;	  /* by function number */
	VEC(struct whole) wholes; /* the same, where calls are asked for */
	bool calls_too;
	struct ty_pair_map threads; /* by process and thread: place in: */
	VEC(struct levels) levels;
	size_t levels_n; /* numbers in them */
	int32_t tid, pid;
	struct levels *last;	      /* of that thread; NULL */
	struct ty_pair_map callers;   /* by function and caller: place among its callers */
	uint64_t calls, kept, beyond; /* whole calls in ones, and those that are not */
	bool nomem, many_pairs;
	ty_flow_choose *choose;
	void *ctx;
};

static int by_ns(const void *a, const void *b)
{
	const struct one *x = a, *y = b;

	return compare(x->ns, y->ns) ?: compare(x->seq, y->seq);
}

static int by_insns(const void *a, const void *b)
{
	const struct one *x = a, *y = b;

	return compare(x->insns, y->insns) ?: compare(x->seq, y->seq);
}

static struct acc *more_accs(struct stats *s, uint32_t func)
{
	while (s->accs.n <= func)
		if (vec_push(&s->accs, (struct acc){0})) {
			s->nomem = true;
			return NULL;
		}
	return &s->accs.v[func];
}

static inline struct acc *acc_of(struct stats *s, uint32_t func)
{
	return func < s->accs.n ? &s->accs.v[func] : more_accs(s, func);
}

/* As ty_pair_map_add; NULL also when there are too many. */
static uint32_t *pair(struct stats *s, struct ty_pair_map *m, uint64_t a, uint64_t b)
{
	uint32_t *n;

	if (m->pairs.n >= PAIRS_MAX && ty_pair_map_get(m, a, b) == TY_PAIR_NONE) {
		s->many_pairs = true;
		return NULL;
	}
	n = ty_pair_map_add(m, a, b);
	s->nomem |= !n;
	return n;
}

static struct levels *levels_of(struct stats *s, int32_t pid, int32_t tid)
{
	uint32_t *at = pair(s, &s->threads, (uint32_t)pid, (uint32_t)tid);

	if (!at)
		return NULL;
	if (*at == TY_PAIR_NONE) {
		if (vec_push(&s->levels, (struct levels){0})) {
			s->nomem = true;
			return NULL;
		}
		*at = (uint32_t)s->levels.n - 1;
	}
	s->pid = pid;
	s->tid = tid;
	return s->last = &s->levels.v[*at];
}

static __attribute__((noinline)) uint32_t *new_level(struct stats *s, const struct ty_flow_call *c)
{
	struct levels *l = s->last && s->pid == c->pid && s->tid == c->tid
				   ? s->last
				   : levels_of(s, c->pid, c->tid);
	size_t was, want;

	if (!l || c->func < l->n.n)
		return l ? &l->n.v[c->func] : NULL;
	was = l->n.n;
	want = c->func + 1 > 2 * was ? c->func + 1 : 2 * was;
	if (want - was > LEVELS_MAX - s->levels_n) {
		s->many_pairs = true;
		return NULL;
	}
	if (vec_reserve(&l->n, want)) {
		s->nomem = true;
		return NULL;
	}
	memset(l->n.v + was, 0, (want - was) * sizeof(*l->n.v));
	l->n.n = want;
	s->levels_n += want - was;
	return &l->n.v[c->func];
}

/* The number of the function's calls that are going on in the thread; NULL: not counted. */
static inline uint32_t *level_of(struct stats *s, const struct ty_flow_call *c)
{
	const struct levels *l = s->last;

	return l && s->pid == c->pid && s->tid == c->tid && c->func < l->n.n ? &l->n.v[c->func]
									     : new_level(s, c);
}

static void add_caller(struct stats *s, struct acc *a, uint32_t func, uint32_t caller)
{
	struct ty_flow_func *f = &a->f;
	uint32_t *at;

	if (a->called && a->caller == caller) {
		f->callers.v[a->caller_at].count++;
		return;
	}
	at = pair(s, &s->callers, func, caller);
	if (!at)
		return;
	if (*at != TY_PAIR_NONE) {
		f->callers.v[*at].count++;
	} else if (vec_push(&f->callers, (struct ty_flow_caller){.func = caller, .count = 1})) {
		s->nomem = true;
		return;
	} else {
		*at = (uint32_t)f->callers.n - 1;
	}
	a->caller = caller;
	a->caller_at = *at;
	a->called = true;
}

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
	uint32_t *n;

	if (c->func == TY_NO_FUNC || !chosen(s, c))
		return;
	n = level_of(s, c);
	if (n)
		++*n;
}

/* A call has ended: is none of the same function and thread going on around it? */
static bool outermost(struct stats *s, const struct ty_flow_call *c)
{
	uint32_t *n = level_of(s, c);

	return !n || (*n && !--*n);
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
			s->nomem = true;
			return;
		}
	w = &s->wholes.v[c->func];
	if (!w->longest.insns || by_ns(&one, &w->longest) > 0)
		w->longest = one;
	if (!w->most.insns || by_insns(&one, &w->most) > 0)
		w->most = one;
	if (s->kept < CALLS_MAX && vec_push(&w->ones, one))
		s->nomem = true;
}

static void on_end(void *ctx, const struct ty_flow_call *c)
{
	struct stats *s = ctx;
	bool counts = !(c->flags & TY_CALL_BACK); /* once, in however many parts */
	struct acc *a;
	uint64_t ns = 0;

	if (!chosen(s, c))
		return;
	s->calls += counts;
	a = c->func == TY_NO_FUNC ? NULL : acc_of(s, c->func);
	if (!a)
		return;
	a->f.count += counts;
	a->f.self_insns += c->self_insns;
	if (c->start_ns != TY_FLOW_NO_TIME && c->end_ns != TY_FLOW_NO_TIME &&
	    c->end_ns >= c->start_ns)
		ns = c->end_ns - c->start_ns;
	if (outermost(s, c)) {
		a->f.insns += c->insns;
		a->f.total_ns += ns;
	}
	a->f.self_ns += ns > c->children_ns ? ns - c->children_ns : 0;
	if (counts)
		add_caller(s, a, c->func, c->caller);
	if (c->flags & WHOLE_NOT) {
		a->f.not_whole += counts;
		return;
	}
	/* Of equal ones the last, as sorting has it. */
	if (!a->whole || ns > a->f.max_ns || (ns == a->f.max_ns && c->seq > a->max_seq)) {
		a->f.max_ns = ns;
		a->f.max_start_ns = c->start_ns;
		a->f.max_tid = c->tid;
		a->max_seq = c->seq;
	}
	a->f.max_insns = c->insns > a->f.max_insns ? c->insns : a->f.max_insns;
	a->whole = true;
	if (s->calls_too)
		add_whole(s, c, ns);
	if (s->kept >= CALLS_MAX)
		s->beyond++;
	else if (ty_ranks_add(&a->insns, c->insns) || ty_ranks_add(&a->ns, ns))
		s->nomem = true;
	else {
		s->kept++;
		a->kept++;
	}
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

/* The value below which `percent` of the calls lie: nearest rank. */
static size_t rank(size_t n, unsigned percent)
{
	size_t r = (n * percent + 99) / 100;

	return r ? r - 1 : 0;
}

static int by_count(const void *a, const void *b)
{
	const struct ty_flow_caller *x = a, *y = b;

	return compare(y->count, x->count) ?: compare(x->func, y->func);
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
	seq = ty_nth_element(scratch, same, rank(n, 50) - below);
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

static void close_one(struct stats *s, uint32_t func, bool software)
{
	struct acc *a = &s->accs.v[func];
	struct whole *w = func < s->wholes.n ? &s->wholes.v[func] : NULL;
	struct ty_flow_func *f = &a->f;
	uint64_t kept = a->kept;

	f->func = func;
	if (f->callers.n)
		qsort(f->callers.v, f->callers.n, sizeof(*f->callers.v), by_count);
	if (kept) {
		f->p50_insns = ty_ranks_nth(&a->insns, rank(kept, 50));
		f->p99_insns = ty_ranks_nth(&a->insns, rank(kept, 99));
		f->p50_ns = ty_ranks_nth(&a->ns, rank(kept, 50));
		f->p99_ns = ty_ranks_nth(&a->ns, rank(kept, 99));
	}
	ty_ranks_fini(&a->insns);
	ty_ranks_fini(&a->ns);
	if (!w)
		return;
	f->calls = extreme(w, f, software);
	s->nomem |= w->ones.n && !f->calls;
	vec_fini(&w->ones);
}

static int by_self(const void *a, const void *b)
{
	const struct ty_flow_func *x = a, *y = b;

	return compare(y->self_insns, x->self_insns) ?: compare(x->func, y->func);
}

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

	/* What is chosen is asked for each item. */
	while (!r &&
	       (more = choose ? ty_flow_next(f, &at) : ty_flow_next_runs(f, &at, &runs, &n)) > 0) {
		if (!choose || choose(ctx, &at))
			add_item(out, f, &at);
		r = ty_flow_calls_feed(out->calls_of, &at);
		if (!n || r)
			continue;
		r = ty_flow_calls_runs(out->calls_of, f, &at, runs, n);
		out->insns += ty_flow_runs_insns(runs, n);
		if (ty_flow_timed(f) && runs[n - 1].until)
			out->end_ns = ty_flow_ns(f, runs[n - 1].until);
	}
	return r ? r : more;
}

/* The functions with their sums, in order. */
static void close_all(struct stats *s, bool software, struct ty_flow_stats *out)
{
	for (size_t i = 0; i < s->accs.n; i++) {
		struct ty_flow_func *f = &s->accs.v[i].f;
		bool is = f->count || f->insns;

		close_one(s, (uint32_t)i, software);
		if (!is || vec_push(&out->funcs, *f)) {
			s->nomem |= is;
			vec_fini(&f->callers);
			free(f->calls);
		}
	}
	if (out->funcs.n)
		qsort(out->funcs.v, out->funcs.n, sizeof(*out->funcs.v), by_self);
}

int ty_flow_stats(struct ty_flow *f, struct ty_flow_names *names, bool calls,
		  ty_flow_choose *choose, void *ctx, struct ty_flow_stats *out, struct ty_err *err)
{
	struct stats s = {.calls_too = calls, .choose = choose, .ctx = ctx};
	int r;

	*out = (struct ty_flow_stats){.start_ns = TY_FLOW_NO_TIME,
				      .end_ns = TY_FLOW_NO_TIME,
				      .first_gap_ns = TY_FLOW_NO_TIME};
	out->calls_of = ty_flow_calls_new(names, on_begin, on_end, &s);
	r = out->calls_of ? feed(f, choose, ctx, out) : -TY_ENOMEM;
	ty_flow_stop(f);
	if (out->calls_of)
		ty_flow_calls_finish(out->calls_of);
	close_all(&s, ty_flow_software(f), out);
	out->calls = s.calls;
	out->beyond = s.beyond;
	out->bytes = ty_flow_window_bytes(f);
	out->headless = ty_flow_headless_bytes(f);
	out->many_pairs = s.many_pairs;
	out->many_funcs = out->calls_of && ty_flow_calls_functions(out->calls_of) == TY_CALLS_FUNCS;
	vec_fini(&s.accs);
	vec_fini(&s.wholes);
	vec_each (l, &s.levels)
		vec_fini(&l->n);
	vec_fini(&s.levels);
	ty_pair_map_fini(&s.threads);
	ty_pair_map_fini(&s.callers);
	if (r || s.nomem)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for the calls");
	return 0;
}

void ty_flow_stats_fini(struct ty_flow_stats *s)
{
	vec_each (f, &s->funcs) {
		vec_fini(&f->callers);
		free(f->calls);
	}
	vec_fini(&s->funcs);
	ty_flow_calls_free(s->calls_of);
}
