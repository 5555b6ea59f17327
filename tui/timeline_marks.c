/* SPDX-License-Identifier: MIT */
/* Marks: named times of rows. */
#include <stdio.h>
#include <string.h>

#include "timeline_priv.h"

/* a, b, ... z, 27, 28...: the first that is free. */
static void free_name(struct ty_timeline *t, char name[24])
{
	for (unsigned i = 0; i <= t->marks.n; i++) {
		if (i < 26)
			snprintf(name, 24, "%c", (int)('a' + i));
		else
			snprintf(name, 24, "%u", i + 1);
		if (!ty_timeline_find_mark(t, name))
			return;
	}
}

/* True: it was there. */
static bool remove_mark(struct ty_timeline *t, const char *name)
{
	struct ty_mark *old = ty_timeline_find_mark(t, name);

	if (!old) {
		ty_timeline_say(t, "there is no mark '%s'", name);
		return false;
	}
	memmove(old, old + 1, (size_t)(t->marks.v + --t->marks.n - old) * sizeof(*old));
	ty_timeline_say(t, "mark '%s' is removed", name);
	return true;
}

static bool set_mark(struct ty_timeline *t, const char *name)
{
	const struct ty_row *r = t->row < t->tracks.rows.n ? &t->tracks.rows.v[t->row] : NULL;
	struct ty_mark m = {.at_ns = t->cursor_ns, .from_ns = t->vp.from_ns, .to_ns = t->vp.to_ns};
	bool moved;

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
	moved = ty_timeline_find_mark(t, m.name);
	if (ty_timeline_add_mark(t, &m)) {
		ty_timeline_say(t, "out of memory: the mark was not set");
		return false;
	}
	ty_timeline_say(t, "mark '%s' is %s (press ' to jump to it, M lists all)", m.name,
			moved ? "moved here" : "set");
	return true;
}

void ty_timeline_mark(struct ty_timeline *t, const char *name)
{
	const bool removes = *name == '-' && name[1];

	ty_timeline_keep_begin(t);
	ty_timeline_keep_end(t, removes ? remove_mark(t, name + 1) : set_mark(t, name));
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
		m = ty_timeline_find_mark(t, name);
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
		ty_timeline_exact(t);
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

/* The columns of a mark's name on the ruler, up to the next mark or the cursor: how many, from *x
 * on. The cursor keeps its column. False: the mark is outside. */
static int name_columns(const struct ty_timeline *t, const struct ty_mark *m, int *x)
{
	const uint32_t w = (uint32_t)t->lay.cells_w;
	const int c = (int)ty_viewport_column(&t->vp, m->at_ns, w),
		  cursor = (int)ty_timeline_cursor_column(t);
	int end = c + (c == cursor) + ty_text_width(m->name);

	if (m->at_ns < t->vp.from_ns || m->at_ns >= t->vp.to_ns)
		return 0;
	*x = c + (c == cursor);
	end = end < (int)w ? end : (int)w;
	if (cursor > c && cursor < end)
		end = cursor;
	vec_each (o, &t->marks) {
		const int at = (int)ty_viewport_column(&t->vp, o->at_ns, w);

		if (o->at_ns >= t->vp.from_ns && o->at_ns < t->vp.to_ns && at > c && at < end)
			end = at;
	}
	return end - *x;
}

void ty_timeline_marks_taken(const struct ty_timeline *t, uint8_t *taken)
{
	vec_each (m, &t->marks) {
		int x = 0, n = name_columns(t, m, &x);

		for (int i = 0; i < n; i++)
			taken[x + i] = 1;
	}
}

/* Each mark's name on the ruler, whose numbers are left out there. */
static void draw_marks(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p)
{
	struct ty_style st = ty_palette_role(p, TY_ROLE_ACCENT);

	st.attr |= TY_A_REVERSE;
	vec_each (m, &t->marks) {
		int x = 0, n = name_columns(t, m, &x);

		if (n > 0)
			ty_grid_elide(g, p, t->lay.cells_x + x, t->lay.ruler_y, n, m->name, st);
	}
}

const struct ty_layer ty_marks_layer = {.draw = draw_marks};
