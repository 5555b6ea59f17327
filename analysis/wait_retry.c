/* SPDX-License-Identifier: MIT */
/* See wait_retry.h. */
#include "wait_retry.h"

#include "process_of_thread.h"
#include "syscall_ipc.h"
#include "thread_walk.h"

#define LOOP_BACK 64 /* sleeps of a thread */
#define HANDED	  4  /* threads of one process that wake one another */

uint32_t ty_wait_retry_beside(const struct ty_model *m, uint32_t thread, uint32_t span,
			      bool forward)
{
	struct ty_rows all = ty_thread_spans(m, thread);
	uint64_t ran = 0, ready = 0;

	while (forward ? ++span < all.to : span-- > all.from) {
		struct ty_span s = ty_model_span_brief(m, thread, span);

		if (s.state == TY_ST_SLEEPING)
			return span;
		ran += s.state == TY_ST_RUNNING ? s.end_ns - s.start_ns : 0;
		ready += s.state == TY_ST_RUNNABLE ? s.end_ns - s.start_ns : 0;
		if ((s.state != TY_ST_RUNNING && s.state != TY_ST_RUNNABLE) ||
		    ran > TY_WAIT_RETRY_RAN_NS || ready >= TY_WAIT_RETRY_RUNNABLE_NS)
			break;
	}
	return TY_NONE;
}

/* EINTR; and what sys_exit sees of calls that the kernel makes again itself, or would (ERESTARTSYS,
 * ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK: include/linux/errno.h). */
bool ty_wait_retry_interrupted(const struct ty_syscall *c)
{
	return !(c->flags & (TY_SF_OPEN | TY_SF_LOST | TY_SF_ENDED)) &&
	       (c->ret == -4 || (c->ret <= -512 && c->ret >= -514) || c->ret == -516);
}

static bool in_vain(const struct ty_explain *x, const struct ty_syscall *c)
{
	return ty_wait_retry_interrupted(c) || ty_wait_ended_by_timeout(x, c);
}

bool ty_wait_retry_in_vain(const struct ty_explain *x, uint32_t call)
{
	struct ty_syscall c;

	if (call == TY_NONE)
		return false;
	c = ty_model_syscall(x->m, call);
	return in_vain(x, &c);
}

/* Is one of the calls right before this one the same, and failed, so that this may be a retry?
 * Few waits have such a one: no more is examined then. In between one of the same may have got
 * something, from the thread itself. */
static bool may_be_again(const struct ty_explain *x, uint32_t thread, uint32_t call)
{
	uint32_t first = ty_model_thread(x->m, thread)->syscalls_first;
	uint8_t abi;
	int32_t nr = ty_model_syscall_nr(x->m, thread, call, &abi);
	unsigned got = 0;

	for (unsigned n = 0; n < TY_WAIT_RETRY_BETWEEN && call > first && got < 2; n++) {
		struct ty_syscall c;

		if (ty_model_syscall_nr(x->m, thread, --call, &abi) != nr)
			continue;
		c = ty_model_syscall_brief(x->m, thread, call);
		if (in_vain(x, &c))
			return true;
		got += c.ret > 0;
	}
	return false;
}

/* The last return from a signal handler in (a, b); a: there is none. */
static uint32_t handled(const struct ty_explain *x, uint32_t thread, uint32_t a, uint32_t b)
{
	while (--b > a) {
		struct ty_syscall c = ty_model_syscall_brief(x->m, thread, b);

		if (ty_syscall_class(x->arch, c.abi, c.nr) == TY_SC_SIGRETURN)
			break;
	}
	return b;
}

bool ty_wait_retry_again(const struct ty_explain *x, uint32_t thread, uint32_t a, uint32_t b)
{
	struct ty_syscall first = ty_model_syscall_brief(x->m, thread, a);
	bool notified_itself = false;
	uint32_t over = a;

	if (a >= b || ty_model_syscall_brief(x->m, thread, b).nr != first.nr || !in_vain(x, &first))
		return false;
	if (ty_wait_retry_interrupted(&first) && x->arch)
		over = handled(x, thread, a, b);
	for (uint32_t i = a + 1; i < b; i++) {
		struct ty_syscall c = ty_model_syscall_brief(x->m, thread, i);
		bool gives = ty_syscall_ipc(x, &c).says & TY_GIVES;

		if (i < over)
			notified_itself |= gives;
		else if (c.nr == first.nr && c.ret > 0 && notified_itself)
			notified_itself = false;
		else if (gives || (c.nr == first.nr && c.ret > 0))
			return false;
	}
	return true;
}

bool ty_wait_retry_same(const struct ty_model *m, uint32_t thread, const struct ty_wait_for *a,
			const struct ty_wait_for *b)
{
	return a->class == b->class && a->class != TY_WAIT_END &&
	       ty_wait_same(m, thread, a, thread, b);
}

