/* SPDX-License-Identifier: MIT */
/*
 * Whether another thread of a process has its request. The long uninterruptible waits of all
 * threads are collected once, by process and start, and again for a much shorter wait. Budget: a
 * search in the zoom forest for each of them; for a question, those of the process around an
 * instant.
 */
#include <stdlib.h>

#include "compare.h"
#include "partition.h"
#include "process_of_thread.h"
#include "request_lookup.h"
#include "stalls_priv.h"
#include "thread_walk.h"

ORDER(by_start, struct ty_blocked,
      compare(a->process, b->process) ?: compare(a->start_ns, b->start_ns))

static int add_thread(struct ty_stall_search *h, uint32_t thread)
{
	const struct ty_model *m = h->x->m;
	const struct ty_seek q = {
		.states = 1u << TY_ST_BLOCKED, .min_ns = h->blocked_least_ns, .nr = -1};
	uint32_t process = ty_process_of(m, thread);
	struct ty_rows all = ty_thread_spans(m, thread);

	for (uint32_t k = all.from < all.to ? all.from : TY_NONE; k != TY_NONE;) {
		struct ty_span s = ty_model_span_brief(m, thread, k);

		if (s.state == TY_ST_BLOCKED &&
		    vec_push(&h->blocked,
			     (struct ty_blocked){s.start_ns, s.end_ns, 0, process, thread}))
			return -TY_ENOMEM;
		k = ty_row_behind(m, (struct ty_track){TY_TRACK_THREAD, thread}, &q, k, s.start_ns);
	}
	return 0;
}

/* Without memory none are known. */
static void collect(struct ty_stall_search *h, uint64_t least_ns)
{
	uint64_t last = 0;
	int r = 0;

	h->blocked_least_ns = least_ns;
	h->blocked.n = 0;
	for (uint32_t i = 0; i < ty_model_summary(h->x->m)->threads && !r; i++)
		r = add_thread(h, i);
	h->blocked.n = r ? 0 : h->blocked.n;
	vec_sort(&h->blocked, by_start);
	vec_each (b, &h->blocked) {
		last = b > h->blocked.v && b[-1].process == b->process ? last : 0;
		last = b->end_ns > last ? b->end_ns : last;
		b->last_end_ns = last;
	}
}

bool ty_stall_elsewhere(struct ty_stall_search *h, const struct ty_candidate *c, uint32_t process)
{
	const uint64_t half = (c->end_ns - c->s.start_ns) / 2, mid = c->s.start_ns + half;
	const struct ty_blocked *v;
	size_t i;

	if (!h->blocked_least_ns || half + 1 < h->blocked_least_ns)
		collect(h, half / 4 + 1);
	v = h->blocked.v;
	i = partition_point(k, (size_t)0, h->blocked.n,
			    v[k].process < process ||
				    (v[k].process == process && v[k].start_ns <= mid));
	while (i-- && v[i].process == process && v[i].last_end_ns > mid) {
		uint64_t from = v[i].start_ns > c->s.start_ns ? v[i].start_ns : c->s.start_ns,
			 to = v[i].end_ns < c->end_ns ? v[i].end_ns : c->end_ns;

		if (v[i].thread != c->s.thread && v[i].end_ns > mid && to - from > half &&
		    ty_requests_of_process(h->o.requests, h->x->m, process, v[i].start_ns,
					   v[i].end_ns))
			return true;
	}
	return false;
}
