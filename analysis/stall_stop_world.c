/* SPDX-License-Identifier: MIT */
/*
 * Stop-the-world: one thread of a process works alone, at the request of another one. Running
 * threads stop, too; at the end it wakes all of them and waits for the next request. Garbage
 * collectors do this. A thread that distributes work differs: it is woken when the last of its
 * workers is done, so that the others wait before it begins; or others work meanwhile; or it waits
 * for something other than the next request of its own process (epoll). Or the one that works stops
 * the others by signals: the handler of each waits for it.
 *
 * Budget: each thread of the process at two instants, and TY_STALL_BACK spans of the one that
 * works.
 */
#include "stalls_priv.h"
#include "thread_walk.h"
#include "wait_retry.h"

#define TOGETHER_NS UINT64_C(20000000) /* woken within that, they are woken together */
#define WORKER_BACK 256		       /* spans before and after */
#define SLACK_NS    UINT64_C(10000000) /* stopped within that, or a tenth of the wait */

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* How much of the path others of the process worked, or were runnable. */
static uint64_t work_ns(const struct ty_model *m, uint32_t thread, const struct ty_path *p)
{
	int32_t tgid = ty_model_thread(m, thread)->tgid;
	uint64_t ns = 0;

	vec_each (s, &p->seg)
		if (s->thread != thread && (ty_seg_on_cpu(s->what) || s->what == TY_SEG_RUNNABLE) &&
		    ty_model_thread(m, s->thread)->tgid == tgid)
			ns += s->end_ns - s->start_ns;
	return ns;
}

/* The last wait of the thread that another one ended by t, and not for a lock. */
static bool woken_before(const struct ty_stall_search *h, uint32_t thread, uint64_t t,
			 struct ty_span *out, uint32_t *by)
{
	uint32_t first = ty_model_thread(h->x->m, thread)->spans_first,
		 k = ty_model_span_find(h->x->m, thread, t);

	for (unsigned n = 0; k != TY_NONE && n < TY_STALL_BACK; n++, k--) {
		struct ty_span s = ty_model_span_brief(h->x->m, thread, k);
		struct ty_waker w;

		if (s.state == TY_ST_SLEEPING && s.end_ns <= t) {
			*out = ty_model_span(h->x->m, k);
			w = ty_waker_find(h->x->m, out->edge);
			*by = w.thread;
			if (w.kind == TY_WAKER_THREAD && out->syscall != TY_NONE &&
			    ty_wait_for(h->x, out, out->syscall).kind != TY_STALL_LOCK)
				return true;
		}
		if (k == first)
			break;
	}
	return false;
}

/* Does the thread, once it has let the others go on, wait for the same again? What is behind the
 * recording's end is not known. */
static bool waits_next(const struct ty_stall_search *h, uint32_t thread, uint64_t t, uint64_t word)
{
	uint32_t k = ty_model_span_find(h->x->m, thread, t), call;
	struct ty_wait_for w;

	return !ty_stall_next_wait(h->x, thread, k, true, &w, &call) ||
	       ty_wait_word(h->x, call) == word;
}

/*
 * Is the thread a worker of the one that ended its wait: it repeatedly waits only to be woken by
 * it, and reports back before it waits? What such a thread waits for is its next task. A thread
 * that sends its next request as soon as it runs looks the same.
 */
static bool is_worker(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	const struct ty_thread *t = ty_model_thread(h->x->m, c->s.thread);
	uint32_t k = ty_model_span_find(h->x->m, c->s.thread, c->s.start_ns),
		 first = k - t->spans_first > WORKER_BACK ? k - WORKER_BACK : t->spans_first;
	uint64_t word = ty_wait_word_of(h->x, &c->w, c->s.syscall), before = 0;
	unsigned waits = 0, reports = 0;

	if (ty_thread_worked(h->x->m, c->waker.thread, c->s.start_ns, c->end_ns) >=
	    c->s.duration_ns / 2)
		return false;
	for (k = first; k < t->spans_first + t->spans_n && k - first < 2 * WORKER_BACK; k++) {
		struct ty_span s = ty_model_span_brief(h->x->m, c->s.thread, k);
		struct ty_waker w;

		if (s.state != TY_ST_SLEEPING || s.end_ns - s.start_ns < TY_STALL_LITTLE_NS)
			continue;
		s = ty_model_span(h->x->m, k);
		w = ty_waker_find(h->x->m, s.edge);
		if (w.kind == TY_WAKER_NONE)
			continue;
		if (w.kind != TY_WAKER_THREAD || w.thread != c->waker.thread ||
		    s.syscall == TY_NONE || ty_wait_word(h->x, s.syscall) != word)
			return false;
		waits++;
		reports += before && ty_stall_last_woke(h->x, c->waker.thread, c->s.thread,
							s.start_ns) >= before;
		before = s.end_ns;
	}
	return waits >= 3 && reports * 3 >= waits;
}

/* When was thread i stopped, if with the candidate's, to be woken with it by the same one? 0: it
 * was not. */
