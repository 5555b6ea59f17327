/* SPDX-License-Identifier: MIT */
/*
 * The flame graph of a window: a box per function and call path, as wide as its share of the
 * samples; below it (or above) its callees. Opened from the timeline, or on a perf.data file.
 */
#ifndef TY_FLAME_VIEW_H
#define TY_FLAME_VIEW_H

#include "hot_functions.h"
#include "view.h"

/* What it is opened on; everything is borrowed and must outlive the view. */
struct ty_flame_input {
	const struct ty_samples *samples; /* NULL: host->samples_load reads them, aside */
	const struct ty_view_host *host;
	const struct ty_model *model; /* NULL: of a file without one */
	uint64_t from_ns, to_ns;      /* the window [from, to) */
	int32_t tid, pid;	      /* of the row that it was opened from; 0: of none */
	char comm[24];		      /* and the thread's name */
	char when[80];		      /* the window in words */
	const char *note;	      /* a note on missing data in the file; NULL */
	bool aside;		      /* the samples are read in a thread */
};

struct ty_flame_view;

/* NULL: out of memory. in is copied. */
struct ty_flame_view *ty_flame_view_new(const struct ty_flame_input *in);
void ty_flame_view_free(struct ty_flame_view *v);

extern const struct ty_view_ops ty_flame_view_ops; /* self: struct ty_flame_view */

#endif
