/* SPDX-License-Identifier: MIT */
/*
 * Workers of pools and pipelines: whether a waiting thread had work or was idle.
 *
 * Budget: a search in the zoom forest, or 4 x TY_STALL_BACK spans of one thread, for each query;
 * each thread once for others that wait for the same object; of those that share work, the spans of
 * TY_STALL_LOOKED threads; and once for each such object, the spans of all its waiters.
 */
#include <stdlib.h>
#include <string.h>

#include "fd_kind.h"
#include "stalls_priv.h"
#include "syscall_ipc.h"
#include "thread_walk.h"

/* Time in user mode that counts as computing. What a program does to exit takes a third of it on a
 * busy machine. */
#define COMPUTE_NS UINT64_C(900000)

/* Did the waker itself get no CPU for most of the wait? That was a busy machine's, and says nothing
 * of how the two work together. */
static bool waker_starved(const struct ty_model *m, const struct ty_span *s,
			  const struct ty_waker *k)
{
	return k->kind == TY_WAKER_THREAD &&
	       ty_thread_time(m, k->thread, s->start_ns, s->end_ns).ns[TY_ST_RUNNABLE] >
		       (s->end_ns - s->start_ns) / 2;
}

/* By futex, but for a lock: what is waited for there is not what the thread waits for otherwise. */
static bool is_other_lock(const struct ty_stall_search *h, const struct ty_candidate *c,
			  const struct ty_span *s)
{
	struct ty_wait_for w;

	if (!c->w.word || c->w.kind == TY_STALL_LOCK)
		return false;
	w = ty_wait_for(h->x, s, s->syscall);
	return w.kind == TY_STALL_LOCK &&
	       !ty_wait_same(h->x->m, c->s.thread, &w, c->s.thread, &c->w);
}

/* Does this wait of a thread resemble the candidate's: in the same call, or, if one of the calls is
 * not recorded, on a futex (for the same thread, the same word)? */
static bool waits_similarly(const struct ty_stall_search *h, const struct ty_candidate *c,
			    const struct ty_span *s)
{
	const struct ty_model *m = h->x->m;
	uint32_t by = c->s.thread, call = c->s.syscall;
	struct ty_wait_for w;

	if (s->syscall == TY_NONE) {
		if (!c->w.word)
			return false;
		w = ty_wait_for(h->x, s, TY_NONE);
		return w.by_waker && (s->thread != c->s.thread || !w.word ||
				      ty_wait_same(m, s->thread, &w, c->s.thread, &c->w));
	}
	if (c->w.by_waker) {
		/* The waker wakes with the kind of call that the waiter waits in. */
		by = c->waker.thread;
		call = ty_model_syscall_at(m, by, c->waker.act_ns);
	}
	return call != TY_NONE && ty_model_syscall_brief(m, s->thread, s->syscall).nr ==
					  ty_model_syscall_brief(m, by, call).nr;
}

bool ty_stall_waits_again(const struct ty_stall_search *h, const struct ty_candidate *c, bool any)
{
	const struct ty_model *m = h->x->m;
	/* One that is hardly a stall's length has its like among those that are none. */
	uint64_t least = c->s.duration_ns / 2 < h->o.min_ns ? c->s.duration_ns / 2 : h->o.min_ns,
		 min_ns = c->s.duration_ns / 4 > least ? c->s.duration_ns / 4 : least, at = 0;

	if (c->s.syscall == TY_NONE && !c->w.by_waker)
		return false;
	for (unsigned n = 0; n < TY_STALL_BACK; n++) {
		uint32_t k = ty_sleep_after(m, c->s.thread, at, min_ns);
		struct ty_waker waker;
		struct ty_span s;

		if (k == TY_NONE)
			return false;
		s = ty_model_span(m, k);
		at = s.start_ns;
		/* Not the wait itself, which may have begun before its part that counts. */
		if ((s.end_ns > c->s.start_ns && s.start_ns < c->end_ns) ||
		    !waits_similarly(h, c, &s))
			continue;
		waker = ty_waker_find(m, s.edge);
		/* The dearest question last: it reads the call's arguments. */
		if ((any ||
		     (c->waker.kind == TY_WAKER_THREAD && waker.thread == c->waker.thread)) &&
		    !waker_starved(m, &s, &waker) && !is_other_lock(h, c, &s))
			return true;
	}
	return true;
}

