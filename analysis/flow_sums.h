/* SPDX-License-Identifier: MIT */
/*
 * Sums of calls by function, for flow_stats.h. Private to the analysis of calls, which adds to them
 * without callbacks (flow_calls_priv.h). Memory: 8 bytes per complete call and percentile at most,
 * for the first TY_SUMS_CALLS complete calls (ranks.h); counts, sums and maxima include all. 200
 * bytes per function, 4 per function and thread, for the first 2^24, and 60 per further caller of a
 * function, for the first 2^22. Budget: 60 instructions per call.
 */
#ifndef TY_FLOW_SUMS_H
#define TY_FLOW_SUMS_H

#include "flow_stats.h"
#include "pair_map.h"
#include "ranks.h"

enum { TY_SUMS_CALLS = 1 << 23 };

/* Calls that are in parts, or not known from begin to end. */
#define TY_CALL_PARTIAL (TY_CALL_BEFORE | TY_CALL_OPEN | TY_CALL_CUT | TY_CALL_GAP | TY_CALL_BACK)

struct ty_flow_sum {
	struct ty_flow_func f;
	uint64_t kept; /* complete calls in: */
	struct ty_ranks insns, ns;
	uint64_t max_seq; /* of the call with the most time */
	/* By the most recent caller, and not in ty_flow_sums.callers; 0: there was no call. */
	uint64_t caller_calls;
	uint32_t caller;
	bool whole; /* there was such a call */
};

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
	uint64_t calls, kept, beyond; /* all; complete ones in percentiles, and not in them */
	bool nomem, many_pairs;
};

/* Slow cases of the functions below. */
struct ty_flow_sum *ty_flow_sums_more(struct ty_flow_sums *s, uint32_t func);
uint32_t *ty_flow_sums_new_level(struct ty_flow_sums *s, const struct ty_flow_call *c);
void ty_flow_sums_other_caller(struct ty_flow_sums *s, struct ty_flow_sum *a, uint32_t func,
			       uint32_t caller);

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

static inline void ty_flow_sum_whole(struct ty_flow_sums *s, struct ty_flow_sum *a,
				     const struct ty_flow_call *c, uint64_t ns)
{
	/* Of equal ones the last, as sorting has it. */
	if (ns >= a->f.max_ns && (ns > a->f.max_ns || !a->whole || c->seq > a->max_seq)) {
		a->f.max_ns = ns;
		a->f.max_start_ns = c->start_ns;
		a->f.max_tid = c->tid;
		a->max_seq = c->seq;
		a->whole = true;
	}
	a->f.max_insns = c->insns > a->f.max_insns ? c->insns : a->f.max_insns;
	if (s->kept >= TY_SUMS_CALLS) {
		s->beyond++;
	} else if (ty_ranks_add(&a->insns, c->insns) || ty_ranks_add(&a->ns, ns)) {
		s->nomem = true;
	} else {
		s->kept++;
		a->kept++;
	}
}

/* A call has ended; outermost: none of the same function and thread is active around it. */
static inline __attribute__((always_inline)) void ty_flow_sums_add(struct ty_flow_sums *s,
								   const struct ty_flow_call *c,
								   bool outermost)
{
	const bool counts = !(c->flags & TY_CALL_BACK); /* once, in however many parts */
	const uint64_t ns = ty_flow_call_ns(c);
	struct ty_flow_sum *a;

	s->calls += counts;
	a = c->func == TY_NO_FUNC ? NULL : ty_flow_sum_of(s, c->func);
	if (!a)
		return;
	a->f.count += counts;
	a->f.self_insns += c->self_insns;
	if (ns > c->children_ns)
		a->f.self_ns += ns - c->children_ns;
	if (outermost) {
		a->f.insns += c->insns;
		a->f.total_ns += ns;
	}
	if (counts && a->caller == c->caller && a->caller_calls)
		a->caller_calls++;
	else if (counts)
		ty_flow_sums_other_caller(s, a, c->func, c->caller);
	if (c->flags & TY_CALL_PARTIAL)
		a->f.not_whole += counts;
	else
		ty_flow_sum_whole(s, a, c, ns);
}

static inline void ty_flow_sums_end(struct ty_flow_sums *s, const struct ty_flow_call *c)
{
	uint32_t *level = c->func == TY_NO_FUNC ? NULL : ty_flow_sums_level(s, c);

	ty_flow_sums_add(s, c, !level || (*level && !--*level));
}

/* A call that calls nothing: begins and ends. */
static inline void ty_flow_sums_leaf(struct ty_flow_sums *s, const struct ty_flow_call *c)
{
	const uint32_t *level = c->func == TY_NO_FUNC ? NULL : ty_flow_sums_level(s, c);

	ty_flow_sums_add(s, c, !level || !*level);
}

/* The callers of each function with calls, the most frequent first: they are in *callers, to be
 * freed by the caller of this. */
void ty_flow_sums_callers(struct ty_flow_sums *s, struct ty_flow_caller **callers);
void ty_flow_sum_percentiles(struct ty_flow_sum *a);
void ty_flow_sums_fini(struct ty_flow_sums *s);

/* The value below which `percent` of n lie: nearest rank. */
static inline size_t ty_flow_rank(size_t n, unsigned percent)
{
	size_t r = (n * percent + 99) / 100;

	return r ? r - 1 : 0;
}

#endif
