/* SPDX-License-Identifier: MIT */
/*
 * Regions of user code while the model is built: starts and ends are paired per thread, those with
 * an id per process. What has no start or no end is kept and marked; a length is claimed only where
 * both were recorded and nothing was lost in between. Read through model.h.
 */
#ifndef TY_REGIONS_H
#define TY_REGIONS_H

#include "hash_index.h"
#include "model.h"
#include "pair_map.h"
#include "vec.h"

struct ty_builder;
struct ty_event;

/* Limits: rows in all, open regions of a thread, open regions with an id. Regions beyond them are
 * counted. */
#define TY_REGIONS_MAX	     (4u << 20)
#define TY_REGION_DEPTH	     1000u
#define TY_REGION_ASYNC_OPEN 65536u
#define TY_REGION_GAPS	     65536u

struct ty_open_region {
	struct ty_region r;
	uint64_t inside_ns; /* of those directly inside, up to covered_ns */
	uint64_t covered_ns;
	uint64_t sp; /* CALL: the stack pointer at its entry; 0: not recorded */
};

/* A region with an id. process: at the start, and the key in the index; the thread may belong to
 * another process at the end. leader: of that process then, so that another with its number is
 * another; TY_NONE: unknown. */
struct ty_open_async {
	struct ty_region r; /* thread TY_NONE: free */
	int32_t process;
	uint32_t leader;
	uint32_t prev, next; /* open ones of that process; TY_NONE */
};

/* Events were lost in (from, to]. */
struct ty_region_gap {
	uint64_t from, to;
};

struct ty_region_stack {
	VEC(struct ty_open_region) open;
	uint32_t over;	  /* begins beyond the bound; not calls */
	uint64_t exec_ns; /* it executed another program then; 0: it did not */
};

struct ty_region_log {
	VEC(struct ty_region) done;
	VEC(struct ty_region_stack) stack; /* by thread */
	VEC(struct ty_open_async) async;
	struct ty_hash_index async_by; /* of process, name and id */
	struct ty_pair_map async_of;   /* by process: the first of its open ones; TY_NONE */
	VEC(uint32_t) async_free;
	VEC(struct ty_region_gap) gaps;
	uint64_t left_out, lost_ns;
	uint64_t buffers;    /* bits: the sources of regions */
	uint64_t name_bytes; /* of names given by regions */
	uint32_t max;
};

/* Any event: regions, lines that programs write to trace_marker, exec. thread: the current one. */
void ty_regions_event(struct ty_builder *b, const struct ty_event *ev, uint64_t ts);
/* Events of a buffer were lost in (from, to]. */
void ty_regions_gap(struct ty_builder *b, unsigned buffer, uint64_t from, uint64_t to);
/* After the last event: open regions end with their thread or the recording, and rows are sorted.
 * Call when the threads' ends are known. */
void ty_regions_finish(struct ty_builder *b, uint64_t end);
void ty_regions_fini(struct ty_region_log *l);

#endif
