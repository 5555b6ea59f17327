/* SPDX-License-Identifier: MIT */
/*
 * The upper part of the memory view: latencies over time, strips of threads or CPUs, or the
 * accesses to one cache line. Its cells are computed once per window and size.
 */
#include "memory_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

#define LABEL	    7  /* columns left of the scatter */
#define LABEL_STRIP 22 /* left of strips, where there is room */
#define HIST	    13 /* columns right of the scatter, where there is room */

void ty_memory_lay_out(struct ty_memory_view *v, const struct ty_grid *g)
{
	int rows;

	v->label_w = v->pane == TY_MEMORY_LATENCY ? LABEL : g->w >= 60 ? LABEL_STRIP : 12;
	v->x = v->label_w;
	v->w = g->w - v->label_w - (v->pane == TY_MEMORY_LATENCY && g->w >= 60 ? HIST : 1);
	v->w = v->w > 1 ? v->w : 1;
	v->h = (g->h - 3) / 2;
	v->h = v->h > TY_MEM_OCTAVES ? TY_MEM_OCTAVES : v->h < 2 ? 2 : v->h;
	rows = ty_memory_rows(v);
	v->row = v->row >= rows ? rows - 1 : v->row;
	v->row = v->row < 0 ? 0 : v->row;
}

static struct ty_memory_bin *bin_of(struct ty_memory_view *v, unsigned octave, uint64_t t)
{
	return &v->bin[octave * (unsigned)v->w + ty_viewport_column(&v->vp, t, (uint32_t)v->w)];
}

static void count_bin(struct ty_memory_view *v, unsigned octave, uint64_t t, uint32_t n,
		      unsigned far)
{
	struct ty_memory_bin *b = bin_of(v, octave, t);

	v->shown += n;
	v->hist[octave] += n;
	b->n += n;
	b->far = far > b->far ? (uint8_t)far : b->far;
}

/* A group that lies in one cell of the window. */
static bool count_group(struct ty_memory_view *v, const struct ty_mem_group *g)
{
	uint32_t w = (uint32_t)v->w;

	if (!g->timed || g->last_ns < v->vp.from_ns || g->first_ns >= v->vp.to_ns)
		return true;
	if (g->first_ns < v->vp.from_ns || g->last_ns >= v->vp.to_ns ||
	    ty_viewport_column(&v->vp, g->first_ns, w) != ty_viewport_column(&v->vp, g->last_ns, w))
		return false;
	v->timed += g->timed;
	for (unsigned o = 0; o < TY_MEM_OCTAVES; o++)
		if (g->count[o])
			count_bin(v, o, g->first_ns, g->count[o], g->far[o]);
	return true;
}

/* Groups of points as a whole; those over an edge of cells one by one. */
static int fill_scatter(struct ty_memory_view *v)
{
	const struct ty_mem_points *p = v->points;
	struct ty_mem_point rows[TY_BLOCK_ROWS];
	uint64_t end;
	uint32_t n;

	free(v->bin);
	v->bin = calloc((size_t)v->w * TY_MEM_OCTAVES, sizeof(*v->bin));
	if (!v->bin)
		return -TY_ENOMEM;
	v->shown = v->timed = 0;
	memset(v->hist, 0, sizeof(v->hist));
	ty_mem_points_between(p, v->vp.from_ns, v->vp.to_ns, &v->first, &v->n);
	end = v->first + v->n;
	for (uint64_t at = v->first / TY_BLOCK_ROWS * TY_BLOCK_ROWS; at < end;
	     at += TY_BLOCK_ROWS) {
		if (count_group(v, &p->group[at / TY_BLOCK_ROWS]))
			continue;
		n = ty_mem_points_rows(p, at, TY_MEM_WANT_TIME | TY_MEM_WANT_TOTAL, rows);
		for (uint32_t i = 0; i < n; i++) {
			const struct ty_mem_point *o = &rows[i];

			if (!ty_memory_inside(o, v->vp.from_ns, v->vp.to_ns))
				continue;
			v->timed++;
			if (o->flags & TY_MP_HAS_LAT)
				count_bin(v, ty_mem_octave(o->total), o->ts_ns, 1, ty_mem_far(o));
		}
	}
	return 0;
}

ORDER(strip_order, struct ty_memory_strip, compare(b->n, a->n) ?: compare(a->id, b->id))

static int fill_strips(struct ty_memory_view *v)
{
	enum ty_mem_heat_by by = v->pane == TY_MEMORY_CPUS ? TY_MEM_HEAT_CPU : TY_MEM_HEAT_THREAD;
	const struct ty_mem_heat *h = v->heat[by];

	v->strips.n = 0;
	for (uint32_t i = 0; h && i < ty_mem_heat_strips(h); i++) {
		uint64_t n = ty_mem_heat_count(h, i, v->vp.from_ns, v->vp.to_ns);

		if (n && vec_push(&v->strips, (struct ty_memory_strip){i, n}))
			return -TY_ENOMEM;
	}
	vec_sort(&v->strips, strip_order);
	return 0;
}

