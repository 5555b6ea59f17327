/* SPDX-License-Identifier: MIT */
/* Points from samples (mem_points.h). Budget: 60 ns per sample, two hash look-ups. */
#include "mem_points.h"

#include <stdlib.h>
#include <string.h>

#include "big.h"

#define EXTENT_BLOCKS 4u /* 6 MB: three huge pages */

static uint64_t hash(uint64_t v)
{
	v ^= v >> 31;
	v *= 0x9e3779b97f4a7c15ull;
	return v ^ v >> 29;
}

static int grow(struct ty_mem_ids *t)
{
	uint64_t size = t->slot ? 2 * (t->mask + 1) : 1024;
	uint32_t *slot = calloc(size, sizeof(*slot));

	if (!slot)
		return -TY_ENOMEM;
	free(t->slot);
	t->slot = slot;
	t->mask = size - 1;
	for (size_t i = 0; i < t->keys.n; i++) {
		uint64_t at = hash(t->keys.v[i]) & t->mask;

		while (slot[at])
			at = (at + 1) & t->mask;
		slot[at] = (uint32_t)i + 1;
	}
	return 0;
}

int ty_mem_id(struct ty_mem_ids *t, uint64_t key, uint32_t *id, bool *fresh)
{
	uint64_t at;

	if ((!t->slot || t->keys.n * 2 > t->mask) && grow(t))
		return -TY_ENOMEM;
	*fresh = false;
	for (at = hash(key) & t->mask; t->slot[at]; at = (at + 1) & t->mask)
		if (t->keys.v[t->slot[at] - 1] == key) {
			*id = t->slot[at] - 1;
			return 0;
		}
	if (t->keys.n >= UINT32_MAX - 1)
		return -TY_ELIMIT;
	if (vec_push(&t->keys, key))
		return -TY_ENOMEM;
	*id = (uint32_t)t->keys.n - 1;
	t->slot[at] = *id + 1;
	*fresh = true;
	return 0;
}

uint32_t ty_mem_id_find(const struct ty_mem_ids *t, uint64_t key)
{
	if (t->slot)
		for (uint64_t at = hash(key) & t->mask; t->slot[at]; at = (at + 1) & t->mask)
			if (t->keys.v[t->slot[at] - 1] == key)
				return t->slot[at] - 1;
	return UINT32_MAX;
}

void ty_mem_ids_fini(struct ty_mem_ids *t)
{
	free(t->slot);
	vec_fini(&t->keys);
	*t = (struct ty_mem_ids){0};
}

static uint16_t cycles(uint32_t v)
{
	return v < UINT16_MAX ? (uint16_t)v : UINT16_MAX;
}

uint64_t ty_mem_points_bytes(const struct ty_mem_points *p)
{
	return (p->blocks.n + p->extent_left) * TY_MEM_BLOCK * sizeof(struct ty_mem_point) +
	       (p->pc_ids.keys.cap + p->thread_ids.keys.cap) * 8 +
	       (p->pc_ids.slot ? (p->pc_ids.mask + 1) * 4 : 0) +
	       (p->thread_ids.slot ? (p->thread_ids.mask + 1) * 4 : 0) +
	       p->threads.cap * sizeof(struct ty_mem_thread) +
	       p->gaps.cap * sizeof(struct ty_mem_gap_point);
}

static int add_gap(struct ty_mem_points *p, const struct ty_mem *m)
{
	p->gaps_n++;
	p->unreadable_bytes += m->gap_bytes;
	if (p->gaps.n >= TY_MEM_GAPS_MAX)
		return 0;
	return vec_push(&p->gaps, (struct ty_mem_gap_point){
					  .ts_ns = m->ts_ns,
					  .off = m->off,
					  .bytes = m->gap_bytes,
					  .why = m->gap,
					  .cpu = m->has & TY_MEM_HAS_CPU && m->cpu < UINT16_MAX
							 ? (uint16_t)m->cpu
							 : UINT16_MAX});
}

