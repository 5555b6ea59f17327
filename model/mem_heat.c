/* SPDX-License-Identifier: MIT */
/*
 * Strips of samples (mem_heat.h): sample indices grouped by strip and sorted by time, and an
 * aggregate of each group of GROUP. A group inside one cell is added as a whole. Budget: 4.4 bytes
 * per sample, plus as many temporarily while a strip is sorted; 5 ns per group or sample visited.
 */
#include "mem_heat.h"

#include <stdlib.h>
#include <string.h>

#include "huge_alloc.h"
#include "compare.h"
#include "partition.h"

#define GROUP 64u
#define PIECE 16384u /* sorted at once */
#define WANT  (TY_MEM_WANT_TIME | TY_MEM_WANT_TOTAL | TY_MEM_WANT_THREAD | TY_MEM_WANT_CPU)

struct group {
	uint64_t first_ns, last_ns;
	struct ty_mem_heat_cell sum;
};

struct ty_mem_heat {
	const struct ty_mem_points *p;
	uint32_t strips;
	uint64_t *first; /* of each strip in index; one more for the end */
	uint64_t *first_group;
	uint32_t *index;
	struct group *group;
};

static uint64_t time_of(const struct ty_mem_heat *h, uint64_t i)
{
	return ty_mem_points_pick(h->p, h->index[i], TY_MEM_WANT_TIME).ts_ns;
}

/* UINT32_MAX: the sample is in no strip. */
static uint32_t strip_of(const struct ty_mem_point *o, enum ty_mem_heat_by by)
{
	if (!(o->flags & TY_MP_HAS_TIME))
		return UINT32_MAX;
	if (by == TY_MEM_HEAT_THREAD)
		return o->thread == TY_MEM_NO_THREAD ? UINT32_MAX : o->thread;
	return o->cpu == UINT16_MAX ? UINT32_MAX : o->cpu;
}

static void add(struct ty_mem_heat_cell *c, const struct ty_mem_point *o)
{
	enum ty_mem_far far = ty_mem_far(o);

	c->n++;
	if (o->flags & TY_MP_HAS_LAT) {
		c->timed = true;
		c->worst = o->total > c->worst ? o->total : c->worst;
	}
	c->far = far > c->far ? (uint8_t)far : c->far;
}

/* Sample i of the strip's belongs to its next group, or begins one. */
static void group(struct ty_mem_heat *h, uint32_t strip, uint64_t i, const struct ty_mem_point *o)
{
	struct group *g = &h->group[h->first_group[strip] + (i - h->first[strip]) / GROUP];

	if (!g->sum.n)
		g->first_ns = o->ts_ns;
	g->last_ns = o->ts_ns;
	add(&g->sum, o);
}

struct timed {
	uint64_t ts_ns;
	uint32_t index;
};

ORDER(time_order, struct timed, compare(a->ts_ns, b->ts_ns) ?: compare(a->index, b->index))

/* index[from, to), which is in the order of the merge, by time. */
static void sort_piece(struct ty_mem_heat *h, uint64_t from, uint64_t to, struct timed *v)
{
	bool back = false;

	for (uint64_t i = from; i < to; i++) {
		v[i - from] = (struct timed){time_of(h, i), h->index[i]};
		back |= i > from && v[i - from].ts_ns < v[i - from - 1].ts_ns;
	}
	if (!back)
		return;
	qsort(v, to - from, sizeof(*v), time_order);
	for (uint64_t i = from; i < to; i++)
		h->index[i] = v[i - from].index;
}

/* index[from, mid) and [mid, to), each in order; at one time the first come first. room: for those
 * of the first that have to move. */
static int merge(struct ty_mem_heat *h, uint64_t from, uint64_t mid, uint64_t to, uint32_t *room,
		 const struct ty_mem_work *work)
{
	uint64_t first_ns = time_of(h, mid), left = 0, n, right = mid, left_ns;

	from = partition_point(i, from, mid, time_of(h, i) <= first_ns);
	n = mid - from;
	if (!n)
		return 0;
	left_ns = time_of(h, from);
	memcpy(room, h->index + from, n * sizeof(*room));
	while (left < n && right < to) {
		if (!(from % PIECE) && ty_mem_stopped(work))
			return -TY_EINTR;
		if (time_of(h, right) < left_ns) {
			h->index[from++] = h->index[right++];
			continue;
		}
		h->index[from++] = room[left++];
		if (left < n)
			left_ns = ty_mem_points_pick(h->p, room[left], TY_MEM_WANT_TIME).ts_ns;
	}
	if (left < n)
		memcpy(h->index + from, room + left, (n - left) * sizeof(*room));
	return 0;
}

