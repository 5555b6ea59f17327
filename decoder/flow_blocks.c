/* SPDX-License-Identifier: MIT */
/*
 * See flow_blocks.h. A hash table of decoded blocks, laid out by address: code that is executed in
 * order of address finds its blocks, and their buckets, side by side. The table grows with the
 * number of blocks, because a window needs few and fresh memory is expensive. Budget: 1 ns when the
 * previous block knows its successor, 3 ns for another hit, a miss 0.1 us per instruction (1 us
 * when capstone is needed); up to 64 MB of blocks, then all are discarded, and 2 MB of table.
 */
#include "flow_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "code_bucket.h"
#include "disasm.h"
#include "huge_alloc.h"
#include "insn_size.h"
#include "unaligned.h"

/* LOOK: blocks searched in a bucket; blocks after these are decoded again. */
enum { BITS_MIN = 10, BITS_MAX = 19, GROW_BITS = 3, LOOK = 256 };
enum { INSN_MAX = TY_INSN_MAX, WHENS = 4, WHENS_MAX = UINT16_MAX + 1 };
#define ARENA_UNIT (4u << 20)
#define ARENA_MAX  (64u << 20)
_Static_assert(TY_BLOCK_INSNS *INSN_MAX <= UINT16_MAX, "a block's bytes are counted");

struct ty_blocks *ty_blocks_new(struct ty_code *code)
{
	struct ty_blocks *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	ty_insn_plain_ready();
	b->code = code;
	b->most = ARENA_MAX;
	b->bits = BITS_MIN;
	b->arena = ty_huge_reserve(ARENA_MAX);
	b->buckets = calloc((size_t)1 << b->bits, sizeof(*b->buckets));
	b->whens = malloc(WHENS_MAX * sizeof(*b->whens));
	if (b->arena && b->buckets && b->whens)
		return b;
	ty_blocks_free(b);
	return NULL;
}

