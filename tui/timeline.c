/* SPDX-License-Identifier: MIT */
/* The timeline's state and what the actions do to it; drawing is in timeline_draw.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "glyphs.h"
#include "ruler.h"
#include "timeline_priv.h"
#include "units.h"

struct ty_layout ty_layout_make(int w, int h, uint32_t rows, uint32_t findings, bool list_focus)
{
	struct ty_layout l = {.w = w, .h = h};
	int y = 1, left, list = (int)(findings < 50 ? findings : 50);

	l.label_w = w / 4 < 13 ? 13 : w / 4 > 34 ? 34 : w / 4;
	l.cells_x = l.label_w;
	l.cells_w = w - l.label_w;
	l.minimap_y = h >= 16 ? y++ : -1;
	l.ruler_y = y++;
	l.rows_y = y;
	l.footer_y = h - 1;
	left = l.footer_y - y;
	l.details_h = h >= 40 ? 7 : h >= 20 ? 5 : h >= 13 ? 4 : 3;
	left -= l.details_h;
	if (h >= 16)
		l.list_h = h >= 40 ? 9 : h >= 20 ? 5 : 3;
	else
		l.list_h = list_focus ? 3 : 0;
	if (l.list_h > list + 1 && list)
		l.list_h = list + 1;
	/* Rows that are not there leave their place to the list. */
	if (l.list_h && (int)rows < left - l.list_h && list > l.list_h - 1) {
		int spare = left - l.list_h - (int)rows, want = list - (l.list_h - 1);

		l.list_h += spare < want ? spare : want;
	}
	l.rows_h = left - l.list_h;
	l.list_y = l.rows_y + l.rows_h;
	l.details_y = l.list_y + l.list_h;
	return l;
}

bool ty_timeline_track(const struct ty_timeline *t, uint32_t row, struct ty_track *track)
{
	const struct ty_row *r;

	if (row >= t->tracks.rows.n)
		return false;
	r = &t->tracks.rows.v[row];
	track->id = r->id;
	switch (r->kind) {
	case TY_ROW_CPU: track->kind = TY_TRACK_CPU; return true;
	case TY_ROW_THREAD: track->kind = TY_TRACK_THREAD; return true;
	case TY_ROW_SYSCALLS: track->kind = TY_TRACK_SYSCALLS; return true;
	default: return false;
	}
}

static uint32_t cells_w(const struct ty_timeline *t)
{
	return t->lay.cells_w > 0 ? (uint32_t)t->lay.cells_w : 60;
}

static uint32_t cursor_column(const struct ty_timeline *t)
{
	return ty_viewport_column(&t->vp, t->cursor_ns, cells_w(t));
}

/* Put the cursor into the middle of a cell. */
static void cursor_to_column(struct ty_timeline *t, uint32_t c)
{
	uint64_t a = ty_viewport_edge(&t->vp, c, cells_w(t));
	uint64_t b = ty_viewport_edge(&t->vp, c + 1, cells_w(t));

	t->cursor_ns = a + (b - a) / 2;
}

bool ty_timeline_subject(const struct ty_timeline *t, struct ty_track *track, struct ty_cell *cell,
			 uint32_t *idx, uint64_t *from_ns, uint64_t *to_ns)
{
	uint32_t c = cursor_column(t), n = cells_w(t);

	if (!ty_timeline_track(t, t->row, track))
		return false;
	*from_ns = ty_viewport_edge(&t->vp, c, n);
	*to_ns = ty_viewport_edge(&t->vp, c + 1, n);
	if (*to_ns <= *from_ns)
		*to_ns = *from_ns + 1;
	ty_model_cells(t->m, *track, *from_ns, *to_ns, 1, cell);
	*idx = ty_cell_subject(t->m, *track, cell, *from_ns, *to_ns);
	return *idx != TY_NONE;
}

static void clamp_cursor(struct ty_timeline *t)
{
	if (t->cursor_ns < t->vp.from_ns)
		t->cursor_ns = t->vp.from_ns;
	if (t->cursor_ns >= t->vp.to_ns)
		t->cursor_ns = t->vp.to_ns - 1;
}

/* Scroll so that the selected row is on the screen; below: rows that should be seen with it. */
static void show_row(struct ty_timeline *t, uint32_t below)
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

