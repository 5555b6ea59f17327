/* SPDX-License-Identifier: MIT */
/* See path_part.h. Hops are in the order in which they were found, depth first: those behind one
 * follow it. Segments are in time order, and those of a hop cover its time. */
#include "path_part.h"

#include <string.h>

#include "partition.h"

#define LEAST 32	   /* hops of a path that is worth it */
#define BYTES (128u << 20) /* of all kept paths */

/* The waits of a thread, one before the other, and what is behind them. */
struct run {
	const struct ty_path *p;
	uint32_t parent, thread;  /* of the waits */
	uint32_t first, end;	  /* hops; the waits are in reverse order of time */
	size_t seg, seg_end;	  /* segments */
	unsigned before_n, depth; /* the threads that are waiting for this one */
	uint32_t before[TY_PATH_DEPTH];
	uint64_t seen; /* bits of them, modulo 64 */
};

static bool waits_before(const struct run *r, uint32_t thread)
{
	for (unsigned k = 0; r->seen >> thread % 64 & 1 && k < r->before_n; k++)
		if (r->before[k] == thread)
			return true;
	return false;
}

/* Would this be the same behind other waits than in the kept path? What is a cycle, or too deep,
 * depends on them. */
static bool seg_fits(const struct run *r, const struct ty_seg *s)
{
	return s->what != TY_SEG_LOOP && s->what != TY_SEG_UNKNOWN &&
	       (s->hop == r->parent ? s->thread == r->thread
				    : s->hop >= r->first && s->hop != TY_NONE) &&
	       !waits_before(r, s->thread);
}

static bool hop_fits(const struct run *r, const struct ty_hop *h)
{
	return h->depth - r->depth + r->before_n < TY_PATH_DEPTH - 1 &&
	       !waits_before(r, h->waker.thread);
}

/* Adds the wait `at` of the kept path and what is behind it. False: it may differ. */
static bool extend(struct run *r, uint32_t at)
{
	const struct ty_path *p = r->p;
	uint32_t end = at;
	size_t seg = r->seg;

	do {
		if (!hop_fits(r, &p->hop.v[end]))
			return false;
	} while (++end < p->hop.n && p->hop.v[end].parent != TY_NONE && p->hop.v[end].parent >= at);
	for (; seg && p->seg.v[seg - 1].start_ns >= p->hop.v[at].start_ns; seg--)
		if (!seg_fits(r, &p->seg.v[seg - 1]))
			return false;
	if (seg == r->seg_end || p->seg.v[seg].start_ns != p->hop.v[at].start_ns)
		return false;
	r->end = end;
	r->seg = seg;
	return true;
}

/* The waits of the thread in the kept path from hop `at` back, which ends at to_ns in this span. */
static bool run_from(struct run *r, uint32_t at, const struct ty_span *s, uint64_t from_ns,
		     uint64_t to_ns)
{
	const struct ty_hop *hop = r->p->hop.v, *h = &hop[at];
	const struct ty_seg *seg = r->p->seg.v;
	uint64_t least;

	r->parent = h->parent;
	r->thread = h->thread;
	r->first = r->end = at;
	r->depth = h->depth;
	least = h->parent == TY_NONE ? seg[0].start_ns : hop[h->parent].start_ns;
	least = least > from_ns ? least : from_ns;
	/* One that began before is cut off where the window begins; but attempts before it are not
	 * looked for where it begins at once. */
	if (h->start_ns >= h->end_ns ||
	    (h->start_ns <= least && (h->start_ns != s->start_ns || h->start_ns != from_ns)))
		return false;
	r->seg_end = partition_point(i, (size_t)0, r->p->seg.n, seg[i].end_ns <= h->end_ns);
	/* From what woke it to its end. */
	if (h->end_ns < to_ns && r->seg_end < r->p->seg.n && seg[r->seg_end].hop == h->parent &&
	    seg[r->seg_end].span == h->span && seg[r->seg_end].start_ns == h->end_ns)
		r->seg_end++;
	r->seg = r->seg_end;
	if (!r->seg || seg[r->seg - 1].end_ns != to_ns || !extend(r, at))
		return false;
	while (r->end < r->p->hop.n && hop[r->end].parent == r->parent &&
	       hop[r->end].thread == r->thread && hop[r->end].start_ns > least && extend(r, r->end))
		;
	return true;
}

