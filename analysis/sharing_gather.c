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

#define PAGE_BITS 12
#define IN_PAGE	  ((UINT64_C(1) << PAGE_BITS) - 1)
#define MOVED	  UINT64_MAX	   /* a page that lay at several places */
#define UNKNOWN	  (UINT64_MAX - 1) /* no physical address recorded */
#define MANY	  (UINT32_MAX - 1)
#define NOBODY	  UINT32_MAX
#define HASHES	  (UINT64_C(1) << 32)
#define AHEAD	  16u
#define SLOTS	  1024u /* at first */
#define ANEW	  1
#define BYTES_MIN (64u << 10) /* less makes no sense: a pass for a handful of lines */

struct ty_line_slot {
	struct ty_line_key key;
	uint32_t thread;    /* the only one, or MANY; NOBODY: the slot is free */
	uint32_t candidate; /* its number in lines, NOBODY */
	bool writes;
};

/* Where a block's accesses lie. */
struct placed {
	struct ty_line_key key[TY_BLOCK_ROWS];
	uint32_t hash[TY_BLOCK_ROWS];
	bool in[TY_BLOCK_ROWS]; /* it counts, and its line is of the range */
};

static bool kernel(uint64_t va)
{
	return va >> 55;
}

static int32_t process(const struct ty_gather *g, const struct ty_mem_point *o)
{
	return kernel(o->va) ? -1 : g->p->thread[o->thread].pid;
}

static bool counts(const struct ty_mem_point *o)
{
	return (o->kind == TY_MEM_LOAD || o->kind == TY_MEM_STORE) &&
	       o->flags & (TY_MP_HAS_VA | TY_MP_HAS_PA);
}

/* Where g lies in memory, which no file can know, has a part in it. */
static uint32_t hash(const struct ty_gather *g, struct ty_line_key k)
{
	uint64_t v = (k.line ^ (uintptr_t)g) * 0x9e3779b97f4a7c15ull;

	v = (v ^ v >> 32 ^ (uint32_t)k.pid) * 0xd6e8feb86659fd93ull;
	return (uint32_t)(v >> 32);
}

static bool same(struct ty_line_key a, struct ty_line_key b)
{
	return a.line == b.line && a.pid == b.pid;
}

/* Pages of mixed samples ---------------------------------------------------------------------- */

/* Pids have 22 bits, addresses 54 (with the sign): with the page's 12 off they fit one word. */
static uint64_t page_key(const struct ty_gather *g, const struct ty_mem_point *o)
{
	return (uint64_t)((uint32_t)process(g, o) & 0x3fffff) << 42 |
	       (o->va >> PAGE_BITS & ((1ull << 42) - 1));
}

static int learn_page(struct ty_gather *g, const struct ty_mem_point *o)
{
	uint64_t pa = o->flags & TY_MP_HAS_PA ? o->pa >> PAGE_BITS : UNKNOWN, *known;
	uint32_t id;
	bool fresh;
	int r;

	if (!counts(o) || o->thread == TY_MEM_NO_THREAD || !(o->flags & TY_MP_HAS_VA))
		return 0;
	r = ty_mem_id(&g->pages, page_key(g, o), &id, &fresh);
	if (r)
		return r;
	if (fresh && vec_push(&g->page_pa, UNKNOWN))
		return -TY_ENOMEM;
	if (fresh && !(id & 1023) &&
	    ty_mem_ids_bytes(&g->pages) + g->page_pa.cap * 8 > 2 * g->max_bytes)
		return -TY_ELIMIT;
	known = &g->page_pa.v[id];
	if (pa != UNKNOWN && *known != pa)
		*known = *known == UNKNOWN ? pa : MOVED;
	return 0;
}

/* Only where samples with and without physical addresses stand side by side it has to be known
 * where pages lie. */
