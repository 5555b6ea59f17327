/* SPDX-License-Identifier: MIT */
/* See percentiles.h. */
#include "percentiles.h"

#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "huge_alloc.h"
#include "nth_element.h"

/* The initial capacity; from how many stored values small ones are counted, and up to how many
 * their limit rises. */
enum { FIRST = 4, MANY = TY_RANKS_SMALL / 2, MOST = 1 << 23 };

/* Room for so many values is in pieces, of which a few are small. */
enum { INSIDE = 64, PIECE = 64 << 10, PIECES = 4, PIECE_HUGE = 2 << 20 };

static void *allocate(struct ty_ranks_room *m, size_t bytes)
{
	if (m->left < bytes) {
		const size_t n = m->pieces.n < PIECES ? PIECE : PIECE_HUGE;
		uint8_t *p = ty_huge_alloc(n);

		if (!p || vec_push(&m->pieces, p)) {
			free(p);
			return NULL;
		}
		m->left = n;
	}
	m->left -= bytes;
	return m->pieces.v[m->pieces.n - 1] + m->left;
}

/* Room for cap values in place of `was`, which may be NULL. */
static struct ty_ranks_kept *resize(struct ty_ranks_room *m, struct ty_ranks_kept *was,
				    uint64_t cap)
{
	const size_t bytes = sizeof(*was) + cap * sizeof(*was->v);
	const bool inside = !was || was->cap <= INSIDE;
	struct ty_ranks_kept *to;

	m->outside |= cap > INSIDE;
	if (!inside)
		return realloc(was, bytes);
	to = cap > INSIDE ? malloc(bytes) : allocate(m, bytes);
	if (to && was)
		memcpy(to, was, sizeof(*was) + was->n * sizeof(*was->v));
	else if (to)
		*to = (struct ty_ranks_kept){0};
	return to;
}

/* Counts the values below `limit` from now on, if most of those that are stored are. Without memory
 * for that they stay stored. */
static void count(struct ty_ranks *r, uint32_t limit, struct ty_ranks_room *m)
{
	struct ty_ranks_kept *k = r->kept;
	uint32_t large = 0, *more;

	for (uint32_t i = 0; i < k->n; i++)
		large += k->v[i] >= limit;
	if (r->limit && large > k->n / 2)
		return;
	more = realloc(k->small, limit * sizeof(*more));
	if (!more)
		return;
	m->held += (limit - r->limit) * sizeof(*more);
	m->outside = true;
	memset(more + r->limit, 0, (limit - r->limit) * sizeof(*more));
	k->small = more;
	r->limit = limit;
	large = 0;
	for (uint32_t i = 0; i < k->n; i++) {
		if (k->v[i] < limit)
			more[k->v[i]]++;
		else
			k->v[large++] = k->v[i];
	}
	k->n = large;
}

/* Room for more than n stored values. 0 or -TY_ENOMEM. */
static int grow(struct ty_ranks *r, uint32_t n, struct ty_ranks_room *m)
{
	struct ty_ranks_kept *was = r->n ? NULL : r->kept, *more;
	uint64_t cap = was && was->cap > FIRST ? was->cap : FIRST;

	while (cap <= n)
		cap *= cap < MANY ? 4 : 2;
	cap = cap < UINT32_MAX ? cap : UINT32_MAX;
	more = n < cap ? resize(m, was, cap) : NULL;
	if (!more)
		return -TY_ENOMEM;
	m->held += (cap - more->cap) * sizeof(*more->v);
	more->cap = (uint32_t)cap;
	if (!was) {
		for (; more->n < n; more->n++)
			more->v[more->n] = r->one;
		r->n = 0;
	}
	r->kept = more;
	return 0;
}

/* Another value than the n equal ones comes. These are counted, if that takes less than to store
 * them. 0 or -TY_ENOMEM. */
static int expand(struct ty_ranks *r, struct ty_ranks_room *m)
{
	const uint32_t n = r->n;
	const uint64_t one = r->one;
	const bool counts = n >= MANY && one < 2 * (uint64_t)n && one < MOST;
	int e = grow(r, counts ? 0 : n, m);

	if (e || !counts)
		return e;
	count(r, one < TY_RANKS_SMALL ? TY_RANKS_SMALL : (uint32_t)one + 1, m);
	if (one < r->limit) {
		r->kept->small[one] = n;
		return 0;
	}
	e = grow(r, n, m);
	for (; !e && r->kept->n < n; r->kept->n++)
		r->kept->v[r->kept->n] = one;
	return e;
}

int ty_ranks_keep(struct ty_ranks *r, uint64_t v, struct ty_ranks_room *m)
{
	struct ty_ranks_kept *k;

	if (!r->n && !r->kept) {
		r->one = v;
		r->n = 1;
		return 0;
	}
	if (r->n && expand(r, m))
		return -TY_ENOMEM;
	k = r->kept;
	if (k->n == k->cap && k->n >= MANY && k->n <= MOST && 2 * k->n > r->limit)
		count(r, 2 * k->n, m);
	if (v < r->limit) {
		k->small[v]++;
		return 0;
	}
	if (k->n >= k->cap && grow(r, k->n, m))
		return -TY_ENOMEM;
	r->kept->v[r->kept->n++] = v;
	return 0;
}

int ty_ranks_add_many(struct ty_ranks *r, uint64_t v, uint64_t n, struct ty_ranks_room *m)
{
	for (; n; n--) {
		if (v < r->limit) {
			r->kept->small[v] += (uint32_t)n;
			return 0;
		}
		if (r->n && v == r->one) {
			r->n += (uint32_t)n;
			return 0;
		}
		if (ty_ranks_keep(r, v, m))
			return -TY_ENOMEM;
	}
	return 0;
}

uint64_t ty_ranks_count(const struct ty_ranks *r)
{
	uint64_t n = r->n;

	if (n || !r->kept)
		return n;
	for (uint32_t v = 0; v < r->limit; v++)
		n += r->kept->small[v];
	return n + r->kept->n;
}

uint64_t ty_ranks_nth(struct ty_ranks *r, uint64_t k)
{
	struct ty_ranks_kept *of = r->n ? NULL : r->kept;

	if (!of)
		return r->one;
	for (uint32_t v = 0; v < r->limit; v++) {
		if (k < of->small[v])
			return v;
		k -= of->small[v];
	}
	return of->n ? ty_nth_element(of->v, of->n, k < of->n ? k : of->n - 1) : r->limit;
}

void ty_ranks_fini(struct ty_ranks *r)
{
	if (!r->n && r->kept) {
		free(r->kept->small);
		if (r->kept->cap > INSIDE)
			free(r->kept);
	}
	*r = (struct ty_ranks){0};
}

void ty_ranks_room_fini(struct ty_ranks_room *m)
{
	vec_each (p, &m->pieces)
		free(*p);
	vec_fini(&m->pieces);
	*m = (struct ty_ranks_room){0};
}
