/* SPDX-License-Identifier: MIT */
/*
 * Intel PT of a command by the kernel's perf events: on every CPU one PT event that the command's
 * threads inherit, and one of all threads' mappings, names and switches, from which the reader
 * knows what ran. Stored as a perf.data file in pipe form (section.h, TY_SEC_PERF), as the software
 * branch tracer's. Its times are those of perf's clock, which is the trace clock.
 */
#ifndef TY_PT_RECORD_H
#define TY_PT_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"
#include "spool.h"

struct ty_pt_opts {
	bool kernel;	    /* kernel code, too */
	bool snapshot;	    /* keep the newest bytes only, taken when asked for and at the end */
	const char *filter; /* as PERF_EVENT_IOC_SET_FILTER wants it; NULL: all */
};

struct ty_pt_result {
	uint64_t bytes;	    /* of PT */
	uint64_t truncated; /* times that a buffer was full: gaps */
	uint64_t lost;	    /* sideband records */
	uint64_t snapshots;
	bool no_time; /* the kernel does not tell how TSC and clock belong together */
	bool failed;  /* something could not be written; the stream ends there */
};

struct ty_pt_rec;

/* Open all events for pid, which has not called execve yet: PT begins with its execve. `cpus`: the
 * n that are online. 0 or -TY_E..., err says what to do. */
int ty_pt_rec_open(struct ty_pt_rec **out, const struct ty_pt_opts *o, pid_t pid,
		   const unsigned *cpus, unsigned n, struct ty_err *err);
/* Write the head and begin to move what comes into the spool, in a thread of its own. */
int ty_pt_rec_start(struct ty_pt_rec *p, struct ty_spool *spool, struct ty_err *err);
/* Keep what the buffers hold now; returns at once. */
void ty_pt_rec_snapshot(struct ty_pt_rec *p);
/* End and free; all is in the spool. NULL is fine. */
void ty_pt_rec_finish(struct ty_pt_rec *p, struct ty_pt_result *res);

#endif
