/* SPDX-License-Identifier: MIT */
/*
 * Reads what processes have mapped to be executed, by threads of its own: a process whose mmap lock
 * is stuck, or whose files are on an unreachable server, does not delay the others. Thread-safe.
 */
#ifndef TY_MAP_READER_H
#define TY_MAP_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "stack_record.h"

struct ty_map_reader;

/* As ty_proc_maps. */
typedef int ty_map_read(int pid,
			void (*each)(void *ctx, const struct ty_stk_map *m, const char *path),
			void *ctx);

struct ty_map_reading {
	uint32_t pid, number;
	bool full;	    /* mappings are missing: there were too many */
	struct ty_buf maps; /* struct ty_stk_map and the path with its NUL, each; the caller's */
};

/* NULL: out of memory. */
struct ty_map_reader *ty_map_reader_new(ty_map_read *read);
/* Read a process. number: the caller's, to tell its readings apart. false: out of memory. */
bool ty_map_reader_request(struct ty_map_reader *r, uint32_t pid, uint32_t number);
/* One that is read; where none is but one is under way, wait wait_ms at most. false: there is none.
 */
bool ty_map_reader_take(struct ty_map_reader *r, unsigned wait_ms, struct ty_map_reading *out);
/* How many were requested and not read. */
size_t ty_map_reader_left(struct ty_map_reader *r);
/* Never waits: threads that are held up keep what they use, and free it. */
void ty_map_reader_free(struct ty_map_reader *r);

#endif
