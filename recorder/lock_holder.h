/* SPDX-License-Identifier: MIT */
/*
 * Finds the holder of the lock that a thread waits for: from the words of glibc's locks, of robust
 * and priority-inheriting futexes, and from /proc/locks. A lock that is not certain to be one of
 * these has no holder here. The caller checks that the holder is a living thread of that process.
 */
#ifndef TY_LOCK_HOLDER_H
#define TY_LOCK_HOLDER_H

#include <stddef.h>
#include <stdint.h>

#include "stack_record.h"

/*
 * A thread waits in futex(.., op, val); words: the futex' word and the five behind it.
 * Layouts: glibc's sysdeps/nptl/bits/struct_mutex.h and struct_rwlock.h of x86-64 and
 * AArch64, the same since 2.25. The holder's tid; 0: unknown. *kind: of the lock.
 */
int32_t ty_futex_holder(uint64_t op, uint64_t val, const uint32_t words[6],
			enum ty_lock_kind *kind);

/*
 * The process that took the lock that the process `pid` waits for, by the text of /proc/locks
 * (proc(5)); flock: by flock(2), else by fcntl(2). It may no longer hold it: the lock of an open
 * file is inherited with the file. 0: none, or several threads of `pid` wait, which the text does
 * not distinguish. *inode: the file's.
 */
int32_t ty_file_lock_holder(const char *locks, int32_t pid, int flock, __u64 *inode);

#endif
