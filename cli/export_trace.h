/* SPDX-License-Identifier: MIT */
/* A smaller trace file: the events of a window of time, and all that is needed to read them. */
#ifndef TY_EXPORT_TRACE_H
#define TY_EXPORT_TRACE_H

#include "err.h"
#include "model.h"
#include "trace.h"

/*
 * Write the events of t with from_ns <= time < to_ns (trace clock, the file's offset included) into
 * a new trace.dat v7 at path; their bytes are as they were recorded. What was known of threads at
 * the start of the recording is kept but for their state, when the window begins later; what the
 * recorder measured of itself is left out. clock: the n correlation points of t in time order, of
 * which the one that the window stands on goes along. 0, -TY_EUSAGE (nothing lies in the window; it
 * is there already), -TY_EUNSUPPORTED (a kernel of another word size or byte order), or another
 * -TY_E....
 */
int ty_export_trace(const struct ty_trace *t, const char *path, uint64_t from_ns, uint64_t to_ns,
		    const struct ty_clock_point *clock, uint32_t n, struct ty_err *err);

#endif
