/* SPDX-License-Identifier: MIT */
/* Executable mappings of a process from /proc/PID/maps, with build ids. */
#ifndef TY_PROC_MAPS_H
#define TY_PROC_MAPS_H

#include <stdint.h>

#include "stack_record.h"

/*
 * Calls `each` for every executable mapping of the process; path: as in /proc, "//anon" when there
 * is none, never longer than PATH_MAX. Returns their number; -1: the process cannot be read.
 */
int ty_proc_maps(int pid, void (*each)(void *ctx, const struct ty_stk_map *m, const char *path),
		 void *ctx);

#endif
