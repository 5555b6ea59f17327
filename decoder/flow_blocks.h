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

struct ty_block {
	/* Fields used while following code are in one cache line. */
	uint64_t ip, last; /* of its first and last instruction */
	uint64_t from_ns, until_ns;
	struct ty_step_insn end; /* the last instruction; OTHER: a long block that continues at
				  * end.next, if there is code */
	int32_t pid;
	uint32_t chain; /* flow_blocks.c's */
	uint32_t span;	/* length of its function; 0: unknown */
	uint8_t insns;
	uint8_t visits; /* flow_walk.c's, up to TY_BLOCK_HOT */
	uint8_t cls;	/* of the last instruction: enum ty_flow_class, and: */
	bool leaves;	/* with extents: the direct jump at its end leaves the function */
	uint64_t lo;	/* start of the function of the last instruction */
	struct ty_block *after[2]; /* most recent successors: at end.next, elsewhere; NULL */
	uint8_t sizes[]; /* of its instructions; without extents followed by the bytes of [ip,
			  * end.next) */
};

struct ty_blocks;

/* code: borrowed, no longer modified. NULL: out of memory. */
struct ty_blocks *ty_blocks_new(struct ty_code *code);
void ty_blocks_free(struct ty_blocks *b);
/* Makes blocks aware of functions; call before the first look-up. NULL: stops that and discards all
 * blocks. */
void ty_blocks_set_extents(struct ty_blocks *b, ty_extent_of *of, void *ctx);
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

/* As ty_blocks_at, after a valid block (or NULL). */
static inline struct ty_block *ty_blocks_after(struct ty_blocks *b, struct ty_block *from,
					       int32_t pid, uint64_t t_ns, uint64_t ip)
{
	struct ty_block *n = from ? from->after[ip != from->end.next] : NULL;

	if (n && n->ip == ip && n->pid == pid && t_ns >= n->from_ns && t_ns < n->until_ns)
		return n;
	return ty_blocks_link(b, from, pid, t_ns, ip);
}

/* True when the block, followed by code at `to`, ends with a call, a return or a jump to another
 * function. */
static inline bool ty_block_cuts(const struct ty_block *b, uint64_t to)
{
	const struct ty_step_insn *i = &b->end;

	switch (i->cls) {
	case TY_STEP_COND:
	case TY_STEP_DIRECT: return to != i->next && (i->call || b->leaves);
	case TY_STEP_INDIRECT:
		return i->ret || (to != i->next && (i->call || i->far || to - b->lo >= b->span));
	case TY_STEP_KERNEL: return true;
	default: return false;
	}
}

#endif