bool ty_stall_ever_woken(const struct ty_explain *x, uint32_t thread, uint32_t call)
{
	const struct ty_model *m = x->m;
	const struct ty_thread *t = ty_model_thread(m, thread);
	struct ty_rows near = ty_rows_near(ty_thread_calls(m, thread), call, call, TY_STALL_BACK);
	uint64_t word = ty_wait_word(x, call);

	for (uint32_t i = near.from; word && i < near.to; i++) {
		uint64_t over = ty_model_syscall_brief(m, thread, i).end_ns;
		uint32_t at = ty_model_span_find(m, thread, over);

		if (ty_wait_timed_out(x, i) || ty_wait_word(x, i) != word)
			continue;
		/* It runs, and was ready before, when the call ends. */
		for (unsigned k = 0; k < 4 && at > t->spans_first; k++, at--) {
			struct ty_span s = ty_model_span(m, at);

			if (s.state != TY_ST_SLEEPING || s.syscall != i)
				continue;
			if (ty_waker_find(m, s.edge).kind == TY_WAKER_THREAD)
				return true;
			break;
		}
	}
	return false;
}

#define WAITS 8192

/* What a thread waits for in a span: for each of many waits, all others of its process are
 * examined. */
struct ty_waits {
	struct {
		uint32_t thread1, span; /* thread1: the thread plus one; 0: not examined */
		bool waits, shared;
		int64_t fd;
		uint64_t word;
	} v[WAITS];
};

struct ty_waits *ty_stall_waits_new(void)
{
	return calloc(1, sizeof(struct ty_waits));
}

/* Of what it waits for, w gets what ty_wait_same compares. */
static bool waits_in(const struct ty_stall_search *h, uint32_t thread, uint32_t span,
		     struct ty_wait_for *w)
{
	typeof(&h->waits->v[0]) k = &h->waits->v[(thread * 4099 + span) % WAITS];

	if (k->thread1 != thread + 1 || k->span != span) {
		struct ty_span s = ty_model_span(h->x->m, span);

		k->thread1 = thread + 1;
		k->span = span;
		k->waits = s.state == TY_ST_SLEEPING && s.syscall != TY_NONE;
		if (k->waits) {
			*w = ty_wait_for(h->x, &s, s.syscall);
			k->fd = w->fd;
			k->word = w->word;
			k->shared = w->shared;
		}
	}
	w->fd = k->fd;
	w->word = k->word;
	w->shared = k->shared;
	return k->waits;
}

/* Does thread i, another one, wait for the same thing at t? *span, *w: as waits_in. */
static bool waits_along(const struct ty_stall_search *h, const struct ty_candidate *c, uint32_t i,
			uint64_t t, uint32_t *span, struct ty_wait_for *w)
{
	const struct ty_model *m = h->x->m;
	const struct ty_thread *o = ty_model_thread(m, i);

	if (i == c->s.thread || !o->traced || o->start_ns > t || o->end_ns <= t ||
	    !ty_wait_akin(o, ty_model_thread(m, c->s.thread)))
		return false;
	*span = ty_model_span_find(m, i, t);
	return *span != TY_NONE && waits_in(h, i, *span, w) &&
	       ty_wait_same(m, i, w, c->s.thread, &c->w);
}

