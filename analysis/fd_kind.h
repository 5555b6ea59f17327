/* SPDX-License-Identifier: MIT */
/* Resolves file descriptors from the recorded system calls of their process, and those of its
 * parents. */
#ifndef TY_FD_KIND_H
#define TY_FD_KIND_H

#include "fd_replay_table.h"

enum { TY_FD_CALLS = 300000 }; /* of a process, beyond which nothing is known */

/*
 * The kind of descriptor fd of the thread's process at t: from the last call that created it,
 * followed through dup and fork. Results of pipe and socketpair are behind a pointer: they are
 * assumed to be the lowest free descriptors, as POSIX requires, when the open ones are known. For
 * one open before the recording, its name in the snapshot; else NULL. Cost: the calls of the
 * process up to t, with a limit; once for all with x->fd_histories. Use it for findings only.
 */
enum ty_fd_kind ty_fd_kind(const struct ty_explain *x, uint32_t thread, uint64_t fd, uint64_t t_ns,
			   const char **name);

/* All of them, freed by the caller; NULL: unknown. */
struct ty_fd_table *ty_fd_table_new(const struct ty_explain *x, uint32_t thread, uint64_t t_ns);
/* The same. calls: how many calls may have led there, at most; what is left of them. false:
 * unknown.
 */
bool ty_fd_table_at(const struct ty_explain *x, uint32_t thread, uint64_t t_ns, uint32_t *calls,
		    struct ty_fd_table *t);

/* What was found, for x->fd_histories of one thread: takes about so many bytes. NULL: out of
 * memory. */
struct ty_fd_histories *ty_fd_histories_new(size_t bytes);
void ty_fd_histories_free(struct ty_fd_histories *h);

#endif
