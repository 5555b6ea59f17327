/* SPDX-License-Identifier: MIT */
/* See wait_children.h. */
#include "wait_children.h"

#include "process_of_thread.h"
#include "syscall_ipc.h"
#include "thread_walk.h"
#include "wait_retry.h"

#define BACK 512 /* waits of the parent, sleeps of the child */

/* Did the thread, between its calls a and b, neither send anything, nor close it, nor make a child?
 */
static bool only_waited(const struct ty_explain *x, uint32_t thread, uint32_t a, uint32_t b)
{
	while (++a < b) {
		const struct ty_syscall c = ty_model_syscall_brief(x->m, thread, a);
		const struct ty_sysrow *r = ty_syscall_row(x->arch, c.abi, c.nr)->as;

		if (r->says & (TY_GIVES | TY_CLOSES) ||
		    (r->wait_on == TY_WAIT_ON_CHILD && r->wait_class != TY_WAIT_END))
			return false;
	}
	return true;
}

static bool for_child(const struct ty_explain *x, uint32_t call)
{
	return call != TY_NONE && ty_explain_row(x, call)->wait_on == TY_WAIT_ON_CHILD &&
	       ty_explain_row(x, call)->wait_class == TY_WAIT_END;
}

/* Did no other child of that process wake a thread in [from, to), as in a pipeline? */
static bool works_alone(const struct ty_model *m, uint32_t thread, uint32_t parent, uint64_t from,
			uint64_t to)
{
	const struct ty_seek q = {.states = 1u << TY_ST_SLEEPING, .nr = -1};
	const struct ty_track track = {TY_TRACK_THREAD, thread};

	for (unsigned n = 0; n < BACK; n++) {
		const uint32_t k = ty_model_seek(m, track, &q, to, true);
		struct ty_waker by;
		struct ty_span s;

		if (k == TY_NONE)
			return true;
		s = ty_model_span_brief(m, thread, k);
		if (s.end_ns <= from || s.start_ns >= to)
			return s.end_ns <= from;
		by = ty_waker_find(m, ty_model_span_edge(m, &s, k));
		if (by.kind == TY_WAKER_THREAD &&
		    ty_process_of(m, by.thread) != ty_process_of(m, thread) &&
		    ty_process_parent(m, by.thread) == parent)
			return false;
		to = s.start_ns;
	}
	return false;
}

uint32_t ty_wait_children_first(const struct ty_explain *x, uint32_t thread, uint32_t span,
				uint64_t from_ns, const struct ty_waker *by)
{
	const struct ty_model *m = x->m;
	const struct ty_thread *child =
		by->kind == TY_WAKER_THREAD ? ty_model_thread(m, by->thread) : NULL;
	struct ty_span s, before;
	uint32_t first = span;

	if (!child || child->forked_by < 0 ||
	    ty_process_of(m, (uint32_t)child->forked_by) != ty_process_of(m, thread) ||
	    by->thread != ty_process_of(m, by->thread) || /* one that only ends with its process */
	    by->thread == ty_process_of(m, thread))
		return span;
	s = ty_model_span(m, span);
	for (unsigned n = 0; n < BACK && s.start_ns > from_ns; n++, s = before) {
		const uint32_t k = ty_wait_retry_beside(m, thread, first, false);

		if (k == TY_NONE || ty_explain_stopped(x))
			break;
		before = ty_model_span(m, k);
		if (before.start_ns < child->start_ns || !for_child(x, s.syscall) ||
		    !for_child(x, before.syscall) ||
		    !only_waited(x, thread, before.syscall, s.syscall))
			break;
		first = k;
	}
	return first != span && works_alone(m, by->thread, ty_process_of(m, thread),
					    ty_model_span_brief(m, thread, first).start_ns,
					    by->act_ns)
		       ? first
		       : span;
}
