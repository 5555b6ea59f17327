/* SPDX-License-Identifier: MIT */
/*
 * Batches in the order of each stream, made ahead by worker threads. One consumer takes the batches
 * of every stream one after the other; workers make those next that the merge will come to next (by
 * the chunks' times), whatever stream they are of, so that one busy CPU's stream uses all cores. A
 * consumer that comes to a chunk nobody has begun makes it itself, and helps while it would wait.
 * Without workers everything is made by the consumer: the results are the same.
 *
 * Memory: one batch per stream in the consumer's hands, and up to the budget of those ahead.
 */
#ifndef TY_BATCH_AHEAD_H
#define TY_BATCH_AHEAD_H

#include "batch.h"

struct ty_batch_ahead;

/* The source is copied, what it points to borrowed. NULL: out of memory. */
struct ty_batch_ahead *ty_batch_ahead_new(const struct ty_batch_source *source);
void ty_batch_ahead_free(struct ty_batch_ahead *a);

/* How many threads work ahead of the consumer, and how much memory what they made may take. */
void ty_batch_ahead_workers(struct ty_batch_ahead *a, unsigned workers, uint64_t memory_bytes);

/* Stop and forget all that is ahead; the batches taken stay the consumer's. */
void ty_batch_ahead_stop(struct ty_batch_ahead *a);
/* Where the consumer will go on in a stream (stopped only). */
void ty_batch_ahead_from(struct ty_batch_ahead *a, uint32_t stream, uint32_t chunk);
/* Every stream has its place: workers may begin. */
void ty_batch_ahead_go(struct ty_batch_ahead *a);

/* The stream's next chunk, as far as ty_batch_more came with it; NULL: out of memory. */
struct ty_batch *ty_batch_ahead_take(struct ty_batch_ahead *a, uint32_t stream);
/* Give a batch back; NULL does nothing. */
void ty_batch_ahead_give(struct ty_batch_ahead *a, struct ty_batch *b);

/* End the workers and free all batches that are not taken. */
void ty_batch_ahead_rest(struct ty_batch_ahead *a);

#endif
