/* SPDX-License-Identifier: MIT */
/* A range of time and rows that is selected. */
#include "timeline_priv.h"

static void corner(const struct ty_timeline *t, uint64_t edges[2], uint32_t *row)
{
	uint32_t n = ty_timeline_cells(t), c = ty_viewport_column(&t->vp, t->cursor_ns, n);

	edges[0] = ty_viewport_edge(&t->vp, c, n);
	edges[1] = ty_viewport_edge(&t->vp, c + 1, n);
	*row = t->row;
}

void ty_timeline_select(struct ty_timeline *t)
{
	if (t->sel.on && !t->sel.held) {
		t->sel.held = true;
		return;
	}
	t->sel = (struct ty_selection){.on = true};
	corner(t, t->sel.a_ns, &t->sel.a_row);
	ty_timeline_select_to(t);
}

void ty_timeline_select_to(struct ty_timeline *t)
{
	if (t->sel.on && !t->sel.held)
		corner(t, t->sel.b_ns, &t->sel.b_row);
}

void ty_timeline_unselect(struct ty_timeline *t)
{
	t->sel.on = false;
}

bool ty_timeline_selected(const struct ty_timeline *t, uint64_t *from_ns, uint64_t *to_ns,
			  uint32_t *first, uint32_t *last)
{
	const struct ty_selection *s = &t->sel;

	if (!s->on)
		return false;
	*from_ns = s->a_ns[0] < s->b_ns[0] ? s->a_ns[0] : s->b_ns[0];
	*to_ns = s->a_ns[1] > s->b_ns[1] ? s->a_ns[1] : s->b_ns[1];
	*first = s->a_row < s->b_row ? s->a_row : s->b_row;
	*last = s->a_row > s->b_row ? s->a_row : s->b_row;
	return true;
}

/* Selected cells on another ground (reversed where there is none), and the range on the ruler. */
static void draw_selection(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p)
{
	const struct ty_layout *l = &t->lay;
	struct ty_style st = ty_palette_role(p, TY_ROLE_SELECT);
	uint64_t from, to;
	uint32_t first, last;
	int c0, c1;

	if (!ty_timeline_selected(t, &from, &to, &first, &last) || to <= t->vp.from_ns ||
	    from >= t->vp.to_ns)
		return;
	c0 = (int)ty_viewport_column(&t->vp, from, (uint32_t)l->cells_w);
	c1 = (int)ty_viewport_column(&t->vp, to - 1, (uint32_t)l->cells_w);
	st.attr = TY_A_REVERSE;
	if (from >= t->vp.from_ns)
		ty_grid_put(g, l->cells_x + c0, l->ruler_y, '[', ty_palette_role(p, TY_ROLE_WARN));
	if (to <= t->vp.to_ns && c1 > c0)
		ty_grid_put(g, l->cells_x + c1, l->ruler_y, ']', ty_palette_role(p, TY_ROLE_WARN));
	for (int i = 0; i < l->rows_h; i++) {
		uint32_t row = t->top + (uint32_t)i;

		if (row >= first && row <= last && row < t->tracks.rows.n)
			ty_grid_tint(g, l->cells_x + c0, l->rows_y + i, c1 - c0 + 1, st);
	}
}

const struct ty_layer ty_selection_layer = {.draw = draw_selection};
