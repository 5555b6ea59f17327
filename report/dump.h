/* SPDX-License-Identifier: MIT */
/* The dumps: one line per item, streamed. 0, or -TY_E... with err. */
#ifndef TY_DUMP_H
#define TY_DUMP_H

#include <stdio.h>

#include "window_select.h"
#include "mem_session.h"

int ty_dump_events(struct ty_session *s, const struct ty_select *sel, const struct ty_window *w,
		   FILE *out, struct ty_err *err);
int ty_dump_syscalls(struct ty_session *s, const struct ty_select *sel, const struct ty_window *w,
		     FILE *out, struct ty_err *err);

/* Stacks of long waits: folded, with microseconds off the CPU; JSON: one by one. With the model. */
int ty_dump_stacks(struct ty_session *s, const struct ty_select *sel, const struct ty_window *w,
		   FILE *out, struct ty_err *err);

/* Regions of user code, in the order of their begins. With the model. */
int ty_dump_regions(struct ty_session *s, const struct ty_select *sel, const struct ty_window *w,
		    FILE *out, struct ty_err *err);

/* Opens its file itself. */
int ty_dump_memory(const char *path, const struct ty_mem_options *o, const struct ty_select *sel,
		   FILE *out, struct ty_err *err);

/* CPU samples with their stacks and branches, of a recording or a perf.data file. Opens its file
 * itself. */
int ty_dump_samples(const char *path, const struct ty_texts *roots, const struct ty_select *sel,
		    FILE *out, struct ty_err *err);

#endif
