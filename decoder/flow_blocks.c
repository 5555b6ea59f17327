/* SPDX-License-Identifier: MIT */
/*
 * See flow_blocks.h. A hash table of decoded blocks, laid out by address: code that is executed in
 * order of address finds its blocks, and their buckets, side by side. The table grows with the
 * number of blocks, because a window needs few and fresh memory is expensive. Budget: 1 ns when the
 * previous block knows its successor, 3 ns for another hit, a miss 0.1 us per instruction (1 us
 * when capstone is needed); 64 MB of blocks, then all are discarded, and 2 MB of table.
 */
#include "flow_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "code_bucket.h"
#include "disasm.h"
#include "huge_alloc.h"
#include "insn_size.h"

/* LOOK: blocks searched in a bucket; blocks after these are decoded again. */
enum { BITS_MIN = 10, BITS_MAX = 19, LOOK = 256, RECENT_BITS = 10 };
enum { INSN_MAX = TY_INSN_MAX, EXTENTS = 4 };
#define ARENA_PIECE (4u << 20)
#define ARENA_MAX   (64u << 20)

/* Of a block: its piece and its place there, in units of 8 bytes, plus 1; 0: none. */
typedef uint32_t block_ref;
enum { REF_BITS = 19 };
_Static_assert(ARENA_PIECE >> 3 == 1 << REF_BITS, "a place in a piece has REF_BITS");

struct ty_blocks {
	struct ty_code *code;
	struct ty_disasm *dis; /* NULL: not requested yet */
	struct ty_code_at at;
	uint8_t *pieces[ARENA_MAX / ARENA_PIECE]; /* NULL: no more */
	size_t piece, piece_used;		  /* number and used bytes of the last one */
	unsigned age;
	unsigned bits;
	size_t used;				   /* blocks that were put into: */
	block_ref *buckets;			   /* 2^bits: the first of each, the most recent */
	struct ty_block *recent[1 << RECENT_BITS]; /* by address: where branches led to */
	ty_extent_of *extent_of;		   /* NULL: not needed */
	void *extent_ctx;
	struct known {
		struct ty_extent e; /* of: */
		int32_t pid;
		uint64_t from_ns;
	} extents[EXTENTS]; /* the last ones */
	unsigned extent;    /* the oldest of them */
	void (*on_forget)(void *);
	void *on_forget_ctx;
};

struct ty_blocks *ty_blocks_new(struct ty_code *code)
{
	struct ty_blocks *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->code = code;
	b->bits = BITS_MIN;
	b->buckets = calloc((size_t)1 << b->bits, sizeof(*b->buckets));
	if (!b->buckets) {
		free(b);
		return NULL;
	}
	return b;
}

static void free_pieces(struct ty_blocks *b)
{
	for (size_t i = 0; i <= b->piece; i++)
		free(b->pieces[i]);
	memset(b->pieces, 0, sizeof(b->pieces));
	b->piece = b->piece_used = 0;
}

static void forget(struct ty_blocks *b)
{
	if (b->on_forget)
		b->on_forget(b->on_forget_ctx);
	free_pieces(b);
	b->used = 0;
	b->age++;
	memset(b->buckets, 0, sizeof(*b->buckets) << b->bits);
	memset(b->recent, 0, sizeof(b->recent));
}

void ty_blocks_set_extents(struct ty_blocks *b, ty_extent_of *of, void *ctx)
{
	if (b->extent_of == of && b->extent_ctx == ctx)
		return;
	forget(b);
	b->extent_of = of;
	b->extent_ctx = ctx;
	memset(b->extents, 0, sizeof(b->extents));
}

void ty_blocks_on_forget(struct ty_blocks *b, void (*call)(void *ctx), void *ctx)
{
	b->on_forget = call;
	b->on_forget_ctx = ctx;
}

void ty_blocks_free(struct ty_blocks *b)
{
	if (!b)
		return;
	free_pieces(b);
	ty_disasm_free(b->dis);
	free(b->buckets);
	free(b);
}

