/* SPDX-License-Identifier: MIT */
/*
 * Explains runnable and running threads: the threads that had the CPU, a CPU quota that throttled
 * the thread, and interrupts while it ran.
 *
 * Budget: the spans of one CPU, or its interrupts, within the candidate; of the CPUs for which the
 * root of its path was runnable.
 */
#include <math.h>
#include <stdlib.h>

#include "compare.h"
#include "irq_find.h"
#include "partition.h"
#include "stalls_priv.h"
#include "thread_walk.h"

#define IDLE_NS	  UINT64_C(5000000)
#define LISTED_NS UINT64_C(1000000000) /* groups with a quota are found so soon */
#define RIVALS	  256
#define BLOCKS	  32

/* run queue --------------------------------------------------------------------------------- */

ORDER(by_thread_time, struct ty_prio_at,
      compare(a->thread, b->thread) ?: compare(a->ts_ns, b->ts_ns))

static int make_prios(struct ty_stall_search *h)
{
	const struct ty_model *m = h->x->m;
	VEC(struct ty_prio_at) v = {0};

	h->prio_made = true;
	for (uint32_t c = 0; c < ty_model_summary(m)->cpus; c++)
		for (uint32_t i = 0, n = ty_model_points(m, c); i < n; i++) {
			struct ty_point p = ty_model_point(m, c, i);

			if (p.kind == TY_PT_PRIO &&
			    vec_push(&v, (struct ty_prio_at){p.ts_ns, p.thread,
							     (int32_t)(int64_t)p.a})) {
				vec_fini(&v);
				return -TY_ENOMEM;
			}
		}
	vec_sort(&v, by_thread_time);
	h->prio = v.v;
	h->prios = v.n;
	return 0;
}

/* The last priority seen up to t, or the first after; INT32_MIN: none. */
static int32_t prio_at(const struct ty_stall_search *h, uint32_t thread, uint64_t t)
{
	size_t lo = partition_point(i, 0, h->prios,
				    h->prio[i].thread < thread ||
					    (h->prio[i].thread == thread && h->prio[i].ts_ns <= t));

	if (lo && h->prio[lo - 1].thread == thread)
		return h->prio[lo - 1].prio;
	return lo < h->prios && h->prio[lo].thread == thread ? h->prio[lo].prio : INT32_MIN;
}

struct rival {
	uint32_t thread;
	uint64_t ns, longest_ns, longest_at, turns_ns;
};

/* The threads that ran while this one was runnable; known: their sum, idle: the CPU was idle. */
struct rivals {
	VEC(struct rival) v;
	struct rival most; /* thread TY_NONE: none */
	uint64_t known, idle;
	uint64_t fair_ns; /* of known: threads without real-time priority, in turns */
	double shares;	  /* of these threads, where the waiting one's is 1 */
	bool sure;
	uint32_t cpu, span; /* that was looked at last */
};

/* Two that wake each other all the time can starve a third for long: shorter ones are no turns. */
#define TURN_MIN_NS  UINT64_C(1000000)
#define TURN_NS	     UINT64_C(10000000) /* longer at a stretch was not the scheduler's choice */
#define FAIR_WAIT_NS UINT64_C(60000000) /* several times what fair turns take, for each share */

/* The share of a priority, beside another one's (kernel/sched/core.c, sched_prio_to_weight). */
static double share(int32_t prio, int32_t beside)
{
	return pow(1.25, (beside == INT32_MIN ? 120 : beside) - (prio == INT32_MIN ? 120 : prio));
}

/* A decoded block of a CPU's spans: many waits look at the same ones. */
struct ty_cpu_block {
	uint32_t cpu, id, n; /* id: the block's number + 1; 0: none was read */
	struct ty_cpu_rows rows;
};
struct ty_cpu_spans {
	struct ty_cpu_block block[BLOCKS];
	uint32_t at[]; /* of each thread, where it is among the rivals, if it is one */
};