/* Did call a time out, and do both wait for any of as many descriptors, listed at the same place,
 * as poll and its kin do? A signal may be what they waited for. */
static bool same_list(const struct ty_explain *x, uint32_t a, uint32_t b)
{
	struct ty_syscall c = ty_model_syscall(x->m, a), d = ty_model_syscall(x->m, b);
	uint64_t u[6], v[6];

	return ty_wait_timed_out(x, a) && !ty_explain_args(x, &c, 2, u) &&
	       !ty_explain_args(x, &d, 2, v) && u[0] == v[0] && u[1] == v[1];
}

bool ty_wait_retry_follows(const struct ty_explain *x, const struct ty_span *a,
			   const struct ty_span *b, bool *inferred)
{
	struct ty_wait_for v, w;

	if (a->syscall == TY_NONE || b->syscall == TY_NONE ||
	    !ty_wait_retry_again(x, a->thread, a->syscall, b->syscall))
		return false;
	v = ty_wait_for(x, a, a->syscall);
	w = ty_wait_for(x, b, b->syscall);
	if (!ty_wait_retry_same(x->m, a->thread, &v, &w))
		return false;
	if (w.word || w.fd >= 0)
		return true;
	*inferred = same_list(x, a->syscall, b->syscall);
	return *inferred;
}

uint32_t ty_wait_retry_first(const struct ty_explain *x, uint32_t thread, uint32_t span,
			     uint64_t from_ns, bool *inferred)
{
	struct ty_span s = ty_model_span_brief(x->m, thread, span), before;
	uint32_t call, k;

	if (s.state != TY_ST_SLEEPING || s.start_ns <= from_ns)
		return span;
	call = ty_model_syscall_at(x->m, thread, s.start_ns);
	if (call == TY_NONE || !may_be_again(x, thread, call) || ty_wait_timed_out(x, call))
		return span;
	for (s = ty_model_span(x->m, span); s.start_ns > from_ns; s = before) {
		bool list = false;

		k = ty_wait_retry_beside(x->m, thread, span, false);
		if (k == TY_NONE || ty_explain_stopped(x))
			break;
		before = ty_model_span(x->m, k);
		if (before.syscall == TY_NONE ||
		    s.syscall - before.syscall > TY_WAIT_RETRY_BETWEEN ||
		    !ty_wait_retry_follows(x, &before, &s, &list))
			break;
		*inferred |= list;
		span = k;
	}
	return span;
}

/* Since when did no thread of the process wake this one? Looks at the sleeps back from at_ns,
 * because it can only be woken from one, and no further than needed. */
struct independent {
	uint32_t thread, process;
	uint64_t at_ns; /* not before the answer, until that is known */
	unsigned looked;
	bool known;
};

/* The answer if it is later than `until`, else any time up to that. */
static uint64_t independent_since(const struct ty_model *m, struct independent *i, uint64_t until)
{
	const struct ty_seek q = {.states = 1u << TY_ST_SLEEPING | 1u << TY_ST_BLOCKED, .nr = -1};
	const struct ty_track track = {TY_TRACK_THREAD, i->thread};

	while (!i->known && (!i->looked || i->at_ns > until)) {
		uint32_t k = ty_model_seek(m, track, &q, i->at_ns, true);
		struct ty_waker by = TY_NO_WAKER;
		struct ty_span s = {0};

		if (k != TY_NONE) {
			s = ty_model_span_brief(m, i->thread, k);
			by = ty_waker_find(m, ty_model_span_edge(m, &s, k));
		}
		if (by.kind == TY_WAKER_THREAD && ty_process_of(m, by.thread) == i->process) {
			i->at_ns = s.end_ns;
			i->known = true;
		} else {
			i->at_ns = s.start_ns;
			i->known = k == TY_NONE || ++i->looked == LOOP_BACK;
		}
	}
	return i->at_ns;
}

/* Is the wait one of an event loop, for all that is known? *call: TY_NONE: calls are not recorded.
 */
static bool is_loop(const struct ty_explain *x, uint32_t thread, uint64_t t, uint32_t *call)
{
	struct ty_syscall c;

	*call = ty_model_syscall_at(x->m, thread, t);
	if (*call == TY_NONE)
		return !ty_model_thread(x->m, thread)->traced;
	c = ty_model_syscall_brief(x->m, thread, *call);
	return ty_syscall_row(x->arch, c.abi, c.nr)->wait_on == TY_WAIT_ON_EVENTS;
}

