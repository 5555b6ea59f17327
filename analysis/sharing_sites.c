/* SPDX-License-Identifier: MIT */
/*
 * Accesses to the selected lines (sharing_priv.h): a second pass over the points finds their access
 * sites, turns and latencies. Budget: as the first pass, plus a look-up of the site for each access
 * to a selected line.
 */
#include <stdlib.h>

#include "compare.h"
#include "sharing_place.h"

static uint64_t site_hash(const struct ty_gather *g, uint32_t line, const struct ty_sharing_site *s)
{
	uint64_t v = ((uint64_t)line << 32 | s->thread) ^ (uintptr_t)g;

	v = v * TY_HASH_FACTOR ^ ((uint64_t)s->pc << 16 | s->offset);
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
		l->dropped = !ty_line_in_range(g, l->hash);
	vec_each (s, &g->sites)
		if (!g->lines.v[s->line].dropped)
			g->sites.v[n++] = *s;
	g->sites.n = n;
}

/* There is to be room for one more; the range becomes smaller where there is not. */
static int sites_room(struct ty_gather *g)
{
	uint64_t slots = g->site_slot ? g->site_mask + 1 : TY_GATHER_SLOTS;
	size_t each = sizeof(*g->sites.v) + 2 * sizeof(*g->site_slot);
	int r = 0;

	if (g->site_slot && g->sites.n * 2 <= g->site_mask)
		return 0;
	if (!g->site_slot || slots * each * 4 <= g->max_bytes)
		return rebuild_sites(g, g->site_slot ? 2 * slots : slots);
	if (g->collect)
		return -TY_ELIMIT;
	while (!r && g->sites.n * 2 > g->site_mask) {
		r = ty_gather_halve(g);
		if (!r)
			drop_sites(g);
	}
	return r ? r : rebuild_sites(g, slots);
}

/* Of the access, or of what of it lies in the next line. */
static struct ty_sharing_site site_of(const struct ty_gather *g, const struct ty_mem_point *o,
				      bool next)
{
	uint32_t offset = ty_line_offset(g, o),
		 rest = offset + ty_line_extent(o) - (1u << g->shift);
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
	to->peer += !!(o->src_flags & (TY_MEM_SRC_PEER | TY_MEM_SRC_HITM));
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

	a->line.turns +=
		a->last != TY_LINE_NONE && a->last != o->thread && (wrote || a->last_wrote) &&
		(a->last_cpu == TY_LINE_CPUS || o->cpu == UINT16_MAX || a->last_cpu != o->cpu);
	a->last = o->thread;
	a->last_cpu = o->cpu == UINT16_MAX ? TY_LINE_CPUS : o->cpu;
	a->last_wrote = wrote;
	a->line.rewritten |= wrote && a->toucher != TY_LINE_NONE && a->toucher != o->thread;
	a->toucher =
		a->toucher == TY_LINE_NONE || a->toucher == o->thread ? o->thread : TY_LINE_MANY;
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

	if (line == TY_LINE_NONE || g->lines.v[line].dropped)
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
	struct ty_placed at;
	int r = 0;

	at.accesses = at.no_thread = 0;
	for (uint64_t i = 0; !r && (n = ty_mem_points_rows(g->p, i, g->want, rows)); i += n) {
		bool any = false;

		r = ty_mem_stopped(g->work) ? -TY_EINTR : 0;
		at.reach_n = 0;
		for (uint32_t k = 0; k < n; k++)
			ty_place_row(g, &rows[k], &at, k);
		ty_place_next(g, i, rows, n, &at);
		for (uint32_t k = 0; k < at.n; k++) {
			line[k] = at.in[k] ? ty_line_slot_of(g, at.key[k], at.hash[k])->candidate
					   : TY_LINE_NONE;
			any |= line[k] != TY_LINE_NONE;
		}
		if (any)
			ty_mem_points_rows(g->p, i, rest, rows);
		/* In their order, each with what of it lies in the next line. */
		for (uint32_t k = 0, next = n; !r && any && k < n; k++) {
			r = found(g, i, &rows[k], k, line[k], false);
			if (!r && next < at.n && at.row[next] == (k | TY_PLACED_NEXT))
				r = found(g, i, &rows[k], k, line[next++], true);
		}
	}
	return r;
}

ORDER(site_order, struct ty_gather_site,
      compare(a->line, b->line) ?: compare(a->site.offset, b->site.offset) ?:
      compare(a->site.thread, b->site.thread) ?: compare(a->site.pc, b->site.pc))

int ty_gather_sites(struct ty_gather *g)
{
	int r = find_sites(g);

	if (r)
		return r;
	drop_sites(g);
	vec_sort(&g->sites, site_order);
	for (size_t i = g->sites.n; i-- > 0;) {
		struct ty_sharing_line *l = &g->lines.v[g->sites.v[i].line].line;

		l->sites_first = (uint32_t)i;
		l->sites_n++;
	}
	return 0;
}
