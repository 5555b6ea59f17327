/* SPDX-License-Identifier: MIT */
/* Writes a smaller trace file: the events of a time window, and everything needed to read them. */
#ifndef TY_EXPORT_TRACE_H
#define TY_EXPORT_TRACE_H

#include "session.h"

/*
 * Writes the events of s, which must have its model, with from_ns <= time < to_ns (trace clock,
 * including the file's offset) to a new trace.dat v7 at path, byte for byte as recorded. Includes
 * the threads as of the window's start, and the recorder's initial snapshot when the window begins
 * at the recording's start; omits the recorder's own statistics, executed instructions and memory
 * samples. 0, -TY_EUSAGE (the window is empty; the file exists), -TY_EUNSUPPORTED (a kernel of
 * another word size or byte order), or another -TY_E....
 */
int ty_export_trace(struct ty_session *s, const char *path, uint64_t from_ns, uint64_t to_ns,
		    struct ty_err *err);

#endif
