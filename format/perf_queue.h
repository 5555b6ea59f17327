/* SPDX-License-Identifier: MIT */
/*
 * Sorts records of a perf.data file by time, per CPU. perf drains its rings one after the other;
 * after a round (FINISHED_ROUND) no record can follow that is older than the newest record of the
 * previous round (linux tools/perf/util/ordered-events.c). A file without rounds is assumed to be
 * ordered within HOLD_BYTES; a record that comes too late counts as lost at its time.
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
/* Adds a record of n bytes, copied; cpu < TY_DAT_CPUS_MAX. 0 or -TY_E.... */
int ty_perf_queue_add(struct ty_perf_queue *q, uint32_t cpu, uint64_t ts, const void *p, uint32_t n,
		      struct ty_err *err);
/* Adds a loss of `count` events on this CPU before ts. */
int ty_perf_queue_lost(struct ty_perf_queue *q, uint32_t cpu, uint64_t ts, uint64_t count,
		       struct ty_err *err);
int ty_perf_queue_round(struct ty_perf_queue *q, struct ty_err *err);
/* Flushes all streams to the trace. *late is the number of records that came too late. */
int ty_perf_queue_finish(struct ty_perf_queue *q, uint64_t *late, struct ty_err *err);

#endif