static void show_finding(struct ty_timeline *t)
{
	uint32_t h = t->lay.list_h > 1 ? (uint32_t)t->lay.list_h - 1 : 1;

	if (t->finding < t->list_top)
		t->list_top = t->finding;
	if (t->finding >= t->list_top + h)
		t->list_top = t->finding + 1 - h;
}

int ty_timeline_settle(struct ty_timeline *t, int w, int h)
{
	struct ty_cell *cells;

	t->lay = ty_layout_make(w, h, (uint32_t)t->tracks.rows.n, t->findings.n, t->list_focus);
	show_row(t, t->below);
	t->below = 0;
	if (t->finding < t->findings.n)
		show_finding(t);
	if (t->cells_n < t->lay.cells_w) {
		cells = realloc(t->cells, (size_t)t->lay.cells_w * sizeof(*cells));
		if (!cells)
			return -TY_ENOMEM;
		t->cells = cells;
		t->cells_n = t->lay.cells_w;
	}
	return 0;
}

static void say(struct ty_timeline *t, const char *s)
{
	snprintf(t->message, sizeof(t->message), "%s", s);
}

/* The window fits a span with a margin, the cursor in its middle. */
static void fit(struct ty_timeline *t, uint64_t start, uint64_t end)
{
	uint64_t margin = (end - start) / 6 + 1;
	uint64_t from = start - t->vp.start_ns > margin ? start - margin : t->vp.start_ns;
	uint64_t to = t->vp.end_ns - end > margin ? end + margin : t->vp.end_ns;

	ty_viewport_jump(&t->vp, from, to);
	t->cursor_ns = start + (end - start) / 2;
	clamp_cursor(t);
}

static void jump_to_finding(struct ty_timeline *t)
{
	const struct ty_wait *f;
	uint32_t row;
	char who[TY_WHO_MAX];

	if (t->finding >= t->findings.n) {
		say(t, "no waits are in the list");
		return;
	}
	f = &t->findings.v[t->finding];
	fit(t, f->start_ns, f->start_ns + f->duration_ns);
	row = ty_tracks_reveal(&t->tracks, f->thread);
	if (row == TY_NONE)
		return;
	t->row = row;
	if (t->tracks.rows.v[row].folded)
		ty_tracks_fold(&t->tracks, row);
	/* Its system calls, one row below, should be seen, too. */
	t->below = 1;
	show_finding(t);
	snprintf(t->message, sizeof(t->message), "wait %u of %u: %s", t->finding + 1, t->findings.n,
		 ty_timeline_who(t, f->thread, f->start_ns, who));
}

static void step_finding(struct ty_timeline *t, int by)
{
	uint32_t n = t->findings.n;

	if (!n) {
		say(t, "no waits are in the list");
		return;
	}
	/* The first step goes to the first one: nothing was visited yet. */
	if (t->finding >= n)
		t->finding = by > 0 ? 0 : n - 1;
	else
		t->finding = (t->finding + n + (uint32_t)by) % n;
	jump_to_finding(t);
}

static void pan(struct ty_timeline *t, int64_t delta)
{
	uint32_t c = cursor_column(t);

	ty_viewport_pan(&t->vp, delta);
	cursor_to_column(t, c);
}

static void move_cursor(struct ty_timeline *t, int by)
{
	uint32_t c = cursor_column(t), n = cells_w(t);
	uint64_t cell = (t->vp.to_ns - t->vp.from_ns) / n + 1;

	if (by < 0 && !c)
		ty_viewport_pan(&t->vp, -(int64_t)cell);
	else if (by > 0 && c + 1 >= n)
		ty_viewport_pan(&t->vp, (int64_t)cell);
	else
		c += (uint32_t)by;
	cursor_to_column(t, c);
}

static void move_row(struct ty_timeline *t, int64_t by)
{
	int64_t n = (int64_t)t->tracks.rows.n, to = (int64_t)t->row + by;

	t->row = (uint32_t)(to < 0 || !n ? 0 : to >= n ? n - 1 : to);
	show_row(t, 0);
}

static void move_in_list(struct ty_timeline *t, int64_t by)
{
	int64_t n = t->findings.n, at = t->finding >= t->findings.n ? -1 : (int64_t)t->finding;
	int64_t to = at < 0 ? 0 : at + by;

	if (!n)
		return;
	t->finding = (uint32_t)(to < 0 ? 0 : to >= n ? n - 1 : to);
	show_finding(t);
}

