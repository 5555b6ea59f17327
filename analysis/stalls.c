/* SPDX-License-Identifier: MIT */
/*
 * See stalls.h. The longest CANDIDATES (stall_candidates.c) are explained (stall_cause.c), idle
 * waits dropped, those in another one's chain joined to it, the rest ranked (stall_rank.c).
 */
#include "stalls_priv.h"
#include "compare.h"
#include "fd_kind.h"
#include "process_of_thread.h"
#include "span_blocks.h"

#include <stdlib.h>
#include <string.h>

#define CANDIDATES 4096
#define PRUNED_AT  (CANDIDATES * 3 / 2)
#define HISTORIES  (16u << 20) /* bytes */

const char *ty_stall_kind_name(enum ty_stall_kind k)
{
	switch (k) {
#define X(name, json, text)                                                                        \
	case TY_STALL_##name: return json;
		TY_STALL_KINDS(X)
#undef X
	default: return "other";
	}
}

/* explain ---------------------------------------------------------------------------------- */

/* One of many short waits. */
static int explain_one(struct ty_stall_search *h, struct ty_candidate *c, uint32_t span)
{
	struct ty_span s = ty_model_span_brief(h->x->m, c->s.thread, span);

	c->s.span = span;
	c->s.start_ns = s.start_ns > h->w.from_ns ? s.start_ns : h->w.from_ns;
	c->end_ns = s.end_ns < h->w.to_ns ? s.end_ns : h->w.to_ns;
	c->s.duration_ns = c->end_ns - c->s.start_ns;
	c->ios = 0;
	c->io_ns = 0;
	return ty_stall_explain(h, c);
}

/* Are many short waits of the kind a stall as a sum? */
static bool adds_up(const struct ty_candidate *c)
{
	return c->s.kind == TY_STALL_IO || c->s.kind == TY_STALL_FAULT ||
	       c->s.kind == TY_STALL_STOPPED;
}

static int explain(struct ty_stall_search *h, struct ty_candidate *c)
{
	uint64_t start = c->s.start_ns, ns = c->s.duration_ns;
	int r;

	if (c->s.state == TY_ST_RUNNING && !c->busy_waited) {
		c->s.kind = c->steal ? TY_STALL_STEAL : c->stolen_ns ? TY_STALL_IRQ : TY_STALL_CPU;
		c->s.proven = !(c->s.flags & (TY_SF_LOST | TY_SF_INFERRED));
		ty_stall_judge_run(h, c);
		ty_stall_only_link(c, TY_SEG_RUNS, TY_NO_WAKER);
		return ty_stall_judge(h, c, NULL, 0);
	}
	if (c->s.waits <= 1)
		return ty_stall_explain(h, c);
	/* One of the waits represents all: the longest; or, if that has a cause of its own (its
	 * waker had no CPU), an ordinary one. Of all calls of a kind only a device's or a tracer's
	 * share is a stall as a sum; of one call the kernel's other waits are. */
	r = explain_one(h, c, c->s.span);
	if (c->one_call)
		r = r > 0 && c->s.kind != TY_STALL_UNINTERRUPTIBLE ? 0 : r;
	else if (r >= 0 && !(r && adds_up(c)))
		r = explain_one(h, c, c->typical);
	r = r > 0 && !c->one_call && !adds_up(c) ? 0 : r;
	c->s.start_ns = start;
	c->s.duration_ns = ns;
	return r;
}

/* Where others were attached to: the process that ended last, as a command does, and is no child of
 * one of them. What is still there in the end serves, for all that is known. */
static uint32_t job(const struct ty_model *m)
{
	uint32_t threads = ty_model_summary(m)->threads, best = TY_NONE;

	for (uint32_t i = 0; i < threads; i++) {
		const struct ty_thread *t = ty_model_thread(m, i);
		uint32_t parent = ty_model_thread_find(m, t->ppid, t->start_ns);

		if (t->traced && t->died && !t->born && t->tid == t->tgid && t->ppid > 0 &&
		    (parent == TY_NONE || !ty_model_thread(m, parent)->traced) &&
		    (best == TY_NONE || t->end_ns > ty_model_thread(m, best)->end_ns))
			best = i;
	}
	return best;
}

