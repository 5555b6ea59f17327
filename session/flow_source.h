/* SPDX-License-Identifier: MIT */
/*
 * Opens sources of executed instructions: options and files into a flow (decoder/flow.h). A file is
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

struct ty_flow_source {
	struct ty_texts raws;	   /* FILE[,cpu=N][,tid=N] */
	struct ty_texts sidebands; /* FILE[,cpu=N][,sample=HEX] */
	struct ty_texts images;	   /* FILE@ADDR[:OFF:SIZE] */
	struct ty_texts cores;	   /* core dumps */
	struct ty_texts kcores;	   /* copies of /proc/kcore */
	struct ty_texts roots;	   /* directories of the traced machine's files */
	const char *cpu;	   /* F/M/S, NULL: not given */
	const char *time;	   /* ZERO/MULT/SHIFT */
	const char *kallsyms;	   /* NULL: none was given */
	uint64_t memory_bytes;	   /* of decoding; 0: the default */
	bool quiet;		   /* print nothing on stderr: the timeline uses the screen */
	uint64_t bad;		   /* malformed records */
	struct ty_bytes kernel_names;
	struct ty_flow *flow;
	struct ty_flow_files *files;
	struct ty_trace *trace; /* a tarry recording; NULL */
	struct ty_perf *perf;	/* the packets, read on demand; NULL */
	uint64_t start_ns;	/* ty_flow_source_start's; 0: not known yet */
};

/* Reads all named sources, and path (NULL: none), into s->flow, started. 0 or -TY_E... */
int ty_flow_source_open(struct ty_flow_source *s, const char *path, struct ty_err *err);
/*
 * Seeks to the range of --from and --to (without them, everything) of the opened source, as
 * instructions or branches (ty_flow_seek), or (count not NULL) as runs (ty_flow_seek_runs). Seconds
 * count from the recording's start; in other files from the first time in their packets. 0 or
 * -TY_E...
 */
int ty_flow_source_window(struct ty_flow_source *s, const char *path, const struct ty_select *sel,
			  bool branches, const struct ty_flow_count *count, struct ty_err *err);
/* Where these seconds count from, in ns of the trace clock; 0: its packets have no times. 0 or
 * -TY_E... */
int ty_flow_source_start(struct ty_flow_source *s, const char *path, uint64_t *start_ns,
			 struct ty_err *err);
/* Creates names for the opened source, owned by the caller. NULL: out of memory, with err. */
struct ty_flow_names *ty_flow_source_names(struct ty_flow_source *s, struct ty_err *err);
/* Prints on stderr, at the end: the number of records left out, and the files that differ from the
 * recorded ones. */
void ty_flow_source_note(const struct ty_flow_source *s);
/* Frees what open created; the options stay. fini frees these, too. Any state. */
void ty_flow_source_close(struct ty_flow_source *s);
void ty_flow_source_fini(struct ty_flow_source *s);

#endif