static int learn_pages(struct ty_gather *g)
{
	const unsigned want = TY_MEM_WANT_VA | TY_MEM_WANT_PA | TY_MEM_WANT_THREAD;
	struct ty_mem_point rows[TY_BLOCK_ROWS];
	bool with = false, without = false;
	uint32_t n;
	int r = 0;

	for (uint64_t at = 0;
	     g->p->sum.with_pa && !(with && without) && (n = ty_mem_points_rows(g->p, at, 0, rows));
	     at += n) {
		if (ty_mem_stopped(g->work))
			return -TY_EINTR;
		for (uint32_t i = 0; i < n; i++) {
			with |= counts(&rows[i]) && rows[i].flags & TY_MP_HAS_PA;
			without |= counts(&rows[i]) && !(rows[i].flags & TY_MP_HAS_PA);
		}
	}
	g->mixed = with && without;
	for (uint64_t at = 0; !r && g->mixed && (n = ty_mem_points_rows(g->p, at, want, rows));
	     at += n) {
		r = ty_mem_stopped(g->work) ? -TY_EINTR : 0;
		for (uint32_t i = 0; !r && i < n; i++)
			r = learn_page(g, &rows[i]);
	}
	return r;
}

/* The line of an access. */
static struct ty_line_key key_of(const struct ty_gather *g, const struct ty_mem_point *o)
{
	uint64_t pa = o->pa;

