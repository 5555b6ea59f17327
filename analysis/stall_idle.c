/* SPDX-License-Identifier: MIT */
/*
 * A wait for a lock whose holder is idle is an idle wait: of the workers of a server one accepts,
 * the others wait for the lock around accept.
 *
 * Budget: each hop of the wait's path whose parents are all waits for that lock is examined once,
 * with up to TY_STALL_BACK calls of the holder and of the next one; for an unfinished wait, the
 * last TY_STALL_BACK calls of TY_STALL_LOOKED threads, and the path of one of them.
 */
#include <string.h>

#include "fd_kind.h"
#include "stalls_priv.h"
#include "syscall_ipc.h"
#include "thread_walk.h"
#include "wait_fd.h"

/* Is the descriptor a socket that listens, by its name? */
static bool listens(const struct ty_explain *x, uint32_t thread, int64_t fd, uint64_t t)
{
	const char *name;

	return fd >= 0 && ty_fd_kind(x, thread, (uint64_t)fd, t, &name) == TY_FD_SOCKET && name &&
	       strstr(name, " listening");
}

bool ty_stall_accepts(const struct ty_explain *x, uint32_t thread, uint32_t call,
		      const struct ty_wait_for *w)
{
	int64_t fd;

	if (w->class == TY_WAIT_IDLE && w->kind == TY_STALL_SOCKET)
		return true;
	if ((w->class != TY_WAIT_IDLE || w->kind != TY_STALL_EVENTS) &&
	    (w->class != TY_WAIT_PEER || w->fd < 0 || call == TY_NONE))
		return false;
	if (ty_wait_next_fd(x, thread, call, false, &fd) & TY_ACCEPTS)
		return w->class == TY_WAIT_IDLE || fd == w->fd;
	/* A poll of that one alone, without a connection. */
	return w->class == TY_WAIT_PEER &&
	       listens(x, thread, w->fd, ty_model_syscall_brief(x->m, thread, call).start_ns);
}

static bool is_lock(const struct ty_stall_search *h, const struct ty_candidate *c, uint32_t thread,
		    const struct ty_wait_for *w)
{
	return w->kind == c->w.kind && w->class == c->w.class &&
	       ty_wait_same(h->x->m, thread, w, c->s.thread, &c->w);
}

struct idle {
	uint64_t ns;
	uint64_t at_ns;		    /* begin of the earliest that was found */
	uint64_t from_ns, until_ns; /* the longest time between two of them */
	uint32_t thread;	    /* may_accept() of it was */
	bool accepts;
};

/* Found from the end. */
static void add(struct idle *idle, uint64_t from, uint64_t to)
{
	idle->ns += to - from;
	if (idle->at_ns > to && idle->at_ns - to > idle->until_ns - idle->from_ns) {
		idle->from_ns = to;
		idle->until_ns = idle->at_ns;
	}
	idle->at_ns = from;
}

/* Does the thread accept, too, at other times near t? So it may where nothing is known of what it
 * says. */
static bool may_accept(const struct ty_explain *x, uint32_t thread, uint64_t t)
{
	struct ty_rows near = ty_calls_near(x->m, thread, t, TY_STALL_BACK);
	unsigned says = 0;

	for (uint32_t i = near.from; i < near.to && !(says & TY_ACCEPTS); i++) {
		struct ty_syscall s = ty_model_syscall_brief(x->m, thread, i);

		says |= ty_syscall_ipc(x, &s).says & (TY_ACCEPTS | TY_GIVES | TY_TAKES);
	}
	return !says || says & TY_ACCEPTS;
}

/* Since it got the lock, and before this call, did the thread send first on the descriptor, as a
 * client does? */
