/* SPDX-License-Identifier: MIT */
/* The critical path of the traced command: from its exit back to its start (chain.h). */
#ifndef TY_COMMAND_PATH_H
#define TY_COMMAND_PATH_H

#include "chain.h"

/* Of the path from the command's exit what lies within [from, to); *start_ns and *end_ns: the part
 * of its life in it. 0; -TY_ENOTFOUND when no command was traced; -TY_ENOMEM, -TY_EINTR. Call
 * path_fini in any case. */
int ty_command_path(const struct ty_explain *x, uint64_t from_ns, uint64_t to_ns,
		    uint64_t *start_ns, uint64_t *end_ns, struct ty_path *p);

/* How long the command ran in all, also outside of an exported part. 0: no command;
 * TY_COMMAND_UNKNOWN: the file does not hold all of it, and does not say. */
uint64_t ty_command_ns(const struct ty_explain *x);

/* The thread that the path lies on just before an instant of its life; 0: unknown. */
int32_t ty_command_path_at(const struct ty_explain *x, uint64_t at_ns, bool *inferred);

#endif