/* Streams are merged by time, but within one of them time may step back: a little, mostly, so that
 * few pieces overlap. */
static int put_in_order(struct ty_mem_heat *h, uint32_t strip, const struct ty_mem_work *work)
{
	uint64_t from = h->first[strip], to = h->first[strip + 1];
	struct timed *piece = malloc(PIECE * sizeof(*piece));
	uint32_t *room = ty_huge_alloc((to - from) * sizeof(*room));
	int r = piece && room ? 0 : -TY_ENOMEM;

	for (uint64_t i = from; !r && i < to; i += PIECE) {
		r = ty_mem_stopped(work) ? -TY_EINTR : 0;
		if (!r)
			sort_piece(h, i, to - i < PIECE ? to : i + PIECE, piece);
	}
	for (uint64_t w = PIECE; !r && w < to - from; w *= 2)
		for (uint64_t i = from; !r && to - i > w; i += to - i < 2 * w ? to - i : 2 * w)
			r = merge(h, i, i + w, to - i < 2 * w ? to : i + 2 * w, room, work);
	free(piece);
	free(room);
	memset(h->group + h->first_group[strip], 0,
	       (h->first_group[strip + 1] - h->first_group[strip]) * sizeof(*h->group));
	for (uint64_t i = from; !r && i < to; i++) {
		struct ty_mem_point o = ty_mem_points_pick(h->p, h->index[i], WANT);

		group(h, strip, i, &o);
		if (!(i % PIECE) && ty_mem_stopped(work))
			r = -TY_EINTR;
	}
	return r;
}

/* Where each strip begins. */
static int count(struct ty_mem_heat *h, enum ty_mem_heat_by by, const struct ty_mem_work *work)
{
	struct ty_mem_point rows[TY_BLOCK_ROWS];
	VEC(uint64_t) n = {0};
	uint32_t k;

	for (uint64_t at = 0; (k = ty_mem_points_rows(h->p, at, WANT, rows)); at += k) {
		if (ty_mem_stopped(work)) {
			vec_fini(&n);
			return -TY_EINTR;
		}
		for (uint32_t i = 0; i < k; i++) {
			uint32_t s = strip_of(&rows[i], by);

			if (s == UINT32_MAX)
				continue;
			while (s >= n.n)
				if (vec_push(&n, 0)) {
					vec_fini(&n);
					return -TY_ENOMEM;
				}
			n.v[s]++;
		}
	}
	h->strips = by == TY_MEM_HEAT_THREAD ? h->p->threads : (uint32_t)n.n;
	h->first = calloc((size_t)h->strips + 1, sizeof(*h->first));
	for (size_t s = 0; h->first && s < h->strips; s++)
		h->first[s + 1] = h->first[s] + (s < n.n ? n.v[s] : 0);
	vec_fini(&n);
	return h->first ? 0 : -TY_ENOMEM;
}

static int fill(struct ty_mem_heat *h, enum ty_mem_heat_by by, const struct ty_mem_work *work)
{
	struct ty_mem_point rows[TY_BLOCK_ROWS];
	uint64_t groups = 0, *seen, *last_ns;
	bool *back;
	uint32_t n;
	int r = 0;

	h->first_group = calloc((size_t)h->strips + 1, sizeof(*h->first_group));
	if (!h->first_group)
		return -TY_ENOMEM;
	for (uint32_t s = 0; s < h->strips; s++) {
		h->first_group[s] = groups;
		groups += (h->first[s + 1] - h->first[s] + GROUP - 1) / GROUP;
	}
	h->first_group[h->strips] = groups;
	h->index = ty_huge_alloc((h->first[h->strips] + 1) * sizeof(*h->index));
	h->group = calloc(groups + 1, sizeof(*h->group));
	seen = calloc((size_t)h->strips + 1, sizeof(*seen));
	last_ns = calloc((size_t)h->strips + 1, sizeof(*last_ns));
	back = calloc((size_t)h->strips + 1, sizeof(*back));
	if (!h->index || !h->group || !seen || !last_ns || !back)
		r = -TY_ENOMEM;
	for (uint64_t i = 0; !r && (n = ty_mem_points_rows(h->p, i, WANT, rows)); i += n) {
		r = ty_mem_stopped(work) ? -TY_EINTR : 0;
		for (uint32_t k = 0; !r && k < n; k++) {
			uint32_t s = strip_of(&rows[k], by);

			if (s == UINT32_MAX)
				continue;
			back[s] |= rows[k].ts_ns < last_ns[s];
			last_ns[s] = rows[k].ts_ns;
			h->index[h->first[s] + seen[s]] = (uint32_t)(i + k);
			group(h, s, h->first[s] + seen[s]++, &rows[k]);
		}
	}
	for (uint32_t s = 0; !r && s < h->strips; s++)
		if (back[s])
			r = put_in_order(h, s, work);
	free(seen);
	free(last_ns);
	free(back);
	return r;
}

