/* SPDX-License-Identifier: MIT */
/*
 * Records of a perf.data file in the order of their times, CPU by CPU. perf writes what it found in
 * its rings one ring after the other; at the end of a round (FINISHED_ROUND) nothing is to come any
 * more that is older than the newest record of the round before (linux
 * tools/perf/util/ordered-events.c). A file without rounds is taken to be in order as far as
 * HOLD_BYTES go; what comes too late all the same counts as lost, in its place.
 *
 * Memory: two rounds, at most HOLD_BYTES and one record per CPU.
 */
#ifndef TY_PERF_QUEUE_H
#define TY_PERF_QUEUE_H

#include "ring_page_writer.h"

struct ty_perf_queue;

/* The sink is borrowed. NULL: out of memory. */
struct ty_perf_queue *ty_perf_queue_new(struct ty_page_sink *k);
void ty_perf_queue_free(struct ty_perf_queue *q);
/* A record of n bytes, copied; cpu < TY_DAT_CPUS_MAX. 0 or -TY_E.... */
int ty_perf_queue_add(struct ty_perf_queue *q, uint32_t cpu, uint64_t ts, const void *p, uint32_t n,
		      struct ty_err *err);
/* Events that were lost on this CPU before ts. */
int ty_perf_queue_lost(struct ty_perf_queue *q, uint32_t cpu, uint64_t ts, uint64_t count,
		       struct ty_err *err);
int ty_perf_queue_round(struct ty_perf_queue *q, struct ty_err *err);
/* Nothing more comes: all streams go to the trace. How many records came too late: *late. */
int ty_perf_queue_finish(struct ty_perf_queue *q, uint64_t *late, struct ty_err *err);

#endif
