/* SPDX-License-Identifier: MIT */
/*
 * Keeps the newest part of a recording only (record --keep). All functions accept NULL for a
 * recording that keeps everything.
 */
#ifndef TY_KEEP_H
#define TY_KEEP_H

#include <stdint.h>

#include "buf.h"
#include "err.h"
#include "tracefs.h"

struct recording;
struct ty_keep;

/* Call before the readers start: what is in the spool by then stays. r outlives it. */
int ty_keep_new(struct recording *r, struct ty_keep **out, struct ty_err *err);
/* Call when tracing is on. */
void ty_keep_begin(struct ty_keep *k);
void ty_keep_free(struct ty_keep *k);

/* Time of the next check (CLOCK_MONOTONIC). */
uint64_t ty_keep_next_ns(const struct ty_keep *k);
/* Drops data that is too old, or beyond the size limit. After a failure the recording must end,
 * because its size is no longer bounded; the file stays readable. */
int ty_keep_check(struct ty_keep *k, struct ty_err *err);

/* Call after the readers have ended: their last data may exceed the limit. */
int ty_keep_end(struct ty_keep *k, struct ty_err *err);

/* Start of the kept part (trace clock); 0: nothing was dropped. */
uint64_t ty_keep_from_ns(const struct ty_keep *k);
/* Subtracts the counts of instance i on r->cpus[cpu] as of the start of the kept part. */
void ty_keep_less(const struct ty_keep *k, unsigned i, unsigned cpu, struct ty_cpu_stats *st);
/* Prepends the names of threads as of the start of the kept part to the current ones. */
int ty_keep_names(struct ty_keep *k, struct ty_buf *names, struct ty_err *err);

#endif
