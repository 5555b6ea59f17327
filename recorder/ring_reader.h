/* SPDX-License-Identifier: MIT */
/*
 * Ring to spool: one reader thread per CPU moves whole pages of all instances into memory slots,
 * compressor threads convert slots to chunks. Budget: ring_reader.c.
 */
#ifndef TY_RING_READER_H
#define TY_RING_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "spool.h"
#include "tracefs.h"

enum { TY_READER_INSTANCES = 2 };
/* An event is in the file at most so long after it happened (two flushes), unless the disk stands
 * still: what a kill -9 of the recorder may cost. */
enum { TY_READER_LATE_MS = 2000 };

struct ty_readers;

/*
 * Opens trace_pipe_raw of every CPU of the n instances (index = the file's buffer number; pages of
 * one size, at most 64 KB), touches all memory and starts the threads. `stop_fd`: an eventfd that
 * is written once when the spool fails, so that the caller's poll returns; borrowed.
 * slot_budget_bytes bounds the slots of all CPUs together.
 */
int ty_readers_start(struct ty_readers **out, const struct ty_instance *const *inst, unsigned n,
		     struct ty_spool *spool, uint64_t slot_budget_bytes, int stop_fd,
		     struct ty_err *err);

/*
 * Call after tracing is off: moves the remaining data including partial pages, compresses it at
 * normal priority on all CPUs, ends the threads, closes the files of the instances. 0, or the first
 * failure of the spool.
 */
int ty_readers_finish(struct ty_readers *rs, struct ty_err *err);
void ty_readers_free(struct ty_readers *rs);

/* Bytes of ring pages moved so far. */
uint64_t ty_readers_raw_bytes(const struct ty_readers *rs);
/* True when the kernel refused the readers a higher priority. (Loss is then more likely while CPUs
 * are busy.) */
bool ty_readers_no_nice(const struct ty_readers *rs);

#endif
