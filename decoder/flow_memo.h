/* SPDX-License-Identifier: MIT */
/*
 * Memoised steps through code: from a block, by up to eight branches stated by packets, to a block;
 * with the number of instructions and the positions of calls, returns and jumps out of a function.
 * In a loop, a step is a table look-up. Each step stores until when its code was unchanged. One per
 * thread. Budget: 3 ns per step, 256 KB to 4 MB.
 */
#ifndef TY_FLOW_MEMO_H
#define TY_FLOW_MEMO_H

#include <stdbool.h>
#include <stdint.h>

#include "flow_blocks.h"
#include "hash_index.h"

enum { TY_MEMO_BRANCHES = 8, TY_MEMO_CUTS = 24 };

/* The instruction at `last` called, returned to or jumped to another function at `to`. */
struct ty_memo_cut {
	uint64_t last, to;
	uint32_t insns; /* executed since the previous cut, including this one */
	uint8_t size, cls;
};

struct ty_memo_calls {
	uint8_t cuts_n, rets_n, deepest; /* deepest: maximum call depth within the step */
	bool repeats;			 /* several calls and returns, and nothing else */
	/* flow_walk.c's: the walk that took it last, and its copy for that; NULL: none yet. */
	uint32_t walk;
	struct ty_walk_path *path;
	struct ty_memo_cut cuts[]; /* cuts_n; followed by rets_n return addresses */
};

struct ty_memo {
	_Alignas(64) const struct ty_block *from;
	uint64_t from_ns, until_ns;
	struct ty_block *next;	     /* continues there; NULL: there is no step */
	uint64_t last;		     /* the last instruction before */
	struct ty_memo_calls *calls; /* NULL: no cut */
	uint16_t insns;		     /* since the last cut */
	uint16_t key;
	uint8_t idle;	   /* blocks since the last branch */
	uint8_t used;	   /* branches */
	uint8_t size, cls; /* of the last instruction */
};

struct ty_memos {
	struct ty_blocks *blocks;
	struct ty_memo *slots; /* 2^bits */
	unsigned bits;
	size_t made;
	struct ty_memo_piece *pieces;
	size_t used, total; /* bytes in the first piece; in total */
	uint32_t walks;	    /* flow_walk.c's: number of ranges walked */
};

/* blocks: borrowed; NULL: out of memory. */
struct ty_memos *ty_memos_new(struct ty_blocks *blocks);
void ty_memos_free(struct ty_memos *m);

enum { TY_MEMO_ON = 1 << 15 };

/* As ty_memo_find, for an unknown step. */
const struct ty_memo *ty_memo_make(struct ty_memos *m, struct ty_block *from, uint64_t bits,
				   unsigned n, bool on, uint64_t t_ns);

/* bits: zero behind the branches. */
static inline unsigned ty_memo_key(uint64_t bits, unsigned n, bool on)
{
	return (unsigned)(bits >> (64 - TY_MEMO_BRANCHES)) | n << TY_MEMO_BRANCHES |
	       (on ? TY_MEMO_ON : 0);
}

static inline struct ty_memo *ty_memo_slot(const struct ty_memos *m, const struct ty_block *from,
					   unsigned key)
{
	return &m->slots[ty_hash_bits((uintptr_t)from >> 3 ^ (uint64_t)key << 40, m->bits)];
}

/*
 * The step from a block, by n branches (0 to 8; the highest bits of `bits`, of which there are no
 * others when n is below 8), up to just after the last of them, or (on) to the next point that
 * needs a packet, at a time. NULL: there is none, and blocks may have been discarded. Valid until
 * the next call.
 */
static inline const struct ty_memo *ty_memo_find(struct ty_memos *m, struct ty_block *from,
						 uint64_t bits, unsigned n, bool on, uint64_t t_ns)
{
	unsigned key = ty_memo_key(bits, n, on);
	const struct ty_memo *s = ty_memo_slot(m, from, key);

	if (s->from == from && s->key == key && t_ns >= s->from_ns && t_ns < s->until_ns)
		return s->next ? s : NULL;
	return ty_memo_make(m, from, bits, n, on, t_ns);
}

static inline const uint64_t *ty_memo_rets(const struct ty_memo_calls *c)
{
	return (const uint64_t *)(const void *)(c->cuts + c->cuts_n);
}

#endif
