/* SPDX-License-Identifier: MIT */
/* See futex_waker.h. While a thread spins in the kernel for a lock, user space alone cannot hand it
 * over: the holder releases it by FUTEX_UNLOCK_PI on the word. */
#include "futex_waker.h"

#include "thread_walk.h"
#include "waits.h"

#define CALLS 16  /* long ones within a run */
#define LOOKS 256 /* spans and calls, on each CPU */

struct look {
	const struct ty_explain *x;
	const struct ty_syscall *c;  /* the one that was ended */
	const struct ty_wait_for *w; /* and what it waited for */
	uint64_t from_ns;	     /* not before */
	uint64_t unseen_ns;	     /* earlier calls were not examined on every CPU */
	struct ty_waker last;
	unsigned fit;
};

/* The calls that the thread began in this span of a CPU. False: that were too many. */
static bool look_at_calls(struct look *l, const struct ty_span *s, uint32_t cpu, unsigned *looks)
{
	const struct ty_model *m = l->x->m;
	const struct ty_thread *t = ty_model_thread(m, s->thread);
	uint32_t end = t->syscalls_first + t->syscalls_n,
		 i = ty_model_syscall_after(m, s->thread,
					    s->end_ns < l->c->end_ns ? s->end_ns : l->c->end_ns);

	for (i = i < end ? i + 1 : end; i > t->syscalls_first; (*looks)--) {
		struct ty_syscall u = ty_model_syscall_brief(m, s->thread, --i);
		struct ty_wait_for own;

		if (u.start_ns < s->start_ns || u.start_ns < l->from_ns)
			return true;
		if (!*looks)
			return false;
		/* It returns how many it woke; 0 where it let a lock go. */
		if (u.start_ns >= s->end_ns || u.start_ns >= l->c->end_ns || u.nr != l->c->nr ||
		    u.abi != l->c->abi || (l->w->spins ? u.ret : u.ret <= 0) ||
		    !ty_wait_wakes(l->x, i, &own) || l->w->spins != (own.kind == TY_STALL_LOCK) ||
		    own.word != l->w->word || !ty_wait_same(m, l->c->thread, l->w, s->thread, &own))
			continue;
		l->fit++;
		if (l->last.kind == TY_WAKER_THREAD && u.start_ns <= l->last.act_ns)
			continue;
		l->last.kind = TY_WAKER_THREAD;
		l->last.thread = s->thread;
		l->last.ts_ns = l->last.act_ns = u.start_ns;
		l->last.cpu = cpu;
		/* A lock has one holder at a time: it was the last to let it go. */
		if (l->w->spins)
			l->from_ns = u.start_ns;
	}
	return true;
}

static void look_at_cpu(struct look *l, uint32_t cpu)
{
	const struct ty_model *m = l->x->m;
	unsigned looks = LOOKS;
	uint32_t i = ty_model_cpu_spans(m, cpu);

	for (i = i ? ty_model_cpu_span_find(m, cpu, l->c->end_ns) + 1 : 0; i; looks -= looks > 0) {
		struct ty_span s = ty_model_cpu_span_brief(m, cpu, --i);

		if (s.end_ns <= l->from_ns)
			return;
		if (!looks || (s.thread != TY_NONE && s.thread != l->c->thread &&
			       ty_wait_same(m, l->c->thread, l->w, s.thread, l->w) &&
			       !look_at_calls(l, &s, cpu, &looks))) {
			l->unseen_ns = s.end_ns > l->unseen_ns ? s.end_ns : l->unseen_ns;
			return;
		}
	}
}

/* The last thread that did so, of all that were on a CPU. */
static struct ty_waker who_woke(const struct ty_explain *x, const struct ty_syscall *c,
				const struct ty_wait_for *w, uint64_t from_ns)
{
	struct look l = {.x = x, .c = c, .w = w, .from_ns = from_ns};

	l.last = TY_NO_WAKER;
	if (c->ret || c->flags & (TY_SF_OPEN | TY_SF_LOST | TY_SF_ENDED))
		return l.last;
	for (uint32_t cpu = 0; cpu < ty_model_summary(x->m)->cpus; cpu++)
		look_at_cpu(&l, cpu);
	l.last.inferred = l.fit && (l.unseen_ns > l.last.act_ns || (l.fit > 1 && !w->spins));
	return l.last;
}

/* Behind the thread's last long call before t, which is before call i; 0: there is none. */
static uint32_t long_before(const struct ty_model *m, uint32_t thread, uint64_t t, uint32_t i)
{
	const struct ty_seek q = {.min_ns = TY_SPIN_NS, .nr = -1};
	uint32_t k = ty_model_seek(m, (struct ty_track){TY_TRACK_SYSCALLS, thread}, &q, t, true);

	return k < i ? k + 1 : 0;
}

bool ty_spin_find(const struct ty_explain *x, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		  struct ty_spin *out)
{
	struct ty_rows all = ty_thread_calls(x->m, thread);
	uint32_t i = ty_model_syscall_after(x->m, thread, to_ns ? to_ns - 1 : 0);

	i = i < all.to ? i + 1 : all.to;
	for (unsigned n = 0, looks = LOOKS; n < CALLS && i > all.from;) {
		struct ty_span s = {.state = TY_ST_RUNNING, .thread = thread, .edge = TY_NONE};
		struct ty_wait_for w;
		struct ty_syscall c;

		c = ty_model_syscall_brief(x->m, thread, --i);
		if (c.start_ns >= to_ns)
			continue;
		if (c.end_ns - c.start_ns < TY_SPIN_NS) {
			if (c.end_ns <= from_ns)
				return false;
			i = --looks ? i : long_before(x->m, thread, c.start_ns, i);
			looks = looks ?: 1;
			continue;
		}
		n++;
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

struct ty_waker ty_futex_waker(const struct ty_explain *x, const struct ty_span *s,
			       struct ty_waker k)
{
	struct ty_waker other;
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
