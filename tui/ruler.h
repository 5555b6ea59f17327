/* SPDX-License-Identifier: MIT */
/* Formatted times, the ruler above the rows, and the overview of the recording. */
#ifndef TY_RULER_H
#define TY_RULER_H

#include <stdint.h>

#include "time_format.h"
#include "stall_list.h"
#include "gaps.h"
#include "grid.h"
#include "viewport.h"

/* "12.345678 s": t_ns (from the start) with the decimals that res_ns needs, at most 9. */
const char *ty_fmt_time(uint64_t t_ns, uint64_t res_ns, char out[TY_TIME_MAX]);
/* A length with enough digits to compare: "3.001 s", "12.345 ms", "45.120 us", "80 ns". */
const char *ty_fmt_length(uint64_t ns, char out[TY_TIME_MAX]);

/* Draws the time ruler over w cells: round steps, a mark above the cursor's cell (cursor < 0:
 * none). Labels are relative to the recording's start, or in another clock of the model. m may be
 * NULL for the start. taken: cells without labels, because a symbol follows; NULL: none. */
void ty_ruler_draw(struct ty_grid *g, const struct ty_palette *p, int x, int y, int w,
		   const struct ty_viewport *v, const struct ty_model *m, enum ty_clock clock,
		   int cursor, const uint8_t *taken);

/* Draws the whole recording in w cells: the number of findings in each, lost events ('!'), and the
 * window. */
void ty_minimap_draw(struct ty_grid *g, const struct ty_palette *p, int x, int y, int w,
		     const struct ty_viewport *v, const struct ty_findings *f,
		     const struct ty_gaps *gaps);

#endif
