/* SPDX-License-Identifier: MIT */
/* How cells of memory samples look: height is the longest latency, colour how many, or from where.
 */
#ifndef TY_HEAT_H
#define TY_HEAT_H

#include "glyphs.h"
#include "mem_heat.h"

/* One cell of a strip: a bar of eight heights, each four times the latency of the one below (up to
 * 3, 15, 63 ... cycles); a dot for samples without a latency. The colour tells how many samples,
 * or by_source how far the farthest came from; where there are no colours a letter does that
 * instead of the bar: ? not known, c a cache of the core's, m memory, o another core or socket. */
struct ty_glyph ty_heat_glyph(const struct ty_palette *p, const struct ty_mem_heat_cell *c,
			      bool by_source);
/* The colour of a distance (enum ty_mem_far). */
struct ty_style ty_heat_source(unsigned far);
#endif
