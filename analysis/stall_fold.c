/* SPDX-License-Identifier: MIT */
/*
 * Findings that tell the same are one: waits of one thread that are alike and follow each other
 * closely (a call in which the kernel waits 14 times; a thread that a hog keeps off its CPU again
 * and again), and the threads that wait for one lock, or for the CPU of one hog, at the same time.
 * A wait that lasts far longer than its like is what is looked for, and stays one of its own.
 * Budget: a sort of the findings, and for locks and CPUs one look at each pair.
 */
#include "stalls_priv.h"

#include <stdlib.h>

#define ALIKE	3 /* so many at least */
#define LONGER	4 /* times as long as the one beside it: not alike */
#define NO_MORE 3 /* times the shorter wait between the two: not closely */

static int32_t nr_of(const struct ty_model *m, const struct ty_candidate *c)
{
	return c->s.syscall == TY_NONE ? -1
				       : ty_model_syscall_brief(m, c->s.thread, c->s.syscall).nr;
}

static bool may_join(const struct ty_candidate *c)
{
	/* Who shared a CPU is told of each wait. */
	return !c->dropped && !c->folded && !c->end_only && (c->s.waits <= 1 || c->tries) &&
	       !(c->s.kind == TY_STALL_RUNQUEUE && c->s.culprit == TY_NONE);
}

static int by_thread(const void *pa, const void *pb)
{
	const struct ty_candidate *a = *(struct ty_candidate *const *)pa,
				  *b = *(struct ty_candidate *const *)pb;

	if (a->s.thread != b->s.thread)
		return a->s.thread < b->s.thread ? -1 : 1;
	if (a->s.kind != b->s.kind)
		return a->s.kind < b->s.kind ? -1 : 1;
	return a->s.start_ns < b->s.start_ns ? -1 : a->s.start_ns > b->s.start_ns;
}

/* Does b, which comes next, tell the same as a? */
static bool alike(const struct ty_model *m, const struct ty_candidate *a,
		  const struct ty_candidate *b)
{
	uint64_t x = a->s.duration_ns, y = b->s.duration_ns, shorter = x < y ? x : y;
	bool device = a->s.kind == TY_STALL_IO || a->s.kind == TY_STALL_FAULT;

	return a->s.thread == b->s.thread && a->s.kind == b->s.kind && a->s.state == b->s.state &&
	       a->s.culprit == b->s.culprit && a->s.proven == b->s.proven &&
	       a->end_ns <= b->s.start_ns && b->s.start_ns - a->end_ns <= NO_MORE * shorter &&
	       (x > y ? x : y) / LONGER <= shorter && nr_of(m, a) == nr_of(m, b) &&
	       (device || ty_wait_same(m, a->s.thread, &a->w, b->s.thread, &b->w));
}

/* One finding of n that follow each other: the longest stands for all. */
static void join(struct ty_candidate **v, size_t n)
{
	struct ty_candidate *chief = v[0];
	uint64_t ns = 0, path = 0, aside = 0, rival = 0, held = 0, idle = 0, steal = 0, counted = 0;
	uint32_t waits = 0;
	uint8_t flags = 0;

	for (size_t i = 0; i < n; i++) {
		chief = v[i]->s.duration_ns > chief->s.duration_ns ? v[i] : chief;
		ns += v[i]->s.duration_ns;
		path += v[i]->s.path_ns;
		aside += v[i]->aside_ns;
		rival += v[i]->rival_ns;
		held += v[i]->held.ns;
		idle += v[i]->idle_ns;
		steal += v[i]->s.steal_ns;
		counted += v[i]->s.steal_counted_ns;
		waits += v[i]->tries ? v[i]->tries : 1;
		flags |= v[i]->s.flags;
		v[i]->dropped = v[i]->folded = true;
	}
	chief->dropped = chief->folded = false;
	chief->longest_ns = chief->s.duration_ns;
	chief->s.start_ns = v[0]->s.start_ns;
	chief->s.last_end_ns = v[n - 1]->end_ns;
	chief->s.duration_ns = ns;
	chief->s.path_ns = path;
	chief->aside_ns = aside;
	chief->rival_ns = rival;
	chief->held.ns = held;
	chief->idle_ns = idle;
	chief->s.steal_ns = steal;
	chief->s.steal_counted_ns = counted;
	chief->s.flags = flags;
	chief->s.waits = waits;
	chief->tries = chief->tries ? waits : 0;
}

