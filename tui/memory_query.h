/* SPDX-License-Identifier: MIT */
/*
 * A filter of memory samples in the form of the timeline's searches: words that all must match, by
 * thread:, process:, tid:, pid:, cpu:, source:, kind:, or without a key a thread, source or kind;
 * and >N: more cycles.
 */
#ifndef TY_MEMORY_QUERY_H
#define TY_MEMORY_QUERY_H

#include "mem_points.h"

#define TY_MEMORY_QUERY_MAX 120 /* bytes of its text, with the end */

struct ty_memory_query;

/* 0, or -TY_E... with a sentence. p is borrowed. */
int ty_memory_query_new(const struct ty_mem_points *p, const char *text,
			struct ty_memory_query **out, struct ty_err *err);
void ty_memory_query_free(struct ty_memory_query *q); /* may be NULL */
const char *ty_memory_query_text(const struct ty_memory_query *q);
bool ty_memory_query_has(const struct ty_memory_query *q, const struct ty_mem_point *o);

const char *ty_memory_kind_name(unsigned kind); /* enum ty_mem_kind */

#endif
