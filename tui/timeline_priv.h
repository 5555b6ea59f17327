/* SPDX-License-Identifier: MIT */
/* What the timeline's own files share: its state and its layout. */
#ifndef TY_TIMELINE_PRIV_H
#define TY_TIMELINE_PRIV_H

#include "findings.h"
#include "gaps.h"
#include "timeline.h"
#include "tracks.h"
#include "viewport.h"

/* Where things are on a screen of w x h. A height of 0: not shown. */
struct ty_layout {
	int w, h;
	int label_w; /* columns of names, the separator included */
	int cells_x, cells_w;
	int minimap_y; /* -1: none */
	int ruler_y;
	int rows_y, rows_h;
	int list_y, list_h;	  /* its headline included */
	int details_y, details_h; /* its headline included */
	int footer_y;
};
struct ty_layout ty_layout_make(int w, int h, uint32_t rows, uint32_t findings, bool list_focus);

#define TY_DETAIL_LINES 6
#define TY_DETAIL_MAX	320

struct ty_timeline {
	const struct ty_view_input *in;
	const struct ty_model *m;
	struct ty_viewport vp;
	struct ty_tracks tracks;
	struct ty_findings findings;
	struct ty_gaps gaps;
	struct ty_layout lay;
	uint64_t cursor_ns; /* in the window */
	uint32_t row, top;  /* selected row, first row on the screen */
	uint32_t finding, list_top;
	uint32_t below; /* rows below the selected one that must be on the screen, too */
	bool list_focus;
	bool prompt;
	bool note_seen; /* a key was pressed since the note about the file was shown */
	char input[32];
	char message[120];     /* shown once in the footer's place */
	struct ty_cell *cells; /* one row's */
	int cells_n;
	/* Arguments of the last system call looked at: reading them again costs a decompression. */
	uint32_t args_of;
	char args[200];
};

/* "name/tid" of a thread at an instant; returns out. */
#define TY_WHO_MAX 48
const char *ty_timeline_who(const struct ty_timeline *t, uint32_t thread, uint64_t at_ns,
			    char out[TY_WHO_MAX]);

/* Lay out for a screen of w x h and bring the selected things onto it. 0 or -TY_ENOMEM. */
int ty_timeline_settle(struct ty_timeline *t, int w, int h);

/* What is under the cursor, one line each; returns how many lines. */
unsigned ty_details(struct ty_timeline *t, char lines[TY_DETAIL_LINES][TY_DETAIL_MAX]);
/* The track of a row that is one track; false for heads. */
bool ty_timeline_track(const struct ty_timeline *t, uint32_t row, struct ty_track *track);
/* The span under the cursor: subject of the cursor's cell; false when there is none. */
bool ty_timeline_subject(const struct ty_timeline *t, struct ty_track *track, struct ty_cell *cell,
			 uint32_t *idx, uint64_t *from_ns, uint64_t *to_ns);

void ty_timeline_draw(void *self, struct ty_grid *g, const struct ty_palette *p);

#endif
