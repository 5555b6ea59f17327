/* SPDX-License-Identifier: MIT */
/*
 * See stalls.h. Long spans are searched for in the zoom forest of the threads of interest (only
 * where short waits for devices may add up, all spans are walked). The longest CANDIDATES are
 * explained (stall_cause.c), idle waits dropped, those in another one's chain joined to it, the
 * rest ranked (stall_rank.c).
 */
#include "stalls_priv.h"
#include "compare.h"
#include "fd_kind.h"
#include "own_name.h"
#include "span_blocks.h"
#include "steal.h"
#include "thread_walk.h"

#include <stdlib.h>
#include <string.h>

#define CANDIDATES 4096
#define PRUNED_AT  (CANDIDATES * 3 / 2)
#define KEYS	   32
#define STOPS	   INT32_MIN   /* a key of short waits: stops, in whatever call */
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

/* candidates -------------------------------------------------------------------------------- */

int ty_stall_add(struct ty_stall_search *h, uint32_t thread, uint32_t span, uint64_t a, uint64_t b,
		 uint8_t state, uint8_t flags)
{
	struct ty_candidate c = {.s = {.thread = thread,
				       .span = span,
				       .start_ns = a,
				       .duration_ns = b - a,
				       .waits = 1,
				       .last_end_ns = b,
				       .state = state,
				       .flags = flags,
				       .syscall = TY_NONE,
				       .culprit = TY_NONE},
				 .end_ns = b,
				 .io = TY_NONE};

	return vec_push(&h->cand, c);
}

/* Short waits for devices that add up, by system call; and stops. */
struct many {
	struct {
		int32_t nr;		   /* -1: none; STOPS */
		uint32_t n, span, typical; /* spans: the longest, and one that is no extreme */
		uint64_t ns, longest, start, from, to;
	} key[KEYS];
	unsigned keys;
};

static void count(struct many *v, int32_t nr, uint32_t span, uint64_t a, uint64_t b)
{
	unsigned i = 0;

	while (i < v->keys && v->key[i].nr != nr)
		i++;
	if (i == v->keys) {
		if (v->keys == KEYS)
			return;
		memset(&v->key[v->keys++], 0, sizeof(v->key[0]));
		v->key[i].nr = nr;
		v->key[i].from = a;
	}
	/* The last one whose number is a power of two. */
	if (!(v->key[i].n & (v->key[i].n + 1)))
		v->key[i].typical = span;
	v->key[i].n++;
	v->key[i].ns += b - a;
	v->key[i].to = b;
	if (b - a > v->key[i].longest) {
		v->key[i].longest = b - a;
		v->key[i].span = span;
		v->key[i].start = a;
	}
}

/* life: of the thread within the window; sums that are little of it are no stall. */
static bool is_little(const struct ty_stall_search *h, uint64_t ns, uint64_t life)
{
	return ns < h->o.min_ns || ns < life / 20;
}

static int add_many(struct ty_stall_search *h, uint32_t thread, const struct many *v, uint64_t life)
{
	for (unsigned i = 0; i < v->keys; i++) {
		struct ty_candidate *c;
		int r;

		if (is_little(h, v->key[i].ns, life) || v->key[i].n < 2)
			continue;
		r = ty_stall_add(h, thread, v->key[i].span, v->key[i].start,
				 v->key[i].start + v->key[i].longest,
				 v->key[i].nr == STOPS ? TY_ST_STOPPED : TY_ST_BLOCKED, 0);
		if (r)
			return r;
		c = &h->cand.v[h->cand.n - 1];
		c->s.waits = v->key[i].n;
		c->typical = v->key[i].typical;
	}
	return 0;
}

/* After the chief wait is explained, the candidate stands for all of them. */
static void widen(struct ty_candidate *c, const struct many *v)
{
	for (unsigned i = 0; i < v->keys; i++)
		if (v->key[i].span == c->s.span) {
			c->s.start_ns = v->key[i].from;
			c->s.duration_ns = v->key[i].ns;
			c->s.last_end_ns = v->key[i].to;
			c->longest_ns = v->key[i].longest;
		}
}

