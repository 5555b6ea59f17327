/* SPDX-License-Identifier: MIT */
/* Where the time of each thread went, within a window. */
#ifndef TY_THREAD_STATS_H
#define TY_THREAD_STATS_H

#include <stdint.h>

#include "model.h"
#include "window.h"

struct ty_thread_stats {
	uint32_t thread;
	uint64_t ns[TY_ST_COUNT]; /* by state, cut to the window */
	uint64_t inferred_ns;	  /* of RUNNING: concluded, not recorded */
	uint32_t runs;		  /* RUNNING spans that touch the window */
	uint32_t migrations, wakeups;
};

/* Sleeping, uninterruptible and stopped together. */
uint64_t ty_thread_blocked_ns(const struct ty_thread_stats *s);

/*
 * The chosen threads that lived in the window, by running time; *out is the caller's to
 * free. With a choice of CPUs only runs on, and waits for, these count (other states have no CPU),
 * and threads without any are left out. 0 or -TY_ENOMEM.
 */
int ty_thread_stats(const struct ty_model *m, const struct ty_window *w,
		    struct ty_thread_stats **out, uint32_t *n);

#endif
