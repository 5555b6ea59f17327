/* SPDX-License-Identifier: MIT */
/* What a file descriptor is, as far as the recorded system calls of its process tell. */
#ifndef TY_FDS_H
#define TY_FDS_H

#include "explain.h"

/*
 * What descriptor fd of the thread's process was at t: by the last call that made it, followed
 * through dup and fork. Results of pipe and socketpair lie behind a pointer: they are taken to be
 * the lowest free descriptors, as POSIX demands, where the open ones are known.
 * Where it was open before the recording, its name as it was found then; else NULL.
 * Cost: the calls of the process up to t, or a limit of them; only to be asked for findings.
 */
enum ty_fd_kind ty_fd_kind(const struct ty_explain *x, uint32_t thread, uint64_t fd, uint64_t t_ns,
			   const char **name);

#endif
