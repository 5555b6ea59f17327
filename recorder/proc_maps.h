/* SPDX-License-Identifier: MIT */
/* Executable mappings of a process from /proc/PID/maps, with build ids. */
#ifndef TY_PROC_MAPS_H
#define TY_PROC_MAPS_H

#include <stdint.h>

#include "proc_reader.h"
#include "stack_record.h"

/*
 * A ty_proc_read: for every executable mapping struct ty_stk_map, and its path with NUL, as in
 * /proc, "//anon" when there is none, never longer than PATH_MAX.
 */
void ty_proc_maps_read(const char *proc, struct ty_proc_reading *r);

#endif
