/* SPDX-License-Identifier: MIT */
/* Shared by the spectrogram's files: state, layout, and counting. */
#ifndef TY_SPECTRUM_PRIV_H
#define TY_SPECTRUM_PRIV_H

#include "process_titles.h"
#include "background.h"
#include "page.h"
#include "spectrum_view.h"

#define TY_SPEC_NAMED	 100u  /* of them with names of files, which cost reading */
#define TY_SPEC_LIST_MAX 1000u /* maximum number of listed spans */

/* Computed in a thread. */
struct ty_spec_counting {
	struct ty_background aside;
	struct ty_explain explain;
	struct ty_spec_query request;
	uint32_t cols;
	struct ty_spectrum s;
	int rc;
};
struct ty_spec_kinding {
	struct ty_background aside;
	struct ty_explain explain;
	struct ty_spec_query request;
	struct ty_spec_kind_sum *v;
	uint32_t n;
	int rc;
};
struct ty_spec_listing {
	struct ty_background aside;
	struct ty_explain explain;
	struct ty_spec_query request;
	bool before;
	uint64_t min_ns, end_ns;
	bool window; /* all of the kind in the window, not those of a cell */
	struct ty_spec_span *v;
	uint32_t n;
	uint64_t all;
	char *object[TY_SPEC_NAMED]; /* what the first ones act on; NULL: unknown */
	int rc;
};

struct ty_spec_layout {
	int w, h;
	int cells_x, cells_w;
	int heat_y, heat_h;
	int panel_x, panel_w; /* 0: none */
	int details_y;	      /* two lines */
};

struct ty_spectrum_view {
	struct ty_spectrum_on on;
	const struct ty_model *m;
	struct ty_spec_kind kind;
	uint8_t scope;	      /* enum ty_spec_scope */
	struct ty_spectrum s; /* counted of `of`; none: s.cols 0 */
	struct ty_spec_query of;
	struct ty_spec_counting counting;
	struct ty_spec_kinding kinding;
	struct ty_spec_listing listing;
	struct ty_spec_kind_sum *kinds; /* of the whole recording and the scope */
	uint32_t kinds_n;
	const char *no_kinds; /* why there are none; NULL: there are */
	unsigned lo, hi; /* bins covered by the rows, extended as data appears; lo == hi: none */
	unsigned bin;	 /* the cursor's */
	bool bin_set;	 /* moved by the user; otherwise it follows the longest */
	bool sel;	 /* a rectangle from here to the cursor: */
	uint64_t sel_ns[2];
	unsigned sel_bin;
	struct ty_spec_layout lay;
	struct ty_page page;
	bool page_of_kinds; /* else of spans */
	bool leads;
	uint32_t lead_thread;
	uint64_t lead_ns;
	char message[200];
};

struct ty_spec_layout ty_spec_layout_make(int w, int h);

/* spectrum_cells.c
 * Rows from the bottom (the shortest) up: [begin(k), begin(k + 1)) are the bins of row k. */
unsigned ty_spec_row_begin(const struct ty_spectrum_view *v, unsigned k);
unsigned ty_spec_row_of(const struct ty_spectrum_view *v, unsigned bin);
/* Columns and rows of a rectangle, or of the cursor's cell. */
struct ty_spec_box {
	uint32_t c0, c1; /* both inclusive */
	unsigned k0, k1;
};
struct ty_spec_box ty_spec_box(const struct ty_spectrum_view *v);
uint64_t ty_spec_count(const struct ty_spectrum_view *v, const struct ty_spec_box *b);
/* The request for a part of the time. */
struct ty_spec_query ty_spec_query_of(const struct ty_spectrum_view *v, uint64_t from, uint64_t to);
bool ty_spec_query_same(const struct ty_spec_query *a, const struct ty_spec_query *b);
/* True when the counts are those of the displayed window. */
bool ty_spec_is_counted(const struct ty_spectrum_view *v);

/* spectrum_draw.c */
void ty_spec_draw(void *self, struct ty_grid *g, const struct ty_palette *p);
/* "webserver/100" of a thread at a time; returns out. */
#define TY_SPEC_THREAD_NAME_MAX TY_WHO_MAX
const char *ty_spec_thread_name(const struct ty_spectrum_view *v, uint32_t thread, uint64_t at_ns,
				char out[TY_SPEC_THREAD_NAME_MAX]);

#endif
