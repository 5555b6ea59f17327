/* SPDX-License-Identifier: MIT */
/*
 * Where accesses lie, a block of points at a time: in which line, and where that stands in the
 * gathering's table of lines. Inline: this is done for each access and pass.
 */
#ifndef TY_SHARING_PLACE_H
#define TY_SHARING_PLACE_H

#include "sharing_priv.h"

struct ty_line_slot {
	struct ty_line_key key;
	uint32_t thread;    /* the only one, or TY_LINE_MANY; TY_LINE_NOBODY: the slot is free */
	uint32_t candidate; /* its number in lines, TY_LINE_NOBODY */
	uint16_t cpu;	    /* the only one, or TY_LINE_CPUS */
	uint8_t done;
};

/* Where a block's accesses lie: one after the other, and those that reach over the end of a line
 * once more, in the next. */
struct ty_placed {
	uint64_t accesses, no_thread; /* of all blocks */
	uint32_t n, reach_n;
	uint16_t reach[TY_BLOCK_ROWS];	 /* rows that may be among the latter */
	uint16_t row[2 * TY_BLOCK_ROWS]; /* whose it is; TY_PLACED_NEXT: in the next line */
	bool in[2 * TY_BLOCK_ROWS];	 /* it counts, and its line is of the range */
	uint32_t hash[2 * TY_BLOCK_ROWS];
	struct ty_line_key key[2 * TY_BLOCK_ROWS];
};
#define TY_PLACED_NEXT 0x8000u
_Static_assert(TY_BLOCK_ROWS <= TY_PLACED_NEXT, "rows and a bit");

#define TY_PLACE_INLINE static inline __attribute__((always_inline))

/* Where g lies in memory, which no file can know, has a part in it. */
static inline uint32_t ty_line_hash(const struct ty_gather *g, struct ty_line_key k)
{
	uint64_t v = (k.line ^ (uintptr_t)g) * 0x9e3779b97f4a7c15ull;

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

/* At least so many bytes are accessed; 0: not known. What is flagged unaligned is at least twice as
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

/* Where the hash belongs, whatever the range. */
static inline struct ty_line_slot *ty_line_home(const struct ty_gather *g, uint32_t h)
{
	return &g->slot[(uint64_t)(h * 0x9e3779b1u) * g->slots >> 32];
}

/* The key's slot, or the free one where it belongs. */
static inline struct ty_line_slot *ty_line_slot_of(const struct ty_gather *g, struct ty_line_key k,
						   uint32_t h)
{
	struct ty_line_slot *s = ty_line_home(g, h), *end = g->slot + g->slots;

	while (s->thread != TY_LINE_NOBODY && !ty_line_same(s->key, k))
		s = s + 1 < end ? s + 1 : g->slot;
	return s;
}

/* The n-th place is row i's, in the key's line, which is on its way to the cache. */
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

/* Does it reach over the end of its line, as far as can be told before its width is looked up? */
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

/* The parts of rows `o` (from point `first` on, n of them, all placed) that lie in the next line:
 * places n ... at->n. Looks up what it needs of the rows. */
void ty_place_next(struct ty_gather *g, uint64_t first, struct ty_mem_point *o, uint32_t n,
		   struct ty_placed *at);

#endif
