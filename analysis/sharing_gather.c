/* SPDX-License-Identifier: MIT */
/*
 * Gathers lines by ranges of their hash (sharing_priv.h). One pass over the points finds the
 * threads that access each line of the range, a second one the accesses to those that are shared.
 * Budget: a cache miss per access and pass, overlapped by prefetching; 32 bytes per line for large
 * numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "huge_alloc.h"
#include "sharing_place.h"

#define HASHES	  (UINT64_C(1) << 32)
#define AHEAD	  16u
#define ANEW	  1
#define BYTES_MIN (64u << 10) /* less makes no sense: a pass for a handful of lines */

/* What was done to a line. */
enum {
	WRITTEN = 1,
	PEER = 2,     /* a load came from another core's cache */
	MODIFIED = 4, /* and was modified there */
	AGAIN = 8,    /* twice over */
};

/* An empty table: small at first, then of all bytes that there are. */
static int empty_table(struct ty_gather *g)
{
	uint64_t slots = g->full ? g->max_bytes / sizeof(*g->slot) : TY_GATHER_SLOTS;

	slots = slots > TY_GATHER_SLOTS ? slots : TY_GATHER_SLOTS;
	if (!g->slot || slots != g->slots) {
		free(g->slot);
		g->slot = ty_huge_alloc(slots * sizeof(*g->slot));
		g->slots = slots;
	}
	g->used = 0;
	if (!g->slot)
		return -TY_ENOMEM;
	memset(g->slot, 0xff, slots * sizeof(*g->slot)); /* TY_LINE_NONE */
	return 0;
}

static int grow(struct ty_gather *g)
{
	struct ty_line_slot *old = g->slot;
	uint64_t n = g->slots;

	g->slot = ty_huge_alloc(2 * n * sizeof(*g->slot));
	if (!g->slot) {
		g->slot = old;
		return -TY_ENOMEM;
	}
	g->slots = 2 * n;
	memset(g->slot, 0xff, g->slots * sizeof(*g->slot));
	for (uint64_t i = 0; i < n; i++)
		if (old[i].thread != TY_LINE_NONE)
			*ty_line_slot_of(g, old[i].key, ty_line_hash(g, old[i].key)) = old[i];
	free(old);
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
		r = ty_gather_halve(g);
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

static inline __attribute__((always_inline)) int touch(struct ty_gather *g, struct ty_line_key k,
						       uint32_t h, const struct ty_mem_point *o)
{
	uint8_t done = done_by(o);
	struct ty_line_slot *s = ty_line_slot_of(g, k, h);

	if (s->thread == TY_LINE_NONE) {
		int r = lines_room(g);

		if (r)
			return r;
		s = ty_line_slot_of(g, k, h);
		*s = (struct ty_line_slot){.key = k,
					   .thread = o->thread,
					   .candidate = TY_LINE_NONE,
					   .cpu = o->cpu == UINT16_MAX ? TY_LINE_CPUS : o->cpu};
		g->used++;
	}
	if (s->thread != o->thread)
		s->thread = TY_LINE_MANY;
	if (s->cpu != o->cpu)
		s->cpu = TY_LINE_CPUS;
	s->done |= done | (s->done & done & MODIFIED ? AGAIN : 0);
	return 0;
}

/* Collects the threads that accessed the lines of the range; ANEW: begin again. */
static int look_through(struct ty_gather *g)
{
	struct ty_mem_point rows[TY_BLOCK_ROWS];
	struct ty_placed at;
	uint32_t n;
	int r = empty_table(g);

	at.accesses = at.no_thread = 0;
	for (uint64_t i = 0; !r && (n = ty_mem_points_rows(g->p, i, g->want, rows)); i += n) {
		r = ty_mem_stopped(g->work) ? -TY_EINTR : 0;
		if (!r && g->pages.watch)
			r = ty_line_pages_watch(&g->pages, rows, n); /* 1: ANEW */
		at.reach_n = 0;
		for (uint32_t k = 0; !r && k < n + AHEAD; k++) {
			if (k < n)
				ty_place_row(g, &rows[k], &at, k);
			if (k >= AHEAD && at.in[k - AHEAD])
				r = touch(g, at.key[k - AHEAD], at.hash[k - AHEAD],
					  &rows[k - AHEAD]);
		}
		ty_place_next(g, i, rows, n, &at);
		for (uint32_t k = n; !r && k < at.n; k++)
			if (at.in[k])
				r = touch(g, at.key[k], at.hash[k],
					  &rows[at.row[k] & (TY_PLACED_NEXT - 1)]);
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
	if (!r && g->pages.watch) /* no page has moved */
		ty_line_pages_fini(&g->pages);
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
	return s->thread == TY_LINE_MANY && is_written(g, s) && s->cpu != TY_LINE_CPUS &&
	       !(s->done & PEER);
}

/* Of a single thread that stayed on its CPU and found the line modified elsewhere twice: a thread
 * that was not sampled wrote it in between. */
static bool is_shared(const struct ty_gather *g, const struct ty_line_slot *s)
{
	if (s->thread == TY_LINE_MANY)
		return is_written(g, s) && !stays(g, s);
	return s->done & AGAIN && s->cpu != TY_LINE_CPUS;
}

static int add_line(struct ty_gather *g, struct ty_line_slot *s)
{
	struct ty_gather_line l = {.hash = ty_line_hash(g, s->key),
				   .last = TY_LINE_NONE,
				   .toucher = TY_LINE_NONE,
				   .last_cpu = TY_LINE_CPUS};
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
			n += g->slot[i].thread != TY_LINE_NONE && is_shared(g, &g->slot[i]) &&
			     ty_line_in_range(g, ty_line_hash(g, g->slot[i].key));
	} while (n > 1 && n * 4 * sizeof(*g->lines.v) > g->max_bytes && !(r = ty_gather_halve(g)));
	r = r ? r : vec_reserve(&g->lines, n + 1);
	for (uint64_t i = 0; !r && i < g->slots; i++)
		if (g->slot[i].thread != TY_LINE_NONE && is_shared(g, &g->slot[i]) &&
		    ty_line_in_range(g, ty_line_hash(g, g->slot[i].key)))
			r = add_line(g, &g->slot[i]);
	return r;
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

/* Of the range as it is at last: what it became smaller by comes again. */
static void count_others(struct ty_gather *g)
{
	for (uint64_t i = 0; i < g->slots; i++)
		g->one_cpu += g->slot[i].thread != TY_LINE_NONE && stays(g, &g->slot[i]) &&
			      ty_line_in_range(g, ty_line_hash(g, g->slot[i].key));
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
		r = ty_gather_sites(g);
	if (!r)
		count_others(g);
	return r ? r : 1;
}

int ty_gather_one(struct ty_gather *g, struct ty_line_key key)
{
	uint32_t h = ty_line_hash(g, key);
	int r;

	g->lo = h;
	g->hi = g->lo + 1;
	g->collect = true;
	r = ty_line_pages_settle(&g->pages);
	r = r ? r : empty_table(g);
	if (r)
		return r;
	*ty_line_slot_of(g, key, h) = (struct ty_line_slot){.key = key, .thread = TY_LINE_MANY};
	r = add_line(g, ty_line_slot_of(g, key, h));
	return r ? r : ty_gather_sites(g);
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
