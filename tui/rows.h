/* SPDX-License-Identifier: MIT */
/* Drawing the rows: labels, states, system calls, heads. */
#ifndef TY_ROWS_H
#define TY_ROWS_H

#include "timeline_priv.h"

/* All visible rows into their place of the layout. Cost: visible cells x log(spans). */
void ty_rows_draw(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p);

#endif
