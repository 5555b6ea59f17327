/* SPDX-License-Identifier: MIT */
/* See counter_readings.h. */
#include "counter_readings.h"

#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "partition.h"

struct ty_counts *ty_counts_new(void)
{
	return calloc(1, sizeof(struct ty_counts));
}

void ty_counts_free(struct ty_counts *c)
{
	if (!c)
		return;
	vec_fini(&c->readings);
	vec_fini(&c->values);
	free(c);
}

/* Values of a reading that a caller gives; the last one is its length. */
static size_t given(const struct ty_counts *c)
{
	return c->n + 2 * (size_t)c->groups;
}

static size_t width(const struct ty_counts *c)
{
	return given(c) + 1;
}

bool ty_counts_add(struct ty_counts *c, struct ty_count_reading r, const uint64_t *v)
{
	const size_t w = width(c);

	for (uint32_t g = 0; g < c->groups; g++)
		c->damaged |= v[c->n + 2 * g + 1] > v[c->n + 2 * g];
	c->damaged |= r.from_ns > r.to_ns;
	if (r.from_ns > r.to_ns)
		return false;
	if (vec_reserve(&c->values, c->values.n + w) || vec_push(&c->readings, r))
		return false;
	memcpy(c->values.v + c->values.n, v, given(c) * sizeof(*v));
	c->values.n += w;
	c->values.v[c->values.n - 1] = 0;
	return true;
}

static int by_thread(const void *pa, const void *pb, void *ctx)
{
	const struct ty_count_reading *v = ctx, *a = v + *(const uint32_t *)pa,
				      *b = v + *(const uint32_t *)pb;

	return compare(a->tid, b->tid) ?: compare(a->to_ns, b->to_ns)
	       ?: compare(*(const uint32_t *)pa, *(const uint32_t *)pb);
}

/* Sums so that they grow; what would not fit is not counted. */
static void add_up(struct ty_counts *c, uint64_t *to, const uint64_t *before, const uint64_t *v)
{
	for (size_t i = 0; i < width(c); i++)
		if (__builtin_add_overflow(before ? before[i] : 0, v[i], &to[i])) {
			to[i] = UINT64_MAX;
			c->damaged = true;
		}
}

static uint64_t enabled(const struct ty_counts *c, uint32_t reading)
{
	const uint64_t *v = c->values.v + reading * width(c) + c->n;
	uint64_t most = 0;

	for (uint32_t g = 0; g < c->groups; g++)
		most = v[2 * g] > most ? v[2 * g] : most;
	return most;
}

int ty_counts_finish(struct ty_counts *c)
{
	const size_t n = c->readings.n, w = width(c);
	struct ty_count_reading *readings = malloc((n ? n : 1) * sizeof(*readings));
	uint64_t *values = malloc((n ? n * w : 1) * sizeof(*values));
	uint32_t *order = malloc((n ? n : 1) * sizeof(*order));

	if (!readings || !values || !order || n > UINT32_MAX) {
		free(readings);
		free(values);
		free(order);
		return -TY_ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), by_thread, c->readings.v);
	for (size_t i = 0; i < n; i++) {
		struct ty_count_reading r = c->readings.v[order[i]];
		const bool next = i && readings[i - 1].tid == r.tid;

		/* Their lengths are of another clock than their ends. */
		if (next && r.from_ns < readings[i - 1].to_ns)
			r.from_ns = readings[i - 1].to_ns;
		readings[i] = r;
		c->values.v[order[i] * w + w - 1] =
			c->intervals ? enabled(c, order[i]) : r.to_ns - r.from_ns;
		add_up(c, values + i * w, next ? values + (i - 1) * w : NULL,
		       c->values.v + order[i] * w);
	}
	free(order);
	vec_fini(&c->readings);
	vec_fini(&c->values);
	c->readings.v = readings;
	c->readings.n = c->readings.cap = n;
	c->values.v = values;
	c->values.n = c->values.cap = n * w;
	return 0;
}

void ty_counts_of(const struct ty_counts *c, int32_t tid, size_t *first, size_t *end)
{
	const struct ty_count_reading *v = c->readings.v;

	*first = partition_point(k, (size_t)0, c->readings.n, v[k].tid < tid);
	*end = partition_point(k, *first, c->readings.n, v[k].tid == tid);
}

