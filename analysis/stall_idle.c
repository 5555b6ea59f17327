/* SPDX-License-Identifier: MIT */
/*
 * Waiting for a lock whose holder waits for work is waiting for work: of the children of a server
 * one accepts, the others stand behind the lock that guards the place. See the rule in stalls.h.
 *
 * Budget: each hop of the wait's path whose parents are all waits for that lock is looked at once;
 * where the wait is not over, the last TY_STALL_BACK calls of TY_STALL_LOOKED threads, and the path
 * of one of them.
 */
#include "stalls_priv.h"
#include "talk.h"

#define DEPTH 48 /* as deep as paths are (chain.c) */

bool ty_stall_accepts(const struct ty_explain *x, uint32_t thread, uint32_t call,
		      const struct ty_wait_for *w)
{
	int64_t fd;

	return w->class == TY_WAIT_IDLE &&
	       (w->kind == TY_STALL_SOCKET ||
		(w->kind == TY_STALL_EVENTS &&
		 ty_wait_next_fd(x, thread, call, false, &fd) & TY_ACCEPTS));
}

static bool is_lock(const struct ty_hunt *h, const struct ty_cand *c, uint32_t thread,
		    const struct ty_wait_for *w)
{
	return w->kind == TY_STALL_LOCK && w->class == TY_WAIT_DEFINITE &&
	       ty_wait_same(h->x->m, thread, w, c->s.thread, &c->w);
}

/* The wait of who has the lock, which `next` gets then: for work? It accepts; or it asked nobody,
 * and hands on the very place, where the next one waits. */
static bool for_work(const struct ty_hunt *h, uint32_t span, const struct ty_wait_for *w,
		     const struct ty_hop *next)
{
	struct ty_span s = ty_model_span(h->x->m, span);
	struct ty_wait_for after;
	uint32_t call;

	if (s.state != TY_ST_SLEEPING || s.syscall == TY_NONE)
		return false;
	if (ty_stall_accepts(h->x, s.thread, s.syscall, w))
		return true;
	return next && w->fd >= 0 && w->class != TY_WAIT_DEFINITE &&
	       !ty_stall_sent(h, s.thread, s.syscall, -1) &&
	       ty_stall_next_wait(h->x, next->thread, next->span + 1, true, &after, &call) &&
	       after.kind == w->kind && ty_wait_same(h->x->m, s.thread, w, next->thread, &after);
}

struct idle {
	uint64_t ns, until_ns;
};

static void add(struct idle *idle, uint64_t from, uint64_t to)
{
	idle->ns += to - from;
	idle->until_ns = to > idle->until_ns ? to : idle->until_ns;
}

static struct ty_wait_for wait_of(const struct ty_hunt *h, uint32_t span)
{
	struct ty_span s = ty_model_span(h->x->m, span);

	return ty_wait_for(h->x, &s, s.syscall);
}

/* What those who had the lock, one after the other, waited for work. */
static struct idle idle_on(const struct ty_hunt *h, const struct ty_cand *c,
			   const struct ty_path *p)
{
	uint32_t up[DEPTH + 1] = {TY_NONE}; /* the waits for the lock that led here */
	unsigned ups = 1;
	struct idle idle = {0};

	/* Hops are in the order in which they were found, depth first. */
	for (uint32_t i = 0; i < p->hop.n; i++) {
		const struct ty_hop *hop = &p->hop.v[i];
		struct ty_wait_for w;
		unsigned k = ups;

		while (k && up[k - 1] != hop->parent)
			k--;
		if (!k)
			continue;
		ups = k;
		w = wait_of(h, hop->span);
		if (is_lock(h, c, hop->thread, &w)) {
			if (ups <= DEPTH)
				up[ups++] = i;
		} else if (for_work(h, hop->span, &w,
				    hop->parent == TY_NONE ? NULL : &p->hop.v[hop->parent])) {
			add(&idle, hop->start_ns, hop->end_ns);
		}
	}
	vec_each (s, &p->seg) {
		struct ty_wait_for w;

		if (s->hop != TY_NONE || s->what != TY_SEG_OPEN)
			continue;
		w = wait_of(h, s->span);
		if (for_work(h, s->span, &w, NULL))
			add(&idle, s->start_ns, s->end_ns);
	}
	return idle;
}

/* When did the thread get the lock, if its last call of the kind on it before t was the very one by
 * which the candidate waits? 0: it did not, or that is not recorded. */
static uint64_t got_lock(const struct ty_hunt *h, const struct ty_cand *c, uint32_t thread)
{
	const struct ty_explain *x = h->x;
	const struct ty_thread *t = ty_model_thread(x->m, thread);
	struct ty_syscall own = ty_model_syscall(x->m, c->s.syscall);
	uint32_t i = t->syscalls_first + t->syscalls_n;
	uint64_t args[6], other[6];

	if (x->args(x->ctx, &own, args))
		return 0;
	for (unsigned n = 0; i > t->syscalls_first && n < TY_STALL_BACK; n++) {
		struct ty_syscall s = ty_model_syscall_brief(x->m, thread, --i);

		if (s.nr != own.nr || s.abi != own.abi)
			continue;
		s = ty_model_syscall(x->m, i);
		if (x->args(x->ctx, &s, other) || other[0] != args[0])
			continue;
		return !s.ret && other[1] == args[1] && other[2] == args[2] &&
				       !(s.flags & (TY_SF_OPEN | TY_SF_LOST | TY_SF_ENDED))
			       ? s.end_ns
			       : 0;
	}
	return 0;
}

/* Who has the lock, as far as calls tell, where nobody has let it go yet: who got it last. */
static uint32_t holder(const struct ty_hunt *h, const struct ty_cand *c)
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

int ty_stall_idle_until(const struct ty_hunt *h, const struct ty_cand *c, const struct ty_path *p,
			uint64_t *until_ns)
{
	struct ty_path own = {0};
	struct idle idle;
	uint32_t by;
	int r = 0;

	*until_ns = c->s.start_ns;
	if (!c->w.has_args || c->s.syscall == TY_NONE || !is_lock(h, c, c->s.thread, &c->w))
		return 0;
	if (c->s.flags & TY_SF_OPEN && c->waker.kind == TY_WAKER_NONE) {
		by = holder(h, c);
		if (by == TY_NONE)
			return 0;
		r = ty_path_find(h->x, by, c->s.start_ns, c->end_ns, &own);
		p = &own;
	}
	idle = idle_on(h, c, p);
	if (!r && idle.ns > c->s.duration_ns / 2)
		*until_ns = idle.until_ns;
	ty_path_fini(&own);
	return r;
}
