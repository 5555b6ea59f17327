/* SPDX-License-Identifier: MIT */
/*
 * What a wait adds to the command's wall time: the part of the command's path (chain.h) that is in
 * it. The path is sorted once by thread, with running sums, and its hops by span.
 */
#include "stalls_priv.h"

#include "compare.h"
#include "partition.h"

#include <stdlib.h>

#define SEGS (1u << 20) /* of a recording of the whole machine: then no more paths are found */

/* A segment of the path; before_ns: those of its thread before it. */
struct ty_path_at {
	uint64_t start_ns, end_ns, before_ns;
	uint32_t thread, span;
	uint8_t what; /* TY_SEG_* */
};

/* The order of hops is of no use once the segments are found: parents are not looked up. */
ORDER(by_span, struct ty_hop, compare(a->thread, b->thread) ?: compare(a->span, b->span))

int ty_stall_path_sort(struct ty_stall_search *h)
{
	const uint32_t threads = ty_model_summary(h->x->m)->threads;
	size_t n = h->path.seg.n, *next = calloc((size_t)threads + 1, sizeof(*next));
	uint64_t sum = 0;

	free(h->at);
	h->at = malloc((n + 1) * sizeof(*h->at));
	if (!h->at || !next) {
		free(next);
		return -TY_ENOMEM;
	}
	vec_each (s, &h->path.seg)
		next[s->thread + 1]++;
	for (uint32_t i = 1; i < threads; i++)
		next[i] += next[i - 1];
	vec_each (s, &h->path.seg) /* in time order */
		h->at[next[s->thread]++] =
			(struct ty_path_at){s->start_ns, s->end_ns, 0, s->thread, s->span, s->what};
	free(next);
	for (size_t i = 0; i < n; i++) {
		h->at[i].before_ns = sum;
		sum += h->at[i].end_ns - h->at[i].start_ns;
	}
	h->at_n = n;
	h->path_end = n ? h->path.seg.v[n - 1].thread : TY_NONE;
	vec_fini(&h->path.seg);
	vec_sort(&h->path.hop, by_span);
	return 0;
}

int ty_stall_find_own_sleeps(struct ty_stall_search *h)
{
	uint64_t sum = 0;

	vec_each (s, &h->path.seg) {
		struct ty_own_sleep own_sleeps = {s->start_ns, s->end_ns, sum};
		struct ty_span span;

		if (s->hop != TY_NONE || s->what != TY_SEG_TIMER ||
		    s->end_ns - s->start_ns < TY_STALL_LITTLE_NS)
			continue;
		span = ty_model_span(h->x->m, s->span);
		if (ty_wait_for(h->x, &span, span.syscall).kind != TY_STALL_SLEEP)
			continue;
		sum += own_sleeps.end_ns - own_sleeps.start_ns;
		if (vec_push(&h->own_sleeps, own_sleeps))
			return -TY_ENOMEM;
	}
	return 0;
}

/* The sum of all sleeps before t. */
static uint64_t napped(const struct ty_stall_search *h, uint64_t t)
{
	const struct ty_own_sleep *v = h->own_sleeps.v;
	size_t i = partition_point(k, (size_t)0, h->own_sleeps.n, v[k].start_ns < t);

	if (!i--)
		return 0;
	return v[i].before_ns + (v[i].end_ns < t ? v[i].end_ns : t) - v[i].start_ns;
}

uint64_t ty_stall_aside(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	uint64_t ns = napped(h, c->s.last_end_ns) - napped(h, c->s.start_ns);

	/* Of the whole machine others are recorded, too. */
	if (!ns || !ty_stall_is_related(h, h->path_end, c->s.thread))
		return 0;
	return ns < c->s.duration_ns ? ns : c->s.duration_ns;
}

uint32_t ty_stall_job(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	const struct ty_model *m = h->x->m;
	const struct ty_thread *t = ty_model_thread(m, c->s.thread);
	uint64_t least = c->s.start_ns; /* it must not be over by then */
	uint32_t best = TY_NONE;
	int32_t pid = t->tgid;

	if (!h->x->whole_machine || !ty_model_summary(m)->has_sched)
		return TY_NONE;
	for (unsigned n = 0; n < 16 && pid > 0; n++) {
		uint32_t i = ty_model_thread_find(m, pid, t->start_ns);

		if (i == TY_NONE)
			break;
		t = ty_model_thread(m, i);
		if (!t->died || t->end_ns < least)
			break;
		best = i;
		least = t->end_ns;
		pid = t->ppid;
	}
	return best;
}

