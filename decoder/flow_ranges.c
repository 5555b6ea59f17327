/* SPDX-License-Identifier: MIT */
/*
 * See flow_priv.h: streams into ranges, from a PSB to another, and the bytes of ranges. Streams are
 * searched in blocks, by all CPUs, and only where a range may end: RANGE_MIN bytes behind each PSB
 * that was taken none is looked for, and not read. So what opening a stream costs is some ms for
 * 100 MB, and nothing of it need be kept from one time to the next. Every block takes the first PSB
 * that it has: the ranges do not depend on who searched what.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "flow_priv.h"
#include "partition.h"

enum { RANGE_MIN = 32 << 10, BLOCK = 4 << 20, FEW = 2, THREADS_MAX = 32 };
/* What may belong to a PSB and is read with it. Headers longer than that are no place to begin;
 * hardware's have less than 100 bytes. */
enum { HEADER_MAX = 512 };
/* Searched at once: a little at first, because PSBs come at a distance that divides RANGE_MIN. */
enum { LOOK_MIN = 512, LOOK_MAX = 16 << 10 };
/* [lo, hi) of a stream's bytes, in a segment: what lies between two losses. */
struct block {
	const struct ty_flow_stream *s;
	size_t lo, hi, seg_lo, seg_hi;
	VEC(struct ty_pt_point) points;
	int failed;
};

struct search {
	VEC(struct block) blocks;
	atomic_size_t next;
};

static int by_size(const void *a, const void *b)
{
	const size_t *x = a, *y = b;

	return compare(*x, *y);
}

static int by_whose(const void *a, const void *b)
{
	const struct ty_flow_lost *x = a, *y = b;

	return compare(x->whose, y->whose) ?: compare(x->off, y->off);
}

/* In order, each once: a piece then holds no more of them than bytes. */
static void sort_lost(ty_flow_losts *l)
{
	size_t n = 0;

	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), by_whose);
	for (size_t i = 0; i < l->n; i++)
		if (!n || by_whose(&l->v[n - 1], &l->v[i]))
			l->v[n++] = l->v[i];
	l->n = n;
}

/* The first one of them at or behind. */
static size_t lost_from(const ty_flow_losts *l, int32_t whose, uint64_t off)
{
	const struct ty_flow_lost want = {.off = off, .whose = whose};
	return partition_point(i, 0, l->n, by_whose(&l->v[i], &want) < 0);
}

static size_t piece_end(const struct ty_flow_stream *s, size_t i)
{
	return i + 1 < s->pieces.n ? s->pieces.v[i + 1].at : s->size;
}

