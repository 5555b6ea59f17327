/* SPDX-License-Identifier: MIT */
/*
 * See flow_memo.h. A direct-mapped table of steps; cuts are in an arena, and everything is
 * discarded when that is full, or when the blocks are. A return is part of a step only when its
 * call is, too: otherwise it ends the step, because the calls before it are unknown.
 */
#include "flow_memo.h"

#include <stdlib.h>
#include <string.h>

#include "vec.h"

enum { BITS_MIN = 11, BITS_MAX = 15, CUTS_MAX = 24, DEPTH_MAX = 16, BLOCKS_MAX = 128 };
#define ARENA_PIECE (64u << 10)
#define ARENA_MAX   (8u << 20)

struct ty_memo_piece {
	struct ty_memo_piece *next;
	_Alignas(8) uint8_t bytes[ARENA_PIECE];
};

static void forget(void *ctx)
{
	struct ty_memos *m = ctx;

	while (m->pieces) {
		struct ty_memo_piece *p = m->pieces;

		m->pieces = p->next;
		free(p);
	}
	m->total = 0;
	m->made = 0;
	memset(m->slots, 0, sizeof(*m->slots) << m->bits);
}

struct ty_memos *ty_memos_new(struct ty_blocks *blocks)
{
	struct ty_memos *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->blocks = blocks;
	m->bits = BITS_MIN;
	m->slots = aligned_alloc(64, sizeof(*m->slots) << m->bits);
	if (!m->slots) {
		free(m);
		return NULL;
	}
	forget(m);
	ty_blocks_on_forget(blocks, forget, m);
	return m;
}

void ty_memos_free(struct ty_memos *m)
{
	if (!m)
		return;
	ty_blocks_on_forget(m->blocks, NULL, NULL);
	forget(m);
	free(m->slots);
	free(m);
}

/* A larger table; what is known is found out again. */
static void grow(struct ty_memos *m)
{
	struct ty_memo *slots = aligned_alloc(64, sizeof(*slots) << (m->bits + 1));

	if (!slots)
		return;
	free(m->slots);
	m->slots = slots;
	m->bits++;
	forget(m);
}

static void *keep(struct ty_memos *m, const void *p, size_t n, const void *q, size_t k)
{
	uint8_t *to;

	if (!m->pieces || ARENA_PIECE - m->used < n + k) {
		struct ty_memo_piece *fresh;

		if (m->total >= ARENA_MAX)
			forget(m);
		fresh = malloc(sizeof(*fresh));
		if (!fresh)
			return NULL;
		fresh->next = m->pieces;
		m->pieces = fresh;
		m->used = 0;
		m->total += ARENA_PIECE;
	}
	to = m->pieces->bytes + m->used;
	m->used += n + k;
	memcpy(to, p, n);
	memcpy(to + n, q, k);
	return to;
}

/* What a step is made of. */
struct making {
	struct ty_memo memo;
	struct ty_memo_cut cuts[CUTS_MAX];
	uint64_t rets[DEPTH_MAX];
};

static void cut(struct making *k, const struct ty_block *b, uint64_t to)
{
	k->cuts[k->memo.cuts_n++] = (struct ty_memo_cut){.last = b->last,
							 .to = to,
							 .insns = k->memo.insns,
							 .size = b->sizes[b->insns - 1],
							 .cls = b->cls};
	k->memo.insns = 0;
}

/* Where the end of the block leads to; false: the step ends before it. */
static bool follow(struct making *k, const struct ty_block *b, bool taken, uint64_t *to)
{
	struct ty_memo *o = &k->memo;

	switch (b->end.cls) {
	case TY_STEP_OTHER:
	case TY_STEP_REP: *to = b->end.next; return true;
	case TY_STEP_COND: *to = taken ? b->end.target : b->end.next; return true;
	case TY_STEP_DIRECT:
		*to = b->end.target;
		if (!b->end.call || *to == b->end.next)
			return true;
		if (o->rets_n == DEPTH_MAX)
			return false;
		k->rets[o->rets_n++] = b->end.next;
		if (o->rets_n > o->deepest)
			o->deepest = o->rets_n;
		return true;
	case TY_STEP_INDIRECT:
		if (!b->end.ret || !taken || !o->rets_n)
			return false;
		*to = k->rets[--o->rets_n];
		return true;
	default: return false;
	}
}

/* false: blocks were forgotten. */
static bool go(struct ty_memos *m, struct making *k, struct ty_block *b, uint64_t bits, unsigned n,
	       uint64_t t_ns)
{
	const unsigned age = ty_blocks_age(m->blocks);
	struct ty_memo *o = &k->memo;
	uint64_t to;

	while (o->blocks < BLOCKS_MAX && o->cuts_n < CUTS_MAX) {
		bool asks = b->end.cls == TY_STEP_COND || b->end.cls == TY_STEP_INDIRECT;

		o->from_ns = b->from_ns > o->from_ns ? b->from_ns : o->from_ns;
		o->until_ns = b->until_ns < o->until_ns ? b->until_ns : o->until_ns;
		if ((asks && o->used == n) || !follow(k, b, bits >> 63, &to))
			break;
		o->blocks++;
		o->idle++;
		o->insns += b->insns;
		o->last = b->last;
		o->size = b->sizes[b->insns - 1];
		o->cls = b->cls;
		if (ty_block_cuts(b, to))
			cut(k, b, to);
		b = ty_blocks_after(m->blocks, b, b->pid, t_ns, to);
		if (age != ty_blocks_age(m->blocks))
			return false;
		o->next = b;
		if (!b)
			break;
		if (asks) {
			bits <<= 1;
			o->idle = 0;
			if (++o->used == n)
				break;
		}
	}
	/* The next step decodes the code there, block by block. */
	if (!o->next)
		o->blocks = 0;
	else if (o->next->from_ns > o->from_ns)
		o->from_ns = o->next->from_ns;
	if (o->next && o->next->until_ns < o->until_ns)
		o->until_ns = o->next->until_ns;
	return true;
}

const struct ty_memo *ty_memo_make(struct ty_memos *m, struct ty_block *from, uint64_t bits,
				   unsigned n, uint64_t t_ns)
{
	struct making k = {.memo = {.from = from, .until_ns = UINT64_MAX}};
	struct ty_memo *slot;

	k.memo.key = (uint16_t)(1u << n | bits >> 1 >> (63 - n));
	if (!go(m, &k, from, bits, n, t_ns))
		return NULL;
	if (++m->made > (size_t)1 << m->bits && m->bits < BITS_MAX)
		grow(m);
	if (k.memo.cuts_n || k.memo.rets_n)
		k.memo.cuts = keep(m, k.cuts, k.memo.cuts_n * sizeof(*k.cuts), k.rets,
				   k.memo.rets_n * sizeof(*k.rets));
	if ((k.memo.cuts_n || k.memo.rets_n) && !k.memo.cuts)
		return NULL;
	slot = ty_memo_slot(m, from, k.memo.key);
	*slot = k.memo;
	return slot->blocks ? slot : NULL;
}
