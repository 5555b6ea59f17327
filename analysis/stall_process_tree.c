/* SPDX-License-Identifier: MIT */
/*
 * Threads by the tree of processes: programs of one pipeline, children of one parent, descendants.
 *
 * Budget: TY_STALL_BACK calls of one thread, 16 parents.
 */
#include <unistd.h>

#include "fd_kind.h"
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

/* Did the waker take it from its standard input? */
static bool took_from_stdin(const struct ty_explain *x, const struct ty_waker *k)
{
	uint32_t call = ty_model_syscall_at(x->m, k->thread, k->act_ns);
	struct ty_syscall s = ty_model_syscall(x->m, call);
	struct ty_syscall_ipc t = ty_syscall_ipc(x, &s);

	return ty_syscall_ipc_on(x, &s, &t, STDIN_FILENO) & TY_TAKES;
}

bool ty_stall_in_pipeline(const struct ty_stall_search *h, const struct ty_candidate *c,
			  const struct ty_path *p)
{
	const struct ty_model *m = h->x->m;
	int32_t maker = ty_model_thread(m, c->s.thread)->forked_by;
	uint8_t what = p->seg.v[c->root.seg].what;
	enum ty_fd_kind kind;
	const char *name;

	if (c->w.fd != STDOUT_FILENO || !ty_stall_made_room(h->x, &c->waker) ||
	    !took_from_stdin(h->x, &c->waker) ||
	    (!ty_seg_on_cpu(what) && what != TY_SEG_RUNNABLE) || maker < 0 ||
	    ty_model_thread(m, c->root.thread)->forked_by != maker ||
	    !ty_stall_is_program(h, c->s.thread, c->s.start_ns) ||
	    !ty_stall_is_program(h, c->root.thread, c->s.culprit_ns) ||
	    ty_stall_on_path(h, c, true) >= (c->s.duration_ns + 1) / 2)
		return false;
	kind = ty_fd_kind(h->x, c->s.thread, STDOUT_FILENO, c->s.start_ns, &name);
	return kind == TY_FD_PIPE || kind == TY_FD_UNKNOWN;
}

bool ty_stall_same_parent(const struct ty_model *m, uint32_t a, uint32_t b)
{
	const struct ty_thread *x = ty_model_thread(m, a), *y = ty_model_thread(m, b);

	if (x->forked_by >= 0 || y->forked_by >= 0)
		return x->forked_by == y->forked_by;
	if (x->tid == x->tgid && y->tid == y->tgid)
		return x->ppid > 0 && x->ppid == y->ppid;
	return x->tid != x->tgid && y->tid != y->tgid && x->tgid > 0 && x->tgid == y->tgid;
}

bool ty_stall_descends(const struct ty_model *m, uint32_t thread, int32_t tgid)
{
	for (unsigned n = 0; n < 16 && tgid >= 0; n++) {
		int32_t by = ty_model_thread(m, thread)->forked_by;

		if (by < 0)
			return ty_model_thread(m, thread)->ppid == tgid;
		if (ty_model_thread(m, (uint32_t)by)->tgid == tgid)
			return true;
		thread = (uint32_t)by;
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
