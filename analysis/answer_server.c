/* SPDX-License-Identifier: MIT */
/* Is a command a server for clients outside of it, and idle for most of its time? */
#include "answer_priv.h"
#include "process_of_thread.h"
#include "request_lookup.h"

/* Does a process of the command reply to requests, and does none of the others await a reply, as a
 * client that the command itself started does? */
static bool serves_others(const struct ty_answer_work *k)
{
	const struct ty_requests *q = k->requests;
	bool serves = false;

	for (uint32_t i = 0; q && i < q->services_n && !serves; i++)
		serves = q->services[i].n && k->mine[q->services[i].process];
	for (uint32_t i = 0; serves && i < q->client_waits_n; i++) {
		const uint32_t thread = q->client_waits[i].thread;

		serves = !k->mine[thread] || ty_requests_served(q, ty_process_of(k->x->m, thread));
	}
	return serves;
}

/* Does the call wait for any event, a time, or a message? */
static bool waits_for_message(const struct ty_explain *x, uint32_t span)
{
	const struct ty_span s = ty_model_span(x->m, span);
	const struct ty_sysrow *r;

	if (s.state != TY_ST_SLEEPING || s.syscall == TY_NONE)
		return false;
	r = ty_explain_row(x, s.syscall);
	return r->wait_class == TY_WAIT_IDLE ||
	       (r->wait_class == TY_WAIT_PEER &&
		(r->wait_on == TY_WAIT_ON_SOCKET || r->wait_on == TY_WAIT_ON_FD));
}

/* Of a segment: of the command's own waits that led to it the innermost; TY_NONE: none did. */
static uint32_t own_wait(const struct ty_answer_work *k, const struct ty_seg *s)
{
	uint32_t hop = s->hop;

	if (k->mine[s->thread])
		return ty_seg_on_cpu(s->what) || s->what == TY_SEG_RUNNABLE ? TY_NONE : s->span;
	while (hop != TY_NONE && !k->mine[k->path->hop.v[hop].thread])
		hop = k->path->hop.v[hop].parent;
	return hop == TY_NONE ? TY_NONE : k->path->hop.v[hop].span;
}

bool ty_answer_is_server(const struct ty_answer_work *k, uint64_t total_ns)
{
	uint64_t idle_ns = 0;

	if (!serves_others(k))
		return false;
	vec_each (s, &k->path->seg) {
		const uint32_t span = own_wait(k, s);

		if (span != TY_NONE && waits_for_message(k->x, span))
			idle_ns += s->end_ns - s->start_ns;
	}
	return idle_ns > total_ns / 2;
}
