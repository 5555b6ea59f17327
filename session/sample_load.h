/* SPDX-License-Identifier: MIT */
/*
 * The samples of a recording, or of any perf.data file, unwound and named: into a table of the
 * model (samples.h). Files of the traced machine are found as flow_files.h says.
 */
#ifndef TY_SAMPLE_LOAD_H
#define TY_SAMPLE_LOAD_H

#include <stdatomic.h>

#include "err.h"
#include "samples.h"
#include "texts.h"
#include "trace.h"

struct ty_sample_load_opts {
	const struct ty_texts *roots; /* --symfs; NULL: none */
	bool innermost;		      /* the innermost frame only, without lines of runtimes */
	const char *nameless; /* only those that ran in what has no symbol of this module, "": in no
				 module; NULL: all */
	bool branches;	      /* branch stacks, too */
	const atomic_bool *stop; /* set by another thread: -TY_EINTR; NULL */
	bool quiet;		 /* nothing on stderr */
};

/* Has the recording any? */
bool ty_samples_recorded(const struct ty_trace *t);
/* Of a recording; -TY_ENOTFOUND: it has none. 0 or -TY_E... with err; *out is the caller's. */
int ty_samples_of_trace(const struct ty_trace *t, const struct ty_sample_load_opts *o,
			struct ty_samples **out, struct ty_err *err);
/* Of a perf.data file: of the event with most samples that is no tracepoint. As above. */
int ty_samples_of_perf(const char *path, const struct ty_sample_load_opts *o,
		       struct ty_samples **out, struct ty_err *err);
/* Why a recording has none, as a clause. */
void ty_samples_why_none(const struct ty_trace *t, char *why, size_t n);

#endif
