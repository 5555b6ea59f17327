/* SPDX-License-Identifier: MIT */
/* Layout of the screen, and scrolling of the selection into view. */
#include <stdlib.h>

#include "timeline_priv.h"

struct ty_layout ty_timeline_layout(const struct ty_timeline *t, int w, int h)
{
	uint32_t rows = (uint32_t)t->tracks.rows.n, findings = t->listed_n;
	struct ty_layout l = {.w = w, .h = h};
	int y = 1, left, list = (int)(findings < 50 ? findings : 50);

	l.label_w = w / 4 < 13 ? 13 : w / 4 > 34 ? 34 : w / 4;
	l.cells_x = l.label_w;
	l.cells_w = w - l.label_w;
	l.minimap_y = h >= 16 ? y++ : -1;
	l.ruler_y = y++;
	/* A small screen keeps its rows. */
	l.log_y = t->in->log && !(h < 13 && t->list_focus) ? y++ : -1;
	l.path_y = t->route.on && (h >= 13 || (l.log_y < 0 && !t->list_focus)) ? y++ : -1;
	l.rows_y = y;
	l.footer_y = h - 1;
	left = l.footer_y - y;
	l.details_h = h >= 40 ? 7 : h >= 20 ? 5 : h >= 13 ? 4 : 3;
	left -= l.details_h;
	if (h >= 16)
		l.list_h = h >= 40 ? 9 : h >= 20 ? 5 : 3;
	else
		l.list_h = t->list_focus ? 3 : 0;
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

int ty_timeline_settle(struct ty_timeline *t, int w, int h)
{
	struct ty_cell *cells;

	ty_timeline_list(t);
	t->lay = ty_timeline_layout(t, w, h);
	ty_timeline_show_row(t, t->below);
	t->below = 0;
	ty_timeline_show_finding(t);
	if (t->cells_n < t->lay.cells_w) {
		cells = realloc(t->cells, 2 * (size_t)t->lay.cells_w * sizeof(*cells));
		if (!cells)
			return -TY_ENOMEM;
		t->cells = cells;
		t->cells_n = t->lay.cells_w;
	}
	return 0;
}
