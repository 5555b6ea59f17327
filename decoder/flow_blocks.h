/* SPDX-License-Identifier: MIT */
/*
 * The basic blocks of executed code, each decoded once: its end, the branch that ends it, and the
 * length of each instruction. Cached by address and process, for as long as the code map states
 * that these bytes were present. 64-bit code only. One per thread.
 */
#ifndef TY_FLOW_BLOCKS_H
#define TY_FLOW_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "code_map.h"
#include "hash_index.h"
#include "pt_stream.h"
#include "step_insn.h"

enum { TY_BLOCK_INSNS = 64, TY_BLOCK_HOT = 12 };
#define TY_BLOCK_INDIRECT 0x80 /* a near jump through a register or memory */

/* The function that contains an address. */
struct ty_extent {
	uint64_t lo, hi;   /* address range; 0: unknown */
	uint64_t until_ns; /* end of this answer's validity */
	bool named;	   /* there is a function */
};
/* Called concurrently by the decoding threads. */
typedef void ty_extent_of(void *ctx, int32_t pid, uint64_t t_ns, uint64_t ip,
			  struct ty_extent *out);

/* Which process's code is meant, and when it was so: the same for many blocks. */
struct ty_block_when {
	uint64_t from_ns, until_ns;
	int32_t pid;
};

/* A place of a block, in units of 8 bytes from the start of all, plus 1; 0: none. */
typedef uint32_t ty_block_ref;

/* Less than a cache line with the lengths: code that is executed once costs what it takes to write
 * this, and other code what it takes to read it. */
struct ty_block {
	uint64_t ip;
	ty_block_ref after[2]; /* most recent successors: at the next address, elsewhere */
	ty_block_ref chain;    /* flow_blocks.c's */
	union {
		int32_t target; /* COND, DIRECT: from the next address on */
		uint32_t into;	/* INDIRECT: of the last instruction in its function, whose */
	};
	uint32_t span;	/* INDIRECT: length this is; 0: unknown */
	uint16_t when;	/* number of its struct ty_block_when */
	uint16_t bytes; /* up to the next address, where a long block continues, if there is code
			 * (OTHER) */
	struct {
		uint8_t cls; /* enum ty_step_class */
		bool call : 1, ret : 1, far : 1;
		bool leaves : 1; /* with extents: the direct jump at its end leaves the function */
	} end;			 /* of the last instruction, as in struct ty_step_insn */
	uint8_t last_size;
	uint8_t insns;
	uint8_t visits;	 /* flow_walk.c's, up to TY_BLOCK_HOT */
	uint8_t cls;	 /* of the last instruction: enum ty_flow_class, and: */
	uint8_t sizes[]; /* of its instructions; without extents followed by its bytes */
};

enum { TY_BLOCKS_RECENT_BITS = 10, TY_BLOCKS_EXTENTS = 4 };

/* Private, but for the functions here. */
struct ty_blocks {
	uint8_t *arena; /* of the blocks, room for `most`, of which are used: */
	size_t used, most;
	struct ty_block_when *whens; /* whens_n */
	size_t whens_n;
	struct {
		uint32_t ip; /* lower half */
		ty_block_ref to;
	} recent[1 << TY_BLOCKS_RECENT_BITS]; /* by address: where branches led to */
	ty_block_ref *buckets;		      /* 2^bits: the first of each, the most recent */
	unsigned bits;
	size_t n; /* blocks */
	unsigned age;
	struct ty_code *code;
	struct ty_code_at at;
	struct ty_disasm *dis;	 /* NULL: not requested yet */
	ty_extent_of *extent_of; /* NULL: not needed */
	void *extent_ctx;
	struct ty_block_extent {
		struct ty_extent e; /* of: */
		int32_t pid;
		uint64_t from_ns;
	} extents[TY_BLOCKS_EXTENTS]; /* the last ones */
	unsigned extent;	      /* the oldest of them */
	void (*on_forget)(void *);
	void *on_forget_ctx;
};

/* The address behind it. */
static inline uint64_t ty_block_next(const struct ty_block *b)
{
	return b->ip + b->bytes;
}

static inline uint64_t ty_block_last(const struct ty_block *b)
{
	return ty_block_next(b) - b->last_size;
}

/* COND, DIRECT. */
static inline uint64_t ty_block_target(const struct ty_block *b)
{
	return ty_block_next(b) + (uint64_t)(int64_t)b->target;
}

static inline const struct ty_block_when *ty_block_when(const struct ty_blocks *b,
							const struct ty_block *x)
{
	return &b->whens[x->when];
}

