/* SPDX-License-Identifier: MIT */
#include "footer.h"

#include <stdio.h>
#include <string.h>

/* Its columns, drawn or not (g NULL); 0: it does not fit. */
static int put(struct ty_grid *g, const struct ty_palette *p, int x, int y, int end,
	       enum ty_action action, const char *word)
{
	const struct ty_key_row *r = ty_keys_row(action);
	char a[TY_KEY_NAME_MAX], b[TY_KEY_NAME_MAX], keys[2 * TY_KEY_NAME_MAX + 2];

	word = word ? word : r->footer;
	if (*word == '+')
		snprintf(keys, sizeof(keys), "%s/%s", ty_key_name(r->keys[0], p->utf8, a),
			 ty_key_name(r[1].keys[0], p->utf8, b));
	else
		snprintf(keys, sizeof(keys), "%s", ty_key_name(r->keys[0], p->utf8, a));
	word += *word == '+';
	if (x + ty_text_width(keys) + 1 + (int)strlen(word) > end)
		return 0;
	if (g) {
		x += ty_grid_text(g, x, y, 30, keys, ty_palette_role(p, TY_ROLE_BARKEY));
		ty_grid_text(g, x + 1, y, 30, word, ty_palette_role(p, TY_ROLE_BAR));
	}
	return ty_text_width(keys) + (int)strlen(word) + 1;
}

void ty_footer_draw(struct ty_grid *g, const struct ty_palette *p, int y,
		    const enum ty_action *keys, const char *const *words, const char *quit)
{
	int x = 1, end = g->w - 11 - (int)strlen(quit), all = -2, gap;

	ty_grid_fill(g, 0, y, g->w, 1, ' ', ty_palette_role(p, TY_ROLE_BAR));
	for (unsigned i = 0; keys[i] != TY_ACT_NONE; i++)
		all += 2 + put(NULL, p, 0, 0, TY_GRID_MAX, keys[i], words ? words[i] : NULL);
	/* Closer on a narrow screen, where more of them fit so. */
	gap = x + all > end && g->w < TY_FOOTER_NARROW ? 1 : 2;
	for (unsigned i = 0; keys[i] != TY_ACT_NONE; i++) {
		const int n = put(g, p, x, y, end, keys[i], words ? words[i] : NULL);

		x += n ? n + gap : 0;
	}
	x = end + 1;
	x += put(g, p, x, y, g->w, TY_ACT_HELP, NULL) + 1;
	put(g, p, x, y, g->w, TY_ACT_QUIT, quit);
}

void ty_footer_say(struct ty_grid *g, const struct ty_palette *p, const char *text)
{
	struct ty_style bar = ty_palette_role(p, TY_ROLE_BAR);
	int n = ty_grid_wrap(NULL, p, 1, 0, 3, g->w - 2, text, bar);

	bar.attr |= TY_A_BOLD;
	ty_grid_fill(g, 0, g->h - n, g->w, n, ' ', bar);
	ty_grid_wrap(g, p, 1, g->h - n, n, g->w - 2, text, bar);
}
