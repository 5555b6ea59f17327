/* SPDX-License-Identifier: MIT */
/*
 * Mappings of processes over time (mem_stream.h): their own since their last exec, and those of
 * their parents at the fork. A look-up takes log(mappings)^2 for each generation, however they
 * overlap.
 */
#include "mem_sideband.h"

#include <stdlib.h>

#include "compare.h"
#include "partition.h"

#define FORKS_MAX 64   /* generations of parents searched */
#define LOOKS_MAX 8192 /* mappings compared for the same file */
/* Cost that a look-up counts for one of them: it may search all generations. */
#define LOOKS_FIND FORKS_MAX

/* The index ------------------------------------------------------------------------------------ */

ORDER(edge_order, struct ty_mem_edge, compare(a->pid, b->pid) ?: compare(a->addr, b->addr))

/* Where a mapping ends; at the end of all addresses the next process begins. */
static struct ty_mem_edge end_of(const struct ty_mem_map *m)
{
	if (m->len > UINT64_MAX - m->addr)
		return (struct ty_mem_edge){(int64_t)m->pid + 1, 0};
	return (struct ty_mem_edge){m->pid, m->addr + m->len};
}

/* The stretch that the place lies in, + 1; 0: before all. */
static uint32_t stretch1(const struct ty_mem_map_index *x, struct ty_mem_edge e)
{
	return partition_point(i, 0, x->n, edge_order(&x->edge[i], &e) <= 0);
}

static int edges(struct ty_mem_stream *s)
{
	struct ty_mem_map_index *x = &s->map_index;
	size_t n = 0;

	if (s->maps.n > UINT32_MAX / 4)
		return -TY_ENOMEM;
	x->edge = malloc((2 * s->maps.n + 1) * sizeof(*x->edge));
	if (!x->edge)
		return -TY_ENOMEM;
	vec_each (m, &s->maps) {
		x->edge[n++] = (struct ty_mem_edge){m->pid, m->addr};
		x->edge[n++] = end_of(m);
	}
	qsort(x->edge, n, sizeof(*x->edge), edge_order);
	for (size_t i = 0; i < n; i++)
		if (!x->n || edge_order(&x->edge[i], &x->edge[x->n - 1]))
			x->edge[x->n++] = x->edge[i];
	return 0;
}

static int age(const struct ty_mem_map *x, const struct ty_mem_map *y)
{
	return compare(x->ts_ns, y->ts_ns) ?: compare(x->order, y->order);
}

static int time_order(const void *a, const void *b, void *maps)
{
	const struct ty_mem_map *v = maps;

	return age(&v[*(const uint32_t *)a], &v[*(const uint32_t *)b]);
}

int ty_mem_map_index_make(struct ty_mem_stream *s)
{
	struct ty_mem_map_index *x = &s->map_index;
	uint32_t n = (uint32_t)s->maps.n, *by_time;
	int r = n ? edges(s) : 0;

	if (!n || r)
		return r;
	by_time = malloc(n * sizeof(*by_time));
	r = by_time ? ty_interval_tree_begin(&x->lists, x->n) : -TY_ENOMEM;
	for (uint32_t i = 0; !r && i < n; i++)
		by_time[i] = i;
	if (!r)
		qsort_r(by_time, n, sizeof(*by_time), time_order, s->maps.v);
	for (unsigned pass = 0; !r && pass < 2; pass++) {
		for (uint32_t i = 0; i < n; i++) {
			const struct ty_mem_map *m = &s->maps.v[by_time[i]];
			struct ty_mem_edge from = {m->pid, m->addr};

			ty_interval_tree_add(&x->lists, stretch1(x, from) - 1,
					     stretch1(x, end_of(m)) - 1, by_time[i]);
		}
		r = pass ? 0 : ty_interval_tree_turn(&x->lists);
	}
	free(by_time);
	if (!r)
		ty_interval_tree_end(&x->lists);
	return r;
}

void ty_mem_map_index_fini(struct ty_mem_map_index *x)
{
	free(x->edge);
	ty_interval_tree_fini(&x->lists);
	*x = (struct ty_mem_map_index){0};
}

/* Look-ups ------------------------------------------------------------------------------------- */

const struct ty_mem_map *ty_mem_maps_of(const struct ty_mem_stream *s, int32_t pid, size_t *n)
{
	size_t from = partition_point(i, 0, s->maps.n, s->maps.v[i].pid < pid);

	*n = partition_point(i, from, s->maps.n, s->maps.v[i].pid <= pid) - from;
	return vec_at(&s->maps, from);
}

/* The number of the first fork or exec of the process behind ts: those before it count. */
static size_t life_after(const struct ty_mem_stream *s, int32_t pid, uint64_t ts)
{
	return partition_point(i, 0, s->lives.n,
			       s->lives.v[i].pid < pid ||
				       (s->lives.v[i].pid == pid && s->lives.v[i].ts <= ts));
}

