/* SPDX-License-Identifier: MIT */
/* What the parts of tarry view share. */
#ifndef TY_VIEW_PRIV_H
#define TY_VIEW_PRIV_H

#include "app.h"
#include "flow_source.h"
#include "mem_session.h"
#include "reader_options.h"
#include "report_log.h"
#include "session.h"
#include "window_select.h"

struct ty_view_options {
	struct ty_select sel;
	const char *path, *color; /* color NULL: auto */
	bool print, keys_man;
	int w, h; /* 0: by the environment */
	uint32_t at_finding;
	struct ty_report_logs logs;
	struct ty_flow_source flow; /* where code is */
	uint64_t samples_bytes;	    /* memory samples' part of --memory */
};

/* The source of the names of memory samples' addresses. */
static inline struct ty_mem_options ty_view_name_files(const struct ty_view_options *o)
{
	return (struct ty_mem_options){.roots = o->flow.roots, .kallsyms = o->flow.kallsyms};
}

/* Until the user quits, or one frame on standard output (--print). As ty_app_show. */
int ty_view_show(const struct ty_view_options *o, const struct ty_app_input *in,
		 struct ty_err *err);
/* The timeline of a recording, until it is left; s: zeroed, to be ended by the caller. 0, -TY_E...
 * or the signal that ended it. */
int ty_view_timeline(struct ty_view_options *o, struct ty_session *s, struct ty_err *err);

#endif
