/* SPDX-License-Identifier: MIT */
/*
 * Keeping the newest part of a recording only (record --keep). All functions take NULL for a
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

/* Before the readers start: what is in the spool until now stays. r outlives it. */
int ty_keep_new(struct recording *r, struct ty_keep **out, struct ty_err *err);
/* Tracing is on. */
void ty_keep_begin(struct ty_keep *k);
void ty_keep_free(struct ty_keep *k);

/* When to look next (CLOCK_MONOTONIC). */
uint64_t ty_keep_next_ns(const struct ty_keep *k);
/* Drop what is too old, or too much. On failure the recording cannot go on: its room is not
 * bounded any more; what is in the file stays readable. */
int ty_keep_look(struct ty_keep *k, struct ty_err *err);

/* The readers have ended: what they moved last may have made it too much. */
int ty_keep_end(struct ty_keep *k, struct ty_err *err);

/* Where the kept part begins (trace clock); 0: nothing was dropped. */
uint64_t ty_keep_from_ns(const struct ty_keep *k);
/* Take away what the counts of instance i on r->cpus[cpu] were where the kept part begins. */
void ty_keep_less(const struct ty_keep *k, unsigned i, unsigned cpu, struct ty_cpu_stats *st);
/* Names of threads that lived where the kept part begins, put before those of now. */
int ty_keep_names(struct ty_keep *k, struct ty_buf *names, struct ty_err *err);

#endif