/* Do both calls wait on one epoll? */
static bool same_epoll(const struct ty_explain *x, uint32_t a, uint32_t b)
{
	struct ty_syscall c, d;
	const struct ty_sysrow *r;
	uint64_t u[6], v[6];

	if (a == TY_NONE || b == TY_NONE)
		return a == b;
	c = ty_model_syscall(x->m, a);
	d = ty_model_syscall(x->m, b);
	r = ty_syscall_row(x->arch, c.abi, c.nr);
	return c.nr == d.nr && ty_sysrow_is_fd(r, r->object) &&
	       !ty_explain_args(x, &c, (unsigned)r->object + 1, u) &&
	       !ty_explain_args(x, &d, (unsigned)r->object + 1, v) &&
	       (int32_t)u[r->object] == (int32_t)v[r->object];
}

static struct ty_waker waker_of(const struct ty_model *m, uint32_t thread, uint32_t span)
{
	const struct ty_span s = ty_model_span_brief(m, thread, span);

	return ty_waker_find(m, ty_model_span_edge(m, &s, span));
}

/* Did a timer end the wait: its own, or that of a thread of its process, which woke this one? by:
 * what ended it. */
static bool by_own_timer(const struct ty_model *m, struct ty_waker by, uint32_t process)
{
	for (unsigned n = 0; n < HANDED; n++) {
		uint32_t span;

		if (by.kind == TY_WAKER_TIMER)
			return !by.net;
		if (by.kind != TY_WAKER_THREAD || ty_process_of(m, by.thread) != process)
			return false;
		span = ty_model_span_find(m, by.thread, by.act_ns);
		span = span == TY_NONE ? span : ty_wait_retry_beside(m, by.thread, span, false);
		if (span == TY_NONE)
			return false;
		by = waker_of(m, by.thread, span);
	}
	return false;
}

/* Did a timer end the last sleep before t, at which the thread, or one of its process, woke
 * another? Such a thread pauses before its requests. */
static bool paused_before(const struct ty_model *m, uint32_t thread, uint32_t process, uint64_t t)
{
	const struct ty_seek q = {.states = 1u << TY_ST_SLEEPING, .nr = -1};
	uint32_t k = ty_model_seek(m, (struct ty_track){TY_TRACK_THREAD, thread}, &q, t, true);

	return k != TY_NONE && by_own_timer(m, waker_of(m, thread, k), process);
}

/* Since when had the thread of another process that ended the wait slept, until its own timer? What
 * was sent after that did not make it act. UINT64_MAX: no such thread ended the wait. */
static uint64_t by_others_timer(const struct ty_model *m, struct ty_waker by, uint32_t process)
{
	const struct ty_seek q = {.states = 1u << TY_ST_SLEEPING | 1u << TY_ST_BLOCKED, .nr = -1};
	struct ty_span slept;
	uint32_t k;

	if (by.kind != TY_WAKER_THREAD || ty_process_of(m, by.thread) == process)
		return UINT64_MAX;
	k = ty_model_seek(m, (struct ty_track){TY_TRACK_THREAD, by.thread}, &q, by.act_ns, true);
	if (k == TY_NONE)
		return UINT64_MAX;
	slept = ty_model_span_brief(m, by.thread, k);
	by = ty_waker_find(m, ty_model_span_edge(m, &slept, k));
	return by.kind == TY_WAKER_TIMER && !by.net ? slept.start_ns : UINT64_MAX;
}

uint32_t ty_wait_loop_first(const struct ty_explain *x, uint32_t thread, uint32_t span,
			    uint64_t from_ns, const struct ty_waker *by)
{
	const struct ty_model *m = x->m;
	uint64_t start = ty_model_span_brief(m, thread, span).start_ns;
	struct independent waker = {.thread = by->thread, .at_ns = start};
	uint32_t first = span, call, before, k;

	if (by->kind != TY_WAKER_THREAD || by->thread == thread || start <= from_ns ||
	    !is_loop(x, thread, start, &call))
		return span;
	waker.process = ty_process_of(m, thread);
	for (unsigned n = 0; n < LOOP_BACK && !ty_explain_stopped(x); n++, first = k) {
		uint64_t t, since, others = 0;
		struct ty_waker ended;
		bool own;

		k = ty_wait_retry_beside(m, thread, first, false);
		if (k == TY_NONE)
			break;
		t = ty_model_span_brief(m, thread, k).start_ns;
		if (!is_loop(x, thread, t, &before))
			break;
		ended = waker_of(m, thread, k);
		own = by_own_timer(m, ended, waker.process);
		if (!own && call != TY_NONE)
			others = by_others_timer(m, ended, waker.process);
		if ((!own && (call == TY_NONE || others >= t)) || !same_epoll(x, before, call))
			break;
		since = independent_since(m, &waker, call == TY_NONE ? 0 : own ? t : others);
		if (t < since || (!own && others >= since) ||
		    (call == TY_NONE && !n && since &&
		     paused_before(m, thread, waker.process, since)))
			break;
		if (t <= from_ns)
			return k;
	}
	return first;
}
