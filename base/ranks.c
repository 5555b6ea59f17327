/* SPDX-License-Identifier: MIT */
/* See ranks.h. */
#include "ranks.h"

#include <stdlib.h>

#include "err.h"
#include "nth_element.h"

enum {
	FIRST = 4,
	MANY = 256
}; /* initial capacity; number of values from which small ones are
    * counted */

/* Switches to counting small values. */
static void count(struct ty_ranks *r)
{
	uint32_t large = 0;

	r->small = calloc(TY_RANKS_SMALL, sizeof(*r->small));
	for (uint32_t i = 0; r->small && i < r->n; i++) {
		if (r->v[i] < TY_RANKS_SMALL)
			r->small[r->v[i]]++;
		else
			r->v[large++] = r->v[i];
	}
	r->n = r->small ? large : r->n;
}

int ty_ranks_keep(struct ty_ranks *r, uint64_t v)
{
	if (r->n == MANY && !r->small)
		count(r); /* when out of memory, all values stay stored */
	if (r->small && v < TY_RANKS_SMALL) {
		r->small[v]++;
		return 0;
	}
	if (r->n == r->cap) {
		uint32_t cap = !r->cap			 ? FIRST
			       : r->cap < MANY		 ? 4 * r->cap
			       : r->cap > UINT32_MAX / 2 ? UINT32_MAX
							 : 2 * r->cap;
		uint64_t *more = r->n < cap ? realloc(r->v, cap * sizeof(*more)) : NULL;

		if (!more)
			return -TY_ENOMEM;
		r->v = more;
		r->cap = cap;
	}
	r->v[r->n++] = v;
	return 0;
}

uint64_t ty_ranks_nth(struct ty_ranks *r, uint64_t k)
{
	for (uint64_t v = 0; r->small && v < TY_RANKS_SMALL; v++) {
		if (k < r->small[v])
			return v;
		k -= r->small[v];
	}
	return ty_nth_element(r->v, r->n, k);
}

void ty_ranks_fini(struct ty_ranks *r)
{
	free(r->v);
	free(r->small);
	*r = (struct ty_ranks){0};
}