int ty_mem_heat_new(const struct ty_mem_points *points, enum ty_mem_heat_by by,
		    const struct ty_mem_work *work, struct ty_mem_heat **out)
{
	struct ty_mem_heat *h = calloc(1, sizeof(*h));
	int r;

	*out = NULL;
	if (!h)
		return -TY_ENOMEM;
	h->p = points;
	r = count(h, by, work);
	r = r ? r : fill(h, by, work);
	if (r) {
		ty_mem_heat_free(h);
		return r;
	}
	*out = h;
	return 0;
}

void ty_mem_heat_free(struct ty_mem_heat *h)
{
	if (!h)
		return;
	free(h->first);
	free(h->first_group);
	free(h->index);
	free(h->group);
	free(h);
}

uint32_t ty_mem_heat_strips(const struct ty_mem_heat *h)
{
	return h->strips;
}

/* The strip's first sample at or behind t. */
static uint64_t after(const struct ty_mem_heat *h, uint32_t strip, uint64_t t)
{
	return partition_point(i, h->first[strip], h->first[strip + 1], time_of(h, i) < t);
}

uint64_t ty_mem_heat_count(const struct ty_mem_heat *h, uint32_t strip, uint64_t from_ns,
			   uint64_t to_ns)
{
	return from_ns < to_ns ? after(h, strip, to_ns) - after(h, strip, from_ns) : 0;
}

uint64_t ty_mem_heat_first_ns(const struct ty_mem_heat *h, uint32_t strip)
{
	return h->first[strip] < h->first[strip + 1] ? time_of(h, h->first[strip]) : UINT64_MAX;
}

static uint32_t column(uint64_t from, uint64_t to, uint32_t n, uint64_t t)
{
	uint32_t i;

	/* Numbers out of a file may be in no order. */
	if (t < from || t >= to)
		return t < from ? 0 : n - 1;
	i = (uint32_t)((unsigned __int128)(t - from) * n / (to - from));
	/* Edges of cells are rounded down: t may already lie behind the next one. */
	while (i + 1 < n && from + (uint64_t)((unsigned __int128)(to - from) * (i + 1) / n) <= t)
		i++;
	return i;
}

void ty_mem_heat_cells(const struct ty_mem_heat *h, uint32_t strip, uint64_t from_ns,
		       uint64_t to_ns, uint32_t n, struct ty_mem_heat_cell *out)
{
	uint64_t i, end, first = h->first[strip];

	memset(out, 0, n * sizeof(*out));
	if (from_ns >= to_ns || !n)
		return;
	i = after(h, strip, from_ns);
	end = after(h, strip, to_ns);
	while (i < end) {
		uint64_t in_group = (i - first) % GROUP;
		const struct group *g = &h->group[h->first_group[strip] + (i - first) / GROUP];
		struct ty_mem_point o;
		uint32_t c;

		if (!in_group) {
			c = column(from_ns, to_ns, n, g->first_ns);
			if (g->last_ns < to_ns && c == column(from_ns, to_ns, n, g->last_ns)) {
				out[c].n += g->sum.n;
				out[c].timed |= g->sum.timed;
				if (g->sum.worst > out[c].worst)
					out[c].worst = g->sum.worst;
				if (g->sum.far > out[c].far)
					out[c].far = g->sum.far;
				i += g->sum.n;
				continue;
			}
		}
		o = ty_mem_points_pick(h->p, h->index[i++], TY_MEM_WANT_TIME | TY_MEM_WANT_TOTAL);
		add(&out[column(from_ns, to_ns, n, o.ts_ns)], &o);
	}
}
