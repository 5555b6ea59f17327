/* SPDX-License-Identifier: MIT */
/* What a waiting thread waits for, as far as its system call and the arguments say. */
#ifndef TY_WAITS_H
#define TY_WAITS_H

#include "explain.h"
#include "stalls.h"

/* See the rule in stalls.h. */
enum ty_wait_class { TY_WAIT_DEFINITE, TY_WAIT_PEER, TY_WAIT_END, TY_WAIT_IDLE };

struct ty_wait_for {
	uint8_t kind;  /* enum ty_stall_kind */
	uint8_t class; /* enum ty_wait_class */
	bool has_args;
	int64_t fd;	/* -1: no descriptor */
	uint64_t word;	/* futex: its address; 0 */
	int32_t holder; /* a lock word that names its owner's tid; 0 */
	char object[96];
};

/* A wait (sleeping or uninterruptible) of the thread inside `call`; TY_NONE: in no call (user mode:
 * a page fault). */
struct ty_wait_for ty_wait_for(const struct ty_explain *x, const struct ty_span *s, uint32_t call);
/* Where w says no more than "a descriptor": what it is (fds.h; dear, for findings only). */
void ty_wait_look_at_fd(const struct ty_explain *x, const struct ty_span *s, uint32_t call,
			struct ty_wait_for *w);
/* Did the call end because its time was up? */
bool ty_wait_timed_out(const struct ty_explain *x, uint32_t call);

#endif