/* The places of what was lost, from AUX records and from jumps, in order and once each. */
static int place_losses(struct ty_flow *f, struct ty_flow_stream *s)
{
	const ty_flow_losts *l = s->tid < 0 ? &f->lost_cpu : &f->lost_tid;
	const int32_t whose = s->tid < 0 ? s->cpu : s->tid;
	size_t n = 0;

	for (size_t i = 0; i < s->pieces.n; i++) {
		const struct ty_flow_piece *p = &s->pieces.v[i];
		size_t size = piece_end(s, i) - p->at;
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
	if (s->cuts.n)
		qsort(s->cuts.v, s->cuts.n, sizeof(*s->cuts.v), by_size);
	for (size_t i = 0; i < s->cuts.n; i++)
		if (!n || s->cuts.v[n - 1] != s->cuts.v[i])
			s->cuts.v[n++] = s->cuts.v[i];
	s->cuts.n = n;
	return 0;
}

int ty_flow_stream_read(const struct ty_flow_stream *s, size_t from, void *buf, size_t n)
{
	size_t i = partition_point(k, 0, s->pieces.n, s->pieces.v[k].at <= from);

	for (i--; n; i++) {
		const struct ty_flow_piece *p = &s->pieces.v[i];
		size_t in = from - p->at, part = piece_end(s, i) - from;
		int r = 0;

		part = part < n ? part : n;
		if (p->p)
			memcpy(buf, p->p + in, part);
		else
			r = s->flow->read(s->flow->read_ctx, p->place + in, buf, part);
		if (r)
			return r;
		buf = (uint8_t *)buf + part;
		from += part;
		n -= part;
	}
	return 0;
}

size_t ty_flow_range_bytes(const struct ty_flow_range *r)
{
	size_t n = r->end - r->at.off, rest = r->seg_hi - r->end;

	if (r->blind && n > HEADER_MAX)
		n = HEADER_MAX; /* there is no PSB in it: nothing more will be told of it */
	return n + (rest < HEADER_MAX ? rest : HEADER_MAX);
}

int ty_flow_range_read(const struct ty_flow *f, const struct ty_flow_range *r, struct ty_buf *b)
{
	size_t n = ty_flow_range_bytes(r);
	int e;

	ty_buf_reset(b);
	e = ty_buf_reserve(b, n);
	e = e ? e : ty_flow_stream_read(&f->streams.v[r->stream], r->at.off, b->p, n);
	b->len = e ? 0 : n;
	return e;
}

/* Can a range end, and another begin, at the PSB? Its header must have come to an end, and without
 * MODE nothing would tell that the decoder has come to it. */
static bool is_border(const struct ty_pt_point *p)
{
	return p->whole && (!p->on || p->mode);
}

/* The PSBs of a block that ranges begin at; its first one in any case. */
static int search_block(struct block *b)
{
	uint8_t buf[LOOK_MAX + HEADER_MAX];
	size_t at = b->lo, look = LOOK_MIN;

	while (at < b->hi) {
		size_t n = b->seg_hi - at < look + HEADER_MAX ? b->seg_hi - at : look + HEADER_MAX;
		size_t k;
		struct ty_pt_point p;
		int r = ty_flow_stream_read(b->s, at, buf, n);

		if (r)
			return r;
		k = ty_pt_psb_after(buf, n, 0);
		if (k >= look || k == n) {
			at += look;
			look = look < LOOK_MAX ? 2 * look : look;
			continue;
		}
		if (k >= b->hi - at)
			break;
		p = ty_pt_point_at(buf, n - k < HEADER_MAX ? n : k + HEADER_MAX, k);
		p.off = at + k;
		if ((!b->points.n || is_border(&p)) && vec_push(&b->points, p))
			return -TY_ENOMEM;
		at += k + RANGE_MIN;
		look = LOOK_MIN;
	}
	return 0;
}

static void *search_main(void *arg)
{
	struct search *s = arg;
	size_t i;

	while ((i = atomic_fetch_add(&s->next, 1)) < s->blocks.n)
		s->blocks.v[i].failed = search_block(&s->blocks.v[i]);
	return NULL;
}

static void search(struct search *s)
{
	pthread_t threads[THREADS_MAX];
	unsigned n = 0, cpus_n = 1;
	cpu_set_t cpus;

	if (!sched_getaffinity(0, sizeof(cpus), &cpus))
		cpus_n = (unsigned)CPU_COUNT(&cpus);
	while (s->blocks.n >= FEW && n + 1 < cpus_n && n + 1 < s->blocks.n && n < THREADS_MAX &&
	       !pthread_create(&threads[n], NULL, search_main, s))
		n++;
	search_main(s);
	while (n)
		pthread_join(threads[--n], NULL);
}

static int add_blocks(struct search *all, struct ty_flow_stream *s)
{
	size_t lo = 0;

	for (size_t i = 0; i <= s->cuts.n; i++) {
		size_t hi = i < s->cuts.n ? s->cuts.v[i] : s->size;

		for (size_t at = lo; at < hi; at += BLOCK)
			if (vec_push(&all->blocks,
				     (struct block){.s = s,
						    .lo = at,
						    .hi = hi - at < BLOCK ? hi : at + BLOCK,
						    .seg_lo = lo,
						    .seg_hi = hi}))
				return -TY_ENOMEM;
		lo = hi;
	}
	return 0;
}

/* The ranges of the segment whose blocks these are. */
static int make_ranges(struct ty_flow *f, const struct block *b, size_t n)
{
	struct ty_flow_range r = {.seg_lo = b->seg_lo,
				  .seg_hi = b->seg_hi,
				  .end = b->seg_hi,
				  .at.off = b->seg_lo,
				  .blind = true,
				  .stream = (uint32_t)(b->s - f->streams.v)};

	for (size_t i = 0; i < n; i++)
		vec_each (p, &b[i].points) {
			if (!r.blind && !is_border(p))
				continue;
			if (!r.blind) {
				r.end = p->off;
				r.stops = p->on;
				r.stop_ip = p->ip;
				if (vec_push(&f->ranges, r))
					return -TY_ENOMEM;
			}
			r.at = *p;
			r.blind = false;
		}
	r.end = r.seg_hi;
	r.stops = false;
	r.stop_ip = 0;
	return vec_push(&f->ranges, r);
}

static int assemble(struct ty_flow *f, const struct search *all)
{
	const struct block *v = all->blocks.v;
	size_t i = 0, k;

	vec_each (s, &f->streams) {
		s->ranges = f->ranges.n;
		for (; i < all->blocks.n && v[i].s == s; i = k) {
			for (k = i; k < all->blocks.n && v[k].s == s && v[k].seg_lo == v[i].seg_lo;
			     k++)
				if (v[k].failed)
					return v[k].failed;
			if (make_ranges(f, &v[i], k - i))
				return -TY_ENOMEM;
		}
		s->ranges_end = f->ranges.n;
	}
	return 0;
}

int ty_flow_find_ranges(struct ty_flow *f)
{
	struct search all = {0};
	int r = 0;

	sort_lost(&f->lost_cpu);
	sort_lost(&f->lost_tid);
	vec_each (s, &f->streams) {
		r = r ? r : place_losses(f, s);
		r = r ? r : add_blocks(&all, s);
	}
	if (!r)
		search(&all);
	r = r ? r : assemble(f, &all);
	vec_each (b, &all.blocks)
		vec_fini(&b->points);
	vec_fini(&all.blocks);
	return r;
}