static void forget(struct ty_blocks *b)
{
	if (b->on_forget)
		b->on_forget(b->on_forget_ctx);
	b->used = b->n = b->whens_n = 0;
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

void ty_blocks_set_memory(struct ty_blocks *b, size_t bytes)
{
	bytes -= bytes % ARENA_UNIT;
	b->most = !bytes ? ARENA_UNIT : bytes < ARENA_MAX ? bytes : ARENA_MAX;
}

size_t ty_blocks_memory(const struct ty_blocks *b)
{
	return b->most;
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
	ty_huge_release(b->arena, ARENA_MAX);
	ty_disasm_free(b->dis);
	free(b->buckets);
	free(b->whens);
	free(b);
}

static ty_block_ref *bucket_of(const struct ty_blocks *b, int32_t pid, uint64_t ip)
{
	return &b->buckets[ty_code_bucket(pid, ip, b->bits)];
}

static size_t size_in_arena(size_t both_n)
{
	return (offsetof(struct ty_block, sizes) + both_n + 7) & ~(size_t)7;
}

static void put(struct ty_blocks *b, struct ty_block *x)
{
	ty_block_ref *first = bucket_of(b, ty_block_when(b, x)->pid, x->ip);

	x->chain = *first;
	*first = ty_block_ref_of(b, x);
}

/* Eight times the buckets; without memory for them it stays as it is. */
static void grow(struct ty_blocks *b)
{
	const unsigned bits = b->bits + GROW_BITS;
	ty_block_ref *more = ty_huge_table(sizeof(*more) << bits);

	if (!more)
		return;
	free(b->buckets);
	b->buckets = more;
	b->bits = bits;
	for (size_t at = 0; at < b->used;) {
		struct ty_block *x = (struct ty_block *)(void *)(b->arena + at);

		put(b, x);
		at += size_in_arena(x->insns + (b->extent_of ? 0 : (size_t)x->bytes));
	}
}

/* Room for a block of any length. */
static struct ty_block *room(struct ty_blocks *b)
{
	const size_t most = size_in_arena(TY_BLOCK_INSNS + TY_BLOCK_INSNS * INSN_MAX);

	if (b->whens_n == WHENS_MAX || b->used + most > b->most)
		forget(b);
	return (struct ty_block *)(void *)(b->arena + b->used);
}

/* Keeps the block that was made in that room, with its lengths and bytes, in its bucket. */
static struct ty_block *keep(struct ty_blocks *b, struct ty_block *made, size_t both_n)
{
	if (++b->n > (size_t)2 << b->bits && b->bits < BITS_MAX)
		grow(b);
	put(b, made);
	b->used += size_in_arena(both_n);
	return made;
}

/* A block as it is made: when its code was so, and its end. */
struct making {
	struct ty_block_when when;
	struct ty_step_insn end;
	uint64_t last;		    /* of the last instruction */
	const struct ty_extent *in; /* its function; NULL: unknown */
	uint8_t cls;		    /* as in struct ty_block */
	bool leaves;
};

/* Near jumps, calls and returns without a prefix, which end nearly all blocks; its length, 0: it is
 * another instruction. */
static inline size_t plain_end(struct making *k, const uint8_t *code)
{
	const uint8_t op = code[0];
	size_t size;
	int32_t to;

	if ((op & 0xf0) == 0x70 || op == 0xeb) {
		size = 2;
		to = (int8_t)code[1];
	} else if ((op & 0xfe) == 0xe8) {
		size = 5;
		to = (int32_t)ty_u32_at(code + 1);
	} else if (op == 0x0f && (code[1] & 0xf0) == 0x80) {
		size = 6;
		to = (int32_t)ty_u32_at(code + 2);
	} else if (op == 0xc3) {
		k->end.cls = TY_STEP_INDIRECT;
		k->end.ret = true;
		return 1;
	} else {
		return 0;
	}
	k->end.cls = (op & 0xfc) == 0xe8 ? TY_STEP_DIRECT : TY_STEP_COND;
	k->end.call = op == 0xe8;
	k->end.next = k->last + size;
	k->end.target = k->end.next + (uint64_t)(int64_t)to;
	return size;
}

/* The last instruction, of which there are n bytes: by the opcode maps, its length by these or else
 * a disassembler; its length, 0: unknown, or it cannot be followed. */
static size_t end_with(struct ty_blocks *b, struct making *k, const uint8_t *code, size_t n)
{
	size_t size = n < INSN_MAX ? 0 : plain_end(k, code);

	if (size)
		return size;
	k->end = ty_step_classify(code, n, k->last, true);
	if (k->end.rare)
		return 0;
	if (k->end.cls == TY_STEP_COND || k->end.cls == TY_STEP_DIRECT)
		return k->end.next - k->last;
	size = ty_insn_size(code, n);
	if (size)
		return size;
	b->dis = b->dis ? b->dis : ty_disasm_new(TY_DISASM_X86_64, NULL);
	return b->dis ? ty_disasm_size(b->dis, code, n, k->last) : 0;
}

static void hold_while(struct ty_block_when *when, const struct ty_code_at *at)
{
	if (at->from_ns > when->from_ns)
		when->from_ns = at->from_ns;
	if (at->until_ns < when->until_ns)
		when->until_ns = at->until_ns;
}

/* Kept, as long as the blocks are. */
static uint16_t keep_when(struct ty_blocks *b, const struct ty_block_when *w)
{
	const size_t n = b->whens_n, end = n > WHENS ? n - WHENS : 0;

	for (size_t i = n; i > end; i--) {
		const struct ty_block_when *o = &b->whens[i - 1];

		if (o->from_ns == w->from_ns && o->until_ns == w->until_ns && o->pid == w->pid)
			return (uint16_t)(i - 1);
	}
	b->whens[b->whens_n++] = *w;
	return (uint16_t)n;
}

/* The code at ip, in place (at least INSN_MAX bytes) or up to INSN_MAX of them in `bytes`; how many
 * bytes. */
static size_t fetch(struct ty_blocks *b, uint64_t t_ns, uint64_t ip, uint8_t *bytes,
		    const uint8_t **code, struct ty_block_when *when)
{
	const int32_t pid = when->pid;
	size_t n;

	*code = bytes;
	if (!ty_code_is_at(&b->at, pid, t_ns, ip) && !ty_code_find(b->code, pid, t_ns, ip, &b->at))
		return 0;
	hold_while(when, &b->at);
	if (b->at.hi - ip >= INSN_MAX) {
		*code = b->at.p + (ip - b->at.lo);
		return b->at.hi - ip;
	}
	/* The first byte and the others may be of two mappings. */
	n = ty_code_read(b->code, pid, t_ns, ip, bytes, INSN_MAX, &b->at);
	if (n == INSN_MAX)
		hold_while(when, &b->at);
	return n;
}

/* The function of an address. */
static const struct ty_extent *extent_at(struct ty_blocks *b, int32_t pid, uint64_t t_ns,
					 uint64_t ip)
{
	struct ty_block_extent *k = b->extents;

	for (; k < b->extents + TY_BLOCKS_EXTENTS; k++)
		if (ip - k->e.lo < k->e.hi - k->e.lo && k->pid == pid && t_ns >= k->from_ns &&
		    t_ns < k->e.until_ns)
			return &k->e;
	k = &b->extents[b->extent++ % TY_BLOCKS_EXTENTS];
	*k = (struct ty_block_extent){.e = {.until_ns = UINT64_MAX}, .pid = pid, .from_ns = t_ns};
	b->extent_of(b->extent_ctx, pid, t_ns, ip, &k->e);
	return &k->e;
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

/* Of a jump at the block's end: the function, and whether it is left. */
static void extend(struct ty_blocks *b, struct making *k, uint64_t t_ns)
{
	const uint64_t target = k->end.target;
	const bool direct = k->cls == TY_FC_COND || k->cls == TY_FC_JUMP;
	const struct ty_extent *e;
	struct ty_extent to;

	if (!b->extent_of || (!direct && k->cls != (TY_FC_JUMP | TY_BLOCK_INDIRECT)))
		return;
	k->in = e = extent_at(b, k->when.pid, t_ns, k->last);
	if (e->until_ns < k->when.until_ns)
		k->when.until_ns = e->until_ns;
	if (!direct || target - e->lo < e->hi - e->lo)
		return;
	to = (struct ty_extent){.until_ns = UINT64_MAX};
	b->extent_of(b->extent_ctx, k->when.pid, t_ns, target, &to);
	if (to.until_ns < k->when.until_ns)
		k->when.until_ns = to.until_ns;
	k->leaves = to.named;
}

static struct ty_block *decode(struct ty_blocks *b, int32_t pid, uint64_t t_ns, uint64_t ip)
{
	struct making m;
	uint8_t bytes[TY_BLOCK_INSNS * INSN_MAX], few[INSN_MAX], *sizes;
	struct ty_block *out = room(b);
	const uint8_t *code = few;
	size_t n = 0, left = 0; /* left: bytes at `code` */
	unsigned insns = 0;

	m.when = (struct ty_block_when){.until_ns = UINT64_MAX, .pid = pid};
	m.end = (struct ty_step_insn){0};
	m.in = NULL;
	m.leaves = false;
	sizes = out->sizes;
	do {
		size_t size = 0, got;
		unsigned k = 0;

		if (left < INSN_MAX)
			left = fetch(b, t_ns, ip + n, few, &code, &m.when);
		/* What is executed before the code that is missing is known. */
		if (!left && insns)
			break;
		if (!left)
			return NULL;
		if (code != few)
			k = ty_insn_plain(code, left, sizes + insns, TY_BLOCK_INSNS - insns, &size);
		insns += k;
		/* And the one after these, if all of it is here. */
		if (!k || (insns < TY_BLOCK_INSNS && left - size >= INSN_MAX)) {
			got = left - size < INSN_MAX ? left - size : INSN_MAX;
			m.last = ip + n + size;
			sizes[insns] = (uint8_t)end_with(b, &m, code + size, got);
			if (!sizes[insns] || sizes[insns] > got)
				return NULL;
			size += sizes[insns++];
		} else {
			m.end.cls = TY_STEP_OTHER;
		}
		/* Counting needs no bytes. */
		if (!b->extent_of)
			memcpy(bytes + n, code, size);
		n += size;
		left = code == few ? 0 : left - size;
		code += size;
	} while ((m.end.cls == TY_STEP_OTHER || m.end.cls == TY_STEP_REP) &&
		 insns < TY_BLOCK_INSNS);
	if (t_ns < m.when.from_ns || t_ns >= m.when.until_ns)
		return NULL;
	m.last = ip + n - sizes[insns - 1];
	m.cls = class_of(&m.end);
	extend(b, &m, t_ns);
	out->ip = ip;
	out->bytes = (uint16_t)n;
	out->when = keep_when(b, &m.when);
	out->after[0] = out->after[1] = 0;
	out->target = 0;
	out->span = 0;
	if (m.end.cls == TY_STEP_COND || m.end.cls == TY_STEP_DIRECT) {
		out->target = (int32_t)(m.end.target - ty_block_next(out));
	} else if (m.end.cls == TY_STEP_INDIRECT && m.in && m.in->hi - m.in->lo <= UINT32_MAX) {
		out->into = (uint32_t)(m.last - m.in->lo);
		out->span = (uint32_t)(m.in->hi - m.in->lo);
	}
	out->end.cls = m.end.cls;
	out->end.call = m.end.call;
	out->end.ret = m.end.ret;
	out->end.far = m.end.far;
	out->end.leaves = m.leaves;
	out->last_size = sizes[insns - 1];
	out->insns = (uint8_t)insns;
	out->visits = 0;
	out->cls = m.cls;
	if (b->extent_of)
		return keep(b, out, insns);
	memcpy(sizes + insns, bytes, n);
	return keep(b, out, insns + n);
}

bool ty_blocks_missing(struct ty_blocks *b, int32_t pid, uint64_t t_ns, uint64_t ip)
{
	return !ty_code_is_at(&b->at, pid, t_ns, ip) &&
	       !ty_code_find(b->code, pid, t_ns, ip, &b->at);
}

struct ty_block *ty_blocks_at(struct ty_blocks *b, int32_t pid, uint64_t t_ns, uint64_t ip)
{
	ty_block_ref at = *bucket_of(b, pid, ip);

	for (unsigned looks = 0; at && looks < LOOK; looks++) {
		struct ty_block *s = ty_block_at(b, at);

		if (ty_block_is(b, s, pid, t_ns, ip))
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
	const size_t i = ty_hash_bits(ip, TY_BLOCKS_RECENT_BITS);

	b->recent[i].ip = (uint32_t)ip;
	b->recent[i].to = n ? ty_block_ref_of(b, n) : 0;
	if (n && from && age == b->age)
		from->after[ip != ty_block_next(from)] = ty_block_ref_of(b, n);
	return n;
}

/* What is not among the recent ones is left to a call at the end, so that nothing is saved for it
 * here. */
struct ty_block *ty_blocks_link(struct ty_blocks *b, struct ty_block *from, int32_t pid,
				uint64_t t_ns, uint64_t ip)
{
	struct ty_block *n = ty_blocks_recent(b, pid, t_ns, ip);

	if (!n)
		return link_far(b, from, pid, t_ns, ip);
	if (from)
		from->after[ip != ty_block_next(from)] = ty_block_ref_of(b, n);
	return n;
}