static bool company_at(const struct ty_stall_search *h, const struct ty_candidate *c, uint64_t t)
{
	uint32_t threads = ty_model_summary(h->x->m)->threads;
	struct ty_wait_for w;
	uint32_t span;

	for (uint32_t i = 0; i < threads; i++)
		if (waits_along(h, c, i, t, &span, &w))
			return true;
	return false;
}

bool ty_stall_waits_in_pool(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	return (c->w.word || c->w.fd >= 0) &&
	       (company_at(h, c, c->end_ns - 1) ||
		company_at(h, c, c->s.start_ns + c->s.duration_ns / 2));
}

/* Does the thread wait for a lock? */
static bool waits_for_lock(const struct ty_explain *x, uint32_t span)
{
	struct ty_span s = ty_model_span(x->m, span);

	return s.state == TY_ST_SLEEPING && s.syscall != TY_NONE &&
	       ty_wait_for(x, &s, s.syscall).kind == TY_STALL_LOCK;
}

/* How long the wait was, but for the time in which its waker had no CPU. */
static uint64_t unloaded_ns(const struct ty_model *m, const struct ty_span *s, uint32_t span)
{
	struct ty_waker by = ty_waker_find(m, ty_model_span_edge(m, s, span));
	uint64_t ns = s->end_ns - s->start_ns;

	return by.kind == TY_WAKER_THREAD
		       ? ns - ty_thread_time(m, by.thread, s->start_ns, s->end_ns)
					 .ns[TY_ST_RUNNABLE]
		       : ns;
}

bool ty_stall_computes_after(const struct ty_explain *x, uint32_t thread, uint64_t t)
{
	const struct ty_model *m = x->m;
	const struct ty_thread *th = ty_model_thread(m, thread);
	uint32_t k = ty_model_span_find(m, thread, t), to = th->spans_first + th->spans_n;
	uint64_t user = 0;

	for (unsigned n = 0; k < to && n < 4 * TY_STALL_BACK; k++, n++) {
		struct ty_span s = ty_model_span_brief(m, thread, k);
		uint64_t a = s.start_ns > t ? s.start_ns : t;

		if (ty_stall_is_wait(s.state) && s.start_ns >= t &&
		    s.end_ns - s.start_ns > 20 * TY_STALL_LITTLE_NS &&
		    unloaded_ns(m, &s, k) > 20 * TY_STALL_LITTLE_NS && !waits_for_lock(x, k))
			return false;
		if (s.state != TY_ST_RUNNING)
			continue;
		for (unsigned c = 0; a < s.end_ns && c < TY_STALL_BACK; c++) {
			uint32_t i = ty_explain_call_after(m, thread, a);
			struct ty_syscall call = {.start_ns = UINT64_MAX};

			if (i != TY_NONE)
				call = ty_model_syscall_brief(m, thread, i);
			if (call.start_ns > a)
				user += (call.start_ns < s.end_ns ? call.start_ns : s.end_ns) - a;
			a = call.start_ns == UINT64_MAX ? s.end_ns : ty_explain_call_end(&call);
			if (user >= COMPUTE_NS)
				return true;
		}
	}
	return false;
}

bool ty_stall_returns_to(const struct ty_stall_search *h, uint32_t thread,
			 const struct ty_wait_for *what, uint64_t at)
{
	const struct ty_model *m = h->x->m;

	for (unsigned n = 0; n < TY_STALL_BACK; n++) {
		uint32_t k = ty_sleep_after(m, thread, at, 1);
		struct ty_wait_for w;
		struct ty_span s;

		if (k == TY_NONE)
			return false;
		s = ty_model_span(m, k);
		at = s.start_ns;
		if (s.syscall == TY_NONE)
			continue;
		w = ty_wait_for(h->x, &s, s.syscall);
		if ((w.word || w.fd >= 0) && ty_wait_same(m, thread, &w, thread, what))
			return true;
	}
	return true;
}

/* A thread that waits for the same thing at t is woken by the same call, works, and does not
 * return: this is how a gate opens that all wait for. A thread that distributes work wakes them one
 * by one, or repeatedly. */
