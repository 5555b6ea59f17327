/* SPDX-License-Identifier: MIT */
/* See request_backlog.h. */
#include "request_backlog.h"

#include <stdlib.h>

#include "compare.h"
#include "partition.h"
#include "process_of_thread.h"
#include "syscall_ipc.h"
#include "thread_walk.h"
#include "vec.h"
#include "wait_retry.h"
#include "wakeup.h"

#define LOOKED	  200000
#define FOLLOWING 12 /* spans behind a sleep: those of the first request on a new connection */
#define REPLY_NS  UINT64_C(10000000) /* from the wakeup to the end of the call that replies */

/* When replies of kept requests ended, in order. */
struct ends {
	uint64_t *v;
	size_t n, cap;
};

ORDER(by_value, uint64_t, compare(*a, *b))

static int find_ends(const struct ty_requests *q, struct ends *out)
{
	const struct ty_service *s = &q->services[0];
	int r = 0;

	for (uint32_t i = 0; i < q->n && !r; i++)
		r = q->v[i].service ? 0 : vec_push(out, q->v[i].end_ns);
	for (uint32_t i = 0; i < s->sample_n && !r; i++)
		r = vec_push(out, q->sample[s->sample + i].end_ns);
	vec_sort(out, by_value);
	return r;
}

/* May the sleep have been ended by one of these replies? A cheap question: most were not. */
static bool may_be_reply(const struct ends *e, const struct ty_span *s)
{
	size_t i = partition_point(k, 0, e->n, e->v[k] < s->end_ns);

	return i < e->n && e->v[i] - s->end_ns < REPLY_NS;
}

static const struct ty_request *among(const struct ty_request *v, uint32_t n, uint32_t by,
				      uint64_t end_ns)
{
	for (uint32_t i = 0; i < n; i++)
		if (v[i].replied_by == by && v[i].end_ns == end_ns && !v[i].service)
			return &v[i];
	return NULL;
}

/* The kept request whose reply was sent by the call that woke: on its own descriptor, or what the
 * server sent to another one (a subscriber) at that time would count. */
static const struct ty_request *replied_by(const struct ty_explain *x, const struct ty_requests *q,
					   const struct ty_waker *by)
{
	uint32_t call = ty_model_syscall_at(x->m, by->thread, by->act_ns);
	const struct ty_service *s = &q->services[0];
	const struct ty_request *r;
	struct ty_syscall_ipc ipc;
	struct ty_syscall c;

	if (call == TY_NONE)
		return NULL;
	c = ty_model_syscall(x->m, call);
	ipc = ty_syscall_ipc(x, &c);
	r = among(q->v, q->n, by->thread, c.end_ns);
	r = r ? r : among(q->sample + s->sample, s->sample_n, by->thread, c.end_ns);
	return r && ty_syscall_ipc_on(x, &c, &ipc, r->fd) & TY_GIVES ? r : NULL;
}

/* When a thread of the process other than this one last ran before t: it may have sent the request.
 */
static uint64_t others_ran_ns(const struct ty_explain *x, uint32_t thread, uint32_t process,
			      uint64_t t)
{
	const struct ty_seek ran = {.states = 1u << TY_ST_RUNNING, .nr = -1};
	uint32_t threads = ty_model_summary(x->m)->threads;
	uint64_t last = 0;

	for (uint32_t i = 0; i < threads; i++) {
		uint32_t k = TY_NONE;
		uint64_t end;

		if (i != thread && ty_process_of(x->m, i) == process)
			k = ty_model_seek(x->m, (struct ty_track){TY_TRACK_THREAD, i}, &ran, t,
					  true);
		if (k == TY_NONE)
			continue;
		end = ty_model_span_brief(x->m, i, k).end_ns;
		end = end < t ? end : t;
		last = end > last ? end : last;
	}
	return last;
}

/* The search, and what it has found. */
struct search {
	const struct ty_explain *x;
	const struct ty_requests *q;
	const struct ty_request *const *of;
	uint32_t of_n, *client_of;
	uint64_t from_ns;
	struct ty_backlog *out;
};

/* A timer of the network ended the sleep: the kernel sent a packet again. Of the request that the
 * thread sent next the reply, if the connection was accepted in between. NULL: there is none. */
