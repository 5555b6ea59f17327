/* SPDX-License-Identifier: MIT */
/*
 * Waits and runs that may be stalls. Long spans are searched for in the zoom forest of a thread;
 * only where short waits for devices may add up, all spans are walked.
 */
#include "stalls_priv.h"

#include "own_name.h"
#include "steal.h"
#include "thread_walk.h"

#define KEYS  32
#define STOPS INT32_MIN /* a key of short waits: stops, in whatever call */

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

bool ty_stall_of_interest(const struct ty_stall_search *h, uint32_t thread, bool traced_only)
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
		h->cand.v[h->cand.n - 1].ran_ns = sum.ns[TY_ST_RUNNING];
		h->cand.v[h->cand.n - 1].waited_ns = sum.ns[TY_ST_RUNNABLE];
	}
	return 0;
}

int ty_stall_collect(struct ty_stall_search *h, uint32_t thread)
{
	int r = collect(h, thread);

	return r ? r : collect_calls(h, thread);
}
