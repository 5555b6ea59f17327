/* SPDX-License-Identifier: MIT */
/*
 * See flow_priv.h: divides streams into ranges, from one PSB to another, and reads the bytes of
 * ranges. A start examines only one PSB of each block of a stream (flow_search.c). Where their
 * times increase, as they do in one stream, the part between two of them is one coarse range, which
 * is split when a window needs it. A window of 100 MB therefore costs some 200 short reads, and
 * nothing of a stream need be kept between windows. A stream in which these PSBs are irregular (a
 * time that decreases or is missing, a truncated header) is searched as a whole.
 *
 * The selection for a window does not depend on earlier windows: coarse ranges are selected by
 * their start, which a split does not change, then the ranges inside them. A time that rises and
 * falls again between two of these PSBs is therefore seen in windows around that time, and in the
 * whole recording, but not elsewhere.
 */
#include <stdlib.h>

#include "compare.h"
#include "flow_priv.h"
#include "partition.h"

enum { BLOCK = 1 << 20 };

ORDER(by_size, size_t, compare(*a, *b))

ORDER(by_owner, struct ty_flow_lost, compare(a->whose, b->whose) ?: compare(a->off, b->off))

/* In order, each once: a piece then holds no more of them than bytes. */
static void sort_lost(ty_flow_losts *l)
{
	size_t n = 0;

	vec_sort(l, by_owner);
	for (size_t i = 0; i < l->n; i++)
		if (!n || by_owner(&l->v[n - 1], &l->v[i]))
			l->v[n++] = l->v[i];
	l->n = n;
}

/* The first one of them at or behind. */
static size_t lost_from(const ty_flow_losts *l, int32_t whose, uint64_t off)
{
	const struct ty_flow_lost want = {.off = off, .whose = whose};
	return partition_point(i, 0, l->n, by_owner(&l->v[i], &want) < 0);
}

/* The places of what was lost, from AUX records and from jumps, in order and once each. */
static int place_losses(struct ty_flow *f, struct ty_flow_stream *s)
{
	const ty_flow_losts *l = s->tid < 0 ? &f->lost_cpu : &f->lost_tid;
	const int32_t whose = s->tid < 0 ? s->cpu : s->tid;
	size_t n = 0;

	for (size_t i = 0; i < s->pieces.n; i++) {
		const struct ty_flow_piece *p = &s->pieces.v[i];
		size_t size = ty_flow_piece_end(s, i) - p->at;
		bool continues = i && p[-1].off + (p->at - p[-1].at) == p->off;
		size_t x = continues || p->off < UINT64_MAX
				   ? lost_from(l, whose, p->off + !continues)
				   : l->n;

		if (i && !continues && vec_push(&s->cuts, p->at))
			return -TY_ENOMEM;
		for (; x < l->n && l->v[x].whose == whose && l->v[x].off - p->off < size; x++)
			if (vec_push(&s->cuts, p->at + (size_t)(l->v[x].off - p->off)))
				return -TY_ENOMEM;
	}
	vec_sort(&s->cuts, by_size);
	for (size_t i = 0; i < s->cuts.n; i++)
		if (!n || s->cuts.v[n - 1] != s->cuts.v[i])
			s->cuts.v[n++] = s->cuts.v[i];
	s->cuts.n = n;
	return 0;
}

uint64_t ty_flow_lost_at(const struct ty_flow_stream *s, size_t at)
{
	/* Mostly that of the range read last. */
	size_t i = s->flow->ahead.piece;
	const struct ty_flow_piece *p;
	uint64_t end;

	if (i >= s->pieces.n || s->pieces.v[i].at != at)
		i = partition_point(k, 0, s->pieces.n, s->pieces.v[k].at < at);
	p = &s->pieces.v[i];

	if (!i || i == s->pieces.n || p->at != at)
		return 0;
	end = p[-1].off + (p->at - p[-1].at);
	return p->off > end ? p->off - end : 0;
}

size_t ty_flow_range_bytes(const struct ty_flow_range *r)
{
	size_t n = r->end - r->at.off, rest = r->seg_hi - r->end;

	if (r->blind && n > TY_FLOW_HEADER_MAX)
		n = TY_FLOW_HEADER_MAX; /* there is no PSB in it, and nothing more is known of it */
	return n + (rest < TY_FLOW_HEADER_MAX ? rest : TY_FLOW_HEADER_MAX);
}

int ty_flow_range_read(const struct ty_flow *f, struct ty_flow_ahead *a,
		       const struct ty_flow_range *r, struct ty_buf *b)
{
	size_t n = ty_flow_range_bytes(r);
	int e;

	ty_buf_reset(b);
	e = ty_buf_reserve(b, n);
	e = e ? e : ty_flow_stream_read(&f->streams.v[r->stream], a, r->at.off, b->p, n);
	b->len = e ? 0 : n;
	return e;
}

