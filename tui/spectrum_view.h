/* SPDX-License-Identifier: MIT */
/*
 * The spectrogram: latencies over time (analysis/spectrum.h), a view above the timeline that shares
 * its window, cursor time and clock. Columns are time, rows are lengths (powers of two, the longest
 * on top); glyph and colour show how many began in a cell. A cell or rectangle lists its spans.
 * Counts are computed in the background.
 */
#ifndef TY_SPECTRUM_VIEW_H
#define TY_SPECTRUM_VIEW_H

#include "gaps.h"
#include "spectrum.h"
#include "view.h"
#include "viewport.h"

struct ty_spectrum_view;

/* Shared with the timeline; borrowed. */
struct ty_spectrum_on {
	const struct ty_view_input *in;
	const struct ty_gaps *gaps;
	struct ty_viewport *vp;
	uint64_t *cursor_ns;
	const enum ty_clock *clock;
	struct ty_spec_kind kind; /* initially */
	uint32_t thread;	  /* thread of the cursor's row; TY_NONE: none */
};

/* NULL: out of memory. */
struct ty_spectrum_view *ty_spectrum_view_new(const struct ty_spectrum_on *on);
void ty_spectrum_view_free(struct ty_spectrum_view *v);
/* True when it was closed to go to a thread and time (TY_NONE: no thread). calls: to its system
 * calls. */
bool ty_spectrum_view_leads(const struct ty_spectrum_view *v, uint32_t *thread, uint64_t *at_ns,
			    bool *calls);

extern const struct ty_view_ops ty_spectrum_view_ops;

#endif
