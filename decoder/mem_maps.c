/* SPDX-License-Identifier: MIT */
/*
 * What processes had mapped when (mem_stream.h): their own mappings since their last exec, and what
 * their parents had when they were forked. A look-up walks all mappings of the process: for one per
 * page and change, not one per sample.
 */
#include "mem_side.h"

#include "partition.h"

#define FORKS_MAX 64 /* generations that are looked back */

/* Where the mappings of a process begin. */
static size_t maps_of(const struct ty_mem_stream *s, int32_t pid)
{
	return partition_point(i, 0, s->maps.n, s->maps.v[i].pid < pid);
}

const struct ty_mem_map *ty_mem_map_next(const struct ty_mem_stream *s, int32_t pid, size_t *at)
{
	size_t i = maps_of(s, pid) + *at;

	if (i >= s->maps.n || s->maps.v[i].pid != pid)
		return NULL;
	++*at;
	return &s->maps.v[i];
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
	const struct ty_mem_map *best = NULL;
	uint64_t born = life ? life->ts : 0;

	*early = NULL;
	for (size_t i = maps_of(s, pid); i < s->maps.n && s->maps.v[i].pid == pid; i++) {
		const struct ty_mem_map *m = &s->maps.v[i];

		if (addr < m->addr || addr - m->addr >= m->len)
			continue;
		bound(w, m->ts_ns, ts);
		if (m->ts_ns > ts)
			*early = *early ? *early : m;
		else if (m->ts_ns >= born)
			best = m;
	}
	return best;
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
