/* SPDX-License-Identifier: MIT */
/* System calls by name: number, results, durations. */
#ifndef TY_SYSCALL_STATS_H
#define TY_SYSCALL_STATS_H

#include <stdint.h>

#include "model.h"
#include "syscalls.h"
#include "window.h"

struct ty_syscall_stats {
	char name[32];
	uint64_t count;	     /* calls that overlap the window */
	uint64_t errors;     /* of them returned -1 ... -4095 */
	uint64_t unfinished; /* of them unfinished at the end of the recording */
	uint64_t before;     /* of them begun before the recording: not timed */
	uint64_t untimed;    /* of them without a known start or end (lost, or refused before the
			      * tracepoint) */
	/* Of the timed ones, full durations (not clipped to the window). A call unfinished at the
	 * recording's end counts with its recorded part. */
	uint64_t total_ns, mean_ns, p50_ns, p99_ns, max_ns;
	uint64_t max_start_ns; /* when the longest began */
	uint32_t max_call;     /* the longest: ty_model_syscall; TY_NONE */
};

/*
 * All names, by total time; the caller frees *out. Percentiles are exact (nearest rank). With a
 * selection of CPUs: calls known to have begun on one of them. With a selection of names: as in
 * window.h. Calls known from the snapshot only are excluded. 0 or -TY_ENOMEM.
 */
int ty_syscall_stats(const struct ty_model *m, const struct ty_window *w,
		     const struct ty_sysarch *arch, struct ty_syscall_stats **out, uint32_t *n);

#endif
