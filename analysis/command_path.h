/* SPDX-License-Identifier: MIT */
/* The critical path of the traced command: from its exit back to its start (chain.h). */
#ifndef TY_COMMAND_PATH_H
#define TY_COMMAND_PATH_H

#include "chain.h"

/* Within [from, to); *start_ns and *end_ns: the part of its life in it. 0; -TY_ENOTFOUND when no
 * command was traced; -TY_ENOMEM, -TY_EINTR. Call path_fini in any case. */
int ty_command_path(const struct ty_explain *x, uint64_t from_ns, uint64_t to_ns,
		    uint64_t *start_ns, uint64_t *end_ns, struct ty_path *p);

#endif
