/* SPDX-License-Identifier: MIT */
/* Communication by system calls: what a call sends to, or receives from, another thread. */
#ifndef TY_SYSCALL_IPC_H
#define TY_SYSCALL_IPC_H

#include "explain.h"

struct ty_syscall_ipc {
	unsigned says;	     /* enum ty_syscall_ipc_says; 0: none */
	int8_t gives, takes; /* index of the argument with the descriptor sent to (connected,
			      * closed), received from (accepted on); -1: none */
};

/* From the table of system calls for any ABI, and the call's result: a call without effect has
 * none. */
struct ty_syscall_ipc ty_syscall_ipc(const struct ty_explain *x, const struct ty_syscall *c);
/* The same for one descriptor; 0: none, or its arguments are not recorded. */
unsigned ty_syscall_ipc_on(const struct ty_explain *x, const struct ty_syscall *c,
			   const struct ty_syscall_ipc *t, int64_t fd);

#endif