static struct rival *rival_of(const struct ty_stall_search *h, struct rivals *q, uint32_t thread)
{
	uint32_t *i = &h->cpu_spans->at[thread];

	if (*i < q->v.n && q->v.v[*i].thread == thread)
		return &q->v.v[*i];
	*i = (uint32_t)q->v.n;
	return q->v.n < RIVALS && !vec_push(&q->v, (struct rival){.thread = thread})
		       ? &q->v.v[q->v.n - 1]
		       : NULL;
}

/* The block with this span of the CPU. */
static const struct ty_cpu_block *block_at(const struct ty_stall_search *h, uint32_t cpu,
					   uint32_t span)
{
	uint32_t id = span / TY_ROWS;
	struct ty_cpu_block *b = &h->cpu_spans->block[(cpu * 31 + id) % BLOCKS];

	if (b->cpu != cpu || b->id != id + 1) {
		b->n = ty_model_cpu_rows(h->x->m, cpu, id * TY_ROWS, &b->rows);
		b->cpu = cpu;
		b->id = id + 1;
	}
	return b;
}

static void add_rival(const struct ty_stall_search *h, struct rivals *q, uint32_t thread,
		      uint64_t from, uint64_t to)
{
	struct rival *e = rival_of(h, q, thread);

	q->known += to - from;
	if (!e)
		return;
	e->ns += to - from;
	if (to - from >= TURN_MIN_NS)
		e->turns_ns += to - from < TURN_NS ? to - from : TURN_NS;
	if (to - from > e->longest_ns) {
		e->longest_ns = to - from;
		e->longest_at = from + (to - from) / 2;
	}
}

/* Those of the block from the CPU's span i on. False: they go on behind b. */
static bool add_rows(const struct ty_stall_search *h, uint32_t cpu, uint32_t thread, uint32_t i,
		     const struct ty_cpu_block *c, uint64_t a, uint64_t b, struct rivals *q)
{
	const struct ty_cpu_rows *v = &c->rows;
	uint32_t k = i % TY_ROWS, first = k;

	for (; k < c->n && v->start_ns[k] < b; k++) {
		uint64_t from = v->start_ns[k] > a ? v->start_ns[k] : a,
			 to = v->start_ns[k + 1] < b ? v->start_ns[k + 1] : b;

		if (from >= to)
			continue;
		if (v->flags[k] & (TY_SF_LOST | TY_SF_INFERRED))
			q->sure = false;
		if (v->state[k] == TY_ST_IDLE)
			q->idle += to - from;
		if (v->thread[k] != TY_NONE && v->thread[k] != thread)
			add_rival(h, q, v->thread[k], from, to);
	}
	if (k > first) {
		q->cpu = cpu;
		q->span = i - first + k - 1;
	}
	return k == c->n;
}

/* The threads that ran on the CPU in [a, b). What more than RIVALS did is only summed up. */
static void add_rivals(const struct ty_stall_search *h, uint32_t cpu, uint32_t thread, uint64_t a,
		       uint64_t b, struct rivals *q)
{
	uint32_t n = ty_model_cpu_spans(h->x->m, cpu), i = q->span;
	const struct ty_cpu_block *c;

	if (!n)
		return;
	/* Most often soon behind what was looked at last. */
	c = cpu == q->cpu ? block_at(h, cpu, i) : NULL;
	if (!c || a < c->rows.start_ns[i % TY_ROWS] || a >= c->rows.start_ns[c->n])
		i = ty_model_cpu_span_find(h->x->m, cpu, a);
	for (; i < n; i += TY_ROWS - i % TY_ROWS) {
		c = block_at(h, cpu, i);
		if (!add_rows(h, cpu, thread, i, c, a, b, q))
			break;
	}
}

struct ty_cpu_spans *ty_cpu_spans_new(const struct ty_model *m)
{
	return calloc(1, sizeof(struct ty_cpu_spans) +
				 ty_model_summary(m)->threads * sizeof(uint32_t));
}

