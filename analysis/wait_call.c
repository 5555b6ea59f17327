/* SPDX-License-Identifier: MIT */
/* See wait_call.h. */
#include "wait_call.h"

#define IOC_TYPE(request) ((request) >> 8 & 0xff) /* on all machines */
#define UFFDIO_TYPE	  0xaa			  /* uapi/linux/userfaultfd.h: UFFDIO */
#define GAPS		  16384 /* examining each for a span costs no more than its path (chain.h) */

/* Were events lost, on any CPU, between the two? Where more gaps than GAPS would have to be
 * examined for that, they may have been. */
static bool lost_between(const struct ty_model *m, uint64_t from_ns, uint64_t to_ns)
{
	uint32_t n;
	const struct ty_gap_span *gap = ty_model_gaps(m, &n);

	for (uint32_t i = 0; i < n && i < GAPS; i++)
		if (gap[i].from_ns < to_ns && gap[i].to_ns > from_ns)
			return true;
	return n > GAPS;
}

bool ty_wait_in_user_mode(const struct ty_model *m, uint32_t thread, uint64_t t)
{
	const struct ty_thread *th = ty_model_thread(m, thread);
	uint32_t next = ty_model_syscall_after(m, thread, t);
	struct ty_syscall last;

	if (next == TY_NONE)
		next = th->syscalls_first + th->syscalls_n;
	if (!th->traced || next == th->syscalls_first)
		return false;
	last = ty_model_syscall_brief(m, thread, next - 1);
	return !(last.flags & TY_SF_ENDED) && !lost_between(m, last.end_ns, t);
}

/* Is the first call that is recorded of the thread later than t, so that no other one was under
 * way then, whose end would have been recorded? */
static bool before_first_call(const struct ty_model *m, uint32_t thread, uint64_t t)
{
	const struct ty_thread *th = ty_model_thread(m, thread);
	struct ty_syscall first;

	if (!th->traced || !th->syscalls_n)
		return false;
	first = ty_model_syscall_brief(m, thread, th->syscalls_first);
	return first.start_ns > t && !(first.flags & (TY_SF_BEFORE | TY_SF_LOST)) &&
	       !lost_between(m, t, first.start_ns);
}

bool ty_wait_is_page(const struct ty_model *m, const struct ty_span *s)
{
	return s->state == TY_ST_BLOCKED && (ty_wait_in_user_mode(m, s->thread, s->start_ns) ||
					     before_first_call(m, s->thread, s->start_ns));
}

uint32_t ty_wait_call(const struct ty_explain *x, const struct ty_span *s)
{
	const struct ty_thread *t = ty_model_thread(x->m, s->thread);
	struct ty_syscall c, open = {0};
	uint32_t call = s->syscall;

	if (call != TY_NONE) {
		open = ty_model_syscall_brief(x->m, s->thread, call);
		if (!(open.flags & TY_SF_LOST))
			return call;
	}
	if ((s->state != TY_ST_SLEEPING && s->state != TY_ST_BLOCKED) || s->flags & TY_SF_LOST)
		return call;
	call = call == TY_NONE ? ty_model_syscall_after(x->m, s->thread, s->end_ns) : call + 1;
	if (call == TY_NONE || call >= t->syscalls_first + t->syscalls_n)
		return s->syscall;
	c = ty_model_syscall_brief(x->m, s->thread, call);
	/* A call whose end was lost is taken for going on until the next that is known. */
	if (!(c.flags & TY_SF_LOST) || c.start_ns != c.end_ns ||
	    (s->syscall != TY_NONE && open.end_ns != c.end_ns))
		return s->syscall;
	/* Asleep it did nothing that could be lost; and since? */
	return lost_between(x->m, s->end_ns, c.end_ns) ? s->syscall : call;
}

bool ty_wait_page_served(const struct ty_explain *x, const struct ty_waker *k)
{
	uint32_t call = ty_waker_call(x->m, k);
	struct ty_syscall s;
	uint64_t args[6];

	if (!x->args || ty_explain_row(x, call)->id != TY_SYS_ioctl)
		return false;
	s = ty_model_syscall(x->m, call);
	return !x->args(x->ctx, &s, args) && IOC_TYPE(args[1]) == UFFDIO_TYPE;
}
