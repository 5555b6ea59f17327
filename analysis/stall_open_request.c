/* SPDX-License-Identifier: MIT */
/*
 * Waits that a signal ended: whether another thread sent it, and whether the waiter had a reply
 * pending.
 *
 * Budget: TY_STALL_BACK calls of the thread on either side of the
 * wait.
 */
#include <string.h>

#include "stalls_priv.h"
#include "syscall_ipc.h"

bool ty_stall_signalled(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	uint32_t i = ty_model_syscall_at(h->x->m, c->waker.thread, c->waker.act_ns);
	struct ty_syscall s;

	if (i == TY_NONE)
		return !ty_model_thread(h->x->m, c->waker.thread)->traced &&
		       ty_waker_signal(h->x->m, c->s.thread, &c->waker);
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
	uint32_t i = c->s.syscall, first = ty_model_thread(h->x->m, c->s.thread)->syscalls_first;
	unsigned says = 0;

	for (unsigned n = 0; i != TY_NONE && !says && i > first && n < TY_STALL_BACK; n++)
		says = message_of(h->x, c->s.thread, --i);
	return says & TY_TAKES;
}

enum heard { NOTHING, FROM_IT, FROM_OTHERS };
