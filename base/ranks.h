/* SPDX-License-Identifier: MIT */
/*
 * Exact percentiles of a stream of numbers. After some hundred values, small ones are counted
 * instead of stored: those below TY_RANKS_SMALL at first, and below twice the number of stored ones
 * whenever half of these are. Budget: 2 ns per value; 8 bytes per stored value.
 */
#ifndef TY_RANKS_H
#define TY_RANKS_H

#include <stdbool.h>
#include <stdint.h>

enum { TY_RANKS_SMALL = 512 };

struct ty_ranks {
	/* Stored values: n, room for cap. Without room, a single one. */
	union {
		uint64_t *v;
		uint64_t one;
	};
	uint32_t *small; /* counts of the values below: */
	uint32_t limit;	 /* 0: all values are stored */
	uint32_t n, cap;
};

/* Stores a value that is not counted. 0 or -TY_ENOMEM. */
int ty_ranks_keep(struct ty_ranks *r, uint64_t v);
/* Adds a value, at most 2^32 - 1 in all. 0 or -TY_ENOMEM. */
static inline int ty_ranks_add(struct ty_ranks *r, uint64_t v)
{
	if (v >= r->limit)
		return ty_ranks_keep(r, v);
	r->small[v]++;
	return 0;
}
/* The k-th smallest (0: the smallest) of more than k values. */
uint64_t ty_ranks_nth(struct ty_ranks *r, uint64_t k);
void ty_ranks_fini(struct ty_ranks *r);

#endif
