/* SPDX-License-Identifier: MIT */
/*
 * Drawing of the cursor: a line through all rows at its time, its span marked on the ruler and in
 * its row, and the details of the span, which scroll. The line only replaces blank cells. Budget:
 * one query of the zoom forest.
 */
#include "glyphs.h"
#include "timeline_priv.h"

static bool is_text(const struct ty_gcell *c)
{
	return c && c->ch > ' ' && c->ch < 0x7f;
}

/* The line where it crosses a cell of another row. */
static void cross(struct ty_grid *g, const struct ty_palette *p, int x, int y)
{
	struct ty_gcell *c = ty_grid_at(g, x, y);
	struct ty_style st;

	if (!c || !c->ch)
		return;
	st = c->st;
	if (c->ch == ' ' && is_text(ty_grid_at(g, x - 1, y)) && is_text(ty_grid_at(g, x + 1, y)))
		return; /* between the words of a name */
	if (c->ch == ' ' && st.bg == TY_C_DEFAULT && !(st.attr & TY_A_REVERSE)) {
		ty_grid_put(g, x, y, p->utf8 ? 0x2506 : ':', ty_palette_role(p, TY_ROLE_DIM));
	} else if (p->utf8 && c->ch == 0x2500) { /* through a line of its own */
		ty_grid_put(g, x, y, 0x253c, st);
	} else if (p->utf8 && p->mode >= TY_COLOR_16 && c->ch == ' ') {
		ty_grid_put(g, x, y, 0x2506, st);
	} else if (p->utf8 && p->mode >= TY_COLOR_16 && c->ch == 0x2588) {
		/* A full block: its colour stays, as the ground. */
		st.bg = st.fg;
		st.fg = TY_C_BLACK;
		ty_grid_put(g, x, y, 0x2506, st);
	} else if (p->mode >= TY_COLOR_256 && st.bg == TY_C_DEFAULT) {
		ty_grid_tint(g, x, y, 1, (struct ty_style){.bg = TY_C_SELECT});
	}
}

/* From where to where the span under the cursor goes, in columns; false: there is none, or it is in
 * the cursor's cell. */
static bool extent(const struct ty_timeline *t, int *c0, int *c1)
{
	uint32_t idx, n = (uint32_t)t->lay.cells_w;
	struct ty_track track;
	struct ty_cell cell;
	struct ty_span s;
	uint64_t from, to;

	if (!ty_timeline_subject(t, &track, &cell, &idx, &from, &to))
		return false;
	s = ty_track_span(t->m, track, idx);
	*c0 = (int)ty_viewport_column(&t->vp, s.start_ns, n);
	*c1 = (int)ty_viewport_column(&t->vp, s.end_ns > s.start_ns ? s.end_ns - 1 : s.start_ns, n);
	return *c1 > *c0;
}

/* The span on the ruler, between its numbers and signs, and on another ground in its row. */
static void draw_extent(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p, int y)
{
	struct ty_style st = ty_palette_role(p, TY_ROLE_ACCENT);
	const struct ty_layout *l = &t->lay;
	int c0, c1;

	if (!extent(t, &c0, &c1))
		return;
	for (int c = c0; c <= c1; c++) {
		const struct ty_gcell *at = ty_grid_at(g, l->cells_x + c, l->ruler_y);

		if (at && at->ch == (p->utf8 ? 0x2500u : '-'))
			ty_grid_put(g, l->cells_x + c, l->ruler_y, p->utf8 ? 0x2501 : '=', st);
		at = ty_grid_at(g, l->cells_x + c, y);
		if (at && at->st.bg == TY_C_DEFAULT)
			ty_grid_tint(g, l->cells_x + c, y, 1,
				     p->mode >= TY_COLOR_256
					     ? (struct ty_style){.bg = TY_C_SELECT}
					     : (struct ty_style){.attr = TY_A_UNDERLINE});
	}
}

static void draw_cursor(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p)
{
	const struct ty_layout *l = &t->lay;
	int x = l->cells_x + (int)ty_timeline_cursor_column(t);

	for (int i = 0; i < l->rows_h && t->top + (uint32_t)i < t->tracks.rows.n; i++) {
		if (t->top + (uint32_t)i != t->row) {
			cross(g, p, x, l->rows_y + i);
			continue;
		}
		draw_extent(t, g, p, l->rows_y + i);
		ty_grid_tint(g, x, l->rows_y + i, 1, (struct ty_style){.attr = TY_A_REVERSE});
	}
}

void ty_timeline_scroll_details(struct ty_timeline *t, int by)
{
	t->details_top += by; /* put right when it is drawn */
}

const struct ty_layer ty_cursor_layer = {.draw = draw_cursor};
