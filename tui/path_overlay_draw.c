/* SPDX-License-Identifier: MIT */
/*
 * Draws the overlays. An arrow goes from the waker's row to the wakee's, at the time of the wakeup.
 * The critical path is a strip under the ruler (thread and state), a thick line along the rows, and
 * lines between rows. Budget: cells x (log(parts) + PARTS_LOOKED_AT), and rows per arrow.
 */
#include <stdio.h>

#include "glyphs.h"
#include "partition.h"
#include "process_of_thread.h"
#include "timeline_priv.h"

#define PARTS_LOOKED_AT 64 /* of a cell with more parts so many, evenly */

/* Over the rows; the cursor's cell stays the cursor's. */
static void put(struct ty_grid *g, int x, int y, uint32_t ch, struct ty_style st)
{
	const struct ty_gcell *c = ty_grid_at(g, x, y);

	if (c)
		st.attr ^= c->st.attr & TY_A_REVERSE;
	ty_grid_put(g, x, y, ch, st);
}

/* The screen line of a thread's row, or of the head it is folded into; one above or below the rows
 * when it is not on the screen. False: it has no row. */
static bool line_of(const struct ty_timeline *t, uint32_t thread, int *y)
{
	uint32_t row = ty_tracks_find(&t->tracks, TY_ROW_THREAD, thread), process;
	int h = t->lay.rows_h;
	int64_t at;

	if (row == TY_NONE) {
		process = ty_process_of(t->m, thread);
		for (size_t i = 0; i < t->tracks.processes.n && row == TY_NONE; i++) {
			const struct ty_process *p = &t->tracks.processes.v[i];

			if (p->leader != process)
				continue;
			row = ty_tracks_find(&t->tracks, TY_ROW_MORE, (uint32_t)i);
			if (row == TY_NONE)
				row = ty_tracks_find(&t->tracks, TY_ROW_PROCESS, (uint32_t)i);
			if (row == TY_NONE && p->other && !p->quiet)
				row = ty_tracks_find(&t->tracks, TY_ROW_OTHERS, 0);
		}
	}
	if (row == TY_NONE)
		return false;
	at = (int64_t)row - t->top;
	*y = t->lay.rows_y + (int)(at < 0 ? -1 : at >= h ? h : at);
	return true;
}

static bool on_screen(const struct ty_timeline *t, int y)
{
	return y >= t->lay.rows_y && y < t->lay.rows_y + t->lay.rows_h;
}

/* Between two lines, these left out. */
static void draw_upright(const struct ty_timeline *t, struct ty_grid *g, int x, int a, int b,
			 uint32_t ch, struct ty_style st)
{
	for (int y = (a < b ? a : b) + 1; y < (a < b ? b : a); y++)
		if (on_screen(t, y))
			put(g, x, y, ch, st);
}

static void draw_arrow(const struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p,
		       int x, int from, int to, bool inferred)
{
	struct ty_style st = ty_palette_role(p, TY_ROLE_ACCENT);

	if (from == to)
		return;
	st.attr |= TY_A_BOLD;
	draw_upright(t, g, x, from, to,
		     inferred ? (p->utf8 ? 0x250a : ':') : (p->utf8 ? 0x2502 : '|'), st);
	if (on_screen(t, from))
		put(g, x, from, p->utf8 ? 0x25cf : 'o', st);
	if (on_screen(t, to))
		put(g, x, to, to < from ? (p->utf8 ? 0x25b2 : '^') : (p->utf8 ? 0x25bc : 'v'), st);
}

static void draw_arrows(const struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p)
{
	const struct ty_path_overlay *a = &t->arrows;

	for (uint32_t i = 0; i + 1 < a->links; i++) {
		const struct ty_waker *w = &a->link[i].waker;
		int from, to;

		if (w->kind != TY_WAKER_THREAD || w->ts_ns < t->vp.from_ns ||
		    w->ts_ns >= t->vp.to_ns || !line_of(t, a->link[i].thread, &to) ||
		    !line_of(t, w->thread, &from))
			continue;
		draw_arrow(t, g, p,
			   t->lay.cells_x + (int)ty_viewport_column(&t->vp, w->ts_ns,
								    (uint32_t)t->lay.cells_w),
			   from, to, w->inferred);
	}
}

/* the critical path --------------------------------------------------------------------------- */

/* The first part that ends after at_ns. */
static size_t part_at(const struct ty_path *p, uint64_t at_ns)
{
	return partition_point(i, 0, p->seg.n, p->seg.v[i].end_ns <= at_ns);
}

/* The part that has most of [from, to); NULL: none. */
static const struct ty_seg *part_of(const struct ty_path *p, uint64_t from, uint64_t to)
{
	size_t first = part_at(p, from), end = part_at(p, to - 1) + 1, step;
	const struct ty_seg *best = NULL;
	uint64_t most = 0;

	end = end < p->seg.n ? end : p->seg.n;
	step = (end - first) / PARTS_LOOKED_AT + 1;
	for (size_t i = first; i < end; i += step) {
		const struct ty_seg *s = &p->seg.v[i];
		uint64_t a = s->start_ns > from ? s->start_ns : from,
			 b = s->end_ns < to ? s->end_ns : to;

		if (b > a && b - a > most) {
			most = b - a;
			best = s;
		}
	}
	return best;
}

