/* SPDX-License-Identifier: MIT */
/*
 * Calls and returns out of executed instructions: a stack per thread. A return goes to the frame
 * that it returns to, wherever that is in the stack; one that fits none changes no level. A jump
 * into another function is a tail call; a jump or return into the middle of a function further down
 * (longjmp, an exception's landing pad) ends what is above it. A signal handler is a call that
 * returns to where it came in. A gap ends nothing: the stack is put right by the first thing seen
 * behind it that fits.
 *
 * A thread that goes to another stack (swapcontext, a coroutine) leaves the calls of the one it was
 * on: they end as CUT, and begin again as BACK when it comes back to where they went on. A
 * coroutine's calls stand above the call that left the thread's own stack. Registers are not
 * traced: of several stacks that wait at one place the one that waits longest is taken, and of
 * several calls of one function the topmost is where an exception is caught.
 */
#ifndef TY_FLOW_CALLS_H
#define TY_FLOW_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "flow.h"
#include "flow_names.h"

#define TY_CALL_BEFORE                                                                             \
	0x01		  /* it was going on when it was first seen; its start is later than true */
#define TY_CALL_OPEN 0x02 /* it goes on at the end of the trace */
#define TY_CALL_CUT                                                                                \
	0x04 /* left by longjmp, an exception, exec or for another stack, not by a return */
#define TY_CALL_GAP    0x08 /* something inside it could not be decoded */
#define TY_CALL_SIGNAL 0x10 /* a signal handler */
#define TY_CALL_TAIL   0x20 /* entered by a jump from a function that ended thereby */
#define TY_CALL_BACK   0x40 /* goes on after it was CUT: the thread is back on its stack */

struct ty_flow_call {
	uint64_t start_ns, end_ns; /* TY_FLOW_NO_TIME: not known */
	uint64_t insns,
		self_insns; /* executed in it: all, and without those of the calls it made */
	uint64_t children_ns;
	uint64_t seq; /* of its beginning: 0, 1, 2... the same whenever the flow is decoded */
	uint64_t ip;  /* its first instruction */
	uint64_t ret; /* where it returns to; 0: not known */
	int32_t tid, pid, cpu;
	uint32_t func, caller; /* ty_flow_calls_function; TY_NO_FUNC */
	uint32_t depth;
	uint8_t flags; /* TY_CALL_* */
};

#define TY_NO_FUNC UINT32_MAX

struct ty_flow_calls;

/* begin, end: as each call begins (end and counts are not yet known) and ends; either may be NULL.
 * names is borrowed. NULL: out of memory. */
struct ty_flow_calls *ty_flow_calls_new(struct ty_flow_names *names,
					void (*begin)(void *ctx, const struct ty_flow_call *c),
					void (*end)(void *ctx, const struct ty_flow_call *c),
					void *ctx);
void ty_flow_calls_free(struct ty_flow_calls *c);
/* The next item of the flow. 0 or -TY_ENOMEM. */
int ty_flow_calls_feed(struct ty_flow_calls *c, const struct ty_flow_at *at);
/* The next items, which are runs, behind one that was fed and is of their thread. f: of which they
 * are. 0 or -TY_ENOMEM. */
int ty_flow_calls_runs(struct ty_flow_calls *c, const struct ty_flow *f,
		       const struct ty_flow_at *at, const struct ty_walk_run *runs, size_t n);
/* The end: what is still going on ends as OPEN. */
void ty_flow_calls_finish(struct ty_flow_calls *c);

/*
 * A function by number (0, 1, 2... in the order of appearance); borrowed. The last one that there
 * can be, number TY_CALLS_FUNCS - 1, stands for all that appear after the others: calls of one of
 * these by another are not told apart from jumps within it.
 */
#define TY_CALLS_FUNCS (1u << 17)
uint32_t ty_flow_calls_functions(const struct ty_flow_calls *c); /* how many there are */
struct ty_flow_calls_function {
	char *name; /* "main", or "[libc.so.6+0x2724a]" where there is no symbol */
	char *file; /* "" not known */
};
const struct ty_flow_calls_function *ty_flow_calls_function(const struct ty_flow_calls *c,
							    uint32_t func);

#endif
