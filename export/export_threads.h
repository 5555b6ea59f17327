/* SPDX-License-Identifier: MIT */
/* Threads as they were at an instant of a recording, as the sections of a file that is cut out of
 * it have them: as good as a look at /proc then. */
#ifndef TY_EXPORT_THREADS_H
#define TY_EXPORT_THREADS_H

#include "buf.h"
#include "session.h"

/* The text of TY_SEC_THREADS, appended to out: all threads of the model that live at at_ns. When
 * memory runs out, out->failed says so. */
void ty_export_threads(struct ty_session *s, uint64_t at_ns, struct ty_buf *out);
/* Of them those whose system calls are recorded: "traced=FROM TO" lines (section.h). */
void ty_export_traced(const struct ty_session *s, uint64_t at_ns, struct ty_buf *out);

#endif
