/* SPDX-License-Identifier: MIT */
/* The last line: the keys that count now, as the table of keys has them. */
#ifndef TY_FOOTER_H
#define TY_FOOTER_H

#include "grid.h"
#include "keys.h"
#include "palette.h"

/*
 * keys: the most needed first, TY_ACT_NONE ends them; what does not fit is left out, but never help
 * and the way out at the right end. words: what to call each, as in the table ("+pan": together
 * with the next action's key); NULL: as the table does. quit: what q does.
 */
void ty_footer_draw(struct ty_grid *g, const struct ty_palette *p, int y,
		    const enum ty_action *keys, const char *const *words, const char *quit);

/* A sentence in their place, over as many of the last lines as it needs (three at most). */
void ty_footer_say(struct ty_grid *g, const struct ty_palette *p, const char *text);

#endif
