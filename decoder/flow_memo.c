/* SPDX-License-Identifier: MIT */
/*
 * See flow_memo.h. A direct-mapped table of steps; cuts are in an arena, and everything is
 * discarded when that is full, or when the blocks are. A return is part of a step only when its
 * call is, too: otherwise it ends the step, because the calls before it are unknown.
 */
#include "flow_memo.h"

#include <stdlib.h>
#include <string.h>

#include "pt_query.h"

enum { BITS_MIN = 11, BITS_MAX = 15, DEPTH_MAX = 16, BLOCKS_MAX = 128 };
/* The cuts may take this part of the memory of blocks: 512 KB to 8 MB. */
enum { BLOCKS_PART = 8 };
_Static_assert(UINT16_MAX / TY_BLOCK_INSNS >= BLOCKS_MAX, "a step counts its instructions");
#define ARENA_PIECE (64u << 10)

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
	memset(m->tried, 0, sizeof(m->tried));
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

/* What a step is made of. */
struct making {
	struct ty_memo memo;
	unsigned blocks;
	uint8_t cuts_n, rets_n, deepest;
	struct ty_memo_cut cuts[TY_MEMO_CUTS];
	uint64_t rets[DEPTH_MAX];
};

/* True for several calls and returns from them, and nothing else. */
static bool repeats(const struct making *k)
{
	unsigned depth = 0;

	for (unsigned i = 0; i < k->cuts_n; i++) {
		if (k->cuts[i].cls == TY_FC_CALL)
			depth++;
		else if (k->cuts[i].cls != TY_FC_RETURN || !depth--)
			return false;
	}
	return k->cuts_n > 1;
}

static struct ty_memo_calls *keep(struct ty_memos *m, const struct making *k)
{
	const size_t cuts = k->cuts_n * sizeof(*k->cuts), rets = k->rets_n * sizeof(*k->rets);
	const size_t n = sizeof(struct ty_memo_calls) + cuts + rets; /* a multiple of 8 */
	struct ty_memo_calls *to;

	if (!m->pieces || ARENA_PIECE - m->used < n) {
		struct ty_memo_piece *fresh;

		if (m->total >= ty_blocks_memory(m->blocks) / BLOCKS_PART)
			forget(m);
		fresh = malloc(sizeof(*fresh));
		if (!fresh)
			return NULL;
		fresh->next = m->pieces;
		m->pieces = fresh;
		m->used = 0;
		m->total += ARENA_PIECE;
	}
	to = (struct ty_memo_calls *)(void *)(m->pieces->bytes + m->used);
	m->used += n;
	*to = (struct ty_memo_calls){.cuts_n = k->cuts_n,
				     .rets_n = k->rets_n,
				     .deepest = k->deepest,
				     .repeats = repeats(k)};
	memcpy(to->cuts, k->cuts, cuts);
	memcpy((uint8_t *)to->cuts + cuts, k->rets, rets);
	return to;
}

/* Where the end of the block leads to; false: the step ends before it. */
static bool follow(struct making *k, const struct ty_block *b, bool taken, uint64_t *to)
{
	switch (b->end.cls) {
	case TY_STEP_OTHER:
	case TY_STEP_REP: *to = ty_block_next(b); return true;
	case TY_STEP_COND: *to = taken ? ty_block_target(b) : ty_block_next(b); return true;
	case TY_STEP_DIRECT:
		*to = ty_block_target(b);
		if (!b->end.call || *to == ty_block_next(b))
			return true;
		if (k->rets_n == DEPTH_MAX)
			return false;
		k->rets[k->rets_n++] = ty_block_next(b);
		if (k->rets_n > k->deepest)
			k->deepest = k->rets_n;
		return true;
	case TY_STEP_INDIRECT:
		if (!b->end.ret || !taken || !k->rets_n)
			return false;
		*to = k->rets[--k->rets_n];
		return true;
	default: return false;
	}
}

/* The block is executed, and `to` follows it. */
static void pass(struct making *k, const struct ty_block *b, uint64_t to)
{
	struct ty_memo *o = &k->memo;

	k->blocks++;
	o->idle++;
	o->insns += b->insns;
	o->last = ty_block_last(b);
	o->size = b->last_size;
	o->cls = b->cls;
	if (!ty_block_cuts(b, to))
		return;
	k->cuts[k->cuts_n++] = (struct ty_memo_cut){
		.last = o->last, .to = to, .insns = o->insns, .size = o->size, .cls = o->cls};
	o->insns = 0;
}

