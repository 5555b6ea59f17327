/* SPDX-License-Identifier: MIT */
/*
 * Pages by process and virtual address (sharing_pages.h). Budget: a look-up per access with a
 * physical address, in the first pass only; if pages move or must be known, one more pass, and
 * look-ups in each.
 */
#include "sharing_pages.h"

#define PAGE_BITS 12
#define IN_PAGE	  ((UINT64_C(1) << PAGE_BITS) - 1)
#define MOVED	  UINT64_MAX /* it lay at several places */

static int learn(struct ty_line_pages *g, uint64_t key, uint64_t pa)
{
	uint64_t *known;
	uint32_t id;
	bool fresh;
	int r = ty_mem_id(&g->ids, key, &id, &fresh);

	if (r)
		return r;
	if (fresh && vec_push(&g->page, (struct ty_line_page){.pa = TY_LINE_PA_UNKNOWN,
							      .from_ns = 1,
							      .shared = TY_MEM_NOT_SHARED}))
		return -TY_ENOMEM;
	if (fresh && !(id & 1023) &&
	    ty_mem_ids_bytes(&g->ids) + g->page.cap * sizeof(*g->page.v) > g->max_bytes)
		return -TY_ELIMIT;
	known = &g->page.v[id].pa;
	if (pa != TY_LINE_PA_UNKNOWN && *known != pa) {
		g->moved |= *known != TY_LINE_PA_UNKNOWN;
		*known = *known == TY_LINE_PA_UNKNOWN ? pa : MOVED;
	}
	return 0;
}

/* Records the page of the point, if it has one. 0, -TY_ENOMEM, -TY_ELIMIT. */
static inline int note(struct ty_line_pages *g, const struct ty_mem_point *o)
{
	uint64_t pa = o->flags & TY_MP_HAS_PA ? o->pa >> 12 : TY_LINE_PA_UNKNOWN, key;
	uint32_t id;

	if (!ty_line_counts(o) || o->thread == TY_MEM_NO_THREAD || !(o->flags & TY_MP_HAS_VA))
		return 0;
	key = ty_line_page_key(g, o);
	id = ty_mem_id_find(&g->ids, key);
	return id != UINT32_MAX && g->page.v[id].pa == pa ? 0 : learn(g, key, pa);
}

/* About the pages of all points. */
static int learn_all(struct ty_line_pages *g)
{
	const unsigned want = TY_MEM_WANT_VA | TY_MEM_WANT_PA | TY_MEM_WANT_THREAD;
	struct ty_mem_point rows[TY_BLOCK_ROWS];
	uint32_t n;
	int r = 0;

	for (uint64_t at = 0; !r && (n = ty_mem_points_rows(g->p, at, want, rows)); at += n) {
		r = ty_mem_stopped(g->work) ? -TY_EINTR : 0;
		for (uint32_t i = 0; !r && i < n; i++)
			r = note(g, &rows[i]);
	}
	return r;
}

int ty_line_pages_begin(struct ty_line_pages *g, const struct ty_mem_points *p, uint64_t max_bytes,
			const struct ty_mem_work *work)
{
	*g = (struct ty_line_pages){.p = p,
				    .work = work,
				    .max_bytes = max_bytes,
				    .shares = p->stream && ty_mem_facts(p->stream)->shared_maps};
	g->used = p->sum.part_pa || g->shares;
	g->watch = p->sum.with_pa && !g->used;
	return g->used ? learn_all(g) : 0;
}

int ty_line_pages_settle(struct ty_line_pages *g)
{
	int r;

	if (!g->watch)
		return 0;
	g->watch = false;
	r = learn_all(g);
	g->used = !r && g->moved;
	if (!g->used)
		ty_line_pages_fini(g);
	/* That pages move is no reason to fail. */
	return r == -TY_ELIMIT ? 0 : r;
}

int ty_line_pages_watch(struct ty_line_pages *g, const struct ty_mem_point *o, uint32_t n)
{
	int r = 0;

	for (uint32_t i = 0; !r && i < n; i++)
		r = note(g, &o[i]);
	if (r == -TY_ELIMIT) { /* as above */
		ty_line_pages_fini(g);
		return 0;
	}
	if (r || !g->moved)
		return r;
	r = ty_line_pages_settle(g);
	return r ? r : g->used;
}

void ty_line_pages_fini(struct ty_line_pages *g)
{
	ty_mem_ids_fini(&g->ids);
	vec_fini(&g->page);
	g->used = g->watch = false;
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

	if (o->flags & TY_MP_HAS_VA && (!physical || g->moved || g->shares)) {
		uint32_t id = ty_mem_id_find(&g->ids, ty_line_page_key(g, o));

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
	} else if (page && !physical && page->pa != TY_LINE_PA_UNKNOWN) {
		physical = true;
		pa = page->pa << PAGE_BITS | (o->va & IN_PAGE);
	}
	if (physical)
		return (struct ty_line_key){pa >> shift, TY_LINE_PHYSICAL};
	return (struct ty_line_key){o->va >> shift, ty_line_process(g->p, o)};
}
