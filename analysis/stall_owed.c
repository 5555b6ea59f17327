/* SPDX-License-Identifier: MIT */
/*
 * Waits that a signal ended: was it sent by another thread, and did the waiter owe somebody an
 * answer meanwhile? Budget: SIGNAL_LOOKS points of a CPU; TY_STALL_BACK calls of the thread on
 * either side of the wait.
 */
#include "stalls_priv.h"
#include "talk.h"

#define SIGNAL_NS    UINT64_C(50000) /* from a wakeup to the signal that was its cause */
#define SIGNAL_LOOKS 256

/* Did the waker send the thread's process a signal when it woke it? The kernel tells of that after
 * the wakeup. */
static bool signal_before(const struct ty_model *m, const struct ty_cand *c)
{
	int32_t tgid = ty_model_thread(m, c->s.thread)->tgid;
	uint32_t i = ty_model_point_after(m, c->waker.cpu, c->waker.ts_ns + SIGNAL_NS);

	for (unsigned n = 0; i && n < SIGNAL_LOOKS; n++) {
		struct ty_point p = ty_model_point(m, c->waker.cpu, --i);

		if (p.ts_ns < c->waker.ts_ns)
			break;
		if (p.kind == TY_PT_SIGNAL && p.thread == c->waker.thread && p.b < TY_NONE &&
		    (p.b == c->s.thread ||
		     (tgid > 0 && ty_model_thread(m, (uint32_t)p.b)->tgid == tgid)))
			return true;
	}
	return false;
}

bool ty_stall_signalled(const struct ty_hunt *h, const struct ty_cand *c)
{
	uint32_t i = ty_model_syscall_at(h->x->m, c->waker.thread, c->waker.act_ns);
	struct ty_syscall s;

	if (i == TY_NONE)
		return !ty_model_thread(h->x->m, c->waker.thread)->traced &&
		       signal_before(h->x->m, c);
	s = ty_model_syscall_brief(h->x->m, c->waker.thread, i);
	return ty_talk(h->x, &s).says & TY_SIGNALS;
}

/* What the call says of a message that went through; 0: nothing. */
static unsigned message_of(const struct ty_explain *x, uint32_t thread, uint32_t call)
{
	struct ty_syscall s = ty_model_syscall_brief(x->m, thread, call);
	unsigned says = s.ret > 0 ? ty_talk(x, &s).says : 0;

	return says & TY_MESSAGE ? says : 0;
}

bool ty_stall_owes_answer(const struct ty_hunt *h, const struct ty_cand *c)
{
	uint32_t i = c->s.syscall, first = ty_model_thread(h->x->m, c->s.thread)->syscalls_first;
	unsigned says = 0;

	for (unsigned n = 0; i != TY_NONE && !says && i > first && n < TY_STALL_BACK; n++)
		says = message_of(h->x, c->s.thread, --i);
	return says & TY_TAKES;
}

/* Is the first message of the calls in [i, end) one that the thread takes? */
static bool takes_next(const struct ty_explain *x, uint32_t thread, uint32_t i, uint32_t end)
{
	unsigned says = 0;

	for (unsigned n = 0; !says && i < end && n < TY_STALL_BACK; n++)
		says = message_of(x, thread, i++);
	return says & TY_TAKES;
}

bool ty_stall_owed_unseen(const struct ty_hunt *h, const struct ty_cand *c)
{
	const struct ty_model *m = h->x->m;
	uint32_t thread = c->s.thread, i = ty_stall_first_call(h, c), first, end, k;
	const struct ty_thread *th = ty_model_thread(m, thread);
	const struct ty_seek q = {.states = 1u << TY_ST_SLEEPING, .min_ns = 1, .nr = -1};
	struct ty_syscall was, next;
	unsigned says = 0;
	struct ty_span s;

	if (c->s.syscall == TY_NONE || th->born)
		return false;
	first = th->syscalls_first;
	end = first + th->syscalls_n;
	for (unsigned n = 0; i > first; n++)
		if (n >= TY_STALL_BACK || message_of(h->x, thread, --i))
			return false; /* what came before tells */
	i = c->s.syscall;
	for (unsigned n = 0; !says && ++i < end && n < TY_STALL_BACK; n++)
		says = message_of(h->x, thread, i);
	if (!(says & TY_GIVES))
		return false;
	next = ty_model_syscall_brief(m, thread, i);
	k = ty_model_seek(m, (struct ty_track){TY_TRACK_THREAD, thread}, &q, next.end_ns, false);
	/* The next request was there at once, and told it to end perhaps. */
	if (k == TY_NONE)
		return c->s.flags & TY_SF_BEFORE && takes_next(h->x, thread, i + 1, end);
	s = ty_model_span(m, k);
	if (s.syscall == TY_NONE)
		return false;
	was = ty_model_syscall_brief(m, thread, c->s.syscall);
	next = ty_model_syscall_brief(m, thread, s.syscall);
	return was.nr != next.nr || was.abi != next.abi ||
	       ty_wait_for(h->x, &s, s.syscall).fd != c->w.fd;
}
