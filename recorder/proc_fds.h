/* SPDX-License-Identifier: MIT */
/* Describes the descriptors of processes that were open before the recording. */
#ifndef TY_PROC_FDS_H
#define TY_PROC_FDS_H

#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "err.h"
#include "proc_snapshot.h"

/* Limits on descriptors in all, and on network namespaces whose sockets are named. For a process
 * with more than TY_PROC_FDS_COUNTED descriptors, older kernels (before 6.2) cannot state the
 * number in time. */
enum { TY_PROC_FDS_MAX = 16384, TY_PROC_NETS_MAX = 32, TY_PROC_FDS_COUNTED = 2048 };

/*
 * Appends the lines of TY_SEC_FDS in section.h (except the first) for the processes of the n tasks,
 * which are sorted. Descriptors on which a thread sleeps in a call come first, then the processes
 * with the fewest, so that the least is left out. A socket has address and peer if /proc/PID/net
 * has them (a unix socket its path). budget_ns: this thread's CPU time for descriptors on which no
 * thread sleeps, and as much again for the names of sockets; the rest is left out (0: no limit).
 * Processes and descriptors that disappear meanwhile are left out. before_exec: this process is
 * about to exec (0: none), so descriptors that the exec closes are left out. *cut: number of
 * processes with an incomplete list. 0, -TY_ENOMEM or -TY_ELIMIT.
 */
int ty_proc_fds(struct ty_proc_task *tasks, size_t n, int before_exec, uint64_t budget_ns,
		struct ty_buf *out, size_t *cut, struct ty_err *err);

#endif
