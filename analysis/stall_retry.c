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

/* The next wait of the thread that begins shortly after t; TY_NONE. A thread that was runnable for
 * long in between did not simply continue to wait. */
static uint32_t next_wait(const struct ty_stall_search *h, uint32_t thread, uint32_t span,
			  uint64_t t)
{
	const struct ty_model *m = h->x->m;
	const struct ty_thread *th = ty_model_thread(m, thread);
	uint64_t ran = 0, ready = 0;

	for (uint32_t k = span + 1; k < th->spans_first + th->spans_n; k++) {
		struct ty_span s = ty_model_span_brief(m, thread, k);

		if (s.start_ns >= t && ty_stall_is_wait(s.state))
			return s.state == TY_ST_SLEEPING ? k : TY_NONE;
		ran += s.state == TY_ST_RUNNING ? s.end_ns - s.start_ns : 0;
		ready += s.state == TY_ST_RUNNABLE ? s.end_ns - s.start_ns : 0;
		if (ran > TY_WAIT_RETRY_RAN_NS || ready >= TY_WAIT_RETRY_RUNNABLE_NS ||
		    (s.state != TY_ST_RUNNING && s.state != TY_ST_RUNNABLE && s.start_ns >= t))
			return TY_NONE;
	}
	return TY_NONE;
}

struct
try {
	struct ty_span s;
	struct ty_wait_for w;
	bool has_w; /* made when first asked for */
};

static struct try try_at(const struct ty_stall_search *h, uint32_t span)
{
	return (struct try){.s = ty_model_span(h->x->m, span)};
}

static const struct ty_wait_for *what_for(const struct ty_stall_search *h, struct try *t)
{
	if (!t->has_w)
		t->w = ty_wait_for(h->x, &t->s, t->s.syscall);
	t->has_w = true;
	return &t->w;
}

/* Is b, which follows a, a wait for the same thing? */
static bool again(const struct ty_stall_search *h, struct try *a, struct try *b)
{
	const struct ty_model *m = h->x->m;
	uint32_t thread = a->s.thread;
	const struct ty_wait_for *v, *w;

	/* A thread that sends a new request in between waits for another reply. */
	if (b->s.syscall == TY_NONE ||
	    !ty_wait_retry_again(h->x, thread, a->s.syscall, b->s.syscall))
		return false;
	v = what_for(h, a);
	w = what_for(h, b);
	if (!ty_wait_retry_same(m, thread, v, w))
		return false;
	return w->word || w->fd >= 0 || ty_wait_retry_same_list(h->x, a->s.syscall, b->s.syscall);
}

int ty_stall_join_tries(struct ty_stall_search *h, size_t from)
{
	size_t out = from;

	for (size_t i = from; i < h->cand.n;) {
		struct ty_candidate c = h->cand.v[i];
		uint32_t first = c.s.span;
		struct try a = {.s.syscall = TY_NONE};
		size_t end = i + 1;
		if (c.s.state == TY_ST_SLEEPING)
			a = try_at(h, first);
		while (ty_wait_retry_in_vain(h->x, a.s.syscall)) {
			uint32_t k = next_wait(h, c.s.thread, c.s.span, c.end_ns);
			struct try b;

			if (ty_explain_stopped(h->x))
				return -TY_EINTR;
			if (k == TY_NONE || (b = try_at(h, k), !again(h, &a, &b)))
				break;
			c.s.span = k;
			c.end_ns = b.s.end_ns < h->w.to_ns ? b.s.end_ns : h->w.to_ns;
			c.s.flags |= b.s.flags;
			c.tries++;
			a = b;
		}
		/* What is true of the first is of all of them: a run is walked once. */
		while (c.tries && end < h->cand.n && h->cand.v[end].s.start_ns < c.end_ns)
			end++;
		if (!c.tries || ty_wait_timed_out(h->x, a.s.syscall)) {
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

#define SPANS 8 /* of a call, up to its sleep */

/* The sleep in a call; TY_NONE: it did not wait. */
static uint32_t sleep_in(const struct ty_model *m, uint32_t thread, const struct ty_syscall *c)
{
	const struct ty_thread *t = ty_model_thread(m, thread);
	uint32_t k = ty_model_span_find(m, thread, c->start_ns);

	for (unsigned n = 0; n < SPANS && k < t->spans_first + t->spans_n; n++, k++) {
		struct ty_span s = ty_model_span_brief(m, thread, k);

		if (s.start_ns >= c->end_ns)
			break;
		if (s.state == TY_ST_SLEEPING && s.start_ns >= c->start_ns)
			return k;
	}
	return TY_NONE;
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
		if (b.nr != a.nr || sleep_in(m, thread, &b) == TY_NONE)
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
		struct try first, last;
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
		from = ty_wait_retry_in_vain(h->x, i) ? sleep_in(m, thread, &a) : TY_NONE;
		if (from == TY_NONE)
			continue;
		first = try_at(h, from);
		if (first.s.end_ns - first.s.start_ns >= min)
			continue;
		run = follow(h, thread, i);
		z = ty_model_syscall_brief(m, thread, run.last);
		at = run.tries > 1 ? z.start_ns : at;
		if (run.in_vain || run.tries < 2 || z.end_ns > h->w.to_ns)
			continue;
		to = sleep_in(m, thread, &z);
		last = try_at(h, to);
		if (last.s.end_ns - first.s.start_ns < min ||
		    !ty_wait_retry_same(m, thread, what_for(h, &first), what_for(h, &last)) ||
		    (!last.w.word && last.w.fd < 0))
			continue;
		r = add_tries(h, &first.s, from, &last.s, to, run.tries);
		if (r)
			return r;
	}
}
