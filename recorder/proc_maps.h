/* SPDX-License-Identifier: MIT */
/* Executable mappings of a process from /proc/PID/maps, with build ids. */
#ifndef TY_PROC_MAPS_H
#define TY_PROC_MAPS_H

#include <stdint.h>

#include "read_pool.h"
#include "stack_record.h"

/*
 * A ty_read_fn: for every executable mapping struct ty_stk_map, and its path with NUL, as in
 * /proc, "//anon" when there is none, never longer than PATH_MAX.
 */
void ty_proc_maps_read(void *unused, struct ty_reading *r);

#endif
