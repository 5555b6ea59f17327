/* SPDX-License-Identifier: MIT */
/*
 * Merges waits that timed out or were interrupted by a signal and then restarted (wait_retry.h): a
 * thread that waits for 350 ms in steps of 50, and is finally woken, waited once, for that waker.
 * Budget: each wait and the spans between two of them are examined once. Arguments are read from
 * the file only for timed-out waits followed by another one in the same call; of attempts that are
 * too short to be stalls (an interpreter's for its lock, 5 ms each) only for the first and the
 * last.
 */
#include "stalls_priv.h"
#include "wait_retry.h"
#include "thread_walk.h"

int ty_stall_join_tries(struct ty_stall_search *h, size_t from)
{
	size_t out = from;

	for (size_t i = from; i < h->cand.n;) {
		struct ty_candidate c = h->cand.v[i];
		uint32_t first = c.s.span;
		struct ty_span a = {.syscall = TY_NONE};
		size_t end = i + 1;

		if (c.s.state == TY_ST_SLEEPING)
			a = ty_model_span(h->x->m, first);
		while (ty_wait_retry_in_vain(h->x, a.syscall)) {
			uint32_t k = ty_wait_retry_beside(h->x->m, c.s.thread, c.s.span, true);
			struct ty_span b;
			bool list;

			if (ty_explain_stopped(h->x))
				return -TY_EINTR;
			if (k == TY_NONE)
				break;
			b = ty_model_span(h->x->m, k);
			if (!ty_wait_retry_follows(h->x, &a, &b, &list))
				break;
			c.s.span = k;
			c.end_ns = b.end_ns < h->w.to_ns ? b.end_ns : h->w.to_ns;
			c.s.flags |= b.flags;
			c.tries++;
			a = b;
		}
		/* What is true of the first is of all of them: a run is walked once. */
		while (c.tries && end < h->cand.n && h->cand.v[end].s.start_ns < c.end_ns)
			end++;
		if (!c.tries || ty_wait_timed_out(h->x, a.syscall)) {
			while (i < end)
				h->cand.v[out++] = h->cand.v[i++];
			continue;
		}
		c.first_span = first;
		c.tries++;
		c.s.duration_ns = c.end_ns - c.s.start_ns;
		c.s.last_end_ns = c.end_ns;
		h->cand.v[out++] = c;
		/* The sleeps in between are its tries. */
		for (i++; i < end; i++)
			if (h->cand.v[i].s.state != TY_ST_SLEEPING)
				h->cand.v[out++] = h->cand.v[i];
	}
	h->cand.n = out;
	return 0;
}

struct run {
	uint32_t last; /* call */
	uint32_t tries;
	bool in_vain;
};

/* The tries from call i on, which was in vain. */
static struct run follow(const struct ty_stall_search *h, uint32_t thread, uint32_t i)
{
	const struct ty_model *m = h->x->m;
	const struct ty_thread *t = ty_model_thread(m, thread);
	struct ty_syscall a = ty_model_syscall_brief(m, thread, i);
	struct run r = {.last = i, .tries = 1, .in_vain = true};

	for (uint32_t k = i + 1;
	     k < t->syscalls_first + t->syscalls_n && k - r.last <= TY_WAIT_RETRY_BETWEEN; k++) {
		struct ty_syscall b = ty_model_syscall_brief(m, thread, k);

		if (ty_explain_stopped(h->x) ||
		    b.start_ns - a.end_ns >= TY_WAIT_RETRY_RUNNABLE_NS ||
		    b.flags & (TY_SF_OPEN | TY_SF_LOST | TY_SF_ENDED))
			break;
		if (ty_sleep_in(m, &b) == TY_NONE)
			continue;
		if (ty_syscall_row(h->x->arch, b.abi, b.nr)->wait_on == TY_WAIT_ON_SLEEP)
			break; /* of its own accord */
		if (b.nr != a.nr)
			continue;
		if (!ty_wait_retry_again(h->x, thread, r.last, k))
			break; /* a new request: it waits for another reply */
		a = b;
		r.last = k;
		r.tries++;
		r.in_vain = ty_wait_retry_in_vain(h->x, k);
		if (!r.in_vain)
			break;
	}
	return r;
}

/* A candidate of all the tries; or the one there is of the last of them, which are longer, is one
 * of all. */
static int add_tries(struct ty_stall_search *h, const struct ty_span *first, uint32_t from,
		     const struct ty_span *last, uint32_t to, uint32_t tries)
{
	uint8_t flags = first->flags | last->flags;
	struct ty_candidate *c = NULL;
	int r;

	for (size_t i = h->cand.n; !c && i && h->cand.v[i - 1].s.thread == first->thread; i--)
		if (h->cand.v[i - 1].s.span == to)
			c = &h->cand.v[i - 1];
	if (c && c->s.start_ns <= first->start_ns)
		return 0;
	if (!c) {
		r = ty_stall_add(h, first->thread, to, first->start_ns, last->end_ns,
				 TY_ST_SLEEPING, flags);
		if (r)
			return r;
		c = &h->cand.v[h->cand.n - 1];
	}
	c->s.start_ns = first->start_ns;
	c->s.duration_ns = c->end_ns - c->s.start_ns;
	c->s.flags |= flags;
	c->tries = tries;
	c->first_span = from;
	return 0;
}

int ty_stall_short_tries(struct ty_stall_search *h, uint32_t thread)
{
	const struct ty_seek q = {.min_ns = TY_STALL_LITTLE_NS, .nr = -1, .errors = true};
	const struct ty_model *m = h->x->m;
	uint64_t at = h->w.from_ns ? h->w.from_ns - 1 : 0, min = h->o.min_ns;

	for (uint32_t i, back = TY_NONE;; back = i) {
		struct ty_syscall a, z;
		uint32_t from, to;
		struct ty_wait_for v, w;
		struct ty_span first, last;
		struct run run;
		int r;

		i = ty_model_seek(m, (struct ty_track){TY_TRACK_SYSCALLS, thread}, &q, at, false);
		if (i == TY_NONE || (back != TY_NONE && i <= back)) /* a damaged index */
			return 0;
		a = ty_model_syscall_brief(m, thread, i);
		at = a.start_ns;
		if (at >= h->w.to_ns)
			return 0;
		if (ty_explain_stopped(h->x))
			return -TY_EINTR;
		from = ty_wait_retry_in_vain(h->x, i) ? ty_sleep_in(m, &a) : TY_NONE;
		if (from == TY_NONE)
			continue;
		first = ty_model_span(m, from);
		if (first.end_ns - first.start_ns >= min)
			continue;
		run = follow(h, thread, i);
		z = ty_model_syscall_brief(m, thread, run.last);
		at = run.tries > 1 ? z.start_ns : at;
		if (run.in_vain || run.tries < 2 || z.end_ns > h->w.to_ns)
			continue;
		to = ty_sleep_in(m, &z);
		last = ty_model_span(m, to);
		if (last.end_ns - first.start_ns < min)
			continue;
		v = ty_wait_for(h->x, &first, first.syscall);
		w = ty_wait_for(h->x, &last, last.syscall);
		if (!ty_wait_retry_same(m, thread, &v, &w) || (!w.word && w.fd < 0))
			continue;
		r = add_tries(h, &first, from, &last, to, run.tries);
		if (r)
			return r;
	}
}
