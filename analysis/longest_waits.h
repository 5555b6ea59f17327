/* SPDX-License-Identifier: MIT */
/* The longest waits: blocked (sleeping, uninterruptible, stopped) and runnable spans, ranked. */
#ifndef TY_LONGEST_WAITS_H
#define TY_LONGEST_WAITS_H

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
	int32_t waker; /* thread index of the waker (RUNNABLE: of the wakeup that began it), -1
			* unknown or idle */
	uint8_t waker_context; /* TY_EVF_*: woken from an interrupt */
	bool woken;	       /* the wakeup is recorded; without a waker the CPU was idle */
	bool end_lost;	       /* the thread's state is unknown after its end: lost events */
	int32_t ran;	       /* RUNNABLE: the thread that ran longest on the CPU meanwhile, -1
				* unknown */
};

/* With `kinds`: excludes sleeps and stops of threads whose system calls are not recorded. Their
 * uninterruptible waits stay: these may be caused by the traced ones. */
#define TY_LONGEST_OURS (1u << 31)

/*
 * The n longest of the window, longest first, equal ones by start. kinds: bits 1 << TY_ST_..., and
 * TY_LONGEST_OURS.
 *
 * Excluded: sleeping kernel threads (idle waits), and threads without recorded system calls and
 * without any event in the recording. With a selection of CPUs: runnable spans on one of them;
 * blocked ones have no CPU and are all included. Returns the number written (<= n).
 */
uint32_t ty_longest(const struct ty_model *m, const struct ty_window *w, unsigned kinds,
		    struct ty_wait *out, uint32_t n);
/* The same in two steps, for callers that show few of many: syscall, waker and ran are only set by
 * the second. */
uint32_t ty_longest_find(const struct ty_model *m, const struct ty_window *w, unsigned kinds,
			 struct ty_wait *out, uint32_t n);
void ty_longest_explain(const struct ty_model *m, struct ty_wait *v, uint32_t n);

#endif
