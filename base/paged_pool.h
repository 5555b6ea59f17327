/* SPDX-License-Identifier: MIT */
/*
 * Pieces of memory that never move: beyond a limit they are in an unnamed file (temp_file.h) that
 * is mapped, so that the kernel can take their pages back. Where no such file can be made or
 * enlarged, they are in memory. A piece of the file is reused only after all were freed.
 *
 * Budget: in the file, an addition; every 4 MB one mapping.
 */
#ifndef TY_PAGED_POOL_H
#define TY_PAGED_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ty_paged_pool {
	uint64_t limit; /* bytes in memory at most; 0: no limit */
	uint64_t held;	/* bytes that were given out of memory */
	uint8_t *base;	/* of the file's addresses; NULL: there is no file */
	uint64_t used, mapped;
	int fd;
	bool failed;
};

/* Uninitialised; NULL: out of memory. */
void *ty_paged_pool_alloc(struct ty_paged_pool *p, size_t bytes);
/* Gives a piece back that is in memory, as free does. Any thread may. */
void ty_paged_pool_free(const struct ty_paged_pool *p, void *piece);
/* True if the piece is in the file. */
bool ty_paged_pool_has(const struct ty_paged_pool *p, const void *piece);
/* Frees all that is in the file. */
void ty_paged_pool_fini(struct ty_paged_pool *p);

#endif
