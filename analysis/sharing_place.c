/* SPDX-License-Identifier: MIT */
/* Accesses across the end of their line (sharing_place.h). */
#include "sharing_place.h"

/* What lies where behind the end of a physical page is unknown. */
void ty_place_next(struct ty_gather *g, uint64_t first, struct ty_mem_point *o, uint32_t n,
		   struct ty_placed *at)
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
		if (ty_line_offset(g, &o[i]) + ty_line_extent(&o[i]) <= 1u << g->shift ||
		    (key.of == TY_LINE_PHYSICAL && (g->shift >= 12 || (key.line & page) == page)))
			continue;
		key.line++;
		ty_place(g, at, at->n, i | TY_PLACED_NEXT, key);
		at->n++;
	}
}