/* True if it is the block at ip of a process at a time. */
static inline bool ty_block_is(const struct ty_blocks *b, const struct ty_block *x, int32_t pid,
			       uint64_t t_ns, uint64_t ip)
{
	const struct ty_block_when *w = ty_block_when(b, x);

	return x->ip == ip && w->pid == pid && t_ns >= w->from_ns && t_ns < w->until_ns;
}

static inline struct ty_block *ty_block_at(const struct ty_blocks *b, ty_block_ref ref)
{
	return (struct ty_block *)(void *)(b->arena + (size_t)(ref - 1) * 8);
}

static inline ty_block_ref ty_block_ref_of(const struct ty_blocks *b, const struct ty_block *x)
{
	return (ty_block_ref)(((const uint8_t *)x - b->arena) / 8) + 1;
}

/* code: borrowed, no longer modified. NULL: out of memory. */
struct ty_blocks *ty_blocks_new(struct ty_code *code);
void ty_blocks_free(struct ty_blocks *b);
/* Makes blocks aware of functions; call before the first look-up. NULL: stops that and discards all
 * blocks. */
void ty_blocks_set_extents(struct ty_blocks *b, ty_extent_of *of, void *ctx);
/* Bytes that all blocks may take; 4 MB to 64 MB, which is the default. */
void ty_blocks_set_memory(struct ty_blocks *b, size_t bytes);
size_t ty_blocks_memory(const struct ty_blocks *b);
/* Called before all blocks are discarded. */
void ty_blocks_on_forget(struct ty_blocks *b, void (*call)(void *ctx), void *ctx);

/*
 * The block at ip of a process at a time. NULL: there is no code, it cannot be decoded, or its
 * bytes have no validity interval. Valid while ty_blocks_age does not change.
 */
struct ty_block *ty_blocks_at(struct ty_blocks *b, int32_t pid, uint64_t t_ns, uint64_t ip);
/* True when the byte at ip of a process at a time is unknown. */
bool ty_blocks_missing(struct ty_blocks *b, int32_t pid, uint64_t t_ns, uint64_t ip);
/* Counts how often all blocks were discarded. */
unsigned ty_blocks_age(const struct ty_blocks *b);
/* As ty_blocks_at, cached as successor of `from`. */
struct ty_block *ty_blocks_link(struct ty_blocks *b, struct ty_block *from, int32_t pid,
				uint64_t t_ns, uint64_t ip);

/* One of the recent blocks; NULL: not among them. Another one that is there is not read: it may be
 * in no cache. */
static inline struct ty_block *ty_blocks_recent(const struct ty_blocks *b, int32_t pid,
						uint64_t t_ns, uint64_t ip)
{
	const size_t i = ty_hash_bits(ip, TY_BLOCKS_RECENT_BITS);
	struct ty_block *x;

	if (!b->recent[i].to || b->recent[i].ip != (uint32_t)ip)
		return NULL;
	x = ty_block_at(b, b->recent[i].to);
	return ty_block_is(b, x, pid, t_ns, ip) ? x : NULL;
}

/* As ty_blocks_at, where an indirect branch led to. */
static inline struct ty_block *ty_blocks_entered(struct ty_blocks *b, int32_t pid, uint64_t t_ns,
						 uint64_t ip)
{
	struct ty_block *n = ty_blocks_recent(b, pid, t_ns, ip);

	return n ? n : ty_blocks_link(b, NULL, pid, t_ns, ip);
}

/* As ty_blocks_at, after a valid block (or NULL). */
static inline struct ty_block *ty_blocks_after(struct ty_blocks *b, struct ty_block *from,
					       int32_t pid, uint64_t t_ns, uint64_t ip)
{
	const ty_block_ref ref = from ? from->after[ip != ty_block_next(from)] : 0;

	if (ref && ty_block_is(b, ty_block_at(b, ref), pid, t_ns, ip))
		return ty_block_at(b, ref);
	return ty_blocks_link(b, from, pid, t_ns, ip);
}

/* As ty_block_cuts, of a block that ends with an indirect branch. */
static inline bool ty_block_cuts_indirect(const struct ty_block *b, uint64_t to)
{
	return b->end.ret ||
	       (to != ty_block_next(b) &&
		(b->end.call || b->end.far || to - (ty_block_last(b) - b->into) >= b->span));
}

/* True when the block, followed by code at `to`, ends with a call, a return or a jump to another
 * function. */
static inline bool ty_block_cuts(const struct ty_block *b, uint64_t to)
{
	switch (b->end.cls) {
	case TY_STEP_COND:
	case TY_STEP_DIRECT: return to != ty_block_next(b) && (b->end.call || b->end.leaves);
	case TY_STEP_INDIRECT: return ty_block_cuts_indirect(b, to);
	case TY_STEP_KERNEL: return true;
	default: return false;
	}
}

#endif
