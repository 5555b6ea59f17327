/* SPDX-License-Identifier: MIT */
/* See wait_retry.h. */
#include "wait_retry.h"

#include "syscall_ipc.h"
#include "waits.h"

/* The sleep before this one, if the thread did little in between; TY_NONE. */
static uint32_t sleep_before(const struct ty_model *m, uint32_t thread, uint32_t span)
{
	const struct ty_thread *t = ty_model_thread(m, thread);
	uint64_t ran = 0, ready = 0;

	while (span > t->spans_first) {
		struct ty_span s = ty_model_span_brief(m, thread, --span);

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
static bool broken_off(const struct ty_syscall *c)
{
	return !(c->flags & (TY_SF_OPEN | TY_SF_LOST | TY_SF_ENDED)) &&
	       (c->ret == -4 || (c->ret <= -512 && c->ret >= -514) || c->ret == -516);
}

static bool in_vain(const struct ty_explain *x, const struct ty_syscall *c)
{
	return broken_off(c) || ty_wait_ended_by_timeout(x, c);
}

bool ty_wait_retry_in_vain(const struct ty_explain *x, uint32_t call)
{
	struct ty_syscall c;

	if (call == TY_NONE)
		return false;
	c = ty_model_syscall(x->m, call);
	return in_vain(x, &c);
}

/* Is one of the calls right before this one the same, and in vain, so that this may be another try?
 * Few waits have such a one: no more is examined then. In between one of the same may have got
 * something, from the thread itself. */
static bool may_be_again(const struct ty_explain *x, uint32_t thread, uint32_t call)
{
	uint32_t first = ty_model_thread(x->m, thread)->syscalls_first;
	int32_t nr = ty_model_syscall_brief(x->m, thread, call).nr;
	unsigned got = 0;

	for (unsigned n = 0; n < TY_WAIT_RETRY_BETWEEN && call > first && got < 2; n++) {
		struct ty_syscall c = ty_model_syscall_brief(x->m, thread, --call);

		if (c.nr == nr && in_vain(x, &c))
			return true;
		got += c.nr == nr && c.ret > 0;
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
	if (broken_off(&first) && x->arch)
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

bool ty_wait_retry_same_list(const struct ty_explain *x, uint32_t a, uint32_t b)
{
	struct ty_syscall c = ty_model_syscall(x->m, a), d = ty_model_syscall(x->m, b);
	uint64_t u[6], v[6];

	/* A signal may be what they waited for. */
	return ty_wait_timed_out(x, a) && x->args && !x->args(x->ctx, &c, u) &&
	       !x->args(x->ctx, &d, v) && u[0] == v[0] && u[1] == v[1];
}

uint32_t ty_wait_retry_first(const struct ty_explain *x, uint32_t thread, uint32_t span,
			     uint64_t from_ns, bool *inferred)
{
	struct ty_span s = ty_model_span_brief(x->m, thread, span), last;
	uint32_t first = span, call, k;
	struct ty_wait_for what = {0}, before;

	if (s.state != TY_ST_SLEEPING || s.start_ns <= from_ns)
		return span;
	call = ty_model_syscall_at(x->m, thread, s.start_ns);
	if (call == TY_NONE || !may_be_again(x, thread, call) || ty_wait_timed_out(x, call))
		return span;
	s = last = ty_model_span(x->m, span);
	while (s.start_ns > from_ns && (k = sleep_before(x->m, thread, first)) != TY_NONE &&
	       !ty_explain_stopped(x)) {
		s = ty_model_span(x->m, k);
		if (s.syscall == TY_NONE || call - s.syscall > TY_WAIT_RETRY_BETWEEN ||
		    !ty_wait_retry_again(x, thread, s.syscall, call))
			break;
		if (first == span)
			what = ty_wait_for(x, &last, call);
		before = ty_wait_for(x, &s, s.syscall);
		if (!ty_wait_retry_same(x->m, thread, &before, &what))
			break;
		if (!what.word && what.fd < 0) {
			if (!ty_wait_retry_same_list(x, s.syscall, call))
				break;
			*inferred = true;
		}
		first = k;
		call = s.syscall;
	}
	return first;
}
