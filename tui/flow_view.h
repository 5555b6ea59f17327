/* SPDX-License-Identifier: MIT */
/*
 * Executed instructions of one thread: above its calls, nested, over time (or over instructions:
 * each has the same width, whatever its time; so at first where they were single-stepped, whose
 * times say nothing); below the instructions around the cursor, one line each, with their source
 * lines, gaps in their places. A view above the timeline, which shares its instant when it is left.
 *
 * What is shown is decoded aside, for the window that is looked at: a part (analysis/flow_part.h).
 * Drawing costs columns x depths x log(calls), whatever the part's size.
 */
#ifndef TY_FLOW_VIEW_H
#define TY_FLOW_VIEW_H

#include <stdatomic.h>

#include "clock_time.h"
#include "err.h"
#include "flow_part.h"
#include "view.h"

/* Parts that are looked at at a time: this view's is slot 0. */
#define TY_FLOW_SLOTS 9u

/* Where instructions come from. Borrowed; must outlive the view. */
struct ty_flow_input {
	bool software; /* made by single-stepping: times are those of the stepped program */
	/*
	 * The part [from, to) of a thread, at most so many instructions; it stays until the next
	 * call with the same slot (below TY_FLOW_SLOTS). 0 or -TY_E... with a sentence; -TY_EINTR
	 * when stopped. In a thread of its own, never at the same time as packets, place and line.
	 */
	int (*read)(void *ctx, const struct ty_flow_part_ask *ask, const struct ty_flow_part **out,
		    struct ty_err *err);
	/* ty_flow_density of what is asked for; 0 or -TY_E... as read, and where read may be. NULL:
	 * not known. */
	int (*packets)(void *ctx, const struct ty_flow_part_ask *ask, uint32_t n, uint64_t *bytes,
		       struct ty_err *err);
	/* Of a step of a part of process pid: where it is ("main+0x10"), its disassembly, its bytes
	 * in hex, its source line ("" not known). */
	void (*place)(void *ctx, int32_t pid, const struct ty_flow_step *s, char *out, size_t n);
	void (*insn)(void *ctx, int32_t pid, const struct ty_flow_step *s, char *out, size_t n,
		     char *bytes, size_t bytes_n);
	void (*line)(void *ctx, int32_t pid, const struct ty_flow_step *s, char *out, size_t n);
	/* The text of that line; false: the source file is not here. *newer: it was written after
	 * the program, so that the line may be another one. NULL: there are no source files. */
	bool (*source)(void *ctx, int32_t pid, const struct ty_flow_step *s, char *out, size_t n,
		       bool *newer);
	void *ctx;
};

struct ty_flow_on {
	const struct ty_flow_input *in;
	const struct ty_model *m;  /* for times in another clock; NULL: from the start only */
	uint64_t start_ns, end_ns; /* of the recording */
	uint64_t from_ns, to_ns;   /* the window at first */
	uint64_t cursor_ns;
	enum ty_clock clock;
	int32_t tid;
	const char *comm;
	bool aside; /* decode in a thread */
};

struct ty_flow_view;

/* NULL: out of memory. */
struct ty_flow_view *ty_flow_view_new(const struct ty_flow_on *on);
void ty_flow_view_free(struct ty_flow_view *v);
/* The instant of the instruction under the cursor; false: there is none, or it has no time. */
bool ty_flow_view_at(const struct ty_flow_view *v, uint64_t *at_ns);

extern const struct ty_view_ops ty_flow_view_ops;

#endif
