/* SPDX-License-Identifier: MIT */
/*
 * Lines by ranges of their hash (sharing_priv.h). One pass over the points finds who touched which
 * line of the range, a second one what they did to those that are shared. Budget: a cache miss per
 * access and pass, whose waits overlap; 32 bytes per line where they are many.
 */
#include <stdlib.h>
#include <string.h>

#include "big.h"
#include "compare.h"
#include "sharing_priv.h"

#define MANY	  (UINT32_MAX - 1)
#define NOBODY	  UINT32_MAX
#define HASHES	  (UINT64_C(1) << 32)
#define AHEAD	  16u
#define SLOTS	  1024u /* at first */
#define ANEW	  1
#define BYTES_MIN (64u << 10) /* less makes no sense: a pass for a handful of lines */

/* What was done to a line. */
enum {
	WRITTEN = 1,
	PEER = 2,     /* a load came from another core's cache */
	MODIFIED = 4, /* and was modified there */
	AGAIN = 8,    /* twice over */
};

struct ty_line_slot {
	struct ty_line_key key;
	uint32_t thread;    /* the only one, or MANY; NOBODY: the slot is free */
	uint32_t candidate; /* its number in lines, NOBODY */
	uint16_t cpu;	    /* the only one, or SOME */
	uint8_t done;
};

#define SOME 0xfffeu /* CPUs: several, or some that are not known */

/* Where a block's accesses lie: one after the other, and those that reach over the end of a line
 * once more, in the next. */
struct placed {
	uint64_t accesses, no_thread; /* of all blocks */
	uint32_t n, reach_n;
	uint16_t reach[TY_BLOCK_ROWS];	 /* rows that may be among the latter */
	uint16_t row[2 * TY_BLOCK_ROWS]; /* whose it is; NEXT: in the next line */
	bool in[2 * TY_BLOCK_ROWS];	 /* it counts, and its line is of the range */
	uint32_t hash[2 * TY_BLOCK_ROWS];
	struct ty_line_key key[2 * TY_BLOCK_ROWS];
};
#define NEXT	  0x8000u
#define TY_INLINE static inline __attribute__((always_inline))
_Static_assert(TY_BLOCK_ROWS <= NEXT, "rows and a bit");

/* Where g lies in memory, which no file can know, has a part in it. */
static uint32_t hash(const struct ty_gather *g, struct ty_line_key k)
{
	uint64_t v = (k.line ^ (uintptr_t)g) * 0x9e3779b97f4a7c15ull;

	v = (v ^ v >> 32 ^ (uint32_t)k.of) * 0xd6e8feb86659fd93ull;
	return (uint32_t)(v >> 32);
}

static bool same(struct ty_line_key a, struct ty_line_key b)
{
	return a.line == b.line && a.of == b.of;
}

static uint32_t offset_of(const struct ty_gather *g, const struct ty_mem_point *o)
{
	return (uint32_t)(o->flags & TY_MP_HAS_PA ? o->pa : o->va) & ((1u << g->shift) - 1);
}

/* At least so many bytes are accessed; 0: not known. What is flagged unaligned is at least twice as
 * wide as its address is aligned. */
static uint32_t extent(const struct ty_mem_point *o)
{
	uint64_t address = o->flags & TY_MP_HAS_PA ? o->pa : o->va;

	if (o->size || !(o->events & TY_MEM_EV_UNALIGNED))
		return o->size;
	return address ? (uint32_t)(2 * (address & -address) & 0x7f) : 0;
}

/* Lines --------------------------------------------------------------------------------------- */

static bool in_range(const struct ty_gather *g, uint32_t h)
{
	return h >= g->lo && h < g->hi;
}

/* Where the hash belongs, whatever the range. */
static struct ty_line_slot *home(const struct ty_gather *g, uint32_t h)
{
	return &g->slot[(uint64_t)(h * 0x9e3779b1u) * g->slots >> 32];
}

/* The key's slot, or the free one where it belongs. */
static struct ty_line_slot *slot_of(const struct ty_gather *g, struct ty_line_key k, uint32_t h)
{
	struct ty_line_slot *s = home(g, h), *end = g->slot + g->slots;

	while (s->thread != NOBODY && !same(s->key, k))
		s = s + 1 < end ? s + 1 : g->slot;
	return s;
}

