/* SPDX-License-Identifier: MIT */
/* The list of waits to jump to: stalls by rank, then the longest waits of the threads of
 * interest. */
#ifndef TY_STALL_LIST_H
#define TY_STALL_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "explain.h"
#include "longest_waits.h"
#include "model.h"
#include "stalls.h"
#include "window.h"

#define TY_FINDINGS_MAX 100

struct ty_findings {
	struct ty_wait *v; /* the stalls; then other long waits, longest first (but see init) */
	uint32_t n;
	struct ty_stalls stalls; /* v[i] is stalls.v[i] for i < stalls.n */
	bool traced_only;	 /* waits of threads outside the selection are excluded */
	bool unsearched; /* the limit of x->steps was reached before the stalls were found: none are
			  * listed */
};

/*
 * x may be NULL: no stalls. Finds the longest blocked and runnable spans inside w (including its
 * selection of threads). When only some threads' system calls were recorded (a command, pids), only
 * their waits are listed; otherwise threads that slept through the whole recording come last.
 */
int ty_findings_init(struct ty_findings *f, const struct ty_model *m, const struct ty_explain *x,
		     const struct ty_window *w, struct ty_err *err);
/* True for a thread outside the selection that slept before, during and after the recording:
 * nothing shows that it was waiting for work in progress. */
bool ty_findings_still(const struct ty_findings *f, const struct ty_wait *w);
void ty_findings_fini(struct ty_findings *f);

#endif
