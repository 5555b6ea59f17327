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
	int32_t waker; /* thread index of who was current when the wakeup came that ended it (of a
			  RUNNABLE span: that began it), -1 unknown or idle */
	uint8_t waker_context; /* TY_EVF_*: woken from an interrupt */
	bool woken;	       /* there is such a wakeup; without a waker the CPU was idle */
	bool end_lost;	       /* from its end on the thread's state is not known: lost events */
	int32_t ran;	       /* RUNNABLE: who ran most on the CPU meanwhile, -1 unknown */
};

/* With `kinds`: of threads whose system calls are not recorded, no sleeps and stops: they wait for
 * their own reasons. Their uninterruptible waits stay: these may well be ours. */
#define TY_LONGEST_OURS (1u << 31)

/*
 * The n longest of the window, longest first, equal ones by start. kinds: bits 1 << TY_ST_..., and
 * TY_LONGEST_OURS.
 * Left out: kernel threads that sleep (they wait for work), and threads whose system calls are not
 * recorded and that never stirred in the whole recording. With a choice of CPUs: runnable spans
 * waiting for one of them; blocked ones have no CPU and are all taken. Returns how many were
 * written (<= n).
 */
uint32_t ty_longest(const struct ty_model *m, const struct ty_window *w, unsigned kinds,
		    struct ty_wait *out, uint32_t n);
/* The same in two steps, for who shows few of many: what tells of calls, wakers and who ran is not
 * there before the second. */
uint32_t ty_longest_find(const struct ty_model *m, const struct ty_window *w, unsigned kinds,
			 struct ty_wait *out, uint32_t n);
void ty_longest_explain(const struct ty_model *m, struct ty_wait *v, uint32_t n);

#endif