static void hold_while(struct ty_memo *o, const struct ty_block_when *when)
{

	o->from_ns = when->from_ns > o->from_ns ? when->from_ns : o->from_ns;
	o->until_ns = when->until_ns < o->until_ns ? when->until_ns : o->until_ns;
}

/* false: blocks were forgotten. */
static bool go(struct ty_memos *m, struct making *k, struct ty_block *b, uint64_t bits, unsigned n,
	       bool on, uint64_t t_ns)
{
	const unsigned age = ty_blocks_age(m->blocks);
	struct ty_memo *o = &k->memo;
	uint64_t to;

	while (k->blocks < BLOCKS_MAX && k->cuts_n < TY_MEMO_CUTS) {
		const bool asks = b->end.cls == TY_STEP_COND || b->end.cls == TY_STEP_INDIRECT;

		const struct ty_block_when *when = ty_block_when(m->blocks, b);

		hold_while(o, when);
		if ((asks && o->used == n) || !follow(k, b, bits >> 63, &to))
			break;
		pass(k, b, to);
		b = ty_blocks_after(m->blocks, b, when->pid, t_ns, to);
		if (age != ty_blocks_age(m->blocks))
			return false;
		o->next = b;
		if (!b)
			break;
		if (asks) {
			bits <<= 1;
			o->idle = 0;
			if (++o->used == n && !on)
				break;
		}
	}
	/* Without a block the next step decodes the code there, block by block. */
	if (o->next)
		hold_while(o, ty_block_when(m->blocks, o->next));
	return true;
}

/* Makes room for it, and keeps its calls; false: out of memory. */
static bool admit(struct ty_memos *m, struct making *k)
{
	if (++m->made > (size_t)1 << m->bits && m->bits < BITS_MAX)
		grow(m);
	if (k->cuts_n) {
		k->memo.calls = keep(m, k);
		if (!k->memo.calls)
			return false;
	}
	return true;
}

const struct ty_memo *ty_memo_make(struct ty_memos *m, struct ty_block *from, uint64_t bits,
				   unsigned n, bool on, uint64_t t_ns)
{
	struct making k = {.memo = {.from = (uintptr_t)from, .until_ns = UINT64_MAX}};
	struct ty_memo *slot;

	k.memo.key = (uint16_t)ty_memo_key(bits, n, on);
	if (!go(m, &k, from, bits, n, on, t_ns))
		return NULL;
	if (!admit(m, &k))
		return NULL;
	slot = ty_memo_slot(m, from, k.memo.key);
	*slot = k.memo;
	return slot->next ? slot : NULL;
}

void ty_memo_learn(struct ty_memos *m, const struct ty_block *from, int32_t pid, uint64_t to,
		   uint8_t tnt, uint64_t t_ns)
{
	const unsigned age = ty_blocks_age(m->blocks);
	const unsigned n = tnt ? ty_pt_tnt_width(tnt) : 0;
	struct making k = {.memo = {.from = from->end.call ? (uintptr_t)from : ty_memo_process(pid),
				    .to = to,
				    .until_ns = UINT64_MAX,
				    .key = (uint16_t)(TY_MEMO_HOP | tnt)}};
	const uint64_t hash = ty_memo_hop_hash(k.memo.from, to, tnt);
	uint8_t *tried = &m->tried[hash >> (64 - TY_MEMO_TRIED_BITS)];
	const uint8_t tag = (uint8_t)(hash >> 32) | 1;
	struct ty_block *b;

	if (*tried != tag) {
		*tried = tag;
		return;
	}
	if (from->end.call) {
		hold_while(&k.memo, ty_block_when(m->blocks, from));
		k.rets[k.rets_n++] = ty_block_next(from);
		k.deepest = 1;
		pass(&k, from, to);
	}
	b = ty_blocks_entered(m->blocks, pid, t_ns, to);
	if (!b || age != ty_blocks_age(m->blocks))
		return;
	k.memo.next = b;
	k.memo.idle = 0;
	if (go(m, &k, b, tnt ? ty_pt_tnt_bits(tnt) : 0, n, true, t_ns) && k.memo.next &&
	    admit(m, &k))
		m->slots[hash >> (64 - m->bits)] = k.memo;
}
