/* SPDX-License-Identifier: MIT */
/*
 * A thread that codes full blocks of tables (table.h) while the builder continues. Jobs are
 * processed in the order in which they were put, so that the store is identical to one built
 * without the thread. While a coder is running, no other code adds to the store.
 */
#ifndef TY_BLOCK_CODER_H
#define TY_BLOCK_CODER_H

#include <stdbool.h>
#include <stdint.h>

struct ty_block_coder;
struct ty_table_fill;

/* NULL: no thread could be created; blocks are then coded by the caller. */
struct ty_block_coder *ty_block_coder_new(void);
/* Waits for all jobs. 0, or the first failure. NULL: 0. */
int ty_block_coder_free(struct ty_block_coder *c);

/*
 * Codes n rows of the track, the last of which ends at end_ns. Takes ownership of rows. When rows
 * is of full size, *spare returns a free buffer of the fill, else NULL. 0, or the first failure so
 * far.
 */
int ty_block_coder_put(struct ty_block_coder *c, struct ty_table_fill *f, uint32_t track,
		       uint8_t *rows, uint32_t n, uint64_t end_ns, bool full, uint8_t **spare);

#endif
