/* SPDX-License-Identifier: MIT */
/*
 * Tables over memory samples under construction: shared by memory.c (threads), memory_keys.c
 * (selection of rows) and memory_rows.c (content of rows).
 */
#ifndef TY_MEMORY_TABLE_H
#define TY_MEMORY_TABLE_H

#include "key_range.h"
#include "memory_latency.h"

#define TY_MEMORY_MAYBE	   4096u
#define TY_MEMORY_KEYS_MIN 1024u /* minimum per pass */

struct ty_memory_counted {
	uint64_t count, cycles;
};

struct ty_memory_rank {
	struct ty_memory_counted c;
	uint64_t key;
};

/* Storage of a row's samples during the gathering. */
struct ty_memory_keep {
	struct ty_latency_value *value; /* all of them; NULL: counts */
	uint32_t *hist;
};

/* Targets of the rows' branches. */
struct ty_memory_targets {
	struct ty_key_range range;
	struct ty_mem_ids addresses, pairs; /* row << 32 | number of the address */
};

struct ty_memory_tab {
	const struct ty_mem_points *p;
	const struct ty_memory_request *request;
	struct ty_memory_tab
		*same;	     /* table by instruction, when its counts apply to this one, too */
	uint64_t keep_bytes; /* limit for values of rows, and targets, per pass */
	uint64_t keys_max;   /* pages per pass */
	/* While keys are counted: */
	bool counting;
	struct ty_key_range range;
	struct ty_mem_ids pages;
	VEC(struct ty_memory_counted) counts; /* by key, or number of the page */
	struct ty_memory_rank *best;	      /* so far; a min-heap */
	uint32_t best_n;
	/* While rows are gathered: */
	uint32_t *row_of;		/* by key (of functions: by pc); UINT32_MAX: none */
	struct ty_mem_ids shown;	/* of pages: keys of rows by their number */
	uint8_t maybe[TY_MEMORY_MAYBE]; /* filter: a page of a row has this hash */
	uint32_t from, to;		/* rows of this pass */
	struct ty_memory_keep *keep;	/* of these */
	struct ty_memory_targets targets;
	struct ty_memory_table *out;
};

/* A sample of a block, and its row. */
struct ty_memory_hit {
	uint32_t at, row;
};

/* Tables of one thread: each block is decoded once for all of them. */
struct ty_memory_group {
	struct ty_memory_tab *tab;
	unsigned n, want;		/* fields of a point needed for its keys */
	struct ty_memory_tab *branches; /* table of branches; NULL */
	const struct ty_mem_work *work;
};

#define TY_INLINE static inline __attribute__((always_inline))

/* True when a table by `by` counts this sample. */
TY_INLINE bool ty_memory_is_about(enum ty_memory_by by, const struct ty_mem_point *o)
{
	switch (by) {
	case TY_MEMORY_BY_PC:
	case TY_MEMORY_BY_FUNCTION: return o->pc != UINT32_MAX;
	case TY_MEMORY_BY_SOURCE: return o->kind == TY_MEM_LOAD || o->kind == TY_MEM_STORE;
	case TY_MEMORY_BY_PAGE: return o->flags & TY_MP_HAS_VA;
	case TY_MEMORY_BY_THREAD: return o->thread != TY_MEM_NO_THREAD;
	default: return o->kind == TY_MEM_BRANCH && o->pc != UINT32_MAX;
	}
}

TY_INLINE int32_t ty_memory_pid(const struct ty_memory_tab *t, const struct ty_mem_point *o)
{
	return o->va >> 55 || o->thread == TY_MEM_NO_THREAD ? -1 : t->p->thread[o->thread].pid;
}

/* Key of a sample; for a page 22 bits of pid and 42 of page, as in sharing.c. */
TY_INLINE uint64_t ty_memory_key(enum ty_memory_by by, const struct ty_memory_tab *t,
				 const struct ty_mem_point *o)
{
	switch (by) {
	case TY_MEMORY_BY_FUNCTION: return t->request->function_of_pc[o->pc];
	case TY_MEMORY_BY_SOURCE: return (uint64_t)o->level << 8 | o->src_flags;
	case TY_MEMORY_BY_PAGE:
		return (uint64_t)((uint32_t)ty_memory_pid(t, o) & 0x3fffff) << 42 |
		       (o->va >> 12 & ((1ull << 42) - 1));
	case TY_MEMORY_BY_THREAD: return o->thread;
	default: return o->pc;
	}
}

static inline unsigned ty_memory_maybe(uint64_t key)
{
	return (unsigned)ty_hash_bits(key, 12); /* below TY_MEMORY_MAYBE */
}

/* Counts by key, and selects the rows to show. 0, -TY_ENOMEM, -TY_EINTR, -TY_ELIMIT. */
int ty_memory_tab_keys(struct ty_memory_group *g);
/* Fills the selected rows. 0 or as above. */
int ty_memory_tab_rows(struct ty_memory_group *g);

#endif
