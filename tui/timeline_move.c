/* SPDX-License-Identifier: MIT */
/* What the keys do to window, cursor and rows. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "glyphs.h"
#include "timeline_priv.h"

uint32_t ty_timeline_cells(const struct ty_timeline *t)
{
	return t->lay.cells_w > 0 ? (uint32_t)t->lay.cells_w : 60;
}

static uint32_t cursor_column(const struct ty_timeline *t)
{
	return ty_viewport_column(&t->vp, t->cursor_ns, ty_timeline_cells(t));
}

/* Put the cursor into the middle of a cell. */
void ty_timeline_to_column(struct ty_timeline *t, uint32_t c)
{
	uint64_t a = ty_viewport_edge(&t->vp, c, ty_timeline_cells(t));
	uint64_t b = ty_viewport_edge(&t->vp, c + 1, ty_timeline_cells(t));

	t->cursor_ns = a + (b - a) / 2;
}

bool ty_timeline_subject(const struct ty_timeline *t, struct ty_track *track, struct ty_cell *cell,
			 uint32_t *idx, uint64_t *from_ns, uint64_t *to_ns)
{
	uint32_t c = cursor_column(t), n = ty_timeline_cells(t);

	if (!ty_timeline_track(t, t->row, track))
		return false;
	*from_ns = ty_viewport_edge(&t->vp, c, n);
	*to_ns = ty_viewport_edge(&t->vp, c + 1, n);
	if (*to_ns <= *from_ns)
		*to_ns = *from_ns + 1;
	ty_model_cells(t->m, *track, *from_ns, *to_ns, 1, cell);
	*idx = ty_cell_subject(t->m, *track, cell, *from_ns, *to_ns);
	if (t->pin.on && t->pin.at_ns == t->cursor_ns && t->pin.track.kind == track->kind &&
	    t->pin.track.id == track->id)
		*idx = t->pin.idx;
	return *idx != TY_NONE;
}

void ty_timeline_clamp(struct ty_timeline *t)
{
	if (t->cursor_ns < t->vp.from_ns)
		t->cursor_ns = t->vp.from_ns;
	if (t->cursor_ns >= t->vp.to_ns)
		t->cursor_ns = t->vp.to_ns - 1;
}

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

void ty_timeline_show_finding(struct ty_timeline *t)
{
	uint32_t h = t->lay.list_h > 1 ? (uint32_t)t->lay.list_h - 1 : 1;

	if (t->finding < t->list_top)
		t->list_top = t->finding;
	if (t->finding >= t->list_top + h)
		t->list_top = t->finding + 1 - h;
}

void ty_timeline_say(struct ty_timeline *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t->message, sizeof(t->message), fmt, ap);
	va_end(ap);
}

/* The window fits a span with a margin, the cursor in its middle. */
static void fit(struct ty_timeline *t, uint64_t start, uint64_t end)
{
	uint64_t margin = (end - start) / 6 + 1;
	uint64_t from = start - t->vp.start_ns > margin ? start - margin : t->vp.start_ns;
	uint64_t to = t->vp.end_ns - end > margin ? end + margin : t->vp.end_ns;

	ty_viewport_jump(&t->vp, from, to);
	t->cursor_ns = start + (end - start) / 2;
	ty_timeline_clamp(t);
}

void ty_timeline_to_finding(struct ty_timeline *t)
{
	const struct ty_stall *stall;
	const struct ty_wait *f;
	uint32_t row;
	char who[TY_WHO_MAX];

	if (t->finding >= t->findings.n) {
		ty_timeline_say(t, "the list is empty");
		return;
	}
	f = &t->findings.v[t->finding];
	stall = t->finding < t->findings.stalls.n ? &t->findings.stalls.v[t->finding] : NULL;
	fit(t, f->start_ns, stall ? ty_stall_end_ns(stall) : f->start_ns + f->duration_ns);
	if (stall && stall->waits > 1) { /* in the chief one of them */
		struct ty_span s = ty_model_span_brief(t->m, stall->thread, stall->span);

		t->cursor_ns = s.start_ns + (s.end_ns - s.start_ns) / 2;
		ty_timeline_clamp(t);
	}
	row = ty_tracks_reveal(&t->tracks, f->thread);
	if (row == TY_NONE)
		return;
	t->row = row;
	if (t->tracks.rows.v[row].folded)
		ty_tracks_fold(&t->tracks, row);
	/* Its system calls, one row below, should be seen, too. */
	t->below = 1;
	ty_timeline_show_finding(t);
	if (stall)
		ty_timeline_say(t, "stall %u of %u, %s: %s", t->finding + 1, t->findings.stalls.n,
				stall->proven ? "proven" : "inferred", stall->text);
	else
		ty_timeline_say(t, "%u of %u in the list: a wait of %s", t->finding + 1,
				t->findings.n, ty_timeline_who(t, f->thread, f->start_ns, who));
}