static const struct ty_request *connected_late(const struct search *h, const struct ty_span *s,
					       uint32_t span)
{
	const struct ty_model *m = h->x->m;
	const uint32_t end = ty_thread_spans(m, s->thread).to;
	const uint32_t server = h->q->services[0].process;

	for (unsigned n = 0; n < FOLLOWING && ++span < end; n++) {
		struct ty_span next = ty_model_span_brief(m, s->thread, span);
		const struct ty_fd_side *side;
		const struct ty_request *r;
		struct ty_waker by;

		if (next.state != TY_ST_SLEEPING)
			continue;
		by = ty_waker_find(m, ty_model_span_edge(m, &next, span));
		r = by.kind == TY_WAKER_THREAD && ty_process_of(m, by.thread) == server
			    ? replied_by(h->x, h->q, &by)
			    : NULL;
		side = r ? ty_fd_side_at(&h->q->sides, server, r->fd, r->start_ns) : NULL;
		if (side && side->from_ns >= s->end_ns)
			return r;
	}
	return NULL;
}

/* What the end of the client's sleep says of the request. */
static void look(const struct search *h, const struct ty_span *s, uint32_t span, bool several)
{
	const struct ty_explain *x = h->x;
	struct ty_waker by = ty_waker_find(x->m, ty_model_span_edge(x->m, s, span));
	const bool connecting = by.kind == TY_WAKER_TIMER && by.net;
	const struct ty_request *r = NULL;
	uint64_t slept_ns = s->start_ns, others_ns = 0;
	bool inferred = false; /* all of it is, anyway */
	uint32_t first;

	if (connecting)
		r = connected_late(h, s, span);
	else if (by.kind == TY_WAKER_THREAD &&
		 ty_process_of(x->m, by.thread) == h->q->services[0].process)
		r = replied_by(x, h->q, &by);
	if (!r || r->flags & TY_REQ_BEFORE)
		return;
	for (uint32_t i = 0; i < h->of_n; i++)
		if (h->of[i]->replied_by == r->replied_by && h->of[i]->end_ns == r->end_ns)
			h->client_of[i] = s->thread;
	if (!connecting) {
		first = ty_wait_retry_first(x, s->thread, span, h->from_ns, &inferred);
		first = ty_wait_loop_first(x, s->thread, first, h->from_ns, &by);
		slept_ns = ty_model_span_brief(x->m, s->thread, first).start_ns;
	}
	if (several)
		others_ns =
			others_ran_ns(x, s->thread, ty_process_of(x->m, s->thread), r->start_ns);
	slept_ns = others_ns > slept_ns ? others_ns : slept_ns;
	if (r->start_ns < slept_ns + TY_BACKLOG_NS)
		return;
	h->out->n++;
	if (r->start_ns - slept_ns > h->out->wait_ns) {
		h->out->wait_ns = r->start_ns - slept_ns;
		h->out->start_ns = slept_ns;
		h->out->client = s->thread;
		h->out->longest = *r;
		h->out->connecting = connecting;
	}
}

int ty_request_backlog_find(const struct ty_explain *x, const struct ty_requests *q,
			    const struct ty_window *w, const struct ty_request *const *of,
			    uint32_t of_n, uint32_t *client_of, struct ty_backlog *out)
{
	const struct search h = {x, q, of, of_n, client_of, w->from_ns, out};
	const struct ty_seek sleep = {
		.states = 1u << TY_ST_SLEEPING, .min_ns = TY_BACKLOG_NS, .nr = -1};
	uint32_t threads = ty_model_summary(x->m)->threads, looked = 0;
	uint8_t *several = calloc((size_t)threads + 1, 1);
	struct ends ends = {0};

	*out = (struct ty_backlog){.client = TY_NONE};
	for (uint32_t i = 0; i < of_n; i++)
		client_of[i] = TY_NONE;
	if (!several || find_ends(q, &ends)) {
		vec_fini(&ends);
		free(several);
		return -TY_ENOMEM;
	}
	for (uint32_t i = 0; i < threads; i++)
		several[ty_process_of(x->m, i)] += several[ty_process_of(x->m, i)] < 2;
	for (uint32_t i = 0; i < threads && looked < LOOKED; i++) {
		const struct ty_thread *t = ty_model_thread(x->m, i);
		uint32_t process = ty_process_of(x->m, i), k = TY_NONE;
		uint64_t at = w->from_ns;

		if (t->kernel || t->tgid < 0 || !t->spans_n || process == q->services[0].process)
			continue;
		for (; looked < LOOKED; looked++) {
			uint32_t next = ty_model_seek(x->m, (struct ty_track){TY_TRACK_THREAD, i},
						      &sleep, at, false);
			struct ty_span s;

			if (next == TY_NONE || (k != TY_NONE && next <= k)) /* a damaged index */
				break;
			k = next;
			s = ty_model_span_brief(x->m, i, k);
			if (s.start_ns >= w->to_ns)
				break;
			if (ty_explain_stopped(x)) {
				vec_fini(&ends);
				free(several);
				return -TY_EINTR;
			}
			if (may_be_reply(&ends, &s))
				look(&h, &s, k, several[process] > 1);
			at = s.start_ns;
		}
	}
	vec_fini(&ends);
	free(several);
	return 0;
}
