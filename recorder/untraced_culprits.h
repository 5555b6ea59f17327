/* SPDX-License-Identifier: MIT */
/*
 * Processes that are not traced, but hold up traced ones: what runs on a CPU that a traced thread
 * has waited for in three scans (200 ms), stopped one by ptrace, or sent one a signal
 * that stops or continues it. Their command lines are read (command_lines.h).
 */
#ifndef TY_UNTRACED_CULPRITS_H
#define TY_UNTRACED_CULPRITS_H

#include "call_data.h"
#include "command_lines.h"

struct ty_culprits;

/* Begins at once. cpus: the highest is the last one. NULL: the kernel refuses it, or memory is
 * missing; command lines of such processes are missing then. */
struct ty_culprits *ty_culprits_start(const struct ty_call_data *e,
				      struct ty_command_lines *commands, const unsigned *cpus,
				      unsigned cpus_n);
/* NULL does nothing. */
void ty_culprits_finish(struct ty_culprits *c);

#endif
