/* SPDX-License-Identifier: MIT */
/* A recording as a perf.data file. */
#ifndef TY_EXPORT_PERF_H
#define TY_EXPORT_PERF_H

#include "session.h"
#include "window.h"

struct ty_perf_exported {
	uint64_t events, lost; /* written; known to be missing among them */
	uint64_t aux_bytes;    /* of Intel PT or SPE */
	bool uncut;	       /* they reach beyond the window */
	bool images;	       /* the recording holds images of code, which have no place there */
};

/*
 * Write what s (opened with TY_OPEN_EVENTS) holds of w's time, threads and CPUs to a new file at
 * path: its events as samples of tracepoints, and what it has of executed instructions and memory
 * samples. 0, -TY_EUSAGE (there is nothing in the window), -TY_EUNSUPPORTED (of a big-endian
 * machine), or another -TY_E....
 */
int ty_export_perf(struct ty_session *s, const struct ty_window *w, const char *path,
		   struct ty_perf_exported *done, struct ty_err *err);

#endif
