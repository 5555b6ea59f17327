/* SPDX-License-Identifier: MIT */
/*
 * A growing array of bytes that may be larger than memory should be: beyond a limit they are in an
 * unnamed file (temp_file.h) that is mapped, so that the kernel can take their pages back. Where no
 * such file can be made or enlarged, as on a full disk, they are in memory.
 */
#ifndef TY_PAGED_BYTES_H
#define TY_PAGED_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "err.h"

struct ty_paged {
	char *p;
	size_t n, room; /* in use; allocated */
	uint64_t limit; /* bytes in memory at most; 0: no limit */
	bool mapped;
	int fd; /* if mapped */
};

/* Of a memory limit, what one such array may take. */
static inline uint64_t ty_paged_limit(uint64_t memory_bytes)
{
	return memory_bytes / 8;
}

/* Room for that many bytes in all. 0 or -TY_ENOMEM, which leaves b as it is. */
int ty_paged_reserve(struct ty_paged *b, size_t bytes);
void ty_paged_fini(struct ty_paged *b);

static inline int ty_paged_add(struct ty_paged *b, const void *p, size_t n)
{
	if (b->room - b->n < n && ty_paged_reserve(b, b->n + n))
		return -TY_ENOMEM;
	memcpy(b->p + b->n, p, n);
	b->n += n;
	return 0;
}

#endif
