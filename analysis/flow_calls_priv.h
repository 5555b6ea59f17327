/* SPDX-License-Identifier: MIT */
/*
 * Internals of flow_calls.h. flow_calls.c follows the calls of any item; flow_calls_runs.c takes
 * runs, and of these the ordinary calls and returns itself.
 */
#ifndef TY_FLOW_CALLS_PRIV_H
#define TY_FLOW_CALLS_PRIV_H

#include "flow_paths.h"
#include "flow_places.h"
#include "flow_stack.h"

struct ty_flow_thread {
	int32_t tid, pid;
	struct ty_flow_stack stack;
	uint64_t ip; /* of the last instruction */
	uint8_t size, cls;
	bool indirect; /* a jump to where a register or memory says */
	bool have;     /* ip is valid: the next instruction follows it */
	bool near;     /* it ended by a branch to what is not traced */
	bool off;      /* tracing ended; user mode continues at `resume` unless something happens */
	bool gap;
	bool doubt;   /* no symbol showed the level at which the thread continued */
	bool entered; /* a program's _start showed an exec whose record follows later */
	uint64_t resume;
	uint64_t ts_ns;
	int32_t program; /* ty_flow_names_program */
};

struct ty_flow_calls {
	struct ty_flow_names *names;
	void (*begin)(void *, const struct ty_flow_call *);
	void (*end)(void *, const struct ty_flow_call *);
	void *ctx;
	struct ty_flow_sums *sums; /* NULL */
	VEC(struct ty_flow_thread *) threads;
	struct ty_flow_thread *last;
	struct ty_flow_places places;
	struct ty_flow_paths paths;
	uint64_t seq;
	bool nomem;
};

/* NULL: out of memory. */
struct ty_flow_thread *ty_flow_calls_thread(struct ty_flow_calls *c, int32_t tid, int32_t pid);

static inline const struct ty_flow_place *ty_flow_calls_place(struct ty_flow_calls *c, int32_t pid,
							      uint64_t ts_ns, uint64_t ip)
{
	return ty_flow_place_at(&c->places, pid, ts_ns == TY_FLOW_NO_TIME ? UINT64_MAX - 1 : ts_ns,
				ip);
}

/* `n` instructions from ip on, of which only the last may do more than go on in its function; 0:
 * they are added by the caller. */
void ty_flow_calls_insns(struct ty_flow_calls *c, struct ty_flow_thread *t,
			 const struct ty_flow_at *at, uint64_t ip, uint64_t n);

#endif