/* What the sum of one call tells, its single waits do not tell again. */
static void fold_call(struct ty_stall_search *h, size_t n, const struct ty_candidate *call)
{
	for (size_t i = 0; i < n; i++) {
		struct ty_candidate *c = &h->cand.v[i];

		if (c != call && c->s.thread == call->s.thread && c->s.kind == call->s.kind &&
		    c->s.start_ns >= call->s.start_ns && c->end_ns <= call->s.last_end_ns)
			c->dropped = c->folded = true;
	}
}

int ty_stall_fold_similar(struct ty_stall_search *h, size_t n)
{
	struct ty_candidate **v = malloc((n + 1) * sizeof(*v));
	size_t k = 0;

	if (!v)
		return -TY_ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (h->cand.v[i].one_call && !h->cand.v[i].dropped)
			fold_call(h, n, &h->cand.v[i]);
	for (size_t i = 0; i < n; i++)
		if (may_join(&h->cand.v[i]))
			v[k++] = &h->cand.v[i];
	qsort(v, k, sizeof(*v), by_thread);
	for (size_t i = 0, end; i < k; i = end) {
		for (end = i + 1; end < k && alike(h->x->m, v[end - 1], v[end]); end++)
			;
		if (end - i >= ALIKE)
			join(v + i, end - i);
	}
	free(v);
	return 0;
}

/* Do both chains end with what the same thread did in the same span, or is it at least the same
 * waker that held both up for it? */
static bool same_root(const struct ty_candidate *a, const struct ty_candidate *b)
{
	const struct ty_link *x, *y;

	if (a->s.links < 2 || b->s.links < 2)
		return false;
	x = &a->s.link[a->s.links - 1];
	y = &b->s.link[b->s.links - 1];
	return x->thread == a->s.culprit && x->thread == y->thread &&
	       (x->span == y->span || a->s.link[1].thread == b->s.link[1].thread);
}

/* Have both the same culprit for most of b's time? */
static bool same_culprit(const struct ty_candidate *a, const struct ty_candidate *b)
{
	uint64_t both = ty_stall_overlap(a, b);

	return !b->dropped && !b->end_only && a->s.culprit == b->s.culprit &&
	       a->s.proven == b->s.proven && a->s.thread != b->s.thread && both &&
	       both >= b->s.duration_ns / 2;
}

/* Does it keep both from the same lock, or the same CPU? */
static bool same_holder(const struct ty_model *m, const struct ty_candidate *a,
			const struct ty_candidate *b)
{
	if (a->s.kind != b->s.kind)
		return false;
	if (a->s.kind == TY_STALL_LOCK)
		return (a->w.word || a->w.fd >= 0) &&
		       ty_wait_same(m, a->s.thread, &a->w, b->s.thread, &b->w);
	return a->s.kind == TY_STALL_RUNQUEUE && a->s.state == TY_ST_RUNNABLE &&
	       b->s.state == TY_ST_RUNNABLE &&
	       ty_model_span_brief(m, a->s.thread, a->s.span).cpu ==
		       ty_model_span_brief(m, b->s.thread, b->s.span).cpu;
}

/* Was the thread counted already, by another wait of its? */
static bool counted(const struct ty_stall_search *h, size_t first, size_t k)
{
	for (size_t j = first + 1; j < k; j++)
		if (h->cand.v[j].folded_into == first + 1 &&
		    h->cand.v[j].s.thread == h->cand.v[k].s.thread)
			return true;
	return false;
}

void ty_stall_fold_waiters(struct ty_stall_search *h, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct ty_candidate *c = &h->cand.v[i];

		/* The threads of a stopped process are one already. */
		if (c->dropped || c->end_only || c->s.culprit == TY_NONE ||
		    c->s.kind == TY_STALL_STOPPED)
			continue;
		c->s.sum_ns = c->s.duration_ns;
		for (size_t k = i + 1; k < n; k++) {
			struct ty_candidate *b = &h->cand.v[k];
			bool holder;

			if (!same_culprit(c, b))
				continue;
			holder = same_holder(h->x->m, c, b);
			if (!holder && !same_root(c, b))
				continue;
			c->by_root = c->by_root || !holder;
			b->dropped = true;
			b->folded_into = i + 1;
			c->s.sum_ns += b->s.duration_ns;
			if (counted(h, i, k))
				continue;
			if (c->others < TY_STALL_OTHERS)
				c->other[c->others] = b->s.thread;
			c->others++;
		}
		c->s.threads = c->others ? c->others + 1 : c->s.threads;
	}
}
