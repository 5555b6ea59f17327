/* SPDX-License-Identifier: MIT */
/*
 * A part of what one thread executed, in memory: instructions in order, gaps in their places, and
 * the calls that they make up. For whoever looks at them one by one; sums over a whole recording
 * (flow_stats.h) need no part. Budget: 32 bytes per instruction, 56 per call, 200 ns per
 * instruction to make.
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

struct ty_flow_step {
	uint64_t ip;	  /* of a gap: near it */
	uint64_t ts_ns;	  /* of the last time stamp (flow.h), or of the step before where that
			     is larger: no less than that; TY_FLOW_NO_TIME: before any */
	const char *text; /* of a gap: why; static (how much: ty_flow_part_gap) */
	uint32_t call;	  /* the innermost one that it belongs to; TY_NO_CALL */
	uint8_t kind;	  /* TY_FLOW_INSN, TY_FLOW_GAP, TY_FLOW_OVERFLOW */
	uint8_t size, cls, flags; /* as in struct ty_flow_item */
};

struct ty_flow_part_call {
	uint64_t start_ns, end_ns;
	uint64_t insns;	      /* in it and in what it called, as far as the part goes */
	uint32_t first, last; /* its steps [first, last) */
	uint32_t depth, func, parent;
	uint8_t flags; /* TY_CALL_*; OPEN also where the part ends */
};

/* What is known of when the steps before `step` were over: tracing was off, or lost, from t_ns on.
 * The step behind has a time stamp of its own, or none is known. */
struct ty_flow_part_end {
	uint32_t step;
	uint64_t t_ns;
};

struct ty_flow_part {
	int32_t tid, pid;
	uint64_t from_ns, to_ns; /* what was asked for */
	VEC(struct ty_flow_step) steps;
	VEC(struct ty_flow_part_call) calls; /* as they began */
	VEC(uint32_t) by_depth;	     /* calls of depth 0 in order, then those of depth 1... */
	VEC(uint32_t) depth_first;   /* where those of a depth begin; one more at the end */
	VEC(uint32_t) gaps;	     /* steps that are none of instructions */
	VEC(struct ty_flow_gap) gap; /* of each of them */
	VEC(struct ty_flow_part_end) ends;
	bool cut; /* there were more than were to be kept: the last are missing */
	struct ty_flow_calls *names; /* of the calls' functions */
};

/* What is wanted: of thread tid, from..to, at most so many instructions and gaps. */
struct ty_flow_part_ask {
	int32_t tid;
	uint64_t from_ns, to_ns; /* what has no time is taken, too */
	uint32_t most;
	uint32_t slot;		 /* who keeps parts keeps the last one of each */
	const atomic_bool *stop; /* NULL: never */
};

/*
 * Out of a flow that was just started or sought, which may begin before the window: calls that were
 * entered there are known then. names is borrowed, and must outlive the part. 0; -TY_ENOMEM;
 * -TY_EINTR when stopped. The part is to be given back in any case.
 */
int ty_flow_part_read(struct ty_flow *f, struct ty_flow_names *names,
		      const struct ty_flow_part_ask *ask, struct ty_flow_part *out);
void ty_flow_part_fini(struct ty_flow_part *p);

uint32_t ty_flow_part_depths(const struct ty_flow_part *p);
/* The first call of a depth that ends behind the step, at or after it; TY_NO_CALL: none. */
uint32_t ty_flow_part_call_from(const struct ty_flow_part *p, uint32_t depth, uint32_t step);
/* The first step at or behind an instant; the number of steps when none. */
uint32_t ty_flow_part_step_at(const struct ty_flow_part *p, uint64_t t_ns);
/*
 * Where a step is in the stretch of those that share its last time stamp: the number of them, which
 * of them it is, and between which instants they were executed in this order (the same: no later
 * one is known). The step is always one of them. log(steps).
 */
struct ty_flow_part_stretch {
	uint32_t first, n;
	uint64_t from_ns, to_ns;
};
struct ty_flow_part_stretch ty_flow_part_stretch(const struct ty_flow_part *p, uint32_t step);
/* The next instruction in steps of +1 or -1 with this address; TY_NO_CALL: none. */
uint32_t ty_flow_part_same(const struct ty_flow_part *p, uint32_t step, int by);
/* How often the step's instruction was executed in steps [first, last). */
uint64_t ty_flow_part_count(const struct ty_flow_part *p, uint64_t ip, uint32_t first,
			    uint32_t last);
/* Of a step that is a gap: how much is missing. */
const struct ty_flow_gap *ty_flow_part_gap(const struct ty_flow_part *p, uint32_t step);
const char *ty_flow_part_function(const struct ty_flow_part *p, uint32_t call);

#endif
