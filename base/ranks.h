/* SPDX-License-Identifier: MIT */
/*
 * Exact percentiles of a stream of numbers. As long as all are equal only one is kept. After some
 * hundred values, small ones are counted instead of stored: those below TY_RANKS_SMALL at first,
 * and below twice the number of stored ones whenever half of these are. Budget: 2 ns per value; 8
 * bytes per stored value.
 */
#ifndef TY_RANKS_H
#define TY_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Stores a value that is not counted. 0 or -TY_ENOMEM. */
int ty_ranks_keep(struct ty_ranks *r, uint64_t v, size_t *held);
/* Adds a value, at most 2^32 - 1 in all; to *held, which may be of many, the memory that this
 * takes. 0 or -TY_ENOMEM. */
static inline __attribute__((always_inline)) int ty_ranks_add(struct ty_ranks *r, uint64_t v,
							      size_t *held)
{
	if (v < r->limit)
		r->kept->small[v]++;
	else if (r->n && v == r->one)
		r->n++;
	else
		return ty_ranks_keep(r, v, held);
	return 0;
}
/* As ty_ranks_add, n times; with all others at most 2^32 - 1. */
int ty_ranks_add_many(struct ty_ranks *r, uint64_t v, uint64_t n, size_t *held);
/* How many values there are. */
uint64_t ty_ranks_count(const struct ty_ranks *r);
/* The k-th smallest (0: the smallest) of more than k values. */
uint64_t ty_ranks_nth(struct ty_ranks *r, uint64_t k);
void ty_ranks_fini(struct ty_ranks *r);

#endif
