/* SPDX-License-Identifier: MIT */
/* The selected range of time and rows. */
#include <inttypes.h>
#include <stdio.h>

#include "ruler.h"
#include "timeline_priv.h"

/* *at: the time itself, where it was typed; else 0, and the whole cell counts. */
static void corner(const struct ty_timeline *t, uint64_t edges[2], uint64_t *at, uint32_t *row)
{
	uint32_t n = ty_timeline_cells(t), c = ty_viewport_column(&t->vp, t->cursor_ns, n);

	edges[0] = ty_viewport_edge(&t->vp, c, n);
	edges[1] = ty_viewport_edge(&t->vp, c + 1, n);
	*at = t->cursor_ns == t->typed_ns ? t->typed_ns : 0;
	*row = t->row;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void ty_timeline_select(struct ty_timeline *t)
{
	if (t->sel.on && !t->sel.held) {
		t->sel.held = true;
		return;
	}
	t->sel = (struct ty_selection){.on = true};
	corner(t, t->sel.a_ns, &t->sel.a_at_ns, &t->sel.a_row);
	ty_timeline_select_to(t);
}

void ty_timeline_select_to(struct ty_timeline *t)
{
	if (t->sel.on && !t->sel.held)
		corner(t, t->sel.b_ns, &t->sel.b_at_ns, &t->sel.b_row);
}

void ty_timeline_unselect(struct ty_timeline *t)
{
	t->sel.on = false;
}

void ty_timeline_selected_rows(const struct ty_timeline *t, struct ty_row ends[2])
{
	const uint32_t at[2] = {t->sel.a_row, t->sel.b_row};

	for (int i = 0; i < 2; i++)
		ends[i] = t->sel.on && at[i] < t->tracks.rows.n ? t->tracks.rows.v[at[i]]
								: (struct ty_row){.id = TY_NONE};
}

void ty_timeline_select_rows(struct ty_timeline *t, const struct ty_row ends[2])
{
	t->sel.a_row = ty_tracks_find(&t->tracks, ends[0].kind, ends[0].id);
	t->sel.b_row = ty_tracks_find(&t->tracks, ends[1].kind, ends[1].id);
	t->sel.on &= t->sel.a_row != TY_NONE && t->sel.b_row != TY_NONE;
}

bool ty_timeline_selected(const struct ty_timeline *t, uint64_t *from_ns, uint64_t *to_ns,
			  uint32_t *first, uint32_t *last)
{
	const struct ty_selection *s = &t->sel;

	if (!s->on)
		return false;
	*from_ns =
		lesser(s->a_at_ns ? s->a_at_ns : s->a_ns[0], s->b_at_ns ? s->b_at_ns : s->b_ns[0]);
	*to_ns =
		greater(s->a_at_ns ? s->a_at_ns : s->a_ns[1], s->b_at_ns ? s->b_at_ns : s->b_ns[1]);
	if (*from_ns == *to_ns) {
		*from_ns = lesser(s->a_ns[0], s->b_ns[0]);
		*to_ns = greater(s->a_ns[1], s->b_ns[1]);
	}
	*first = s->a_row < s->b_row ? s->a_row : s->b_row;
	*last = s->a_row > s->b_row ? s->a_row : s->b_row;
	return true;
}

/* The columns of its ends, and whether they are in the window. False: no part of it is in the
 * window. */
static bool ends(const struct ty_timeline *t, int c[2], bool inside[2])
{
	uint32_t first, last, n = (uint32_t)t->lay.cells_w;
	uint64_t from, to;

	if (!ty_timeline_selected(t, &from, &to, &first, &last) || to <= t->vp.from_ns ||
	    from >= t->vp.to_ns)
		return false;
	c[0] = (int)ty_viewport_column(&t->vp, from, n);
	c[1] = (int)ty_viewport_column(&t->vp, to - 1, n);
	inside[0] = from >= t->vp.from_ns;
	inside[1] = to <= t->vp.to_ns && c[1] > c[0];
	return true;
}

void ty_timeline_selection_taken(const struct ty_timeline *t, uint8_t *taken)
{
	bool inside[2];
	int c[2];

	for (int i = 0; i < 2; i++)
		if (ends(t, c, inside) && inside[i])
			taken[c[i]] = 1;
}

/* The shares of a row are one query of the zoom forest: this many rows cost no more than a
 * frame. */
#define COUNTED_ROWS 200u

struct shares {
	uint64_t state_ns[TY_ST_COUNT], calls_ns;
	uint64_t calls;
};

static void add_row(const struct ty_timeline *t, uint32_t row, uint64_t from, uint64_t to,
		    struct shares *sum)
{
	const struct ty_row *r = &t->tracks.rows.v[row];
	struct ty_track track;
	struct ty_cell c;

	if (!ty_timeline_track(t, row, &track) || track.kind == TY_TRACK_IRQS)
		return;
	if (track.kind == TY_TRACK_THREAD || track.kind == TY_TRACK_CPU) {
		ty_model_cells(t->m, track, from, to, 1, &c);
		for (unsigned s = 0; s < TY_ST_COUNT; s++)
			sum->state_ns[s] += c.ns[s];
	}
	if (r->kind == TY_ROW_CPU || !ty_model_thread(t->m, r->id)->syscalls_n ||
	    (track.kind == TY_TRACK_THREAD && row + 1 < t->tracks.rows.n &&
	     t->tracks.rows.v[row + 1].kind == TY_ROW_SYSCALLS))
		return; /* its calls have a row of their own */
	track.kind = TY_TRACK_SYSCALLS;
	ty_model_cells(t->m, track, from, to, 1, &c);
	sum->calls += c.spans;
	sum->calls_ns += c.ns[TY_ST_RUNNING];
}

bool ty_timeline_selection_text(const struct ty_timeline *t, char *length, char *text)
{
	struct shares sum = {0};
	uint32_t first, last, rows;
	uint64_t from, to;
	char len[TY_TIME_MAX], at[TY_TIME_MAX];
	size_t n = 0;

	if (!ty_timeline_selected(t, &from, &to, &first, &last))
		return false;
	rows = last - first + 1;
	snprintf(length, TY_DETAIL_MAX, "selection: %s, starting at %s, %u row%s%s",
		 ty_fmt_length(to - from, len), ty_timeline_at(t, from, (to - from) / 1000 + 1, at),
		 rows, rows == 1 ? "" : "s", t->sel.held ? "" : "; v ends it here");
	for (uint32_t i = 0; i < rows && i < COUNTED_ROWS && first + i < t->tracks.rows.n; i++)
		add_row(t, first + i, from, to, &sum);
	text[0] = 0;
	for (unsigned s = 0; s < TY_ST_COUNT; s++)
		if (sum.state_ns[s])
			n += (size_t)snprintf(text + n, TY_DETAIL_MAX - n, "%s%s %s", n ? ", " : "",
					      ty_state_name((enum ty_state)s),
					      ty_fmt_length(sum.state_ns[s], len));
	if (sum.calls)
		n += (size_t)snprintf(text + n, TY_DETAIL_MAX - n,
				      "%s%" PRIu64 " system call%s, %s in total", n ? "; " : "",
				      sum.calls, sum.calls == 1 ? "" : "s",
				      ty_fmt_length(sum.calls_ns, len));
	if (rows > COUNTED_ROWS)
		n += (size_t)snprintf(text + n, TY_DETAIL_MAX - n, " in its first %u rows",
				      COUNTED_ROWS);
	if (n)
		snprintf(text + n, TY_DETAIL_MAX - n, "; S shows each");
	else
		snprintf(text, TY_DETAIL_MAX,
			 "no statistics for this row; S shows those of the folded rows");
	return true;
}

/* Selected cells on another ground (reversed where there is none), and the range on the ruler. */
static void draw_selection(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p)
{
	const struct ty_layout *l = &t->lay;
	struct ty_style st = ty_palette_role(p, TY_ROLE_SELECT);
	uint64_t from, to;
	uint32_t first, last;
	bool inside[2];
	int c[2];

	if (!ends(t, c, inside) || !ty_timeline_selected(t, &from, &to, &first, &last))
		return;
	st.attr = TY_A_REVERSE;
	for (int i = 0; i < 2; i++)
		if (inside[i])
			ty_grid_put(g, l->cells_x + c[i], l->ruler_y, "[]"[i],
				    ty_palette_role(p, TY_ROLE_WARN));
	for (int i = 0; i < l->rows_h; i++) {
		uint32_t row = t->top + (uint32_t)i;

		if (row >= first && row <= last && row < t->tracks.rows.n)
			ty_grid_tint(g, l->cells_x + c[0], l->rows_y + i, c[1] - c[0] + 1, st);
	}
}

const struct ty_layer ty_selection_layer = {.draw = draw_selection};
