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
static void count(struct ty_ranks *r, uint32_t limit, size_t *held)
{
	uint32_t large = 0, *more;

	for (uint32_t i = 0; i < r->n; i++)
		large += r->v[i] >= limit;
	if (r->limit && large > r->n / 2)
		return;
	more = realloc(r->small, limit * sizeof(*more));
	if (!more)
		return;
	*held += (limit - r->limit) * sizeof(*more);
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

/* Room for more values. 0 or -TY_ENOMEM. */
static int grow(struct ty_ranks *r, size_t *held)
{
	const uint64_t one = r->one;
	uint64_t cap = r->cap < FIRST ? FIRST : r->cap, *more;

	while (cap <= r->n)
		cap *= cap < MANY ? 4 : 2;
	cap = cap < UINT32_MAX ? cap : UINT32_MAX;
	more = r->n < cap ? realloc(r->cap ? r->v : NULL, cap * sizeof(*more)) : NULL;
	if (!more)
		return -TY_ENOMEM;
	for (uint32_t i = 0; !r->cap && i < r->n; i++)
		more[i] = one;
	*held += (cap - r->cap) * sizeof(*more);
	r->v = more;
	r->cap = (uint32_t)cap;
	return 0;
}

/* Many that were equal are counted before another one comes, if that takes less than to store
 * them. */
static void count_equal(struct ty_ranks *r, size_t *held)
{
	const uint32_t n = r->n, one = (uint32_t)r->one;

	if (n < MANY || r->one >= 2 * (uint64_t)n || r->one >= MOST)
		return;
	r->n = 0;
	count(r, one < TY_RANKS_SMALL ? TY_RANKS_SMALL : one + 1, held);
	if (one < r->limit)
		r->small[one] = n;
	else
		r->n = n;
}

int ty_ranks_keep(struct ty_ranks *r, uint64_t v, size_t *held)
{
	if (!r->cap && v != r->one)
		count_equal(r, held);
	if (r->n == r->cap && r->n >= MANY && r->n <= MOST && 2 * r->n > r->limit)
		count(r, 2 * r->n, held);
	if (v < r->limit) {
		r->small[v]++;
		return 0;
	}
	if (!r->cap && (!r->n || v == r->one)) {
		r->one = v;
		r->n++;
		return 0;
	}
	if (r->n >= r->cap && grow(r, held))
		return -TY_ENOMEM;
	r->v[r->n++] = v;
	return 0;
}

int ty_ranks_add_many(struct ty_ranks *r, uint64_t v, uint64_t n, size_t *held)
{
	for (; n; n--) {
		if (v < r->limit) {
			r->small[v] += (uint32_t)n;
			return 0;
		}
		if (!r->cap && r->n && v == r->one) {
			r->n += (uint32_t)n;
			return 0;
		}
		if (ty_ranks_keep(r, v, held))
			return -TY_ENOMEM;
	}
	return 0;
}

uint64_t ty_ranks_nth(struct ty_ranks *r, uint64_t k)
{
	for (uint32_t v = 0; v < r->limit; v++) {
		if (k < r->small[v])
			return v;
		k -= r->small[v];
	}
	if (!r->cap || !r->n)
		return r->cap ? r->limit : r->one;
	return ty_nth_element(r->v, r->n, k < r->n ? k : r->n - 1);
}

void ty_ranks_fini(struct ty_ranks *r)
{
	if (r->cap)
		free(r->v);
	free(r->small);
	*r = (struct ty_ranks){0};
}
