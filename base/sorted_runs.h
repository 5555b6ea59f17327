/* SPDX-License-Identifier: MIT */
/*
 * External merge sort of items of fixed size. Items beyond the memory limit are written as sorted
 * runs to an unnamed temporary file (temp_file.h) and merged as they are read. A small set is
 * sorted in memory and touches no file. Budget: a sort, one write and one read per item.
 */
#ifndef TY_SORTED_RUNS_H
#define TY_SORTED_RUNS_H

#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct ty_sorted_runs;

/* `order` compares as for qsort; no two items may be equal. NULL: out of memory. */
struct ty_sorted_runs *ty_sorted_runs_new(size_t item_bytes, uint64_t memory_bytes,
					  int (*order)(const void *, const void *));
void ty_sorted_runs_free(struct ty_sorted_runs *s);
/* Not allowed after a successful rewind. 0 or -TY_E.... */
int ty_sorted_runs_add(struct ty_sorted_runs *s, const void *item, struct ty_err *err);
/* Starts reading at the first item. May be repeated after a failure. 0 or -TY_E.... */
int ty_sorted_runs_rewind(struct ty_sorted_runs *s, struct ty_err *err);
/* After a successful rewind, returns the next item, valid until the next call: 1; 0 at the end;
 * -TY_E.... */
int ty_sorted_runs_next(struct ty_sorted_runs *s, const void **out, struct ty_err *err);

#endif
