/* SPDX-License-Identifier: MIT */
/*
 * The stack of calls of one thread, as flow_calls.c opens and closes it, and the stacks that the
 * thread has left and may come back to (coroutines). Inside the analysis of calls only.
 *
 * Budget: a call and its return cost the same at any depth. A search through the stack is paid for
 * by the calls before it (LOOK_PAID levels each): what no program does often (returns that fit
 * nothing, at great depth) looks at the top only, and a thread's work stays in proportion to its
 * instructions whatever they are.
 */
#ifndef TY_FLOW_STACK_H
#define TY_FLOW_STACK_H

#include "flow_calls.h"
#include "vec.h"

struct ty_flow_frame {
	struct ty_flow_call call;
	uint64_t lo, hi; /* addresses of the function; hi 0: not known */
	bool over; /* a signal handler that has returned: the system call that ends it follows */
};

/* Where setjmp returned to, and may return again: in the call at this level. */
struct ty_flow_jump {
	uint64_t ip;
	size_t level;
};

/* Calls of a stack that the thread has left by other means than returns, from the lowest up. */
struct ty_flow_aside {
	uint64_t resume; /* where it goes on when the thread comes back */
	struct ty_flow_frame *frames;
	size_t n;
};

struct ty_flow_stack {
	void (*begin)(void *, const struct ty_flow_call *);
	void (*end)(void *, const struct ty_flow_call *);
	void *ctx;
	VEC(struct ty_flow_frame) frames;
	VEC(struct ty_flow_jump) jumps; /* by level */
	VEC(struct ty_flow_aside) asides;
	size_t aside_frames;
	size_t base; /* the level at which another stack than the thread's own begins; TY_NO_LEVEL
		      */
	uint64_t credit;
};

#define TY_NO_LEVEL SIZE_MAX

void ty_flow_stack_fini(struct ty_flow_stack *s);

static inline struct ty_flow_frame *ty_flow_stack_top(struct ty_flow_stack *s)
{
	return s->frames.n ? &s->frames.v[s->frames.n - 1] : NULL;
}

/* Open a level: the call with all that is known at its beginning but caller and depth, of a
 * function at [lo, hi). Levels beyond what any real stack has are not opened. 0 or -TY_ENOMEM. */
int ty_flow_stack_push(struct ty_flow_stack *s, const struct ty_flow_call *call, uint64_t lo,
		       uint64_t hi);
/* Close the topmost level; flags: TY_CALL_* that become known thereby. */
void ty_flow_stack_pop(struct ty_flow_stack *s, uint64_t ts_ns, uint8_t flags);
/* Close all levels from `level` on. */
void ty_flow_stack_unwind(struct ty_flow_stack *s, size_t level, uint64_t ts_ns, uint8_t flags);

/* The topmost level below `below` that returns to ip; TY_NO_LEVEL. */
size_t ty_flow_stack_returns_to(struct ty_flow_stack *s, size_t below, uint64_t ip);
/* The topmost level below `below` that is a call of func, or whose function holds ip. */
size_t ty_flow_stack_level_of(struct ty_flow_stack *s, size_t below, uint32_t func, uint64_t ip);

/* setjmp has returned to ip, in the topmost level. */
void ty_flow_stack_jump_set(struct ty_flow_stack *s, uint64_t ip);
/* The level that longjmp goes to with ip; TY_NO_LEVEL. */
size_t ty_flow_stack_jump_to(const struct ty_flow_stack *s, uint64_t ip);

/*
 * The thread leaves the stack that begins at `level`: its calls are closed (CUT), and kept for when
 * it comes back. The topmost one is what switches the stacks; it is over when the thread comes back
 * to where it was to return.
 */
void ty_flow_stack_leave(struct ty_flow_stack *s, size_t level, uint64_t ts_ns);
/* None of the stacks that were left is there any more. */
void ty_flow_stack_forget(struct ty_flow_stack *s);
/*
 * If a stack that was left goes on at ip: the thread is there again. It stands in place of the call
 * that switched, or of the other stack that the thread was on. The one left first, of several.
 * 1; 0: none; -TY_ENOMEM. seq: the running number of calls.
 */
int ty_flow_stack_resume(struct ty_flow_stack *s, uint64_t ip, uint64_t ts_ns, uint64_t *seq);

#endif