static bool of_interest(const struct ty_stall_search *h, uint32_t thread, bool traced_only)
{
	const struct ty_thread *t = ty_model_thread(h->x->m, thread);

	if (!t->spans_n || t->end_ns <= h->w.from_ns || t->start_ns >= h->w.to_ns)
		return false;
	if (h->w.tids_n || h->w.comms_n)
		return ty_window_thread(&h->w, h->x->m, thread);
	return !t->kernel && (!traced_only || t->traced) &&
	       (!h->x->recorder_pid || t->tgid != h->x->recorder_pid) &&
	       strcmp(ty_model_comm(h->x->m, thread, t->end_ns - 1), TY_UNHOOK_NAME);
}

/* Interrupts took much of a long run. */
static int add_theft(struct ty_stall_search *h, uint32_t thread, uint32_t span,
		     const struct ty_span *s, uint64_t a, uint64_t b)
{
	struct ty_theft most = {0};
	uint64_t ns = ty_stall_theft(h->x->m, s, a, b, &most);
	int r;

	if (ns < h->o.min_ns || ns < (b - a) / 4)
		return 0;
	r = ty_stall_add(h, thread, span, a, b, TY_ST_RUNNING, s->flags);
	if (!r) {
		h->cand.v[h->cand.n - 1].theft = most;
		h->cand.v[h->cand.n - 1].stolen_ns = ns;
		h->cand.v[h->cand.n - 1].s.duration_ns = ns;
	}
	return r;
}

/* The row behind one in [start, end) that q accepts; TY_NONE. Rows without length may begin where
 * the next one does; q accepts none such. */
static uint32_t next_long(const struct ty_model *m, enum ty_track_kind kind, uint32_t thread,
			  const struct ty_seek *q, uint32_t row, uint64_t start, uint64_t end)
{
	return ty_row_behind(m, (struct ty_track){(uint8_t)kind, thread}, q, row,
			     start == end && start ? start - 1 : start);
}

/* The stops, and waits for devices, in [least, to) that are too short to be stalls of their own. */
static int collect_many(struct ty_stall_search *h, uint32_t thread, uint64_t least, uint64_t to_ns,
			uint64_t life)
{
	const struct ty_model *m = h->x->m;
	uint32_t k = ty_model_span_find(m, thread, least), n;
	struct ty_span_rows *v = malloc(sizeof(*v));
	struct many many = {0};
	size_t first = h->cand.n;
	bool over = false;
	int r;

	if (!v)
		return -TY_ENOMEM;
	for (; !over && (n = ty_model_span_rows(m, thread, k, v)) > 0; k += n)
		for (uint32_t i = 0; i < n && !over; i++) {
			uint64_t a = v->start_ns[i] > least ? v->start_ns[i] : least,
				 b = v->start_ns[i + 1] < to_ns ? v->start_ns[i + 1] : to_ns;
			uint32_t call;

			over = v->start_ns[i] >= to_ns;
			if ((v->state[i] != TY_ST_BLOCKED && v->state[i] != TY_ST_STOPPED) ||
			    v->flags[i] & TY_SF_NEW || a >= b || b - a >= h->o.min_ns)
				continue;
			if (ty_explain_stopped(h->x)) {
				free(v);
				return -TY_EINTR;
			}
			if (v->state[i] == TY_ST_STOPPED) {
				count(&many, STOPS, k + i, a, b);
				continue;
			}
			call = ty_model_syscall_at(m, thread, v->start_ns[i]);
			count(&many,
			      call == TY_NONE ? -1 : ty_model_syscall_brief(m, thread, call).nr,
			      k + i, a, b);
		}
	free(v);
	r = add_many(h, thread, &many, life);
	for (size_t i = first; i < h->cand.n && !r; i++)
		widen(&h->cand.v[i], &many);
	return r;
}