/* The fork or exec that the process's mappings at ts begin with; NULL: none recorded. */
static const struct ty_mem_life *life_at(const struct ty_mem_stream *s, int32_t pid, uint64_t ts)
{
	size_t i = life_after(s, pid, ts);

	return i && s->lives.v[i - 1].pid == pid ? &s->lives.v[i - 1] : NULL;
}

int32_t ty_mem_map_parent(const struct ty_mem_stream *s, int32_t pid, uint64_t *ts)
{
	const struct ty_mem_life *l = life_at(s, pid, *ts);

	if (!l)
		return -1;
	*ts = l->ts;
	return l->parent;
}

static void bound(struct ty_mem_when *w, uint64_t change, uint64_t ts)
{
	if (change <= ts && change > w->from_ns)
		w->from_ns = change;
	if (change > ts && change < w->to_ns)
		w->to_ns = change;
}

/* Of the process's own mappings, since its last fork or exec: the last one made at ts or before;
 * *early: one that was recorded later. */
static const struct ty_mem_map *own(const struct ty_mem_stream *s, int32_t pid, uint64_t addr,
				    uint64_t ts, struct ty_mem_when *w,
				    const struct ty_mem_map **early)
{
	const struct ty_mem_life *life = life_at(s, pid, ts);
	const struct ty_interval_tree *l = &s->map_index.lists;
	uint32_t at = stretch1(&s->map_index, (struct ty_mem_edge){pid, addr});
	const struct ty_mem_map *best = NULL, *m;

	*early = NULL;
	for (uint64_t node = at ? ty_interval_tree_node(l, at - 1) : 0; node; node /= 2) {
		uint32_t end = l->first[node + 1];
		uint32_t next =
			partition_point(i, l->first[node], end, s->maps.v[l->entry[i]].ts_ns <= ts);

		if (next > l->first[node]) {
			m = &s->maps.v[l->entry[next - 1]];
			best = best && age(best, m) > 0 ? best : m;
			bound(w, m->ts_ns, ts);
		}
		if (next < end) {
			m = &s->maps.v[l->entry[next]];
			*early = *early && age(m, *early) > 0 ? *early : m;
			bound(w, m->ts_ns, ts);
		}
	}
	return best && best->ts_ns >= (life ? life->ts : 0) ? best : NULL;
}

const struct ty_mem_map *ty_mem_map_when(const struct ty_mem_stream *s, int32_t pid, uint64_t addr,
					 uint64_t ts, struct ty_mem_when *when)
{
	struct ty_mem_when w = {0, UINT64_MAX}, older = w;
	const struct ty_mem_map *early, *m, *ignored;
	size_t next;
	int32_t p = addr >> 55 ? -1 : pid;

	m = own(s, p, addr, ts, &w, &early);
	if (p >= 0) { /* another life has other mappings */
		const struct ty_mem_life *l = life_at(s, p, ts);

		next = life_after(s, p, ts);
		if (l)
			bound(&w, l->ts, ts);
		if (next < s->lives.n && s->lives.v[next].pid == p)
			bound(&w, s->lives.v[next].ts, ts);
	}
	if (when)
		*when = w;
	for (int i = 0; !m && i < FORKS_MAX && (p = ty_mem_map_parent(s, p, &ts)) >= 0; i++)
		m = own(s, p, addr, ts, &older, &ignored);
	return m ? m : early;
}

static bool is_place(const struct ty_mem_stream *s, int32_t pid, uint64_t addr, uint64_t ts,
		     uint32_t file, uint64_t off)
{
	const struct ty_mem_map *m = ty_mem_map_find(s, pid, addr, ts);

	return m && m->file == file && addr - m->addr + m->pgoff == off;
}

bool ty_mem_map_same_place(const struct ty_mem_stream *s, struct ty_mem_place there, int32_t pid,
			   uint64_t ts, uint64_t *addr)
{
	const struct ty_mem_map *from = ty_mem_map_find(s, there.pid, there.addr, there.ts_ns);
	uint64_t off, born = ts;
	unsigned looks = 0;

	if (!from || from->name[0] != '/')
		return false;
	off = there.addr - from->addr + from->pgoff;
	*addr = there.addr;
	if (is_place(s, pid, *addr, ts, from->file, off)) /* a fork */
		return true;
	for (int32_t p = pid; p >= 0 && looks < LOOKS_MAX;
	     p = ty_mem_map_parent(s, p, &born), looks++) {
		size_t at;
		const struct ty_mem_map *maps = ty_mem_maps_of(s, p, &at);

		/* What was mapped last is likeliest to be there still. */
		for (; at > 0 && looks < LOOKS_MAX; looks++) {
			const struct ty_mem_map *m = &maps[--at];

			if (m->file != from->file || off < m->pgoff || off - m->pgoff >= m->len)
				continue;
			*addr = m->addr + (off - m->pgoff);
			if (is_place(s, pid, *addr, ts, from->file, off))
				return true;
			looks += LOOKS_FIND;
		}
	}
	return false;
}
