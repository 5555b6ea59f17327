/* SPDX-License-Identifier: MIT */
/* Which threads' system calls an instance records: set_event_pid. */
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
 * Narrow the instance (which has event-fork on) to all threads of the n processes and of those that
 * descend from them (but this one), those included that are made meanwhile. *family: these
 * processes, as ty_proc_family has them. *sure: every thread was seen in the kernel's list; false:
 * threads came and went faster than they could be listed, some may be missing with all that they
 * make. 0 or -TY_E...; a process that has ended is no error.
 */
int ty_follow_pids(const struct ty_instance *inst, const pid_t *pids, size_t n,
		   ty_proc_pids *family, bool *sure, struct ty_err *err);

/* The threads whose calls the instance records now: the kernel's list, sorted. text: scratch. */
int ty_follow_list(const struct ty_instance *inst, struct ty_buf *text, ty_tids *t,
		   struct ty_err *err);

/* Add these tids to the instance's list. 0 or -TY_E.... */
int ty_follow_tids(const struct ty_instance *inst, const int *tids, size_t n, struct ty_err *err);

#endif
