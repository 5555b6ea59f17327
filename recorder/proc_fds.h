/* SPDX-License-Identifier: MIT */
/* What the descriptors of processes are that were open before the recording. */
#ifndef TY_PROC_FDS_H
#define TY_PROC_FDS_H

#include <stdbool.h>

#include "buf.h"
#include "err.h"

#define TY_PROC_FDS_MAX 16384 /* descriptors in all; what is left out is told */

/*
 * Append the lines of section.h's TY_SEC_FDS (without its first one) for the processes pids[n].
 * Those of a socket say address and peer, as far as /proc/PID/net has them (of a unix socket the
 * path). Processes and descriptors that vanish meanwhile are left out. before_exec: the processes
 * are about to exec, and what is closed then is left out, too. 0, -TY_ENOMEM or -TY_ELIMIT.
 */
int ty_proc_fds(const int *pids, unsigned n, bool before_exec, struct ty_buf *out,
		struct ty_err *err);

#endif