static int command_path(struct ty_stall_search *h)
{
	const struct ty_model *m = h->x->m;
	uint32_t i =
		h->x->command_tid ? ty_model_thread_find(m, h->x->command_tid, h->w.to_ns) : job(m);
	const struct ty_thread *t = ty_model_thread(m, i);
	uint64_t from, to;
	int r;

	if (i == TY_NONE || h->x->whole_machine || !ty_model_summary(m)->has_sched)
		return 0;
	from = t->released_ns > h->w.from_ns ? t->released_ns : h->w.from_ns;
	to = t->end_ns < h->w.to_ns ? t->end_ns : h->w.to_ns;
	h->has_path = from < to;
	r = h->has_path ? ty_path_find(h->x, i, from, to, &h->path) : 0;
	r = r ? r : ty_stall_find_own_sleeps(h);
	return r ? r : ty_stall_path_sort(h);
}

/* A process's waits one after the other: they look at the same descriptors and calls. */
struct turn {
	uint64_t start_ns;
	uint32_t process, i;
};

ORDER(by_process, struct turn,
      compare(a->process, b->process) ?: compare(a->start_ns, b->start_ns) ?: compare(a->i, b->i))

/* The candidates of the job of this one, so that the path of each job is made once; in the order of
 * `turn`. 0, or what ty_stalls_find gives. */
static int explain_job(struct ty_stall_search *h, size_t of, const struct turn *turn, size_t n)
{
	h->job = h->cand.v[of].job;
	h->job_asked = false;
	h->has_path = h->has_path && !h->x->whole_machine;
	for (size_t i = 0; i < n; i++) {
		struct ty_candidate *c = &h->cand.v[turn[i].i];
		int r;

		if (c->job != h->job || c->explained)
			continue;
		r = ty_explain_stopped(h->x) ? -TY_EINTR : explain(h, c);
		if (r < 0)
			return r;
		c->explained = true;
		c->dropped = c->folded = !r;
		if (r && h->x->command_tid) {
			c->s.path_ns = ty_stall_on_path(h, c, false);
			c->aside_ns = ty_stall_aside(h, c);
		}
	}
	return 0;
}

/* The first n, by job. */
static int explain_all(struct ty_stall_search *h, size_t n)
{
	struct turn *turn = malloc((n + 1) * sizeof(*turn));
	int r = turn ? 0 : -TY_ENOMEM;

	for (size_t i = 0; i < n && !r; i++) {
		const struct ty_stall *s = &h->cand.v[i].s;

		h->cand.v[i].job = ty_stall_job(h, &h->cand.v[i]);
		turn[i] =
			(struct turn){s->start_ns, ty_process_of(h->x->m, s->thread), (uint32_t)i};
	}
	if (!r)
		qsort(turn, n, sizeof(*turn), by_process);
	for (size_t i = 0; i < n && !r; i++)
		r = h->cand.v[i].explained ? 0 : explain_job(h, i, turn, n);
	free(turn);
	return r;
}

/* Idle, and nothing else of it is a stall. */
static bool is_rejected(const struct ty_candidate *c)
{
	return c->dropped && c->s.rule && c->s.rule->verdict != TY_STALL &&
	       (c->s.waits <= 1 || c->tries);
}

/* Of the first n candidates the stalls, or the rejected, at most max of them, with their words.
 * 0 or -TY_ENOMEM. */
static int take(struct ty_stall_search *h, size_t n, uint32_t max, bool rejected,
		struct ty_stall **v, uint32_t *v_n)
{
	*v = malloc((max + 1) * sizeof(**v));
	if (!*v)
		return -TY_ENOMEM;
	for (size_t i = 0; i < n && *v_n < max; i++) {
		struct ty_candidate *c = &h->cand.v[i];

		if (rejected ? !is_rejected(c) : c->dropped)
			continue;
		c->s.text = calloc(1, TY_STALL_TEXT + TY_STALL_SENTENCE);
		if (!c->s.text)
			return -TY_ENOMEM;
		c->s.sentence = c->s.text + TY_STALL_TEXT;
		(*v)[(*v_n)++] = c->s;
		ty_stall_refine(h, c);
		ty_stall_find_evidence(h, c);
		if (c->tries)
			c->s.waits = c->tries;
		ty_stall_say(h, c);
		(*v)[*v_n - 1] = c->s;
	}
	return 0;
}

/* Between threads: leaves out what is shorter than CANDIDATES others, as the end of the search
 * would; but runs show which requests are known (ty_stall_computed). */
