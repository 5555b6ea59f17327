/* SPDX-License-Identifier: MIT */
/* Opens files with memory samples: a perf.data file, a tarry recording that has them (in its
 * section TY_SEC_PERF, a perf.data file in pipe form), or one bare SPE stream. */
#ifndef TY_MEM_SESSION_H
#define TY_MEM_SESSION_H

#include <stdatomic.h>

#include "window_select.h"
#include "mem_names.h"
#include "mem_points.h"
#include "mem_stream.h"
#include "perf_data.h"

struct ty_mem_session {
	const char *path;
	struct ty_perf *perf;
	struct ty_trace *trace;	   /* it is a recording; NULL */
	bool borrowed;		   /* the trace belongs to the caller */
	uint64_t start_ns, end_ns; /* of the recording; 0, 0: it consists of samples only */
	int fd;			   /* of a bare stream; -1 */
	struct ty_mem_stream *stream;
	struct ty_mem_points whole, part; /* see ty_mem_session_points */
	uint64_t midr;			  /* of a bare stream, as given; 0 */
	bool no_index;			  /* --no-index */
	bool show_progress; /* show progress while reading points, on stderr when that is a terminal
			     */
	const atomic_bool *stop; /* see ty_mem_session_of_trace */
};

/* Options: a bare stream and its core; sources of names. */
struct ty_mem_options {
	const char *raw;       /* --spe-raw FILE */
	const char *midr;      /* --midr HEX */
	struct ty_texts roots; /* --symfs DIR */
	const char *kallsyms;  /* --kallsyms FILE */
};

/* Opens path (default tarry.dat when NULL) or o->raw. A note about missing data is printed on
 * stderr. 0 or -TY_E.... Call fini in any state. */
int ty_mem_session_open(struct ty_mem_session *s, const char *path, const struct ty_mem_options *o,
			struct ty_err *err);
/* The samples of a trace that is open already, and remains the caller's. stop: set by another
 * thread to cancel this and the reading of points; NULL. -TY_ENOTFOUND: it has none. */
int ty_mem_session_of_trace(struct ty_mem_session *s, struct ty_trace *t, const atomic_bool *stop,
			    struct ty_err *err);
void ty_mem_session_fini(struct ty_mem_session *s);

/* Resolves --from and --to against the samples' times (one pass over them if given). */
int ty_mem_session_window(struct ty_mem_session *s, const struct ty_select *sel,
			  struct ty_window *w, struct ty_err *err);
/* True when the item is selected by time, thread, name and CPU. An item without a time is in no
 * time range. */
bool ty_mem_chosen(const struct ty_mem_stream *s, const struct ty_window *w,
		   const struct ty_mem *m);

/* Working memory besides the points, as in ty_mem_work. */
uint64_t ty_mem_session_work_bytes(const struct ty_select *sel);
/* Returns all selected samples as points, within sel->memory_bytes: read from the index file, which
 * is written when there is none (unless sel->no_index). Owned by the session. 0 or -TY_E... with
 * err (-TY_EINTR: stopped). */
int ty_mem_session_points(struct ty_mem_session *s, const struct ty_select *sel,
			  const struct ty_mem_points **out, struct ty_err *err);
/* -TY_EFORMAT when the index file turned out to be damaged; it is removed in that case. */
int ty_mem_session_check(const struct ty_mem_session *s, struct ty_err *err);
/* Creates names for the session, to be freed before it. 0 or -TY_E... with err; free *out in either
 * case. */
int ty_mem_session_names(const struct ty_mem_session *s, const struct ty_mem_options *o,
			 struct ty_mem_names **out, struct ty_err *err);
/* True when the file begins like a perf.data file. */
bool ty_mem_session_is_perf(const char *path);

#endif