static bool is_client_of(const struct ty_stall_search *h, const struct ty_candidate *c,
			 uint32_t thread, uint32_t call, int64_t fd)
{
	const struct ty_explain *x = h->x;
	struct ty_syscall own = ty_model_syscall(x->m, c->s.syscall);
	struct ty_calls_back w = ty_calls_before(x->m, thread, call, TY_STALL_BACK);
	unsigned said = 0;

	while (ty_call_back(&w) && !ty_explain_same_args(x, &w.s, &own, 1)) {
		struct ty_syscall_ipc t = ty_syscall_ipc(x, &w.s);
		unsigned on = w.s.ret > 0 ? ty_syscall_ipc_on(x, &w.s, &t, fd) : 0;

		said = on & (TY_GIVES | TY_TAKES) ? on : said;
	}
	return said & TY_GIVES;
}

/* May the thread's wait on fd be for the reply to a request? What a server sent were replies. */
static bool awaits_reply(const struct ty_stall_search *h, const struct ty_candidate *c,
			 uint32_t thread, uint32_t call, int64_t fd, bool sent)
{
	return (sent || is_client_of(h, c, thread, call, fd)) &&
	       !ty_stall_is_server(h, thread, call, fd);
}

/* Is the wait of the holder, whose lock `next` gets then, idle? It accepts, as the next one does;
 * or neither sent a request, and the next one waits at the same place. */
static bool for_work(const struct ty_stall_search *h, const struct ty_candidate *c,
		     struct idle *idle, uint32_t span, const struct ty_wait_for *w,
		     const struct ty_hop *next)
{
	struct ty_span s = ty_model_span(h->x->m, span);
	struct ty_wait_for after;
	uint32_t call;

	if (s.state != TY_ST_SLEEPING || s.syscall == TY_NONE)
		return false;
	if (ty_stall_accepts(h->x, s.thread, s.syscall, w)) {
		uint32_t waiter = next ? next->thread : c->s.thread;

		if (idle->thread != waiter)
			idle->accepts = may_accept(h->x, waiter, next ? next->end_ns : c->end_ns);
		idle->thread = waiter;
		return idle->accepts;
	}
	return next && w->fd >= 0 && w->class != TY_WAIT_DEFINITE &&
	       ty_stall_next_wait(h->x, next->thread, next->span + 1, true, &after, &call) &&
	       after.kind == w->kind && ty_wait_same(h->x->m, s.thread, w, next->thread, &after) &&
	       !awaits_reply(h, c, s.thread, s.syscall, w->fd,
			     ty_stall_sent(h, s.thread, s.syscall, -1)) &&
	       !awaits_reply(h, c, next->thread, call, after.fd, false);
}

static struct ty_wait_for wait_of(const struct ty_stall_search *h, uint32_t span)
{
	struct ty_span s = ty_model_span(h->x->m, span);

	return ty_wait_for(h->x, &s, s.syscall);
}

/* How long the holders of the lock, one after the other, were idle. */
static struct idle idle_on(const struct ty_stall_search *h, const struct ty_candidate *c,
			   const struct ty_path *p)
{
	uint32_t up[TY_PATH_DEPTH + 1] = {TY_NONE}; /* the waits for the lock that led here */
	unsigned ups = 1;
	struct idle idle = {
		.at_ns = c->end_ns, .from_ns = c->end_ns, .until_ns = c->end_ns, .thread = TY_NONE};
	const struct ty_seg *last = &p->seg.v[p->seg.n - 1];
	struct ty_wait_for w;

	if (last->hop == TY_NONE && last->what == TY_SEG_OPEN) {
		w = wait_of(h, last->span);
		if (for_work(h, c, &idle, last->span, &w, NULL))
			add(&idle, last->start_ns, last->end_ns);
	}
	/* Hops are in the order in which they were found, depth first, from the end. */
	for (uint32_t i = 0; i < p->hop.n; i++) {
		const struct ty_hop *hop = &p->hop.v[i];
		unsigned k = ups;

		while (k && up[k - 1] != hop->parent)
			k--;
		if (!k)
			continue;
		ups = k;
		w = wait_of(h, hop->span);
		if (is_lock(h, c, hop->thread, &w)) {
			if (ups <= TY_PATH_DEPTH)
				up[ups++] = i;
		} else if (for_work(h, c, &idle, hop->span, &w,
				    hop->parent == TY_NONE ? NULL : &p->hop.v[hop->parent])) {
			add(&idle, hop->start_ns, hop->end_ns);
		}
	}
	add(&idle, c->s.start_ns, c->s.start_ns);
	return idle;
}

