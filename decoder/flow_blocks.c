/* SPDX-License-Identifier: MIT */
/*
 * See flow_blocks.h. A direct-mapped table before the decoding of blocks: a collision costs
 * decoding again. Blocks lie one after the other, so that a loop's share few pages. Budget: 1 ns
 * where the block before knows its successor, 3 ns for another hit, a miss 1 us per instruction
 * (capstone); 64 MB of blocks, then all are forgotten.
 */
#include "flow_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "disasm.h"

enum { SLOT_BITS = 15, SLOTS = 1 << SLOT_BITS, INSN_MAX = 15 };
#define ARENA_PIECE (256u << 10)
#define ARENA_MAX   (64u << 20)

struct piece {
	struct piece *next;
	size_t used;
	_Alignas(8) uint8_t bytes[];
};

struct ty_blocks {
	struct ty_code *code;
	struct ty_disasm *dis;
	struct ty_code_at at;
	struct piece *pieces;
	size_t total;
	unsigned age;
	struct ty_block *slots[SLOTS];
};

struct ty_blocks *ty_blocks_new(struct ty_code *code)
{
	struct ty_blocks *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->code = code;
	b->dis = ty_disasm_new(TY_DISASM_X86_64);
	if (!b->dis) {
		free(b);
		return NULL;
	}
	return b;
}

static void free_pieces(struct ty_blocks *b)
{
	while (b->pieces) {
		struct piece *p = b->pieces;

		b->pieces = p->next;
		free(p);
	}
}

static void forget(struct ty_blocks *b)
{
	free_pieces(b);
	b->total = 0;
	b->age++;
	memset(b->slots, 0, sizeof(b->slots));
}

void ty_blocks_free(struct ty_blocks *b)
{
	if (!b)
		return;
	free_pieces(b);
	ty_disasm_free(b->dis);
	free(b);
}

/* The block with its lengths and bytes; NULL: out of memory. */
static struct ty_block *keep(struct ty_blocks *b, const struct ty_block *fresh, const uint8_t *both,
			     size_t both_n)
{
	size_t n = (sizeof(*fresh) + both_n + 7) & ~(size_t)7;
	struct ty_block *to;

	if (!b->pieces || ARENA_PIECE - b->pieces->used < n) {
		struct piece *p;

		if (b->total >= ARENA_MAX)
			forget(b);
		p = malloc(sizeof(*p) + ARENA_PIECE);
		if (!p)
			return NULL;
		p->next = b->pieces;
		p->used = 0;
		b->pieces = p;
		b->total += ARENA_PIECE;
	}
	to = (struct ty_block *)(void *)(b->pieces->bytes + b->pieces->used);
	*to = *fresh;
	memcpy(to->sizes, both, both_n);
	b->pieces->used += n;
	return to;
}

/*
 * Length of a VEX or EVEX instruction (Intel SDM vol. 2, "Vector Extension (VEX)", "EVEX"), 0 when
 * it is none: capstone knows no AVX-512 of the newer kind. No other encoding begins so in 64-bit
 * mode.
 */
static size_t vex_size(const uint8_t *b, size_t n)
{
	size_t i = 0;
	unsigned map, op, mod, rm;

	while (i < n && (b[i] == 0x64 || b[i] == 0x65 || b[i] == 0x67 || b[i] == 0x2e ||
			 b[i] == 0x36 || b[i] == 0x3e || b[i] == 0x26))
		i++;
	if (n - i < 6)
		return 0;
	switch (b[i]) {
	case 0xc5:
		map = 1;
		i += 2;
		break;
	case 0xc4:
		map = b[i + 1] & 0x1f;
		i += 3;
		break;
	case 0x62:
		map = b[i + 1] & 7;
		i += 4;
		break;
	default: return 0;
	}
	if (!map || map == 4 || map > 6)
		return 0;
	op = b[i++];
	if (map == 1 && op == 0x77) /* vzeroupper: nothing behind */
		return i;
	if (i >= n)
		return 0;
	mod = b[i] >> 6;
	rm = b[i++] & 7;
	if (mod != 3 && rm == 4) {
		if (i >= n)
			return 0;
		if (!mod && (b[i] & 7) == 5)
			i += 4;
		i++;
	} else if (!mod && rm == 5) {
		i += 4;
	}
	i += mod == 1 ? 1 : mod == 2 ? 4 : 0;
	if (map == 3 ||
	    (map == 1 && ((op >= 0x70 && op <= 0x73) || op == 0xc2 || (op >= 0xc4 && op <= 0xc6))))
		i++;
	return i <= n ? i : 0;
}

