/* SPDX-License-Identifier: MIT */
/*
 * Threads that computed before they replied, as an event loop does that is blocked: they waited for
 * nothing, but their clients did. Only where several clients waited, or the request took far longer
 * than most: else that is the work that was asked for.
 *
 * Budget: for each kept request whose thread was on the CPU for half of it, its spans; requests
 * within those of another one are not examined again.
 */
#include "stalls_priv.h"
#include "thread_walk.h"

#define OUTLIER 10 /* times the median, */
#define KNOWN	10 /* of so many requests at least */

struct stretch {
	uint64_t start_ns, end_ns, ran_ns, longest_ns;
	uint32_t span; /* its longest run */
};

/* The stretch of [a, b) in which the thread ran most without a pause. */
static struct stretch longest_stretch(const struct ty_model *m, uint32_t thread, uint64_t a,
				      uint64_t b)
{
	struct stretch best = {.span = TY_NONE}, now = {.span = TY_NONE};
	uint32_t k = ty_model_span_find(m, thread, a);

	for (; k < ty_thread_spans(m, thread).to; k++) {
		struct ty_span s = ty_model_span_brief(m, thread, k);
		uint64_t from = s.start_ns > a ? s.start_ns : a, to = s.end_ns < b ? s.end_ns : b;

		if (s.start_ns >= b)
			break;
		if (s.state != TY_ST_RUNNING && s.state != TY_ST_RUNNABLE &&
		    to - from >= TY_STALL_LITTLE_NS) {
			now = (struct stretch){.span = TY_NONE};
			continue;
		}
		if (s.state != TY_ST_RUNNING)
			continue;
		now.start_ns = now.ran_ns ? now.start_ns : from;
		now.end_ns = to;
		now.ran_ns += to - from;
		if (to - from > now.longest_ns) {
			now.longest_ns = to - from;
			now.span = k;
		}
		best = now.ran_ns > best.ran_ns ? now : best;
	}
	return best;
}

/* When the call that sent the reply began: it woke the client. */
static uint64_t computed_until(const struct ty_stall_search *h, const struct ty_request *r)
{
	const struct ty_model *m = h->x->m;
	uint32_t call = r->replied_by == TY_NONE ? TY_NONE
						 : ty_model_syscall_at(m, r->thread, r->end_ns - 1);
	uint64_t t =
		call == TY_NONE ? r->end_ns : ty_model_syscall_brief(m, r->thread, call).start_ns;

	return t < h->w.to_ns ? t : h->w.to_ns;
}

static uint64_t begun(const struct ty_stall_search *h, const struct ty_request *r)
{
	return r->start_ns > h->w.from_ns ? r->start_ns : h->w.from_ns;
}

/* Was the thread on the CPU for half of the request, which it received and replied to itself? */
static bool computes(const struct ty_stall_search *h, const struct ty_request *r)
{
	uint64_t a = begun(h, r), b = computed_until(h, r), ran;

	if (r->thread == TY_NONE || (r->replied_by != r->thread && r->replied_by != TY_NONE))
		return false;
	ran = ty_thread_time(h->x->m, r->thread, a, b).ns[TY_ST_RUNNING];
	return ran >= h->o.min_ns * TY_STALL_RUNNABLE_TIMES && ran >= (b - a) / 2;
}

/* Is it one of an earlier request, or a long call that is a candidate? */
static bool is_known(const struct ty_stall_search *h, uint32_t request)
{
	const struct ty_request *v = h->o.requests->v, *r = &v[request];

	for (uint32_t i = 0; i < request; i++)
		if (v[i].thread == r->thread && v[i].start_ns < r->end_ns &&
		    r->start_ns < v[i].end_ns && computes(h, &v[i]))
			return true;
	vec_each (c, &h->cand)
		if (c->s.thread == r->thread && c->s.state == TY_ST_RUNNING &&
		    c->s.start_ns < r->end_ns && r->start_ns < c->end_ns)
			return true;
	return false;
}

int ty_stall_computed(struct ty_stall_search *h, uint32_t request)
{
	const struct ty_request *r = &h->o.requests->v[request];
	const struct ty_service *of;
	uint32_t clients[TY_STALL_CLIENTS];
	struct ty_candidate *c;
	struct stretch s;

	if (!computes(h, r) || is_known(h, request))
		return 0;
	of = &h->o.requests->services[r->service];
	s = longest_stretch(h->x->m, r->thread, begun(h, r), computed_until(h, r));
	if (s.ran_ns < h->o.min_ns * TY_STALL_RUNNABLE_TIMES)
		return 0;
	if (ty_stall_add(h, r->thread, s.span, s.start_ns, s.end_ns, TY_ST_RUNNING,
			 s.end_ns == r->end_ns ? TY_SF_OPEN : 0))
		return -TY_ENOMEM;
	c = &h->cand.v[h->cand.n - 1];
	c->s.culprit = r->thread;
	c->s.culprit_ns = s.start_ns;
	c->s.request_ns = r->start_ns;
	c->computed_ns = s.ran_ns;
	if (ty_stall_clients(h, c, clients) < 2 &&
	    (of->n < KNOWN || s.ran_ns < OUTLIER * of->p50_ns))
		h->cand.n--;
	return 0;
}
