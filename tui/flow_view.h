/* SPDX-License-Identifier: MIT */
/*
 * The view of one thread's executed instructions. Top: its calls, nested, over time (or over
 * instructions, each of the same width; that is the default for single-stepped recordings, whose
 * times are meaningless). Bottom: the instructions around the cursor, one line each, with source
 * lines, and gaps in place. Opened above the timeline, which takes over its time when it is closed.
 *
 * A part of the flow (analysis/flow_part.h) is decoded in the background for the current window.
 * Drawing costs columns x depths x log(calls), independent of the part's size.
 */
#ifndef TY_FLOW_VIEW_H
#define TY_FLOW_VIEW_H

#include <stdatomic.h>

#include "time_format.h"
#include "err.h"
#include "flow_part.h"
#include "view.h"

/* Number of parts kept at a time: this view uses slot 0. */
#define TY_FLOW_SLOTS 9u

/* Source of instructions. Borrowed; must outlive the view. */
struct ty_flow_input {
	bool software; /* made by single-stepping: times are distorted */
	/*
	 * Reads the part [from, to) of a thread, with a limit on instructions; valid until the next
	 * call with the same slot (below TY_FLOW_SLOTS). 0 or -TY_E... with a sentence; -TY_EINTR
	 * when stopped. May run in a thread, but never concurrently with packets, place and line.
	 */
	int (*read)(void *ctx, const struct ty_flow_part_request *request,
		    const struct ty_flow_part **out, struct ty_err *err);
	/* ty_flow_density of the request; 0 or -TY_E...; same threading as read. NULL: unknown. */
	int (*packets)(void *ctx, const struct ty_flow_part_request *request, uint32_t n,
		       uint64_t *bytes, struct ty_err *err);
	/* For a step of a part of process pid: its location ("main+0x10"), disassembly, bytes in
	 * hex, source line ("": unknown). */
	void (*place)(void *ctx, int32_t pid, const struct ty_flow_step *s, char *out, size_t n);
	void (*insn)(void *ctx, int32_t pid, const struct ty_flow_step *s, char *out, size_t n,
		     char *bytes, size_t bytes_n);
	void (*line)(void *ctx, int32_t pid, const struct ty_flow_step *s, char *out, size_t n);
	/* Text of that line; false: the source file is not available. *newer: it was modified after
	 * the program, so the line may have changed. NULL: there are no source files. */
	bool (*source)(void *ctx, int32_t pid, const struct ty_flow_step *s, char *out, size_t n,
		       bool *newer);
	void *ctx;
};

struct ty_flow_on {
	const struct ty_flow_input *in;
	const struct ty_model *m;  /* for times in another clock; NULL: from the start only */
	uint64_t start_ns, end_ns; /* of the recording */
	uint64_t from_ns, to_ns;   /* initial window */
	uint64_t cursor_ns;
	enum ty_clock clock;
	int32_t tid;
	const char *comm;
	bool aside; /* decode in a background thread */
};

struct ty_flow_view;

/* NULL: out of memory. */
struct ty_flow_view *ty_flow_view_new(const struct ty_flow_on *on);
void ty_flow_view_free(struct ty_flow_view *v);
/* Time of the instruction under the cursor; false: there is none, or it has no time. */
bool ty_flow_view_at(const struct ty_flow_view *v, uint64_t *at_ns);

extern const struct ty_view_ops ty_flow_view_ops;

#endif
