/* SPDX-License-Identifier: MIT */
/* See syscall_ipc.h. */
#include "syscall_ipc.h"

struct ty_syscall_ipc ty_syscall_ipc(const struct ty_explain *x, const struct ty_syscall *c)
{
	struct ty_syscall_ipc t = {.gives = -1, .takes = -1};
	bool behind;
	const struct ty_sysrow *r = ty_explain_deed(x, c, &behind);

	/* io_uring_enter may as well only wait for earlier requests. */
	if (!r->says || (r->id == TY_SYS_io_uring_enter && c->ret <= 0))
		return t;
	t.says = r->says;
	if (!behind) {
		t.gives = r->gives;
		t.takes = r->takes;
	}
	return t;
}

unsigned ty_syscall_ipc_on(const struct ty_explain *x, const struct ty_syscall *c,
			   const struct ty_syscall_ipc *t, int64_t fd)
{
	const int last = t->gives > t->takes ? t->gives : t->takes;
	uint64_t args[6];
	unsigned says = 0;

	if (last < 0 || ty_explain_args(x, c, (unsigned)last + 1, args))
		return 0;
	if (t->gives >= 0 && (int32_t)args[t->gives] == fd)
		says |= t->says & ~(unsigned)TY_TAKES;
	if (t->takes >= 0 && (int32_t)args[t->takes] == fd)
		says |= t->says & ~(unsigned)TY_GIVES;
	return says;
}
