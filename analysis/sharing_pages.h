/* SPDX-License-Identifier: MIT */
/*
 * Determines the cache line of an access from what is known of its page: its physical address, and
 * the file or shared memory it belongs to.
 */
#ifndef TY_SHARING_PAGES_H
#define TY_SHARING_PAGES_H

#include "mem_points.h"

/* A line: its address / bytes of a line, and the address space: a process's pid (-1: the kernel, or
 * unknown), physical memory, or shared memory of that number. */
struct ty_line_key {
	uint64_t line;
	int32_t of;
};
#define TY_LINE_PHYSICAL       INT32_MIN
#define TY_LINE_SHARED(number) ((int32_t)(INT32_MIN + 1 + (int64_t)(number)))
#define TY_LINE_SHARED_MAX     (1u << 30)
static inline bool ty_line_is_shared(int32_t of)
{
	return of > TY_LINE_PHYSICAL && of <= TY_LINE_SHARED(TY_LINE_SHARED_MAX);
}

struct ty_line_page {
	uint64_t pa;		 /* its number; special values */
	uint64_t from_ns, to_ns; /* valid for: */
	uint64_t off;		 /* offset of the page in the shared memory */
	uint32_t shared;	 /* TY_MEM_NOT_SHARED */
};

struct ty_line_pages {
	const struct ty_mem_points *p;
	const struct ty_mem_work *work;
	uint64_t max_bytes;
	bool used;   /* false: a line is identified by its own address alone */
	bool shares; /* mappings of shared memory are recorded */
	bool watch;  /* all have physical addresses; whether pages move is still unknown */
	bool moved;
	struct ty_mem_ids ids;
	VEC(struct ty_line_page) page;
};

/* Collects the pages of all points, if only some have physical addresses, or processes share
 * memory. max_bytes: memory limit. 0, -TY_ENOMEM, -TY_EINTR; -TY_ELIMIT: not enough memory to
 * distinguish lines. Call fini in any state. */
int ty_line_pages_begin(struct ty_line_pages *g, const struct ty_mem_points *p, uint64_t max_bytes,
			const struct ty_mem_work *work);
/* While g->watch, called with all points in the first pass: checks that pages stay at their
 * addresses. 1: some moved, and lines so far were identified by wrong addresses; 0, -TY_ENOMEM,
 * -TY_EINTR. Beyond a number of pages the check stops: moving pages are not a reason to fail. */
int ty_line_pages_watch(struct ty_line_pages *g, const struct ty_mem_point *o, uint32_t n);
/* Ends the check by scanning all points now. 0, -TY_ENOMEM, -TY_EINTR. */
int ty_line_pages_settle(struct ty_line_pages *g);
void ty_line_pages_fini(struct ty_line_pages *g);

/* True for a memory access with an address. */
static inline bool ty_line_counts(const struct ty_mem_point *o)
{
	return (o->kind == TY_MEM_LOAD || o->kind == TY_MEM_STORE) &&
	       o->flags & (TY_MP_HAS_VA | TY_MP_HAS_PA);
}

/* Process of an access's virtual address; -1: the kernel's, or unknown. */
static inline int32_t ty_line_process(const struct ty_mem_points *p, const struct ty_mem_point *o)
{
	return o->va >> 55 ? -1 : p->thread[o->thread].pid;
}

/* Pids have 22 bits, addresses 54 (with the sign); without the 12 bits of the page offset both fit
 * one word. */
static inline uint64_t ty_line_page_key(const struct ty_line_pages *g, const struct ty_mem_point *o)
{
	return (uint64_t)((uint32_t)ty_line_process(g->p, o) & 0x3fffff) << 42 |
	       (o->va >> 12 & ((1ull << 42) - 1));
}

#define TY_LINE_PA_UNKNOWN (UINT64_MAX - 1)

/* Fields of a point needed by ty_line_key_of. */
unsigned ty_line_pages_want(const struct ty_line_pages *g);
struct ty_line_key ty_line_key_by_page(struct ty_line_pages *g, const struct ty_mem_point *o,
				       unsigned shift);

/* The line of 1 << shift bytes of an access with an address. */
static inline struct ty_line_key ty_line_key_of(struct ty_line_pages *g,
						const struct ty_mem_point *o, unsigned shift)
{
	if (g->used)
		return ty_line_key_by_page(g, o, shift);
	if (o->flags & TY_MP_HAS_PA)
		return (struct ty_line_key){o->pa >> shift, TY_LINE_PHYSICAL};
	return (struct ty_line_key){o->va >> shift, ty_line_process(g->p, o)};
}

#endif
