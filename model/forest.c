/* SPDX-License-Identifier: MIT */
/*
 * Zoom forest over one column of spans.
 *
 * Level k has one node per TY_FOREST_FAN^k spans: nanoseconds per state, the index of the longest
 * span, the OR of the flags. A query walks up from both ends of the interior range, as in a segment
 * tree, and touches at most 2 x FAN nodes per level; the first and the last span that touch the
 * range are cut by hand, so that occupancy is exact at its edges.
 *
 * Invariants: starts and ends never decrease and spans do not overlap, so that "touches [from,to)"
 * is a range of indices. States that a column does not use take no room in its nodes. Memory: 8
 * bytes per used state and 5 more per FAN spans.
 */
#include "forest.h"

#include <stdlib.h>
#include <string.h>

#include "err.h"

#define TY_FOREST_FAN	 32
#define TY_FOREST_LEVELS 7 /* 32^7 > 2^32 */

struct level {
	uint32_t nodes;
	uint64_t *ns;	   /* nodes x slots */
	uint32_t *longest; /* span index */
	uint8_t *flags;
};

struct ty_forest {
	struct ty_forest_column col;
	unsigned slots, levels;
	uint8_t slot[TY_ST_COUNT];     /* state -> slot */
	uint8_t state_of[TY_ST_COUNT]; /* slot -> state */
	struct level level[TY_FOREST_LEVELS];
};

static inline uint64_t end_of(const struct ty_forest_column *c, uint32_t i)
{
	if (c->end_ns)
		return c->end_ns[i];
	return i + 1 < c->n ? c->start_ns[i + 1] : c->last_end_ns;
}

static inline uint64_t len_of(const struct ty_forest_column *c, uint32_t i)
{
	uint64_t e = end_of(c, i);

	return e > c->start_ns[i] ? e - c->start_ns[i] : 0;
}

static inline unsigned state_of(const struct ty_forest_column *c, uint32_t i)
{
	unsigned s = c->state ? c->state[i] : TY_ST_RUNNING;

	return s < TY_ST_COUNT ? s : TY_ST_UNKNOWN;
}

static int level_alloc(struct level *l, uint32_t nodes, unsigned slots)
{
	l->nodes = nodes;
	l->ns = calloc((size_t)nodes * slots, sizeof(*l->ns));
	l->longest = malloc(nodes * sizeof(*l->longest));
	l->flags = calloc(nodes, 1);
	return l->ns && l->longest && l->flags ? 0 : -TY_ENOMEM;
}

static void leaves(struct ty_forest *f)
{
	const struct ty_forest_column *c = &f->col;
	struct level *l = &f->level[0];

	for (uint32_t k = 0; k < l->nodes; k++) {
		uint32_t i = k * TY_FOREST_FAN,
			 to = c->n - i < TY_FOREST_FAN ? c->n : i + TY_FOREST_FAN;
		uint64_t best = 0, *ns = l->ns + (size_t)k * f->slots;

		l->longest[k] = i;
		for (; i < to; i++) {
			uint64_t len = len_of(c, i);

			ns[f->slot[state_of(c, i)]] += len;
			l->flags[k] |= c->flags ? c->flags[i] : 0;
			if (len > best) {
				best = len;
				l->longest[k] = i;
			}
		}
	}
}

static void inner(struct ty_forest *f, unsigned depth)
{
	const struct level *a = &f->level[depth - 1];
	struct level *l = &f->level[depth];

	for (uint32_t k = 0; k < l->nodes; k++) {
		uint32_t i = k * TY_FOREST_FAN,
			 to = a->nodes - i < TY_FOREST_FAN ? a->nodes : i + TY_FOREST_FAN;
		uint64_t best = 0, *ns = l->ns + (size_t)k * f->slots;

		l->longest[k] = a->longest[i];
		for (; i < to; i++) {
			uint64_t len = len_of(&f->col, a->longest[i]);

			for (unsigned s = 0; s < f->slots; s++)
				ns[s] += a->ns[(size_t)i * f->slots + s];
			l->flags[k] |= a->flags[i];
			if (len > best) {
				best = len;
				l->longest[k] = a->longest[i];
			}
		}
	}
}

struct ty_forest *ty_forest_new(const struct ty_forest_column *col)
{
	struct ty_forest *f = calloc(1, sizeof(*f));
	unsigned seen = col->state ? 0 : 1u << TY_ST_RUNNING;
	uint32_t nodes = col->n;

	if (!f)
		return NULL;
	f->col = *col;
	for (uint32_t i = 0; col->state && i < col->n; i++)
		seen |= 1u << state_of(col, i);
	for (unsigned s = 0; s < TY_ST_COUNT; s++)
		if (seen & 1u << s) {
			f->slot[s] = (uint8_t)f->slots;
			f->state_of[f->slots++] = (uint8_t)s;
		}
	/* A level of one node would never be asked: its parent range is the whole column. */
	while (nodes > TY_FOREST_FAN && f->levels < TY_FOREST_LEVELS) {
		nodes = nodes / TY_FOREST_FAN + (nodes % TY_FOREST_FAN != 0);
		if (level_alloc(&f->level[f->levels++], nodes, f->slots)) {
			ty_forest_free(f);
			return NULL;
		}
		if (f->levels == 1)
			leaves(f);
		else
			inner(f, f->levels - 1);
	}
	return f;
}