static bool opens_at(const struct ty_stall_search *h, const struct ty_candidate *c, uint32_t call,
		     uint64_t t)
{
	const struct ty_model *m = h->x->m;
	uint32_t threads = ty_model_summary(m)->threads;

	for (uint32_t i = 0; i < threads; i++) {
		struct ty_wait_for w;
		struct ty_waker k;
		struct ty_span s;
		uint32_t span;

		if (!waits_along(h, c, i, t, &span, &w))
			continue;
		s = ty_model_span(m, span);
		k = ty_waker_find(m, s.edge);
		if (ty_waker_call(m, &k) != call || ty_stall_returns_to(h, i, &w, s.end_ns - 1) ||
		    !ty_stall_computes_after(h->x, i, s.end_ns))
			return false;
	}
	return true;
}

/* One result for all waiters at a gate: of a thousand each would look at all others. */
static bool opens_to_all(struct ty_stall_search *h, const struct ty_candidate *c)
{
	uint32_t call = ty_waker_call(h->x->m, &c->waker);
	struct ty_gate *g = &h->gate;

	if (call == TY_NONE)
		return false;
	if (!g->known || g->call != call ||
	    !ty_wait_same(h->x->m, g->waiter, &g->what, c->s.thread, &c->w))
		*g = (struct ty_gate){
			.what = c->w,
			.waiter = c->s.thread,
			.call = call,
			.known = true,
			.opens = opens_at(h, c, call, c->end_ns - 1) &&
				 opens_at(h, c, call, c->s.start_ns + c->s.duration_ns / 2)};
	return g->opens;
}

bool ty_stall_ends_then(const struct ty_model *m, const struct ty_candidate *c)
{
	const struct ty_thread *t = ty_model_thread(m, c->s.thread);
	const struct ty_seek q = {.states = 1u << TY_ST_SLEEPING | 1u << TY_ST_UNKNOWN,
				  .min_ns = TY_STALL_LITTLE_NS,
				  .nr = -1};

	return t->died && ty_model_seek(m, (struct ty_track){TY_TRACK_THREAD, c->s.thread}, &q,
					c->end_ns, false) == TY_NONE;
}

bool ty_stall_only_ends(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	const struct ty_thread *t = ty_model_thread(h->x->m, c->s.thread);

	return t->born && t->tid != t->tgid && ty_stall_ends_then(h->x->m, c) &&
	       !ty_stall_computes_after(h->x, c->s.thread, c->end_ns);
}

bool ty_stall_had_work(struct ty_stall_search *h, const struct ty_candidate *c)
{
	bool company, goes_on, back;

	/* It waits once for the very thread that the command is busy with. */
	if (!h->has_path || ty_stall_on_path(h, c, false) < c->s.duration_ns / 2 ||
	    ty_stall_waits_again(h, c, true))
		return false;
	goes_on = ty_stall_computes_after(h->x, c->s.thread, c->end_ns);
	back = ty_stall_returns_to(h, c->s.thread, &c->w, c->end_ns - 1);
	/* It waited for its turn at a lock, and works. */
	if (goes_on && (!c->w.word || !back) && ty_stall_takes_turns(h, c))
		return true;
	/* Alone, or with others before a gate; and works. */
	if (ty_stall_woken_before(h, c))
		return false;
	company = ty_stall_waits_in_pool(h, c);
	if (company && !opens_to_all(h, c))
		return false;
	/* Not one that gets work from the other side, and replies or returns. */
	return (!company && !(c->w.word && ty_stall_only_ends(h, c)) &&
		ty_stall_sent(h, c->s.thread, c->s.syscall, -1)) ||
	       (goes_on && !back && !ty_stall_answers(h, c));
}