void ty_memory_fill(struct ty_memory_view *v)
{
	bool same = v->filled && v->fill_from == v->vp.from_ns && v->fill_to == v->vp.to_ns;

	if (same && v->fill_w == v->w && v->bin && !v->refill)
		return;
	if (!same || v->job.want.selected)
		ty_memory_count_forget(v);		    /* it may read the strips */
	v->counted &= same && !(v->refill && v->selecting); /* of rows that were none yet */
	v->filled = true;
	v->refill = false;
	v->fill_from = v->vp.from_ns;
	v->fill_to = v->vp.to_ns;
	v->fill_w = v->w;
	v->failed = fill_scatter(v) != 0;
	if (!v->failed && (v->pane == TY_MEMORY_THREADS || v->pane == TY_MEMORY_CPUS))
		v->failed = fill_strips(v) != 0;
}

/* Drawing ------------------------------------------------------------------------------------- */

static void draw_bin(struct ty_grid *g, const struct ty_palette *p, int x, int y,
		     const struct ty_memory_bin *b)
{
	static const uint32_t shade[2][5] = {{'.', ':', '+', '*', '#'},
					     {0xb7, 0x2591, 0x2592, 0x2593, 0x2588}};
	unsigned k = b->n < 2 ? 0 : b->n < 4 ? 1 : b->n < 16 ? 2 : b->n < 64 ? 3 : 4;

	if (b->n)
		ty_grid_put(g, x, y, shade[p->utf8][k], ty_memory_source_style(b->far));
}

/* Rows y..y+h: octaves from high to low. */
static void draw_scatter(struct ty_memory_view *v, struct ty_grid *g, const struct ty_palette *p,
			 int y)
{
	int h = v->h, hist_x = v->x + v->w + 1;
	uint64_t most = 1, sum[TY_MEM_OCTAVES] = {0};
	char text[40];

	for (int o = 0; o < TY_MEM_OCTAVES; o++)
		sum[o * h / TY_MEM_OCTAVES] += v->hist[o];
	for (int r = 0; r < h; r++)
		most = sum[r] > most ? sum[r] : most;
	for (int r = 0; r < h; r++) {
		int low = (int)ty_memory_row_octave(v, r), at = y + h - 1 - r;

		snprintf(text, sizeof(text), "%6u", low ? 1u << (low - 1) : 0);
		ty_grid_text(g, 0, at, LABEL - 1, text, ty_palette_role(p, TY_ROLE_DIM));
		for (int x = 0; x < v->w; x++) {
			struct ty_memory_bin b = {0};

			for (int o = low; o < TY_MEM_OCTAVES && o * h / TY_MEM_OCTAVES == r; o++) {
				const struct ty_memory_bin *c = &v->bin[o * v->w + x];

				b.n += c->n;
				b.far = c->far > b.far ? c->far : b.far;
			}
			draw_bin(g, p, v->x + x, at, &b);
		}
		if (g->w >= 60 && sum[r]) {
			int bar = (int)((sum[r] * 4 + most - 1) / most);

			ty_grid_fill(g, hist_x, at, bar, 1, p->utf8 ? 0x2588 : '#',
				     ty_palette_role(p, TY_ROLE_ACCENT));
			snprintf(text, sizeof(text), "%" PRIu64, sum[r]);
			ty_grid_elide(g, p, hist_x + 1 + bar, at, HIST - 2 - bar, text,
				      ty_palette_role(p, TY_ROLE_DIM));
		}
	}
}

/* The rows on the screen begin at strip_top; the cursor's is among them. */
static void scroll(struct ty_memory_view *v)
{
	if (v->strip_top > v->row)
		v->strip_top = v->row;
	if (v->strip_top + v->h <= v->row)
		v->strip_top = v->row + 1 - v->h;
}

static void draw_strips(struct ty_memory_view *v, struct ty_grid *g, const struct ty_palette *p,
			int y)
{
	const struct ty_mem_heat *h = v->heat[v->pane == TY_MEMORY_CPUS];
	struct ty_mem_heat_cell cell[TY_GRID_MAX];
	char text[80];

	if (!v->strips.n)
		ty_grid_text(g, 1, y, g->w - 2,
			     !h ? "reading the samples"
			     : v->pane == TY_MEMORY_CPUS
				     ? "no sample in this window has a CPU number"
				     : "no sample in this window has a known thread",
			     ty_palette_role(p, TY_ROLE_DIM));
	for (int r = 0; r < v->h && v->strip_top + r < (int)v->strips.n; r++) {
		const struct ty_memory_strip *s = &v->strips.v[v->strip_top + r];

		if (v->pane == TY_MEMORY_CPUS)
			snprintf(text, sizeof(text), "CPU %u", s->id);
		else
			snprintf(text, sizeof(text), "%d %s", v->in->points->thread[s->id].tid,
				 v->in->points->thread[s->id].comm);
		ty_grid_elide(g, p, 1, y + r, v->label_w - 2, text,
			      ty_palette_role(p, TY_ROLE_TEXT));
		ty_mem_heat_cells(h, s->id, v->vp.from_ns, v->vp.to_ns, (uint32_t)v->w, cell);
		for (int x = 0; x < v->w; x++) {
			struct ty_glyph gl = ty_memory_glyph(p, &cell[x], v->by_source);

			ty_grid_put(g, v->x + x, y + r, gl.ch, gl.st);
		}
	}
}

