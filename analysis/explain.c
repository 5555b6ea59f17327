/* SPDX-License-Identifier: MIT */
/* See explain.h. */
#include "explain.h"
#include "err.h"

#include <stdio.h>
#include <string.h>

const char *ty_explain_call(const struct ty_explain *x, uint32_t call, char buf[32])
{
	struct ty_syscall c;

	if (call == TY_NONE)
		return "";
	c = ty_model_syscall(x->m, call);
	return ty_syscall_name(x->arch, c.abi, c.nr, buf);
}

const struct ty_sysrow *ty_explain_row(const struct ty_explain *x, uint32_t call)
{
	uint8_t abi;
	int32_t nr;

	if (call == TY_NONE)
		return ty_syscall_row(NULL, TY_ABI_NATIVE64, -1);
	nr = ty_model_syscall_nr(x->m, ty_model_syscall_thread(x->m, call), call, &abi);
	return ty_syscall_row(x->arch, (enum ty_abi)abi, nr)->as;
}

int ty_explain_args(const struct ty_explain *x, const struct ty_syscall *c, unsigned n,
		    uint64_t args[6])
{
	if (n && x->args_in_model && ty_model_syscall_args(x->m, c, args) >= n)
		return 0;
	return x->args ? x->args(x->ctx, c, args) : -TY_ENOTFOUND;
}

const struct ty_sysrow *ty_explain_deed(const struct ty_explain *x, const struct ty_syscall *c,
					bool *behind)
{
	const struct ty_sysrow *row = ty_syscall_row(x->arch, c->abi, c->nr), *carried = NULL;
	uint64_t args[6];

	*behind = false;
	if ((row->id == TY_SYS_socketcall || row->id == TY_SYS_ipc) &&
	    !ty_explain_args(x, c, 1, args))
		carried = ty_sysrow_carried(row, args[0]);
	*behind = carried;
	return carried ? carried : row->as;
}

bool ty_explain_same_args(const struct ty_explain *x, const struct ty_syscall *a,
			  const struct ty_syscall *b, unsigned n)
{
	uint64_t u[6], v[6];

	return a->nr == b->nr && a->abi == b->abi && !ty_explain_args(x, a, n, u) &&
	       !ty_explain_args(x, b, n, v) && !memcmp(u, v, n * sizeof(*u));
}

uint32_t ty_explain_call_after(const struct ty_model *m, uint32_t thread, uint64_t t_ns)
{
	const struct ty_thread *t = ty_model_thread(m, thread);
	uint32_t i = ty_model_syscall_after(m, thread, t_ns), last;

	if (i != TY_NONE || !t->syscalls_n)
		return i;
	last = t->syscalls_first + t->syscalls_n - 1;
	return ty_model_syscall_brief(m, thread, last).flags & TY_SF_ENDED ? last : TY_NONE;
}

uint32_t ty_explain_main_call(const struct ty_model *m, uint32_t thread, uint64_t from, uint64_t to)
{
	uint32_t i = ty_model_syscall_at(m, thread, from + (to - from) / 2);
	struct ty_syscall c;

	if (i == TY_NONE)
		return TY_NONE;
	c = ty_model_syscall(m, i);
	c.start_ns = c.start_ns > from ? c.start_ns : from;
	c.end_ns = c.end_ns < to ? c.end_ns : to;
	return c.end_ns - c.start_ns > (to - from) / 2 ? i : TY_NONE;
}

const char *ty_explain_disk(const struct ty_explain *x, uint32_t major, uint32_t minor,
			    char buf[TY_DISK_TEXT])
{
	int n = snprintf(buf, TY_DISK_TEXT, "disk ");

	if (!x->disk || !x->disk(x->ctx, major, minor, buf + n, TY_DISK_TEXT - (size_t)n))
		snprintf(buf + n, TY_DISK_TEXT - (size_t)n, "%u:%u", major, minor);
	return buf;
}