/* An empty table: small at first, then of all bytes that there are. */
static int empty_table(struct ty_gather *g)
{
	uint64_t slots = g->full ? g->max_bytes / sizeof(*g->slot) : SLOTS;

	slots = slots > SLOTS ? slots : SLOTS;
	if (!g->slot || slots != g->slots) {
		free(g->slot);
		g->slot = ty_big_alloc(slots * sizeof(*g->slot));
		g->slots = slots;
	}
	g->used = 0;
	if (!g->slot)
		return -TY_ENOMEM;
	memset(g->slot, 0xff, slots * sizeof(*g->slot)); /* NOBODY */
	return 0;
}

static int grow(struct ty_gather *g)
{
	struct ty_line_slot *old = g->slot;
	uint64_t n = g->slots;

	g->slot = ty_big_alloc(2 * n * sizeof(*g->slot));
	if (!g->slot) {
		g->slot = old;
		return -TY_ENOMEM;
	}
	g->slots = 2 * n;
	memset(g->slot, 0xff, g->slots * sizeof(*g->slot));
	for (uint64_t i = 0; i < n; i++)
		if (old[i].thread != NOBODY)
			*slot_of(g, old[i].key, hash(g, old[i].key)) = old[i];
	free(old);
	return 0;
}

/* Half of the range is left to a later one. */
static int halve(struct ty_gather *g)
{
	if (g->hi - g->lo < 2)
		return -TY_ELIMIT;
	g->hi = g->lo + (g->hi - g->lo) / 2;
	return 0;
}

/* There is to be room for one more. ANEW: there is, in another table or range, of which nothing is
 * known yet. */
static int lines_room(struct ty_gather *g)
{
	int r = 0;

	if (g->used * 4 < g->slots * 3)
		return 0;
	if (!g->full && 3 * g->slots * sizeof(*g->slot) <= g->max_bytes)
		return grow(g);
	if (g->full)
		r = halve(g);
	g->full = true;
	return r ? r : ANEW;
}

static uint8_t done_by(const struct ty_mem_point *o)
{
	uint8_t d = o->flags & TY_MP_WRITES ? WRITTEN : 0;

	if (o->kind == TY_MEM_LOAD && o->src_flags & (TY_MEM_SRC_PEER | TY_MEM_SRC_HITM))
		d |= o->src_flags & TY_MEM_SRC_HITM ? PEER | MODIFIED : PEER;
	return d;
}

TY_INLINE int touch(struct ty_gather *g, struct ty_line_key k, uint32_t h,
		    const struct ty_mem_point *o)
{
	uint8_t done = done_by(o);
	struct ty_line_slot *s = slot_of(g, k, h);

	if (s->thread == NOBODY) {
		int r = lines_room(g);

		if (r)
			return r;
		s = slot_of(g, k, h);
		*s = (struct ty_line_slot){.key = k,
					   .thread = o->thread,
					   .candidate = NOBODY,
					   .cpu = o->cpu == UINT16_MAX ? SOME : o->cpu};
		g->used++;
	}
	if (s->thread != o->thread)
		s->thread = MANY;
	if (s->cpu != o->cpu)
		s->cpu = SOME;
	s->done |= done | (s->done & done & MODIFIED ? AGAIN : 0);
	return 0;
}

/* The n-th place is row i's, in the key's line, which is on its way to the cache. */
TY_INLINE void place(const struct ty_gather *g, struct placed *at, uint32_t n, uint32_t row,
		     struct ty_line_key key)
{
	at->row[n] = (uint16_t)row;
	at->key[n] = key;
	at->hash[n] = hash(g, key);
	at->in[n] = in_range(g, at->hash[n]);
	if (at->in[n])
		__builtin_prefetch(home(g, at->hash[n]));
}

/* Does it reach over the end of its line, as far as can be told before its width is looked up? */
TY_INLINE bool may_reach(const struct ty_gather *g, const struct ty_mem_point *o)
{
	uint32_t offset = offset_of(g, o), line = 1u << g->shift;

	if (o->size)
		return offset + o->size > line;
	return offset + g->width_most > line ||
	       (g->p->sum.unaligned && offset && offset + 2 * (offset & -offset) > line);
}

TY_INLINE void place_row(struct ty_gather *g, const struct ty_mem_point *o, struct placed *at,
			 uint32_t i)
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
	place(g, at, i, i, ty_line_key_of(&g->pages, o, g->shift));
}

/* Those that reach into the next line. What lies where behind the end of a physical page is not
 * known. */
