/* SPDX-License-Identifier: MIT */
/* An instant of a recording in the clock that was asked for: the one place that says times. */
#ifndef TY_TIME_TEXT_H
#define TY_TIME_TEXT_H

#include "clock_time.h"
#include "model.h"

/*
 * "3.214" from the start, "14:03:22.512" by the wall clock, "12345.678" of the trace clock: cut to
 * the decimals of res_ns; returns out. A wall clock must be known (ty_model_realtime).
 */
const char *ty_time_digits(const struct ty_model *m, enum ty_clock clock, uint64_t t_ns,
			   uint64_t res_ns, char out[TY_TIME_MAX]);
/* The same with its unit: "3.214 s"; a time of day has none. */
const char *ty_time_text(const struct ty_model *m, enum ty_clock clock, uint64_t t_ns,
			 uint64_t res_ns, char out[TY_TIME_MAX]);

#endif
