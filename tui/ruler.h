/* SPDX-License-Identifier: MIT */
/* Times as they are written, the ruler above the rows, and the overview of the recording. */
#ifndef TY_RULER_H
#define TY_RULER_H

#include <stdint.h>

#include "clock_time.h"
#include "findings.h"
#include "gaps.h"
#include "grid.h"
#include "viewport.h"

/* "12.345678 s": t_ns (from the start) with as many decimals as res_ns asks for, at most 9. */
const char *ty_fmt_time(uint64_t t_ns, uint64_t res_ns, char out[TY_TIME_MAX]);
/* A length with enough digits to compare: "3.001 s", "12.345 ms", "45.120 us", "80 ns". */
const char *ty_fmt_length(uint64_t ns, char out[TY_TIME_MAX]);

/* The time ruler over w cells: round steps, a mark above the cursor's cell (cursor < 0: none).
 * Labels are from the recording's start, or in another clock of the model. m may be NULL for the
 * start. taken: per cell, a sign will be put there and no label may stand; NULL: none. */
void ty_ruler_draw(struct ty_grid *g, const struct ty_palette *p, int x, int y, int w,
		   const struct ty_viewport *v, const struct ty_model *m, enum ty_clock clock,
		   int cursor, const uint8_t *taken);

/* The whole recording in w cells: how many of the findings' waits cover each, where events were
 * lost
 * ('!'), and the window. */
void ty_minimap_draw(struct ty_grid *g, const struct ty_palette *p, int x, int y, int w,
		     const struct ty_viewport *v, const struct ty_findings *f,
		     const struct ty_gaps *gaps);

#endif
