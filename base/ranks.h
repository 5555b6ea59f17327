/* SPDX-License-Identifier: MIT */
/*
 * Numbers of which percentiles are asked for, exactly: once there are some hundred, those below
 * TY_RANKS_SMALL are counted and not kept. Budget: 2 ns per number; 8 bytes per large one.
 */
#ifndef TY_RANKS_H
#define TY_RANKS_H

#include <stdbool.h>
#include <stdint.h>

enum { TY_RANKS_SMALL = 512 };

struct ty_ranks {
	uint64_t *v;	 /* those that are kept: n, room for cap */
	uint32_t *small; /* how many there are of each small number; NULL: all are kept */
	uint32_t n, cap;
};

/* Of a number that is not counted. 0 or -TY_ENOMEM. */
int ty_ranks_keep(struct ty_ranks *r, uint64_t v);
/* At most 2^32 - 1 in all. 0 or -TY_ENOMEM. */
static inline int ty_ranks_add(struct ty_ranks *r, uint64_t v)
{
	if (!r->small || v >= TY_RANKS_SMALL)
		return ty_ranks_keep(r, v);
	r->small[v]++;
	return 0;
}
/* The one that is the k-th (0: the smallest) when they are sorted, of more than k. */
uint64_t ty_ranks_nth(struct ty_ranks *r, uint64_t k);
void ty_ranks_fini(struct ty_ranks *r);

#endif
