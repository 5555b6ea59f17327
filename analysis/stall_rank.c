/* SPDX-License-Identifier: MIT */
/*
 * Merges and ranks stalls: a stall that another one's chain contains is joined to it, the
 * threads of a stopped process are one, the rest is ranked.
 *
 * Budget: stalls (at most those that are explained, stalls.c) times stalls, a few comparisons
 * each.
 */
#include <stdlib.h>

#include "compare.h"
#include "fd_kind.h"
#include "partition.h"
#include "stalls_priv.h"

#define LOST_COUNTS 4 /* of time of which nothing is known, one part in so many */

int ty_stall_by_length(const void *pa, const void *pb)
{
	const struct ty_candidate *a = pa, *b = pb;

	return compare(b->s.duration_ns, a->s.duration_ns) ?: compare(a->s.start_ns, b->s.start_ns);
}

static bool is_end(const struct ty_candidate *c)
{
	/* A thread known to have waited for a reply did not wait for the exit that follows. */
	bool words = c->last_words && (!c->s.rule || c->s.rule->basis == TY_BY_PATTERN);

	return (c->w.class == TY_WAIT_END || words) && c->s.state == TY_ST_SLEEPING;
}

uint64_t ty_stall_overlap(const struct ty_candidate *a, const struct ty_candidate *b)
{
	uint64_t from = a->s.start_ns > b->s.start_ns ? a->s.start_ns : b->s.start_ns,
		 to = a->s.last_end_ns < b->s.last_end_ns ? a->s.last_end_ns : b->s.last_end_ns;

	return to > from ? to - from : 0;
}

/* Is the wait of b a link of a's chain, for the most part of b; or is b the long call that a waits
 * for? */
static bool folded_into(const struct ty_candidate *a, const struct ty_candidate *b)
{
	if (b->s.kind == TY_STALL_CPU)
		return b->s.thread == a->s.culprit &&
		       ty_stall_overlap(a, b) >= b->s.duration_ns / 2 &&
		       ty_root_work_ns(&a->root) >= a->s.duration_ns / 2;
	for (uint32_t i = 1; i < a->s.links; i++) {
		const struct ty_link *l = &a->s.link[i];

		if (l->thread == b->s.thread && l->span == b->s.span &&
		    l->end_ns - l->start_ns >= b->s.duration_ns / 2)
			return true;
	}
	return false;
}

/* Did the same call end both waits? */
static bool same_end(const struct ty_model *m, const struct ty_candidate *a,
		     const struct ty_candidate *b)
{
	uint32_t call = ty_waker_call(m, &a->waker);

	return call != TY_NONE && call == ty_waker_call(m, &b->waker);
}

/* Were both stopped as threads of one process, by the same signal? A thread stops only when it gets
 * a CPU, but all go on by one signal. */
static bool same_stop(const struct ty_model *m, const struct ty_candidate *a,
		      const struct ty_candidate *b)
{
	int32_t tgid = ty_model_thread(m, a->s.thread)->tgid;

	return a->s.kind == TY_STALL_STOPPED && b->s.kind == TY_STALL_STOPPED && tgid >= 0 &&
	       a->s.thread != b->s.thread && ty_model_thread(m, b->s.thread)->tgid == tgid &&
	       a->s.culprit == b->s.culprit &&
	       (same_end(m, a, b) || (ty_stall_overlap(a, b) >= a->s.duration_ns / 2 &&
				      ty_stall_overlap(a, b) >= b->s.duration_ns / 2));
}

/* How many threads the process of the candidate had all through it. */
static uint32_t threads_of(const struct ty_model *m, const struct ty_candidate *c)
{
	uint32_t threads = ty_model_summary(m)->threads, n = 0;
	int32_t tgid = ty_model_thread(m, c->s.thread)->tgid;

	for (uint32_t i = 0; i < threads; i++) {
		const struct ty_thread *t = ty_model_thread(m, i);

		n += t->tgid == tgid && t->start_ns <= c->s.start_ns && t->end_ns >= c->end_ns;
	}
	return n;
}

/* Threads of a process that were stopped together are one stall: the one that matters most for
 * the command stands for all, unless another one's chain contains the stop of one of them. */
