/* SPDX-License-Identifier: MIT */
/* Resolves file descriptors from the recorded system calls of their process. */
#ifndef TY_FD_KIND_H
#define TY_FD_KIND_H

#include "explain.h"

/*
 * The kind of descriptor fd of the thread's process at t: from the last call that created it,
 * followed through dup and fork. Results of pipe and socketpair are behind a pointer: they are
 * assumed to be the lowest free descriptors, as POSIX requires, when the open ones are known. For
 * one open before the recording, its name in the snapshot; else NULL. Cost: the calls of the
 * process up to t, with a limit; use it for findings only.
 */
enum ty_fd_kind ty_fd_kind(const struct ty_explain *x, uint32_t thread, uint64_t fd, uint64_t t_ns,
			   const char **name);

#endif