void ty_forest_free(struct ty_forest *f)
{
	if (!f)
		return;
	for (unsigned d = 0; d < f->levels; d++) {
		free(f->level[d].ns);
		free(f->level[d].longest);
		free(f->level[d].flags);
	}
	free(f);
}

uint64_t ty_forest_bytes(const struct ty_forest *f)
{
	uint64_t n = f ? sizeof(*f) : 0;

	for (unsigned d = 0; f && d < f->levels; d++)
		n += (uint64_t)f->level[d].nodes * (8u * f->slots + 5);
	return n;
}

/* First span with end > t, or start >= t (a span of no length touches the instant it is at). */
static uint32_t first_touching(const struct ty_forest_column *c, uint64_t t)
{
	uint32_t lo = 0, hi = c->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (end_of(c, mid) > t || c->start_ns[mid] >= t)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/* Number of spans with start < t. */
static uint32_t starts_before(const struct ty_forest_column *c, uint64_t t)
{
	uint32_t lo = 0, hi = c->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (c->start_ns[mid] < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct best {
	uint64_t in, whole; /* lengths of the best so far */
	bool any;
};

static void offer(struct ty_cell *out, struct best *b, uint32_t i, uint64_t in, uint64_t whole)
{
	if (!b->any || in > b->in || (in == b->in && i < out->longest)) {
		b->in = in;
		out->longest = i;
	}
	if (!b->any || whole > b->whole || (whole == b->whole && i < out->longest_whole)) {
		b->whole = whole;
		out->longest_whole = i;
		out->longest_ns = whole;
	}
	b->any = true;
}

static void one(const struct ty_forest_column *c, uint32_t i, uint64_t from, uint64_t to,
		struct ty_cell *out, struct best *b)
{
	uint64_t s = c->start_ns[i], e = s + len_of(c, i);
	uint64_t cs = s < from ? from : s, ce = e > to ? to : e;
	uint64_t in = ce > cs ? ce - cs : 0;

	out->ns[state_of(c, i)] += in;
	out->flags |= c->flags ? c->flags[i] : 0;
	offer(out, b, i, in, e - s);
}

static void node(const struct ty_forest *f, const struct level *l, uint32_t k, struct ty_cell *out,
		 struct best *b)
{
	uint64_t len = len_of(&f->col, l->longest[k]);

	for (unsigned s = 0; s < f->slots; s++)
		out->ns[f->state_of[s]] += l->ns[(size_t)k * f->slots + s];
	out->flags |= l->flags[k];
	offer(out, b, l->longest[k], len, len);
}

/* Spans lo..hi-1 lie wholly inside the range. */
static void interior(const struct ty_forest *f, uint32_t lo, uint32_t hi, uint64_t from,
		     uint64_t to, struct ty_cell *out, struct best *b)
{
	for (; lo < hi && (lo % TY_FOREST_FAN || !f->levels); lo++)
		one(&f->col, lo, from, to, out, b);
	for (; hi > lo && (hi % TY_FOREST_FAN); hi--)
		one(&f->col, hi - 1, from, to, out, b);
	for (unsigned d = 0; lo < hi; d++) {
		bool top = d + 1 >= f->levels;

		lo /= TY_FOREST_FAN;
		hi /= TY_FOREST_FAN;
		for (; lo < hi && (lo % TY_FOREST_FAN || top); lo++)
			node(f, &f->level[d], lo, out, b);
		for (; hi > lo && hi % TY_FOREST_FAN; hi--)
			node(f, &f->level[d], hi - 1, out, b);
	}
}

void ty_forest_query(const struct ty_forest *f, uint64_t from_ns, uint64_t to_ns,
		     struct ty_cell *out)
{
	struct best b = {0};
	uint32_t lo, hi;

	*out = (struct ty_cell){.longest = TY_NONE, .longest_whole = TY_NONE};
	if (from_ns >= to_ns || !f->col.n)
		return;
	lo = first_touching(&f->col, from_ns);
	hi = starts_before(&f->col, to_ns);
	if (lo >= hi)
		return;
	out->spans = hi - lo;
	one(&f->col, lo, from_ns, to_ns, out, &b);
	if (hi - lo > 2)
		interior(f, lo + 1, hi - 1, from_ns, to_ns, out, &b);
	if (hi - lo > 1)
		one(&f->col, hi - 1, from_ns, to_ns, out, &b);
}

void ty_forest_scan(const struct ty_forest_column *col, uint64_t from_ns, uint64_t to_ns,
		    struct ty_cell *out)
{
	const struct ty_forest f = {.col = *col};

	ty_forest_query(&f, from_ns, to_ns, out);
}
