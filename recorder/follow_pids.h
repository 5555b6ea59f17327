/* SPDX-License-Identifier: MIT */
/* Selects the threads whose system calls an instance records: set_event_pid. */
#ifndef TY_FOLLOW_PIDS_H
#define TY_FOLLOW_PIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "buf.h"
#include "err.h"
#include "proc_snapshot.h"
#include "tracefs.h"
#include "vec.h"

typedef VEC(int) ty_tids;

/*
 * Restricts the instance (with event-fork enabled) to all threads of the n processes and of their
 * descendants (except this process), including those created meanwhile. *family: these processes,
 * as from ty_proc_family. *sure: every thread was seen in the kernel's list; false: threads were
 * created and exited faster than they could be listed, so some may be missing with all their
 * descendants. 0 or -TY_E...; an exited process is not an error.
 */
int ty_follow_pids(const struct ty_instance *inst, const pid_t *pids, size_t n,
		   ty_proc_pids *family, bool *sure, struct ty_err *err);

/* The threads whose calls the instance records now: the kernel's list, sorted. text: scratch. */
int ty_follow_list(const struct ty_instance *inst, struct ty_buf *text, ty_tids *t,
		   struct ty_err *err);

/* Adds these tids to the instance's list. 0 or -TY_E.... */
int ty_follow_tids(const struct ty_instance *inst, const int *tids, size_t n, struct ty_err *err);

#endif
