/* SPDX-License-Identifier: MIT */
/* Who lives: /proc as text, taken while tracing is on so that no thread falls in between. */
#ifndef TY_PROC_SNAPSHOT_H
#define TY_PROC_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"
#include "err.h"
#include "vec.h"

typedef VEC(int) ty_proc_pids;

/* A thread of user mode. */
struct ty_proc_task {
	int tid, tgid;
	/* It sleeps in a call whose first argument is this number, of a descriptor perhaps; -1: in
	 * none. */
	int fd;
};
typedef VEC(struct ty_proc_task) ty_proc_tasks;

/*
 * Append one line per thread as section.h says for TY_SEC_THREADS (without its first line) to out,
 * "TID NAME" lines to names, and those of user mode to tasks. prio is the kernel's (as in
 * sched_switch: 120 is nice 0); the start time is as coarse as /proc's (a clock tick). Threads that
 * vanish meanwhile are left out.
 */
int ty_proc_snapshot(struct ty_buf *out, struct ty_buf *names, ty_proc_tasks *tasks,
		     struct ty_err *err);

/* Append the tids of all threads of a process to *tids (n, cap grow). 0, -TY_ENOTFOUND when there
 * is no such process. */
int ty_proc_threads(int pid, int **tids, size_t *n, struct ty_err *err);

/*
 * The processes given and then those that descend from them, each once, in place of what was in
 * *family; those whose parent has ended belong to somebody else. Without the process `but` and what
 * descends from it, unless it is given (0: nobody is left out). 0 or -TY_E....
 */
int ty_proc_family(const int *pids, size_t n, int but, ty_proc_pids *family, struct ty_err *err);

/* The process that tid belongs to; 0 when there is no such thread. */
int ty_proc_tgid(int tid);

/* The number of the system call that a stopped or sleeping thread is in, or was in last; -1: not
 * known. */
long ty_proc_syscall(int tid);

/* Does the comma-separated list have the word? */
bool ty_in_words(const char *list, const char *word);

#endif
