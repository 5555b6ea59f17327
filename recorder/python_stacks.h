/* SPDX-License-Identifier: MIT */
/*
 * Python functions of the threads whose stacks were copied in a wait (records TY_STK_PYTHON). A
 * thread of its own reads them from the process' memory while the wait lasts: CPython's frames of a
 * thread do not change while it sleeps. What was read counts if the thread has not been switched
 * out again since the copy, and still sleeps.
 *
 * Budget: 30 us + 3 us per frame; for processes without Python 7 us, and 1 ms when they are new.
 */
#ifndef TY_PYTHON_STACKS_H
#define TY_PYTHON_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "stack_record.h"

struct ty_python_stacks;

/* A complete record, by the thread of its own. */
typedef void ty_python_stacks_put(void *ctx, const struct ty_stk_head *h, const void *bytes);

/* NULL: there is no memory or no thread. */
struct ty_python_stacks *ty_python_stacks_new(ty_python_stacks_put *put, void *ctx);

struct ty_python_wait {
	uint64_t ns; /* of the record of its stack */
	uint32_t pid, tid;
	uint64_t switches; /* how often the thread was switched out before */
	uint64_t self;	   /* its pthread_self(); 0: unknown */
};
/* Read it soon. NULL does nothing. */
void ty_python_stacks_request(struct ty_python_stacks *p, const struct ty_python_wait *w);

struct ty_python_result {
	uint64_t stacks;
	uint64_t over;	  /* the wait ended before it was read, or there were too many */
	uint64_t invalid; /* stacks whose frames failed a check */
	uint64_t refused; /* processes whose memory may not be read */
	uint64_t unknown; /* processes with another version of CPython, */
	uint32_t version; /* as major << 8 | minor; 0: unknown */
};
/* Ends the thread and frees. false: it is held up, and uses all it has until the process ends. NULL
 * does nothing. */
bool ty_python_stacks_finish(struct ty_python_stacks *p, unsigned wait_ms,
			     struct ty_python_result *res);

#endif