/* Adds all of it: the thread that ran most, and what were turns, given the priority that thread has
 * at t. */
static int sum_up(struct ty_stall_search *h, uint32_t thread, uint64_t t, struct rivals *q)
{
	int r = h->prio_made ? 0 : make_prios(h);
	int32_t own;

	if (r)
		return r;
	own = prio_at(h, thread, t);
	q->most.thread = TY_NONE;
	vec_each (e, &q->v) {
		int32_t prio = prio_at(h, e->thread, e->longest_at);

		if (q->most.thread == TY_NONE || e->ns > q->most.ns)
			q->most = *e;
		if (prio != INT32_MIN && prio < 100)
			continue;
		q->fair_ns += e->turns_ns;
		if (e->ns >= q->known / 50)
			q->shares += share(prio, own);
	}
	return 0;
}

/* The foremost of those that shared the CPU, most first. */
static void list_rivals(const struct ty_stall_search *h, struct ty_candidate *c,
			const struct rivals *q)
{
	c->rivals_n = 0;
	vec_each (e, &q->v) {
		struct ty_ran ran = {e->thread, prio_at(h, e->thread, e->longest_at), e->ns,
				     e->longest_at};
		unsigned i = c->rivals_n;

		for (; i && c->rivals[i - 1].ns < ran.ns; i--)
			if (i < TY_STALL_RIVALS)
				c->rivals[i] = c->rivals[i - 1];
		if (i < TY_STALL_RIVALS)
			c->rivals[i] = ran;
		c->rivals_n += c->rivals_n < TY_STALL_RIVALS;
	}
}

/* What the threads of the cgroup ran in the period before t. */
static uint64_t used_before(const struct ty_model *m, const struct ty_throttled *g, uint64_t t)
{
	uint64_t period_ns = g->period_us * 1000, from = t > period_ns ? t - period_ns : 0, ns = 0;

	for (size_t i = 0; i < g->tids_n && from < t; i++) {
		uint32_t thread = ty_model_thread_find(m, g->tids[i], t);

		if (thread != TY_NONE)
			ns += ty_thread_time(m, thread, from, t).ns[TY_ST_RUNNING];
	}
	return ns;
}

/*
 * Was the thread's cgroup held back by its quota for most of `ns`, which it stood ready in [a, b):
 * by the kernel's count, or, where that is not known (the group was removed), because it had used
 * its quota up? Not the cause where one thread of real-time priority ran for most of it: the
 * thread could not have run beside that one, either.
 */
static bool throttled(const struct ty_stall_search *h, struct ty_candidate *c, uint32_t thread,
		      uint64_t a, uint64_t b, uint64_t ns, const struct rival *most)
{
	struct ty_throttled g;
	int32_t prio;

	if (!h->x->throttled ||
	    !h->x->throttled(h->x->ctx, ty_model_tid(h->x->m, thread, a), a, b, &g))
		return false;
	if (most->thread != TY_NONE && most->ns >= ns / 2) {
		prio = prio_at(h, most->thread, most->longest_at);
		if (prio != INT32_MIN && prio < 100)
			return false;
	}
	if (g.ns < ns / 2) {
		c->used_ns = g.unknown ? used_before(h->x->m, &g, a) : 0;
		if (!g.quota_us || c->used_ns / 900 < g.quota_us)
			return false;
	}
	c->held = g;
	return true;
}

/* Had the thread's cgroup a quota all of the time; or, where its CPU was idle, one that was found
 * meanwhile or soon after? The groups are listed now and then only. */
static bool has_quota(const struct ty_stall_search *h, const struct ty_candidate *c, bool idle,
		      struct ty_throttled *g)
{
	const struct ty_explain *x = h->x;
	int32_t tid = ty_model_tid(x->m, c->s.thread, c->end_ns);
	bool listed;