/* Did others of the waiter's kin run in [from, to), too? */
static bool others_ran(const struct ty_stall_search *h, const struct ty_candidate *c,
		       uint32_t awaited, uint64_t from, uint64_t to)
{
	const struct ty_model *m = h->x->m;
	uint32_t threads = ty_model_summary(m)->threads;

	for (uint32_t i = 0; i < threads; i++) {
		const struct ty_thread *t = ty_model_thread(m, i);

		if (i != awaited && i != c->s.thread && t->traced && t->end_ns > from &&
		    t->start_ns < to && ty_thread_worked(m, i, from, to) >= (to - from) / 10 &&
		    ty_stall_is_related(h, c->s.thread, i))
			return true;
	}
	return false;
}

/* The same meanwhile, or in the life of the awaited one: work that is shared is none that waits. */
static bool others_work(const struct ty_stall_search *h, const struct ty_candidate *c,
			uint32_t awaited)
{
	const struct ty_thread *a = ty_model_thread(h->x->m, awaited);

	return others_ran(h, c, awaited, c->s.start_ns, c->end_ns) ||
	       (a->born && a->start_ns < c->s.start_ns &&
		others_ran(h, c, awaited, a->start_ns, c->end_ns));
}

/* Are all between the waiter and the root programs that were started, and wait for the end of a
 * child themselves, as a shell does? */
static bool by_shells(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	for (uint32_t i = 1; i + 1 < c->s.links; i++) {
		struct ty_span s = ty_model_span(h->x->m, c->s.link[i].span);

		if (s.state != TY_ST_SLEEPING ||
		    !ty_stall_is_program(h, c->s.link[i].thread, s.end_ns) ||
		    ty_wait_for(h->x, &s, s.syscall).kind != TY_STALL_CHILD)
			return false;
	}
	return c->s.links > 2 && c->s.links < TY_STALL_LINKS;
}

#define SHARED 16 /* queues of one thread; that many of its calls on each side of an instant */
#define CALLS  64

/* What the thread waits on (or takes from) around t: at most SHARED. */
static unsigned queues(const struct ty_stall_search *h, uint32_t thread, uint64_t t,
		       struct ty_wait_for q[SHARED])
{
	const struct ty_model *m = h->x->m;
	struct ty_rows near = ty_calls_near(m, thread, t, CALLS);
	unsigned n = 0;

	for (uint32_t i = near.from; i < near.to && n < SHARED; i++) {
		struct ty_syscall c = ty_model_syscall_brief(m, thread, i);
		struct ty_span s = {.state = TY_ST_SLEEPING,
				    .thread = thread,
				    .start_ns = c.start_ns,
				    .end_ns = c.end_ns,
				    .syscall = i,
				    .edge = TY_NONE};
		struct ty_wait_for w = ty_wait_for(h->x, &s, i);
		bool known = w.class != TY_WAIT_PEER || (!w.word && w.fd < 0);

		for (unsigned k = 0; !known && k < n; k++)
			known = ty_wait_same(m, thread, &w, thread, &q[k]);
		if (!known)
			q[n++] = w;
	}
	return n;
}

/* Do both wait on the same word or descriptor, as for their next work? */
static bool same_queue(const struct ty_stall_search *h, const struct ty_wait_for *q, unsigned n,
		       uint32_t root, uint32_t thread, uint64_t t)
{
	struct ty_wait_for own[SHARED];
	unsigned owns = n ? queues(h, thread, t, own) : 0;

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < owns; k++)
			if (ty_wait_same(h->x->m, root, &q[i], thread, &own[k]))
				return true;
	return false;
}

/* How long the root and the others of its maker worked on the path of the wait. */
static uint64_t work_ns(const struct ty_model *m, const struct ty_candidate *c,
			const struct ty_path *p)
{
	int32_t maker = ty_model_thread(m, c->root.thread)->forked_by;
	uint64_t ns = 0;

	for (size_t i = 0; i < p->seg.n; i++) {
		const struct ty_seg *s = &p->seg.v[i];

		if ((ty_seg_on_cpu(s->what) || s->what == TY_SEG_RUNNABLE) &&
		    s->thread != c->s.thread && ty_model_thread(m, s->thread)->forked_by == maker)
			ns += s->end_ns - s->start_ns;
	}
	return ns;
}

