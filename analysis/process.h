/* SPDX-License-Identifier: MIT */
/* Which process a thread belongs to. */
#ifndef TY_PROCESS_H
#define TY_PROCESS_H

#include <stdint.h>

#include "model.h"

/* The thread index that stands for its process: its leader's as of its begin, or its own where the
 * leader is not known. */
uint32_t ty_process_of(const struct ty_model *m, uint32_t thread);

struct ty_member {
	uint32_t process; /* ty_process_of */
	uint32_t thread;
};

/* All threads, by process and index. NULL: no memory. Free it. */
struct ty_member *ty_members_find(const struct ty_model *m);
/* The first member of the process, and how many there are: *n. */
const struct ty_member *ty_members_of(const struct ty_model *m, const struct ty_member *all,
				      uint32_t process, uint32_t *n);

#endif
