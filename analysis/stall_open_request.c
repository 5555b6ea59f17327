/* SPDX-License-Identifier: MIT */
/*
 * Waits that a signal ended: whether another thread sent it, and whether the waiter had a reply
 * pending.
 *
 * Budget: TY_STALL_BACK calls of the thread on either side of the
 * wait.
 */

#include "stalls_priv.h"
#include "syscall_ipc.h"
#include "thread_walk.h"

bool ty_stall_is_stop_signal(uint64_t sig)
{
	return sig >= 19 && sig <= 22; /* SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU */
}

bool ty_stall_signalled(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	uint32_t i = ty_model_syscall_at(h->x->m, c->waker.thread, c->waker.act_ns);
	int sig = ty_waker_signal(h->x->m, c->s.thread, &c->waker);
	struct ty_syscall s;

	if (sig == 9 || ty_stall_is_stop_signal((uint64_t)sig)) /* SIGKILL: no message */
		return false;
	if (i == TY_NONE)
		return sig && !ty_model_thread(h->x->m, c->waker.thread)->traced;
	s = ty_model_syscall_brief(h->x->m, c->waker.thread, i);
	return ty_syscall_ipc(h->x, &s).says & TY_SIGNALS;
}

bool ty_stall_by_tracer(const struct ty_stall_search *h, const struct ty_candidate *c,
			bool *inferred)
{
	uint32_t i;

	*inferred = false;
	if (c->waker.kind != TY_WAKER_THREAD)
		return false;
	i = ty_model_syscall_at(h->x->m, c->waker.thread, c->waker.act_ns);
	if (i != TY_NONE)
		return ty_explain_row(h->x, i)->id == TY_SYS_ptrace;
	*inferred = true;
	return !ty_model_thread(h->x->m, c->waker.thread)->traced &&
	       !ty_waker_signal(h->x->m, c->s.thread, &c->waker);
}

/* What the call says of a message that went through; 0: nothing. */
static unsigned message_of(const struct ty_explain *x, uint32_t thread, uint32_t call)
{
	struct ty_syscall s = ty_model_syscall_brief(x->m, thread, call);
	unsigned says = s.ret > 0 ? ty_syscall_ipc(x, &s).says : 0;

	return says & TY_MESSAGE ? says : 0;
}

bool ty_stall_has_open_request(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	struct ty_calls_back w = ty_calls_before(h->x->m, c->s.thread, c->s.syscall, TY_STALL_BACK);
	unsigned says = 0;

	while (!says && ty_call_back(&w))
		says = message_of(h->x, c->s.thread, w.call);
	return says & TY_TAKES;
}

/* The descriptor on which the call sends or receives; -1: unknown, or the peer is named with each
 * message, as by sendto (a logger). */
static int64_t other_side(const struct ty_explain *x, uint32_t thread, uint32_t call)
{
	struct ty_syscall s = ty_model_syscall_brief(x->m, thread, call);
	struct ty_syscall_ipc t = ty_syscall_ipc(x, &s);
	uint64_t args[6];

	if (t.says & TY_GIVES ? t.gives < 0 : t.takes < 0)
		return -1;
	if (!x->args || x->args(x->ctx, &s, args))
		return -1;
	if (ty_explain_row(x, call)->id == TY_SYS_sendto && args[4])
		return -1;
	return (int32_t)args[t.says & TY_GIVES ? t.gives : t.takes];
}

enum heard { NOTHING, FROM_IT, FROM_OTHERS };

/* After `call`, which sends a message: from which peer does the thread receive the next one, and
 * has it sent that peer one since? */
static enum heard hears(const struct ty_explain *x, uint32_t thread, uint32_t call, uint32_t end)
{
	uint32_t i = call + 1;
	int64_t from;

	for (unsigned n = 0;; n++, i++) {
		if (i >= end || n >= TY_STALL_BACK)
			return NOTHING;
		if (message_of(x, thread, i) & TY_TAKES)
			break;
	}
	from = other_side(x, thread, i);
	while (from >= 0 && i-- > call)
		if (message_of(x, thread, i) && other_side(x, thread, i) == from)
			return FROM_IT;
	return FROM_OTHERS;
}

bool ty_stall_has_unseen_request(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	const struct ty_model *m = h->x->m;
	uint32_t thread = c->s.thread, i = ty_stall_first_call(h, c), first, end, k;
	const struct ty_thread *th = ty_model_thread(m, thread);
	struct ty_syscall was, next;
	struct ty_wait_for w;
	unsigned says = 0;
	enum heard heard;
	struct ty_span s;

	/* Of a command all calls are known. */
	if (c->s.syscall == TY_NONE || th->born || th->released_ns)
		return false;
	first = th->syscalls_first;
	end = first + th->syscalls_n;
	for (unsigned n = 0; i > first; n++)
		if (n >= TY_STALL_BACK || message_of(h->x, thread, --i))
			return false; /* what came before decides */
	i = c->s.syscall;
	for (unsigned n = 0; !says && ++i < end && n < TY_STALL_BACK; n++)
		says = message_of(h->x, thread, i);
	if (!(says & TY_GIVES) || other_side(h->x, thread, i) < 0)
		return false;
	heard = hears(h->x, thread, i, end);
	if (heard == FROM_OTHERS)
		return false;
	next = ty_model_syscall_brief(m, thread, i);
	k = ty_sleep_after(m, thread, next.end_ns, 1);
	/* The next request was there at once, and may have been one to exit. */
	if (k == TY_NONE)
		return c->s.flags & TY_SF_BEFORE && heard == FROM_IT;
	s = ty_model_span(m, k);
	if (s.syscall == TY_NONE)
		return false;
	was = ty_model_syscall_brief(m, thread, c->s.syscall);
	next = ty_model_syscall_brief(m, thread, s.syscall);
	w = ty_wait_for(h->x, &s, s.syscall);
	if (was.nr == next.nr && was.abi == next.abi && w.fd == c->w.fd)
		return false;
	return heard == FROM_IT || (w.fd >= 0 && s.end_ns - s.start_ns >= TY_STALL_LITTLE_NS &&
				    (w.class == TY_WAIT_PEER || w.class == TY_WAIT_IDLE));
}