	if (x->quota && x->quota(x->ctx, tid, c->s.start_ns, c->end_ns, g))
		return true;
	listed = idle && x->throttled &&
		 x->throttled(x->ctx, tid, c->s.start_ns, c->end_ns + LISTED_NS, g) && g->quota_us;
	g->ns = 0; /* also of the time behind */
	return listed;
}

/* Is the ready span s followed by a run? */
static bool ran_next(const struct ty_model *m, const struct ty_span *s,
		     const struct ty_candidate *c)
{
	const struct ty_thread *t = ty_model_thread(m, c->s.thread);

	return !(s->flags & TY_SF_OPEN) && c->s.span + 1 < t->spans_first + t->spans_n &&
	       ty_model_span_brief(m, c->s.thread, c->s.span + 1).state == TY_ST_RUNNING;
}

int ty_stall_run_queue(struct ty_stall_search *h, struct ty_candidate *c)
{
	const struct ty_model *m = h->x->m;
	struct ty_span s = ty_model_span_brief(m, c->s.thread, c->s.span);
	struct rivals q = {.sure = true, .cpu = TY_NONE};
	struct ty_throttled g;
	bool idle, limited;
	int r;

	c->s.kind = TY_STALL_RUNQUEUE;
	ty_stall_only_link(c, TY_SEG_RUNNABLE, TY_NO_WAKER);
	if (s.cpu == TY_NONE)
		return 1;
	add_rivals(h, s.cpu, c->s.thread, c->s.start_ns, c->end_ns, &q);
	r = sum_up(h, c->s.thread, c->end_ns, &q);
	if (!r)
		list_rivals(h, c, &q);
	vec_fini(&q.v);
	if (r)
		return r;
	c->own_prio = prio_at(h, c->s.thread, c->end_ns);
	c->idle_ns = q.idle;
	c->run_inferred = !q.sure;
	c->s.proven = false;
	/* A free CPU does not leave a thread runnable: it was not allowed to run, if there is
	 * a quota; or the CPU was not there. Or the thread ran unrecorded: that no thread is shown
	 * running then proves nothing. */
	idle = q.idle > IDLE_NS && q.idle >= c->s.duration_ns / 10;
	limited = has_quota(h, c, idle, &g);
	if (throttled(h, c, c->s.thread, c->s.start_ns, c->end_ns, c->s.duration_ns, &q.most)) {
		c->s.kind = TY_STALL_THROTTLED;
	} else if (idle && limited) {
		c->held = g;
		c->s.kind = TY_STALL_THROTTLED;
		return ran_next(m, &s, c);
	} else if (ty_stall_steal_of_queue(h, c, s.cpu)) {
		c->s.kind = TY_STALL_STEAL;
	} else if (idle) {
		return ran_next(m, &s, c); /* why is not known */
	} else if ((c->own_prio == INT32_MIN || c->own_prio >= 100) &&
		   (double)q.fair_ns > (double)FAIR_WAIT_NS * (1 + q.shares)) {
		/* Nor is one left standing whose turn would have come several times: a quota, or
		 * its group's small weight. */
		c->rival_ns = q.fair_ns;
		c->unfair = true;
		c->quota_seen = limited || !h->x->quota;
	} else if (q.most.thread != TY_NONE && q.most.ns < c->s.duration_ns / 2) {
		/* Several shared the CPU: none is to blame. With many of them, a busy machine,
		 * until it is very long. */
		c->s.proven = q.sure && !ty_stall_steal_matters(c);
		c->rival_ns = q.known;
		return q.most.ns >= c->s.duration_ns / 3 || c->s.duration_ns >= 10 * h->o.min_ns;
	} else if (q.most.thread != TY_NONE) {
		c->s.culprit = q.most.thread;
		c->s.culprit_ns = q.most.longest_at;
		c->rival_ns = q.most.ns;
		c->rival_prio = prio_at(h, q.most.thread, q.most.longest_at);
		c->s.proven = q.sure && q.most.ns >= q.known / 2 && !ty_stall_steal_matters(c);
	}
	return 1;
}

