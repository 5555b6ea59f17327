/* SPDX-License-Identifier: MIT */
/*
 * A wait that is still open when the recording ends: had the thread sent a request to another one,
 * by whatever channel (condition variable, semaphore, another pipe), which is not done with it?
 *
 * Budget: TY_STALL_BACK spans of each thread that was woken since the last long wait.
 */
#include <unistd.h>

#include "stall_woken.h"
#include "syscall_ipc.h"

/* When the thread woke the other one first, had that one waited since before the recording? */
static bool waited_before(const struct ty_stall_search *h, uint32_t thread, uint32_t other)
{
	const struct ty_model *m = h->x->m;
	const struct ty_thread *t = ty_model_thread(m, other);
	uint32_t first = t->spans_first, span;

	return t->spans_n > 1 && ty_model_span_brief(m, other, first).flags & TY_SF_BEFORE &&
	       ty_stall_last_message(h, other, thread,
				     ty_model_span_brief(m, other, first + 1).start_ns, true,
				     &span);
}

/* Are these waits of a thread certainly for different things? Not where both are on words, which
 * those of condition variables may change, nor where one is for any event. */
static bool is_elsewhere(const struct ty_wait_for *a, const struct ty_wait_for *b)
{
	if (a->fd >= 0 && b->fd >= 0)
		return a->fd != b->fd;
	return (a->word && b->fd >= 0 && b->class == TY_WAIT_PEER) ||
	       (b->word && a->fd >= 0 && a->class == TY_WAIT_PEER);
}

/* Is the other one, woken at `span`, done with that: does it wait when the recording ends, but not
 * in a sleep, and did it return to where it had waited before, or may have? */
static bool is_done(const struct ty_stall_search *h, uint32_t other, uint32_t span)
{
	const struct ty_model *m = h->x->m;
	const struct ty_thread *t = ty_model_thread(m, other);
	struct ty_span s = ty_model_span(m, t->spans_first + t->spans_n - 1);
	struct ty_wait_for w, was;

	if (s.state != TY_ST_SLEEPING || !(s.flags & TY_SF_OPEN))
		return false;
	w = ty_wait_for(h->x, &s, s.syscall);
	if (w.class != TY_WAIT_PEER && (w.class != TY_WAIT_IDLE || w.kind == TY_STALL_SLEEP))
		return false;
	if (span == t->spans_first || ty_stall_went_back(h->x, other, span, s.end_ns))
		return true;
	s = ty_model_span(m, span - 1);
	was = ty_wait_for(h->x, &s, s.syscall);
	return !is_elsewhere(&was, &w);
}

/* Was what the thread sent at `request_ns`, which woke the other one, a reply: on a descriptor of
 * which the thread is the server? Or has that one ended as a process, which would be noticed? */
static bool is_reply(const struct ty_stall_search *h, const struct ty_candidate *c, uint32_t other,
		     uint64_t request_ns)
{
	const struct ty_thread *t = ty_model_thread(h->x->m, other);
	int64_t fd;

	if (t->died && t->tgid != ty_model_thread(h->x->m, c->s.thread)->tgid)
		return true;
	fd = ty_stall_given_to(h->x, c->s.thread, request_ns);
	return fd >= 0 && ty_stall_side(h, c, fd).is_server;
}

/* Did a third thread wake the waiter on that futex before? Then requests of several threads arrive
 * there, as in a pool's queue. */
static bool queue_of_several(const struct ty_stall_search *h, const struct ty_candidate *c,
			     uint32_t other)
{
	const struct ty_model *m = h->x->m;
	const struct ty_thread *t = ty_model_thread(m, c->s.thread);
	uint64_t word = c->w.word ? ty_wait_word_of(h->x, &c->w, c->s.syscall) : 0, at;
	uint32_t k = c->s.span;

	for (unsigned n = 0; word && k > t->spans_first && n < TY_STALL_BACK; n++) {
		struct ty_span s = ty_model_span_brief(m, c->s.thread, --k);
		struct ty_waker by;
		uint32_t call;

		if (s.state != TY_ST_RUNNABLE || s.flags & (TY_SF_PREEMPT | TY_SF_YIELD))
			continue;
		by = ty_waker_find(m, ty_model_span_edge(m, &s, k));
		if (by.kind != TY_WAKER_THREAD || by.thread == other)
			continue;
		call = ty_model_syscall_at(m, by.thread, by.act_ns);
		if (call != TY_NONE && ty_wait_futex_use(h->x, call, &at) == TY_FUTEX_WAKES &&
		    at == word)
			return true;
	}
	return false;
}

/* Is the request by which the thread woke the other one at `request_ns`, where `span` began, still
 * without a reply? Not if the wakeup was no request: the other one may have been the client before
 * the recording, or a lock was released, or the thread is a program that reads that one's output.
 */
static bool is_pending(const struct ty_stall_search *h, const struct ty_candidate *c,
		       uint32_t other, uint32_t span, uint64_t request_ns)
{
	const struct ty_model *m = h->x->m;
	uint32_t call = ty_model_syscall_at(m, c->s.thread, request_ns);
	struct ty_syscall a, b;

	if (waited_before(h, c->s.thread, other) || is_done(h, other, span) ||
	    is_reply(h, c, other, request_ns) || queue_of_several(h, c, other) ||
	    (c->w.fd == STDIN_FILENO &&
	     ty_stall_descends(m, c->s.thread, ty_model_thread(m, other)->tgid)))
		return false;
	if (call == TY_NONE || c->s.syscall == TY_NONE)
		return true;
	/* The same word, or set of semaphores. */
	a = ty_model_syscall(m, call);
	b = ty_model_syscall(m, c->s.syscall);
	return !ty_explain_same_args(h->x, &a, &b, 1);
}

uint64_t ty_stall_no_reply(const struct ty_stall_search *h, const struct ty_candidate *c,
			   uint32_t *to)
{
	const struct ty_model *m = h->x->m;
	uint32_t thread = c->s.thread, threads = ty_model_summary(m)->threads, span;
	const struct ty_thread *th = ty_model_thread(m, thread);
	uint64_t t = c->s.start_ns, from = t;
	uint32_t k = ty_model_span_find(m, thread, t);

	for (unsigned n = 0; k != TY_NONE && k > th->spans_first && n < TY_STALL_BACK; n++) {
		struct ty_span s = ty_model_span_brief(m, thread, --k);

		if (ty_stall_is_wait(s.state) && s.end_ns - s.start_ns >= TY_STALL_LITTLE_NS)
			break;
		from = s.start_ns;
	}
	for (*to = 0; *to < threads; ++*to) {
		uint64_t request_ns;

		/* The expensive check only for threads that were woken. */
		if (*to == thread || ty_model_thread(m, *to)->kernel ||
		    !ty_stall_woke_within(h->x, *to, thread, from, t) ||
		    !ty_stall_has_request(h, thread, *to, t, true))
			continue;
		request_ns = ty_stall_last_message(h, *to, thread, t, true, &span);
		if (request_ns >= from && is_pending(h, c, *to, span, request_ns))
			return request_ns;
	}
	return 0;
}