/* When did the thread get the lock, if its last call of the kind on it before t was the very one by
 * which the candidate waits? 0: it did not, or that is not recorded. */
static uint64_t got_lock(const struct ty_stall_search *h, const struct ty_candidate *c,
			 uint32_t thread)
{
	const struct ty_explain *x = h->x;
	struct ty_syscall own = ty_model_syscall(x->m, c->s.syscall);
	struct ty_calls_back w =
		ty_calls_before(x->m, thread, ty_thread_calls(x->m, thread).to, TY_STALL_BACK);

	while (ty_call_back(&w))
		if (ty_explain_same_args(x, &w.s, &own, 1))
			return !w.s.ret && ty_explain_same_args(x, &w.s, &own, 3) &&
					       !(w.s.flags &
						 (TY_SF_OPEN | TY_SF_LOST | TY_SF_ENDED))
				       ? w.s.end_ns
				       : 0;
	return 0;
}

/* The holder according to the calls, where no thread has released the lock yet: the last one that
 * got it. */
static uint32_t holder(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	uint32_t threads = ty_model_summary(h->x->m)->threads, best = TY_NONE;
	uint64_t last = 0;
	unsigned looked = 0;

	for (uint32_t i = 0; i < threads && looked < TY_STALL_LOOKED; i++) {
		const struct ty_thread *t = ty_model_thread(h->x->m, i);
		uint64_t got;

		if (i == c->s.thread || !t->traced || t->died ||
		    !ty_wait_same(h->x->m, i, &c->w, c->s.thread, &c->w))
			continue;
		looked++;
		got = got_lock(h, c, i);
		if (got > last) {
			last = got;
			best = i;
		}
	}
	return best;
}

bool ty_stall_holder_idle(const struct ty_stall_search *h, const struct ty_candidate *c,
			  const struct ty_path *p)
{
	return c->w.has_args && c->s.syscall != TY_NONE &&
	       idle_on(h, c, p).ns > c->s.duration_ns / 2;
}

int ty_stall_cut_idle(const struct ty_stall_search *h, struct ty_candidate *c, struct ty_path *p)
{
	struct ty_path own = {0};
	const struct ty_path *of = p;
	struct idle idle = {0};
	uint32_t by;
	int r = 0;

	if (!c->w.has_args || c->s.syscall == TY_NONE || c->w.kind != TY_STALL_LOCK ||
	    c->w.class != TY_WAIT_DEFINITE)
		return 1;
	if (c->s.flags & TY_SF_OPEN && c->waker.kind == TY_WAKER_NONE) {
		by = holder(h, c);
		if (by == TY_NONE)
			return 1;
		r = ty_path_find(h->x, by, c->s.start_ns, c->end_ns, &own);
		of = &own;
	}
	if (!r && of->seg.n)
		idle = idle_on(h, c, of);
	ty_path_fini(&own);
	if (r || idle.ns <= c->s.duration_ns / 2)
		return r ? r : 1;
	if (idle.until_ns - idle.from_ns < h->o.min_ns)
		return 0;
	c->whole_ns = c->s.duration_ns;
	c->for_work_ns = idle.ns;
	if (idle.from_ns > c->s.start_ns)
		c->s.flags &= (uint8_t)~TY_SF_BEFORE;
	c->s.start_ns = idle.from_ns;
	c->end_ns = c->s.last_end_ns = idle.until_ns;
	c->s.duration_ns = c->end_ns - c->s.start_ns;
	ty_path_cut(p, c->s.start_ns, c->end_ns);
	return p->seg.n > 0;
}
