/* SPDX-License-Identifier: MIT */
/* Time that threads were off the CPU in long waits, by user stack. */
#ifndef TY_STACK_GROUPS_H
#define TY_STACK_GROUPS_H

#include "session.h"
#include "wait_stacks.h"
#include "window.h"

/* Waits of threads of one name with the same functions. */
struct ty_stack_group {
	uint64_t total_ns, max_ns;
	uint64_t waits;
	uint64_t start_ns; /* of the longest, and whose it is */
	int32_t tid;
	const char *comm;   /* of the model */
	const char *folded; /* "comm;main;...;nanosleep": as flame graphs take them */
	size_t nth;	    /* ty_wait_stacks_nth: the stack of the longest */
};
struct ty_stack_groups {
	struct ty_stack_group *v; /* by total_ns */
	size_t n;
	struct ty_strtab *texts;
};

/* A wait with its stack, cut to nothing: as long as it was. */
struct ty_stack_wait {
	uint64_t start_ns, end_ns;
	uint32_t thread;
	uint32_t waker; /* the thread that woke it; TY_NONE: an interrupt, or not recorded */
	const char *comm;
};
/* The wait that the stack is of; false: it does not lie in the window. */
bool ty_stack_wait_of(const struct ty_session *s, const struct ty_window *w,
		      const struct ty_stack_frames *f, struct ty_stack_wait *out);

/* Of the session's stacks, whose model is there. 0 or -TY_ENOMEM; fini in any case. */
int ty_stack_groups_find(struct ty_session *s, const struct ty_window *w,
			 struct ty_stack_groups *out);
void ty_stack_groups_fini(struct ty_stack_groups *g);

#endif
