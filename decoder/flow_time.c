/* SPDX-License-Identifier: MIT */
/* See flow_priv.h: TSC to time, and the switch that is current at a time. */
#include "flow_priv.h"
#include "partition.h"

uint64_t ty_flow_ns(const struct ty_flow *f, uint64_t tsc)
{
	uint64_t quot = tsc >> f->shift, rem = tsc & ((1ull << f->shift) - 1);

	return f->zero + quot * f->mult + ((rem * f->mult) >> f->shift);
}

size_t ty_flow_sw_at(const struct ty_flow_stream *s, uint64_t t_ns)
{
	const struct ty_flow_sw *v = s->flow->sws.v;
	size_t lo = partition_point(i, s->sw, s->sw_end, v[i].t_ns <= t_ns);

	return lo - 1;
}
