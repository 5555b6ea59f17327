/* SPDX-License-Identifier: MIT */
/*
 * One cause, one stall: merges similar consecutive waits of one thread (a call in which the
 * kernel waits 14 times; a thread that a CPU hog repeatedly delays), then all waits because of the
 * same thread, or for the same disk, quota or CPU. A wait that is far longer than the others
 * represents them. Budget: a sort of the stalls, and one comparison of each remaining pair.
 */
#include "stalls_priv.h"

#include <stdlib.h>
#include <string.h>

#include "compare.h"

#define ALIKE	3  /* so many at least */
#define LONGER	4  /* times as long as the one beside it: not alike */
#define PARTS	16 /* of a wait, between others that overlap it, are examined */
#define NO_MORE 3  /* times the shorter wait between the two: not closely */

static int32_t nr_of(const struct ty_model *m, const struct ty_candidate *c)
{
	return c->s.syscall == TY_NONE ? -1
				       : ty_model_syscall_brief(m, c->s.thread, c->s.syscall).nr;
}

static bool may_join(const struct ty_candidate *c)
{
	/* The thread that shared a CPU is named for each wait. */
	return !c->dropped && !c->folded && !c->end_only && (c->s.waits <= 1 || c->tries) &&
	       !(c->s.kind == TY_STALL_RUNQUEUE && c->s.culprit == TY_NONE);
}

ORDER(by_thread, typeof(struct ty_candidate *),
      compare((*a)->s.thread, (*b)->s.thread) ?: compare((*a)->s.kind, (*b)->s.kind) ?:
      compare((*a)->s.start_ns, (*b)->s.start_ns))

/* Does b, which comes next, say the same as a? */
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

