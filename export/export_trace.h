/* SPDX-License-Identifier: MIT */
/* A smaller trace file: the events of a window of time, and all that is needed to read them. */
#ifndef TY_EXPORT_TRACE_H
#define TY_EXPORT_TRACE_H

#include "session.h"

/*
 * Write the events of s, whose model is there, with from_ns <= time < to_ns (trace clock, the
 * file's offset included) into a new trace.dat v7 at path; their bytes are as they were recorded.
 * Threads go along as they were when the window begins, and what the recorder found at the start
 * where it begins there; what it measured of itself, executed instructions and memory samples do
 * not. 0, -TY_EUSAGE (nothing lies in the window; it is there already), -TY_EUNSUPPORTED (a kernel
 * of another word size or byte order), or another -TY_E....
 */
int ty_export_trace(struct ty_session *s, const char *path, uint64_t from_ns, uint64_t to_ns,
		    struct ty_err *err);

#endif
