/* SPDX-License-Identifier: MIT */
/*
 * The spectrogram: latencies over time (analysis/spectrum.h), a view above the timeline that shares
 * its window, cursor time and clock. Columns are time, rows are lengths (powers of two, the longest
 * on top); glyph and colour tell how many began in a cell. A cell or rectangle lists its spans.
 * Counting is done aside: the picture follows the window as soon as it is counted.
 */
#ifndef TY_SPECTRUM_VIEW_H
#define TY_SPECTRUM_VIEW_H

#include "gaps.h"
#include "spectrum.h"
#include "view.h"
#include "viewport.h"

struct ty_spectrum_view;

/* What it shares with the timeline; borrowed. */
struct ty_spectrum_on {
	const struct ty_view_input *in;
	const struct ty_gaps *gaps;
	struct ty_viewport *vp;
	uint64_t *cursor_ns;
	const enum ty_clock *clock;
	struct ty_spec_kind kind; /* at first */
	uint32_t thread;	  /* of the row the cursor is on; TY_NONE: no thread's */
};

/* NULL: out of memory. */
struct ty_spectrum_view *ty_spectrum_view_new(const struct ty_spectrum_on *on);
void ty_spectrum_view_free(struct ty_spectrum_view *v);
/* Was it left for an instant of a thread (TY_NONE: of none)? calls: of its system calls. */
bool ty_spectrum_view_leads(const struct ty_spectrum_view *v, uint32_t *thread, uint64_t *at_ns,
			    bool *calls);

extern const struct ty_view_ops ty_spectrum_view_ops;

#endif
