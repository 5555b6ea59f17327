/* SPDX-License-Identifier: MIT */
/* Which thread released a file's lock that another one repeatedly tried to take: by the
 * kernel's events of file locks, which are recorded of all processes. */
#ifndef TY_FILE_LOCK_RELEASE_H
#define TY_FILE_LOCK_RELEASE_H

#include "explain.h"

struct ty_release {
	uint32_t thread; /* TY_NONE: not known */
	uint64_t ts_ns;
};

/*
 * The last release, by another process, of a lock on the file for which an attempt of the thread
 * failed first in [from, to]. Which part of the file was locked is not compared: inferred. Cost:
 * the points of that time, twice.
 */
struct ty_release ty_file_lock_release(const struct ty_explain *x, uint32_t thread,
				       uint64_t from_ns, uint64_t to_ns);
/*
 * The same of what the call `failed` tried to get, and the later call `got` did get: of a file that
 * must not exist yet, too, and by the calls of threads between the two where the kernel's events
 * are not recorded: unlocks first, then closes, or what removes a file of that name. *left: so many
 * calls may be looked up yet. Cost: 256 calls of each thread.
 */
#define TY_RELEASE_LOOKS 1024
struct ty_release ty_polled_release(const struct ty_explain *x, uint32_t failed, uint32_t got,
				    unsigned *left);

#endif
