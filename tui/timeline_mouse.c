/* SPDX-License-Identifier: MIT */
/* The actions of the mouse; all of them have keys, too. */
#include "timeline_priv.h"

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
	const bool rows = m->y >= l->rows_y && m->y < l->rows_y + l->rows_h;

	if (m->y == l->ruler_y || m->y == l->minimap_y || (rows && m->ctrl)) {
		if (m->x >= l->cells_x && m->y != l->minimap_y)
			ty_timeline_to_column(t, (uint32_t)(m->x - l->cells_x));
		ty_viewport_zoom(&t->vp, t->cursor_ns, by < 0 ? 1 : 2, by < 0 ? 2 : 1);
	} else if (rows) {
		scroll_rows(t, 3 * by);
	} else if (m->y > l->list_y && m->y < l->list_y + l->list_h) {
		ty_timeline_move_in_list(t, by);
	} else if (m->y > l->details_y && m->y < l->details_y + l->details_h) {
		ty_timeline_scroll_details(t, by);
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
		at = ty_viewport_edge(&all, c, ty_timeline_cells(t));
		ty_viewport_jump(&t->vp, at > length / 2 ? at - length / 2 : 0,
				 at > length / 2 ? at - length / 2 + length : length);
		t->cursor_ns = at;
	} else if (m->y == l->ruler_y && c != TY_NONE) {
		ty_timeline_to_column(t, c);
	} else if (m->y >= l->rows_y && m->y < l->rows_y + l->rows_h) {
		uint32_t row = t->top + (uint32_t)(m->y - l->rows_y);

		if (row >= t->tracks.rows.n)
			return;
		t->list_focus = false;
		if (c != TY_NONE)
			ty_timeline_to_column(t, c);
		else if (row == t->row && t->tracks.rows.v[row].foldable)
			row = ty_tracks_fold(&t->tracks, row);
		t->row = row;
		ty_timeline_show_row(t, 0);
	} else if (m->y > l->list_y && m->y < l->list_y + l->list_h) {
		uint32_t i = t->list_top + (uint32_t)(m->y - l->list_y - 1);

		if (i >= t->listed_n)
			return;
		t->list_focus = true;
		t->finding = t->listed[i];
		ty_timeline_to_finding(t);
	}
}

static uint32_t column_at(const struct ty_timeline *t, int x)
{
	const struct ty_layout *l = &t->lay;
	int c = x - l->cells_x;

	return (uint32_t)(c < 0 ? 0 : c >= l->cells_w ? l->cells_w - 1 : c);
}

/* From where the button went down (the cursor is there) to here. */
static void drag(struct ty_timeline *t, const struct ty_mouse *m)
{
	const struct ty_layout *l = &t->lay;
	uint32_t row;

	if (!t->dragging)
		return;
	if (!t->sel.on || t->sel.held) {
		t->sel.on = false;
		ty_timeline_select(t);
	}
	ty_timeline_to_column(t, column_at(t, m->x));
	if (l->rows_h > 0 && !t->drag_times) {
		int y = m->y - l->rows_y;

		y = y < 0 ? 0 : y >= l->rows_h ? l->rows_h - 1 : y;
		row = t->top + (uint32_t)y;
		t->row = row < t->tracks.rows.n ? row : (uint32_t)t->tracks.rows.n - 1;
	}
	ty_timeline_select_to(t);
}

enum ty_view_result ty_timeline_mouse(void *self, const struct ty_mouse *m)
{
	struct ty_timeline *t = self;
	const struct ty_layout *l = &t->lay;
	bool rows = m->y >= l->rows_y && m->y < l->rows_y + l->rows_h,
	     cells = m->x >= l->cells_x && (rows || m->y == l->ruler_y);

	if (!t->tracks.rows.n)
		return TY_VIEW_IGNORED;
	t->message[0] = 0;
	t->hit_said = false;
	t->note_seen = t->touched = true;
	t->keys_seen |= t->keys_shown;
	t->wanted = 0;
	t->vp.here = ty_timeline_place(t);
	switch (m->what) {
	case TY_MOUSE_CLICK:
		click(t, m);
		ty_timeline_unselect(t);
		t->dragging = cells;
		t->drag_times = !rows;
		break;
	case TY_MOUSE_DOUBLE:
		if (rows && cells && ty_row_is_memory(&t->tracks.rows.v[t->row]))
			ty_timeline_memory_recolour(t);
		else if (rows && cells && ty_timeline_region_here(t) != TY_NONE)
			return ty_timeline_region_slowest(t) ? TY_VIEW_PUSH : TY_VIEW_CHANGED;
		else if (rows && cells)
			ty_timeline_zoom(t);
		else
			click(t, m);
		break;
	case TY_MOUSE_DRAG: drag(t, m); break;
	case TY_MOUSE_DROP:
		if (t->dragging && t->sel.on)
			t->sel.held = true;
		t->dragging = false;
		break;
	case TY_MOUSE_WHEEL_UP: wheel(t, m, -1); break;
	case TY_MOUSE_WHEEL_DOWN: wheel(t, m, 1); break;
	case TY_MOUSE_COUNT: return TY_VIEW_IGNORED;
	}
	ty_timeline_clamp(t);
	return TY_VIEW_CHANGED;
}
