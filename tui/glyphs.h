/* SPDX-License-Identifier: MIT */
/*
 * Appearance of a track's cell. Running is a solid block, waiting is a line, so that a busy thread
 * stands out, and states differ by shape as well as by colour.
 *
 *   one state     its glyph
 *   two spans     where one ends and the other begins, to an eighth of a cell; two runs of a CPU
 *                 by two shades, or by a line
 *   many spans    a bar as high as the share of running time
 *   and where a much longer wait hides among many short spans, that wait's glyph (on a row of
 *   system calls: a square for the much longer call): a stall keeps its sign at every zoom.
 *   Where events were lost: '!'. Where one was only never delivered the state stays readable; the
 *   run that was cut by it starts or ends like an inferred one.
 *
 * Without UTF-8: letters (ty_state_letter); 'r' for "ran, but less than half of the cell".
 */
#ifndef TY_GLYPHS_H
#define TY_GLYPHS_H

#include <stdbool.h>
#include <stdint.h>

#include "gaps.h"
#include "model.h"
#include "palette.h"

struct ty_glyph {
	uint32_t ch;
	struct ty_style st;
};

struct ty_glyph ty_glyph_state(const struct ty_palette *p, enum ty_state s);
enum ty_color ty_state_color(enum ty_state s);

/* A bar of `eighths` (0..8) of a cell's height. Without UTF-8: ' ', '.', ':', '#'. */
struct ty_glyph ty_glyph_bar(const struct ty_palette *p, unsigned eighths, uint8_t fg);

/* The idx-th span of a track of any kind (system calls: RUNNING inside the call). */
struct ty_span ty_track_span(const struct ty_model *m, struct ty_track t, uint32_t idx);

/* The span that represents the cell [from, to), in the drawing and in the details. TY_NONE:
 * none. */
uint32_t ty_cell_subject(const struct ty_model *m, struct ty_track t, const struct ty_cell *c,
			 uint64_t from_ns, uint64_t to_ns);

/* True when it hides a span much longer than the others (c->longest_whole). */
bool ty_cell_hides(const struct ty_model *m, struct ty_track t, const struct ty_cell *c,
		   uint64_t width_ns);
/* True when events were lost inside it (rather than never delivered). */
bool ty_cell_lost(const struct ty_gaps *gaps, struct ty_track t, const struct ty_cell *c,
		  uint64_t from_ns, uint64_t to_ns);

/*
 * Whether a row of system calls or interrupts is complete in [from, to). LOST: lost events may have
 * belonged to it; NOT: the thread is unknown here. state: the cell of the thread's own track; NULL:
 * it is known throughout, without lost events.
 */
enum ty_known { TY_KNOWN, TY_KNOWN_NOT, TY_KNOWN_LOST };
enum ty_known ty_calls_known(const struct ty_model *m, const struct ty_gaps *gaps,
			     struct ty_track t, const struct ty_cell *c,
			     const struct ty_cell *state, uint64_t from_ns, uint64_t to_ns);

/* Colour of the idx-th run of a CPU; neighbours differ. */
enum ty_color ty_run_color(uint32_t idx);

/* The glyph of a CPU's or thread's cell [from, to). */
struct ty_glyph ty_glyph_cell(const struct ty_palette *p, const struct ty_model *m,
			      const struct ty_gaps *gaps, struct ty_track t,
			      const struct ty_cell *c, uint64_t from_ns, uint64_t to_ns);

#endif
