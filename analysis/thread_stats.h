/* SPDX-License-Identifier: MIT */
/* Time per state of each thread within a window. */
#ifndef TY_THREAD_STATS_H
#define TY_THREAD_STATS_H

#include <stdint.h>

#include "model.h"
#include "window.h"

struct ty_thread_stats {
	uint32_t thread;
	uint64_t ns[TY_ST_COUNT]; /* by state, clipped to the window */
	uint64_t inferred_ns;	  /* inferred part of RUNNING */
	uint32_t runs;		  /* RUNNING spans that overlap the window */
	uint32_t migrations, wakeups;
};

/* Sleeping, uninterruptible and stopped together. */
uint64_t ty_thread_blocked_ns(const struct ty_thread_stats *s);

/*
 * The selected threads that lived in the window, by running time; the caller frees *out. With a
 * selection of CPUs only running and runnable spans on these count (other states have no CPU), and
 * threads without any are excluded. 0 or -TY_ENOMEM.
 */
int ty_thread_stats(const struct ty_model *m, const struct ty_window *w,
		    struct ty_thread_stats **out, uint32_t *n);

#endif
