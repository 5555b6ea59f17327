/* SPDX-License-Identifier: MIT */
/*
 * The holders of file locks that threads wait for, from /proc/locks. Reading it blocks all that
 * lock files, so it is read once a second at most, and only where a wait is long.
 *
 * Times: CLOCK_MONOTONIC.
 */
#ifndef TY_FILE_LOCKS_H
#define TY_FILE_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "stack_record.h"

struct ty_file_locks;

/* NULL: out of memory. */
struct ty_file_locks *ty_file_locks_new(void);
void ty_file_locks_free(struct ty_file_locks *l);
/*
 * The process that took the lock that a thread of `pid` waits for, if it lives (as
 * ty_file_lock_holder); 0: unknown. The thread sleeps since since_ns at least, and did at now_ns:
 * only what was read in that time is about this wait. *read_ns: when it was read; unchanged: not in
 * that time. A long wait has the locks read, which is of use to a later call.
 */
int32_t ty_file_locks_holder(struct ty_file_locks *l, uint32_t pid, bool flock, uint64_t since_ns,
			     uint64_t now_ns, __u64 *inode, uint64_t *read_ns);

#endif