static int add_blocks(ty_flow_blocks *all, struct ty_flow_stream *s)
{
	size_t lo = 0;

	if (vec_reserve(all, all->n + s->cuts.n + 1 + s->size / BLOCK))
		return -TY_ENOMEM;
	for (size_t i = 0; i <= s->cuts.n; i++) {
		size_t hi = i < s->cuts.n ? s->cuts.v[i] : s->size;

		for (size_t at = lo; at < hi; at += BLOCK)
			if (vec_push(all,
				     (struct ty_flow_block){.s = s,
							    .lo = at,
							    .hi = hi - at < BLOCK ? hi : at + BLOCK,
							    .seg_lo = lo,
							    .seg_hi = hi,
							    .first_only = true}))
				return -TY_ENOMEM;
		lo = hi;
	}
	return 0;
}

/* Behind the last block of the first one's stream, or of its segment. */
static size_t stream_end(const ty_flow_blocks *all, size_t i)
{
	return partition_point(k, i, all->n, all->v[k].s == all->v[i].s);
}

static size_t segment_end(const ty_flow_blocks *all, size_t i)
{
	const struct ty_flow_block *v = all->v;

	return partition_point(k, i, all->n, v[k].s == v[i].s && v[k].seg_lo == v[i].seg_lo);
}

/* May a coarse range begin at p, behind the points before it, of which the last is given? */
static bool is_in_order(const struct ty_pt_point *last, const struct ty_pt_point *p)
{
	return ty_flow_is_border(p) && p->timed && (!last || last->tsc <= p->tsc);
}

/* Do times rise over the points of these blocks? */
static bool is_smooth(const struct ty_flow_block *b, size_t n)
{
	const struct ty_pt_point *last = NULL;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < b[i].points_n; k++) {
			const struct ty_pt_point *p = ty_flow_point(&b[i], k);

			if (!is_in_order(last, p))
				return false;
			last = p;
		}
	return true;
}

/* To be searched as a whole; again, if more can be found than its first PSB. */
static void want_all(struct ty_flow_block *b)
{
	const bool more = b->first_only && b->points_n && b->hi - b->first.off > TY_FLOW_RANGE_MIN;

	if (more)
		b->points_n = 0;
	b->searched &= !more;
	b->first_only = false;
}

/* A PSB of each block; all of the last block that has any, because nothing else shows whether its
 * time can be; and all of streams that are not smooth. */
static int search(ty_flow_blocks *all)
{
	struct ty_flow_block *v = all->v;
	int r = ty_flow_search(all);

	for (size_t i = 0, k, last; !r && i < all->n; i = k) {
		k = stream_end(all, i);
		for (last = k - 1; last > i && !v[last].points_n; last--)
			;
		want_all(&v[last]);
	}
	r = r ? r : ty_flow_search(all);
	for (size_t i = 0, k; !r && i < all->n; i = k) {
		k = stream_end(all, i);
		if (is_smooth(&v[i], k - i))
			continue;
		while (i < k)
			want_all(&v[i++]);
	}
	return r ? r : ty_flow_search(all);
}

/* The ranges of `whole`, which lies in these blocks. */
static int cut(ty_flow_ranges *out, const struct ty_flow_range *whole,
	       const struct ty_flow_block *b, size_t n)
{
	struct ty_flow_range r = *whole;

	r.blind = true;
	r.inner = false;
	r.coarse_to = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < b[i].points_n; k++) {
			const struct ty_pt_point *p = ty_flow_point(&b[i], k);

			if (!r.blind && !ty_flow_is_border(p))
				continue;
			if (!r.blind) {
				r.end = p->off;
				r.stops = p->on;
				r.stop_ip = p->ip;
				if (vec_push(out, r))
					return -TY_ENOMEM;
			}
			r.inner = whole->coarse_to && !r.blind;
			r.at = *p;
			r.blind = false;
			r.coarse_to = b[i].first_only ? b[i].hi : 0;
		}
	r.end = whole->end;
	r.stops = whole->stops;
	r.stop_ip = whole->stop_ip;
	return vec_push(out, r);
}

static int assemble(struct ty_flow *f, const ty_flow_blocks *all)
{
	size_t i = 0, k;

	/* Many segments: mostly they are one block with one point each. */
	if (vec_reserve(&f->ranges, all->n))
		return -TY_ENOMEM;
	vec_each (s, &f->streams) {
		s->ranges = f->ranges.n;
		for (; i < all->n && all->v[i].s == s; i = k) {
			const struct ty_flow_range segment = {.seg_lo = all->v[i].seg_lo,
							      .seg_hi = all->v[i].seg_hi,
							      .end = all->v[i].seg_hi,
							      .at.off = all->v[i].seg_lo,
							      .stream =
								      (uint32_t)(s - f->streams.v)};

			k = segment_end(all, i);
			if (cut(&f->ranges, &segment, &all->v[i], k - i))
				return -TY_ENOMEM;
		}
		s->ranges_end = f->ranges.n;
	}
	return 0;
}