void ty_timeline_step_finding(struct ty_timeline *t, int by)
{
	uint32_t n = t->findings.n;

	if (ty_timeline_indexing_waits(t, "searching for stalls")) {
		t->wanted = by;
		return;
	}
	if (t->hunting.aside.on) {
		t->wanted = by;
		ty_timeline_say(t, "still searching for stalls: will go to the first one found");
		return;
	}
	if (!n) {
		ty_timeline_say(t, "the list is empty");
		return;
	}
	/* The first step goes to the first one: nothing was visited yet. */
	if (t->finding >= n)
		t->finding = by > 0 ? 0 : n - 1;
	else
		t->finding = (t->finding + n + (uint32_t)by) % n;
	ty_timeline_to_finding(t);
}

void ty_timeline_pan(struct ty_timeline *t, int64_t delta)
{
	uint32_t c = cursor_column(t);

	ty_viewport_pan(&t->vp, delta);
	ty_timeline_to_column(t, c);
}

void ty_timeline_move_cursor(struct ty_timeline *t, int by)
{
	uint32_t c = cursor_column(t), n = ty_timeline_cells(t), first = c;
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
	int64_t n = t->findings.n, at = t->finding >= t->findings.n ? -1 : (int64_t)t->finding;
	int64_t to = at < 0 ? 0 : at + by;

	if (!n)
		return;
	t->finding = (uint32_t)(to < 0 ? 0 : to >= n ? n - 1 : to);
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

/* Along the row to where the span under the cursor ends or began; at least one cell. */
void ty_timeline_step_span(struct ty_timeline *t, int by)
{
	struct ty_track track;
	struct ty_cell cell;
	uint32_t idx;
	uint64_t from, to, at;

	if (!ty_timeline_subject(t, &track, &cell, &idx, &from, &to)) {
		ty_timeline_move_cursor(t, by);
		return;
	}
	at = by > 0 ? to : from - (from > t->vp.start_ns);
	if (by > 0 && ty_track_span(t->m, track, idx).end_ns > to)
		at = ty_track_span(t->m, track, idx).end_ns;
	if (by < 0 && ty_track_span(t->m, track, idx).start_ns < from)
		at = ty_track_span(t->m, track, idx).start_ns - 1;
	if (at < t->vp.start_ns)
		at = t->vp.start_ns;
	if (at >= t->vp.end_ns)
		at = t->vp.end_ns - 1;
	ty_viewport_follow(&t->vp, at);
	t->cursor_ns = at;
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
	fit(t, s.start_ns, s.end_ns);
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

void ty_timeline_open_row(struct ty_timeline *t)
{
	struct ty_track track;

	if (t->list_focus)
		ty_timeline_to_finding(t);
	else if (ty_timeline_track(t, t->row, &track))
		ty_timeline_zoom(t);
	else if (t->row < t->tracks.rows.n && ty_row_is_memory(&t->tracks.rows.v[t->row]))
		ty_timeline_memory_recolour(t);
	else
		ty_timeline_fold(t);
}

struct ty_place ty_timeline_place(const struct ty_timeline *t)
{
	struct ty_place p = {.cursor_ns = t->cursor_ns};

	if (t->row < t->tracks.rows.n) {
		p.row_kind = t->tracks.rows.v[t->row].kind;
		p.row_id = t->tracks.rows.v[t->row].id;
	}
	return p;
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
		ty_timeline_say(t, "its row is hidden by the filter or by --tid, --comm or --cpu");
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
}

void ty_timeline_back(struct ty_timeline *t)
{
	if (ty_timeline_stop(t))
		return;
	if (t->list_focus)
		t->list_focus = false;
	else if (t->sel.on)
		ty_timeline_unselect(t);
	else if (ty_viewport_undo(&t->vp))
		ty_timeline_restore(t);
	else
		ty_timeline_say(t, "nothing to undo");
}
