/* SPDX-License-Identifier: MIT */
/*
 * Reconstructs calls and returns from executed instructions: a stack per thread. A return goes to
 * the frame with its target as return address, at any depth; one that matches no frame changes
 * nothing. A jump into another function is a tail call; a jump or return into the middle of a
 * function further down (longjmp, an exception's landing pad) ends the frames above it. A signal
 * handler is a call that returns to the interrupted address. A gap ends no call: the stack is
 * corrected by the first matching event after it.
 *
 * A thread that switches to another stack (swapcontext, a coroutine) leaves the calls of the old
 * one: they end as CUT, and begin again as BACK when the thread returns to where they were
 * suspended. A coroutine's calls are above the call that left the thread's own stack. Registers are
 * not traced: of several stacks suspended at one address the oldest one is resumed, and of several
 * calls of one function the topmost one catches an exception.
 */
#ifndef TY_FLOW_CALLS_H
#define TY_FLOW_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "flow.h"
#include "flow_names.h"

#define TY_CALL_BEFORE 0x01 /* already active when first seen; its start is too late */
#define TY_CALL_OPEN   0x02 /* still active at the end of the trace */
#define TY_CALL_CUT                                                                                \
	0x04 /* left by longjmp, an exception, exec or a stack switch, not by a return */
#define TY_CALL_GAP    0x08 /* part of it could not be decoded */
#define TY_CALL_SIGNAL 0x10 /* a signal handler */
#define TY_CALL_TAIL   0x20 /* entered by a jump that ended the calling function */
#define TY_CALL_BACK   0x40 /* continues after it was CUT: the thread returned to its stack */

struct ty_flow_call {
	uint64_t start_ns, end_ns;  /* TY_FLOW_NO_TIME: unknown */
	uint64_t insns, self_insns; /* instructions: all, and excluding those of callees */
	uint64_t children_ns;
	uint64_t seq; /* running number of its start: 0, 1, 2... identical each time the flow is
		       * decoded */
	uint64_t ip;  /* its first instruction */
	uint64_t ret; /* return address; 0: unknown */
	int32_t tid, pid, cpu;
	uint32_t func, caller; /* ty_flow_calls_function; TY_NO_FUNC */
	uint32_t depth;
	uint8_t flags; /* TY_CALL_* */
};

#define TY_NO_FUNC UINT32_MAX

struct ty_flow_calls;

/* begin, end: called when a call begins (end and counts are not set yet) and ends; either may be
 * NULL. names is borrowed. NULL: out of memory. */
struct ty_flow_calls *ty_flow_calls_new(struct ty_flow_names *names,
					void (*begin)(void *ctx, const struct ty_flow_call *c),
					void (*end)(void *ctx, const struct ty_flow_call *c),
					void *ctx);
void ty_flow_calls_free(struct ty_flow_calls *c);
struct ty_flow_sums;
/* Adds each call to sums (flow_sums.h), in place of the callbacks; set before the first item. */
void ty_flow_calls_sum_up(struct ty_flow_calls *c, struct ty_flow_sums *sums);
/* Feeds the next item of the flow. 0 or -TY_ENOMEM. */
int ty_flow_calls_feed(struct ty_flow_calls *c, const struct ty_flow_at *at);
/* Feeds the next items, which are runs, after an item of the same thread, and adds their
 * instructions to *insns. f: their flow. 0 or -TY_ENOMEM. */
int ty_flow_calls_runs(struct ty_flow_calls *c, const struct ty_flow *f,
		       const struct ty_flow_at *at, const struct ty_walk_run *runs, size_t n,
		       uint64_t *insns);
/* Ends the input: active calls end as OPEN. */
void ty_flow_calls_finish(struct ty_flow_calls *c);

/*
 * A function by number (0, 1, 2... in order of appearance); borrowed. The last possible one,
 * TY_CALLS_FUNCS - 1, stands for all that appear after the others: calls between these cannot be
 * distinguished from jumps within one.
 */
#define TY_CALLS_FUNCS (1u << 17)
uint32_t ty_flow_calls_functions(const struct ty_flow_calls *c); /* their number */
struct ty_flow_calls_function {
	const char *name; /* "main", or "[libc.so.6+0x2724a]" without a symbol */
	const char *file; /* "": unknown */
};
const struct ty_flow_calls_function *ty_flow_calls_function(const struct ty_flow_calls *c,
							    uint32_t func);

#endif
