/* SPDX-License-Identifier: MIT */
/* See explain.h. Numbers of socketcall and ipc: include/uapi/linux/net.h and ipc.h. */
#include "explain.h"

#include <string.h>

const char *ty_explain_call(const struct ty_explain *x, uint32_t call, char buf[32])
{
	struct ty_syscall c;

	if (call == TY_NONE)
		return "";
	c = ty_model_syscall(x->m, call);
	return ty_syscall_name(x->arch, c.abi, c.nr, buf);
}

static const char *const carried_by_socketcall[] = {
	[1] = "socket",	   [2] = "bind",	[3] = "connect",     [4] = "listen",
	[5] = "accept",	   [6] = "getsockname", [7] = "getpeername", [8] = "socketpair",
	[9] = "send",	   [10] = "recv",	[11] = "sendto",     [12] = "recvfrom",
	[13] = "shutdown", [14] = "setsockopt", [15] = "getsockopt", [16] = "sendmsg",
	[17] = "recvmsg",  [18] = "accept4",	[19] = "recvmmsg",   [20] = "sendmmsg",
};
static const char *const carried_by_ipc[] = {
	[1] = "semop", [4] = "semtimedop", [11] = "msgsnd", [12] = "msgrcv"};

#define CARRIED(list, i) ((i) < sizeof(list) / sizeof(*(list)) ? (list)[i] : NULL)

const char *ty_explain_deed(const struct ty_explain *x, const struct ty_syscall *c, bool *behind,
			    char buf[32])
{
	const char *name = ty_syscall_name(x->arch, c->abi, c->nr, buf), *carried = NULL;
	static const char *const renamed[][2] = {{"_newselect", "select"},
						 {"fcntl64", "fcntl"},
						 {"sendfile64", "sendfile"},
						 {"sigsuspend", "rt_sigsuspend"}};
	bool sockets = !strcmp(name, "socketcall");
	size_t n = strlen(name);
	uint64_t args[6];

	*behind = false;
	if ((sockets || !strcmp(name, "ipc")) && x->args && !x->args(x->ctx, c, args)) {
		carried = sockets ? CARRIED(carried_by_socketcall, args[0])
				  : CARRIED(carried_by_ipc, args[0] & 0xffff);
		*behind = carried;
		return carried ? carried : name;
	}
	for (size_t i = 0; i < sizeof(renamed) / sizeof(*renamed); i++)
		if (!strcmp(name, renamed[i][0]))
			return renamed[i][1];
	if (n > 7 && n < 32 && !strcmp(name + n - 7, "_time64")) {
		memmove(buf, name, n - 7);
		buf[n - 7] = 0;
		return buf;
	}
	return name;
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
