/* SPDX-License-Identifier: MIT */
/* Thread states at one moment of a recording, as the sections of a file cut out of it, replacing a
 * snapshot of /proc. */
#ifndef TY_EXPORT_THREADS_H
#define TY_EXPORT_THREADS_H

#include "buf.h"
#include "session.h"

/* Appends the text of TY_SEC_THREADS to out: all threads of the model alive at at_ns. Out of memory
 * is reported in out->failed. */
void ty_export_threads(struct ty_session *s, uint64_t at_ns, struct ty_buf *out);
/* Appends those whose system calls are recorded: "traced=FROM TO" lines (section.h). */
void ty_export_traced(const struct ty_session *s, uint64_t at_ns, struct ty_buf *out);

#endif