bool ty_stall_is_for_workers(const struct ty_stall_search *h, const struct ty_candidate *c,
			     const struct ty_path *p)
{
	const struct ty_model *m = h->x->m;
	const struct ty_thread *own = ty_model_thread(m, c->s.thread),
			       *root = ty_model_thread(m, c->root.thread);
	uint32_t threads = ty_model_summary(m)->threads, next;
	struct ty_wait_for q[SHARED];
	unsigned n = SHARED + 1, looked = 0;

	if (c->s.links < 2 || root->forked_by < 0 || own->tgid < 0 ||
	    ty_model_thread(m, (uint32_t)root->forked_by)->tgid != own->tgid ||
	    work_ns(m, c, p) < c->s.duration_ns / 2)
		return false;
	next = c->s.link[c->s.links - 2].thread;
	for (uint32_t i = 0; i < threads; i++) {
		const struct ty_thread *t = ty_model_thread(m, i);
		struct ty_cell cell;
		uint64_t until;

		if (i == c->root.thread || i == c->s.thread || !t->traced ||
		    t->forked_by != root->forked_by || t->end_ns <= c->s.start_ns ||
		    t->start_ns >= c->end_ns)
			continue;
		cell = ty_thread_time(m, i, c->s.start_ns, c->end_ns);
		/* Parts of one work are over at about the same time; a thread without a CPU reports
		 * its result only later. */
		until = cell.ns[TY_ST_RUNNABLE] > cell.ns[TY_ST_RUNNING]
				? ty_model_summary(m)->end_ns
				: c->end_ns + c->s.duration_ns;
		if (cell.ns[TY_ST_RUNNING] + cell.ns[TY_ST_RUNNABLE] < c->s.duration_ns / 2)
			continue;
		if (looked++ >= TY_STALL_LOOKED)
			break;
		if (ty_stall_last_woke(h->x, next, i, until) ||
		    ty_stall_last_woke(h->x, c->s.thread, i, until))
			return true;
		if (n > SHARED)
			n = queues(h, c->root.thread, c->s.start_ns, q);
		if (same_queue(h, q, n, c->root.thread, i, c->s.start_ns))
			return true;
	}
	return false;
}

/* A thread that is older than the recording may have executed one. */
static bool may_be_program(const struct ty_stall_search *h, uint32_t thread, uint64_t t_ns)
{
	return !ty_model_thread(h->x->m, thread)->born || ty_stall_is_program(h, thread, t_ns);
}

/* A child of the waiter that has its name: a fork keeps it, and executing a program changes it. */
static bool is_own_helper(const struct ty_model *m, const struct ty_candidate *c)
{
	return ty_stall_descends(m, c->root.thread, ty_model_thread(m, c->s.thread)->tgid) &&
	       !strcmp(ty_model_comm(m, c->root.thread, c->s.culprit_ns),
		       ty_model_comm(m, c->s.thread, c->s.start_ns));
}

/* Does the thread read from a pipe what another program that its parent started works at, as in a
 * pipeline of a shell? */
static bool reads_in_pipeline(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	const struct ty_model *m = h->x->m;
	const struct ty_thread *own = ty_model_thread(m, c->s.thread);
	const int32_t parent =
		own->forked_by < 0 ? own->ppid : ty_model_thread(m, (uint32_t)own->forked_by)->tgid;
	const char *name;

	return parent > 1 && parent != own->tgid && c->w.fd >= 0 &&
	       may_be_program(h, c->s.thread, c->s.start_ns) &&
	       may_be_program(h, c->root.thread, c->s.culprit_ns) &&
	       ty_stall_descends(m, c->root.thread, parent) && !is_own_helper(m, c) &&
	       ty_model_thread(m, c->root.thread)->tgid != own->tgid &&
	       ty_fd_kind(h->x, c->s.thread, (uint64_t)c->w.fd, c->s.start_ns, &name) == TY_FD_PIPE;
}

