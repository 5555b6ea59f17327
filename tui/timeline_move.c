/* SPDX-License-Identifier: MIT */
/* Moves of window, cursor and rows. */
#include "glyphs.h"
#include "timeline_priv.h"

/* Scroll so that the selected row is on the screen; below: rows that should be seen with it. */
void ty_timeline_show_row(struct ty_timeline *t, uint32_t below)
{
	uint32_t h = t->lay.rows_h > 0 ? (uint32_t)t->lay.rows_h : 1,
		 n = (uint32_t)t->tracks.rows.n;

	if (t->row >= n)
		t->row = n ? n - 1 : 0;
	if (t->row + below >= n)
		below = n ? n - 1 - t->row : 0;
	if (t->row + below >= t->top + h)
		t->top = t->row + below + 1 - h;
	if (t->row < t->top)
		t->top = t->row;
	if (t->top + h > n)
		t->top = n > h ? n - h : 0;
}

void ty_timeline_list(struct ty_timeline *t)
{
	t->listed_n = 0;
	for (uint32_t i = 0; i < t->findings.n && i < TY_FINDINGS_MAX; i++)
		if (!t->tracks.hidden[t->findings.v[i].thread])
			t->listed[t->listed_n++] = i;
}

uint32_t ty_timeline_listed_at(const struct ty_timeline *t)
{
	uint32_t i = 0;

	while (i < t->listed_n && t->listed[i] != t->finding)
		i++;
	return i;
}

void ty_timeline_show_finding(struct ty_timeline *t)
{
	uint32_t h = t->lay.list_h > 1 ? (uint32_t)t->lay.list_h - 1 : 1;

	uint32_t at = ty_timeline_listed_at(t);

	if (at < t->listed_n && at < t->list_top)
		t->list_top = at;
	if (at < t->listed_n && at >= t->list_top + h)
		t->list_top = at + 1 - h;
	if (t->list_top + h > t->listed_n)
		t->list_top = t->listed_n > h ? t->listed_n - h : 0;
}

/* The window fits a span with a margin, the cursor in its middle. */
void ty_timeline_fit(struct ty_timeline *t, uint64_t start, uint64_t end)
{
	uint64_t margin = (end - start) / 6 + 1;
	uint64_t from = start - t->vp.start_ns > margin ? start - margin : t->vp.start_ns;
	uint64_t to = t->vp.end_ns - end > margin ? end + margin : t->vp.end_ns;

	ty_viewport_jump(&t->vp, from, to);
	t->cursor_ns = start + (end - start) / 2;
	ty_timeline_clamp(t);
	ty_timeline_exact(t);
}

void ty_timeline_pan(struct ty_timeline *t, int64_t delta)
{
	uint32_t c = ty_timeline_cursor_column(t);

	ty_viewport_pan(&t->vp, delta);
	ty_timeline_to_column(t, c);
}

void ty_timeline_move_cursor(struct ty_timeline *t, int by)
{
	uint32_t c = ty_timeline_cursor_column(t), n = ty_timeline_cells(t), first = c;
	uint64_t cell = (t->vp.to_ns - t->vp.from_ns) / n + 1;

	/* Columns of one nanosecond are one step. */
	while (first && ty_viewport_edge(&t->vp, first - 1, n) == ty_viewport_edge(&t->vp, c, n))
		first--;
	while (c + 1 < n && ty_viewport_edge(&t->vp, c + 1, n) == ty_viewport_edge(&t->vp, c, n))
		c++;
	if (by < 0 && !first)
		ty_viewport_pan(&t->vp, -(int64_t)cell);
	else if (by > 0 && c + 1 >= n)
		ty_viewport_pan(&t->vp, (int64_t)cell);
	else
		c = by < 0 ? first - 1 : c + 1;
	ty_timeline_to_column(t, c);
}

static void move_row(struct ty_timeline *t, int64_t by)
{
	int64_t n = (int64_t)t->tracks.rows.n, to = (int64_t)t->row + by;

	t->row = (uint32_t)(to < 0 || !n ? 0 : to >= n ? n - 1 : to);
	ty_timeline_show_row(t, 0);
}

void ty_timeline_move_in_list(struct ty_timeline *t, int64_t by)
{
	int64_t n = t->listed_n, at = ty_timeline_listed_at(t);
	int64_t to = at >= n ? 0 : at + by;

	if (!n)
		return;
	t->finding = t->listed[to < 0 ? 0 : to >= n ? n - 1 : to];
	ty_timeline_show_finding(t);
}

