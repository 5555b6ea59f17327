/* SPDX-License-Identifier: MIT */
/* See path_part.h. Hops are in the order in which they were found, depth first: those behind one
 * follow it. Segments are in time order, and those of a hop cover its time. */
#include "path_part.h"

#include <string.h>

#define HOPS 16384 /* are searched */

static uint32_t hop_of(const struct ty_path *all, uint32_t thread, uint32_t span, uint64_t from_ns,
		       uint64_t to_ns)
{
	for (uint32_t i = 0; i < all->hop.n && i < HOPS; i++) {
		const struct ty_hop *h = &all->hop.v[i];

		if (h->span == span && h->thread == thread && h->start_ns == from_ns &&
		    h->end_ns == to_ns)
			return i;
	}
	return TY_NONE;
}

/* The first segment that ends behind t. */
static size_t seg_after(const struct ty_path *all, uint64_t t)
{
	size_t lo = 0, hi = all->seg.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (all->seg.v[mid].end_ns <= t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Would a path of its own have these segments? What is a cycle, or too deep, depends on the waits
 * around it. */
static bool stands_alone(const struct ty_seg *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].what == TY_SEG_LOOP || v[i].what == TY_SEG_UNKNOWN)
			return false;
	return n;
}

int ty_path_part(const struct ty_path *all, uint32_t thread, uint32_t span, uint64_t from_ns,
		 uint64_t to_ns, struct ty_path *out)
{
	uint32_t root, hops = 1;
	size_t first, n;

	if (all->cut || all->inferred ||
	    (root = hop_of(all, thread, span, from_ns, to_ns)) == TY_NONE)
		return 0;
	while (root + hops < all->hop.n && all->hop.v[root + hops].parent != TY_NONE &&
	       all->hop.v[root + hops].parent >= root)
		hops++;
	first = seg_after(all, from_ns);
	n = seg_after(all, to_ns - 1) + 1 - first;
	if (first + n > all->seg.n || all->seg.v[first].start_ns != from_ns ||
	    all->seg.v[first + n - 1].end_ns != to_ns || !stands_alone(&all->seg.v[first], n))
		return 0;
	out->seg.n = out->hop.n = 0;
	out->cut = out->inferred = false;
	if (vec_reserve(&out->seg, n) || vec_reserve(&out->hop, hops))
		return -TY_ENOMEM;
	memcpy(out->seg.v, &all->seg.v[first], n * sizeof(*out->seg.v));
	memcpy(out->hop.v, &all->hop.v[root], hops * sizeof(*out->hop.v));
	out->seg.n = n;
	out->hop.n = hops;
	vec_each (s, &out->seg)
		s->hop -= root;
	vec_each (h, &out->hop)
		h->parent -= root;
	out->hop.v[0].parent = TY_NONE;
	return 1;
}