static int collect(struct ty_stall_search *h, uint32_t thread)
{
	const struct ty_seek q = {.states = 1u << TY_ST_BLOCKED | 1u << TY_ST_SLEEPING |
					    1u << TY_ST_STOPPED | 1u << TY_ST_RUNNABLE |
					    1u << TY_ST_RUNNING | 1u << TY_ST_UNKNOWN,
				  .min_ns = h->o.min_ns,
				  .nr = -1};
	const struct ty_model *m = h->x->m;
	const struct ty_thread *t = ty_model_thread(m, thread);
	uint32_t k = ty_model_span_find(m, thread, h->w.from_ns), to = t->spans_first + t->spans_n;
	uint64_t least = t->released_ns > h->w.from_ns ? t->released_ns : h->w.from_ns,
		 life = (t->end_ns < h->w.to_ns ? t->end_ns : h->w.to_ns) -
			(t->start_ns > least ? t->start_ns : least),
		 blocked = 0, stopped = 0;
	size_t first = h->cand.n;
	struct ty_cell sum;
	struct ty_span s;
	int r = 0;

	for (; k < to && !r;
	     k = next_long(m, TY_TRACK_THREAD, thread, &q, k, s.start_ns, s.end_ns)) {
		uint64_t a, b, min = h->o.min_ns;

		s = ty_model_span_brief(m, thread, k);
		a = s.start_ns > least ? s.start_ns : least;
		b = s.end_ns < h->w.to_ns ? s.end_ns : h->w.to_ns;
		if (s.start_ns >= h->w.to_ns)
			break;
		if (ty_explain_stopped(h->x))
			return -TY_EINTR;
		if (a >= b)
			continue;
		switch ((enum ty_state)s.state) {
		case TY_ST_BLOCKED:
			if (s.flags & TY_SF_NEW)
				continue;
			blocked += b - a >= min ? b - a : 0;
			break;
		case TY_ST_STOPPED: stopped += b - a >= min ? b - a : 0; break;
		case TY_ST_SLEEPING: break;
		case TY_ST_RUNNABLE: min = min * TY_STALL_RUNNABLE_TIMES; break;
		case TY_ST_RUNNING:
			r = ty_stall_add_steal(h, thread, k, &s, a, b);
			if (!r && b - a >= min * TY_STALL_RUNNABLE_TIMES)
				r = add_theft(h, thread, k, &s, a, b);
			r = r < 0 ? r : 0;
			continue;
		case TY_ST_UNKNOWN:
			if (!(s.flags & TY_SF_LOST))
				continue;
			break;
		default: continue;
		}
		if (b - a >= min)
			r = ty_stall_add(h, thread, k, a, b, s.state, s.flags);
	}
	if (r || least >= h->w.to_ns)
		return r;
	r = ty_stall_join_tries(h, first);
	r = r ? r : ty_stall_short_tries(h, thread);
	r = r ? r : ty_stall_polled(h, thread);
	if (r)
		return r;
	/* What remains of that time shows whether a sum of it can matter at all. */
	sum = ty_thread_time(m, thread, least, h->w.to_ns);
	blocked = sum.ns[TY_ST_BLOCKED] > blocked ? sum.ns[TY_ST_BLOCKED] - blocked : 0;
	stopped = sum.ns[TY_ST_STOPPED] > stopped ? sum.ns[TY_ST_STOPPED] - stopped : 0;
	if (is_little(h, blocked, life) && is_little(h, stopped, life))
		return 0;
	return collect_many(h, thread, least, h->w.to_ns, life);
}

