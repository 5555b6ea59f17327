/* SPDX-License-Identifier: MIT */
/*
 * Pages by process and virtual address (sharing_pages.h). Budget: one pass more over the points
 * where physical addresses are recorded, a look-up per access; where pages neither move nor have to
 * be known, nothing afterwards.
 */
#include "sharing_pages.h"

#define PAGE_BITS 12
#define IN_PAGE	  ((UINT64_C(1) << PAGE_BITS) - 1)
#define MOVED	  UINT64_MAX	   /* it lay at several places */
#define UNKNOWN	  (UINT64_MAX - 1) /* no physical address recorded */

/* Pids have 22 bits, addresses 54 (with the sign): with the page's 12 off they fit one word. */
static uint64_t page_key(const struct ty_line_pages *g, const struct ty_mem_point *o)
{
	return (uint64_t)((uint32_t)ty_line_process(g->p, o) & 0x3fffff) << 42 |
	       (o->va >> PAGE_BITS & ((1ull << 42) - 1));
}

static bool has_page(const struct ty_mem_point *o)
{
	return ty_line_counts(o) && o->thread != TY_MEM_NO_THREAD && o->flags & TY_MP_HAS_VA;
}

static int learn(struct ty_line_pages *g, const struct ty_mem_point *o, uint64_t max_bytes,
		 bool *moved)
{
	uint64_t pa = o->flags & TY_MP_HAS_PA ? o->pa >> PAGE_BITS : UNKNOWN, *known;
	uint32_t id;
	bool fresh;
	int r;

	if (!has_page(o))
		return 0;
	r = ty_mem_id(&g->ids, page_key(g, o), &id, &fresh);
	if (r)
		return r;
	if (fresh &&
	    vec_push(&g->page, (struct ty_line_page){
				       .pa = UNKNOWN, .from_ns = 1, .shared = TY_MEM_NOT_SHARED}))
		return -TY_ENOMEM;
	if (fresh && !(id & 1023) &&
	    ty_mem_ids_bytes(&g->ids) + g->page.cap * sizeof(*g->page.v) > max_bytes)
		return -TY_ELIMIT;
	known = &g->page.v[id].pa;
	if (pa != UNKNOWN && *known != pa) {
		*moved |= *known != UNKNOWN;
		*known = *known == UNKNOWN ? pa : MOVED;
	}
	return 0;
}

/* Do samples with and without physical addresses stand side by side? */
static int mixed(const struct ty_line_pages *g, const struct ty_mem_work *work)
{
	struct ty_mem_point rows[TY_BLOCK_ROWS];
	bool with = false, without = false;
	uint32_t n;

	for (uint64_t at = 0; !(with && without) && (n = ty_mem_points_rows(g->p, at, 0, rows));
	     at += n) {
		if (ty_mem_stopped(work))
			return -TY_EINTR;
		for (uint32_t i = 0; i < n; i++) {
			with |= ty_line_counts(&rows[i]) && rows[i].flags & TY_MP_HAS_PA;
			without |= ty_line_counts(&rows[i]) && !(rows[i].flags & TY_MP_HAS_PA);
		}
	}
	return with && without;
}

int ty_line_pages_begin(struct ty_line_pages *g, const struct ty_mem_points *p, uint64_t max_bytes,
			const struct ty_mem_work *work)
{
	const unsigned want = TY_MEM_WANT_VA | TY_MEM_WANT_PA | TY_MEM_WANT_THREAD;
	struct ty_mem_point rows[TY_BLOCK_ROWS];
	bool moved = false;
	uint32_t n;
	int r, mix;

	*g = (struct ty_line_pages){.p = p,
				    .shares = p->stream && ty_mem_facts(p->stream)->shared_maps};
	mix = r = p->sum.with_pa ? mixed(g, work) : 0;
	if (r < 0 || !(p->sum.with_pa || g->shares))
		return r;
	r = 0;
	for (uint64_t at = 0; !r && (n = ty_mem_points_rows(p, at, want, rows)); at += n) {
		r = ty_mem_stopped(work) ? -TY_EINTR : 0;
		for (uint32_t i = 0; !r && i < n; i++)
			r = learn(g, &rows[i], max_bytes, &moved);
	}
	g->used = mix || moved || g->shares;
	/* That pages move is no reason to fail. */
	if (r == -TY_ELIMIT && !mix && !g->shares) {
		g->used = false;
		r = 0;
	}
	if (!g->used)
		ty_line_pages_fini(g);
	return r;
}

void ty_line_pages_fini(struct ty_line_pages *g)
{
	ty_mem_ids_fini(&g->ids);
	vec_fini(&g->page);
	g->used = false;
}

unsigned ty_line_pages_want(const struct ty_line_pages *g)
{
	return TY_MEM_WANT_VA | TY_MEM_WANT_PA | TY_MEM_WANT_THREAD |
	       (g->used && g->shares ? TY_MEM_WANT_TIME : 0);
}

/* Which shared memory the page is of at that time. */
static void resolve(const struct ty_line_pages *g, const struct ty_mem_point *o,
		    struct ty_line_page *page)
{
	struct ty_mem_when when = {0, UINT64_MAX};
	const struct ty_mem_map *m =
		ty_mem_map_when(g->p->stream, ty_line_process(g->p, o), o->va, o->ts_ns, &when);

	page->from_ns = when.from_ns;
	page->to_ns = when.to_ns;
	page->shared = TY_MEM_NOT_SHARED;
	if (!m || m->shared >= TY_LINE_SHARED_MAX || (m->addr | m->pgoff) & IN_PAGE)
		return;
	page->shared = m->shared;
	page->off = (o->va - m->addr + m->pgoff) & ~IN_PAGE;
}

struct ty_line_key ty_line_key_by_page(struct ty_line_pages *g, const struct ty_mem_point *o,
				       unsigned shift)
{
	bool physical = o->flags & TY_MP_HAS_PA;
	uint64_t pa = o->pa;
	struct ty_line_page *page = NULL;

	if (o->flags & TY_MP_HAS_VA) {
		uint32_t id = ty_mem_id_find(&g->ids, page_key(g, o));

		page = id == UINT32_MAX ? NULL : &g->page.v[id];
	}
	if (page && g->shares && !(o->va >> 55)) {
		if (o->ts_ns < page->from_ns || o->ts_ns >= page->to_ns)
			resolve(g, o, page);
		if (page->shared != TY_MEM_NOT_SHARED)
			return (struct ty_line_key){(page->off | (o->va & IN_PAGE)) >> shift,
						    TY_LINE_SHARED(page->shared)};
	}
	if (page && page->pa == MOVED) {
		physical = false;
	} else if (page && !physical && page->pa != UNKNOWN) {
		physical = true;
		pa = page->pa << PAGE_BITS | (o->va & IN_PAGE);
	}
	if (physical)
		return (struct ty_line_key){pa >> shift, TY_LINE_PHYSICAL};
	return (struct ty_line_key){o->va >> shift, ty_line_process(g->p, o)};
}
