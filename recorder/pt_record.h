/* SPDX-License-Identifier: MIT */
/*
 * Records Intel PT of a command: aux_record.h on intel_pt, with one event per CPU that the
 * command's threads inherit, enabled by its execve.
 */
#ifndef TY_PT_RECORD_H
#define TY_PT_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "aux_record.h"

struct ty_pt_opts {
	bool kernel;	    /* kernel code, too */
	bool snapshot;	    /* keep only the newest bytes, saved on request and at the end */
	const char *filter; /* in the syntax of PERF_EVENT_IOC_SET_FILTER; NULL: no filter */
};

/* Opens all events for pid, which has not called execve yet. `cpus`: the n online ones. 0 or
 * -TY_E..., err says what to do. */
int ty_pt_rec_open(struct ty_aux_rec **out, const struct ty_pt_opts *o, pid_t pid,
		   const unsigned *cpus, unsigned n, struct ty_err *err);

#endif
