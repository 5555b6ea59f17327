/* SPDX-License-Identifier: MIT */
/* Formats a time of a recording in the requested clock. All displayed times come from here. */
#ifndef TY_MODEL_TIME_H
#define TY_MODEL_TIME_H

#include "time_format.h"
#include "model.h"

/*
 * "3.214" from the start, "14:03:22.512" by the wall clock, "12345.678" of the trace clock,
 * truncated to the decimals of res_ns; returns out. Without a known wall clock (ty_model_realtime),
 * seconds from the start.
 */
const char *ty_time_digits(const struct ty_model *m, enum ty_clock clock, uint64_t t_ns,
			   uint64_t res_ns, char out[TY_TIME_MAX]);
/* The same with its unit: "3.214 s"; a time of day has none. */
const char *ty_time_text(const struct ty_model *m, enum ty_clock clock, uint64_t t_ns,
			 uint64_t res_ns, char out[TY_TIME_MAX]);
/* Both in a buffer that lives as long as the block around it. */
#define ty_time_in(m, clock, t_ns, res_ns)                                                         \
	ty_time_digits(m, clock, t_ns, res_ns, (char[TY_TIME_MAX]){0})
#define ty_time(m, clock, t_ns, res_ns) ty_time_text(m, clock, t_ns, res_ns, (char[TY_TIME_MAX]){0})

#endif
