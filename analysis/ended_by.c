/* SPDX-License-Identifier: MIT */
/* See ended_by.h. The kernel lets nobody take a lock from who spins for it by user space alone: who
 * lets it go does so by FUTEX_UNLOCK_PI, on the word. */
#include "ended_by.h"

#include "waits.h"

#define CALLS	16 /* long ones within a run */
#define THREADS 64
#define BACK	64 /* calls of each */

/* The thread's last call, begun in [from, the end of `c`), that wakes who waits on the word in `c`;
 * TY_NONE. */
static uint32_t last_wake(const struct ty_explain *x, uint32_t thread, const struct ty_syscall *c,
			  const struct ty_wait_for *w, uint64_t from_ns)
{
	const struct ty_thread *t = ty_model_thread(x->m, thread);
	uint32_t end = t->syscalls_first + t->syscalls_n,
		 i = ty_model_syscall_after(x->m, thread, c->end_ns);

	i = i < end ? i + 1 : end;
	for (unsigned n = 0; n < BACK && i > t->syscalls_first; n++) {
		struct ty_syscall u = ty_model_syscall_brief(x->m, thread, --i);
		struct ty_wait_for own;

		if (u.start_ns < from_ns)
			break;
		/* It returns how many it woke; 0 where it let a lock go. */
		if (u.start_ns < c->end_ns && u.nr == c->nr && u.abi == c->abi &&
		    (w->spins ? !u.ret : u.ret > 0) && ty_wait_wakes(x, i, &own) &&
		    w->spins == (own.kind == TY_STALL_LOCK) && own.word == w->word &&
		    ty_wait_same(x->m, c->thread, w, thread, &own))
			return i;
	}
	return TY_NONE;
}

/* Who did so last, of all threads. */
static struct ty_waker who_woke(const struct ty_explain *x, const struct ty_syscall *c,
				const struct ty_wait_for *w, uint64_t from_ns)
{
	struct ty_waker k = {.kind = TY_WAKER_NONE, .thread = TY_NONE, .io = TY_NONE};
	uint32_t threads = ty_model_summary(x->m)->threads, looked = 0;

	if (c->ret || c->flags & (TY_SF_OPEN | TY_SF_LOST | TY_SF_ENDED))
		return k;
	for (uint32_t i = 0; i < threads && looked < THREADS; i++) {
		const struct ty_thread *t = ty_model_thread(x->m, i);
		struct ty_syscall u;
		uint32_t call;

		if (i == c->thread || !t->syscalls_n || t->start_ns >= c->end_ns ||
		    t->end_ns <= from_ns ||
		    (!w->shared && t->tgid != ty_model_thread(x->m, c->thread)->tgid))
			continue;
		looked++;
		call = last_wake(x, i, c, w, from_ns);
		if (call == TY_NONE)
			continue;
		u = ty_model_syscall(x->m, call);
		if (k.kind == TY_WAKER_THREAD && u.start_ns <= k.act_ns)
			continue;
		k.kind = TY_WAKER_THREAD;
		k.thread = i;
		k.ts_ns = k.act_ns = u.start_ns;
		k.cpu = ty_model_span_brief(x->m, i, ty_model_span_find(x->m, i, u.start_ns)).cpu;
	}
	return k;
}

bool ty_spin_find(const struct ty_explain *x, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		  struct ty_spin *out)
{
	const struct ty_seek q = {.min_ns = TY_SPIN_NS, .nr = -1};
	struct ty_track track = {TY_TRACK_SYSCALLS, thread};
	uint64_t at = to_ns;

	for (unsigned n = 0; n < CALLS; n++) {
		uint32_t i = ty_model_seek(x->m, track, &q, at, true);
		struct ty_span s = {.state = TY_ST_RUNNING, .thread = thread, .edge = TY_NONE};
		struct ty_wait_for w;
		struct ty_syscall c;

		if (i == TY_NONE)
			return false;
		c = ty_model_syscall(x->m, i);
		at = c.start_ns;
		s.start_ns = c.start_ns > from_ns ? c.start_ns : from_ns;
		s.end_ns = c.end_ns < to_ns ? c.end_ns : to_ns;
		if (c.end_ns <= from_ns || s.end_ns <= s.start_ns)
			return false;
		if (s.end_ns - s.start_ns < TY_SPIN_NS || c.flags & TY_SF_LOST)
			continue;
		w = ty_wait_for(x, &s, i);
		if (!w.spins)
			continue;
		*out = (struct ty_spin){i, c.start_ns, c.end_ns, who_woke(x, &c, &w, c.start_ns)};
		return true;
	}
	return false;
}

struct ty_waker ty_ended_by(const struct ty_explain *x, const struct ty_span *s, uint32_t edge)
{
	struct ty_waker k = ty_waker_find(x->m, edge), other;
	struct ty_syscall c;
	struct ty_wait_for w;
	uint32_t call;

	if (k.kind != TY_WAKER_TIMER || s->state != TY_ST_SLEEPING)
		return k;
	call = ty_model_syscall_at(x->m, s->thread, s->start_ns);
	if (call == TY_NONE)
		return k;
	c = ty_model_syscall_brief(x->m, s->thread, call);
	if (c.ret || !ty_wait_word(x, call))
		return k;
	w = ty_wait_for(x, s, call);
	if (!w.word || w.spins)
		return k;
	other = who_woke(x, &c, &w, k.ts_ns);
	return other.kind == TY_WAKER_THREAD ? other : k;
}
