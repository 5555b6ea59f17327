/* SPDX-License-Identifier: MIT */
/*
 * What the timeline keeps of a recording between two sessions (marks, searches, filters), in the
 * cache folder. The file is named by what the recording is (its times and counts) and by its inode:
 * a recording that was renamed keeps its marks, a copy of it has its own.
 */
#ifndef TY_VIEW_STATE_H
#define TY_VIEW_STATE_H

#include "buf.h"
#include "err.h"
#include "model.h"
#include "trace.h"

#define TY_VIEW_STATE_MAX (64u << 10)

/* Adds what was kept to out; nothing where there is none or it cannot be read. */
void ty_view_state_load(const struct ty_trace *trace, const struct ty_model *m, struct ty_buf *out);
/* Locks what is kept of all recordings, around reading and saving; unlock takes its result. Another
 * process may hold the lock: it is waited for briefly. */
int ty_view_state_lock(void);
void ty_view_state_unlock(int lock);
/* 0 or -TY_E... with a sentence. */
int ty_view_state_save(const struct ty_trace *trace, const struct ty_model *m, const char *text,
		       size_t n, struct ty_err *err);
/* True until the first keys were shown to the user: not_first. */
bool ty_view_state_first(void);
void ty_view_state_not_first(void *ctx); /* ctx: not used */

#endif
