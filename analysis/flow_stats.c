/* SPDX-License-Identifier: MIT */
/* See flow_stats.h. Memory: 56 bytes per whole call, for exact percentiles and the median call, of
 * the first CALLS_MAX whole calls; counts, sums and maxima are of all. And 4 for each function of
 * each thread, of the first LEVELS_MAX, and 40 for each caller of a function, of the first
 * PAIRS_MAX. Budget: 50 ns per call, sums and percentiles together. */
#include "flow_stats.h"

#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "flow_walk.h"
#include "nth_element.h"
#include "pair_map.h"

#define WHOLE_NOT (TY_CALL_BEFORE | TY_CALL_OPEN | TY_CALL_CUT | TY_CALL_GAP | TY_CALL_BACK)
enum { CALLS_MAX = 1 << 23, PAIRS_MAX = 1 << 22, LEVELS_MAX = 1 << 24, SMALL = 512 };

struct one {
	uint64_t ns, insns, start_ns, seq;
	int32_t tid, pid;
	uint32_t depth;
};

struct acc {
	VEC(struct one) ones;
	struct one longest, most; /* of all whole calls: in time, in instructions; insns 0: none */
	struct ty_flow_func f;
	uint32_t caller, caller_at; /* the last one, and its place among the callers */
	bool called;
};

/* A thread's calls that are going on, by function. */
struct levels {
	VEC(uint32_t) n;
};

struct stats {
	VEC(struct acc) accs;	    /* by function number */
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

static struct acc *acc_of(struct stats *s, uint32_t func)
{
	while (s->accs.n <= func)
		if (vec_push(&s->accs, (struct acc){0})) {
			s->nomem = true;
			return NULL;
		}
	return &s->accs.v[func];
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

/* The number of the function's calls that are going on in the thread; NULL: not counted. */
static uint32_t *level_of(struct stats *s, const struct ty_flow_call *c)
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

static void on_end(void *ctx, const struct ty_flow_call *c)
{
	struct stats *s = ctx;
	bool counts = !(c->flags & TY_CALL_BACK); /* once, in however many parts */
	struct acc *a;
	struct one one;
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
	one = (struct one){.ns = ns,
			   .insns = c->insns,
			   .start_ns = c->start_ns,
			   .seq = c->seq,
			   .tid = c->tid,
			   .pid = c->pid,
			   .depth = c->depth};
	/* Of equal ones the last, as sorting has it. */
	if (!a->longest.insns || by_ns(&one, &a->longest) > 0)
		a->longest = one;
	if (!a->most.insns || by_insns(&one, &a->most) > 0)
		a->most = one;
	if (s->kept >= CALLS_MAX)
		s->beyond++;
	else if (vec_push(&a->ones, one))
		s->nomem = true;
	else
		s->kept++;
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

/* Of n calls the value of a rank, where it is small: counted. UINT64_MAX: it is not. */
static uint64_t small_nth(const uint32_t *count, size_t k)
{
	for (uint64_t v = 0; v < SMALL; v++) {
		if (k < count[v])
			return v;
		k -= count[v];
	}
	return UINT64_MAX;
}

/* Of n calls the values of two ranks; scratch: room for n. */
static void percentiles(const struct one *v, size_t n, bool ns, uint64_t *scratch, uint64_t *p50,
			uint64_t *p99)
{
	uint32_t count[SMALL + 1];

	*p50 = *p99 = UINT64_MAX;
	for (size_t i = 0; i < n; i++)
		scratch[i] = value(&v[i], ns);
	if (n > SMALL) {
		memset(count, 0, sizeof(count));
		for (size_t i = 0; i < n; i++)
			count[scratch[i] < SMALL ? scratch[i] : SMALL]++;
		*p50 = small_nth(count, rank(n, 50));
		*p99 = small_nth(count, rank(n, 99));
	}
	*p50 = *p50 != UINT64_MAX ? *p50 : ty_nth_element(scratch, n, rank(n, 50));
	*p99 = *p99 != UINT64_MAX ? *p99 : ty_nth_element(scratch, n, rank(n, 99));
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

/* scratch: room for a number per call. */
static void close_one(struct acc *a, uint32_t func, bool software, uint64_t *scratch)
{
	struct ty_flow_func *f = &a->f;
	size_t n = a->ones.n;
	const struct one *v = a->ones.v;

	f->func = func;
	if (f->callers.n)
		qsort(f->callers.v, f->callers.n, sizeof(*f->callers.v), by_count);
	f->max_insns = a->most.insns;
	f->max_ns = a->longest.ns;
	f->max_start_ns = a->longest.start_ns;
	f->max_tid = a->longest.tid;
	f->slowest = as_call(software ? &a->most : &a->longest, func);
	if (!n)
		return;
	percentiles(v, n, false, scratch, &f->p50_insns, &f->p99_insns);
	percentiles(v, n, true, scratch, &f->p50_ns, &f->p99_ns);
	f->median = as_call(median(v, n, !software, software ? f->p50_insns : f->p50_ns, scratch),
			    func);
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
	uint64_t *scratch;
	size_t most = 1;

	for (size_t i = 0; i < s->accs.n; i++)
		most = s->accs.v[i].ones.n > most ? s->accs.v[i].ones.n : most;
	scratch = malloc(most * sizeof(*scratch));
	s->nomem |= !scratch;
	for (size_t i = 0; i < s->accs.n; i++) {
		struct acc *a = &s->accs.v[i];
		bool is = a->f.count || a->f.insns;

		if (scratch)
			close_one(a, (uint32_t)i, software, scratch);
		if (!is || vec_push(&out->funcs, a->f)) {
			s->nomem |= is;
			vec_fini(&a->f.callers);
		}
		vec_fini(&a->ones);
	}
	free(scratch);
	if (out->funcs.n)
		qsort(out->funcs.v, out->funcs.n, sizeof(*out->funcs.v), by_self);
}

int ty_flow_stats(struct ty_flow *f, struct ty_flow_names *names, ty_flow_choose *choose, void *ctx,
		  struct ty_flow_stats *out, struct ty_err *err)
{
	struct stats s = {.choose = choose, .ctx = ctx};
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
	vec_each (f, &s->funcs)
		vec_fini(&f->callers);
	vec_fini(&s->funcs);
	ty_flow_calls_free(s->calls_of);
}