static struct ty_glyph sign_of(const struct ty_timeline *t, const struct ty_palette *p,
			       const struct ty_seg *s)
{
	switch (s->what) {
	case TY_SEG_LOST:
		return (struct ty_glyph){.ch = '!', .st = ty_palette_role(p, TY_ROLE_LOST)};
	case TY_SEG_UNKNOWN:
	case TY_SEG_LOOP: return ty_glyph_state(p, TY_ST_UNKNOWN);
	default:
		return ty_glyph_state(p, s->span == TY_NONE ? TY_ST_UNKNOWN
							    : (enum ty_state)ty_model_span_brief(
								      t->m, s->thread, s->span)
								      .state);
	}
}

/* Cells c0 to c1 with one thread: the strip's name, and the line along its row. */
static void draw_stretch(const struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p,
			 const struct ty_seg *const *part, int c0, int c1)
{
	const struct ty_layout *l = &t->lay;
	bool color = p->mode >= TY_COLOR_16;
	char who[TY_THREAD_NAME_MAX];
	int y;

	ty_timeline_thread_name(t, part[c0]->thread, part[c0]->start_ns, who);
	if (c1 - c0 >= 7) {
		int n = ty_text_width(who) + 2, room = c1 - c0 - 2;

		n = n < room ? n : room;
		ty_grid_fill(g, l->cells_x + c0 + 1, l->path_y, n, 1, ' ', (struct ty_style){0});
		ty_grid_elide(g, p, l->cells_x + c0 + 2, l->path_y, n - 2, who,
			      ty_palette_role(p, TY_ROLE_STRONG));
	}
	if (!line_of(t, part[c0]->thread, &y) || !on_screen(t, y))
		return;
	for (int c = c0; c < c1; c++) {
		struct ty_glyph s = sign_of(t, p, part[c]);
		struct ty_style st = {.attr = TY_A_BOLD};

		if (s.ch == '!')
			continue; /* marks of lost events are kept */
		if (color)
			st = (struct ty_style){.fg = TY_C_BLACK, .bg = s.st.fg, .attr = TY_A_BOLD};
		put(g, l->cells_x + c, y, p->utf8 ? 0x2501 : '=', st);
	}
}

static void draw_path(const struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p)
{
	const struct ty_seg *part[TY_GRID_MAX];
	const struct ty_layout *l = &t->lay;
	struct ty_style st = {.attr = TY_A_BOLD};
	int n = l->cells_w, turns = 0, end;

	for (int c = 0; c < n; c++) {
		uint64_t a = ty_viewport_edge(&t->vp, (uint32_t)c, (uint32_t)n),
			 b = ty_viewport_edge(&t->vp, (uint32_t)c + 1, (uint32_t)n);

		part[c] = part_of(&t->route.path, a, b > a ? b : a + 1);
		turns += c && part[c] && part[c - 1] && part[c]->thread != part[c - 1]->thread;
		if (part[c] && l->path_y >= 0) {
			struct ty_glyph s = sign_of(t, p, part[c]);

			ty_grid_put(g, l->cells_x + c, l->path_y, s.ch, s.st);
		}
	}
	for (int c = 0; c < n; c = end) {
		int from, to;

		for (end = c + 1;
		     end < n && part[c] && part[end] && part[end]->thread == part[c]->thread;)
			end++;
		if (!part[c])
			continue;
		draw_stretch(t, g, p, part, c, end);
		/* Where it turns at every other cell, lines would cover everything. */
		if (c && part[c - 1] && turns <= n / 4 && line_of(t, part[c - 1]->thread, &from) &&
		    line_of(t, part[c]->thread, &to))
			draw_upright(t, g, l->cells_x + c, from, to, p->utf8 ? 0x2503 : '|', st);
	}
}

static void draw_strip(const struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p)
{
	const struct ty_layout *l = &t->lay;
	struct ty_style dim = ty_palette_role(p, TY_ROLE_DIM);

	if (l->path_y < 0)
		return;
	ty_grid_elide(g, p, 1, l->path_y, l->label_w - 2,
		      l->label_w >= 16 ? "critical path" : "path", dim);
	ty_grid_put(g, l->label_w - 1, l->path_y, p->utf8 ? 0x2502 : '|', dim);
	if (!t->route.made)
		ty_grid_elide(g, p, l->cells_x, l->path_y, l->cells_w, "...", dim);
}

void ty_timeline_paths_draw(const struct ty_timeline *t, struct ty_grid *g,
			    const struct ty_palette *p)
{
	if (t->route.on) {
		draw_strip(t, g, p);
		if (t->route.made && !t->route.rc)
			draw_path(t, g, p);
	}
	if (t->arrows.on && t->arrows.made && !t->arrows.rc)
		draw_arrows(t, g, p);
}
