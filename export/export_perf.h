/* SPDX-License-Identifier: MIT */
/* Exports a recording as a perf.data file. */
#ifndef TY_EXPORT_PERF_H
#define TY_EXPORT_PERF_H

#include "session.h"
#include "window.h"

struct ty_perf_exported {
	uint64_t events, lost; /* written; known to be lost among them */
	uint64_t aux_bytes;    /* of Intel PT or SPE */
	bool uncut;	       /* AUX data extends beyond the window */
	bool images;	       /* the recording has code images, which perf.data cannot hold */
};

/*
 * Writes the part of s (opened with TY_OPEN_EVENTS) selected by w's time, threads and CPUs to a new
 * file at path: events as tracepoint samples, and its executed instructions and memory samples. 0,
 * -TY_EUSAGE (the window is empty), -TY_EUNSUPPORTED (a big-endian machine), or another -TY_E....
 */
int ty_export_perf(struct ty_session *s, const struct ty_window *w, const char *path,
		   struct ty_perf_exported *done, struct ty_err *err);

#endif