static void fold_stops(struct ty_stall_search *h, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct ty_candidate *best = &h->cand.v[i];
		bool end_only = best->dropped;

		if (best->s.kind != TY_STALL_STOPPED || best->folded)
			continue;
		best->s.threads = 1;
		for (size_t k = i + 1; k < n; k++) {
			struct ty_candidate *b = &h->cand.v[k];
			uint32_t so_far = best->s.threads + 1;

			if (b->folded || !same_stop(h->x->m, best, b))
				continue;
			end_only |= b->dropped;
			if (b->s.path_ns > best->s.path_ns) {
				best->dropped = best->folded = true;
				best = b;
			} else {
				b->dropped = b->folded = true;
			}
			best->s.threads = so_far;
		}
		best->folded = true;
		best->dropped = end_only;
		best->s.all_threads = best->s.threads == threads_of(h->x->m, best);
	}
}

/* Without a culprit a stall ranks last: a CPU that many shared, then unknown causes. So do waits
 * that other stalls explain. */
static unsigned no_blame(const struct ty_candidate *c)
{
	if (c->s.state == TY_ST_UNKNOWN && c->s.syscall == TY_NONE)
		return 2;
	return c->end_only || (c->s.kind == TY_STALL_RUNQUEUE && c->s.culprit == TY_NONE);
}

/* Time in which the thread's state is unknown counts in part only: a stall with a known cause
 * ranks first, unless it is far shorter. */
static uint64_t counted(const struct ty_candidate *c, uint64_t ns)
{
	return c->s.state == TY_ST_UNKNOWN ? ns / LOST_COUNTS : ns;
}

/* What the command lost. While its first thread sleeps by its own choice, its path shows nothing
 * else: then what its other threads lose. */
static uint64_t command_ns(const struct ty_candidate *c)
{
	uint64_t path = c->s.path_ns + c->more_path_ns, aside = c->aside_ns + c->more_aside_ns;

	return counted(c, aside > path ? aside : path);
}

/* What the thread itself lost, by all its waits of that cause. */
static uint64_t victim_ns(const struct ty_candidate *c)
{
	return counted(c, c->s.duration_ns + c->more_ns);
}

/* Known causes before unknown ones; then what the command lost, then the length. */
ORDER(by_rank, struct ty_candidate,
      compare(a->dropped, b->dropped) ?: compare(no_blame(a), no_blame(b)) ?:
      compare(command_ns(b), command_ns(a)) ?: compare(victim_ns(b), victim_ns(a)) ?:
      ty_stall_by_length(a, b))

static bool in_chain(const struct ty_candidate *c, uint32_t thread)
{
	for (uint32_t i = 1; i < c->s.links; i++)
		if (c->s.link[i].thread == thread)
			return true;
	return false;
}

/* The awaited thread held others up meanwhile, or was held up itself, for a good part of the time;
 * or it only ran, and another one did not: that ranks first. */
static bool comes_before(const struct ty_stall_search *h, const struct ty_candidate *end,
			 const struct ty_candidate *c)
{
	uint64_t works = ty_root_work_ns(&end->root);

	return !c->dropped && (!is_end(c) || (c->last_words && folded_into(end, c))) &&
	       c->s.kind != TY_STALL_RUNQUEUE && c->s.duration_ns >= end->s.duration_ns / 8 &&
	       ty_stall_is_related(h, end->s.thread, c->s.thread) &&
	       (works > end->s.duration_ns / 2 ||
		((in_chain(end, c->s.culprit) || in_chain(end, c->s.thread)) &&
		 ty_stall_overlap(end, c) >= c->s.duration_ns / 2));
}

/*
 * Two threads wait for each other at both ends. b, at the end of a's chain, whose own wait a timer
 * ended, had sent a request to the one before it in that chain and got no reply. So b is held up,
 * and the others wait for its next request. A thread that sends in one direction only, as into a
 * pipe, sends no request.
 */
static bool is_sent_request(const struct ty_stall_search *h, const struct ty_candidate *a,
			    const struct ty_candidate *b)
{
	const struct ty_explain *x = h->x;
	uint32_t who = b->s.thread, next = a->s.link[a->s.links - 2].thread;
	uint64_t act = a->s.link[a->s.links - 2].waker.act_ns, request_to;
	int64_t to = ty_stall_given_to(x, who, act);
	const char *name;

	if (a->w.class == TY_WAIT_DEFINITE || a->s.link[a->s.links - 1].thread != who)
		return false;
	if (!ty_stall_last_woke(x, who, next, ty_model_summary(x->m)->end_ns) &&
	    (to < 0 || ty_fd_kind(x, who, (uint64_t)to, act, &name) != TY_FD_SOCKET))
		return false;
	request_to = ty_stall_last_woke(x, next, who, b->s.start_ns);
	if (request_to > ty_stall_last_woke(x, who, next, b->s.start_ns))
		return true;
	/* It was not waited for then, but the same is said once more. */
	return to >= 0 && ty_stall_sent(h, who, ty_stall_first_call(h, b), to);
}

