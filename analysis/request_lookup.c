/* SPDX-License-Identifier: MIT */
/* See request_lookup.h. */
#include "request_lookup.h"

#include "process_of_thread.h"

const struct ty_request *ty_requests_around(const struct ty_requests *r, uint32_t thread,
					    uint64_t from_ns, uint64_t to_ns)
{
	for (uint32_t i = 0; r && i < r->n && ty_request_ns(&r->v[i]) >= to_ns - from_ns; i++) {
		const struct ty_request *q = &r->v[i];
		uint32_t of = q->thread == TY_NONE ? q->replied_by : q->thread;

		if (of == thread && q->start_ns <= from_ns && q->end_ns >= to_ns)
			return q;
	}
	return NULL;
}

const struct ty_request *ty_requests_awaited(const struct ty_requests *r, uint32_t thread,
					     uint64_t from_ns, uint64_t to_ns, bool vain)
{
	for (uint32_t i = 0;
	     r && i < r->client_waits_n && ty_request_ns(&r->client_waits[i]) >= to_ns - from_ns;
	     i++) {
		const struct ty_request *q = &r->client_waits[i];

		if (q->thread == thread && q->start_ns <= from_ns && q->end_ns >= to_ns &&
		    (vain || !(q->flags & TY_REQ_VAIN)))
			return q;
	}
	return NULL;
}

bool ty_requests_pending(const struct ty_requests *r, uint32_t thread, uint64_t from_ns,
			 uint64_t to_ns)
{
	if (ty_requests_around(r, thread, from_ns, to_ns))
		return true;
	for (uint32_t i = 0; r && i < r->pending_n; i++)
		if (r->pending[i].thread == thread && r->pending[i].start_ns <= from_ns &&
		    r->pending[i].end_ns >= to_ns)
			return true;
	return false;
}

bool ty_requests_served(const struct ty_requests *r, uint32_t process)
{
	for (uint32_t i = 0; r && i < r->services_n; i++)
		if (r->services[i].process == process && r->services[i].n)
			return true;
	return false;
}

/* Is one of these, which are in order of length, of the process, and open for half of the time? */
static bool any_open(const struct ty_request *v, uint32_t n, const struct ty_model *m,
		     uint32_t process, uint64_t from_ns, uint64_t to_ns)
{
	for (uint32_t i = 0; i < n && ty_request_ns(&v[i]) > (to_ns - from_ns) / 2; i++) {
		uint64_t a = v[i].start_ns > from_ns ? v[i].start_ns : from_ns,
			 b = v[i].end_ns < to_ns ? v[i].end_ns : to_ns;
		uint32_t thread = v[i].thread == TY_NONE ? v[i].replied_by : v[i].thread;

		if (b > a && b - a > (to_ns - from_ns) / 2 && thread != TY_NONE &&
		    ty_process_of(m, thread) == process && !(v[i].flags & TY_REQ_VAIN))
			return true;
	}
	return false;
}

bool ty_requests_of_process(const struct ty_requests *r, const struct ty_model *m, uint32_t process,
			    uint64_t from_ns, uint64_t to_ns)
{
	return r && (any_open(r->v, r->n, m, process, from_ns, to_ns) ||
		     any_open(r->client_waits, r->client_waits_n, m, process, from_ns, to_ns));
}
