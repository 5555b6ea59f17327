/* SPDX-License-Identifier: MIT */
/* Functions by the cost of their calls, for `report flow`. */
#ifndef TY_FLOW_STATS_H
#define TY_FLOW_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "flow_calls.h"
#include "vec.h"

struct ty_flow_caller {
	uint32_t func; /* TY_NO_FUNC: unknown */
	uint64_t count;
};

/*
 * One function. Durations are of complete calls, with known start and end. In software recordings
 * times are the single-stepper's, so only instruction counts are comparable.
 */
struct ty_flow_func {
	/* insns, total_ns: including callees; in a recursion only the outermost call counts. */
	uint64_t insns, self_insns;
	uint64_t max_ns, max_start_ns;
	int32_t max_tid; /* of the call with the longest time */
	uint32_t func;
	uint64_t count;	    /* all calls, complete or not */
	uint64_t not_whole; /* begun before, cut by a gap, unfinished */
	uint64_t total_ns, self_ns;
	uint64_t p50_ns, p99_ns;
	uint64_t p50_insns, p99_insns, max_insns;
	struct ty_flow_extreme *calls; /* when requested; NULL: no complete call */
	struct {
		struct ty_flow_caller *v;
		size_t n;
	} callers; /* the most frequent first */
};

/* Complete calls: by instructions in software recordings, otherwise by time. */
struct ty_flow_extreme {
	struct ty_flow_call slowest, median;
};

struct ty_flow_stats {
	VEC(struct ty_flow_func) funcs; /* by self instructions, most first; of: */
	size_t functions;
	struct ty_flow_caller *callers; /* of all of them */
	uint64_t insns, gaps, calls;
	uint64_t overflows; /* gaps of unknown size */
	/* Bytes of packets: total, in gaps, and known to be lost before recording; time of the
	 * first gap (TY_FLOW_NO_TIME). */
	uint64_t bytes, not_decoded, lost, first_gap_ns;
	uint64_t headless; /* further bytes before the first PSB */
	uint64_t kept;	   /* complete calls in percentiles and medians: the first ones */
	uint64_t beyond;   /* those excluded, because they did not fit into the flow's memory;
			    * everything else includes them */
	bool many_funcs;   /* the last of funcs stands for several (TY_CALLS_FUNCS) */
	bool many_pairs;   /* callers are incomplete, and a recursion's insns and total_ns may count
			    * more than once: too many functions of threads or callers */
	uint64_t start_ns, end_ns;	/* TY_FLOW_NO_TIME: no times */
	struct ty_flow_calls *calls_of; /* names of the functions */
};

/* Filter: instructions and gaps by their own thread, time and CPU, calls by those of their start.
 * NULL: all. */
typedef bool ty_flow_choose(void *ctx, const struct ty_flow_at *at);

/* Decodes the flow (started or seeked) to its end and sums up; calls: also find the slowest and
 * median call of each function; most: how many functions `funcs` has at most (1 or more). Free out
 * with fini. 0 or -TY_ENOMEM. */
int ty_flow_stats(struct ty_flow *f, struct ty_flow_names *names, bool calls, size_t most,
		  ty_flow_choose *choose, void *ctx, struct ty_flow_stats *out, struct ty_err *err);
void ty_flow_stats_fini(struct ty_flow_stats *s);

#endif
