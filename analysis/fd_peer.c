/* SPDX-License-Identifier: MIT */
/* See fd_peer.h. */
#include "fd_peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process_of_thread.h"

enum { CANDIDATES = 32, FORKS = 16, CALLS = 200000 };

/* An end of a pipe or socket: of a call, or of one that was open before. */
struct end {
	struct ty_fd_maker by; /* arg < 0: of any descriptor of that call; call TY_NONE: before */
	const char *name;
	bool several; /* other processes had it, too */
};

static bool is_alive(const struct ty_model *m, uint32_t process, uint64_t t_ns)
{
	const struct ty_thread *t = ty_model_thread(m, process);

	return t->start_ns <= t_ns && (t_ns < t->end_ns || !t->died);
}

/* process is `of`, or was forked by it, or by what it forked. */
static bool descends(const struct ty_model *m, uint32_t process, uint32_t of)
{
	for (unsigned i = 0; i < FORKS && process != of; i++) {
		const struct ty_thread *t = ty_model_thread(m, process);

		if (!t->born || t->forked_by < 0)
			return false;
		process = ty_process_of(m, (uint32_t)t->forked_by);
	}
	return process == of;
}

static bool holds(const struct end *end, const struct ty_fd_table *table)
{
	for (unsigned fd = 0; fd < TY_FDS; fd++) {
		const struct ty_fd_maker *by = &table->by[fd];

		if (!table->open[fd])
			continue;
		if (end->by.call == TY_NONE
			    ? table->name[fd] && end->name && !strcmp(table->name[fd], end->name)
			    : !table->name[fd] && by->arg >= 0 && by->thread == end->by.thread &&
				      by->call == end->by.call &&
				      (end->by.arg < 0 || by->arg == end->by.arg))
			return true;
	}
	return false;
}

/* Those of `maker` and its descendants that have the end at t, without `own`: how many; *first:
 * one. */
static unsigned holders(const struct ty_explain *x, uint32_t maker, uint32_t own, uint64_t t_ns,
			const struct end *end, struct ty_fd_table *table, uint32_t *first)
{
	uint32_t all = ty_model_summary(x->m)->threads, calls = CALLS;
	unsigned n = 0, tried = 0;

	/* The youngest first: a process that makes an end for others closes it. */
	for (uint32_t i = all; i-- > 0;) {
		if (i == own || ty_process_of(x->m, i) != i || !is_alive(x->m, i, t_ns) ||
		    !descends(x->m, i, maker))
			continue;
		if (++tried > CANDIDATES || !ty_fd_table_at(x, i, t_ns, &calls, table))
			return 0; /* the others may hold it, too */
		if (holds(end, table) && !n++)
			*first = i;
	}
	return n;
}

/* The call in which the thread was at that time, as what made an end; *t_ns becomes its end, where
 * that is later: a connection may be accepted while it is waited on. */
static bool made_by(const struct ty_explain *x, const struct ty_fd_other *o, char access,
		    struct end *end, uint32_t *process, uint64_t *t_ns)
{
	uint32_t thread = ty_model_thread_find(x->m, o->tid ? o->tid : o->pid, o->ns);

	if (thread == TY_NONE)
		return false;
	*process = ty_process_of(x->m, thread);
	*end = (struct end){.by = {.thread = thread, .call = TY_NONE, .arg = -1},
			    .name = o->name,
			    .several = o->several};
	if (o->tid)
		end->by.call = ty_model_syscall_at(x->m, thread, o->ns);
	if (o->tid && o->name && !strncmp(o->name, "pipe:", 5)) /* received: the call made both */
		end->by.arg = access == 'w' ? TY_POINTEE_FD : TY_POINTEE_FD + 1;
	if (end->by.call != TY_NONE) {
		const struct ty_syscall c = ty_model_syscall(x->m, end->by.call);

		*t_ns = c.end_ns > *t_ns ? c.end_ns : *t_ns;
	}
	return !o->tid || end->by.call != TY_NONE;
}

/* The other end of what the descriptor is; false: unknown. */
static bool other_end(const struct ty_explain *x, const struct ty_fd_table *table, uint64_t fd,
		      uint64_t *t_ns, const char *name, char *access, int32_t own, struct end *end,
		      uint32_t *process)
{
	const struct ty_fd_maker *by = &table->by[fd];
	struct ty_fd_other o;

	/* Of pipe and socketpair one call makes both. */
	if (!table->name[fd] && (by->arg == TY_POINTEE_FD || by->arg == TY_POINTEE_FD + 1)) {
		const struct ty_syscall c = ty_model_syscall(x->m, by->call);

		if (ty_syscall_row(x->arch, c.abi, c.nr)->as->fds == TY_FDS_PAIR) {
			*end = (struct end){
				.by = {.thread = by->thread,
				       .call = by->call,
				       .arg = (int8_t)(2 * TY_POINTEE_FD + 1 - by->arg)}};
			*process = ty_process_of(x->m, by->thread);
			*access = by->arg == TY_POINTEE_FD ? 'r' : 'w';
			return true;
		}
	}
	return name && x->fd_other &&
	       x->fd_other(x->ctx, name, *access, *t_ns, own,
			   table->name[fd] || by->call == TY_NONE
				   ? 0
				   : ty_model_tid(x->m, by->thread, *t_ns),
			   &o) &&
	       made_by(x, &o, *access, end, process, t_ns);
}

bool ty_fd_peer(const struct ty_explain *x, const struct ty_fd_table *table, uint32_t thread,
		uint64_t fd, uint64_t t_ns, const char *name, char *access, char out[TY_FD_PEER])
{
	const uint32_t own = ty_process_of(x->m, thread);
	const struct ty_thread *t = ty_model_thread(x->m, own);
	struct ty_fd_table *others;
	uint32_t process, first = TY_NONE;
	char who[TY_WHO_MAX];
	struct end end;
	unsigned n = 0;

	if (!table || fd >= TY_FDS || !table->open[fd] ||
	    !other_end(x, table, fd, &t_ns, name, access, t->tgid > 0 ? t->tgid : t->tid, &end,
		       &process))
		return false;
	others = malloc(sizeof(*others));
	n = others ? holders(x, process, own, t_ns, &end, others, &first) : 0;
	free(others);
	if (!n)
		return false;
	ty_model_who(x->m, first, t_ns, who);
	if (end.several)
		snprintf(out, TY_FD_PEER, "%s and others", who);
	else if (n > 1)
		snprintf(out, TY_FD_PEER, "%s and %u more process%s", who, (n - 1) % 100,
			 n > 2 ? "es" : "");
	else
		snprintf(out, TY_FD_PEER, "%s", who);
	return true;
}