static unsigned flags(const struct ty_mem *m)
{
	return (ty_mem_writes(m) ? TY_MP_WRITES : 0) |
	       (m->has & TY_MEM_HAS_VA && m->kind != TY_MEM_BRANCH ? TY_MP_HAS_VA : 0) |
	       (m->has & TY_MEM_HAS_PA ? TY_MP_HAS_PA : 0) |
	       (m->has & TY_MEM_HAS_TOTAL ? TY_MP_HAS_LAT : 0) |
	       (m->has & TY_MEM_HAS_ISSUE ? TY_MP_HAS_SPLIT : 0) |
	       (m->has & TY_MEM_HAS_XLAT ? TY_MP_HAS_XLAT : 0) |
	       (m->has & TY_MEM_HAS_TIME ? TY_MP_HAS_TIME : 0) |
	       (m->kind == TY_MEM_BRANCH && m->has & TY_MEM_HAS_TARGET ? TY_MP_HAS_TARGET : 0);
}

/* One more block: the first by itself, because most files are small, then several at once. */
static int add_block(struct ty_mem_points *p)
{
	const size_t bytes = TY_MEM_BLOCK * sizeof(struct ty_mem_point);
	unsigned n = p->blocks.n ? EXTENT_BLOCKS : 1;
	char *e;

	if (!p->extent_left) {
		if (p->max_bytes && p->n && ty_mem_points_bytes(p) + n * bytes > p->max_bytes)
			return -TY_ELIMIT;
		e = ty_big_alloc(n * bytes);
		if (!e || vec_push(&p->extents, e)) {
			free(e);
			return -TY_ENOMEM;
		}
		p->extent_left = n;
		p->extent_blocks = n;
	}
	e = p->extents.v[p->extents.n - 1];
	if (vec_push(&p->blocks,
		     (struct ty_mem_point *)(e + (p->extent_blocks - p->extent_left) * bytes)))
		return -TY_ENOMEM;
	p->extent_left--;
	return 0;
}

int ty_mem_points_add(struct ty_mem_points *p, const struct ty_mem *m, const char *comm, bool core)
{
	struct ty_mem_point *o;
	uint32_t pc = UINT32_MAX, thread = TY_MEM_NO_THREAD;
	bool fresh;
	int r;

	if (m->kind == TY_MEM_GAP)
		return add_gap(p, m);
	if (m->has & TY_MEM_HAS_PC) {
		r = ty_mem_id(&p->pc_ids, m->pc, &pc, &fresh);
		if (r)
			return r;
		if (fresh && vec_push(&p->pc_pid, m->pid))
			return -TY_ENOMEM;
	}
	if (m->who != TY_MEM_WHO_UNKNOWN) {
		r = ty_mem_id(&p->thread_ids, (uint64_t)(uint32_t)m->pid << 32 | (uint32_t)m->tid,
			      &thread, &fresh);
		if (r)
			return r;
		if (fresh && vec_push(&p->threads, (struct ty_mem_thread){m->tid, m->pid, comm}))
			return -TY_ENOMEM;
	}
	if (p->n == p->blocks.n * (uint64_t)TY_MEM_BLOCK) {
		r = add_block(p);
		if (r)
			return r;
	}
	o = &p->blocks.v[p->n / TY_MEM_BLOCK][p->n % TY_MEM_BLOCK];
	*o = (struct ty_mem_point){
		.ts_ns = m->ts_ns,
		.va = m->kind == TY_MEM_BRANCH ? m->target : m->va,
		.pa = m->pa,
		.pc = pc,
		.thread = thread,
		.events = (uint32_t)m->events,
		.total = cycles(m->lat_total),
		.issue = cycles(m->lat_issue),
		.xlat = cycles(m->lat_xlat),
		.cpu = m->has & TY_MEM_HAS_CPU && m->cpu < UINT16_MAX ? (uint16_t)m->cpu
								      : UINT16_MAX,
		.kind = m->kind,
		.level = m->level,
		.src_flags = m->src_flags,
		.size = m->size,
		.flags = (uint8_t)flags(m),
		.core = core,
	};
	p->n++;
	return 0;
}

void ty_mem_points_fini(struct ty_mem_points *p)
{
	vec_each (e, &p->extents)
		free(*e);
	vec_fini(&p->extents);
	vec_fini(&p->blocks);
	vec_fini(&p->threads);
	vec_fini(&p->pc_pid);
	vec_fini(&p->gaps);
	ty_mem_ids_fini(&p->pc_ids);
	ty_mem_ids_fini(&p->thread_ids);
}
