/* SPDX-License-Identifier: MIT */
/* Who lives: /proc as text, taken while tracing is on so that no thread falls in between. */
#ifndef TY_PROC_SNAPSHOT_H
#define TY_PROC_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"
#include "err.h"

/*
 * Append one line per thread as section.h says for TY_SEC_THREADS (without its first line) to out,
 * and "TID NAME" lines to names. prio is the kernel's (as in sched_switch: 120 is nice 0); the
 * start time is as coarse as /proc's (a clock tick). Threads that vanish meanwhile are left out.
 */
int ty_proc_snapshot(struct ty_buf *out, struct ty_buf *names, struct ty_err *err);

/* Append the tids of all threads of a process to *tids (n, cap grow). 0, -TY_ENOTFOUND when there
 * is no such process. */
int ty_proc_threads(int pid, int **tids, size_t *n, struct ty_err *err);

/* Append pid and the processes that descend from it to *pids (n, cap grow); those whose parent has
 * ended belong to somebody else. */
int ty_proc_family(int pid, int **pids, size_t *n, struct ty_err *err);

/* The process that tid belongs to; 0 when there is no such thread. */
int ty_proc_tgid(int tid);

/* Does the comma-separated list have the word? */
bool ty_in_words(const char *list, const char *word);

#endif
