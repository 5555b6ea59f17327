/* SPDX-License-Identifier: MIT */
/*
 * Exact percentiles of a stream of numbers. As long as all are equal only one is kept. After some
 * hundred values, small ones are counted instead of stored: those below TY_RANKS_SMALL at first,
 * and below twice the number of stored ones whenever half of these are. Budget: 2 ns per value; 8
 * bytes per stored value.
 */
#ifndef TY_PERCENTILES_H
#define TY_PERCENTILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vec.h"

enum { TY_RANKS_SMALL = 512 };

/* What there is of values that differ. */
struct ty_ranks_kept {
	uint32_t *small; /* how often each value below the limit came */
	uint32_t n, cap; /* stored values, and room for them */
	uint64_t v[];
};

/* 16 bytes, because there are many of which all values are equal. */
struct ty_ranks {
	union {
		uint64_t one;		    /* came n times */
		struct ty_ranks_kept *kept; /* without n; NULL: no values */
	};
	uint32_t n;
	uint32_t limit; /* smaller values are counted; 0: all are stored */
};

/* The memory of many: freed all at once. Zeroed at first. Values that move to more room leave a
 * third of that unused behind, for up to 64. */
struct ty_ranks_room {
	size_t held; /* bytes that the values take */
	VEC(uint8_t *) pieces;
	size_t left;  /* bytes of the last one */
	bool outside; /* some have memory of their own, for ty_ranks_fini */
};

/* Stores a value that is not counted. 0 or -TY_ENOMEM. */
int ty_ranks_keep(struct ty_ranks *r, uint64_t v, struct ty_ranks_room *m);
/* Adds a value, at most 2^32 - 1 in all; the memory is m's. 0 or -TY_ENOMEM. */
static inline __attribute__((always_inline)) int ty_ranks_add(struct ty_ranks *r, uint64_t v,
							      struct ty_ranks_room *m)
{
	if (v < r->limit)
		r->kept->small[v]++;
	else if (r->n && v == r->one)
		r->n++;
	else
		return ty_ranks_keep(r, v, m);
	return 0;
}
/* As ty_ranks_add, n times; with all others at most 2^32 - 1. */
int ty_ranks_add_many(struct ty_ranks *r, uint64_t v, uint64_t n, struct ty_ranks_room *m);
/* How many values there are. */
uint64_t ty_ranks_count(const struct ty_ranks *r);
/* The k-th smallest (0: the smallest) of more than k values. */
uint64_t ty_ranks_nth(struct ty_ranks *r, uint64_t k);
void ty_ranks_fini(struct ty_ranks *r);
void ty_ranks_room_fini(struct ty_ranks_room *m);

#endif