/* Where no command defines what matters, a wait that lasts a good deal longer than the one behind
 * whose end it stands is no mere part of that. */
static bool outlasts(const struct ty_candidate *b, const struct ty_candidate *a)
{
	return !a->s.path_ns && b->s.duration_ns / 5 * 4 > a->s.duration_ns;
}

/* Did it wait for a peer until the timeout? A timer that it waited for on purpose is a sleep. */
static bool in_vain(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	return c->s.kind == TY_STALL_TIMER && !ty_stall_only_sleeps(c) &&
	       ty_wait_timed_out(h->x, c->s.syscall);
}

/* Of what began before the recording it is not known what began first. */
static bool slept_later(const struct ty_candidate *b, const struct ty_candidate *a)
{
	return b->s.start_ns >= a->s.start_ns && !(b->s.flags & TY_SF_BEFORE);
}

/* The candidates of each thread, in order. */
struct of_thread {
	uint32_t thread, i;
};

ORDER(by_thread, struct of_thread, compare(a->thread, b->thread) ?: compare(a->i, b->i))

/* Where those of the thread begin. */
static size_t first_of(const struct of_thread *v, size_t n, uint32_t thread)
{
	return partition_point(k, (size_t)0, n, v[k].thread < thread);
}

/* A wait for an end through shells is reported with their chains. */
static void join_links(struct ty_stall_search *h, size_t i, const struct of_thread *v, size_t n,
		       uint32_t thread)
{
	const struct ty_candidate *a = &h->cand.v[i];

	for (size_t k = first_of(v, n, thread); k < n && v[k].thread == thread; k++) {
		struct ty_candidate *b = &h->cand.v[v[k].i];

		if (v[k].i != i && !b->dropped && !outlasts(b, a) &&
		    (!is_end(a) || (is_end(b) && !b->last_words)) && folded_into(a, b))
			b->dropped = true;
	}
}

static int join_chains(struct ty_stall_search *h, size_t n)
{
	struct of_thread *v = malloc((n + 1) * sizeof(*v));

	if (!v)
		return -TY_ENOMEM;
	for (size_t i = 0; i < n; i++)
		v[i] = (struct of_thread){h->cand.v[i].s.thread, (uint32_t)i};
	qsort(v, n, sizeof(*v), by_thread);
	for (size_t i = 0; i < n; i++) {
		struct ty_candidate *a = &h->cand.v[i];

		if (a->dropped || a->s.links < 2)
			continue;
		/* The other side was stalled itself, and that is reported. But a thread that slept
		 * before anything waited for it (the holder of a lock) holds others up, unless it
		 * waits for them. */
		for (size_t k = first_of(v, n, a->s.culprit);
		     k < n && v[k].thread == a->s.culprit && !a->dropped; k++) {
			const struct ty_candidate *b = &h->cand.v[v[k].i];

			/* Finding the sender of the request is expensive: last. */
			a->dropped = v[k].i != i && !b->dropped &&
				     ty_stall_overlap(a, b) >= a->s.duration_ns / 2 &&
				     (is_end(a) || (in_vain(h, b) && (slept_later(b, a) ||
								      is_sent_request(h, a, b))));
		}
		for (size_t k = 0; k < n && !a->dropped && is_end(a); k++)
			a->end_only = a->end_only || comes_before(h, a, &h->cand.v[k]);
		if (a->dropped)
			continue;
		join_links(h, i, v, n, a->s.culprit);
		for (uint32_t k = 1; k < a->s.links; k++)
			join_links(h, i, v, n, a->s.link[k].thread);
	}
	free(v);
	return 0;
}

int ty_stall_rank(struct ty_stall_search *h, size_t n)
{
	int r;

	if (!n)
		return 0;
	r = join_chains(h, n);
	if (r)
		return r;
	fold_stops(h, n);
	r = ty_stall_fold_similar(h, n);
	qsort(h->cand.v, n, sizeof(*h->cand.v), by_rank);
	ty_stall_fold_causes(h, n);
	qsort(h->cand.v, n, sizeof(*h->cand.v), by_rank);
	for (size_t i = 0; i < n; i++) {
		struct ty_candidate *c = &h->cand.v[i];

		c->s.rank_ns = command_ns(c) ? command_ns(c) : victim_ns(c);
		c->s.ranks_last = no_blame(c);
	}
	return r;
}