void ty_timeline_up_down(struct ty_timeline *t, int by, bool page)
{
	int64_t h = t->list_focus ? t->lay.list_h - 1 : t->lay.rows_h;
	int64_t step = page ? (h > 1 ? h - 1 : 1) * by : by;

	if (t->list_focus)
		ty_timeline_move_in_list(t, step);
	else
		move_row(t, step);
}

/* To the next span of the row, or the one before, by its own order: at any zoom one step is one
 * span, however many share a cell. The cursor is put on its start. */
void ty_timeline_step_span(struct ty_timeline *t, int by)
{
	const struct ty_seek any = {.nr = -1};
	struct ty_track track;
	struct ty_cell cell;
	struct ty_span s;
	uint32_t idx, to;
	uint64_t from_ns, to_ns, at;

	if (!ty_timeline_track(t, t->row, &track)) {
		ty_timeline_move_cursor(t, by); /* a head, a strip: there are no spans */
		return;
	}
	at = t->cursor_ns;
	if (ty_timeline_subject(t, &track, &cell, &idx, &from_ns, &to_ns))
		at = ty_track_span(t->m, track, idx).start_ns;
	to = ty_model_seek(t->m, track, &any, at, by < 0);
	if (to == TY_NONE) {
		ty_timeline_say(t, by < 0 ? "this is the first span of the row"
					  : "this is the last span of the row");
		return;
	}
	s = ty_track_span(t->m, track, to);
	at = s.start_ns < t->vp.start_ns ? t->vp.start_ns : s.start_ns;
	if (at >= t->vp.end_ns)
		at = t->vp.end_ns - 1;
	ty_viewport_follow(&t->vp, at);
	t->cursor_ns = at;
	ty_timeline_pin(t, track, to);
}

void ty_timeline_zoom(struct ty_timeline *t)
{
	struct ty_track track;
	struct ty_cell cell;
	struct ty_span s;
	uint32_t idx, first, last;
	uint64_t from, to;

	if (ty_timeline_selected(t, &from, &to, &first, &last)) {
		ty_viewport_jump(&t->vp, from, to);
		t->cursor_ns = from + (to - from) / 2;
		ty_timeline_unselect(t);
		return;
	}
	if (!ty_timeline_subject(t, &track, &cell, &idx, &from, &to)) {
		ty_timeline_say(t, "no span is under the cursor");
		return;
	}
	s = ty_track_span(t->m, track, idx);
	ty_timeline_fit(t, s.start_ns, s.end_ns);
}

void ty_timeline_fold(struct ty_timeline *t)
{
	uint32_t row = ty_tracks_fold(&t->tracks, t->row);

	if (row == TY_NONE)
		ty_timeline_say(t, "nothing to fold here");
	else
		t->row = row;
	ty_timeline_show_row(t, 0);
}

void ty_timeline_restore(struct ty_timeline *t)
{
	const struct ty_place *p = &t->vp.here;
	uint32_t row = ty_tracks_find(&t->tracks, p->row_kind, p->row_id);

	t->cursor_ns = p->cursor_ns;
	if (row != TY_NONE)
		t->row = row;
	ty_timeline_show_row(t, 0);
}

void ty_timeline_visit_row(struct ty_timeline *t, uint8_t kind, uint32_t id, uint64_t at_ns)
{
	uint32_t row;

	ty_timeline_visit(t, TY_NONE, at_ns);
	row = ty_tracks_reveal_row(&t->tracks, kind, id);
	if (row == TY_NONE) {
		ty_timeline_say(t, "that row is hidden by the filter or by --tid, --comm or --cpu");
		return;
	}
	t->row = row;
	t->below = kind == TY_ROW_THREAD;
	t->list_focus = false;
}

void ty_timeline_visit(struct ty_timeline *t, uint32_t thread, uint64_t at_ns)
{
	if (thread != TY_NONE) {
		ty_timeline_visit_row(t, TY_ROW_THREAD, thread, at_ns);
		return;
	}
	if (at_ns < t->vp.start_ns)
		at_ns = t->vp.start_ns;
	if (at_ns >= t->vp.end_ns)
		at_ns = t->vp.end_ns - 1;
	ty_viewport_visit(&t->vp, at_ns);
	t->cursor_ns = at_ns;
	ty_timeline_exact(t);
}