/* The longest run of the thread in [a, b). */
static uint32_t longest_run(const struct ty_model *m, uint32_t thread, uint64_t a, uint64_t b)
{
	struct ty_seek q = {.states = 1u << TY_ST_RUNNING, .min_ns = 1, .nr = -1};
	const struct ty_thread *t = ty_model_thread(m, thread);
	uint32_t k = ty_model_span_find(m, thread, a), best = TY_NONE;
	struct ty_span s;

	for (; k < t->spans_first + t->spans_n;
	     k = next_long(m, TY_TRACK_THREAD, thread, &q, k, s.start_ns, s.end_ns)) {
		uint64_t from, end;

		s = ty_model_span_brief(m, thread, k);
		from = s.start_ns > a ? s.start_ns : a;
		end = s.end_ns < b ? s.end_ns : b;
		if (s.start_ns >= b)
			break;
		if (s.state != TY_ST_RUNNING || from >= end || end - from < q.min_ns)
			continue;
		q.min_ns = end - from + 1; /* only longer ones from here on */
		best = k;
	}
	return best;
}

/* A call in which the kernel waited many times, however briefly each. */
static int add_waits(struct ty_stall_search *h, uint32_t thread, uint64_t a, uint64_t b,
		     uint64_t blocked)
{
	const struct ty_model *m = h->x->m;
	const struct ty_thread *t = ty_model_thread(m, thread);
	uint32_t n = 0, longest = TY_NONE;
	uint64_t ns = 0;
	struct ty_candidate *c;

	for (uint32_t k = ty_model_span_find(m, thread, a); k < t->spans_first + t->spans_n; k++) {
		struct ty_span s = ty_model_span_brief(m, thread, k);

		if (s.start_ns >= b)
			break;
		if (ty_explain_stopped(h->x))
			return -TY_EINTR;
		if (s.state != TY_ST_BLOCKED || s.flags & TY_SF_NEW || s.start_ns < a)
			continue;
		n++;
		if (s.end_ns - s.start_ns > ns) {
			ns = s.end_ns - s.start_ns;
			longest = k;
		}
	}
	/* One that is most of it represents it. */
	if (n < 2 || ns > blocked / 4 * 3)
		return 0;
	if (ty_stall_add(h, thread, longest, a, a + blocked, TY_ST_BLOCKED, 0))
		return -TY_ENOMEM;
	c = &h->cand.v[h->cand.n - 1];
	c->s.waits = n;
	c->s.last_end_ns = b;
	c->longest_ns = ns;
	c->one_call = true;
	return 0;
}

/* In the call, [a, b), the thread waited for a lock, and some of that on its CPU: one candidate,
 * that of its longest sleep if it slept that long, too. */
static int add_spin(struct ty_stall_search *h, uint32_t thread, uint32_t call, uint64_t a,
		    uint64_t b)
{
	struct ty_candidate *best = NULL;
	size_t out = h->cand.n;
	uint32_t span;

	while (out && h->cand.v[out - 1].s.thread == thread)
		out--;
	for (size_t i = out; i < h->cand.n; i++) {
		const struct ty_candidate *c = &h->cand.v[i];
		bool part = c->s.state == TY_ST_SLEEPING && c->s.waits == 1 && !c->tries &&
			    c->s.start_ns >= a && c->end_ns <= b;

		if (part && best && c->s.duration_ns <= best->s.duration_ns)
			continue;
		if (part && best) {
			*best = *c;
			continue;
		}
		h->cand.v[out] = *c;
		best = part ? &h->cand.v[out] : best;
		out++;
	}
	h->cand.n = out;
	if (!best) {
		span = longest_run(h->x->m, thread, a, b);
		if (span == TY_NONE)
			return 0;
		if (ty_stall_add(h, thread, span, a, b, TY_ST_RUNNING, 0))
			return -TY_ENOMEM;
		best = &h->cand.v[h->cand.n - 1];
	}
	best->busy_waited = true;
	best->s.syscall = call;
	best->s.start_ns = a;
	best->end_ns = best->s.last_end_ns = b;
	best->s.duration_ns = b - a;
	return 0;
}

/* Long system calls that computed, or in which was waited: by the kernel many times, or on the CPU.
 */
