/* SPDX-License-Identifier: MIT */
/* Internals of the memory view: state (memory_view.c), panes (memory_pane.c) and tables
 * (memory_list.c). */
#ifndef TY_MEMORY_PRIV_H
#define TY_MEMORY_PRIV_H

#include "background.h"
#include "memory_glyphs.h"
#include "memory_query.h"
#include "memory.h"
#include "memory_view.h"
#include "page.h"
#include "sharing.h"
#include "vec.h"
#include "viewport.h"

/* The pane above the time axis. */
enum ty_memory_pane {
	TY_MEMORY_LATENCY, /* scatter of latencies */
	TY_MEMORY_THREADS, /* a strip per thread */
	TY_MEMORY_CPUS,	   /* a strip per CPU */
	TY_MEMORY_LINE,	   /* a shared cache line: a row per thread */
	TY_MEMORY_PANES
};
/* The table below it. */
enum ty_memory_table_kind {
	TY_MEMORY_OF_PC,
	TY_MEMORY_OF_SOURCE,
	TY_MEMORY_OF_PAGE,
	TY_MEMORY_OF_THREAD,
	TY_MEMORY_OF_SHARING,
	TY_MEMORY_TABLES
};

struct ty_memory_bin {
	uint32_t n;
	uint8_t far; /* the farthest source */
};

/* A cell of a line's row. */
struct ty_memory_turn {
	uint32_t reads, writes;
	uint8_t far;
};

struct ty_memory_strip {
	uint32_t id; /* thread in the points, or CPU */
	uint64_t n;  /* samples in the window */
};

/* A shared line whose accesses are over the axis. */
struct ty_memory_line {
	bool made;
	struct ty_sharing_line line;
	VEC(struct ty_sharing_site) sites; /* one of each thread: a row */
	VEC(uint32_t) access;		   /* of the whole recording, in time order */
};

/* A corner of the selection: the edges of its cell, and its row's latencies or strips. */
struct ty_memory_corner {
	uint64_t from_ns, to_ns;
	uint32_t low, high; /* octaves; places of strips or rows */
};

/* Input of a table. */
struct ty_memory_want {
	uint64_t first, n;
	unsigned by, pane;
	bool selected; /* only samples in the box */
	bool choosing; /* row `at` becomes the line above the axis */
	int at;
	struct ty_memory_corner box;
};

/* A table computed in a thread, which owns its result until it is done. */
struct ty_memory_job {
	struct ty_background aside;
	struct ty_memory_want want;
	int rc;
	struct ty_memory_table table;
	struct ty_sharing sharing;
	struct ty_memory_line line;
};

/* The shared lines of the whole recording, found in a thread when the view is opened. */
struct ty_memory_news {
	struct ty_background aside;
	bool begun;
	struct ty_sharing found;   /* the thread's, until it has ended */
	struct ty_sharing sharing; /* the view's */
};

/* Strips computed in a thread. */
struct ty_memory_strips_job {
	struct ty_background aside;
	enum ty_mem_heat_by by;
	int rc;
	struct ty_mem_heat *heat;
};

/* A filter of the samples (memory_filter.c). */
struct ty_memory_filter {
	struct ty_background aside;
	struct ty_memory_query *query, *wanted; /* in force; being applied, by the thread; NULL */
	struct ty_mem_points points, made;	/* what matches */
	int rc;
};

struct ty_memory_view {
	const struct ty_memory_input *in;
	const struct ty_mem_points *points; /* of the input, or of the filter */
	struct ty_memory_filter filter;
	bool child; /* opened above the timeline: it can be closed */
	struct ty_viewport vp;
	uint64_t cursor_ns;
	unsigned pane;	/* enum ty_memory_pane */
	bool by_source; /* colours of strips */
	int row;	/* row of the cursor in the pane */
	/* Last layout of the pane, and the data for it. */
	int label_w, x, w, h;
	bool filled, refill; /* refill: new strips are available */
	uint64_t fill_from, fill_to;
	int fill_w;
	uint64_t shown; /* samples of the scatter */
	uint64_t timed; /* samples in the window */
	uint64_t hist[TY_MEM_OCTAVES];
	struct ty_memory_bin *bin; /* octaves by w */
	struct ty_mem_heat *heat[2];
	VEC(struct ty_memory_strip) strips; /* in the window, most samples first */
	int strip_top;
	struct ty_memory_line line;
	bool choosing; /* the table's chosen row is to be the line */
	/* The selection. */
	bool selecting, held, dragging;
	struct ty_memory_corner a, b;
	uint64_t first, n; /* the window's samples, and others: where, how many */
	struct ty_memory_job job;
	struct ty_memory_strips_job heats;
	struct ty_memory_news news;
	unsigned by; /* enum ty_memory_table_kind */
	int at, top; /* chosen row of the table, first one on the screen */
	int table_y; /* of its heading */
	bool counted, failed;
	struct ty_memory_table table;
	struct ty_sharing sharing;
	struct ty_page page;
	struct ty_list_find find;      /* in the rows of the table */
	char ask[TY_MEMORY_QUERY_MAX]; /* the filter that is being typed */
	bool asking;
	char message[200]; /* until the next key */
};

