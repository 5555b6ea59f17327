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
		ty_timeline_say(t, "there is no mark yet: m sets one");
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
