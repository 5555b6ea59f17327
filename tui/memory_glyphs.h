/* SPDX-License-Identifier: MIT */
/* Appearance of cells of memory samples: height is the longest latency, colour the number or the
 * source. */
#ifndef TY_MEMORY_GLYPHS_H
#define TY_MEMORY_GLYPHS_H

#include "glyphs.h"
#include "mem_heat.h"

/* One cell of a strip: a bar of eight heights, each four times the latency of the one below (up to
 * 3, 15, 63 ... cycles); a dot for samples without a latency. The colour shows the number of
 * samples, or (by_source) the farthest source; without colours a letter replaces the bar: ?
 * unknown, c a cache of the core's, m memory, o another core or socket. */
struct ty_glyph ty_memory_glyph(const struct ty_palette *p, const struct ty_mem_heat_cell *c,
				bool by_source);
/* The colour of a distance (enum ty_mem_far). */
struct ty_style ty_memory_source_style(unsigned far);
#endif
