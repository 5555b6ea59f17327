/* SPDX-License-Identifier: MIT */
/* Which thread released a file's lock that another one tried to take again and again: by the
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

#endif