static void hold_while(struct ty_block *out, const struct ty_code_at *at)
{
	if (at->from_ns > out->from_ns)
		out->from_ns = at->from_ns;
	if (at->until_ns < out->until_ns)
		out->until_ns = at->until_ns;
}

static struct ty_block *decode(struct ty_blocks *b, int32_t pid, uint64_t t_ns, uint64_t ip)
{
	/* Lengths, then bytes: kept as one. */
	uint8_t both[TY_BLOCK_INSNS + TY_BLOCK_INSNS * INSN_MAX], *sizes = both;
	uint8_t *bytes = both + TY_BLOCK_INSNS;
	struct ty_block block = {.ip = ip, .pid = pid, .until_ns = UINT64_MAX}, *out = &block;
	size_t n = 0;

	do {
		size_t got, size;

		/* The first byte, and then all: they may be of two mappings. */
		if (!ty_code_read(b->code, pid, t_ns, ip + n, bytes + n, 1, &b->at))
			return NULL;
		hold_while(out, &b->at);
		got = ty_code_read(b->code, pid, t_ns, ip + n, bytes + n, INSN_MAX, &b->at);
		if (got == INSN_MAX)
			hold_while(out, &b->at);
		out->last = ip + n;
		out->end = ty_step_classify(bytes + n, got, out->last, true);
		if (out->end.rare)
			return NULL;
		if (out->end.cls == TY_STEP_COND || out->end.cls == TY_STEP_DIRECT)
			size = out->end.next - out->last;
		else if (!(size = vex_size(bytes + n, got)))
			size = ty_disasm_size(b->dis, bytes + n, got, out->last);
		if (!size || size > got)
			return NULL;
		sizes[out->insns++] = (uint8_t)size;
		n += size;
	} while ((out->end.cls == TY_STEP_OTHER || out->end.cls == TY_STEP_REP) &&
		 out->insns < TY_BLOCK_INSNS);
	if (t_ns < out->from_ns || t_ns >= out->until_ns)
		return NULL;
	out->end.next = ip + n;
	memmove(both + out->insns, bytes, n);
	return keep(b, out, both, out->insns + n);
}

struct ty_block *ty_blocks_at(struct ty_blocks *b, int32_t pid, uint64_t t_ns, uint64_t ip)
{
	uint64_t h = (ip ^ (uint64_t)(uint32_t)pid << 48) * 0x9e3779b97f4a7c15ull;
	struct ty_block **slot = &b->slots[h >> (64 - SLOT_BITS)], *s = *slot;

	if (s && s->ip == ip && s->pid == pid && t_ns >= s->from_ns && t_ns < s->until_ns)
		return s;
	s = decode(b, pid, t_ns, ip);
	if (s)
		*slot = s;
	return s;
}

unsigned ty_blocks_age(const struct ty_blocks *b)
{
	return b->age;
}

struct ty_block *ty_blocks_link(struct ty_blocks *b, struct ty_block *from, int32_t pid,
				uint64_t t_ns, uint64_t ip)
{
	unsigned age = b->age;
	struct ty_block *n = ty_blocks_at(b, pid, t_ns, ip);

	if (n && from && age == b->age)
		from->after[ip != from->end.next] = n;
	return n;
}
