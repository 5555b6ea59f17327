/* SPDX-License-Identifier: MIT */
/*
 * Statistics of a time range on some tracks: per kind (state of a thread or CPU, system call)
 * number and length of spans, clipped to the range, so that the states of one thread sum up to it.
 * Computed in steps, so that input stays responsive.
 */
#ifndef TY_RANGE_STATS_H
#define TY_RANGE_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "model.h"

struct ty_range_kind {
	uint8_t track;	/* enum ty_track_kind: whose spans these are */
	uint8_t state;	/* enum ty_state; of system calls RUNNING */
	uint8_t abi;	/* of system calls: enum ty_abi, and */
	int32_t nr;	/* the number; else -1 */
	uint64_t spans; /* that overlap the range */
	uint64_t total_ns, mean_ns, max_ns;
	uint64_t p50_ns, p99_ns; /* nearest rank, rounded down by less than 0.1 % */
	uint32_t max_thread;	 /* thread of the longest; TY_NONE: a CPU's */
	uint64_t max_at_ns;	 /* its start, within the range */
};

struct ty_range_stats;

/* tracks are copied. NULL: out of memory. Memory: 4 KB per kind and octave of lengths. */
struct ty_range_stats *ty_range_stats_new(const struct ty_model *m, const struct ty_track *tracks,
					  uint32_t n, uint64_t from_ns, uint64_t to_ns);
void ty_range_stats_free(struct ty_range_stats *s);
/* Processes about `budget` further spans: 1: more to do; 0: done; -TY_ENOMEM. */
int ty_range_stats_step(struct ty_range_stats *s, uint32_t budget);
/* When done: states first, then system calls, each by total time. Borrowed. */
const struct ty_range_kind *ty_range_stats_kinds(const struct ty_range_stats *s, uint32_t *n);

#endif
