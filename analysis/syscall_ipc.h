/* SPDX-License-Identifier: MIT */
/* What a system call says between threads: who hands over, takes, asks, answers. */
#ifndef TY_SYSCALL_IPC_H
#define TY_SYSCALL_IPC_H

#include "explain.h"

struct ty_syscall_ipc {
	unsigned says;	     /* enum ty_syscall_ipc_says; 0: nothing */
	int8_t gives, takes; /* the argument with the descriptor that is given to (connected to,
				closed), taken from (accepted at); -1: there is none */
};

/* By the table of system calls, of whatever ABI; and by its result: what handed nothing over says
 * nothing. */
struct ty_syscall_ipc ty_syscall_ipc(const struct ty_explain *x, const struct ty_syscall *c);
/* What it says on the descriptor; 0: nothing, or its arguments are not recorded. */
unsigned ty_syscall_ipc_on(const struct ty_explain *x, const struct ty_syscall *c,
			   const struct ty_syscall_ipc *t, int64_t fd);

#endif
