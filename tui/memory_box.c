/* SPDX-License-Identifier: MIT */
/* Cells of the memory view's pane as boxes of time and latency or rows, and the samples in a
 * box. */
#include "memory_priv.h"

bool ty_memory_selected(const struct ty_memory_view *v, struct ty_memory_corner *box)
{
	if (!v->selecting)
		return false;
	*box = (struct ty_memory_corner){.from_ns = v->a.from_ns < v->b.from_ns ? v->a.from_ns
										: v->b.from_ns,
					 .to_ns = v->a.to_ns > v->b.to_ns ? v->a.to_ns : v->b.to_ns,
					 .low = v->a.low < v->b.low ? v->a.low : v->b.low,
					 .high = v->a.high > v->b.high ? v->a.high : v->b.high};
	return true;
}

/* Is it of the latencies or rows of the box? */
static bool in_rows(const struct ty_memory_view *v, const struct ty_memory_corner *box,
		    const struct ty_mem_point *o)
{
	uint32_t id = v->pane == TY_MEMORY_CPUS ? o->cpu : o->thread;

	if (v->pane == TY_MEMORY_LATENCY)
		return o->flags & TY_MP_HAS_LAT && ty_mem_octave(o->total) >= box->low &&
		       ty_mem_octave(o->total) <= box->high;
	for (uint64_t i = box->low; i <= box->high; i++)
		if (v->pane == TY_MEMORY_LINE
			    ? i < v->line.sites.n && v->line.sites.v[i].thread == id
			    : i < v->strips.n && v->strips.v[i].id == id)
			return true;
	return false;
}

bool ty_memory_in_box(const struct ty_memory_view *v, const struct ty_memory_corner *box,
		      const struct ty_mem_point *o)
{
	return ty_memory_inside(o, box->from_ns, box->to_ns) &&
	       (ty_memory_all_rows(box) || in_rows(v, box, o));
}

int ty_memory_rows(const struct ty_memory_view *v)
{
	switch (v->pane) {
	case TY_MEMORY_LATENCY: return v->h;
	case TY_MEMORY_LINE: return (int)v->line.sites.n;
	default: return (int)v->strips.n;
	}
}

uint32_t ty_memory_row_octave(const struct ty_memory_view *v, int r)
{
	return (uint32_t)((r * TY_MEM_OCTAVES + v->h - 1) / v->h);
}

struct ty_memory_corner ty_memory_cell(const struct ty_memory_view *v, uint64_t at_ns, int row)
{
	uint32_t w = v->w > 0 ? (uint32_t)v->w : 1, x = ty_viewport_column(&v->vp, at_ns, w);
	struct ty_memory_corner c = {.from_ns = ty_viewport_edge(&v->vp, x, w),
				     .to_ns = ty_viewport_edge(&v->vp, x + 1, w)};

	if (v->pane == TY_MEMORY_LATENCY && v->h > 0) {
		c.low = ty_memory_row_octave(v, v->h - 1 - row);
		c.high = ty_memory_row_octave(v, v->h - row) - 1;
	} else {
		c.low = c.high = (uint32_t)row;
	}
	return c;
}
