/* SPDX-License-Identifier: MIT */
/*
 * A thread that codes full blocks of tables (table.h) while the builder continues: jobs are done
 * one after the other in the order in which they were put, so that the store is what it would be
 * without the thread. While a coder works, nobody else adds to the store.
 */
#ifndef TY_BLOCK_CODER_H
#define TY_BLOCK_CODER_H

#include <stdbool.h>
#include <stdint.h>

struct ty_block_coder;
struct ty_table_fill;

/* NULL: no thread to be had; blocks are coded by who fills them. */
struct ty_block_coder *ty_block_coder_new(void);
/* Waits for all jobs. 0, or the first failure. NULL: 0. */
int ty_block_coder_free(struct ty_block_coder *c);

/*
 * Code n rows of the track, the last of which ends at end_ns. rows is taken over; when it is of
 * full size, a buffer of the fill's that is free again comes back in *spare, else NULL. 0, or the
 * first failure so far.
 */
int ty_block_coder_put(struct ty_block_coder *c, struct ty_table_fill *f, uint32_t track,
		       uint8_t *rows, uint32_t n, uint64_t end_ns, bool full, uint8_t **spare);

#endif
