/* SPDX-License-Identifier: MIT */
/*
 * Maps accesses to lines, a block of points at a time, and lines to slots of the gathering's table.
 * Inline: executed for each access and pass.
 */
#ifndef TY_SHARING_PLACE_H
#define TY_SHARING_PLACE_H

#include "sharing_priv.h"

struct ty_line_slot {
	struct ty_line_key key;
	uint32_t thread;    /* the only thread, or TY_LINE_MANY; TY_LINE_NONE: the slot is free */
	uint32_t candidate; /* its number in lines, TY_LINE_NONE */
	uint16_t cpu;	    /* the only CPU, or TY_LINE_CPUS */
	uint8_t done;
};

/* Lines of a block's accesses in order; accesses across the end of a line are listed a second time,
 * with the next line. */
struct ty_placed {
	uint64_t accesses, no_thread; /* over all blocks */
	uint32_t n, reach_n;
	uint16_t reach[TY_BLOCK_ROWS];	 /* rows that may cross the end of a line */
	uint16_t row[2 * TY_BLOCK_ROWS]; /* row of the entry; TY_PLACED_NEXT: the part in the next
					  * line */
	bool in[2 * TY_BLOCK_ROWS];	 /* counts, and its line is in the range */
	uint32_t hash[2 * TY_BLOCK_ROWS];
	struct ty_line_key key[2 * TY_BLOCK_ROWS];
};
#define TY_PLACED_NEXT 0x8000u
_Static_assert(TY_BLOCK_ROWS <= TY_PLACED_NEXT, "rows and a bit");

#define TY_PLACE_INLINE static inline __attribute__((always_inline))

/* The address of g is part of the hash, because a file cannot predict it. */
static inline uint32_t ty_line_hash(const struct ty_gather *g, struct ty_line_key k)
{
	uint64_t v = (k.line ^ (uintptr_t)g) * TY_HASH_FACTOR;

	v = (v ^ v >> 32 ^ (uint32_t)k.of) * 0xd6e8feb86659fd93ull;
	return (uint32_t)(v >> 32);
}

static inline bool ty_line_same(struct ty_line_key a, struct ty_line_key b)
{
	return a.line == b.line && a.of == b.of;
}

static inline uint32_t ty_line_offset(const struct ty_gather *g, const struct ty_mem_point *o)
{
	return (uint32_t)(o->flags & TY_MP_HAS_PA ? o->pa : o->va) & ((1u << g->shift) - 1);
}

/* Lower bound of the bytes accessed; 0: unknown. An access flagged unaligned is at least twice as
 * wide as its address is aligned. */
static inline uint32_t ty_line_extent(const struct ty_mem_point *o)
{
	uint64_t address = o->flags & TY_MP_HAS_PA ? o->pa : o->va;

	if (o->size || !(o->events & TY_MEM_EV_UNALIGNED))
		return o->size;
	return address ? (uint32_t)(2 * (address & -address) & 0x7f) : 0;
}

static inline bool ty_line_in_range(const struct ty_gather *g, uint32_t h)
{
	return h >= g->lo && h < g->hi;
}

/* Home slot of the hash, independent of the range. */
static inline struct ty_line_slot *ty_line_home(const struct ty_gather *g, uint32_t h)
{
	return &g->slot[ty_hash_bits(h, 32) * g->slots >> 32];
}

/* The key's slot, or the free one where it belongs. */
static inline struct ty_line_slot *ty_line_slot_of(const struct ty_gather *g, struct ty_line_key k,
						   uint32_t h)
{
	struct ty_line_slot *s = ty_line_home(g, h), *end = g->slot + g->slots;

	while (s->thread != TY_LINE_NONE && !ty_line_same(s->key, k))
		s = s + 1 < end ? s + 1 : g->slot;
	return s;
}

/* Sets entry n: row i in the key's line, and prefetches the slot. */
TY_PLACE_INLINE void ty_place(const struct ty_gather *g, struct ty_placed *at, uint32_t n,
			      uint32_t row, struct ty_line_key key)
{
	at->row[n] = (uint16_t)row;
	at->key[n] = key;
	at->hash[n] = ty_line_hash(g, key);
	at->in[n] = ty_line_in_range(g, at->hash[n]);
	if (at->in[n])
		__builtin_prefetch(ty_line_home(g, at->hash[n]));
}

/* True when it may cross the end of its line, before its width is looked up. */
TY_PLACE_INLINE bool may_reach(const struct ty_gather *g, const struct ty_mem_point *o)
{
	uint32_t offset = ty_line_offset(g, o), line = 1u << g->shift;

	if (o->size)
		return offset + o->size > line;
	return offset + g->width_most > line ||
	       (g->p->sum.unaligned && offset && offset + 2 * (offset & -offset) > line);
}

TY_PLACE_INLINE void ty_place_row(struct ty_gather *g, const struct ty_mem_point *o,
				  struct ty_placed *at, uint32_t i)
{
	bool counts = ty_line_counts(o), known = o->thread != TY_MEM_NO_THREAD;

	at->row[i] = (uint16_t)i;
	at->in[i] = counts && known;
	if (!at->in[i]) {
		at->no_thread += counts;
		return;
	}
	at->accesses++;
	if (may_reach(g, o))
		at->reach[at->reach_n++] = (uint16_t)i;
	ty_place(g, at, i, i, ty_line_key_of(&g->pages, o, g->shift));
}

/* Adds the parts of rows `o` (from point `first` on, n of them, all placed) in the next line:
 * entries n ... at->n. Reads the fields it needs. */
void ty_place_next(struct ty_gather *g, uint64_t first, struct ty_mem_point *o, uint32_t n,
		   struct ty_placed *at);

#endif
