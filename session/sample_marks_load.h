/* SPDX-License-Identifier: MIT */
/* The times of the CPU samples of a recording or perf.data file, read without unwinding or naming
 * them. */
#ifndef TY_SAMPLE_MARKS_LOAD_H
#define TY_SAMPLE_MARKS_LOAD_H

#include <stdatomic.h>

#include "sample_marks.h"
#include "trace.h"

/* Of a recording that has samples (ty_samples_recorded). 0, -TY_ENOMEM, -TY_EINTR when *stop (may
 * be NULL) is set by another thread, or -TY_E...: what describes them is damaged. *out is the
 * caller's. */
int ty_sample_marks_of_trace(const struct ty_trace *t, const atomic_bool *stop,
			     struct ty_sample_marks **out);

#endif
