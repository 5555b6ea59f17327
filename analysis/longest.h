/* SPDX-License-Identifier: MIT */
/* The longest waits: blocked (sleeping, uninterruptible, stopped) and runnable spans, ranked. */
#ifndef TY_LONGEST_H
#define TY_LONGEST_H

#include <stdint.h>

#include "model.h"
#include "window.h"

struct ty_wait {
	uint32_t span; /* ty_model_span */
	uint32_t thread;
	uint64_t start_ns, duration_ns; /* cut to the window */
	uint8_t state;			/* enum ty_state */
	uint8_t flags;			/* TY_SF_* */
	int32_t syscall;		/* ty_model_syscall index in progress, -1 none */
	int32_t waker;			/* thread index of who ended it, -1 unknown */
	uint8_t waker_context;		/* TY_EVF_*: woken from an interrupt */
};

/*
 * The n longest of the window, longest first, equal ones by start. kinds: bits 1 << TY_ST_... .
 * Idle kernel threads and idle CPUs' swapper are left out. Returns how many were written (<= n).
 */
uint32_t ty_longest(const struct ty_model *m, const struct ty_window *w, unsigned kinds,
		    struct ty_wait *out, uint32_t n);

#endif
