/* SPDX-License-Identifier: MIT */
/* See flow.h: the message for a gap. */
#include <inttypes.h>
#include <stdio.h>

#include "flow_priv.h"
#include "units.h"

struct ty_flow_gap ty_flow_gap(const struct ty_flow *f, const struct ty_flow_at *at)
{
	const struct ty_flow_item *it = &at->item;
	struct ty_flow_gap g = {
		.text = it->text, .from_ns = at->ts_ns, .until_ns = TY_FLOW_NO_TIME, .to = it->to};

	if (it->kind == TY_FLOW_OVERFLOW) {
		g.text =
			f->software
				? "the stepper could not read an instruction: unknown what ran next"
				: "overflow: the CPU lost packets";
		g.to = it->ip;
		return g;
	}
	g.sized = true;
	g.off = it->off;
	g.bytes = it->value;
	g.lost = it->lost;
	if (it->until && f->timed)
		g.until_ns = ty_flow_ns(f, it->until);
	return g;
}

const char *ty_flow_gap_size(const struct ty_flow_gap *g, char *out, size_t n)
{
	char bytes[TY_DURATION_MAX], part[TY_DURATION_MAX];
	size_t at;

	if (!g->sized)
		at = (size_t)snprintf(out, n, "of unknown size");
	else
		at = (size_t)snprintf(out, n, "%s not decoded", ty_fmt_bytes(g->bytes, bytes));
	if (g->lost && at < n)
		at += (size_t)snprintf(out + at, n - at, ", %s never recorded",
				       ty_fmt_bytes(g->lost, bytes));
	if (g->from_ns != TY_FLOW_NO_TIME && g->until_ns != TY_FLOW_NO_TIME &&
	    g->until_ns >= g->from_ns && at < n)
		at += (size_t)snprintf(out + at, n - at, ", %s",
				       ty_fmt_duration(g->until_ns - g->from_ns, part));
	if (g->to && at < n)
		snprintf(out + at, n - at, ", resumes at 0x%" PRIx64, g->to);
	return out;
}

uint64_t ty_flow_window_bytes(const struct ty_flow *f)
{
	uint64_t n = 0;

	vec_each (s, &f->streams)
		n += s->wanted_bytes;
	return n;
}

uint64_t ty_flow_headless_bytes(const struct ty_flow *f)
{
	uint64_t n = 0;

	vec_each (s, &f->streams)
		n += s->headless_bytes;
	return n;
}

uint64_t ty_flow_errata(const struct ty_flow *f)
{
	return f->errata;
}

const struct ty_flow_missing *ty_flow_missing(const struct ty_flow *f, size_t i)
{
	return i < f->missing.n ? &f->missing.v[i] : NULL;
}
