/* SPDX-License-Identifier: MIT */
/* Memory samples of a file for the timeline: reads them into points, with names for addresses. */
#ifndef TY_VIEW_MEMORY_H
#define TY_VIEW_MEMORY_H

#include "mem_names.h"
#include "mem_session.h"
#include "memory_view.h"

struct ty_view_memory {
	struct ty_trace *trace; /* of a recording: borrowed; NULL: a perf.data file */
	uint64_t start_ns, end_ns;
	struct ty_mem_session s;
	struct ty_mem_options files; /* sources of names; borrowed */
	uint64_t memory_bytes;
	bool no_index, aside; /* aside: see ty_memory_input */
	struct ty_mem_names *names;
	const struct ty_mem_points *points;
	struct ty_memory_input in;
};

/* Opens a file by its path. 0 or -TY_E... with err; call fini in any state. */
int ty_view_memory_open(struct ty_view_memory *v, const char *path, const struct ty_select *sel,
			struct ty_err *err);
/* As in struct ty_view_host: those of v->trace. */
int ty_view_memory_load(struct ty_view_memory *v, const atomic_bool *stop,
			const struct ty_memory_input **out, struct ty_err *err);
/* As ty_mem_session_check, if samples were read. */
int ty_view_memory_check(const struct ty_view_memory *v, struct ty_err *err);
/* Call when the terminal is restored, or was never used. */
void ty_view_memory_fini(struct ty_view_memory *v);

#endif
