/* SPDX-License-Identifier: MIT */
/* The list to jump to: the longest waits of the threads that are of interest. */
#ifndef TY_FINDINGS_H
#define TY_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "longest.h"
#include "model.h"
#include "window.h"

#define TY_FINDINGS_MAX 100

struct ty_findings {
	struct ty_wait *v; /* longest first */
	uint32_t n;
	bool traced_only; /* waits of threads that were not asked for are left out */
};

/*
 * The longest blocked and runnable spans inside w (its choice of threads included). When only some
 * threads' system calls were recorded (a command, pids), those are what was asked about and only
 * their waits are listed.
 */
int ty_findings_init(struct ty_findings *f, const struct ty_model *m, const struct ty_window *w,
		     struct ty_err *err);
void ty_findings_fini(struct ty_findings *f);

#endif