static void place_next(struct ty_gather *g, uint64_t first, struct ty_mem_point *o, uint32_t n,
		       struct placed *at)
{
	const unsigned want = (g->width_most ? TY_MEM_WANT_PC : 0) |
			      (g->p->sum.unaligned ? TY_MEM_WANT_EVENTS : 0);
	uint64_t page = (UINT64_C(4096) >> g->shift) - 1;
	bool whole = false;

	at->n = n;
	for (uint32_t k = 0; k < at->reach_n; k++) {
		uint32_t i = at->reach[k];
		struct ty_line_key key;

		if (!whole && want)
			ty_mem_points_rows(g->p, first, want, o);
		whole = true;
		if (!(want & TY_MEM_WANT_EVENTS))
			o[i].events = 0;
		key = ty_line_key_of(&g->pages, &o[i], g->shift);
		if (offset_of(g, &o[i]) + extent(&o[i]) <= 1u << g->shift ||
		    (key.of == TY_LINE_PHYSICAL && (g->shift >= 12 || (key.line & page) == page)))
			continue;
		key.line++;
		place(g, at, at->n, i | NEXT, key);
		at->n++;
	}
}

/* Who touched the lines of the range; ANEW: begin again. */
static int look_through(struct ty_gather *g)
{
	struct ty_mem_point rows[TY_BLOCK_ROWS];
	struct placed at;
	uint32_t n;
	int r = empty_table(g);

	at.accesses = at.no_thread = 0;
	for (uint64_t i = 0; !r && (n = ty_mem_points_rows(g->p, i, g->want, rows)); i += n) {
		r = ty_mem_stopped(g->work) ? -TY_EINTR : 0;
		at.reach_n = 0;
		for (uint32_t k = 0; !r && k < n + AHEAD; k++) {
			if (k < n)
				place_row(g, &rows[k], &at, k);
			if (k >= AHEAD && at.in[k - AHEAD])
				r = touch(g, at.key[k - AHEAD], at.hash[k - AHEAD],
					  &rows[k - AHEAD]);
		}
		place_next(g, i, rows, n, &at);
		for (uint32_t k = n; !r && k < at.n; k++)
			if (at.in[k])
				r = touch(g, at.key[k], at.hash[k], &rows[at.row[k] & (NEXT - 1)]);
	}
	g->accesses = at.accesses;
	g->no_thread = at.no_thread;
	return r;
}

static int find_lines(struct ty_gather *g)
{
	int r;

	do
		r = look_through(g);
	while (r == ANEW);
	return r;
}

/* Threads share it, and one writes, as the samples show: stores; loads of what another core has
 * modified; where no stores are sampled at all, loads of what another core has. */
static bool is_written(const struct ty_gather *g, const struct ty_line_slot *s)
{
	return s->done & (WRITTEN | MODIFIED) || (g->p->sum.loads_only && s->done & PEER);
}

/* Several threads, but it never left the one CPU that they ran on in turn. */
static bool stays(const struct ty_gather *g, const struct ty_line_slot *s)
{
	return s->thread == MANY && is_written(g, s) && s->cpu != SOME && !(s->done & PEER);
}

/* Of a single thread that stayed on its CPU, and found the line modified elsewhere twice: somebody
 * who was not sampled wrote it in between. */
static bool is_shared(const struct ty_gather *g, const struct ty_line_slot *s)
{
	if (s->thread == MANY)
		return is_written(g, s) && !stays(g, s);
	return s->done & AGAIN && s->cpu != SOME;
}

static int add_line(struct ty_gather *g, struct ty_line_slot *s)
{
	struct ty_gather_line l = {
		.hash = hash(g, s->key), .last = NOBODY, .toucher = NOBODY, .last_cpu = SOME};
	bool physical = s->key.of == TY_LINE_PHYSICAL, shared = ty_line_is_shared(s->key.of);

	s->candidate = (uint32_t)g->lines.n;
	l.line = (struct ty_sharing_line){
		.line = s->key.line << g->shift,
		.physical = physical,
		.shared = shared ? (uint32_t)(s->key.of - TY_LINE_SHARED(0)) : TY_MEM_NOT_SHARED,
		.pid = physical || shared ? -1 : s->key.of,
		.va_pid = -1,
	};
	l.line.one_process = !physical && !shared && l.line.pid < 0 && !(l.line.line >> 55);
	return vec_push(&g->lines, l);
}

