/* SPDX-License-Identifier: MIT */
/*
 * The basic blocks of executed code, each decoded once: where it ends, by what branch, and the
 * length of each instruction. Kept by address and process, and only for as long as the code map
 * says that these bytes were there. 64-bit code only. One per thread.
 */
#ifndef TY_FLOW_BLOCKS_H
#define TY_FLOW_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "code_map.h"
#include "pt_stream.h"
#include "step_insn.h"

enum { TY_BLOCK_INSNS = 64, TY_BLOCK_HOT = 12 };
#define TY_BLOCK_INDIRECT 0x80 /* a near jump to where a register or memory says */

/* The function that an address is of. */
struct ty_extent {
	uint64_t lo, hi;   /* its bytes; 0: not known */
	uint64_t until_ns; /* something else may be there then */
	bool named;	   /* there is a function */
};
/* Called by the threads that decode, several at a time. */
typedef void ty_extent_of(void *ctx, int32_t pid, uint64_t t_ns, uint64_t ip,
			  struct ty_extent *out);

struct ty_block {
	/* What following the code looks at lies in one cache line. */
	uint64_t ip, last; /* of its first and last instruction */
	uint64_t from_ns, until_ns;
	struct ty_step_insn end; /* the last one; OTHER: the block is long and goes on at end.next,
				    if there is code */
	int32_t pid;
	uint8_t insns;
	uint8_t visits;	 /* flow_walk.c's, up to TY_BLOCK_HOT */
	uint8_t cls;	 /* of the last one: enum ty_flow_class, and: */
	bool leaves;	 /* with extents: the direct jump that ends it goes to another function */
	uint64_t lo, hi; /* the extent of the last one; 0: not known */
	struct ty_block *after[2]; /* what came behind it last: at end.next, elsewhere; NULL */
	uint8_t sizes[]; /* of its instructions; without extents, then the bytes of [ip, end.next)
			  */
};

struct ty_blocks;

/* code: borrowed, no longer changed. NULL: out of memory. */
struct ty_blocks *ty_blocks_new(struct ty_code *code);
void ty_blocks_free(struct ty_blocks *b);
/* From now on blocks know the functions they are of; before any is asked for. NULL: not any more;
 * all blocks are forgotten. */
void ty_blocks_set_extents(struct ty_blocks *b, ty_extent_of *of, void *ctx);
/* Called before all blocks are forgotten. */
void ty_blocks_on_forget(struct ty_blocks *b, void (*call)(void *ctx), void *ctx);

/*
 * The block at ip of a process at a time. NULL: there is no code, it is none that is understood, or
 * the same bytes are there for no time at all. Valid while ty_blocks_age stays the same.
 */
struct ty_block *ty_blocks_at(struct ty_blocks *b, int32_t pid, uint64_t t_ns, uint64_t ip);
/* Is nothing known of the byte at ip of a process at a time? */
bool ty_blocks_missing(struct ty_blocks *b, int32_t pid, uint64_t t_ns, uint64_t ip);
/* Counts how often all blocks were forgotten. */
unsigned ty_blocks_age(const struct ty_blocks *b);
/* As ty_blocks_at, kept as what comes behind `from`. */
struct ty_block *ty_blocks_link(struct ty_blocks *b, struct ty_block *from, int32_t pid,
				uint64_t t_ns, uint64_t ip);

/* As ty_blocks_at, behind a valid block (or NULL). */
static inline struct ty_block *ty_blocks_after(struct ty_blocks *b, struct ty_block *from,
					       int32_t pid, uint64_t t_ns, uint64_t ip)
{
	struct ty_block *n = from ? from->after[ip != from->end.next] : NULL;

	if (n && n->ip == ip && n->pid == pid && t_ns >= n->from_ns && t_ns < n->until_ns)
		return n;
	return ty_blocks_link(b, from, pid, t_ns, ip);
}

/* Is the end of the block, when the code goes on at `to`, a call, a return or a jump to another
 * function? */
static inline bool ty_block_cuts(const struct ty_block *b, uint64_t to)
{
	const struct ty_step_insn *i = &b->end;

	switch (i->cls) {
	case TY_STEP_COND:
	case TY_STEP_DIRECT: return to != i->next && (i->call || b->leaves);
	case TY_STEP_INDIRECT:
		return i->ret ||
		       (to != i->next && (i->call || i->far || to - b->lo >= b->hi - b->lo));
	case TY_STEP_KERNEL: return true;
	default: return false;
	}
}

#endif
