/* SPDX-License-Identifier: MIT */
/* See model_time.h. */
#include "model_time.h"

#include <string.h>

const char *ty_time_digits(const struct ty_model *m, enum ty_clock clock, uint64_t t_ns,
			   uint64_t res_ns, char out[TY_TIME_MAX])
{
	uint64_t real;

	if (clock == TY_CLOCK_WALL && ty_model_realtime(m, t_ns, &real))
		return ty_fmt_clock(real, res_ns, out);
	if (clock == TY_CLOCK_TRACE)
		return ty_fmt_seconds(t_ns, res_ns, out);
	return ty_fmt_since(t_ns, ty_model_origin_ns(m), res_ns, out);
}

const char *ty_time_text(const struct ty_model *m, enum ty_clock clock, uint64_t t_ns,
			 uint64_t res_ns, char out[TY_TIME_MAX])
{
	ty_time_digits(m, clock, t_ns, res_ns, out);
	return clock == TY_CLOCK_WALL ? out : strcat(out, " s");
}