static int collect_calls(struct ty_stall_search *h, uint32_t thread)
{
	const struct ty_model *m = h->x->m;
	const struct ty_thread *t = ty_model_thread(m, thread);
	uint64_t min = h->o.min_ns * TY_STALL_RUNNABLE_TIMES;
	const struct ty_seek q = {.min_ns = h->o.min_ns, .nr = -1};
	uint32_t i = ty_model_syscall_after(m, thread, h->w.from_ns),
		 to = t->syscalls_first + t->syscalls_n;
	struct ty_syscall c;
	int r;

	for (; i < to; i = next_long(m, TY_TRACK_SYSCALLS, thread, &q, i, c.start_ns, c.end_ns)) {
		struct ty_cell sum;
		struct ty_spin spin;
		uint64_t a, b;
		uint32_t span;

		c = ty_model_syscall_brief(m, thread, i);
		a = c.start_ns > h->w.from_ns ? c.start_ns : h->w.from_ns;
		b = c.end_ns < h->w.to_ns ? c.end_ns : h->w.to_ns;
		if (a >= h->w.to_ns)
			break;
		if (ty_explain_stopped(h->x))
			return -TY_EINTR;
		if (b < a || b - a < h->o.min_ns || c.flags & TY_SF_LOST)
			continue;
		sum = ty_thread_time(m, thread, a, b);
		if (sum.ns[TY_ST_RUNNING] >= TY_SPIN_NS &&
		    ty_spin_find(h->x, thread, a, b, &spin)) {
			if (add_spin(h, thread, i, a, b))
				return -TY_ENOMEM;
			continue;
		}
		if (sum.ns[TY_ST_BLOCKED] >= h->o.min_ns &&
		    (r = add_waits(h, thread, a, b, sum.ns[TY_ST_BLOCKED])))
			return r;
		if (sum.ns[TY_ST_RUNNING] >= min)
			sum.ns[TY_ST_RUNNING] -= ty_stolen_of_thread(h->x, thread, a, b);
		if (sum.ns[TY_ST_RUNNING] < min ||
		    sum.ns[TY_ST_RUNNING] + sum.ns[TY_ST_RUNNABLE] < (b - a) / 5 * 4)
			continue;
		span = longest_run(m, thread, a, b);
		if (span == TY_NONE)
			continue;
		if (ty_stall_add(h, thread, span, a, b, TY_ST_RUNNING, 0))
			return -TY_ENOMEM;
		h->cand.v[h->cand.n - 1].s.syscall = i;
	}
	return 0;
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

/* A thread's waits one after the other: they look at the same of its calls and descriptors. */
struct turn {
	uint64_t start_ns;
	uint32_t thread, i;
};

ORDER(by_thread, struct turn,
      compare(a->thread, b->thread) ?: compare(a->start_ns, b->start_ns) ?: compare(a->i, b->i))

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
		turn[i] = (struct turn){s->start_ns, s->thread, (uint32_t)i};
	}
	if (!r)
		qsort(turn, n, sizeof(*turn), by_thread);
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
		if (of_interest(h, i, traced_only)) {
			r = collect(h, i);
			r = r ? r : collect_calls(h, i);
			prune(h);
		}
	for (uint32_t i = 0; h->o.requests && i < h->o.requests->n && !r; i++)
		if (h->o.requests->v[i].thread != TY_NONE &&
		    of_interest(h, h->o.requests->v[i].thread, traced_only))
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
	struct ty_stall_search h = {.x = &own, .w = *w, .o = *o};
	int r;

	*out = (struct ty_stalls){0};
	if (!h.o.min_ns)
		h.o.min_ns = TY_STALLS_MIN_NS;
	h.words = calloc(TY_STALL_BLOCKS, sizeof(*h.words));
	own.woken = ty_stall_woken_new();
	own.spans = ty_span_blocks_new();
	h.cpu_spans = ty_cpu_spans_new(x->m);
	h.waits = ty_stall_waits_new();
	own.paths = &h.paths;
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