static block_ref *bucket_of(const struct ty_blocks *b, int32_t pid, uint64_t ip)
{
	return &b->buckets[ty_code_bucket(pid, ip, b->bits)];
}

static size_t recent_of(uint64_t ip)
{
	return ty_hash_bits(ip, RECENT_BITS);
}

static struct ty_block *block_at(const struct ty_blocks *b, block_ref ref)
{
	return (struct ty_block *)(void *)(b->pieces[(ref - 1) >> REF_BITS] +
					   ((ref - 1) & ((1 << REF_BITS) - 1)) * 8);
}

static size_t size_in_arena(size_t both_n)
{
	return (sizeof(struct ty_block) + both_n + 7) & ~(size_t)7;
}

static void put(struct ty_blocks *b, struct ty_block *x, block_ref ref)
{
	block_ref *first = bucket_of(b, x->pid, x->ip);

	x->chain = *first;
	*first = ref;
}

/* Twice the buckets; without memory for them it stays as it is. */
static void grow(struct ty_blocks *b)
{
	block_ref *more = calloc((size_t)2 << b->bits, sizeof(*more));

	if (!more)
		return;
	free(b->buckets);
	b->buckets = more;
	b->bits++;
	for (size_t i = 0; i <= b->piece && b->pieces[i]; i++) {
		size_t n = i < b->piece ? ARENA_PIECE : b->piece_used, at = 0;

		while (at + sizeof(struct ty_block) <= n) {
			struct ty_block *x = (struct ty_block *)(void *)(b->pieces[i] + at);

			if (!x->insns)
				break; /* the rest is not used */
			put(b, x, (block_ref)(i << REF_BITS | at >> 3) + 1);
			at += size_in_arena(x->insns + (b->extent_of ? 0 : x->end.next - x->ip));
		}
	}
}

/* Room for a block of any length; NULL: out of memory. */
static struct ty_block *room(struct ty_blocks *b)
{
	const size_t most = size_in_arena(TY_BLOCK_INSNS + TY_BLOCK_INSNS * INSN_MAX);
	uint8_t **piece;

	if (b->pieces[b->piece] && ARENA_PIECE - b->piece_used < most) {
		memset(b->pieces[b->piece] + b->piece_used, 0, ARENA_PIECE - b->piece_used);
		if (b->piece + 1 == ARENA_MAX / ARENA_PIECE)
			forget(b);
		else
			b->piece++;
	}
	piece = &b->pieces[b->piece];
	if (!*piece) {
		/* A window needs a small part of the first one. */
		*piece = b->piece ? ty_huge_alloc(ARENA_PIECE) : malloc(ARENA_PIECE);
		b->piece_used = 0;
	}
	return *piece ? (struct ty_block *)(void *)(*piece + b->piece_used) : NULL;
}

/* Keeps the block that was made in that room, with its lengths and bytes, in its bucket. */
static struct ty_block *keep(struct ty_blocks *b, struct ty_block *made, size_t both_n)
{
	if (++b->used > (size_t)2 << b->bits && b->bits < BITS_MAX)
		grow(b);
	put(b, made, (block_ref)(b->piece << REF_BITS | b->piece_used >> 3) + 1);
	b->piece_used += size_in_arena(both_n);
	return made;
}

/* The last instruction's length, from the opcode maps or else from a disassembler. */
static size_t size_of(struct ty_blocks *b, const struct ty_block *block, const uint8_t *bytes,
		      size_t n)
{
	size_t size;

	if (block->end.cls == TY_STEP_COND || block->end.cls == TY_STEP_DIRECT)
		return block->end.next - block->last;
	size = ty_insn_size(bytes, n);
	if (size)
		return size;
	b->dis = b->dis ? b->dis : ty_disasm_new(TY_DISASM_X86_64);
	return b->dis ? ty_disasm_size(b->dis, bytes, n, block->last) : 0;
}

