/* SPDX-License-Identifier: MIT */
/* Maps threads to processes. */
#ifndef TY_PROCESS_OF_THREAD_H
#define TY_PROCESS_OF_THREAD_H

#include <stdint.h>

#include "model.h"

/* Index of the thread that represents its process: the leader at its start, or the thread itself
 * when the leader is unknown. */
uint32_t ty_process_of(const struct ty_model *m, uint32_t thread);

/* The process that made the thread's process, or the thread; of one from before the recording its
 * parent as listed then. TY_NONE: unknown. */
uint32_t ty_process_parent(const struct ty_model *m, uint32_t thread);

struct ty_member {
	uint32_t process; /* ty_process_of */
	uint32_t thread;
};

/* All threads, sorted by process and index. NULL: out of memory. The caller frees it. */
struct ty_member *ty_members_find(const struct ty_model *m);
/* The first member of the process, and their number: *n. */
const struct ty_member *ty_members_of(const struct ty_model *m, const struct ty_member *all,
				      uint32_t process, uint32_t *n);

#endif
