/* SPDX-License-Identifier: MIT */
/*
 * Sums of calls by function, for flow_stats.h. Private to the analysis of calls, which adds to them
 * without callbacks (flow_calls_priv.h). Memory: 8 bytes per complete call and percentile at most
 * (percentiles.h), for the first complete calls, until these take `most`; counts, sums and maxima
 * include all. 128 bytes per function, 4 per function and thread, for the first 2^24, and 60 per
 * further caller of a function, for the first 2^22. Budget: 60 instructions per call.
 */
#ifndef TY_FLOW_SUMS_H
#define TY_FLOW_SUMS_H

#include "flow_stats.h"
#include "pair_map.h"
#include "percentiles.h"

/* Calls that are in parts, or not known from begin to end. */
#define TY_CALL_PARTIAL (TY_CALL_BEFORE | TY_CALL_OPEN | TY_CALL_CUT | TY_CALL_GAP | TY_CALL_BACK)

/* Two cache lines: each call reads and writes them. As struct ty_flow_func has it, but: */
struct ty_flow_sum {
	uint64_t calls;	 /* by `caller`, since the last one by another */
	uint64_t others; /* before these; by caller in ty_flow_sums.callers */
	uint64_t insns, self_insns, total_ns, self_ns;
	uint64_t max_insns, max_ns, max_start_ns;
	uint64_t max_seq; /* of the complete call with the most time, plus 1; 0: there is none */
	uint64_t not_whole;
	int32_t max_tid;
	uint32_t caller;
	struct ty_ranks of_insns, of_ns; /* of complete calls */
};
_Static_assert(sizeof(struct ty_flow_sum) == 128, "two cache lines");

/* A thread's active calls, by function. */
struct ty_flow_levels {
	uint32_t *of; /* n */
	size_t n;
	int32_t tid, pid;
};

struct ty_flow_sums {
	VEC(struct ty_flow_sum) of; /* by function number */
	struct ty_pair_map threads; /* by process and thread: place in: */
	VEC(struct ty_flow_levels) levels;
	size_t levels_n;	     /* numbers in them */
	struct ty_flow_levels *last; /* of the last thread; NULL */
	struct ty_pair_map callers;  /* by function and caller: place in: */
	VEC(uint64_t) caller_calls;
	uint64_t unknown;	    /* calls of no function */
	uint64_t kept, beyond;	    /* complete calls in percentiles, and not in them */
	struct ty_ranks_room ranks; /* of the percentiles, which may take, a little more or less: */
	size_t most;		    /* bytes */
	bool nomem, many_pairs;
};

/* Slow cases of the functions below. */
struct ty_flow_sum *ty_flow_sums_more(struct ty_flow_sums *s, uint32_t func);
uint32_t *ty_flow_sums_new_level(struct ty_flow_sums *s, const struct ty_flow_call *c);

static inline struct ty_flow_sum *ty_flow_sum_of(struct ty_flow_sums *s, uint32_t func)
{
	return func < s->of.n ? &s->of.v[func] : ty_flow_sums_more(s, func);
}

/* The number of the function's active calls in the thread; NULL: not counted. */
static inline uint32_t *ty_flow_sums_level(struct ty_flow_sums *s, const struct ty_flow_call *c)
{
	const struct ty_flow_levels *l = s->last;

	return l && l->tid == c->tid && l->pid == c->pid && c->func < l->n
		       ? &l->of[c->func]
		       : ty_flow_sums_new_level(s, c);
}

static inline void ty_flow_sums_begin(struct ty_flow_sums *s, const struct ty_flow_call *c)
{
	uint32_t *n = c->func == TY_NO_FUNC ? NULL : ty_flow_sums_level(s, c);

	if (n)
		++*n;
}

static inline uint64_t ty_flow_call_ns(const struct ty_flow_call *c)
{
	_Static_assert(TY_FLOW_NO_TIME == UINT64_MAX, "no time is later than any");

	return c->end_ns > c->start_ns && c->end_ns != TY_FLOW_NO_TIME ? c->end_ns - c->start_ns
								       : 0;
}

/* Another call is added to the percentiles. None is after one that was not. */
static inline bool ty_flow_sums_room(const struct ty_flow_sums *s)
{
	return s->ranks.held < s->most && s->kept < UINT32_MAX;
}