/* What value i grew by in readings [first, end) of a thread. */
static uint64_t grown(const struct ty_counts *c, size_t i, size_t first, size_t end)
{
	const struct ty_count_reading *r = c->readings.v;
	const uint64_t *v = c->values.v + i;
	const size_t w = width(c);
	const bool next = first && r[first - 1].tid == r[first].tid;

	return v[(end - 1) * w] - (next ? v[(first - 1) * w] : 0);
}

static void add_value(const struct ty_counts *c, struct ty_count_sum *s, size_t i, uint64_t v)
{
	uint64_t *to = i == given(c)	     ? &s->on_ns
		       : i < c->n	     ? &s->v[i]
		       : (i - c->n) % 2 == 0 ? &s->enabled[(i - c->n) / 2]
					     : &s->running[(i - c->n) / 2];

	if (__builtin_add_overflow(*to, v, to))
		*to = UINT64_MAX;
}

/* A reading by its part in the window. */
static void add_cut(const struct ty_counts *c, size_t at, uint64_t from_ns, uint64_t to_ns,
		    struct ty_count_sum *s)
{
	const struct ty_count_reading *r = &c->readings.v[at];
	const uint64_t from = r->from_ns > from_ns ? r->from_ns : from_ns,
		       to = r->to_ns < to_ns ? r->to_ns : to_ns, all = r->to_ns - r->from_ns,
		       part = to > from ? to - from : 0;

	s->readings++;
	s->cut += part < all;
	for (size_t i = 0; i < width(c); i++) {
		const uint64_t v = grown(c, i, at, at + 1);

		add_value(c, s, i,
			  part < all ? (uint64_t)(((unsigned __int128)v * part + all / 2) / all)
				     : v);
	}
}

void ty_counts_sum(const struct ty_counts *c, size_t first, size_t end, uint64_t from_ns,
		   uint64_t to_ns, struct ty_count_sum *sum)
{
	const struct ty_count_reading *v = c->readings.v;

	if (first >= end || from_ns >= to_ns)
		return;
	first = partition_point(k, first, end, v[k].to_ns <= from_ns);
	end = partition_point(k, first, end, v[k].from_ns < to_ns);
	if (first < end && v[first].from_ns < from_ns)
		add_cut(c, first++, from_ns, to_ns, sum);
	if (first < end && v[end - 1].to_ns > to_ns)
		add_cut(c, --end, from_ns, to_ns, sum);
	if (first >= end)
		return;
	for (size_t i = 0; i < width(c); i++)
		add_value(c, sum, i, grown(c, i, first, end));
	sum->readings += end - first;
}

void ty_counts_widen(const struct ty_counts *c, size_t first, size_t end, uint64_t *from_ns,
		     uint64_t *to_ns)
{
	const struct ty_count_reading *v = c->readings.v;
	const uint64_t mid = *from_ns + (*to_ns - *from_ns) / 2;
	const size_t at = partition_point(k, first, end, v[k].to_ns <= mid);

	if (at < end && v[at].from_ns <= mid && v[at].to_ns - v[at].from_ns > *to_ns - *from_ns) {
		*from_ns = v[at].from_ns;
		*to_ns = v[at].to_ns;
	}
}

bool ty_count_scaled(uint64_t raw, uint64_t enabled, uint64_t running, uint64_t *scaled)
{
	unsigned __int128 v;

	*scaled = 0;
	if (!running)
		return !enabled && !raw;
	v = ((unsigned __int128)raw * enabled + running / 2) / running;
	*scaled = running >= enabled ? raw : v > UINT64_MAX ? UINT64_MAX : (uint64_t)v;
	return true;
}

static void grow(uint64_t *to, uint64_t by)
{
	if (__builtin_add_overflow(*to, by, to))
		*to = UINT64_MAX;
}

void ty_count_sum_add(struct ty_count_sum *to, const struct ty_count_sum *s)
{
	for (unsigned i = 0; i < TY_COUNTS_MAX; i++)
		grow(&to->v[i], s->v[i]);
	for (unsigned i = 0; i < TY_COUNT_GROUPS_MAX; i++) {
		grow(&to->enabled[i], s->enabled[i]);
		grow(&to->running[i], s->running[i]);
	}
	grow(&to->on_ns, s->on_ns);
	to->readings += s->readings;
	to->cut += s->cut;
}
