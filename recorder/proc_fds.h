/* SPDX-License-Identifier: MIT */
/* What the descriptors of processes are that were open before the recording. */
#ifndef TY_PROC_FDS_H
#define TY_PROC_FDS_H

#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "err.h"
#include "proc_snapshot.h"

/* Descriptors in all, and network namespaces of which sockets are named. Of a process that has
 * more than TY_PROC_FDS_COUNTED, older kernels (before 6.2) do not tell how many more in time. */
enum { TY_PROC_FDS_MAX = 16384, TY_PROC_NETS_MAX = 32, TY_PROC_FDS_COUNTED = 2048 };

/*
 * Append the lines of section.h's TY_SEC_FDS (without its first one) for the processes of the n
 * tasks, which are put in order. The descriptors that somebody sleeps in a call for come first,
 * then the processes that have the fewest: what there is no room for is the least. Those of a
 * socket say address and peer, as far as /proc/PID/net has them (of a unix socket the path).
 * budget_ns: of this thread's CPU time for the descriptors that nobody sleeps for, and as much
 * again for the names of sockets; what there is no time for is left out (0: there is no bound).
 * Processes and descriptors that vanish meanwhile are left out. before_exec: of this process, which
 * is about to exec (0: none is), what is closed then is left out, too. *cut: of how many processes
 * the list is not whole. 0, -TY_ENOMEM or -TY_ELIMIT.
 */
int ty_proc_fds(struct ty_proc_task *tasks, size_t n, int before_exec, uint64_t budget_ns,
		struct ty_buf *out, size_t *cut, struct ty_err *err);

#endif
