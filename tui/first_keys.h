/* SPDX-License-Identifier: MIT */
/* The card of the first keys, over the timeline when a user opens it for the first time. */
#ifndef TY_FIRST_KEYS_H
#define TY_FIRST_KEYS_H

#include "grid.h"
#include "palette.h"

/* In the middle of the screen. False: it does not fit. */
bool ty_first_keys_draw(struct ty_grid *g, const struct ty_palette *p);

#endif