/* Number the lines of the range that are shared; of fewer hashes when they are too many. */
static int choose(struct ty_gather *g)
{
	uint64_t n;
	int r = 0;

	do {
		n = 0;
		for (uint64_t i = 0; i < g->slots; i++)
			n += g->slot[i].thread != NOBODY && is_shared(g, &g->slot[i]) &&
			     in_range(g, hash(g, g->slot[i].key));
	} while (n > 1 && n * 4 * sizeof(*g->lines.v) > g->max_bytes && !(r = halve(g)));
	r = r ? r : vec_reserve(&g->lines, n + 1);
	for (uint64_t i = 0; !r && i < g->slots; i++)
		if (g->slot[i].thread != NOBODY && is_shared(g, &g->slot[i]) &&
		    in_range(g, hash(g, g->slot[i].key)))
			r = add_line(g, &g->slot[i]);
	for (uint64_t i = 0; i < g->slots; i++)
		g->one_cpu += g->slot[i].thread != NOBODY && stays(g, &g->slot[i]) &&
			      in_range(g, hash(g, g->slot[i].key));
	return r;
}

/* Their sites --------------------------------------------------------------------------------- */

static uint64_t site_hash(const struct ty_gather *g, uint32_t line, const struct ty_sharing_site *s)
{
	uint64_t v = ((uint64_t)line << 32 | s->thread) ^ (uintptr_t)g;

	v = v * 0x9e3779b97f4a7c15ull ^ ((uint64_t)s->pc << 16 | s->offset);
	v = (v ^ v >> 32) * 0xd6e8feb86659fd93ull;
	return v ^ v >> 32;
}

static uint32_t *site_slot(const struct ty_gather *g, uint32_t line,
			   const struct ty_sharing_site *s)
{
	uint64_t at = site_hash(g, line, s) & g->site_mask;

	for (; g->site_slot[at]; at = (at + 1) & g->site_mask) {
		const struct ty_gather_site *o = &g->sites.v[g->site_slot[at] - 1];

		if (o->line == line && o->site.offset == s->offset && o->site.thread == s->thread &&
		    o->site.pc == s->pc)
			break;
	}
	return &g->site_slot[at];
}

/* A table of that many slots with the sites that are there. */
static int rebuild_sites(struct ty_gather *g, uint64_t slots)
{
	uint32_t *v = calloc(slots, sizeof(*v));

	if (!v)
		return -TY_ENOMEM;
	free(g->site_slot);
	g->site_slot = v;
	g->site_mask = slots - 1;
	for (size_t i = 0; i < g->sites.n; i++)
		*site_slot(g, g->sites.v[i].line, &g->sites.v[i].site) = (uint32_t)i + 1;
	return 0;
}

static void drop_sites(struct ty_gather *g)
{
	size_t n = 0;

	vec_each (l, &g->lines)
		l->dropped = !in_range(g, l->hash);
	vec_each (s, &g->sites)
		if (!g->lines.v[s->line].dropped)
			g->sites.v[n++] = *s;
	g->sites.n = n;
}

/* There is to be room for one more; the range becomes smaller where there is not. */
static int sites_room(struct ty_gather *g)
{
	uint64_t slots = g->site_slot ? g->site_mask + 1 : SLOTS;
	size_t each = sizeof(*g->sites.v) + 2 * sizeof(*g->site_slot);
	int r = 0;

	if (g->site_slot && g->sites.n * 2 <= g->site_mask)
		return 0;
	if (!g->site_slot || slots * each * 4 <= g->max_bytes)
		return rebuild_sites(g, g->site_slot ? 2 * slots : slots);
	if (g->collect)
		return -TY_ELIMIT;
	while (!r && g->sites.n * 2 > g->site_mask) {
		r = halve(g);
		if (!r)
			drop_sites(g);
	}
	return r ? r : rebuild_sites(g, slots);
}

/* Of the access, or of what of it lies in the next line. */
static struct ty_sharing_site site_of(const struct ty_gather *g, const struct ty_mem_point *o,
				      bool next)
{
	uint32_t offset = offset_of(g, o), rest = offset + extent(o) - (1u << g->shift);
	struct ty_sharing_site s = {.thread = o->thread, .pc = o->pc};

	s.offset = (uint16_t)(next ? 0 : offset);
	s.size = next ? (uint8_t)(rest < UINT8_MAX ? rest : UINT8_MAX) : o->size;
	s.size_assumed = next && !o->size;
	return s;
}