int ty_stall_blame_rival(struct ty_stall_search *h, struct ty_candidate *c, const struct ty_path *p)
{
	const struct ty_model *m = h->x->m;
	struct rivals q = {.sure = true, .cpu = TY_NONE};
	uint64_t ns = 0, longest = 0;
	bool in_turns;
	int r;

	if (p->seg.v[c->root.seg].what != TY_SEG_RUNNABLE ||
	    c->root.what_ns[TY_SEG_RUNNABLE] < c->s.duration_ns / 2)
		return 0;
	vec_each (g, &p->seg) {
		uint32_t cpu = g->thread == c->root.thread && g->what == TY_SEG_RUNNABLE
				       ? ty_model_span_brief(m, g->thread, g->span).cpu
				       : TY_NONE;

		if (cpu == TY_NONE)
			continue;
		ns += g->end_ns - g->start_ns;
		longest = g->end_ns - g->start_ns > longest ? g->end_ns - g->start_ns : longest;
		add_rivals(h, cpu, g->thread, g->start_ns, g->end_ns, &q);
	}
	r = sum_up(h, c->root.thread, c->end_ns, &q);
	vec_fini(&q.v);
	if (r)
		return r;
	if (throttled(h, c, c->root.thread, c->s.start_ns, c->end_ns, ns, &q.most)) {
		c->s.proven = false; /* according to samples */
		return 0;
	}
	if (q.most.thread == TY_NONE)
		return 0;
	/* With its turns in between it did run: another thread is to blame only for most of the
	 * time. */
	in_turns = longest < c->s.duration_ns / 2;
	if (q.most.ns < (in_turns ? c->s.duration_ns : ns) / 2)
		return in_turns ? 0 : 2;
	c->s.culprit = q.most.thread;
	c->s.culprit_ns = q.most.longest_at;
	c->rival_ns = q.most.ns;
	if (c->s.links < TY_STALL_LINKS)
		c->s.link[c->s.links++] = (struct ty_link){
			.thread = q.most.thread,
			.span = ty_model_span_find(m, q.most.thread, q.most.longest_at),
			.start_ns = q.most.longest_at - q.most.longest_ns / 2,
			.end_ns = q.most.longest_at + q.most.longest_ns / 2,
			.all_ns = q.most.ns,
			.what = TY_SEG_RUNS,
			.waker = TY_NO_WAKER};
	return 1;
}

/* interrupts -------------------------------------------------------------------------------- */

#define NAMES 8

uint64_t ty_stall_theft(const struct ty_model *m, const struct ty_span *s, uint64_t a, uint64_t b,
			struct ty_theft *most)
{
	struct ty_theft name[NAMES] = {0};
	uint32_t n = s->cpu == TY_NONE ? 0 : ty_model_irq_spans(m, s->cpu), names = 0;
	uint64_t to = a, all = 0;

	for (uint32_t i = n ? ty_irq_after(m, s->cpu, a) : n; i < n; i++) {
		struct ty_irq_span q = ty_model_irq_span(m, s->cpu, i);
		uint64_t from = q.start_ns > to ? q.start_ns : to,
			 end = q.end_ns < b ? q.end_ns : b;
		uint32_t k = 0;

		if (q.start_ns >= b)
			break;
		/* A softirq inside the thread's own call may be its own doing (what it sends). */
		if (from >= end ||
		    (q.kind == 1 && ty_model_syscall_at(m, s->thread, q.start_ns) != TY_NONE))
			continue;
		all += end - from;
		to = end;
		while (k < names && name[k].name != q.name)
			k++;
		if (k == NAMES)
			continue;
		names += k == names;
		name[k].name = q.name;
		name[k].kind = q.kind;
		name[k].n++;
		name[k].ns += end - from;
		if (name[k].ns > most->ns)
			*most = name[k];
	}
	return all;
}
