/* SPDX-License-Identifier: MIT */
/*
 * The clients that a server's stall inside a request held up: threads of other processes that began
 * to sleep after the request, or shortly before it was received, or that awaited a reply, queued
 * behind another request, and that the same thread woke by sending something soon after the stall
 * on a connection where it is the server. So the client of that request is found, and those that
 * wait in the listen backlog or behind data that is not received yet. Inferred; of remote ones
 * nothing is recorded.
 *
 * Budget: one span of each thread, and one call of those woken by the server.
 */
#include "stalls_priv.h"
#include "request_lookup.h"

#define BEFORE_NS UINT64_C(10000000)  /* a client sleeps so long before its request is received */
#define AFTER_NS  UINT64_C(100000000) /* the server replies so soon after the stall */

/* Was the thread asleep when the stall ended, and woken by the server's next words to it? */
static bool is_client(const struct ty_stall_search *h, const struct ty_candidate *c,
		      uint32_t thread, uint64_t from_ns)
{
	const struct ty_model *m = h->x->m;
	const struct ty_thread *t = ty_model_thread(m, thread);
	int32_t server = ty_model_thread(m, c->s.thread)->tgid;
	uint32_t k;
	struct ty_span s;
	struct ty_waker by;
	int64_t fd;

	if (t->kernel || !t->spans_n || server < 0 || t->tgid == server ||
	    t->start_ns >= c->end_ns || t->end_ns < c->end_ns)
		return false;
	k = ty_model_span_find(m, thread, c->end_ns - 1);
	s = ty_model_span_brief(m, thread, k);
	if (s.state != TY_ST_SLEEPING || s.start_ns >= c->end_ns ||
	    (s.start_ns < from_ns &&
	     !ty_requests_awaited(h->o.requests, thread, c->end_ns - 1, c->end_ns, false)) ||
	    s.end_ns < c->end_ns || s.end_ns - c->end_ns > AFTER_NS ||
	    c->end_ns - s.start_ns < h->o.min_ns)
		return false;
	by = ty_waker_find(m, ty_model_span_edge(m, &s, k));
	if (by.kind != TY_WAKER_THREAD || by.thread != c->s.thread)
		return false;
	/* Not a server that this one queries: the reply counts as what was said there, too. */
	fd = ty_stall_given_to(h->x, by.thread, by.act_ns);
	return fd >= 0 && ty_stall_is_server(h, by.thread,
					     ty_model_syscall_at(m, by.thread, by.act_ns) + 1, fd);
}

uint32_t ty_stall_clients(const struct ty_stall_search *h, const struct ty_candidate *c,
			  uint32_t out[TY_STALL_CLIENTS])
{
	uint64_t from = c->s.request_ns > BEFORE_NS ? c->s.request_ns - BEFORE_NS : 0;
	uint32_t n = 0;

	for (uint32_t i = 0; c->s.request_ns && i < ty_model_summary(h->x->m)->threads; i++) {
		if (!is_client(h, c, i, from))
			continue;
		if (n < TY_STALL_CLIENTS)
			out[n] = i;
		n++;
	}
	return n;
}