static void prune(struct ty_stall_search *h)
{
	size_t n = CANDIDATES;

	if (h->cand.n < PRUNED_AT)
		return;
	vec_sort(&h->cand, ty_stall_by_length);
	for (size_t i = CANDIDATES; i < h->cand.n; i++)
		if (h->cand.v[i].s.state == TY_ST_RUNNING)
			h->cand.v[n++] = h->cand.v[i];
	h->cand.n = n;
}

static int find_stalls(struct ty_stall_search *h, uint32_t max, struct ty_stalls *out)
{
	const struct ty_model *m = h->x->m;
	uint32_t threads = ty_model_summary(m)->threads;
	bool traced_only = false;
	size_t n;
	int r = command_path(h);

	for (uint32_t i = 0; i < threads && !traced_only; i++)
		traced_only = ty_model_thread(m, i)->traced;
	for (uint32_t i = 0; i < threads && !r; i++)
		if (ty_stall_of_interest(h, i, traced_only)) {
			r = ty_stall_collect(h, i);
			prune(h);
		}
	for (uint32_t i = 0; h->o.requests && i < h->o.requests->n && !r; i++)
		if (h->o.requests->v[i].thread != TY_NONE &&
		    ty_stall_of_interest(h, h->o.requests->v[i].thread, traced_only))
			r = ty_stall_computed(h, i);
	if (r)
		return r;
	vec_sort(&h->cand, ty_stall_by_length);
	n = h->cand.n < CANDIDATES ? h->cand.n : CANDIDATES;
	vec_trim(&h->cand, n);
	r = explain_all(h, n);
	r = r ? r : ty_stall_rank(h, n);
	if (r)
		return r;
	r = take(h, n, max, false, &out->v, &out->n);
	if (!r && h->o.rejected)
		r = take(h, n, max, true, &out->rejected, &out->rejected_n);
	for (size_t i = 0; i < n; i++)
		out->by_command |=
			!h->cand.v[i].dropped && (h->cand.v[i].s.path_ns || h->cand.v[i].aside_ns);
	out->jobs_left = h->jobs_left;
	return r;
}

int ty_stalls_find(const struct ty_explain *x, const struct ty_window *w,
		   const struct ty_stalls_opts *o, uint32_t max, struct ty_stalls *out,
		   struct ty_err *err)
{
	struct ty_explain own = *x;
	struct ty_stall_search h = {.x = &own, .w = *w, .o = *o, .path_end = TY_NONE};
	int r;

	*out = (struct ty_stalls){0};
	if (!h.o.min_ns)
		h.o.min_ns = TY_STALLS_MIN_NS;
	h.words = calloc(TY_STALL_BLOCKS, sizeof(*h.words));
	own.woken = ty_stall_woken_new();
	own.spans = ty_span_blocks_new();
	h.cpu_spans = ty_cpu_spans_new(x->m);
	h.waits = ty_stall_waits_new();
	own.paths = x->paths ? x->paths : &h.paths;
	if (!x->fd_histories)
		own.fd_histories = ty_fd_histories_new(HISTORIES);
	r = h.words && own.woken && own.spans && h.cpu_spans && h.waits ? find_stalls(&h, max, out)
									: -TY_ENOMEM;
	if (!x->fd_histories)
		ty_fd_histories_free(own.fd_histories);
	free(h.words);
	free(own.woken);
	free(own.spans);
	free(h.cpu_spans);
	free(h.waits);
	vec_fini(&h.cand);
	vec_fini(&h.word);
	vec_fini(&h.own_sleeps);
	vec_fini(&h.blocked);
	ty_path_fini(&h.path);
	ty_path_fini(&h.spare);
	ty_kept_paths_fini(&h.paths);
	free(h.prio);
	free(h.at);
	if (r < 0) {
		ty_stalls_fini(out);
		return ty_fail(err, -r, TY_NO_OFFSET, "searching for stalls: %s", ty_strerror(r));
	}
	return 0;
}

const struct ty_stall *ty_stalls_around(const struct ty_stalls *s, uint32_t thread,
					uint64_t from_ns, uint64_t to_ns)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct ty_stall *v = &s->v[i];

		if (v->thread == thread && v->links && v->link[0].start_ns <= from_ns &&
		    v->link[0].end_ns >= to_ns)
			return v;
	}
	return NULL;
}

void ty_stalls_fini(struct ty_stalls *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		free(s->v[i].text);
	for (uint32_t i = 0; i < s->rejected_n; i++)
		free(s->rejected[i].text);
	free(s->v);
	free(s->rejected);
	*s = (struct ty_stalls){0};
}