/* Which row of the line a thread has; -1. */
static int line_row(const struct ty_memory_view *v, uint32_t thread)
{
	for (size_t i = 0; i < v->line.sites.n; i++)
		if (v->line.sites.v[i].thread == thread)
			return (int)i;
	return -1;
}

/* A row per thread: W where it wrote, r where it only read. */
static void draw_line(struct ty_memory_view *v, struct ty_grid *g, const struct ty_palette *p,
		      int y)
{
	struct ty_memory_turn *cell = calloc((size_t)v->h * (size_t)v->w, sizeof(*cell));
	char text[80];

	if (!cell || !v->line.made) {
		ty_grid_text(g, 1, y, g->w - 2,
			     !cell	  ? "out of memory"
			     : v->counted ? "no cache line is shared in this window"
					  : "searching for shared cache lines",
			     ty_palette_role(p, TY_ROLE_DIM));
		free(cell);
		return;
	}
	for (size_t i = 0; i < v->line.access.n; i++) {
		const struct ty_mem_point point = ty_mem_points_get(v->in->points,
								    v->line.access.v[i]),
					  *o = &point;
		int r = line_row(v, o->thread) - v->strip_top;
		struct ty_memory_turn *c;

		if (r < 0 || r >= v->h || !ty_memory_inside(o, v->vp.from_ns, v->vp.to_ns))
			continue;
		c = &cell[r * v->w + (int)ty_viewport_column(&v->vp, o->ts_ns, (uint32_t)v->w)];
		if (o->flags & TY_MP_WRITES)
			c->writes++;
		else
			c->reads++;
		c->far = ty_mem_far(o) > c->far ? (uint8_t)ty_mem_far(o) : c->far;
	}
	for (int r = 0; r < v->h && v->strip_top + r < (int)v->line.sites.n; r++) {
		const struct ty_sharing_site *s = &v->line.sites.v[v->strip_top + r];

		snprintf(text, sizeof(text), "+%u %d %s", s->offset,
			 v->in->points->thread[s->thread].tid,
			 v->in->points->thread[s->thread].comm);
		ty_grid_elide(g, p, 1, y + r, v->label_w - 2, text,
			      ty_palette_role(p, TY_ROLE_TEXT));
		for (int x = 0; x < v->w; x++) {
			const struct ty_memory_turn *c = &cell[r * v->w + x];
			struct ty_style st = ty_memory_source_style(c->far);

			if (!c->reads && !c->writes)
				continue;
			st.attr |= c->writes ? TY_A_BOLD : 0;
			ty_grid_put(g, v->x + x, y + r, c->writes ? 'W' : 'r', st);
		}
	}
	free(cell);
}

/* The selection, or the cursor's column. */
static void draw_cursor(struct ty_memory_view *v, struct ty_grid *g, const struct ty_palette *p,
			int y)
{
	struct ty_memory_corner box;
	bool on = ty_memory_selected(v, &box);
	int x = (int)ty_viewport_column(&v->vp, v->cursor_ns, (uint32_t)v->w);

	for (int r = 0; r < v->h; r++) {
		struct ty_memory_corner c = ty_memory_cell(
			v, v->cursor_ns, v->pane == TY_MEMORY_LATENCY ? r : v->strip_top + r);

		if (!on) {
			ty_grid_tint(g, v->x + x, y + r, 1, ty_palette_role(p, TY_ROLE_SELECT));
		} else if (c.low <= box.high && c.high >= box.low && box.to_ns > v->vp.from_ns &&
			   box.from_ns < v->vp.to_ns) {
			int x0 = (int)ty_viewport_column(&v->vp, box.from_ns, (uint32_t)v->w),
			    x1 = (int)ty_viewport_column(&v->vp, box.to_ns - 1, (uint32_t)v->w);

			ty_grid_tint(g, v->x + x0, y + r, x1 + 1 - x0,
				     ty_palette_role(p, TY_ROLE_SELECT));
		}
	}
}

void ty_memory_draw_pane(struct ty_memory_view *v, struct ty_grid *g, const struct ty_palette *p,
			 int y)
{
	scroll(v);
	if (v->pane == TY_MEMORY_LATENCY)
		draw_scatter(v, g, p, y);
	else if (v->pane == TY_MEMORY_LINE)
		draw_line(v, g, p, y);
	else
		draw_strips(v, g, p, y);
	draw_cursor(v, g, p, y);
}