static void up_down(struct ty_timeline *t, int by, bool page)
{
	int64_t h = t->list_focus ? t->lay.list_h - 1 : t->lay.rows_h;
	int64_t step = page ? (h > 1 ? h - 1 : 1) * by : by;

	if (t->list_focus)
		move_in_list(t, step);
	else
		move_row(t, step);
}

/* Along the row to where the span under the cursor ends or began; at least one cell. */
static void step_span(struct ty_timeline *t, int by)
{
	struct ty_track track;
	struct ty_cell cell;
	uint32_t idx;
	uint64_t from, to, at;

	if (!ty_timeline_subject(t, &track, &cell, &idx, &from, &to)) {
		move_cursor(t, by);
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

static void zoom_span(struct ty_timeline *t)
{
	struct ty_track track;
	struct ty_cell cell;
	struct ty_span s;
	uint32_t idx;
	uint64_t from, to;

	if (!ty_timeline_subject(t, &track, &cell, &idx, &from, &to)) {
		say(t, "no span is under the cursor");
		return;
	}
	s = ty_track_span(t->m, track, idx);
	fit(t, s.start_ns, s.end_ns);
}

static void fold(struct ty_timeline *t)
{
	uint32_t row = ty_tracks_fold(&t->tracks, t->row);

	if (row == TY_NONE)
		say(t, "nothing to fold here");
	else
		t->row = row;
	show_row(t, 0);
}

static void open_row(struct ty_timeline *t)
{
	struct ty_track track;

	if (t->list_focus)
		jump_to_finding(t);
	else if (ty_timeline_track(t, t->row, &track))
		zoom_span(t);
	else
		fold(t);
}

static void go_to(struct ty_timeline *t)
{
	const char *s = t->input + strspn(t->input, " ");
	char sign = *s == '+' || *s == '-' ? *s++ : 0;
	uint64_t d, at;
	char text[TY_TIME_MAX];

	t->prompt = false;
	if (!*s)
		return;
	if (ty_parse_duration(s, &d)) {
		snprintf(t->message, sizeof(t->message),
			 "'%s' is not a time: write 1.5, 250ms, +2ms or -2ms", t->input);
		return;
	}
	at = sign ? t->cursor_ns : t->vp.start_ns;
	if (sign == '-' ? d > at - t->vp.start_ns : d >= t->vp.end_ns - at) {
		snprintf(t->message, sizeof(t->message),
			 "%s lies outside the recording, which is %s long", t->input,
			 ty_fmt_length(t->vp.end_ns - t->vp.start_ns, text));
		return;
	}
	at = sign == '-' ? at - d : at + d;
	ty_viewport_follow(&t->vp, at);
	t->cursor_ns = at;
}

static void back(struct ty_timeline *t)
{
	if (t->list_focus)
		t->list_focus = false;
	else if (!ty_viewport_undo(&t->vp))
		say(t, "this is the first window");
	clamp_cursor(t);
}

static enum ty_view_result act(void *self, enum ty_action a)
{
	struct ty_timeline *t = self;
	int64_t quarter = (int64_t)((t->vp.to_ns - t->vp.from_ns) / 4 + 1);

	t->message[0] = 0;
	t->note_seen |= a != TY_ACT_NONE && a != TY_ACT_REDRAW;
	switch (a) {
	case TY_ACT_ZOOM_IN: ty_viewport_zoom(&t->vp, t->cursor_ns, 1, 2); break;
	case TY_ACT_ZOOM_OUT: ty_viewport_zoom(&t->vp, t->cursor_ns, 2, 1); break;
	case TY_ACT_PAN_LEFT: pan(t, -quarter); break;
	case TY_ACT_PAN_RIGHT: pan(t, quarter); break;
	case TY_ACT_ALL: ty_viewport_jump(&t->vp, t->vp.start_ns, t->vp.end_ns); break;
	case TY_ACT_ZOOM_SPAN: zoom_span(t); break;
	case TY_ACT_UNDO:
		if (!ty_viewport_undo(&t->vp))
			say(t, "this is the first window");
		break;
	case TY_ACT_GOTO:
		t->prompt = true;
		t->input[0] = 0;
		break;
	case TY_ACT_TIME_FIRST:
		ty_viewport_follow(&t->vp, t->vp.start_ns);
		t->cursor_ns = t->vp.start_ns;
		break;
	case TY_ACT_TIME_LAST:
		ty_viewport_follow(&t->vp, t->vp.end_ns - 1);
		t->cursor_ns = t->vp.end_ns - 1;
		break;
	case TY_ACT_LEFT: move_cursor(t, -1); break;
	case TY_ACT_RIGHT: move_cursor(t, 1); break;
	case TY_ACT_SPAN_PREV: step_span(t, -1); break;
	case TY_ACT_SPAN_NEXT: step_span(t, 1); break;
	case TY_ACT_UP: up_down(t, -1, false); break;
	case TY_ACT_DOWN: up_down(t, 1, false); break;
	case TY_ACT_PAGE_UP: up_down(t, -1, true); break;
	case TY_ACT_PAGE_DOWN: up_down(t, 1, true); break;
	case TY_ACT_FOLD: fold(t); break;
	case TY_ACT_NEXT: step_finding(t, 1); break;
	case TY_ACT_PREV: step_finding(t, -1); break;
	case TY_ACT_OPEN: open_row(t); break;
	case TY_ACT_FOCUS:
		t->list_focus = !t->list_focus;
		if (t->list_focus && t->finding >= t->findings.n)
			t->finding = 0;
		break;
	case TY_ACT_BACK: back(t); break;
	case TY_ACT_HELP: return TY_VIEW_HELP;
	case TY_ACT_REDRAW: return TY_VIEW_REDRAW;
	case TY_ACT_QUIT: return TY_VIEW_QUIT;
	case TY_ACT_NONE:
	case TY_ACT_COUNT: return TY_VIEW_IGNORED;
	}
	clamp_cursor(t);
	return TY_VIEW_CHANGED;
}

static void scroll_rows(struct ty_timeline *t, int by)
{
	int64_t n = (int64_t)t->tracks.rows.n, h = t->lay.rows_h, top = (int64_t)t->top + by;

	if (top > n - h)
		top = n - h;
	t->top = (uint32_t)(top < 0 ? 0 : top);
	if (t->row < t->top)
		t->row = t->top;
	if (t->row >= t->top + h && h > 0)
		t->row = t->top + (uint32_t)h - 1;
}

static void wheel(struct ty_timeline *t, const struct ty_mouse *m, int by)
{
	const struct ty_layout *l = &t->lay;

	if (m->y == l->ruler_y || m->y == l->minimap_y) {
		if (m->x >= l->cells_x && m->y == l->ruler_y)
			cursor_to_column(t, (uint32_t)(m->x - l->cells_x));
		ty_viewport_zoom(&t->vp, t->cursor_ns, by < 0 ? 1 : 2, by < 0 ? 2 : 1);
	} else if (m->y >= l->rows_y && m->y < l->rows_y + l->rows_h) {
		scroll_rows(t, 3 * by);
	} else if (m->y > l->list_y && m->y < l->list_y + l->list_h) {
		move_in_list(t, by);
	}
}

static void click(struct ty_timeline *t, const struct ty_mouse *m)
{
	const struct ty_layout *l = &t->lay;
	uint32_t c = m->x >= l->cells_x ? (uint32_t)(m->x - l->cells_x) : TY_NONE;

	if (m->y == l->minimap_y && c != TY_NONE) {
		struct ty_viewport all;
		uint64_t at, length = t->vp.to_ns - t->vp.from_ns;

		ty_viewport_init(&all, t->vp.start_ns, t->vp.end_ns);
		at = ty_viewport_edge(&all, c, cells_w(t));
		ty_viewport_jump(&t->vp, at > length / 2 ? at - length / 2 : 0,
				 at > length / 2 ? at - length / 2 + length : length);
		t->cursor_ns = at;
	} else if (m->y == l->ruler_y && c != TY_NONE) {
		cursor_to_column(t, c);
	} else if (m->y >= l->rows_y && m->y < l->rows_y + l->rows_h) {
		uint32_t row = t->top + (uint32_t)(m->y - l->rows_y);

		if (row >= t->tracks.rows.n)
			return;
		t->list_focus = false;
		if (c != TY_NONE)
			cursor_to_column(t, c);
		else if (row == t->row && t->tracks.rows.v[row].foldable)
			row = ty_tracks_fold(&t->tracks, row);
		t->row = row;
		show_row(t, 0);
	} else if (m->y > l->list_y && m->y < l->list_y + l->list_h) {
		uint32_t i = t->list_top + (uint32_t)(m->y - l->list_y - 1);

		if (i >= t->findings.n)
			return;
		t->list_focus = true;
		t->finding = i;
		jump_to_finding(t);
	}
}

static enum ty_view_result mouse(void *self, const struct ty_mouse *m)
{
	struct ty_timeline *t = self;

	t->message[0] = 0;
	t->note_seen = true;
	switch (m->what) {
	case TY_MOUSE_CLICK: click(t, m); break;
	case TY_MOUSE_WHEEL_UP: wheel(t, m, -1); break;
	case TY_MOUSE_WHEEL_DOWN: wheel(t, m, 1); break;
	}
	clamp_cursor(t);
	return TY_VIEW_CHANGED;
}

static bool wants_text(const void *self)
{
	return ((const struct ty_timeline *)self)->prompt;
}

static enum ty_view_result text(void *self, uint32_t key)
{
	struct ty_timeline *t = self;
	size_t n = strlen(t->input);

	if (key == TY_KEY_ENTER) {
		go_to(t);
		clamp_cursor(t);
	} else if (key == TY_KEY_ESC) {
		t->prompt = false;
	} else if (key == TY_KEY_BACKSPACE) {
		if (n)
			t->input[n - 1] = 0;
	} else if (key >= 0x20 && key < 0x7f && n + 1 < sizeof(t->input)) {
		t->input[n] = (char)key;
		t->input[n + 1] = 0;
	} else {
		return TY_VIEW_IGNORED;
	}
	return TY_VIEW_CHANGED;
}

int ty_timeline_new(const struct ty_view_input *in, struct ty_timeline **out, struct ty_err *err)
{
	const struct ty_summary *s = ty_model_summary(in->model);
	struct ty_window all = in->window;
	struct ty_timeline *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for the timeline");
	t->in = in;
	t->m = in->model;
	t->args_of = TY_NONE;
	t->lay = ty_layout_make(80, 24, 0, 0, false);
	ty_viewport_init(&t->vp, s->start_ns, s->end_ns);
	if (in->window.from_ns > s->start_ns || in->window.to_ns < s->end_ns)
		ty_viewport_jump(&t->vp, in->window.from_ns, in->window.to_ns);
	t->vp.undo_n = 0;
	/* The list is about the whole recording: what lies outside the window is one key away. */
	all.from_ns = s->start_ns;
	all.to_ns = s->end_ns;
	rc = ty_findings_init(&t->findings, t->m, &all, err);
	if (!rc)
		rc = ty_gaps_init(&t->gaps, t->m, err);
	if (!rc)
		rc = ty_tracks_init(&t->tracks, t->m, &in->window, &t->findings, err);
	if (!rc && in->at_finding > t->findings.n)
		rc = ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			     "%s: there is no wait number %u to start at; the list has %u",
			     in->path, in->at_finding, t->findings.n);
	if (rc) {
		ty_timeline_free(t);
		return rc;
	}
	t->finding = TY_NONE;
	t->cursor_ns = t->vp.from_ns + (t->vp.to_ns - t->vp.from_ns) / 2;
	/* The foremost thread is what most people come for, not CPU 0. */
	for (uint32_t i = 0; i < t->tracks.rows.n; i++)
		if (t->tracks.rows.v[i].kind == TY_ROW_THREAD) {
			t->row = i;
			break;
		}
	if (in->at_finding) {
		t->finding = in->at_finding - 1;
		jump_to_finding(t);
		t->message[0] = 0;
	}
	*out = t;
	return 0;
}

void ty_timeline_free(struct ty_timeline *t)
{
	if (!t)
		return;
	ty_tracks_fini(&t->tracks);
	ty_findings_fini(&t->findings);
	ty_gaps_fini(&t->gaps);
	free(t->cells);
	free(t);
}

const struct ty_view_ops ty_timeline_ops = {
	.name = "timeline",
	.draw = ty_timeline_draw,
	.act = act,
	.mouse = mouse,
	.wants_text = wants_text,
	.text = text,
};
