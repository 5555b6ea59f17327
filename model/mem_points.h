/* SPDX-License-Identifier: MIT */
/*
 * Memory samples as points in time order: what analyses of them stand on. 48 bytes each, in blocks;
 * instructions by id. What the samples do not hold has no bit. Built once, const afterwards.
 */
#ifndef TY_MEM_POINTS_H
#define TY_MEM_POINTS_H

#include "err.h"
#include "mem_access.h"
#include "vec.h"

#define TY_MEM_NO_THREAD UINT32_MAX

/* ty_mem_point.flags */
#define TY_MP_WRITES	 0x01
#define TY_MP_HAS_VA	 0x02
#define TY_MP_HAS_PA	 0x04
#define TY_MP_HAS_LAT	 0x08 /* total */
#define TY_MP_HAS_SPLIT	 0x10 /* issue */
#define TY_MP_HAS_XLAT	 0x20
#define TY_MP_HAS_TIME	 0x40
#define TY_MP_HAS_TARGET 0x80 /* a branch's target stands in va */

struct ty_mem_point {
	uint64_t ts_ns, va, pa;
	uint32_t pc;	 /* pc_ids.keys.v[pc] is its address; UINT32_MAX: not recorded */
	uint32_t thread; /* index into threads; TY_MEM_NO_THREAD */
	uint32_t events; /* the low 32 bits */
	uint16_t total, issue, xlat; /* cycles; 65535: that or more */
	uint16_t cpu;		     /* UINT16_MAX: not known */
	uint8_t kind;		     /* enum ty_mem_kind */
	uint8_t level, src_flags;    /* as in ty_mem */
	uint8_t size;		     /* bytes; 0: not known */
	uint8_t flags;		     /* TY_MP_* */
	uint8_t core;		     /* 1: its data source codes are known */
};

struct ty_mem_thread {
	int32_t tid, pid; /* pid -1: not known */
	const char *comm; /* "" not known; borrowed from who made the points */
};

struct ty_mem_gap_point {
	uint64_t ts_ns, off, bytes;
	const char *why;
	uint16_t cpu;
};

/* Numbers 0, 1, 2... for 64-bit keys, in the order of their first use. */
struct ty_mem_ids {
	uint32_t *slot; /* id + 1; 0: free */
	uint64_t mask;
	VEC(uint64_t) keys; /* by id */
};
/* The number of a key: 0, or -TY_ENOMEM / -TY_ELIMIT (2^32). *fresh: it is new. */
int ty_mem_id(struct ty_mem_ids *t, uint64_t key, uint32_t *id, bool *fresh);
/* UINT32_MAX when the key has none. */
uint32_t ty_mem_id_find(const struct ty_mem_ids *t, uint64_t key);
void ty_mem_ids_fini(struct ty_mem_ids *t);

#define TY_MEM_BLOCK 32768u

struct ty_mem_points {
	VEC(struct ty_mem_point *) blocks;
	VEC(void *) extents;		     /* what the blocks lie in */
	unsigned extent_blocks, extent_left; /* of the last one: all; those still to be used */
	uint64_t n;
	uint64_t first; /* of a borrowed part of other points: where it begins; else 0 */
	VEC(struct ty_mem_thread) threads;
	VEC(struct ty_mem_gap_point) gaps; /* the first TY_MEM_GAPS_MAX */
	uint64_t gaps_n, unreadable_bytes;
	uint64_t max_bytes; /* 0: no limit */
	struct ty_mem_ids pc_ids, thread_ids;
	VEC(int32_t) pc_pid; /* by pc id: the process of its first sample; -1 */
};
#define TY_MEM_GAPS_MAX 65536u

/* Add one. comm: of its thread, "" unknown, borrowed to the end. 0, -TY_ENOMEM, -TY_ELIMIT (beyond
 * max_bytes). */
int ty_mem_points_add(struct ty_mem_points *p, const struct ty_mem *m, const char *comm, bool core);
void ty_mem_points_fini(struct ty_mem_points *p);
/* Bytes held. */
uint64_t ty_mem_points_bytes(const struct ty_mem_points *p);

static inline const struct ty_mem_point *ty_mem_points_get(const struct ty_mem_points *p,
							   uint64_t i)
{
	i += p->first;
	return &p->blocks.v[i / TY_MEM_BLOCK][i % TY_MEM_BLOCK];
}

#endif