static int add_site(struct ty_gather *g, uint32_t line, const struct ty_mem_point *o, bool next)
{
	struct ty_sharing_site s = site_of(g, o, next), *to;
	uint32_t *at;
	int r = sites_room(g);

	if (r || g->lines.v[line].dropped)
		return r;
	at = site_slot(g, line, &s);
	if (!*at) {
		if (vec_push(&g->sites, (struct ty_gather_site){s, line}))
			return -TY_ENOMEM;
		*at = (uint32_t)g->sites.n;
	}
	to = &g->sites.v[*at - 1].site;
	to->count++;
	to->writes |= o->flags & TY_MP_WRITES;
	to->size = s.size > to->size ? s.size : to->size;
	if (o->flags & TY_MP_HAS_LAT) {
		to->lat_count++;
		to->lat_sum += o->total;
	}
	return 0;
}

/* The line goes from one CPU to another for a write, or after one; that readers follow each other
 * moves nothing. */
static void turn(struct ty_gather_line *a, const struct ty_mem_point *o)
{
	bool wrote = o->flags & TY_MP_WRITES;

	a->line.turns += a->last != NOBODY && a->last != o->thread && (wrote || a->last_wrote) &&
			 (a->last_cpu == SOME || o->cpu == UINT16_MAX || a->last_cpu != o->cpu);
	a->last = o->thread;
	a->last_cpu = o->cpu == UINT16_MAX ? SOME : o->cpu;
	a->last_wrote = wrote;
	a->line.rewritten |= wrote && a->toucher != NOBODY && a->toucher != o->thread;
	a->toucher = a->toucher == NOBODY || a->toucher == o->thread ? o->thread : MANY;
	a->untimed |= !(o->flags & TY_MP_HAS_TIME);
}

static void add_source(struct ty_sharing_line *l, const struct ty_mem_point *o)
{
	bool peer = o->src_flags & (TY_MEM_SRC_PEER | TY_MEM_SRC_HITM);
	bool far = o->src_flags & TY_MEM_SRC_REMOTE;

	l->peer += peer;
	l->modified += !!(o->src_flags & TY_MEM_SRC_HITM);
	l->remote += !peer && (far || o->level == TY_MEM_LV_L3);
	/* Another core has, or had, it: it would have been in this one's cache. */
	if ((peer || (far && o->level < TY_MEM_LV_RAM)) && o->flags & TY_MP_HAS_LAT)
		l->lost += o->total;
}

static void add_access(struct ty_gather *g, struct ty_gather_line *a, const struct ty_mem_point *o,
		       bool next)
{
	struct ty_sharing_line *l = &a->line;

	l->count++;
	l->writes += !!(o->flags & TY_MP_WRITES);
	if (o->flags & TY_MP_HAS_LAT) {
		l->lat_count++;
		l->lat_sum += o->total;
	}
	if (o->flags & TY_MP_HAS_TIME) {
		l->first_ns = l->first_ns && l->first_ns < o->ts_ns ? l->first_ns : o->ts_ns;
		l->last_ns = o->ts_ns > l->last_ns ? o->ts_ns : l->last_ns;
	}
	if (!l->va && o->flags & TY_MP_HAS_VA) {
		l->va = ((o->va >> g->shift) + next) << g->shift;
		l->va_pid = ty_line_process(g->p, o);
		l->va_ts_ns = o->ts_ns;
	}
	turn(a, o);
	if (o->kind == TY_MEM_LOAD)
		add_source(l, o);
}

static int note_access(struct ty_gather *g, uint64_t at)
{
	if (g->access_n == g->access_cap) {
		uint64_t cap = g->access_cap ? 2 * g->access_cap : 256;
		uint32_t *v = realloc(g->access, cap * sizeof(*v));

		if (!v)
			return -TY_ENOMEM;
		g->access = v;
		g->access_cap = cap;
	}
	g->access[g->access_n++] = (uint32_t)at;
	return 0;
}

/* An access to a line, if that is one: row `at` of the block that begins with point `first`. */
static int found(struct ty_gather *g, uint64_t first, const struct ty_mem_point *o, uint32_t at,
		 uint32_t line, bool next)
{
	int r;

	if (line == NOBODY || g->lines.v[line].dropped)
		return 0;
	add_access(g, &g->lines.v[line], o, next);
	r = add_site(g, line, o, next);
	return !r && g->collect ? note_access(g, first + at) : r;
}