	if (!(o->flags & TY_MP_HAS_PA)) {
		uint32_t page = g->mixed ? ty_mem_id_find(&g->pages, page_key(g, o)) : NOBODY;

		if (page == NOBODY || g->page_pa.v[page] >= UNKNOWN)
			return (struct ty_line_key){o->va >> g->shift, process(g, o)};
		pa = g->page_pa.v[page] << PAGE_BITS | (o->va & IN_PAGE);
	}
	return (struct ty_line_key){pa >> g->shift, TY_LINE_PHYSICAL};
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

static int touch(struct ty_gather *g, struct ty_line_key k, uint32_t h,
		 const struct ty_mem_point *o)
{
	struct ty_line_slot *s = slot_of(g, k, h);

	if (s->thread == NOBODY) {
		int r = lines_room(g);

		if (r)
			return r;
		s = slot_of(g, k, h);
		*s = (struct ty_line_slot){.key = k, .thread = o->thread, .candidate = NOBODY};
		g->used++;
	}
	if (s->thread != o->thread)
		s->thread = MANY;
	s->writes |= o->flags & TY_MP_WRITES;
	return 0;
}

/* Where row i lies, with its slot on the way to the cache. */
static void place(const struct ty_gather *g, const struct ty_mem_point *o, struct placed *at,
		  uint32_t i)
{
	at->in[i] = counts(o) && o->thread != TY_MEM_NO_THREAD;
	if (!at->in[i])
		return;
	at->key[i] = key_of(g, o);
	at->hash[i] = hash(g, at->key[i]);
	at->in[i] = in_range(g, at->hash[i]);
	if (at->in[i])
		__builtin_prefetch(home(g, at->hash[i]));
}

/* Who touched the lines of the range; ANEW: begin again. */
static int look_through(struct ty_gather *g)
{
	const unsigned want = TY_MEM_WANT_VA | TY_MEM_WANT_PA | TY_MEM_WANT_THREAD;
	struct ty_mem_point rows[TY_BLOCK_ROWS];
	struct placed at;
	uint32_t n;
	int r = empty_table(g);

	if (!g->lo)
		g->accesses = g->no_thread = 0;
	for (uint64_t i = 0; !r && (n = ty_mem_points_rows(g->p, i, want, rows)); i += n) {
		r = ty_mem_stopped(g->work) ? -TY_EINTR : 0;
		for (uint32_t k = 0; !r && k < n + AHEAD; k++) {
			if (k < n) {
				place(g, &rows[k], &at, k);
				if (!g->lo && counts(&rows[k])) {
					bool known = rows[k].thread != TY_MEM_NO_THREAD;

					g->accesses += known;
					g->no_thread += !known;
				}
			}
			if (k >= AHEAD && at.in[k - AHEAD])
				r = touch(g, at.key[k - AHEAD], at.hash[k - AHEAD],
					  &rows[k - AHEAD]);
		}
	}
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

static bool is_shared(const struct ty_line_slot *s)
{
	return s->thread == MANY && s->writes;
}

static int add_line(struct ty_gather *g, struct ty_line_slot *s)
{
	struct ty_gather_line l = {.hash = hash(g, s->key), .last = NOBODY};
	bool physical = s->key.pid == TY_LINE_PHYSICAL;

	s->candidate = (uint32_t)g->lines.n;
	l.line = (struct ty_sharing_line){
		.line = s->key.line << g->shift,
		.physical = physical,
		.pid = physical ? -1 : s->key.pid,
		.va_pid = -1,
	};
	l.line.one_process = !physical && l.line.pid < 0 && !kernel(l.line.line);
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
			n += g->slot[i].thread != NOBODY && is_shared(&g->slot[i]) &&
			     in_range(g, hash(g, g->slot[i].key));
	} while (n > 1 && n * 4 * sizeof(*g->lines.v) > g->max_bytes && !(r = halve(g)));
	r = r ? r : vec_reserve(&g->lines, n + 1);
	for (uint64_t i = 0; !r && i < g->slots; i++)
		if (g->slot[i].thread != NOBODY && is_shared(&g->slot[i]) &&
		    in_range(g, hash(g, g->slot[i].key)))
			r = add_line(g, &g->slot[i]);
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

static int add_site(struct ty_gather *g, uint32_t line, const struct ty_mem_point *o)
{
	uint64_t address = o->flags & TY_MP_HAS_PA ? o->pa : o->va;
	struct ty_sharing_site s = {.thread = o->thread,
				    .pc = o->pc,
				    .offset = (uint16_t)(address & ((1u << g->shift) - 1)),
				    .size = o->size};
	struct ty_sharing_site *to;
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
	to->size = o->size > to->size ? o->size : to->size;
	if (o->flags & TY_MP_HAS_LAT) {
		to->lat_count++;
		to->lat_sum += o->total;
	}
	return 0;
}

static void add_access(struct ty_gather *g, struct ty_gather_line *a, const struct ty_mem_point *o)
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
		l->va = o->va >> g->shift << g->shift;
		l->va_pid = process(g, o);
		l->va_ts_ns = o->ts_ns;
	}
	l->turns += a->last != NOBODY && a->last != o->thread;
	a->last = o->thread;
	if (o->kind != TY_MEM_LOAD)
		return;
	if (o->src_flags & (TY_MEM_SRC_PEER | TY_MEM_SRC_HITM))
		l->peer++;
	else if (o->src_flags & TY_MEM_SRC_REMOTE || o->level == TY_MEM_LV_L3)
		l->remote++;
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

/* What was done to the lines. Blocks without any of them are decoded for their places only. */
static int find_sites(struct ty_gather *g)
{
	const unsigned want = TY_MEM_WANT_VA | TY_MEM_WANT_PA | TY_MEM_WANT_THREAD;
	struct ty_mem_point rows[TY_BLOCK_ROWS];
	uint32_t line[TY_BLOCK_ROWS], n;
	struct placed at;
	int r = 0;

	for (uint64_t i = 0; !r && (n = ty_mem_points_rows(g->p, i, want, rows)); i += n) {
		bool any = false;

		r = ty_mem_stopped(g->work) ? -TY_EINTR : 0;
		for (uint32_t k = 0; k < n + AHEAD; k++) {
			if (k < n)
				place(g, &rows[k], &at, k);
			if (k < AHEAD)
				continue;
			line[k - AHEAD] =
				at.in[k - AHEAD] ? slot_of(g, at.key[k - AHEAD], at.hash[k - AHEAD])
							   ->candidate
						 : NOBODY;
			any |= line[k - AHEAD] != NOBODY;
		}
		if (any)
			ty_mem_points_rows(
				g->p, i,
				want | TY_MEM_WANT_TIME | TY_MEM_WANT_PC | TY_MEM_WANT_TOTAL, rows);
		for (uint32_t k = 0; !r && any && k < n; k++) {
			if (line[k] == NOBODY || g->lines.v[line[k]].dropped)
				continue;
			add_access(g, &g->lines.v[line[k]], &rows[k]);
			r = add_site(g, line[k], &rows[k]);
			if (!r && g->collect)
				r = note_access(g, i + k);
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
	*g = (struct ty_gather){.p = p,
				.work = work,
				.shift = (unsigned)__builtin_ctz(line_bytes),
				.max_bytes = ty_mem_work_bytes(work) / 2,
				.hi = HASHES};
	g->max_bytes = g->max_bytes > BYTES_MIN ? g->max_bytes : BYTES_MIN;
	return learn_pages(g);
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
	ty_mem_ids_fini(&g->pages);
	vec_fini(&g->page_pa);
}
