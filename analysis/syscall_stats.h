/* SPDX-License-Identifier: MIT */
/* System calls by name: how many, how they ended, how long they took. */
#ifndef TY_SYSCALL_STATS_H
#define TY_SYSCALL_STATS_H

#include <stdint.h>

#include "model.h"
#include "syscalls.h"
#include "window.h"

struct ty_syscall_stats {
	char name[32];
	uint64_t count;	     /* calls that touch the window */
	uint64_t errors;     /* of them returned -1 ... -4095 */
	uint64_t unfinished; /* of them still going on at the end of the recording */
	uint64_t before;     /* of them begun before the recording: not timed */
	uint64_t untimed;    /* of them without a known begin or end (lost, or refused before it) */
	/* Of the timed ones, whole durations (not cut to the window). A call that was not over at
	 * the recording's end counts with the part that was seen. */
	uint64_t total_ns, mean_ns, p50_ns, p99_ns, max_ns;
	uint64_t max_start_ns; /* when the longest began */
	uint32_t max_call;     /* the longest: ty_model_syscall; TY_NONE */
};

/*
 * All names, by total time; *out is the caller's to free. Percentiles are exact (nearest rank).
 * With a choice of CPUs: calls known to have begun on one of them. With a choice of names: as in
 * window.h. Calls known from the snapshot only are left out. 0 or -TY_ENOMEM.
 */
int ty_syscall_stats(const struct ty_model *m, const struct ty_window *w,
		     const struct ty_sysarch *arch, struct ty_syscall_stats **out, uint32_t *n);

#endif
