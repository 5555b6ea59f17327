/* SPDX-License-Identifier: MIT */
/* The last line: currently useful keys, from the table of keys. */
#ifndef TY_FOOTER_H
#define TY_FOOTER_H

#include "grid.h"
#include "keys.h"
#include "palette.h"

/*
 * keys: most useful first, terminated by TY_ACT_NONE; those that do not fit are omitted, but never
 * help and quit at the right end. words: labels, in the syntax of the table ("+pan": combined with
 * the next action's key); NULL: the table's. quit: label of q.
 */
#define TY_FOOTER_NARROW 100 /* columns of a screen with room for few keys only */
void ty_footer_draw(struct ty_grid *g, const struct ty_palette *p, int y,
		    const enum ty_action *keys, const char *const *words, const char *quit);

/* Shows a sentence instead, in up to three of the last lines. */
void ty_footer_say(struct ty_grid *g, const struct ty_palette *p, const char *text);

#endif