/* A complete call that took no less than the longest: of equal ones the last, as sorting has it. */
static inline void ty_flow_sum_longest(struct ty_flow_sum *a, const struct ty_flow_call *c,
				       uint64_t ns)
{
	if (ns == a->max_ns && c->seq < a->max_seq)
		return;
	a->max_ns = ns;
	a->max_start_ns = c->start_ns;
	a->max_tid = c->tid;
	a->max_seq = c->seq + 1;
}

/* A call has ended; outermost: none of the same function and thread is active around it. */
void ty_flow_sums_add(struct ty_flow_sums *s, const struct ty_flow_call *c, bool outermost);

/* As ty_flow_sums_add, for n equal complete calls, of which so many are outermost, that took no
 * time and are counted in s->kept. */
void ty_flow_sums_add_many(struct ty_flow_sums *s, const struct ty_flow_call *c, uint64_t n,
			   uint64_t outermost);

/* Adds a call, but for the percentiles, for nearly all calls: by the same caller as the one before.
 * NULL: it is not such a call, and was not added. */
static inline __attribute__((always_inline)) struct ty_flow_sum *ty_flow_sums_count(
	struct ty_flow_sums *s, const struct ty_flow_call *c, bool outermost, uint64_t *ns)
{
	struct ty_flow_sum *a = c->func == TY_NO_FUNC ? NULL : ty_flow_sum_of(s, c->func);

	*ns = 0;
	if (!a || a->caller != c->caller || c->flags & TY_CALL_BACK)
		return NULL;
	a->calls++;
	a->self_insns += c->self_insns;
	if (outermost)
		a->insns += c->insns;
	if (c->start_ns != c->end_ns) {
		*ns = ty_flow_call_ns(c);
		a->self_ns += *ns > c->children_ns ? *ns - c->children_ns : 0;
		a->total_ns += outermost ? *ns : 0;
	}
	return a;
}

/* As ty_flow_sums_add, for these. room: ty_flow_sums_room. False: it was not added. */
static inline __attribute__((always_inline)) bool ty_flow_sums_quick(struct ty_flow_sums *s,
								     const struct ty_flow_call *c,
								     bool outermost, bool room)
{
	uint64_t ns;
	struct ty_flow_sum *a = room ? ty_flow_sums_count(s, c, outermost, &ns) : NULL;

	if (!a)
		return false;
	if (c->flags & TY_CALL_PARTIAL) {
		a->not_whole++;
		return true;
	}
	s->kept++;
	if (c->insns > a->max_insns)
		a->max_insns = c->insns;
	if (ns >= a->max_ns)
		ty_flow_sum_longest(a, c, ns);
	if (ty_ranks_add(&a->of_insns, c->insns, &s->ranks) ||
	    ty_ranks_add(&a->of_ns, ns, &s->ranks))
		s->nomem = true;
	return true;
}

/* The call is not active any more; true: none of the same function and thread is around it. */
static inline bool ty_flow_sums_outermost(struct ty_flow_sums *s, const struct ty_flow_call *c)
{
	uint32_t *level = c->func == TY_NO_FUNC ? NULL : ty_flow_sums_level(s, c);

	return !level || (*level && !--*level);
}

static inline void ty_flow_sums_end(struct ty_flow_sums *s, const struct ty_flow_call *c)
{
	const bool outermost = ty_flow_sums_outermost(s, c);

	if (!ty_flow_sums_quick(s, c, outermost, ty_flow_sums_room(s)))
		ty_flow_sums_add(s, c, outermost);
}

/* As ty_flow_sums_end, of a call that is partial. */
static inline void ty_flow_sums_cut(struct ty_flow_sums *s, const struct ty_flow_call *c)
{
	const bool outermost = ty_flow_sums_outermost(s, c);
	uint64_t ns;
	struct ty_flow_sum *a = ty_flow_sums_count(s, c, outermost, &ns);

	if (a)
		a->not_whole++;
	else
		ty_flow_sums_add(s, c, outermost);
}

/* The sums of a function, without callers. */
struct ty_flow_func ty_flow_sums_func(struct ty_flow_sums *s, uint32_t func);
/* The callers of n different functions, the most frequent first: they are in *callers, to be freed
 * by the caller of this. After all other calls. */
void ty_flow_sums_callers(struct ty_flow_sums *s, struct ty_flow_func *of, size_t n,
			  struct ty_flow_caller **callers);
void ty_flow_sums_fini(struct ty_flow_sums *s);

/* The value below which `percent` of n lie: nearest rank. */
static inline size_t ty_flow_rank(size_t n, unsigned percent)
{
	size_t r = (n * percent + 99) / 100;

	return r ? r - 1 : 0;
}

#endif
