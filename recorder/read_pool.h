/* SPDX-License-Identifier: MIT */
/*
 * Threads for reads that can block for long: of files in /proc that need the mmap lock of a
 * process, and of files that may be on an unreachable server. Thread-safe.
 */
#ifndef TY_READ_POOL_H
#define TY_READ_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

struct ty_read_pool;

/* So many that one which is held up delays no other. */
enum { TY_READ_THREADS = 4 };

struct ty_reading {
	uint32_t pid, number;
	uint64_t began_ns;   /* CLOCK_MONOTONIC: what was read holds from then on */
	bool full;	     /* bytes are missing: there were too many */
	struct ty_buf bytes; /* the caller's */
};

/* Fills bytes, and full. */
typedef void ty_read_fn(void *ctx, struct ty_reading *r);

/*
 * threads: how many at most. done: called with ctx when nothing uses it any more; NULL: nothing to
 * do. NULL: out of memory (done was not called).
 */
struct ty_read_pool *ty_read_pool_new(unsigned threads, ty_read_fn *read, void (*done)(void *ctx),
				      void *ctx);
/* Read a process. number: the caller's, to distinguish its readings. false: out of memory. */
bool ty_read_pool_request(struct ty_read_pool *r, uint32_t pid, uint32_t number);
/* One that is read; where none is but one is under way, wait wait_ms at most. false: there is none.
 */
bool ty_read_pool_take(struct ty_read_pool *r, unsigned wait_ms, struct ty_reading *out);
/* How many were requested and not taken. */
size_t ty_read_pool_left(struct ty_read_pool *r);
/* Never waits: threads that are held up keep what they use, and free it. */
void ty_read_pool_free(struct ty_read_pool *r);

#endif
