/* SPDX-License-Identifier: MIT */
/*
 * Part of one thread's execution, in memory: instructions in order, gaps in place, and their calls,
 * for inspection of single instructions; sums over a whole recording (flow_stats.h) do not need it.
 * Budget: 32 bytes per instruction, 56 per call, 200 ns per instruction to build.
 */
#ifndef TY_FLOW_PART_H
#define TY_FLOW_PART_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "flow.h"
#include "flow_calls.h"
#include "flow_names.h"
#include "vec.h"

#define TY_NO_CALL UINT32_MAX

/* What an instruction takes, with its calls, and room for more that is not used. */
enum { TY_FLOW_PART_BYTES = 64 };

struct ty_flow_step {
	uint64_t ip;	  /* of a gap: near it */
	uint64_t ts_ns;	  /* time of the last time stamp (flow.h), or of the previous step when that
			   * is larger: a lower bound; TY_FLOW_NO_TIME: before any */
	const char *text; /* gap: reason; static (size: ty_flow_part_gap) */
	uint32_t call;	  /* innermost call containing it; TY_NO_CALL */
	uint8_t kind;	  /* TY_FLOW_INSN, TY_FLOW_GAP, TY_FLOW_OVERFLOW */
	uint8_t size, cls, flags; /* as in struct ty_flow_item */
};

struct ty_flow_part_call {
	uint64_t start_ns, end_ns;
	uint64_t insns;	      /* including callees, within the part */
	uint32_t first, last; /* its steps [first, last) */
	uint32_t depth, func, parent;
	uint8_t flags; /* TY_CALL_*; OPEN also when the part ends inside it */
};

/* An upper bound for the time of the steps before `step`: tracing was off, or lost, from t_ns on.
 * The next step has a time stamp of its own, or none is known. */
struct ty_flow_part_end {
	uint32_t step;
	uint64_t t_ns;
};

struct ty_flow_part {
	int32_t tid, pid;
	uint64_t from_ns, to_ns; /* the requested window */
	VEC(struct ty_flow_step) steps;
	VEC(struct ty_flow_part_call) calls; /* in order of begin */
	VEC(uint32_t) by_depth;	     /* calls of depth 0 in order, then those of depth 1... */
	VEC(uint32_t) depth_first;   /* start of each depth; one more at the end */
	VEC(uint32_t) gaps;	     /* steps that are not instructions */
	VEC(struct ty_flow_gap) gap; /* one for each of these */
	VEC(struct ty_flow_part_end) ends;
	bool cut;		     /* the limit was reached: the last steps are missing */
	struct ty_flow_calls *names; /* of the calls' functions */
};

/* Request: thread tid, from..to, with limits on instructions and gaps. */
struct ty_flow_part_request {
	int32_t tid;
	uint64_t from_ns, to_ns; /* items without a time are included */
	uint32_t most;
	uint32_t slot;		 /* cache slot: one part is kept per slot */
	const atomic_bool *stop; /* NULL: never */
};

/*
 * Reads the part from a flow that was just started or seeked; the flow may begin before the window,
 * so that calls entered there are known. names is borrowed, and must outlive the part. 0;
 * -TY_ENOMEM; -TY_EINTR when stopped. Free the part in any case.
 */
int ty_flow_part_read(struct ty_flow *f, struct ty_flow_names *names,
		      const struct ty_flow_part_request *request, struct ty_flow_part *out);
void ty_flow_part_fini(struct ty_flow_part *p);

uint32_t ty_flow_part_depths(const struct ty_flow_part *p);
/* The first call of a depth that ends after the step; TY_NO_CALL: none. */
uint32_t ty_flow_part_call_from(const struct ty_flow_part *p, uint32_t depth, uint32_t step);
/* The first step at or after a time; the number of steps when there is none. */
uint32_t ty_flow_part_step_at(const struct ty_flow_part *p, uint64_t t_ns);
/*
 * The stretch of steps that share a step's last time stamp: their number, the step's position among
 * them, and the time range in which they were executed in this order (equal bounds: no upper bound
 * known). log(steps).
 */
struct ty_flow_part_stretch {
	uint32_t first, n;
	uint64_t from_ns, to_ns;
};
struct ty_flow_part_stretch ty_flow_part_stretch(const struct ty_flow_part *p, uint32_t step);
/* The nearest other instruction with this address, in direction +1 or -1; TY_NO_CALL: none. */
uint32_t ty_flow_part_same(const struct ty_flow_part *p, uint32_t step, int by);
/* How often the step's instruction was executed in steps [first, last). */
uint64_t ty_flow_part_count(const struct ty_flow_part *p, uint64_t ip, uint32_t first,
			    uint32_t last);
/* For a gap: its size. */
const struct ty_flow_gap *ty_flow_part_gap(const struct ty_flow_part *p, uint32_t step);
const char *ty_flow_part_function(const struct ty_flow_part *p, uint32_t call);

#endif
