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
#include "step_insn.h"

enum { TY_BLOCK_INSNS = 64 };

struct ty_block {
	/* What following the code looks at lies in one cache line. */
	uint64_t ip, last; /* of its first and last instruction */
	uint64_t from_ns, until_ns;
	struct ty_step_insn
		end; /* the last one; OTHER: the block is long and goes on at end.next */
	int32_t pid;
	uint16_t insns;
	struct ty_block *after[2]; /* what came behind it last: at end.next, elsewhere; NULL */
	uint8_t sizes[];	   /* of its instructions, then the bytes of [ip, end.next) */
};

struct ty_blocks;

/* code: borrowed, no longer changed. NULL: out of memory. */
struct ty_blocks *ty_blocks_new(struct ty_code *code);
void ty_blocks_free(struct ty_blocks *b);

/*
 * The block at ip of a process at a time. NULL: there is no code, it is none that is understood, or
 * the same bytes are there for no time at all. Valid while ty_blocks_age stays the same.
 */
struct ty_block *ty_blocks_at(struct ty_blocks *b, int32_t pid, uint64_t t_ns, uint64_t ip);
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

#endif
