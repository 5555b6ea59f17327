/* SPDX-License-Identifier: MIT */
#include "request_compare.h"

#include "err.h"
#include "outlier_parts.h"

uint32_t ty_request_thread(const struct ty_request *r)
{
	return r->replied_by != TY_NONE ? r->replied_by : r->thread;
}

const struct ty_request *ty_request_median(const struct ty_requests *q, const struct ty_request *r)
{
	const struct ty_service *s = &q->services[r->service];
	const struct ty_request *best = NULL;
	uint64_t best_gap = UINT64_MAX;

	for (uint32_t i = 0; i < s->sample_n; i++) {
		const struct ty_request *c = &q->sample[s->sample + i];
		const uint64_t ns = c->end_ns - c->start_ns,
			       gap = ns > s->p50_ns ? ns - s->p50_ns : s->p50_ns - ns;

		if (ty_request_thread(c) == TY_NONE || c->start_ns == r->start_ns ||
		    gap >= best_gap)
			continue;
		best = c;
		best_gap = gap;
	}
	return best;
}

int ty_request_compare(const struct ty_explain *x, const struct ty_request *r,
		       const struct ty_request *median, struct ty_outlier *out)
{
	*out = (struct ty_outlier){.thread = ty_request_thread(r),
				   .slow_start_ns = r->start_ns,
				   .slow_ns = r->end_ns - r->start_ns};
	if (out->thread == TY_NONE || !median || ty_request_thread(median) == TY_NONE)
		return -TY_ENOTFOUND;
	out->median_start_ns = median->start_ns;
	out->median_ns = median->end_ns - median->start_ns;
	return ty_outlier_compare(x, out, ty_request_thread(median));
}