static void hold_while(struct ty_block *out, const struct ty_code_at *at)
{
	if (at->from_ns > out->from_ns)
		out->from_ns = at->from_ns;
	if (at->until_ns < out->until_ns)
		out->until_ns = at->until_ns;
}

/* The code at ip, in place (at least INSN_MAX bytes) or up to INSN_MAX of them in `bytes`; how many
 * bytes. */
static size_t fetch(struct ty_blocks *b, int32_t pid, uint64_t t_ns, uint64_t ip, uint8_t *bytes,
		    const uint8_t **code, struct ty_block *out)
{
	size_t n;

	*code = bytes;
	if (!ty_code_is_at(&b->at, pid, t_ns, ip) && !ty_code_find(b->code, pid, t_ns, ip, &b->at))
		return 0;
	hold_while(out, &b->at);
	if (b->at.hi - ip >= INSN_MAX) {
		*code = b->at.p + (ip - b->at.lo);
		return b->at.hi - ip;
	}
	/* The first byte and the others may be of two mappings. */
	n = ty_code_read(b->code, pid, t_ns, ip, bytes, INSN_MAX, &b->at);
	if (n == INSN_MAX)
		hold_while(out, &b->at);
	return n;
}

/* The function of an address. */
static const struct ty_extent *extent_at(struct ty_blocks *b, int32_t pid, uint64_t t_ns,
					 uint64_t ip)
{
	struct known *k = b->extents;

	for (; k < b->extents + EXTENTS; k++)
		if (ip - k->e.lo < k->e.hi - k->e.lo && k->pid == pid && t_ns >= k->from_ns &&
		    t_ns < k->e.until_ns)
			return &k->e;
	k = &b->extents[b->extent++ % EXTENTS];
	*k = (struct known){.e = {.until_ns = UINT64_MAX}, .pid = pid, .from_ns = t_ns};
	b->extent_of(b->extent_ctx, pid, t_ns, ip, &k->e);
	return &k->e;
}

/* The function of the block's end, and whether its jump leaves it. */
static void extend(struct ty_blocks *b, struct ty_block *out, uint64_t t_ns)
{
	const struct ty_step_insn *i = &out->end;
	const struct ty_extent *e;
	struct ty_extent to;

	if (!b->extent_of)
		return;
	e = extent_at(b, out->pid, t_ns, out->last);
	if (e->until_ns < out->until_ns)
		out->until_ns = e->until_ns;
	if (e->hi - e->lo <= UINT32_MAX) {
		out->lo = e->lo;
		out->span = (uint32_t)(e->hi - e->lo);
	}
	if ((i->cls != TY_STEP_COND && i->cls != TY_STEP_DIRECT) || i->call ||
	    i->target - e->lo < e->hi - e->lo)
		return;
	to = (struct ty_extent){.until_ns = UINT64_MAX};
	b->extent_of(b->extent_ctx, out->pid, t_ns, i->target, &to);
	if (to.until_ns < out->until_ns)
		out->until_ns = to.until_ns;
	out->leaves = to.named;
}

static uint8_t class_of(const struct ty_step_insn *i)
{
	switch (i->cls) {
	case TY_STEP_COND: return TY_FC_COND;
	case TY_STEP_DIRECT: return i->call ? TY_FC_CALL : TY_FC_JUMP;
	case TY_STEP_KERNEL: return TY_FC_FAR_CALL;
	case TY_STEP_INDIRECT:
		return i->far	 ? TY_FC_FAR_JUMP
		       : i->ret	 ? TY_FC_RETURN
		       : i->call ? TY_FC_CALL
				 : TY_FC_JUMP | TY_BLOCK_INDIRECT;
	default: return TY_FC_OTHER;
	}
}

static struct ty_block *decode(struct ty_blocks *b, int32_t pid, uint64_t t_ns, uint64_t ip)
{
	uint8_t bytes[TY_BLOCK_INSNS * INSN_MAX], few[INSN_MAX], *sizes;
	struct ty_block *out = room(b);
	const uint8_t *code = few;
	size_t n = 0, left = 0; /* left: bytes at `code` */

