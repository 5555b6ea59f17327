/* SPDX-License-Identifier: MIT */
/*
 * Threads by the tree of processes: programs that were executed, and descendants.
 *
 * Budget: TY_STALL_BACK calls of one thread, 16 parents.
 */
#include "process_of_thread.h"
#include "stalls_priv.h"
#include "syscall_ipc.h"

bool ty_stall_is_program(const struct ty_stall_search *h, uint32_t thread, uint64_t t_ns)
{
	const struct ty_thread *t = ty_model_thread(h->x->m, thread);

	for (uint32_t i = 0; i < t->syscalls_n && i < TY_STALL_BACK; i++) {
		struct ty_syscall c =
			ty_model_syscall_brief(h->x->m, thread, t->syscalls_first + i);

		if (c.start_ns >= t_ns)
			break;
		if (ty_syscall_class(h->x->arch, c.abi, c.nr) == TY_SC_EXEC && !c.ret)
			return true;
	}
	return false;
}

bool ty_stall_descends(const struct ty_model *m, uint32_t thread, int32_t tgid)
{
	for (unsigned n = 0; n < 16 && tgid >= 0; n++) {
		uint32_t by = ty_process_parent(m, thread);

		if (by == TY_NONE)
			return ty_model_thread(m, thread)->ppid == tgid;
		if (ty_model_thread(m, by)->tgid == tgid)
			return true;
		thread = by;
	}
	return false;
}

/* Where processes are unknown (recordings of other programs): did the thread, or its maker, make
 * the other one, or one of its descendants? A thread older than the recording may have any parent.
 */
static bool may_be_of(const struct ty_model *m, uint32_t other, uint32_t thread)
{
	int32_t maker = ty_model_thread(m, thread)->forked_by;

	if (ty_model_thread(m, other)->forked_by < 0)
		return ty_model_thread(m, other)->tgid < 0 && ty_model_thread(m, other)->ppid < 0;
	for (unsigned n = 0; n < 16; n++) {
		int32_t by = ty_model_thread(m, other)->forked_by;

		if (by < 0)
			return false;
		if (by == (int32_t)thread || by == maker)
			return true;
		other = (uint32_t)by;
	}
	return false;
}

/* Is the thread of the process, or did one of the process, or that it has started, make it? */
static bool is_of(const struct ty_model *m, uint32_t thread, int32_t tgid)
{
	return tgid > 0 &&
	       (ty_model_thread(m, thread)->tgid == tgid || ty_stall_descends(m, thread, tgid));
}

bool ty_stall_is_related(const struct ty_stall_search *h, uint32_t thread, uint32_t other)
{
	const struct ty_model *m = h->x->m;
	int32_t command = h->x->command_tid;

	if (ty_model_thread(m, thread)->tgid < 0 || ty_model_thread(m, other)->tgid < 0)
		return may_be_of(m, other, thread);
	return is_of(m, other,
		     is_of(m, thread, command) ? command : ty_model_thread(m, thread)->tgid);
}