static void free_blocks(ty_flow_blocks *all)
{
	vec_each (b, all)
		vec_fini(&b->more);
	vec_fini(all);
}

int ty_flow_find_ranges(struct ty_flow *f)
{
	ty_flow_blocks all = {0};
	int r = 0;

	sort_lost(&f->lost_cpu);
	sort_lost(&f->lost_tid);
	vec_each (s, &f->streams) {
		r = r ? r : place_losses(f, s);
		r = r ? r : add_blocks(&all, s);
	}
	r = r ? r : search(&all);
	r = r ? r : assemble(f, &all);
	free_blocks(&all);
	return r;
}

/* Of the ranges [lo, hi), or of those that are not inner, what may hold some of the window: behind
 * all before which it may be, and before all behind which it may be. */
static void narrow(const struct ty_flow *f, const struct ty_flow_window *w, bool inner, size_t *lo,
		   size_t *hi)
{
	const struct ty_flow_range *v = f->ranges.v;

	if (ty_flow_whole(w) || !f->timed)
		return;
	for (size_t i = *lo; i < *hi; i++) {
		if (!v[i].at.timed || (v[i].inner && !inner))
			continue;
		if (ty_flow_ns(f, v[i].at.tsc) > w->from_ns)
			break;
		*lo = i;
	}
	for (size_t i = *hi; i-- > *lo;) {
		if (!v[i].at.timed || (v[i].inner && !inner))
			continue;
		if (ty_flow_ns(f, v[i].at.tsc) <= w->to_ns)
			break;
		*hi = i;
	}
}

void ty_flow_ranges_in(const struct ty_flow_stream *s, const struct ty_flow_window *w, size_t *lo,
		       size_t *hi)
{
	*lo = s->ranges;
	*hi = s->ranges_end;
	narrow(s->flow, w, false, lo, hi);
	narrow(s->flow, w, true, lo, hi);
}

/* The blocks of the coarse ranges that may hold some of the window. */
static int add_coarse(ty_flow_blocks *all, const struct ty_flow_stream *s,
		      const struct ty_flow_window *w)
{
	size_t lo = s->ranges, hi = s->ranges_end;

	narrow(s->flow, w, false, &lo, &hi);
	for (; lo < hi; lo++) {
		const struct ty_flow_range *r = &s->flow->ranges.v[lo];

		if (r->coarse_to && vec_push(all, (struct ty_flow_block){.s = s,
									 .lo = r->at.off,
									 .hi = r->coarse_to,
									 .seg_lo = r->seg_lo,
									 .seg_hi = r->seg_hi,
									 .range = lo}))
			return -TY_ENOMEM;
	}
	return 0;
}

/* Put what the blocks have in place of their ranges; f->ranges as it was, where memory is out. */
static int put_in_place(struct ty_flow *f, const ty_flow_blocks *all)
{
	ty_flow_ranges out = {0};
	size_t k = 0;
	int r = 0;

	for (size_t i = 0; !r && i < f->ranges.n; i++)
		r = k < all->n && all->v[k].range == i ? cut(&out, &f->ranges.v[i], &all->v[k++], 1)
						       : vec_push(&out, f->ranges.v[i]);
	if (r) {
		vec_fini(&out);
		return r;
	}
	vec_fini(&f->ranges);
	f->ranges.v = out.v;
	f->ranges.n = out.n;
	f->ranges.cap = out.cap;
	f->kept.n = 0; /* as many as they were */
	k = 0;
	vec_each (s, &f->streams) {
		s->ranges = k;
		for (; k < f->ranges.n && f->ranges.v[k].stream == s - f->streams.v; k++)
			if (f->ranges.v[k].kept)
				f->kept.v[f->kept.n++] = (uint32_t)k;
		s->ranges_end = k;
	}
	return 0;
}

bool ty_flow_is_coarse(const struct ty_flow *f, const struct ty_flow_window *w)
{
	vec_each (s, &f->streams) {
		size_t lo = s->ranges, hi = s->ranges_end;

		narrow(f, w, false, &lo, &hi);
		for (; lo < hi; lo++)
			if (f->ranges.v[lo].coarse_to)
				return true;
	}
	return false;
}

int ty_flow_split(struct ty_flow *f, const struct ty_flow_window *w)
{
	ty_flow_blocks all = {0};
	int r = 0;

	vec_each (s, &f->streams)
		r = r ? r : add_coarse(&all, s, w);
	if (!r && all.n) {
		r = ty_flow_search(&all);
		r = r ? r : put_in_place(f, &all);
	}
	free_blocks(&all);
	return r;
}
