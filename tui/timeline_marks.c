/* SPDX-License-Identifier: MIT */
/* Marks: named times of rows. */
#include <stdio.h>
#include <string.h>

#include "timeline_priv.h"

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

int ty_timeline_add_mark(struct ty_timeline *t, const struct ty_mark *m)
{
	struct ty_mark *old = find(t, m->name);
	size_t i;

	if (old)
		memmove(old, old + 1, (size_t)(t->marks.v + --t->marks.n - old) * sizeof(*old));
	if (vec_push(&t->marks, *m))
		return -TY_ENOMEM;
	for (i = t->marks.n - 1; i && t->marks.v[i - 1].at_ns > m->at_ns; i--)
		t->marks.v[i] = t->marks.v[i - 1];
	t->marks.v[i] = *m;
	return 0;
}

static void remove_mark(struct ty_timeline *t, const char *name)
{
	struct ty_mark *old = find(t, name);

	if (!old) {
		ty_timeline_say(t, "there is no mark '%s'", name);
		return;
	}
	memmove(old, old + 1, (size_t)(t->marks.v + --t->marks.n - old) * sizeof(*old));
	ty_timeline_say(t, "mark '%s' is removed", name);
	ty_timeline_keep(t);
}

void ty_timeline_mark(struct ty_timeline *t, const char *name)
{
	const struct ty_row *r = t->row < t->tracks.rows.n ? &t->tracks.rows.v[t->row] : NULL;
	struct ty_mark m = {.at_ns = t->cursor_ns, .from_ns = t->vp.from_ns, .to_ns = t->vp.to_ns};
	bool moved;

	if (*name == '-' && name[1]) {
		remove_mark(t, name + 1);
		return;
	}
	if (r) {
		m.row_kind = r->kind;
		m.row_id = r->id;
	}
	if (t->filter)
		snprintf(m.filter, sizeof(m.filter), "%s", ty_query_text(t->filter));
	if (*name)
		snprintf(m.name, sizeof(m.name), "%s", name);
	else
		free_name(t, m.name);
	moved = find(t, m.name);
	if (ty_timeline_add_mark(t, &m)) {
		ty_timeline_say(t, "out of memory: the mark was not set");
		return;
	}
	ty_timeline_say(t, "mark '%s' is %s (press ' to jump to it, M lists all)", m.name,
			moved ? "moved here" : "set");
	ty_timeline_keep(t);
}

void ty_timeline_mark_jump(struct ty_timeline *t, const char *name)
{
	const struct ty_mark *m = NULL;
	bool filter;
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
	/* Of all rows its own is found; a filter that hides other ones keeps it. */
	filter = *name && strcmp(m->filter, t->filter ? ty_query_text(t->filter) : "") != 0;
	if (filter && t->filter)
		ty_timeline_filter(t, "");
	if (*name) { /* the view as it was; the next mark is visited at the present zoom */
		ty_viewport_jump(&t->vp, m->from_ns, m->to_ns);
		t->cursor_ns = m->at_ns;
	} else {
		ty_timeline_visit(t, TY_NONE, m->at_ns);
	}
	row = ty_tracks_find(&t->tracks, m->row_kind, m->row_id);
	if (row == TY_NONE)
		row = ty_tracks_reveal_row(&t->tracks, m->row_kind, m->row_id);
	if (row != TY_NONE)
		t->row = row;
	ty_timeline_show_row(t, 0);
	ty_timeline_say(t, "mark '%s'", m->name);
	if (filter && *m->filter)
		ty_timeline_filter(t, m->filter);
}

void ty_timeline_marks_taken(const struct ty_timeline *t, uint8_t *taken)
{
	uint32_t n = (uint32_t)t->lay.cells_w;

	vec_each (m, &t->marks)
		if (m->at_ns >= t->vp.from_ns && m->at_ns < t->vp.to_ns)
			taken[ty_viewport_column(&t->vp, m->at_ns, n)] = 1;
}

static bool is_line(const struct ty_gcell *c)
{
	return c && (c->ch == 0x2500 || c->ch == 0x2501 || c->ch == '-' || c->ch == '=');
}

/* The first letter of each mark's name on the ruler, and as much of the rest as finds only the line
 * of the ruler: its numbers stay. */
static void draw_marks(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p)
{
	struct ty_style st = ty_palette_role(p, TY_ROLE_ACCENT);

	st.attr |= TY_A_REVERSE;
	for (size_t i = 0; i < t->marks.n; i++) {
		const struct ty_mark *m = &t->marks.v[i];
		const char *s = m->name;
		uint32_t n = (uint32_t)t->lay.cells_w;

		int x;

		if (m->at_ns < t->vp.from_ns || m->at_ns >= t->vp.to_ns)
			continue;
		x = t->lay.cells_x + (int)ty_viewport_column(&t->vp, m->at_ns, n);
		do
			ty_grid_put(g, x++, t->lay.ruler_y, ty_utf8_next(&s), st);
		while (*s && is_line(ty_grid_at(g, x, t->lay.ruler_y)) &&
		       is_line(ty_grid_at(g, x + 1, t->lay.ruler_y)));
	}
}

const struct ty_layer ty_marks_layer = {.draw = draw_marks};
