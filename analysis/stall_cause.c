/* SPDX-License-Identifier: MIT */
/*
 * Who or what held a thread up, and whether that was a stall at all: the rule in stalls.h.
 *
 * Budget: log(spans) for a wait that is dismissed, the path of the wait (chain.h) for one that is
 * kept. Bounded looks back: BACK spans of one thread, SIGNALS points of a CPU.
 */
#include "stalls_priv.h"

#include <stdlib.h>
#include <string.h>

#define BACK	   512
#define SIGNALS	   20000
#define LITTLE_NS  UINT64_C(1000000)
#define COMPUTE_NS UINT64_C(300000) /* goes on to compute: so much in user mode */

static bool is_wait(unsigned state)
{
	return state == TY_ST_SLEEPING || state == TY_ST_BLOCKED || state == TY_ST_STOPPED;
}

static bool call_is(struct ty_hunt *h, const struct ty_syscall *c, const char *const *names)
{
	char buf[32];
	const char *name = ty_syscall_name(h->x->arch, c->abi, c->nr, buf);

	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

/* asking ------------------------------------------------------------------------------------ */

/* Could what ended the wait before this span be a request or an answer? Not a lock that is let go,
 * of the kernel (that of their memory map) or their own. */
static bool is_message(const struct ty_explain *x, uint32_t thread, uint32_t span)
{
	const struct ty_thread *t = ty_model_thread(x->m, thread);
	struct ty_wait_for w;
	struct ty_span s;
	uint32_t call;

	if (span == t->spans_first)
		return true;
	s = ty_model_span_brief(x->m, thread, span - 1);
	if (s.state == TY_ST_BLOCKED || !t->traced)
		return s.state != TY_ST_BLOCKED;
	/* RUNNING: woken before it had left the CPU. */
	call = ty_model_syscall_at(x->m, thread, s.end_ns - 1);
	if (call == TY_NONE)
		return s.state == TY_ST_SLEEPING;
	w = ty_wait_for(x, &s, call);
	return w.kind != TY_STALL_OTHER && (w.class == TY_WAIT_PEER || w.class == TY_WAIT_IDLE);
}

/* Did `who` wake thread with the wakeup that began this span? A birth is no asking, nor is a lock
 * of the kernel (that of their memory map) that is let go. */
static bool woken_by(const struct ty_explain *x, uint32_t thread, uint32_t span, uint32_t who,
		     uint64_t *ts)
{
	const struct ty_model *m = x->m;
	struct ty_span s = ty_model_span_brief(m, thread, span);
	struct ty_waker k;

	if (s.state != TY_ST_RUNNABLE ||
	    s.flags & (TY_SF_PREEMPT | TY_SF_YIELD | TY_SF_BEFORE | TY_SF_NEW))
		return false;
	k = ty_waker_find(m, ty_model_span_edge(m, &s, span));
	*ts = k.ts_ns;
	return k.kind == TY_WAKER_THREAD && k.thread == who && is_message(x, thread, span);
}

/* When did `who` last wake thread up to t? 0: not seen. */
static uint64_t last_woken(const struct ty_explain *x, uint32_t thread, uint32_t who, uint64_t t)
{
	const struct ty_model *m = x->m;
	const struct ty_thread *th = ty_model_thread(m, thread);
	uint32_t k = ty_model_span_find(m, thread, t);
	uint64_t ts;

	for (unsigned n = 0; k != TY_NONE && n < BACK; n++, k--) {
		if (woken_by(x, thread, k, who, &ts) && ts <= t)
			return ts;
		if (k == th->spans_first)
			break;
	}
	return 0;
}

/* When did `who` first wake thread? UINT64_MAX: not seen. */
static uint64_t first_woken(const struct ty_explain *x, uint32_t thread, uint32_t who)
{
	const struct ty_model *m = x->m;
	const struct ty_thread *th = ty_model_thread(m, thread);
	uint64_t ts;

	for (uint32_t k = 0; k < th->spans_n && k < BACK; k++)
		if (woken_by(x, thread, th->spans_first + k, who, &ts))
			return ts;
	return UINT64_MAX;
}

/* Before its wait at t the thread had asked `peer` and not yet been answered, and it is the one of
 * both that asks. */
static bool asked(const struct ty_explain *x, uint32_t thread, uint32_t peer, uint64_t t)
{
	uint64_t ask = last_woken(x, peer, thread, t);

	return ask && ask > last_woken(x, thread, peer, t) &&
	       first_woken(x, peer, thread) <= first_woken(x, thread, peer);
}

/* The same, where others handed the matter on: `first` had it in hand when the thread began to
 * wait, `last` ended the wait. */
static bool asked_through(const struct ty_explain *x, uint32_t thread, uint32_t first,
			  uint32_t last, uint64_t t)
{
	return first != thread && first != last && asked(x, thread, first, t) &&
	       last_woken(x, first, thread, t) > last_woken(x, thread, last, t) &&
	       first_woken(x, first, thread) <= first_woken(x, thread, last);
}

/* Did the thread wake anybody but `not` in [from, to]? */
static bool woke_anybody(const struct ty_explain *x, uint32_t thread, uint64_t from, uint64_t to,
			 uint32_t not )
{
	const struct ty_model *m = x->m;
	uint32_t threads = ty_model_summary(m)->threads;

	for (uint32_t i = 0; i < threads; i++) {
		const struct ty_thread *t = ty_model_thread(m, i);
		uint32_t k;
		uint64_t ts;

		if (i == thread || i == not || t->kernel || !ty_model_wakeups(m, i, from, to + 1))
			continue;
		k = ty_model_span_find(m, i, to);
		for (unsigned n = 0; k != TY_NONE && n < BACK; n++, k--) {
			if (woken_by(x, i, k, thread, &ts) && ts >= from && ts <= to)
				return true;
			if (k == t->spans_first || ty_model_span_brief(m, i, k).start_ns < from)
				break;
		}
	}
	return false;
}

/* Since the thread last waited for a while, before t, did it wake anybody? */
static bool asked_anybody(const struct ty_explain *x, uint32_t thread, uint64_t t)
{
	const struct ty_model *m = x->m;
	const struct ty_thread *th = ty_model_thread(m, thread);
	uint32_t k = ty_model_span_find(m, thread, t);
	uint64_t from = t;

	for (unsigned n = 0; k != TY_NONE && k > th->spans_first && n < BACK; n++) {
		struct ty_span s = ty_model_span_brief(m, thread, --k);

		if (is_wait(s.state) && s.end_ns - s.start_ns >= LITTLE_NS)
			break;
		from = s.start_ns;
	}
	return woke_anybody(x, thread, from, t, TY_NONE);
}

/* idle consumers ---------------------------------------------------------------------------- */

/* Does the thread wait again and again, in the same call, for the same peer? */
static bool waits_again(struct ty_hunt *h, const struct ty_cand *c)
{
	const struct ty_model *m = h->x->m;
	const struct ty_thread *th = ty_model_thread(m, c->s.thread);
	int32_t nr = c->s.syscall == TY_NONE
			     ? -1
			     : ty_model_syscall_brief(m, c->s.thread, c->s.syscall).nr;

	for (uint32_t k = th->spans_first, n = 0; k < th->spans_first + th->spans_n && n < 4 * BACK;
	     k++, n++) {
		struct ty_span s = ty_model_span_brief(m, c->s.thread, k);
		struct ty_waker w;

		if (k == c->s.span || s.state != TY_ST_SLEEPING ||
		    s.end_ns - s.start_ns < h->o.min_ns ||
		    s.end_ns - s.start_ns < c->s.duration_ns / 4)
			continue;
		s = ty_model_span(m, k);
		if (s.syscall == TY_NONE ||
		    ty_model_syscall_brief(m, c->s.thread, s.syscall).nr != nr)
			continue;
		w = ty_waker_find(m, s.edge);
		if (w.kind == TY_WAKER_THREAD && w.thread == c->waker.thread)
			return true;
	}
	return false;
}

/* Does another thread wait for the same object at the same time, as in a pool? */
static bool waits_in_company(struct ty_hunt *h, const struct ty_cand *c)
{
	const struct ty_model *m = h->x->m;
	uint32_t threads = ty_model_summary(m)->threads;
	uint64_t t = c->end_ns - 1;

	if (!c->w.word && c->w.fd < 0)
		return false;
	for (uint32_t i = 0; i < threads; i++) {
		const struct ty_thread *o = ty_model_thread(m, i);
		struct ty_wait_for w;
		struct ty_span s;

		if (i == c->s.thread || !o->traced || o->start_ns > t || o->end_ns <= t)
			continue;
		s = ty_model_span(m, ty_model_span_find(m, i, t));
		if (s.state != TY_ST_SLEEPING || s.syscall == TY_NONE)
			continue;
		w = ty_wait_for(h->x, &s, s.syscall);
		if (w.word == c->w.word && w.fd == c->w.fd)
			return true;
	}
	return false;
}

static bool goes_on(const struct ty_model *m, uint32_t thread, uint64_t t, uint64_t enough);

/* Did the thread, since it last waited for a while before the call, hand something over (fd >= 0:
 * there)? The other side need not have waited for it, so that no wakeup tells. */
static bool sent(struct ty_hunt *h, uint32_t thread, uint32_t call, int64_t fd)
{
	static const char *const gives[] = {"write",
					    "writev",
					    "send",
					    "sendto",
					    "sendmsg",
					    "sendmmsg",
					    "semop",
					    "semtimedop",
					    "mq_timedsend",
					    "msgsnd",
					    "kill",
					    "tgkill",
					    "tkill",
					    "rt_sigqueueinfo",
					    "rt_tgsigqueueinfo",
					    "pidfd_send_signal",
					    NULL};
	const struct ty_explain *x = h->x;
	const struct ty_thread *th = ty_model_thread(x->m, thread);
	uint32_t i = call;

	for (unsigned n = 0; i != TY_NONE && i > th->syscalls_first && n < 32; n++) {
		struct ty_syscall s = ty_model_syscall_brief(x->m, thread, --i);
		uint64_t args[6];

		if (s.end_ns - s.start_ns >= LITTLE_NS)
			return false;
		if (s.ret < 0 || !call_is(h, &s, gives))
			continue;
		if (fd < 0)
			return true;
		s = ty_model_syscall(x->m, i);
		if (x->args && !x->args(x->ctx, &s, args) && (int32_t)args[0] == fd)
			return true;
	}
	return false;
}

/* Is it the peer that asks, and the thread that answers: the peer woke it first, and the thread had
 * sent nothing before? (Futexes are given without a call when nobody waits: they do not tell.) */
static bool serves(struct ty_hunt *h, const struct ty_cand *c)
{
	const struct ty_model *m = h->x->m;
	uint32_t thread = c->s.thread, peer = c->waker.thread;
	uint64_t first = first_woken(h->x, thread, peer);

	return !c->w.word && last_woken(h->x, peer, thread, c->s.start_ns) &&
	       first < first_woken(h->x, peer, thread) &&
	       !sent(h, thread, ty_model_syscall_at(m, thread, first), -1);
}

/* Nobody is seen asking, and nobody of the command is seen waiting for this thread; but it waits
 * once, alone, for the very thread that the command is busy with, and goes on to work. */
static bool had_work(struct ty_hunt *h, const struct ty_cand *c)
{
	return h->has_path && ty_stall_on_path(h, c, false) >= c->s.duration_ns / 2 &&
	       !serves(h, c) && !waits_again(h, c) && !waits_in_company(h, c) &&
	       (goes_on(h->x->m, c->s.thread, c->end_ns, COMPUTE_NS) ||
		sent(h, c->s.thread, c->s.syscall, -1));
}

/* ends -------------------------------------------------------------------------------------- */

/* User-mode time of the thread from t to its next long wait, up to `enough`. */
static bool goes_on(const struct ty_model *m, uint32_t thread, uint64_t t, uint64_t enough)
{
	const struct ty_thread *th = ty_model_thread(m, thread);
	uint32_t k = ty_model_span_find(m, thread, t), to = th->spans_first + th->spans_n;
	uint64_t user = 0;

	for (unsigned n = 0; k < to && n < 4 * BACK; k++, n++) {
		struct ty_span s = ty_model_span_brief(m, thread, k);
		uint64_t a = s.start_ns > t ? s.start_ns : t;

		if (is_wait(s.state) && s.start_ns >= t && s.end_ns - s.start_ns > 20 * LITTLE_NS)
			return false;
		if (s.state != TY_ST_RUNNING)
			continue;
		for (unsigned c = 0; a < s.end_ns && c < BACK; c++) {
			uint32_t i = ty_model_syscall_after(m, thread, a);
			struct ty_syscall call = {.start_ns = UINT64_MAX};

			if (i != TY_NONE)
				call = ty_model_syscall_brief(m, thread, i);
			if (call.start_ns > a)
				user += (call.start_ns < s.end_ns ? call.start_ns : s.end_ns) - a;
			a = call.start_ns == UINT64_MAX ? s.end_ns : call.end_ns;
			if (user >= enough)
				return true;
		}
	}
	return false;
}

/* Did the thread become another program? */
static bool is_program(struct ty_hunt *h, uint32_t thread)
{
	const struct ty_thread *t = ty_model_thread(h->x->m, thread);

	for (uint32_t i = 0; i < t->syscalls_n && i < BACK; i++) {
		struct ty_syscall c =
			ty_model_syscall_brief(h->x->m, thread, t->syscalls_first + i);

		if (ty_syscall_class(h->x->arch, c.abi, c.nr) == TY_SC_EXEC && !c.ret)
			return true;
	}
	return false;
}

/* A wait for the end of `other` that is explained by other itself. */
static bool end_is_stall(struct ty_hunt *h, struct ty_cand *c, const struct ty_path *p)
{
	const struct ty_model *m = h->x->m;
	const struct ty_seg *s;

	if (c->waker.kind != TY_WAKER_THREAD || c->root.thread != c->waker.thread)
		return false; /* what stalled is further inside */
	s = &p->seg.v[c->root.seg];
	if (s->what == TY_SEG_READY)
		return false; /* told as the awaited one's wait for a CPU */
	if (s->what == TY_SEG_RUNS && is_program(h, c->root.thread))
		return false; /* a program that was started, and works */
	if (goes_on(m, c->s.thread, c->end_ns, COMPUTE_NS))
		return true;
	return s->what == TY_SEG_TIMER && s->end_ns - s->start_ns >= c->s.duration_ns / 5 * 4 &&
	       !woke_anybody(h->x, c->root.thread, s->end_ns, c->end_ns, c->s.thread);
}

/* devices ----------------------------------------------------------------------------------- */

/* Block requests under way in [a, b): how many, how much of the time, the longest. */
static void requests(struct ty_hunt *h, struct ty_cand *c, uint64_t a, uint64_t b)
{
	const struct ty_model *m = h->x->m;
	uint32_t i = ty_model_io_after(m, b);
	uint64_t covered_to = b, longest = 0;

	/* Backwards; requests are in order of issue. */
	for (unsigned k = 0; i && k < 65536; k++) {
		struct ty_io io = ty_model_io(m, --i);
		uint64_t end = io.end_ns < b ? io.end_ns : b,
			 from = io.start_ns > a ? io.start_ns : a;

		if (io.end_ns <= a) {
			if (a - io.start_ns > UINT64_C(30000000000))
				break;
			continue;
		}
		c->ios++;
		if (end - from > longest) {
			longest = end - from;
			c->io = i;
		}
		if (from < covered_to) {
			uint64_t to = end < covered_to ? end : covered_to;

			if (to > from)
				c->io_ns += to - from;
			covered_to = from;
		}
	}
	if (c->waker.io != TY_NONE)
		c->io = c->waker.io;
}

/* stops ------------------------------------------------------------------------------------- */

static bool is_stop_signal(uint64_t sig)
{
	return sig >= 19 && sig <= 22; /* SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU */
}

/* Who sent the signal that stopped the thread at t? TY_NONE: not recorded (a tracer). */
static uint32_t stopper(const struct ty_model *m, uint32_t thread, uint64_t t)
{
	uint32_t cpus = ty_model_summary(m)->cpus, best = TY_NONE;
	int32_t tgid = ty_model_thread(m, thread)->tgid;
	uint64_t at = 0;

	for (uint32_t c = 0; c < cpus; c++) {
		uint32_t i = ty_model_point_after(m, c, t + 1);

		for (unsigned n = 0; i && n < SIGNALS; n++) {
			struct ty_point p = ty_model_point(m, c, --i);

			if (p.ts_ns < at)
				break;
			if (p.kind != TY_PT_SIGNAL || !is_stop_signal(p.a) || p.b >= TY_NONE)
				continue;
			if (p.b != thread &&
			    (tgid < 0 || ty_model_thread(m, (uint32_t)p.b)->tgid != tgid))
				continue;
			at = p.ts_ns;
			best = p.thread;
			break;
		}
	}
	return best;
}

/* waits ------------------------------------------------------------------------------------- */

static void take_root(struct ty_hunt *h, struct ty_cand *c, const struct ty_path *p)
{
	const struct ty_seg *s = &p->seg.v[c->root.seg];

	c->s.links = ty_path_links(p, c->root.seg, c->s.link, TY_STALL_LINKS);
	if (c->root.thread == c->s.thread || c->root.thread == TY_NONE)
		return;
	c->s.culprit = c->root.thread;
	c->s.culprit_ns = s->start_ns + (s->end_ns - s->start_ns) / 2;
}

static bool device_bound(const struct ty_cand *c)
{
	return c->root.what_ns[TY_SEG_DEVICE] > c->root.ns / 2;
}

static bool kernel_root(const struct ty_hunt *h, const struct ty_cand *c)
{
	return c->root.thread == c->s.thread || c->root.thread == TY_NONE ||
	       ty_model_thread(h->x->m, c->root.thread)->kernel;
}

/* Did another thread end the wait by sending a signal? */
static bool signalled(struct ty_hunt *h, const struct ty_cand *c)
{
	static const char *const sends[] = {"kill",
					    "tgkill",
					    "tkill",
					    "rt_sigqueueinfo",
					    "rt_tgsigqueueinfo",
					    "pidfd_send_signal",
					    NULL};
	uint32_t i = ty_model_syscall_at(h->x->m, c->waker.thread, c->waker.act_ns);
	struct ty_syscall s;

	if (i == TY_NONE)
		return false;
	s = ty_model_syscall_brief(h->x->m, c->waker.thread, i);
	return call_is(h, &s, sends);
}

/* Had the thread received something before its wait, and not sent anything since? */
static bool owes_answer(struct ty_hunt *h, const struct ty_cand *c)
{
	static const char *const gets[] = {"recv", "recvfrom", "recvmsg", "recvmmsg", NULL};
	static const char *const gives[] = {"send", "sendto", "sendmsg", "sendmmsg", NULL};
	const struct ty_thread *t = ty_model_thread(h->x->m, c->s.thread);
	uint32_t i = c->s.syscall;

	for (unsigned n = 0; i != TY_NONE && i > t->syscalls_first && n < BACK; n++) {
		struct ty_syscall s = ty_model_syscall_brief(h->x->m, c->s.thread, --i);

		if (s.ret <= 0)
			continue;
		if (call_is(h, &s, gets))
			return true;
		if (call_is(h, &s, gives))
			return false;
	}
	return false;
}

/* Is what ended the wait among lost events? */
static bool end_lost(const struct ty_model *m, const struct ty_cand *c)
{
	const struct ty_thread *t = ty_model_thread(m, c->s.thread);
	struct ty_span next;

	if (c->s.flags & TY_SF_LOST)
		return true;
	if (c->s.span + 1 >= t->spans_first + t->spans_n)
		return false;
	next = ty_model_span_brief(m, c->s.thread, c->s.span + 1);
	return next.state == TY_ST_UNKNOWN && next.flags & TY_SF_LOST;
}

/* The kind of a wait whose path and waker are known; is it a stall? */
static bool decide(struct ty_hunt *h, struct ty_cand *c, const struct ty_path *p)
{
	const struct ty_model *m = h->x->m;
	bool blocked = c->s.state == TY_ST_BLOCKED;

	c->s.kind = c->w.kind;
	c->s.proven = c->waker.kind != TY_WAKER_NONE && !(c->s.flags & TY_SF_LOST);
	if (c->w.class == TY_WAIT_DEFINITE && blocked && c->w.kind != TY_STALL_CHILD) {
		requests(h, c, c->s.start_ns, c->end_ns);
		if (c->waker.io != TY_NONE || (device_bound(c) && kernel_root(h, c)) ||
		    (c->io_ns > c->s.duration_ns / 2 && kernel_root(h, c))) {
			c->s.proven = c->waker.io != TY_NONE || device_bound(c);
			if (c->w.kind != TY_STALL_FAULT)
				c->s.kind = TY_STALL_IO;
		}
		return true;
	}
	if (c->waker.kind == TY_WAKER_NONE && end_lost(m, c) &&
	    (c->w.class == TY_WAIT_DEFINITE || c->w.class == TY_WAIT_PEER)) {
		c->s.kind = TY_STALL_LOST;
		return h->o.all || c->w.class == TY_WAIT_DEFINITE ||
		       ty_stall_on_path(h, c, true) > c->s.duration_ns / 2 ||
		       sent(h, c->s.thread, c->s.syscall, -1);
	}
	if (c->w.class == TY_WAIT_DEFINITE) {
		if (c->s.kind == TY_STALL_LOCK && c->w.word)
			c->s.proven = false; /* the holder is inferred: the one who woke */
		if (c->w.holder && c->s.culprit != TY_NONE && c->s.links > 1 &&
		    ty_model_thread(m, c->s.link[1].thread)->tid == c->w.holder)
			c->s.proven = true;
		return true;
	}
	if (h->o.all)
		return true;
	if (c->waker.kind == TY_WAKER_TIMER && c->w.class == TY_WAIT_PEER &&
	    ty_wait_timed_out(h->x, c->s.syscall) &&
	    (asked_anybody(h->x, c->s.thread, c->s.start_ns) ||
	     sent(h, c->s.thread, c->s.syscall, -1))) {
		c->s.kind = TY_STALL_TIMER;
		return true;
	}
	if (c->s.flags & TY_SF_OPEN && c->waker.kind == TY_WAKER_NONE)
		return c->w.class == TY_WAIT_PEER && !(c->s.flags & TY_SF_BEFORE) &&
		       asked_anybody(h->x, c->s.thread, c->s.start_ns);
	if (c->waker.kind != TY_WAKER_THREAD)
		return false;
	if (c->w.class == TY_WAIT_END)
		return end_is_stall(h, c, p);
	if (c->w.class == TY_WAIT_IDLE && signalled(h, c)) {
		c->s.kind = TY_STALL_SIGNAL;
		if (owes_answer(h, c) ||
		    (sent(h, c->s.thread, c->s.syscall, -1) && !serves(h, c) &&
		     ty_stall_on_path(h, c, false) >= (c->s.duration_ns + 1) / 2))
			return true;
	}
	if (asked(h->x, c->s.thread, c->waker.thread, c->s.start_ns) ||
	    asked_through(h->x, c->s.thread, p->seg.v[0].thread, c->waker.thread, c->s.start_ns))
		return true;
	if (c->w.class != TY_WAIT_PEER)
		return false;
	if (ty_stall_on_path(h, c, true) >= (c->s.duration_ns + 1) / 2)
		return !serves(h, c) &&
		       (!waits_again(h, c) ||
			(c->w.fd >= 0 && sent(h, c->s.thread, c->s.syscall, c->w.fd)));
	c->s.proven = false;
	return had_work(h, c);
}

/* Where nothing is known of the thread's states: the call that most of the time was spent in. */
static uint32_t call_within(const struct ty_model *m, const struct ty_cand *c)
{
	uint32_t i = ty_model_syscall_after(m, c->s.thread, c->s.start_ns), best = TY_NONE;
	const struct ty_thread *t = ty_model_thread(m, c->s.thread);
	uint64_t most = c->s.duration_ns / 2;

	for (unsigned n = 0; n < BACK && i < t->syscalls_first + t->syscalls_n; n++, i++) {
		struct ty_syscall s = ty_model_syscall_brief(m, c->s.thread, i);
		uint64_t a = s.start_ns > c->s.start_ns ? s.start_ns : c->s.start_ns,
			 b = s.end_ns < c->end_ns ? s.end_ns : c->end_ns;

		if (s.start_ns >= c->end_ns)
			break;
		if (b > a && b - a > most && !(s.flags & TY_SF_LOST)) {
			most = b - a;
			best = i;
		}
	}
	return best;
}

int ty_stall_explain(struct ty_hunt *h, struct ty_cand *c)
{
	const struct ty_model *m = h->x->m;
	struct ty_span s = ty_model_span(m, c->s.span);
	struct ty_path p;
	bool stall;
	int r;

	c->s.culprit = c->s.syscall = TY_NONE;
	c->io = TY_NONE;
	c->rival_prio = c->own_prio = INT32_MIN;
	c->waker = (struct ty_waker){.thread = TY_NONE, .io = TY_NONE};
	c->s.syscall = s.syscall;
	if (c->s.state == TY_ST_RUNNABLE)
		return ty_stall_run_queue(h, c);
	if (c->s.state == TY_ST_UNKNOWN) {
		c->s.kind = TY_STALL_LOST;
		c->s.link[0] = (struct ty_link){.thread = c->s.thread,
						.span = c->s.span,
						.start_ns = c->s.start_ns,
						.end_ns = c->end_ns,
						.what = TY_SEG_LOST,
						.waker = c->waker};
		c->s.links = 1;
		c->s.syscall = call_within(m, c);
		if (c->s.syscall == TY_NONE)
			return 1;
		s.state = TY_ST_SLEEPING;
		c->w = ty_wait_for(h->x, &s, c->s.syscall);
		if (c->w.class == TY_WAIT_END || c->w.class == TY_WAIT_IDLE)
			return h->o.all;
		if (c->w.kind == TY_STALL_OTHER)
			c->s.syscall = TY_NONE;
		return 1;
	}
	c->waker = ty_waker_find(m, s.edge);
	c->w = ty_wait_for(h->x, &s, s.syscall);
	if (c->s.state == TY_ST_STOPPED) {
		c->w.kind = TY_STALL_STOPPED;
		c->w.class = TY_WAIT_DEFINITE;
	}
	r = ty_path_find(h->x, c->s.thread, c->s.start_ns, c->end_ns, &p);
	if (r || !p.seg.n) {
		ty_path_fini(&p);
		return r;
	}
	c->root = ty_path_root(&p);
	if (c->root.thread == TY_NONE) {
		ty_path_fini(&p);
		return -TY_ENOMEM;
	}
	take_root(h, c, &p);
	stall = decide(h, c, &p);
	/* The other side waited for a CPU itself: a busy machine, as long as that is short. */
	if (c->w.class == TY_WAIT_PEER && c->root.what_ns[TY_SEG_READY] > c->s.duration_ns / 2 &&
	    c->s.duration_ns < h->o.min_ns * 5 / 2)
		stall = stall && h->o.all;
	if (stall && c->root.thread != c->s.thread) {
		r = ty_stall_blame_rival(h, c, &p);
		if (r > 0 && c->w.class != TY_WAIT_DEFINITE)
			c->s.kind = TY_STALL_RUNQUEUE;
	}
	if (c->s.kind == TY_STALL_STOPPED) {
		uint32_t by = stopper(m, c->s.thread, c->s.start_ns);

		if (by != TY_NONE) {
			c->s.culprit = by;
			c->s.culprit_ns = c->s.start_ns;
		}
	}
	if (c->s.culprit != TY_NONE &&
	    (c->s.kind == TY_STALL_IO || c->s.kind == TY_STALL_FAULT ||
	     c->s.kind == TY_STALL_TIMER) &&
	    kernel_root(h, c))
		c->s.culprit = TY_NONE;
	ty_path_fini(&p);
	return r < 0 ? r : stall;
}

uint64_t ty_stall_on_path(const struct ty_hunt *h, const struct ty_cand *c, bool direct)
{
	uint64_t ns = 0, a = c->s.start_ns, b = c->end_ns, culprit = 0;
	size_t lo = 0, hi = h->path.seg.n;

	if (!h->has_path)
		return 0;
	vec_each (e, &h->path.hop)
		if (e->thread == c->s.thread && e->span == c->s.span)
			ns += e->end_ns - e->start_ns;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (h->path.seg.v[mid].end_ns <= a)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < h->path.seg.n && h->path.seg.v[lo].start_ns < b; lo++) {
		const struct ty_seg *s = &h->path.seg.v[lo];
		uint64_t d = (s->end_ns < b ? s->end_ns : b) - (s->start_ns > a ? s->start_ns : a);

		if (s->thread == c->s.thread && s->span == c->s.span)
			ns += d;
		else if (s->thread == c->s.culprit)
			culprit += d; /* the command waits for the culprit by another way */
	}
	return direct || ns > culprit ? ns : culprit;
}

void ty_stall_refine(struct ty_hunt *h, struct ty_cand *c)
{
	struct ty_span s = ty_model_span_brief(h->x->m, c->s.thread, c->s.span);

	if (c->s.kind != TY_STALL_FD)
		return;
	if (c->waker.softirq)
		c->w.kind = TY_STALL_SOCKET; /* only networks wake by softirq */
	else
		ty_wait_look_at_fd(h->x, &s, c->s.syscall, &c->w);
	c->s.kind = c->w.kind;
}
