/* SPDX-License-Identifier: MIT */
/* Paths of waits that another path passes: a process waits for its child, which waits for its own.
 * Such a path is a part of the longer one, and need not be found again. */
#ifndef TY_PATH_PART_H
#define TY_PATH_PART_H

#include "chain.h"

/* The path of the thread's wait in this span, [from, to), as ty_path_find() would find it, if it is
 * a part of `all`. Replaces the content of out, and reuses its memory. 1: done; 0: it is not, or
 * may differ (cycles); -TY_ENOMEM. Cost: the hops of `all`, and the part's length. */
int ty_path_part(const struct ty_path *all, uint32_t thread, uint32_t span, uint64_t from_ns,
		 uint64_t to_ns, struct ty_path *out);

#endif
