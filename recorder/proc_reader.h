/* SPDX-License-Identifier: MIT */
/*
 * Reads files of processes in /proc that need their mmap lock, by threads of its own: a process
 * whose lock is stuck, or whose files are on an unreachable server, does not delay the others.
 * Thread-safe.
 */
#ifndef TY_PROC_READER_H
#define TY_PROC_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

struct ty_proc_reader;

struct ty_proc_reading {
	uint32_t pid, number;
	uint64_t began_ns;   /* CLOCK_MONOTONIC: what was read holds from then on */
	bool full;	     /* bytes are missing: there were too many */
	struct ty_buf bytes; /* the caller's */
};

/* Fills bytes, and full. proc: the folder. */
typedef void ty_proc_read(const char *proc, struct ty_proc_reading *r);

/* proc: copied, at most 63 bytes. NULL: out of memory. */
struct ty_proc_reader *ty_proc_reader_new(ty_proc_read *read, const char *proc);
/* Read a process. number: the caller's, to tell its readings apart. false: out of memory. */
bool ty_proc_reader_request(struct ty_proc_reader *r, uint32_t pid, uint32_t number);
/* One that is read; where none is but one is under way, wait wait_ms at most. false: there is none.
 */
bool ty_proc_reader_take(struct ty_proc_reader *r, unsigned wait_ms, struct ty_proc_reading *out);
/* How many were requested and not read. */
size_t ty_proc_reader_left(struct ty_proc_reader *r);
/* Never waits: threads that are held up keep what they use, and free it. */
void ty_proc_reader_free(struct ty_proc_reader *r);

#endif
