/* SPDX-License-Identifier: MIT */
/* A range of time and rows, and marks with names. */
#include <stdio.h>
#include <string.h>

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

static struct ty_mark *find(struct ty_timeline *t, const char *name)
{
	vec_each (m, &t->marks)
		if (!strcmp(m->name, name))
			return m;
	return NULL;
}

/* a, b, ... z, 27, 28...: the first that is free. */
static void free_name(struct ty_timeline *t, char name[24])
{
	for (unsigned i = 0; i <= t->marks.n; i++) {
		if (i < 26)
			snprintf(name, 24, "%c", (int)('a' + i));
		else
			snprintf(name, 24, "%u", i + 1);
		if (!find(t, name))
			return;
	}
}

void ty_timeline_mark(struct ty_timeline *t, const char *name)
{
	const struct ty_row *r = t->row < t->tracks.rows.n ? &t->tracks.rows.v[t->row] : NULL;
	struct ty_mark m = {.at_ns = t->cursor_ns}, *old;
	size_t i;

	if (r) {
		m.row_kind = r->kind;
		m.row_id = r->id;
	}
	if (*name)
		snprintf(m.name, sizeof(m.name), "%s", name);
	else
		free_name(t, m.name);
	old = find(t, m.name);
	if (old)
		memmove(old, old + 1, (size_t)(t->marks.v + --t->marks.n - old) * sizeof(*old));
	if (vec_push(&t->marks, m)) {
		ty_timeline_say(t, "out of memory: the mark was not set");
		return;
	}
	for (i = t->marks.n - 1; i && t->marks.v[i - 1].at_ns > m.at_ns; i--)
		t->marks.v[i] = t->marks.v[i - 1];
	t->marks.v[i] = m;
	ty_timeline_say(t, "mark '%s' is %s; ' jumps to it", m.name, old ? "moved here" : "here");
}

void ty_timeline_mark_jump(struct ty_timeline *t, const char *name)
{
	const struct ty_mark *m = NULL;
	uint32_t row;

	if (!t->marks.n) {
		ty_timeline_say(t, "no mark yet: press m to set one");
		return;
	}
	if (*name) {
		m = find(t, name);
		if (!m) {
			ty_timeline_say(t, "there is no mark '%s'", name);
			return;
		}
	}
	for (size_t i = 0; !m && i < t->marks.n; i++)
		if (t->marks.v[i].at_ns > t->cursor_ns)
			m = &t->marks.v[i];
	if (!m)
		m = &t->marks.v[0];
	ty_timeline_visit(t, TY_NONE, m->at_ns);
	row = ty_tracks_find(&t->tracks, m->row_kind, m->row_id);
	if (row == TY_NONE)
		row = ty_tracks_reveal_row(&t->tracks, m->row_kind, m->row_id);
	if (row != TY_NONE)
		t->row = row;
	ty_timeline_show_row(t, 0);
	ty_timeline_say(t, "mark '%s'", m->name);
}

/* The first letter of each mark's name on the ruler. */
static void draw_marks(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p)
{
	struct ty_style st = ty_palette_role(p, TY_ROLE_ACCENT);

	st.attr |= TY_A_REVERSE;
	for (size_t i = 0; i < t->marks.n; i++) {
		const struct ty_mark *m = &t->marks.v[i];
		const char *s = m->name;
		uint32_t n = (uint32_t)t->lay.cells_w;

		if (m->at_ns >= t->vp.from_ns && m->at_ns < t->vp.to_ns)
			ty_grid_put(g,
				    t->lay.cells_x + (int)ty_viewport_column(&t->vp, m->at_ns, n),
				    t->lay.ruler_y, ty_utf8_next(&s), st);
	}
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

const struct ty_layer ty_marks_layer = {.draw = draw_marks};
const struct ty_layer ty_selection_layer = {.draw = draw_selection};