	if (!out)
		return NULL;
	*out = (struct ty_block){.ip = ip, .pid = pid, .until_ns = UINT64_MAX};
	sizes = out->sizes;
	do {
		size_t size;
		unsigned k = 0;

		if (left < INSN_MAX)
			left = fetch(b, pid, t_ns, ip + n, few, &code, out);
		/* What is executed before the code that is missing is known. */
		if (!left && out->insns)
			break;
		if (!left)
			return NULL;
		if (code != few)
			k = ty_insn_plain(code, left, sizes + out->insns,
					  TY_BLOCK_INSNS - out->insns, &size);
		if (k) {
			out->end = (struct ty_step_insn){.cls = TY_STEP_OTHER};
			out->insns += (uint8_t)k;
		} else {
			const size_t got = left < INSN_MAX ? left : INSN_MAX;

			out->last = ip + n;
			out->end = ty_step_classify(code, got, out->last, true);
			size = out->end.rare ? 0 : size_of(b, out, code, got);
			if (!size || size > got)
				return NULL;
			sizes[out->insns++] = (uint8_t)size;
		}
		/* Counting needs no bytes. */
		if (!b->extent_of)
			memcpy(bytes + n, code, size);
		n += size;
		left = code == few ? 0 : left - size;
		code += size;
	} while ((out->end.cls == TY_STEP_OTHER || out->end.cls == TY_STEP_REP) &&
		 out->insns < TY_BLOCK_INSNS);
	if (t_ns < out->from_ns || t_ns >= out->until_ns)
		return NULL;
	out->end.next = ip + n;
	out->last = ip + n - sizes[out->insns - 1];
	out->cls = class_of(&out->end);
	extend(b, out, t_ns);
	if (b->extent_of)
		n = 0;
	memcpy(sizes + out->insns, bytes, n);
	return keep(b, out, out->insns + n);
}

bool ty_blocks_missing(struct ty_blocks *b, int32_t pid, uint64_t t_ns, uint64_t ip)
{
	return !ty_code_is_at(&b->at, pid, t_ns, ip) &&
	       !ty_code_find(b->code, pid, t_ns, ip, &b->at);
}

struct ty_block *ty_blocks_at(struct ty_blocks *b, int32_t pid, uint64_t t_ns, uint64_t ip)
{
	block_ref at = *bucket_of(b, pid, ip);

	for (unsigned looks = 0; at && looks < LOOK; looks++) {
		struct ty_block *s = block_at(b, at);

		if (s->ip == ip && s->pid == pid && t_ns >= s->from_ns && t_ns < s->until_ns)
			return s;
		at = s->chain;
	}
	return decode(b, pid, t_ns, ip);
}

unsigned ty_blocks_age(const struct ty_blocks *b)
{
	return b->age;
}

static __attribute__((noinline)) struct ty_block *link_far(struct ty_blocks *b,
							   struct ty_block *from, int32_t pid,
							   uint64_t t_ns, uint64_t ip)
{
	const unsigned age = b->age;
	struct ty_block *n = ty_blocks_at(b, pid, t_ns, ip);

	if (n)
		b->recent[recent_of(ip)] = n;
	if (n && from && age == b->age)
		from->after[ip != from->end.next] = n;
	return n;
}

/* What is not among the recent ones is left to a call at the end, so that nothing is saved for it
 * here. */
struct ty_block *ty_blocks_link(struct ty_blocks *b, struct ty_block *from, int32_t pid,
				uint64_t t_ns, uint64_t ip)
{
	struct ty_block *n = b->recent[recent_of(ip)];

	if (!n || n->ip != ip || n->pid != pid || t_ns < n->from_ns || t_ns >= n->until_ns)
		return link_far(b, from, pid, t_ns, ip);
	if (from)
		from->after[ip != from->end.next] = n;
	return n;
}
