/* SPDX-License-Identifier: MIT */
/*
 * Memoised steps through code: from a block, by up to eight branches stated by packets, to a block;
 * with the number of instructions and the positions of calls, returns and jumps out of a function.
 * In a loop, a step is a table look-up. Each step stores until when its code was unchanged. One per
 * thread. Budget: 3 ns per step, 256 KB to 4 MB.
 *
 * A hop is a step by a TIP packet and the TNT packet behind it. It begins with the indirect branch,
 * if that is a call, and is found by its block, too; otherwise behind it, and is found by the
 * target alone, so that the processor need not wait for the hop before.
 */
#ifndef TY_FLOW_MEMO_H
#define TY_FLOW_MEMO_H

#include <stdbool.h>
#include <stdint.h>

#include "flow_blocks.h"
#include "hash_index.h"

enum { TY_MEMO_BRANCHES = 8, TY_MEMO_CUTS = 24, TY_MEMO_TRIED_BITS = 12 };

/* The instruction at `last` called, returned to or jumped to another function at `to`. */
struct ty_memo_cut {
	uint64_t last, to;
	uint32_t insns; /* executed since the previous cut, including this one */
	uint8_t size, cls;
};

struct ty_memo_calls {
	uint8_t cuts_n, rets_n, deepest; /* deepest: maximum call depth within the step */
	bool repeats;			 /* several calls and returns from them, and nothing else */
	/* flow_walk.c's: the walk that took it last, and its copy for that; NULL: none yet. */
	uint32_t walk;
	struct ty_walk_path *path;
	struct ty_memo_cut cuts[]; /* cuts_n; followed by rets_n return addresses */
};

struct ty_memo {
	_Alignas(64) uint64_t from; /* the block; of a hop that begins behind it the process */
	uint64_t to;		    /* of a hop: target of the indirect branch */
	uint64_t from_ns, until_ns;
	struct ty_block *next;	     /* continues there; NULL: there is no step */
	uint64_t last;		     /* the last instruction before; 0: the step has none */
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
	size_t used, total;			/* bytes in the first piece; in total */
	uint32_t walks;				/* flow_walk.c's: number of ranges walked */
	uint8_t tried[1 << TY_MEMO_TRIED_BITS]; /* hops that were wanted once: bits of their hash */
};

/* blocks: borrowed; NULL: out of memory. */
struct ty_memos *ty_memos_new(struct ty_blocks *blocks);
void ty_memos_free(struct ty_memos *m);

enum { TY_MEMO_ON = 1 << 15, TY_MEMO_HOP = 1 << 14 };

/* As ty_memo_find, for an unknown step. */
const struct ty_memo *ty_memo_make(struct ty_memos *m, struct ty_block *from, uint64_t bits,
				   unsigned n, bool on, uint64_t t_ns);

/* Makes a hop known, when it is wanted again: through the indirect branch at the end of `from` to
 * an address of a process, then by the bits of a TNT packet (0: none). Blocks may be discarded. */
void ty_memo_learn(struct ty_memos *m, const struct ty_block *from, int32_t pid, uint64_t to,
		   uint8_t tnt, uint64_t t_ns);

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

/* What hops are found by that do not begin with a block: no block has an odd address. */
static inline uint64_t ty_memo_process(int32_t pid)
{
	return (uint64_t)(uint32_t)pid << 1 | 1;
}

static inline uint64_t ty_memo_hop_hash(uint64_t from, uint64_t to, uint8_t tnt)
{
	return (from >> 3 ^ to ^ (uint64_t)tnt << 48) * TY_HASH_FACTOR;
}

/* The hop, if it is known. */
static inline const struct ty_memo *ty_memo_hop(const struct ty_memos *m, uint64_t from,
						uint64_t to, uint8_t tnt, uint64_t t_ns)
{
	const struct ty_memo *s = &m->slots[ty_memo_hop_hash(from, to, tnt) >> (64 - m->bits)];

	return s->to == to && s->from == from && s->key == (TY_MEMO_HOP | tnt) &&
			       t_ns >= s->from_ns && t_ns < s->until_ns
		       ? s
		       : NULL;
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

	if (s->from == (uintptr_t)from && s->key == key && t_ns >= s->from_ns && t_ns < s->until_ns)
		return s->next ? s : NULL;
	return ty_memo_make(m, from, bits, n, on, t_ns);
}

static inline const uint64_t *ty_memo_rets(const struct ty_memo_calls *c)
{
	return (const uint64_t *)(const void *)(c->cuts + c->cuts_n);
}

#endif
