/* SPDX-License-Identifier: MIT */
/*
 * Items of one size put in order, however many: what does not fit the memory that they may take
 * lies in sorted runs in a file without a name (temp_file.h), which are merged as they are read.
 * Few are sorted in place and touch no file. Budget: a sort, one write and one read per item.
 */
#ifndef TY_SORTED_RUNS_H
#define TY_SORTED_RUNS_H

#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct ty_sorted_runs;

/* order: as qsort's, of items no two of which are equal. NULL: out of memory. */
struct ty_sorted_runs *ty_sorted_runs_new(size_t item_bytes, uint64_t memory_bytes,
					  int (*order)(const void *, const void *));
void ty_sorted_runs_free(struct ty_sorted_runs *s);
/* Not behind the first rewind that did not fail. 0 or -TY_E.... */
int ty_sorted_runs_add(struct ty_sorted_runs *s, const void *item, struct ty_err *err);
/* Read from the first one on; what failed may be tried again. 0 or -TY_E.... */
int ty_sorted_runs_rewind(struct ty_sorted_runs *s, struct ty_err *err);
/* Behind a rewind that did not fail, the next one, valid until the next call: 1; 0: there is none;
 * -TY_E.... */
int ty_sorted_runs_next(struct ty_sorted_runs *s, const void **out, struct ty_err *err);

#endif