static uint64_t stopped_along(const struct ty_model *m, const struct ty_candidate *c, uint32_t i,
			      uint64_t slack)
{
	struct ty_span s =
		ty_model_span(m, ty_model_span_find(m, i, c->s.start_ns + c->s.duration_ns / 2));
	struct ty_waker k;

	if (s.state != TY_ST_SLEEPING || apart(s.start_ns, c->s.start_ns) > slack)
		return 0;
	k = ty_waker_find(m, s.edge);
	return k.kind == TY_WAKER_THREAD && k.thread == c->waker.thread &&
			       apart(k.ts_ns, c->waker.ts_ns) <= TOGETHER_NS
		       ? s.start_ns
		       : 0;
}

/* Do others of the process work meanwhile, but for those that the one that works has woken to help?
 */
static bool works_too(const struct ty_stall_search *h, const struct ty_candidate *c, uint32_t i,
		      uint64_t began)
{
	return ty_thread_time(h->x->m, i, c->s.start_ns, c->end_ns).ns[TY_ST_RUNNING] >
		       c->s.duration_ns / 10 &&
	       ty_stall_last_woke(h->x, i, c->waker.thread, c->end_ns) < began;
}

/* Did a signal of the candidate's waker interrupt what thread i waited for before? */
static bool was_signalled(const struct ty_stall_search *h, const struct ty_candidate *c, uint32_t i)
{
	const struct ty_model *m = h->x->m;
	uint32_t k = ty_model_span_find(m, i, c->s.start_ns + c->s.duration_ns / 2);
	struct ty_syscall call;
	struct ty_waker w;
	struct ty_span s;

	k = k == TY_NONE ? k : ty_wait_retry_beside(m, i, k, false);
	if (k == TY_NONE)
		return false;
	s = ty_model_span(m, k);
	w = ty_waker_find(m, s.edge);
	if (w.kind != TY_WAKER_THREAD || w.thread != c->waker.thread || s.syscall == TY_NONE)
		return false;
	call = ty_model_syscall(m, s.syscall);
	return ty_wait_retry_interrupted(&call);
}

/* Is it another thread of the process, which existed before the wait and exists after it? */
static bool is_other(const struct ty_model *m, const struct ty_candidate *c, uint32_t i)
{
	const struct ty_thread *t = ty_model_thread(m, i);

	return i != c->s.thread && i != c->waker.thread &&
	       t->tgid == ty_model_thread(m, c->s.thread)->tgid &&
	       t->start_ns < c->s.start_ns + c->s.duration_ns / 2 && t->end_ns > c->end_ns;
}

/* The candidate's thread was signalled: was another one, too, and both wait in the handler? */
static bool stops_by_signals(const struct ty_stall_search *h, const struct ty_candidate *c,
			     uint64_t slack)
{
	const struct ty_model *m = h->x->m;

	for (uint32_t i = 0; i < ty_model_summary(m)->threads; i++)
		if (is_other(m, c, i) && stopped_along(m, c, i, slack) && was_signalled(h, c, i))
			return true;
	return false;
}

/* Did the process request it of the waker, and do its other threads stop for that? */
static bool stops_on_request(const struct ty_stall_search *h, const struct ty_candidate *c,
			     uint64_t slack)
{
	const struct ty_model *m = h->x->m;
	int32_t tgid = ty_model_thread(m, c->s.thread)->tgid;
	uint32_t stopped = 0, late = 0, by;
	struct ty_span before;

	if (!woken_before(h, c->waker.thread, c->s.start_ns + slack, &before, &by) ||
	    before.end_ns + slack < c->s.start_ns || ty_model_thread(m, by)->tgid != tgid ||
	    !ty_wait_word(h->x, before.syscall) ||
	    !waits_next(h, c->waker.thread, c->waker.ts_ns, ty_wait_word(h->x, before.syscall)))
		return false;
	/* A thread that had stopped before the request was not stopped by it. */
	if (by != c->s.thread) {
		if (c->s.start_ns < before.end_ns)
			return false;
		late++;
	}
	for (uint32_t i = 0; i < ty_model_summary(m)->threads; i++) {
		uint64_t at;

		if (!is_other(m, c, i))
			continue;
		at = stopped_along(m, c, i, slack);
		stopped += at != 0;
		late += i != by && at >= before.end_ns;
		if (!at && (i == by || works_too(h, c, i, before.end_ns)))
			return false;
	}
	return stopped && late && !is_worker(h, c);
}

bool ty_stall_stops_world(const struct ty_stall_search *h, const struct ty_candidate *c,
			  const struct ty_path *p)
{
	const struct ty_model *m = h->x->m;
	int32_t tgid = ty_model_thread(m, c->s.thread)->tgid;
	uint64_t slack = c->s.duration_ns / 10 > SLACK_NS ? c->s.duration_ns / 10 : SLACK_NS;

	if (c->waker.kind != TY_WAKER_THREAD || !c->w.word || tgid < 0 ||
	    ty_model_thread(m, c->waker.thread)->tgid != tgid ||
	    work_ns(m, c->s.thread, p) < c->s.duration_ns / 2)
		return false;
	return was_signalled(h, c, c->s.thread) ? stops_by_signals(h, c, slack)
						: stops_on_request(h, c, slack);
}