/* One stall of n that follow each other: the longest stands for all. */
static void join(struct ty_candidate **v, size_t n)
{
	struct ty_candidate *chief = v[0];
	uint64_t ns = 0, path = 0, aside = 0, rival = 0, ran = 0, waited = 0, held = 0, idle = 0,
		 steal = 0, counted = 0;
	uint32_t waits = 0;
	uint8_t flags = 0;

	for (size_t i = 0; i < n; i++) {
		chief = v[i]->s.duration_ns > chief->s.duration_ns ? v[i] : chief;
		ns += v[i]->s.duration_ns;
		path += v[i]->s.path_ns;
		aside += v[i]->aside_ns;
		rival += v[i]->rival_ns;
		ran += v[i]->ran_ns;
		waited += v[i]->waited_ns;
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
	chief->ran_ns = ran;
	chief->waited_ns = waited;
	chief->held.ns = held;
	chief->idle_ns = idle;
	chief->s.steal_ns = steal;
	chief->s.steal_counted_ns = counted;
	chief->s.flags = flags;
	chief->s.waits = waits;
	chief->tries = chief->tries ? waits : 0;
}

/* Single waits that the sum of one call contains are not reported again. */
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

/* one cause --------------------------------------------------------------------------------- */

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

/* Does the root do the same in both: sleep, wait for a device, run? */
static bool same_deed(const struct ty_candidate *a, const struct ty_candidate *b)
{
	return a->s.links > 1 && b->s.links > 1 &&
	       a->s.link[a->s.links - 1].what == b->s.link[b->s.links - 1].what;
}

static bool same_cpu(const struct ty_model *m, const struct ty_candidate *a,
		     const struct ty_candidate *b)
{
	return a->s.state == TY_ST_RUNNABLE && b->s.state == TY_ST_RUNNABLE &&
	       ty_model_span_brief(m, a->s.thread, a->s.span).cpu ==
		       ty_model_span_brief(m, b->s.thread, b->s.span).cpu;
}

static bool same_disk(const struct ty_model *m, const struct ty_candidate *a,
		      const struct ty_candidate *b)
{
	struct ty_io x, y;

	if (a->io == TY_NONE || b->io == TY_NONE)
		return false;
	x = ty_model_io(m, a->io);
	y = ty_model_io(m, b->io);
	return x.major == y.major && x.minor == y.minor;
}

/* Is it a lock of a file by the same path? Of those without a known holder the names are known
 * here. */
static bool same_file(const struct ty_candidate *a, const struct ty_candidate *b)
{
	const char *x = strchr(a->w.object, '<'), *y = strchr(b->w.object, '<');

	return x && y && !strcmp(x, y);
}

static bool same_quota(const struct ty_candidate *a, const struct ty_candidate *b)
{
	return a->held.path && b->held.path && !strcmp(a->held.path, b->held.path);
}

static bool same_channel(const struct ty_model *m, const struct ty_candidate *a,
			 const struct ty_candidate *b)
{
	return (a->w.word || a->w.fd >= 0) &&
	       ty_wait_same(m, a->s.thread, &a->w, b->s.thread, &b->w);
}

/* Did both wait at the same thing: a lock, a futex, a pipe, a CPU, a disk, a quota, a tracer? */
static bool same_object(const struct ty_model *m, const struct ty_candidate *a,
			const struct ty_candidate *b)
{
	if (a->s.kind != b->s.kind)
		return false;
	switch (a->s.kind) {
	case TY_STALL_IO:
	case TY_STALL_FAULT: return same_disk(m, a, b);
	case TY_STALL_THROTTLED: return same_quota(a, b);
	case TY_STALL_RUNQUEUE:
		/* The thread that they waited for had no CPU. */
		if (a->s.state != TY_ST_RUNNABLE)
			return a->s.state == b->s.state && a->root.thread == b->root.thread &&
			       same_channel(m, a, b);
		/* The thread that ran instead may differ from one time to the next. */
		return a->unfair == b->unfair && same_cpu(m, a, b) &&
		       (a->s.culprit != TY_NONE || ty_stall_overlap(a, b));
	case TY_STALL_TIMER: return nr_of(m, a) == nr_of(m, b) && a->s.thread == b->s.thread;
	case TY_STALL_UNINTERRUPTIBLE: return a->s.culprit != TY_NONE;
	case TY_STALL_STOPPED: return a->tracer && b->tracer && a->s.thread == b->s.thread;
	case TY_STALL_LOCK:
		if (same_file(a, b))
			return true;
		/* fall through */
	default: return same_channel(m, a, b);
	}
}

/*
 * Have both the same cause? With a thread to blame: it held both up at one time, or at the same
 * thing by the same deed. Else the thing is to blame: a disk, a quota, a CPU that many share, a
 * lock or peer without a known holder for one thread.
 */
static bool same_cause(const struct ty_model *m, const struct ty_candidate *a,
		       const struct ty_candidate *b, bool *by_root)
{
	uint64_t both = ty_stall_overlap(a, b);
	bool object;

	*by_root = false;
	/* Whichever of its threads had no CPU for it, the quota is to blame. */
	if (same_quota(a, b))
		return true;
	if (a->s.culprit != b->s.culprit)
		return false;
	object = same_object(m, a, b);
	if (a->s.kind == TY_STALL_STOPPED)
		return object;
	if (a->s.culprit == TY_NONE)
		return object && a->s.state == b->s.state && !a->end_only == !b->end_only &&
		       (a->s.thread == b->s.thread || a->s.kind == TY_STALL_IO ||
			a->s.kind == TY_STALL_THROTTLED || a->s.kind == TY_STALL_RUNQUEUE ||
			same_file(a, b));
	/* A wait that is far longer than the time in which both lasted is a story of its own. */
	if (a->s.thread != b->s.thread && both && both < b->s.duration_ns / 2)
		return false;
	if (object &&
	    (a->s.kind == TY_STALL_LOCK || a->s.kind == TY_STALL_RUNQUEUE || same_deed(a, b)))
		return true;
	*by_root = both && a->s.thread != b->s.thread && same_root(a, b);
	return *by_root;
}

/* Was the thread counted already, by another wait of its? */
static bool counted(const struct ty_stall_search *h, size_t first, size_t k)
{
	const struct ty_candidate *v = h->cand.v;

	for (size_t j = first + 1; j < k; j++)
		if (v[j].folded_into == first + 1 && v[j].s.thread == v[k].s.thread)
			return true;
	return v[k].s.thread == v[first].s.thread;
}

/* How long no wait of another thread that is counted for the first lasted beside the wait k; of
 * PARTS such times. */
static uint64_t alone(const struct ty_stall_search *h, size_t first, size_t k)
{
	const struct ty_candidate *v = h->cand.v;
	uint64_t t = v[k].s.start_ns, end_ns = v[k].s.last_end_ns, ns = 0;

	for (unsigned n = 0; t < end_ns && n < PARTS; n++) {
		uint64_t beside = t, next = end_ns;

		for (size_t j = first; j < k; j++) {
			const struct ty_stall *o = &v[j].s;

			if ((j != first && (v[j].folded_into != first + 1 || !v[j].path_counted)) ||
			    o->thread == v[k].s.thread)
				continue;
			if (o->start_ns > t)
				next = o->start_ns < next ? o->start_ns : next;
			else
				beside = o->last_end_ns > beside ? o->last_end_ns : beside;
		}
		ns += beside == t ? next - t : 0;
		t = beside == t ? next : beside;
	}
	return ns;
}

/* b is one of the others of c, which stands for all. alone_ns: see alone. */
static void add(struct ty_candidate *c, struct ty_candidate *b, bool new_thread, uint64_t alone_ns)
{
	b->dropped = true;
	c->s.sum_ns += b->s.duration_ns;
	c->s.sum_inferred = c->s.sum_inferred || !b->s.proven;
	if (b->s.thread == c->s.thread) {
		c->s.more_waits += b->s.waits > 1 ? b->s.waits : 1;
		c->more_ns += b->s.duration_ns;
	}
	/* What the command lost by several at one time it lost once. */
	b->path_counted = alone_ns > 0;
	c->more_path_ns += b->s.path_ns < alone_ns ? b->s.path_ns : alone_ns;
	c->more_aside_ns += b->aside_ns < alone_ns ? b->aside_ns : alone_ns;
	if (new_thread) {
		if (c->others < TY_STALL_OTHERS) {
			c->other[c->others] = b->s.thread;
			c->other_ns[c->others] = b->s.start_ns;
		}
		c->others++;
	}
}

/* Of waits that one cause held up at one time, for as long, the one of the strongest evidence
 * represents all: the waiter for the lock, not the waiter for that one's exit. */
static void lead(struct ty_stall_search *h, size_t i, size_t n)
{
	struct ty_candidate *c = &h->cand.v[i], t;
	bool by_root;

	for (size_t k = i + 1; k < n; k++) {
		struct ty_candidate *b = &h->cand.v[k];

		if (b->dropped || c->s.culprit == TY_NONE || !b->s.rule || !c->s.rule ||
		    b->s.rule->basis <= c->s.rule->basis ||
		    ty_stall_overlap(c, b) < c->s.duration_ns / 10 * 9 ||
		    !same_cause(h->x->m, c, b, &by_root))
			continue;
		t = *c;
		*c = *b;
		*b = t;
		/* What the command lost by both it lost once. */
		if (b->s.path_ns > c->s.path_ns) {
			c->s.path_ns = b->s.path_ns;
			c->aside_ns = b->aside_ns;
		}
	}
}

void ty_stall_fold_causes(struct ty_stall_search *h, size_t n)
{
	const struct ty_model *m = h->x->m;
	unsigned named = 0;

	for (size_t i = 0; i < n && named < TY_STALL_LOOKED; i++) {
		struct ty_candidate *c = &h->cand.v[i];

		if (!c->dropped && c->s.kind == TY_STALL_LOCK && c->s.culprit == TY_NONE &&
		    c->w.fd >= 0) {
			ty_stall_refine(h, c);
			named++;
		}
	}
	for (size_t i = 0; i < n; i++) {
		struct ty_candidate *c = &h->cand.v[i];
		bool by_root;

		/* The threads of a process that a signal stopped are one already. */
		if (c->dropped || (c->s.kind == TY_STALL_STOPPED && !c->tracer) ||
		    c->s.kind == TY_STALL_LOST)
			continue;
		lead(h, i, n);
		c->s.sum_ns = c->s.duration_ns;
		for (size_t k = i + 1; k < n; k++) {
			struct ty_candidate *b = &h->cand.v[k];

			if (b->dropped || !same_cause(m, c, b, &by_root))
				continue;
			c->s.by_root = c->s.by_root || by_root;
			b->folded_into = i + 1;
			add(c, b, !counted(h, i, k), alone(h, i, k));
		}
		c->s.threads = c->others ? c->others + 1 : c->s.threads;
	}
}