bool ty_stall_is_for_program(const struct ty_stall_search *h, const struct ty_candidate *c,
			     const struct ty_path *p)
{
	const struct ty_model *m = h->x->m;
	uint8_t what = p->seg.v[c->root.seg].what;

	if (!ty_seg_on_cpu(what) && what != TY_SEG_RUNNABLE)
		return false;
	return (ty_stall_descends(m, c->root.thread, ty_model_thread(m, c->s.thread)->tgid) &&
		ty_stall_is_program(h, c->root.thread, c->s.culprit_ns)) ||
	       reads_in_pipeline(h, c);
}

bool ty_stall_is_started(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	const struct ty_model *m = h->x->m;
	int32_t tgid = ty_model_thread(m, c->waker.thread)->tgid;

	return tgid > 0 && ty_stall_descends(m, c->s.thread, tgid) &&
	       ty_stall_is_program(h, c->s.thread, c->s.start_ns);
}

/* Did the thread wake another one than `but` from `from` on, up to t? The wakeups of its own exit
 * (SIGCHLD, to any thread of its parent) are not messages. */
static bool woke_another(const struct ty_stall_search *h, uint32_t thread, uint64_t from,
			 uint64_t t, uint32_t but)
{
	const struct ty_thread *th = ty_model_thread(h->x->m, thread);

	if (th->syscalls_n) {
		struct ty_syscall last = ty_model_syscall_brief(
			h->x->m, thread, th->syscalls_first + th->syscalls_n - 1);

		if (last.flags & TY_SF_ENDED && last.start_ns < t)
			t = last.start_ns;
	}
	return from < t && ty_stall_woke_another(h->x, thread, from, t, but);
}

bool ty_stall_is_end(const struct ty_stall_search *h, const struct ty_candidate *c,
		     const struct ty_path *p)
{
	uint64_t most = c->s.duration_ns / 10 * 9;
	const struct ty_seg *s;

	if (c->waker.kind != TY_WAKER_THREAD ||
	    (c->root.thread != c->waker.thread && !by_shells(h, c)))
		return false; /* what stalled is further inside */
	s = &p->seg.v[c->root.seg];
	if (s->what == TY_SEG_RUNNABLE && s->end_ns - s->start_ns >= c->s.duration_ns / 2)
		return false; /* reported as the awaited thread's wait for a CPU */
	if (ty_seg_on_cpu(s->what) || s->what == TY_SEG_RUNNABLE) {
		if (ty_stall_is_program(h, c->root.thread, c->s.culprit_ns) ||
		    others_work(h, c, c->root.thread))
			return false; /* a program that was started; or many that work */
		/* A child that does nothing but compute, on behalf of its parent alone. */
		return ty_stall_computes_after(h->x, c->s.thread, c->end_ns) ||
		       (c->w.kind == TY_STALL_CHILD && ty_root_work_ns(&c->root) >= most &&
			!woke_another(h, c->root.thread, c->s.start_ns, c->end_ns, c->s.thread));
	}
	if (s->what == TY_SEG_TIMER && ty_stall_waits_again(h, c, true))
		return false; /* a loop around something that sleeps */
	if (ty_stall_computes_after(h->x, c->s.thread, c->end_ns))
		return true;
	/* A program's output is a part of it; another child may serve. */
	return s->what == TY_SEG_TIMER && s->end_ns - s->start_ns >= c->s.duration_ns / 5 * 4 &&
	       (ty_stall_is_program(h, c->root.thread, s->end_ns) ||
		!woke_another(h, c->root.thread, s->end_ns, c->end_ns, c->s.thread));
}
