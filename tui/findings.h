/* SPDX-License-Identifier: MIT */
/* The list to jump to: stalls by rank, then the longest waits of the threads of interest. */
#ifndef TY_FINDINGS_H
#define TY_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "explain.h"
#include "longest.h"
#include "model.h"
#include "stalls.h"
#include "window.h"

#define TY_FINDINGS_MAX 100

struct ty_findings {
	struct ty_wait *v; /* the stalls; then what else is long, longest first (but see init) */
	uint32_t n;
	struct ty_stalls stalls; /* v[i] is stalls.v[i] for i < stalls.n */
	bool traced_only;	 /* waits of threads that were not asked for are left out */
	bool unsearched; /* x->steps were not enough to find the stalls: there are none here */
};

/*
 * x may be NULL: no stalls are told. The longest blocked and runnable spans inside w (its choice of
 * threads included). When only some threads' system calls were recorded (a command, pids), those
 * are what was asked about and only their waits are listed; else sleepers that never stirred in the
 * whole recording come last.
 */
int ty_findings_init(struct ty_findings *f, const struct ty_model *m, const struct ty_explain *x,
		     const struct ty_window *w, struct ty_err *err);
/* A thread that slept before the recording, all through it and after, and was not asked about:
 * nothing is known to have been due. */
bool ty_findings_still(const struct ty_findings *f, const struct ty_wait *w);
void ty_findings_fini(struct ty_findings *f);

#endif
