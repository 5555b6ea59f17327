/* SPDX-License-Identifier: MIT */
/*
 * Decodes AUX streams in threads, ahead of the merge: each stream has two batches of items, one
 * being read and one being filled. The output does not depend on the number of threads.
 */
#ifndef TY_MEM_PREFETCH_H
#define TY_MEM_PREFETCH_H

#include "mem_sideband.h"

/* Restarts with all queues at their start: allocates batches and starts the threads. 0 or
 * -TY_ENOMEM; continues without threads when they cannot be created. */
int ty_mem_prefetch_start(struct ty_mem_stream *s, unsigned threads);
/* The same at the end of a batch. */
int ty_mem_prefetch_turn(struct ty_mem_stream *s, struct ty_mem_queue *q, struct ty_err *err);
/* Reads the queue's next item into q->item. 1, 0 at its end, or -TY_E.... */
static inline int ty_mem_prefetch_next(struct ty_mem_stream *s, struct ty_mem_queue *q,
				       struct ty_err *err)
{
	const struct ty_mem_batch *b = &q->batch[q->current];

	if (q->at == b->n)
		return ty_mem_prefetch_turn(s, q, err);
	q->item = &b->item[q->at++];
	return 1;
}
/* Ends the threads and frees the batches. In any state. */
void ty_mem_prefetch_stop(struct ty_mem_stream *s);

#endif
