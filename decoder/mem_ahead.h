/* SPDX-License-Identifier: MIT */
/*
 * AUX streams decoded ahead of who merges them, by threads: each stream has two batches of items,
 * one that is looked at and one that is filled meanwhile. What comes out is the same with any
 * number of threads.
 */
#ifndef TY_MEM_AHEAD_H
#define TY_MEM_AHEAD_H

#include "mem_sideband.h"

/* Begin anew with the queues at their start: batches of some items for all, and the threads.
 * 0 or -TY_ENOMEM; without threads where they cannot be made. */
int ty_mem_ahead_start(struct ty_mem_stream *s, unsigned threads);
/* The same at a batch's end. */
int ty_mem_ahead_turn(struct ty_mem_stream *s, struct ty_mem_queue *q, struct ty_err *err);
/* The queue's next item into q->item. 1, 0 at its end, or -TY_E.... */
static inline int ty_mem_ahead_next(struct ty_mem_stream *s, struct ty_mem_queue *q,
				    struct ty_err *err)
{
	const struct ty_mem_batch *b = &q->batch[q->current];

	if (q->at == b->n)
		return ty_mem_ahead_turn(s, q, err);
	q->item = &b->item[q->at++];
	return 1;
}
/* Wait for the threads and end them; batches are given back. In any state. */
void ty_mem_ahead_stop(struct ty_mem_stream *s);

#endif
