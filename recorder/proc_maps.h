/* SPDX-License-Identifier: MIT */
/* What a process has mapped to be executed, by /proc/PID/maps, with build ids. */
#ifndef TY_PROC_MAPS_H
#define TY_PROC_MAPS_H

#include <stdint.h>

#include "stack_record.h"

/*
 * `each` for every executable mapping of the process; path: as /proc has it, "//anon" where there
 * is none, never longer than PATH_MAX. How many there were; -1: the process cannot be read.
 */
int ty_proc_maps(int pid, void (*each)(void *ctx, const struct ty_stk_map *m, const char *path),
		 void *ctx);

#endif