/* memory_box.c */
bool ty_memory_selected(const struct ty_memory_view *v, struct ty_memory_corner *box);
/* True when the sample is in the window [from, to). */
static inline bool ty_memory_inside(const struct ty_mem_point *o, uint64_t from, uint64_t to)
{
	return o->flags & TY_MP_HAS_TIME && o->ts_ns >= from && o->ts_ns < to;
}
static inline bool ty_memory_all_rows(const struct ty_memory_corner *box)
{
	return !box->low && box->high == UINT32_MAX;
}
/* True when the sample is in the box. For a line's pane the caller selects among the accesses. */
bool ty_memory_in_box(const struct ty_memory_view *v, const struct ty_memory_corner *box,
		      const struct ty_mem_point *o);

int ty_memory_rows(const struct ty_memory_view *v); /* of strips or of the line; else h */
/* Lowest octave of a row of the scatter, counted from below; a row covers several when space is
 * short. */
uint32_t ty_memory_row_octave(const struct ty_memory_view *v, int r);
struct ty_memory_corner ty_memory_cell(const struct ty_memory_view *v, uint64_t at_ns, int row);

/* memory_count.c */
/* Starts computing the table to show, or takes a finished one. True: there is something new. */
bool ty_memory_count_step(struct ty_memory_view *v);
/* Cancels the table being computed; cancels all computations. */
void ty_memory_count_forget(struct ty_memory_view *v);
void ty_memory_count_stop(struct ty_memory_view *v);
void ty_memory_strips_drop(struct ty_memory_view *v);
/* True when the pane's strips are still missing. */
bool ty_memory_wants_strips(const struct ty_memory_view *v);
void ty_memory_line_drop(struct ty_memory_line *l);

/* memory_pane.c */
void ty_memory_lay_out(struct ty_memory_view *v, const struct ty_grid *g);
void ty_memory_fill(struct ty_memory_view *v);
void ty_memory_draw_pane(struct ty_memory_view *v, struct ty_grid *g, const struct ty_palette *p,
			 int y);

/* memory_list.c */
#define TY_MEMORY_ROW_TEXT 400
/* 0 while it is counted. */
int ty_memory_table_rows(const struct ty_memory_view *v);
/* A row of the table; wide: with all of its columns. */
void ty_memory_row_text(const struct ty_memory_view *v, int row, bool wide,
			char out[TY_MEMORY_ROW_TEXT]);
void ty_memory_draw_table(struct ty_memory_view *v, struct ty_grid *g, const struct ty_palette *p,
			  int y, int h);
/* Shows the records of the selection, else of the table's chosen row (column: of the cursor's
 * column), as a page. */
void ty_memory_records(struct ty_memory_view *v, bool column);
struct ty_help_topic ty_memory_help(const void *self);

/* memory_filter.c */
/* Applies the filter; "": none. A sentence becomes the view's message. */
void ty_memory_filter(struct ty_memory_view *v, const char *text);
/* Takes a filter that was made; true: something changed. */
bool ty_memory_filter_step(struct ty_memory_view *v);
void ty_memory_filter_fini(struct ty_memory_view *v);
const char *ty_memory_filter_text(const struct ty_memory_view *v); /* in force; NULL: none */

/* memory_sites.c */
/* The accesses to the chosen line. */
void ty_memory_draw_sites(const struct ty_memory_view *v, struct ty_grid *g,
			  const struct ty_palette *p, int y, int h);
/* The sentence about the falsely shared line that costs most; false: there is none. */
bool ty_memory_news(const struct ty_memory_view *v, char *buf, size_t n);
/* Chooses that line. */
bool ty_memory_open_news(struct ty_memory_view *v);

#endif
