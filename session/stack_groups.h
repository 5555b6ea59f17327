/* SPDX-License-Identifier: MIT */
/* Off-CPU time in long waits, grouped by user stack. */
#ifndef TY_STACK_GROUPS_H
#define TY_STACK_GROUPS_H

#include "session.h"
#include "wait_stacks.h"
#include "window.h"

/* Waits of threads with the same name and the same functions. */
struct ty_stack_group {
	uint64_t total_ns, max_ns;
	uint64_t waits;
	uint64_t start_ns; /* start and thread of the longest wait */
	int32_t tid;
	const char *comm;   /* of the model */
	const char *folded; /* "comm;main;...;nanosleep", the input format of flame graphs */
	size_t nth;	    /* ty_wait_stacks_nth: stack of the longest */
};
struct ty_stack_groups {
	struct ty_stack_group *v; /* by total_ns */
	size_t n;
	struct ty_strtab *texts;
};

/* A wait with its stack, at its full length (not clipped to the window). */
struct ty_stack_wait {
	uint64_t start_ns, end_ns;
	uint32_t thread, span; /* of the model */
	uint32_t waker;	       /* the waker; TY_NONE: an interrupt, or not recorded */
	const char *comm;
};
/* The wait to which the stack belongs; false: it is outside the window. */
bool ty_stack_wait_of(const struct ty_session *s, const struct ty_window *w,
		      const struct ty_stack_frames *f, struct ty_stack_wait *out);

/* Groups the stacks of the session, which must have its model. 0 or -TY_ENOMEM; call fini in any
 * case. */
int ty_stack_groups_find(struct ty_session *s, const struct ty_window *w,
			 struct ty_stack_groups *out);
void ty_stack_groups_fini(struct ty_stack_groups *g);

#endif
