/* SPDX-License-Identifier: MIT */
/* Blocks of threads' spans, decoded once: the paths of many waits lead through the same runs of one
 * thread. */
#ifndef TY_SPAN_BLOCKS_H
#define TY_SPAN_BLOCKS_H

#include "explain.h"

struct ty_span_block {
	uint32_t thread, first, n; /* its first span; n 0: none was read */
	struct ty_span_rows rows;
	uint8_t own[TY_ROWS]; /* of runs: 0: not examined; 1: ty_span_own_run; 2: not so */
};

/* NULL: out of memory. To be freed. */
struct ty_span_blocks *ty_span_blocks_new(void);
/* The block with this span of the thread. Cost: once for most, the decoding of 512 spans. */
struct ty_span_block *ty_span_block(struct ty_span_blocks *b, const struct ty_model *m,
				    uint32_t thread, uint32_t span);
/* Was all of the run of this row of the block the thread's own: neither spent on a wait for a lock
 * (futex_waker.h) nor stolen (steal.h)? */
bool ty_span_own_run(const struct ty_explain *x, struct ty_span_block *b, uint32_t row);

#endif
