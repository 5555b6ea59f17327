/* SPDX-License-Identifier: MIT */
/* See ranks.h. */
#include "ranks.h"

#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "nth_element.h"

/* The initial capacity; from how many stored values small ones are counted, and up to how many
 * their limit rises. */
enum { FIRST = 4, MANY = TY_RANKS_SMALL / 2, MOST = 1 << 23 };

/* Counts the values below `limit` from now on, if most of those that are stored are. Without memory
 * for that they stay stored. */
static void count(struct ty_ranks *r, uint32_t limit)
{
	uint32_t large = 0, *more;

	for (uint32_t i = 0; i < r->n; i++)
		large += r->v[i] >= limit;
	if (r->limit && large > r->n / 2)
		return;
	more = realloc(r->small, limit * sizeof(*more));
	if (!more)
		return;
	memset(more + r->limit, 0, (limit - r->limit) * sizeof(*more));
	r->small = more;
	r->limit = limit;
	large = 0;
	for (uint32_t i = 0; i < r->n; i++) {
		if (r->v[i] < limit)
			more[r->v[i]]++;
		else
			r->v[large++] = r->v[i];
	}
	r->n = large;
}

int ty_ranks_keep(struct ty_ranks *r, uint64_t v)
{
	if (r->n == r->cap && r->n >= MANY && r->n <= MOST && 2 * r->n > r->limit)
		count(r, 2 * r->n);
	if (v < r->limit) {
		r->small[v]++;
		return 0;
	}
	if (!r->n && !r->cap) {
		r->one = v;
		r->n = 1;
		return 0;
	}
	if (r->n >= r->cap) {
		const uint64_t one = r->one;
		uint32_t cap = !r->cap			 ? FIRST
			       : r->cap < MANY		 ? 4 * r->cap
			       : r->cap > UINT32_MAX / 2 ? UINT32_MAX
							 : 2 * r->cap;
		uint64_t *more =
			r->n < cap ? realloc(r->cap ? r->v : NULL, cap * sizeof(*more)) : NULL;

		if (!more)
			return -TY_ENOMEM;
		if (!r->cap)
			*more = one;
		r->v = more;
		r->cap = cap;
	}
	r->v[r->n++] = v;
	return 0;
}

uint64_t ty_ranks_nth(struct ty_ranks *r, uint64_t k)
{
	for (uint32_t v = 0; v < r->limit; v++) {
		if (k < r->small[v])
			return v;
		k -= r->small[v];
	}
	return ty_nth_element(r->cap ? r->v : &r->one, r->n, k);
}

void ty_ranks_fini(struct ty_ranks *r)
{
	if (r->cap)
		free(r->v);
	free(r->small);
	*r = (struct ty_ranks){0};
}
