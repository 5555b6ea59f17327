/* SPDX-License-Identifier: MIT */
/*
 * Exact percentiles of a stream of numbers. After some hundred values, those below TY_RANKS_SMALL
 * are counted instead of stored. Budget: 2 ns per value; 8 bytes per large value.
 */
#ifndef TY_RANKS_H
#define TY_RANKS_H

#include <stdbool.h>
#include <stdint.h>

enum { TY_RANKS_SMALL = 512 };

struct ty_ranks {
	uint64_t *v;	 /* stored values: n, room for cap */
	uint32_t *small; /* count of each small value; NULL: all values are stored */
	uint32_t n, cap;
};

/* Stores a value that is not counted. 0 or -TY_ENOMEM. */
int ty_ranks_keep(struct ty_ranks *r, uint64_t v);
/* Adds a value, at most 2^32 - 1 in all. 0 or -TY_ENOMEM. */
static inline int ty_ranks_add(struct ty_ranks *r, uint64_t v)
{
	if (!r->small || v >= TY_RANKS_SMALL)
		return ty_ranks_keep(r, v);
	r->small[v]++;
	return 0;
}
/* The k-th smallest (0: the smallest) of more than k values. */
uint64_t ty_ranks_nth(struct ty_ranks *r, uint64_t k);
void ty_ranks_fini(struct ty_ranks *r);

#endif
