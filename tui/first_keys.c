/* SPDX-License-Identifier: MIT */
#include "first_keys.h"

#include <stdio.h>

#include "keys.h"

#define CARD_W 58

bool ty_first_keys_draw(struct ty_grid *g, const struct ty_palette *p)
{
	static const struct {
		enum ty_action a, b;
		const char *what;
	} lines[] = {{TY_ACT_NEXT, TY_ACT_PREV, "next or previous stall"},
		     {TY_ACT_CHAIN, TY_ACT_NONE, "why: the wakeup chain back to its cause"},
		     {TY_ACT_ZOOM_IN, TY_ACT_ZOOM_OUT, "zoom in or out"},
		     {TY_ACT_PAN_LEFT, TY_ACT_PAN_RIGHT, "move the window"},
		     {TY_ACT_DOWN, TY_ACT_UP, "next or previous row"},
		     {TY_ACT_SEARCH, TY_ACT_NONE, "search"},
		     {TY_ACT_UNDO, TY_ACT_NONE, "undo a zoom or jump"},
		     {TY_ACT_HELP, TY_ACT_NONE, "help: all keys and symbols"},
		     {TY_ACT_QUIT, TY_ACT_NONE, "quit, or close a page"}};
	const int n = sizeof(lines) / sizeof(*lines), h = n + 4, x = (g->w - CARD_W) / 2,
		  y = (g->h - h) / 2;
	const struct ty_style text = ty_palette_role(p, TY_ROLE_TEXT),
			      bar = ty_palette_role(p, TY_ROLE_BAR);

	if (g->w < CARD_W + 2 || g->h < h + 2)
		return false;
	ty_grid_fill(g, x, y, CARD_W, h, ' ', text);
	ty_grid_fill(g, x, y, CARD_W, 1, ' ', bar);
	ty_grid_text(g, x + 2, y, CARD_W - 4, "The first keys", bar);
	for (int i = 0; i < n; i++) {
		const struct ty_key_row *a = ty_keys_row(lines[i].a), *b = ty_keys_row(lines[i].b);
		char one[TY_KEY_NAME_MAX], two[TY_KEY_NAME_MAX], both[2 * TY_KEY_NAME_MAX + 2];

		snprintf(both, sizeof(both), "%s%s%s", ty_key_name(a->keys[0], p->utf8, one),
			 b ? " " : "", b ? ty_key_name(b->keys[0], p->utf8, two) : "");
		ty_grid_text(g, x + 2, y + 2 + i, 8, both, ty_palette_role(p, TY_ROLE_STRONG));
		ty_grid_text(g, x + 11, y + 2 + i, CARD_W - 13, lines[i].what, text);
	}
	ty_grid_fill(g, x, y + h - 1, CARD_W, 1, ' ', bar);
	ty_grid_text(g, x + 2, y + h - 1, CARD_W - 4, "shown once; any key closes it", bar);
	return true;
}
