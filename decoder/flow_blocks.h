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
	uint64_t ip, last;	 /* of its first and last instruction */
	uint64_t next;		 /* behind the last */
	struct ty_step_insn end; /* the last one; OTHER: the block is long and goes on at next */
	uint64_t from_ns, until_ns;
	int32_t pid;
	uint16_t insns;
	const uint8_t *sizes; /* of its instructions */
	const uint8_t *bytes; /* [ip, next) */
};

struct ty_blocks;

/* code: borrowed, no longer changed. NULL: out of memory. */
struct ty_blocks *ty_blocks_new(struct ty_code *code);
void ty_blocks_free(struct ty_blocks *b);

/*
 * The block at ip of a process at a time. NULL: there is no code, it is none that is understood, or
 * the same bytes are there for no time at all. Valid until the next call.
 */
const struct ty_block *ty_blocks_at(struct ty_blocks *b, int32_t pid, uint64_t t_ns, uint64_t ip);

#endif
