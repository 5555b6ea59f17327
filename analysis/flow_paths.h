/* SPDX-License-Identifier: MIT */
/*
 * The calls of a path (flow_walk.h), which is executed again and again: found out once, then
 * counted with each execution, and multiplied out at the end. Calls that return on the path are
 * entries of sums; those that do not are opened at its end. Private to the analysis of calls.
 * Budget: 30 instructions per execution, 20 for each call that stays open; 0.5 KB per path, for
 * 4,096 paths, then all are added up and forgotten.
 */
#ifndef TY_FLOW_PATHS_H
#define TY_FLOW_PATHS_H

#include "flow_places.h"
#include "flow_stack.h"
#include "flow_walk.h"
#include "vec.h"

/* Equal calls that start and end on the path. */
struct ty_flow_path_calls {
	uint64_t insns, self_insns;
	uint64_t outermost; /* executions in which they were outermost */
	uint32_t func, caller;
	uint32_t n;   /* in each execution */
	uint32_t seq; /* of the last of them, from the first call of the path on */
	bool inner;   /* within another call of the function on the path */
};

/* A call that begins on the path, and does not end there. */
struct ty_flow_path_open {
	uint64_t ip, ret, lo, hi;
	uint64_t left;	  /* instructions from its start to the path's end */
	uint64_t callees; /* instructions of its callees that ended there */
	uint32_t func, seq;
	uint8_t trait; /* enum ty_flow_trait */
};

struct ty_flow_path {
	const struct ty_walk_path *path;
	/* What it was found out for: */
	int32_t pid;
	uint32_t age, func; /* of places; of the call that executes it */
	uint64_t from_ns, until_ns;
	bool known; /* false: it has other events than calls and returns from them */
	uint32_t calls_n, open_n, functions; /* functions: their numbers are below */
	uint32_t deepest, begun, ended;	     /* numbers of calls */
	uint64_t callees; /* instructions of calls that ended, and of their callees */
	uint64_t jump;	  /* where setjmp returned to; 0: there is none */
	/* Executions that are not added up; of the last one: */
	uint64_t count, start_ns, seq;
	int32_t tid;
	struct ty_flow_path_calls *calls;
	struct ty_flow_path_open *open;
};

struct ty_flow_paths {
	VEC(struct ty_flow_path) v;
};

/* The calls of r, a path, that a call of func of a process executes at a time; NULL: it has other
 * events, or it is not known yet whether it is executed often. Valid until the next call. */
struct ty_flow_path *ty_flow_path_find(struct ty_flow_paths *p, struct ty_flow_places *places,
				       struct ty_flow_sums *sums, const struct ty_walk_run *r,
				       int32_t pid, uint64_t ts_ns, uint32_t func);
/* Adds all executions to the sums, and forgets the paths. */
void ty_flow_paths_add_up(struct ty_flow_paths *p, struct ty_flow_sums *sums);
void ty_flow_paths_fini(struct ty_flow_paths *p);

/* As ty_flow_path_find, for a path that is known. */
static inline struct ty_flow_path *ty_flow_path_of(struct ty_flow_paths *p,
						   struct ty_flow_places *places,
						   struct ty_flow_sums *sums,
						   const struct ty_walk_run *r, int32_t pid,
						   uint64_t ts_ns, uint32_t func)
{
	const uint32_t i = r->path->plan;
	struct ty_flow_path *known = i && i <= p->v.n ? &p->v.v[i - 1] : NULL;

	if (known && known->path == r->path && known->pid == pid && known->age == places->age &&
	    known->func == func && ts_ns >= known->from_ns && ts_ns < known->until_ns)
		return known->known ? known : NULL;
	return ty_flow_path_find(p, places, sums, r, pid, ts_ns, func);
}

#endif
