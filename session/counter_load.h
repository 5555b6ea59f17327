/* SPDX-License-Identifier: MIT */
/* The performance counters of a recording: its readings (counter_record.h) as a table of the model
 * (counter_readings.h). */
#ifndef TY_COUNTER_LOAD_H
#define TY_COUNTER_LOAD_H

#include "counter_readings.h"
#include "err.h"
#include "trace.h"

/* Does the recording have any? */
bool ty_counts_recorded(const struct ty_trace *t);
/* 0; -TY_ENOTFOUND: it has none; -TY_E... with err. *out is the caller's. */
int ty_counts_of_trace(const struct ty_trace *t, struct ty_counts **out, struct ty_err *err);

#endif
