/* SPDX-License-Identifier: MIT */
#include "request_compare.h"

#include "err.h"
#include "outlier_parts.h"
#include "thread_walk.h"
#include "wakeup.h"

uint32_t ty_request_thread(const struct ty_request *r)
{
	return r->replied_by != TY_NONE ? r->replied_by : r->thread;
}

/* When did the thread that replied get the request? Without a wakeup by the one that received it,
 * at once: it was busy, or heard of it from others. */
static uint64_t handed_over(const struct ty_model *m, const struct ty_request *r)
{
	uint32_t thread = r->replied_by, k;

	if (thread == TY_NONE || r->thread == TY_NONE)
		return thread == TY_NONE ? r->end_ns : r->start_ns;
	for (k = ty_model_span_find(m, thread, r->start_ns); k < ty_thread_spans(m, thread).to;
	     k++) {
		struct ty_span s = ty_model_span_brief(m, thread, k);
		struct ty_waker by;

		if (s.start_ns >= r->end_ns)
			break;
		if (s.state == TY_ST_RUNNABLE && s.start_ns >= r->start_ns &&
		    !(s.flags & (TY_SF_PREEMPT | TY_SF_YIELD)) &&
		    ty_waker_is(m, ty_model_span_edge(m, &s, k), r->thread, &by))
			return s.start_ns;
	}
	return r->start_ns;
}

static int most_of(const struct ty_explain *x, uint32_t thread, uint64_t from, uint64_t to,
		   struct ty_request_most *out)
{
	struct ty_ledger_most most;
	struct ty_ledger l;
	int r;

	if (thread == TY_NONE || from >= to)
		return 0;
	r = ty_ledger_thread(x, thread, from, to, &l);
	if (r)
		return r;
	if (ty_ledger_most(x, &l, &most) && most.state_ns > out->most.state_ns)
		*out = (struct ty_request_most){thread, most};
	ty_ledger_fini(&l);
	return 0;
}

int ty_request_most(const struct ty_explain *x, const struct ty_request *r,
		    struct ty_request_most *out)
{
	uint64_t at = r->thread == r->replied_by ? r->start_ns : handed_over(x->m, r);
	int rc;

	*out = (struct ty_request_most){.thread = TY_NONE};
	rc = most_of(x, r->thread, r->start_ns, at, out);
	return rc ? rc : most_of(x, r->replied_by, at, r->end_ns, out);
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
