/* SPDX-License-Identifier: MIT */
/*
 * Draws the calls of a part of executed instructions (flow_part.h) as nested spans along an axis,
 * for the instruction view and for the timeline's own rows. Drawing costs columns x log(calls) per
 * row.
 *
 * The axis is finer than a nanosecond, so that a window can hold a few instructions: units of 1/256
 * ns from the recording's start, or of 1/1000 of an instruction. Instructions between two time
 * stamps are spaced evenly, in order; callers that show single instructions mark those with a time
 * stamp of their own.
 */
#ifndef TY_FLOW_SPANS_H
#define TY_FLOW_SPANS_H

#include "flow_part.h"
#include "glyphs.h"
#include "grid.h"
#include "viewport.h"

#define TY_FLOW_PER_NS	 256u
#define TY_FLOW_PER_INSN 1000u

struct ty_flow_axis {
	const struct ty_flow_part *part; /* NULL: none */
	const struct ty_viewport *vp;
	uint64_t start_ns; /* of the recording */
	bool by_insn;
	int x, w; /* columns on the screen */
};

/* Position of a step on the axis. */
uint64_t ty_flow_axis_pos(const struct ty_flow_axis *a, uint32_t step);
/* The first step at or after a position. */
uint32_t ty_flow_axis_step(const struct ty_flow_axis *a, uint64_t pos);

/* Draws the calls of one depth in line y. */
void ty_flow_spans_draw(const struct ty_flow_axis *a, struct ty_grid *g, const struct ty_palette *p,
			uint32_t depth, int y);
/* Marks undecoded parts over h lines from y on, because the part is cut; gaps in the first line. */
void ty_flow_gaps_draw(const struct ty_flow_axis *a, struct ty_grid *g, const struct ty_palette *p,
		       int y, int h);
/* "leaf: 14 instructions, 1.234 us < middle < main": the call at a step and its callers. */
void ty_flow_path_text(const struct ty_flow_part *part, uint32_t step, char *out, size_t n);
/* A name without the brackets that mark it as not a symbol, because calls are drawn in brackets,
 * too. */
const char *ty_flow_bare(const char *name, char out[256]);

#endif