int ty_stall_job_path(struct ty_stall_search *h)
{
	const struct ty_thread *t;
	uint64_t from, to;
	int r;

	if (h->job == TY_NONE || h->job_asked)
		return 0;
	h->job_asked = true;
	if (h->segs >= SEGS) {
		h->jobs_left++;
		return 0;
	}
	t = ty_model_thread(h->x->m, h->job);
	from = t->start_ns > h->w.from_ns ? t->start_ns : h->w.from_ns;
	to = t->end_ns < h->w.to_ns ? t->end_ns : h->w.to_ns;
	if (from >= to)
		return 0;
	r = ty_path_find(h->x, h->job, from, to, &h->path);
	h->segs += h->path.seg.n;
	r = r ? r : ty_stall_path_sort(h);
	h->has_path = !r;
	return r;
}

/* The first segment that ends after t, of the thread or of those behind it. */
static size_t seg_after(const struct ty_stall_search *h, uint32_t thread, uint64_t t)
{
	const struct ty_path_at *s = h->at;

	return partition_point(k, (size_t)0, h->at_n,
			       s[k].thread < thread || (s[k].thread == thread && s[k].end_ns <= t));
}

/* Nanoseconds of the path that are the thread's, before t, and all of those of earlier threads. */
static uint64_t sum_before(const struct ty_stall_search *h, uint32_t thread, uint64_t t)
{
	size_t i = seg_after(h, thread, t), n = h->at_n;

	if (i == n)
		return n ? h->at[n - 1].before_ns + h->at[n - 1].end_ns - h->at[n - 1].start_ns : 0;
	if (h->at[i].thread == thread && h->at[i].start_ns < t)
		return h->at[i].before_ns + t - h->at[i].start_ns;
	return h->at[i].before_ns;
}

static uint64_t thread_ns(const struct ty_stall_search *h, uint32_t thread, uint64_t a, uint64_t b)
{
	return sum_before(h, thread, b) - sum_before(h, thread, a);
}

/* What the path has of the thread's waits from span `first` to `last`. */
static uint64_t waits_ns(const struct ty_stall_search *h, uint32_t thread, uint32_t first,
			 uint32_t last, uint64_t a, uint64_t b)
{
	const struct ty_hop *v = h->path.hop.v, key = {.thread = thread, .span = first};
	size_t lo = partition_point(i, 0, h->path.hop.n, by_span(&v[i], &key) < 0);
	uint64_t ns = 0;

	for (; lo < h->path.hop.n && v[lo].thread == thread && v[lo].span <= last; lo++)
		ns += v[lo].end_ns - v[lo].start_ns;
	for (size_t i = seg_after(h, thread, a);
	     i < h->at_n && h->at[i].thread == thread && h->at[i].start_ns < b; i++)
		if (h->at[i].span >= first && h->at[i].span <= last &&
		    !ty_seg_on_cpu(h->at[i].what) &&
		    (h->at[i].what != TY_SEG_RUNNABLE || first == last))
			ns += (h->at[i].end_ns < b ? h->at[i].end_ns : b) -
			      (h->at[i].start_ns > a ? h->at[i].start_ns : a);
	return ns;
}

uint64_t ty_stall_on_path(const struct ty_stall_search *h, const struct ty_candidate *c,
			  bool direct)
{
	uint64_t a = c->s.start_ns, b = c->end_ns, ns, culprit = 0;

	if (!h->has_path)
		return 0;
	if (c->s.state == TY_ST_RUNNING && !c->busy_waited) {
		ns = thread_ns(h, c->s.thread, a, b);
	} else if (c->s.waits > 1 || c->busy_waited) {
		/* One of many short waits, or of a lock's parts: the others of the thread meanwhile
		 * are of the kind. */
		b = c->s.last_end_ns;
		ns = waits_ns(h, c->s.thread, ty_model_span_find(h->x->m, c->s.thread, a),
			      ty_model_span_find(h->x->m, c->s.thread, b), a, b);
		ns = ns < c->s.duration_ns ? ns : c->s.duration_ns;
	} else {
		ns = waits_ns(h, c->s.thread, c->tries ? c->first_span : c->s.span, c->s.span, a,
			      b);
	}
	/* The command may wait for the culprit by another way. */
	if (!direct && c->s.culprit != TY_NONE && c->s.culprit != c->s.thread)
		culprit = thread_ns(h, c->s.culprit, a, b);
	return ns > culprit ? ns : culprit;
}
