/* SPDX-License-Identifier: MIT */
/*
 * Where executed instructions come from: options and files into a flow (decoder/flow.h). A file is
 * a tarry recording, a perf.data file, or raw PT bytes named by options with the images that belong
 * to them.
 */
#ifndef TY_FLOW_SOURCE_H
#define TY_FLOW_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "flow.h"
#include "flow_names.h"
#include "window_select.h"
#include "texts.h"
#include "trace.h"
#include "vec.h"

struct ty_flow_source {
	struct ty_texts raws;	   /* FILE[,cpu=N][,tid=N] */
	struct ty_texts sidebands; /* FILE[,cpu=N][,sample=HEX] */
	struct ty_texts images;	   /* FILE@ADDR[:OFF:SIZE] */
	struct ty_texts cores;	   /* core dumps */
	struct ty_texts kcores;	   /* copies of /proc/kcore */
	struct ty_texts roots;	   /* directories of the traced machine's files */
	const char *cpu;	   /* F/M/S, NULL: not said */
	const char *time;	   /* ZERO/MULT/SHIFT */
	const char *kallsyms;	   /* NULL: none by itself */
	bool quiet;		   /* nothing on stderr: the screen is a view's */
	uint64_t bad;		   /* records that were malformed */
	struct ty_bytes kernel_names;
	struct ty_flow *flow;
	struct ty_flow_files *files;
	struct ty_trace *trace; /* a tarry recording; NULL */
	struct ty_perf *perf;	/* the packets, read when they are wanted; NULL */
};

/* Read all that was named, and path (NULL: none), into s->flow, started. 0 or -TY_E... */
int ty_flow_source_open(struct ty_flow_source *s, const char *path, struct ty_err *err);
/*
 * Begin with what --from and --to choose of the opened source (all, without), as instructions or
 * branches (ty_flow_seek), or (count not NULL) as runs (ty_flow_seek_runs). Seconds count from the
 * recording's start, of other files from the first time of their packets. 0 or -TY_E...
 */
int ty_flow_source_window(struct ty_flow_source *s, const char *path, const struct ty_select *sel,
			  bool branches, const struct ty_flow_count *count, struct ty_err *err);
/* Names for what was opened, the caller's. NULL: out of memory, with err. */
struct ty_flow_names *ty_flow_source_names(struct ty_flow_source *s, struct ty_err *err);
/* On stderr, when all is shown: how many records were left out, and which files were not what was
 * recorded. */
void ty_flow_source_note(const struct ty_flow_source *s);
/* Give back what open made; the options stay. fini: these, too. Any state. */
void ty_flow_source_close(struct ty_flow_source *s);
void ty_flow_source_fini(struct ty_flow_source *s);

#endif
