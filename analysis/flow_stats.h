/* SPDX-License-Identifier: MIT */
/* Functions by what their calls cost: the finding of `report flow`. */
#ifndef TY_FLOW_STATS_H
#define TY_FLOW_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "flow_calls.h"
#include "vec.h"

struct ty_flow_caller {
	uint32_t func; /* TY_NO_FUNC: not known */
	uint64_t count;
};

/*
 * One function. Durations are of whole calls: those that were seen to begin and to end. In software
 * recordings (the stepper's time, not the program's) instructions are what can be compared.
 */
struct ty_flow_func {
	uint32_t func;
	uint64_t count;	    /* calls, whole or not */
	uint64_t not_whole; /* begun before, cut by a gap, still going on */
	/* insns, total_ns: with those of the calls it made; of a recursion the outermost call. */
	uint64_t insns, self_insns;
	uint64_t total_ns, self_ns;
	uint64_t p50_ns, p99_ns, max_ns, max_start_ns;
	uint64_t p50_insns, p99_insns, max_insns;
	int32_t max_tid;		    /* of the call with the most time */
	struct ty_flow_extreme *calls;	    /* where it was asked for; NULL: no whole call */
	VEC(struct ty_flow_caller) callers; /* the most frequent first */
};

/* Whole calls: by instructions in software recordings, else by time. */
struct ty_flow_extreme {
	struct ty_flow_call slowest, median;
};

struct ty_flow_stats {
	VEC(struct ty_flow_func) funcs; /* by self instructions, most first */
	uint64_t insns, gaps, calls;
	uint64_t overflows; /* of the gaps: their size is not known */
	/* Of packets: all, and what of them is in gaps; what of losses never was recorded, as far
	 * as that is known; when the first gap was (TY_FLOW_NO_TIME). */
	uint64_t bytes, not_decoded, lost, first_gap_ns;
	uint64_t headless; /* bytes besides before the first PSB */
	uint64_t beyond; /* whole calls that percentiles and medians are not of: there were too many
			    (8 million are kept); all else is of them, too */
	bool many_funcs; /* the last of funcs stands for many (TY_CALLS_FUNCS) */
	bool many_pairs; /* callers are not complete, and a recursion's insns and total_ns may count
			    more than once: there were too many functions of threads or callers */
	uint64_t start_ns, end_ns;	/* TY_FLOW_NO_TIME: no times */
	struct ty_flow_calls *calls_of; /* names of the functions */
};

/* What is added up: instructions and gaps that it chooses by their thread, time and CPU, calls by
 * those of their begin. NULL: all. */
typedef bool ty_flow_choose(void *ctx, const struct ty_flow_at *at);

/* Decode the flow (started or sought) to its end and add up; calls: with the slowest and median
 * call of each function; out is to be freed by fini. 0 or -TY_ENOMEM. */
int ty_flow_stats(struct ty_flow *f, struct ty_flow_names *names, bool calls,
		  ty_flow_choose *choose, void *ctx, struct ty_flow_stats *out, struct ty_err *err);
void ty_flow_stats_fini(struct ty_flow_stats *s);

#endif
