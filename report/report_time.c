/* SPDX-License-Identifier: MIT */
/* Times of a report, in the requested clock. */
#include "model_time.h"
#include "report.h"

const char *ty_report_instant(const void *ctx, uint64_t t_ns, char *buf, size_t n)
{
	const struct ty_report *r = ctx;

	return ty_time_digits(r->s->model, r->s->clock, t_ns, 1000, buf);
}

bool ty_report_in_seconds(const struct ty_report *r)
{
	return r->s->clock != TY_CLOCK_WALL;
}
