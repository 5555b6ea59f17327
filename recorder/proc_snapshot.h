/* SPDX-License-Identifier: MIT */
/* Snapshot of all threads from /proc, taken while tracing is on so that none is missed. */
#ifndef TY_PROC_SNAPSHOT_H
#define TY_PROC_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"
#include "err.h"
#include "vec.h"

typedef VEC(int) ty_proc_pids;

/* A user-space thread. */
struct ty_proc_task {
	int tid, tgid;
	/* First argument (possibly a descriptor) of the call in which it sleeps; -1: in none. */
	int fd;
};
typedef VEC(struct ty_proc_task) ty_proc_tasks;

/*
 * Appends one line per thread in the format of TY_SEC_THREADS in section.h (except the first line)
 * to out, "TID NAME" lines to names, and user-space threads to tasks. prio is the kernel's (as in
 * sched_switch: 120 is nice 0); the start time has /proc's resolution (a clock tick). Threads that
 * exit meanwhile are left out.
 */
int ty_proc_snapshot(struct ty_buf *out, struct ty_buf *names, ty_proc_tasks *tasks,
		     struct ty_err *err);

/* Appends the tids of all threads of a process to *tids (n, cap grow). 0, -TY_ENOTFOUND when there
 * is no such process. */
int ty_proc_threads(int pid, int **tids, size_t *n, struct ty_err *err);

/*
 * Replaces *family with the given processes, then their descendants, without duplicates;
 * descendants whose parent has exited cannot be found. Excludes the process `but` and its
 * descendants, unless it is given (0: excludes none). 0 or -TY_E....
 */
int ty_proc_family(const int *pids, size_t n, int but, ty_proc_pids *family, struct ty_err *err);

/* The process that tid belongs to; 0 when there is no such thread. */
int ty_proc_tgid(int tid);

/* Number of the current or last system call of a stopped or sleeping thread; -1: unknown. */
long ty_proc_syscall(int tid);

/* True when the comma-separated list contains the word. */
bool ty_in_words(const char *list, const char *word);

#endif
