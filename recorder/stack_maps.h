/* SPDX-License-Identifier: MIT */
/*
 * What processes have mapped to be executed, for the stacks of their waits: kept in memory per
 * process, and put into the file (records of TY_SEC_MAPS) once the process has a stack. So short
 * processes that never wait long cost no bytes.
 *
 * A process is known from its exec, from a fork of a known one, or from /proc/PID/maps, which may
 * take long (read_pool.h). What may have been missed is never used: after lost records a process
 * has no mappings until they have been read again.
 *
 * Thread-safe. Times: the trace clock.
 */
#ifndef TY_STACK_MAPS_H
#define TY_STACK_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stack_record.h"

struct ty_stack_maps;

/* Whole records for the file, one call at a time. false: there is no room. */
typedef bool ty_stack_maps_put(void *ctx, const void *records, size_t n);

/* trace_all: each process that execs is known; otherwise those whose ancestors are known or were
 * requested. NULL: out of memory. */
struct ty_stack_maps *ty_stack_maps_new(bool trace_all, ty_stack_maps_put *put, void *ctx);
/* Read what the process has mapped; it held at ns and before. */
void ty_stack_maps_read(struct ty_stack_maps *m, uint32_t pid, uint64_t ns);
/* The process has a stack of that time. */
void ty_stack_maps_need(struct ty_stack_maps *m, uint32_t pid, uint64_t ns);

/* Take over what was read meanwhile. Now and then. */
void ty_stack_maps_take(struct ty_stack_maps *m);

/* What happened, in the order of time. path: path_n bytes, without NUL. */
void ty_stack_maps_mmap(struct ty_stack_maps *m, uint32_t pid, uint64_t ns,
			const struct ty_stk_map *map, const char *path, size_t path_n);
void ty_stack_maps_exec(struct ty_stack_maps *m, uint32_t pid, uint64_t ns);
void ty_stack_maps_fork(struct ty_stack_maps *m, uint32_t parent, uint32_t pid, uint64_t ns);
void ty_stack_maps_exit(struct ty_stack_maps *m, uint32_t pid, uint64_t ns);
/* Of the time between, events are missing. */
void ty_stack_maps_lost(struct ty_stack_maps *m, uint64_t from_ns, uint64_t to_ns);

/* Wait until all is read, wait_ms at most, and free. How many processes could not be read in that
 * time: their readers end with tarry, and put nothing any more. *full: there was no room. */
size_t ty_stack_maps_finish(struct ty_stack_maps *m, unsigned wait_ms, bool *full);

#endif
