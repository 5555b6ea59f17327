/* SPDX-License-Identifier: MIT */
/*
 * Prefetching of batches by worker threads. One consumer takes the batches of each stream in order;
 * workers prepare those that the merge will need next (by the chunks' times), of any stream, so
 * that one busy CPU's stream uses all cores. When no worker has started the chunk that the consumer
 * needs, the consumer prepares it, and it prepares other chunks instead of waiting. Without workers
 * the consumer does everything; the results are the same.
 *
 * Memory: one batch per stream held by the consumer, and prefetched batches up to the budget.
 */
#ifndef TY_BATCH_PREFETCH_H
#define TY_BATCH_PREFETCH_H

#include "batch.h"

struct ty_batch_prefetch;

/* The source is copied; what it points to is borrowed. NULL: out of memory. */
struct ty_batch_prefetch *ty_batch_prefetch_new(const struct ty_batch_source *source);
void ty_batch_prefetch_free(struct ty_batch_prefetch *a);

/* Sets the number of workers and the memory limit for prefetched batches. */
void ty_batch_prefetch_workers(struct ty_batch_prefetch *a, unsigned workers,
			       uint64_t memory_bytes);

/* Stops and discards all prefetched batches; batches already taken stay with the consumer. */
void ty_batch_prefetch_stop(struct ty_batch_prefetch *a);
/* Sets the consumer's position in a stream (only while stopped). */
void ty_batch_prefetch_from(struct ty_batch_prefetch *a, uint32_t stream, uint32_t chunk);
/* All positions are set: workers may start. */
void ty_batch_prefetch_go(struct ty_batch_prefetch *a);

/* Takes the stream's next chunk, with the items of one ty_batch_more; NULL: out of memory. */
struct ty_batch *ty_batch_prefetch_take(struct ty_batch_prefetch *a, uint32_t stream);
/* Returns a batch; NULL has no effect. */
void ty_batch_prefetch_give(struct ty_batch_prefetch *a, struct ty_batch *b);

/* Ends the workers and frees all batches that are not taken. */
void ty_batch_prefetch_rest(struct ty_batch_prefetch *a);

#endif