static int append(const struct run *r, uint32_t parent, struct ty_path *out)
{
	uint32_t base = (uint32_t)out->hop.n;

	if (vec_reserve(&out->seg, out->seg.n + r->seg_end - r->seg) ||
	    vec_reserve(&out->hop, out->hop.n + r->end - r->first))
		return -TY_ENOMEM;
	for (size_t i = r->seg_end; i-- > r->seg;) {
		struct ty_seg s = r->p->seg.v[i];

		s.hop = s.hop == r->parent ? parent : s.hop - r->first + base;
		out->seg.v[out->seg.n++] = s;
	}
	for (uint32_t i = r->first; i < r->end; i++) {
		struct ty_hop h = r->p->hop.v[i];

		h.parent = h.parent == r->parent ? parent : h.parent - r->first + base;
		h.depth = (uint8_t)(h.depth - r->depth + r->before_n);
		out->hop.v[out->hop.n++] = h;
	}
	return (int)(r->end - r->first);
}

int ty_path_part(const struct ty_kept_paths *k, const struct ty_span *s, uint32_t span,
		 uint64_t from_ns, uint64_t to_ns, uint32_t parent, struct ty_path *out)
{
	struct run r = {.seen = 0};

	for (uint32_t i = parent; i != TY_NONE && r.before_n < TY_PATH_DEPTH;
	     i = out->hop.v[i].parent) {
		r.before[r.before_n++] = out->hop.v[i].thread;
		r.seen |= UINT64_C(1) << out->hop.v[i].thread % 64;
	}
	for (unsigned i = 0; i < TY_PATHS_KEPT; i++) {
		r.p = &k->v[i].p;
		hash_each (at, &k->v[i].by_span, span)
			if (r.p->hop.v[at].thread == s->thread &&
			    run_from(&r, at, s, from_ns, to_ns) &&
			    out->seg.n + r.seg_end - r.seg <= TY_PATH_SEGS)
				return append(&r, parent, out);
	}
	return 0;
}

static size_t bytes_of(const struct ty_path *p)
{
	return p->seg.n * sizeof(*p->seg.v) + p->hop.n * sizeof(*p->hop.v);
}

int ty_path_keep(struct ty_kept_paths *k, const struct ty_path *p, size_t found)
{
	struct ty_kept_path *least = &k->v[0];
	size_t bytes = bytes_of(p), most = k->bytes && k->bytes < BYTES ? k->bytes : BYTES;

	for (unsigned i = 0; i < TY_PATHS_KEPT; i++) {
		least = k->v[i].found < least->found ? &k->v[i] : least;
		bytes += bytes_of(&k->v[i].p);
	}
	if (p->cut || p->inferred || p->bound || bytes - bytes_of(&least->p) > most ||
	    found < LEAST || found <= least->found)
		return 0;
	ty_hash_clear(&least->by_span);
	least->found = 0;
	least->p.hop.n = least->p.seg.n = 0;
	if (vec_reserve(&least->p.seg, p->seg.n) || vec_reserve(&least->p.hop, p->hop.n))
		return -TY_ENOMEM;
	memcpy(least->p.seg.v, p->seg.v, p->seg.n * sizeof(*p->seg.v));
	memcpy(least->p.hop.v, p->hop.v, p->hop.n * sizeof(*p->hop.v));
	for (uint32_t i = 0; i < p->hop.n; i++)
		if (ty_hash_add(&least->by_span, p->hop.v[i].span, i))
			return -TY_ENOMEM;
	least->p.seg.n = p->seg.n;
	least->p.hop.n = p->hop.n;
	least->found = found;
	return 0;
}

void ty_kept_paths_fini(struct ty_kept_paths *k)
{
	for (unsigned i = 0; i < TY_PATHS_KEPT; i++) {
		vec_fini(&k->v[i].p.seg);
		vec_fini(&k->v[i].p.hop);
		ty_hash_fini(&k->v[i].by_span);
	}
}