/* What was done to the lines. Blocks without any of them are decoded for their places only. */
static int find_sites(struct ty_gather *g)
{
	const unsigned rest = TY_MEM_WANT_TIME | TY_MEM_WANT_PC | TY_MEM_WANT_TOTAL;
	struct ty_mem_point rows[TY_BLOCK_ROWS];
	uint32_t line[2 * TY_BLOCK_ROWS], n;
	struct placed at;
	int r = 0;

	at.accesses = at.no_thread = 0;
	for (uint64_t i = 0; !r && (n = ty_mem_points_rows(g->p, i, g->want, rows)); i += n) {
		bool any = false;

		r = ty_mem_stopped(g->work) ? -TY_EINTR : 0;
		at.reach_n = 0;
		for (uint32_t k = 0; k < n; k++)
			place_row(g, &rows[k], &at, k);
		place_next(g, i, rows, n, &at);
		for (uint32_t k = 0; k < at.n; k++) {
			line[k] = at.in[k] ? slot_of(g, at.key[k], at.hash[k])->candidate : NOBODY;
			any |= line[k] != NOBODY;
		}
		if (any)
			ty_mem_points_rows(g->p, i, rest, rows);
		/* In their order, each with what of it lies in the next line. */
		for (uint32_t k = 0, next = n; !r && any && k < n; k++) {
			r = found(g, i, &rows[k], k, line[k], false);
			if (!r && next < at.n && at.row[next] == (k | NEXT))
				r = found(g, i, &rows[k], k, line[next++], true);
		}
	}
	return r;
}

static int site_order(const void *a, const void *b)
{
	const struct ty_gather_site *l = a, *r = b;
	const struct ty_sharing_site *x = &l->site, *y = &r->site;

	return compare(l->line, r->line) ?:
	       compare(x->offset, y->offset) ?:
	       compare(x->thread, y->thread) ?:
	       compare(x->pc, y->pc);
}

static int gather_sites(struct ty_gather *g)
{
	int r = find_sites(g);

	if (r)
		return r;
	drop_sites(g);
	if (g->sites.n)
		qsort(g->sites.v, g->sites.n, sizeof(*g->sites.v), site_order);
	for (size_t i = g->sites.n; i-- > 0;) {
		struct ty_sharing_line *l = &g->lines.v[g->sites.v[i].line].line;

		l->sites_first = (uint32_t)i;
		l->sites_n++;
	}
	return 0;
}

/* --------------------------------------------------------------------------------------------- */

int ty_gather_begin(struct ty_gather *g, const struct ty_mem_points *p, uint32_t line_bytes,
		    const struct ty_mem_work *work)
{
	int r;

	*g = (struct ty_gather){.p = p,
				.work = work,
				.shift = (unsigned)__builtin_ctz(line_bytes),
				.max_bytes = ty_mem_work_bytes(work) / 2,
				.hi = HASHES};
	g->max_bytes = g->max_bytes > BYTES_MIN ? g->max_bytes : BYTES_MIN;
	for (uint32_t i = 0; p->width && i < p->codes; i++)
		g->width_most = p->width[i] > g->width_most ? p->width[i] : g->width_most;
	r = ty_line_pages_begin(&g->pages, p, 2 * g->max_bytes, work);
	g->want = ty_line_pages_want(&g->pages) | TY_MEM_WANT_CPU;
	return r;
}

static void forget_lines(struct ty_gather *g)
{
	free(g->site_slot);
	g->site_slot = NULL;
	g->site_mask = 0;
	g->lines.n = g->sites.n = 0;
}

int ty_gather_next(struct ty_gather *g)
{
	uint64_t width = g->hi - g->lo;
	int r;

	if (g->slot) { /* not the first */
		if (g->hi == HASHES)
			return 0;
		forget_lines(g);
		width = g->used * 4 < g->slots ? 2 * width : width;
		g->lo = g->hi;
		g->hi = width < HASHES - g->lo ? g->lo + width : HASHES;
	}
	r = find_lines(g);
	r = r ? r : choose(g);
	if (!r && g->lines.n)
		r = gather_sites(g);
	return r ? r : 1;
}

int ty_gather_one(struct ty_gather *g, struct ty_line_key key)
{
	uint32_t h = hash(g, key);
	int r;

	g->lo = h;
	g->hi = g->lo + 1;
	g->collect = true;
	r = empty_table(g);
	if (r)
		return r;
	*slot_of(g, key, h) = (struct ty_line_slot){.key = key, .thread = MANY};
	r = add_line(g, slot_of(g, key, h));
	return r ? r : gather_sites(g);
}

void ty_gather_fini(struct ty_gather *g)
{
	forget_lines(g);
	free(g->slot);
	g->slot = NULL;
	vec_fini(&g->lines);
	vec_fini(&g->sites);
	free(g->access);
	g->access = NULL;
	ty_line_pages_fini(&g->pages);
}
