/* SPDX-License-Identifier: MIT */
/*
 * Computes how many packet bytes a thread produced over time, without decoding: ranges have the
 * times of their PSBs, and of a CPU's stream only the stretches count in which the thread was on
 * the CPU. Bytes are assumed to be spread evenly within a range. After the last PSB no time is
 * known, and bytes count at its instant; the same for a PSB whose time is not later than the
 * previous one's. A single time far ahead, contradicted by both that follow, is ignored. Cost:
 * ranges and switches.
 */
#include "flow_priv.h"

typedef unsigned __int128 u128;

struct bins {
	uint64_t from, to;
	uint32_t n;
	uint64_t *bytes;
};

static uint64_t edge(const struct bins *d, uint32_t i)
{
	return d->from + (uint64_t)((u128)(d->to - d->from) * i / d->n);
}

/* bytes over [a, b]. */
static void add(const struct bins *d, uint64_t a, uint64_t b, uint64_t bytes)
{
	uint64_t at = a > d->from ? a : d->from;
	uint32_t i;

	if (a >= d->to || b < d->from || (b == d->from && a < b))
		return;
	i = (uint32_t)((u128)(at - d->from) * d->n / (d->to - d->from));
	for (; i < d->n; i++) {
		uint64_t hi = edge(d, i + 1), lo = edge(d, i);

		lo = lo > a ? lo : a;
		hi = hi < b ? hi : b;
		if (a == b) {
			d->bytes[i] += bytes;
			return;
		}
		if (hi > lo)
			d->bytes[i] += (uint64_t)((u128)bytes * (hi - lo) / (b - a));
		if (edge(d, i + 1) >= b)
			return;
	}
}

/* Of a CPU's stream: while the thread was on it. */
static void add_thread(const struct bins *d, const struct ty_flow_stream *s, int32_t tid,
		       uint64_t a, uint64_t b, uint64_t bytes)
{
	const struct ty_flow_sw *v = s->flow->sws.v;
	uint64_t from = a > d->from ? a : d->from, to = b < d->to ? b : d->to;
	size_t i = ty_flow_sw_at(s, from);

	/* Before the first switch the thread is unknown. */
	for (i = i + 1 == s->sw ? s->sw : i; i < s->sw_end && v[i].t_ns <= to; i++) {
		uint64_t lo = v[i].t_ns > from ? v[i].t_ns : from;
		uint64_t hi = i + 1 < s->sw_end && v[i + 1].t_ns < to ? v[i + 1].t_ns : to;

		if (v[i].tid == tid && a == b)
			add(d, a, b, bytes);
		else if (v[i].tid == tid && hi > lo)
			add(d, lo, hi, (uint64_t)((u128)bytes * (hi - lo) / (b - a)));
		if (a == b)
			return;
	}
}

/* Does the range lie in time from `from_ns` to before `to_ns`? */
static bool is_between(const struct ty_flow *f, const struct ty_flow_range *r, uint64_t from_ns,
		       uint64_t to_ns)
{
	uint64_t t = r->at.timed ? ty_flow_ns(f, r->at.tsc) : 0;

	return r->at.timed && t >= from_ns && t < to_ns;
}

/* Has range i of the stream a time that can be, behind all before it (since_ns is the last)? */
static bool tells(const struct ty_flow *f, const struct ty_flow_stream *s, size_t i,
		  uint64_t since_ns)
{
	const struct ty_flow_range *r = &f->ranges.v[i];
	uint64_t t = r->at.timed ? ty_flow_ns(f, r->at.tsc) : 0;

	return r->at.timed && (i == s->ranges || t > since_ns) &&
	       !(i + 2 < s->ranges_end && is_between(f, r + 1, since_ns, t) &&
		 is_between(f, r + 2, since_ns, t));
}

static bool add_stream(const struct bins *d, const struct ty_flow_stream *s, int32_t tid,
		       const atomic_bool *stop)
{
	const struct ty_flow *f = s->flow;

	for (size_t i = s->ranges, next; i < s->ranges_end; i = next) {
		const struct ty_flow_range *r = &f->ranges.v[i];
		bool timed = i > s->ranges || tells(f, s, i, 0);
		uint64_t bytes = r->end - r->at.off, a, b;

		if (stop && atomic_load_explicit(stop, memory_order_relaxed))
			return false;
		a = b = timed ? ty_flow_ns(f, r->at.tsc) : 0;
		for (next = i + 1; next < s->ranges_end && !tells(f, s, next, a); next++)
			bytes += f->ranges.v[next].end - f->ranges.v[next].at.off;
		if (!timed)
			continue;
		if (next < s->ranges_end)
			b = ty_flow_ns(f, f->ranges.v[next].at.tsc);
		if (a >= d->to || b < d->from)
			continue;
		if (s->tid >= 0)
			add(d, a, b, bytes);
		else
			add_thread(d, s, tid, a, b, bytes);
	}
	return true;
}

bool ty_flow_density(struct ty_flow *f, int32_t tid, uint64_t from_ns, uint64_t to_ns, uint32_t n,
		     uint64_t *bytes, const atomic_bool *stop)
{
	const struct bins d = {.from = from_ns, .to = to_ns, .n = n, .bytes = bytes};
	const struct ty_flow_window w = {.from_ns = from_ns, .to_ns = to_ns};

	/* The decoder reports what cannot be read; coarse ranges have less exact times. */
	(void)ty_flow_refine(f, &w);

	for (uint32_t i = 0; i < n; i++)
		bytes[i] = 0;
	vec_each (s, &f->streams)
		if (f->timed && n && from_ns < to_ns && (s->tid < 0 || s->tid == tid) &&
		    !add_stream(&d, s, tid, stop))
			return false;
	return true;
}
