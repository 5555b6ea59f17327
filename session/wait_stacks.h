/* SPDX-License-Identifier: MIT */
/*
 * User stacks of long waits in a recording, and of their wakers: unwound and named. Files are found
 * as for executed instructions (flow_files.h). Not thread-safe.
 */
#ifndef TY_WAIT_STACKS_H
#define TY_WAIT_STACKS_H

#include "buf.h"
#include "explain.h"
#include "stack_frames.h"
#include "trace.h"

struct ty_wait_stacks;

/* roots: --symfs, borrowed, as is the trace, which may have no stacks. NULL: out of memory. */
struct ty_wait_stacks *ty_wait_stacks_new(const struct ty_trace *t, const char *const *roots,
					  size_t roots_n);
void ty_wait_stacks_free(struct ty_wait_stacks *w);
struct ty_stack_counts ty_wait_stacks_counts(const struct ty_wait_stacks *w);
/* Prints a line on stderr for each file that differs from the recorded one. */
void ty_wait_stacks_note(struct ty_wait_stacks *w);

/* The stack with which the thread waited in [from, to], or (waker) with which another thread woke
 * it then; strings are valid as long as w. False: there is none. */
bool ty_wait_stacks_of(struct ty_wait_stacks *w, int32_t tid, uint64_t from_ns, uint64_t to_ns,
		       bool waker, struct ty_stack_frames *out);
/* The holder of the lock that the thread waited for in [from, to] (explain.h), with the name of the
 * lock's variable if a file in the stack defines it. false: unknown. */
bool ty_wait_stacks_holder(struct ty_wait_stacks *w, int32_t tid, uint64_t from_ns, uint64_t to_ns,
			   struct ty_lock_seen *out);
/* The stack of the i-th wait, by thread and then time; false past the last. */
bool ty_wait_stacks_nth(struct ty_wait_stacks *w, size_t i, struct ty_stack_frames *out);
/* The same without its frames, which cost more: they follow by ty_wait_stacks_unwind. */
bool ty_wait_stacks_peek(struct ty_wait_stacks *w, size_t i, struct ty_stack_frames *out);
void ty_wait_stacks_unwind(struct ty_wait_stacks *w, struct ty_stack_frames *out);
/* The first Python function outside the standard library; without one, the first frame outside
 * libc and language runtimes. NULL: there is none. */
const struct ty_stack_frame *ty_stack_frames_own(const struct ty_stack_frames *s);
/* Of a frame without a function: the nearest outer frame of its module that has one, other than
 * main; NULL. */
const struct ty_stack_frame *ty_stack_frames_named(const struct ty_stack_frames *s,
						   const struct ty_stack_frame *of);
/* What the thread waited for in [from, to], by its innermost function with a role (stack_roles.h).
 * By symbols only: inlined functions cost the debug information, and have no roles. */
enum ty_stack_role ty_wait_stacks_role(struct ty_wait_stacks *w, int32_t tid, uint64_t from_ns,
				       uint64_t to_ns);
/* Appends "app_function (app.c:14)", "libfoo.so.1+0x1234". */
void ty_stack_frame_text(const struct ty_stack_frame *f, struct ty_buf *out);
/* Appends the first `most` frames, a line for each, and why the stack ends there if it does. */
void ty_stack_frames_text(const struct ty_stack_frames *s, unsigned most, struct ty_buf *out);
/* The short form for folded stacks: the function, otherwise "libfoo.so.1+0x1234". */
void ty_stack_frame_name(const struct ty_stack_frame *f, struct ty_buf *out);

#endif
