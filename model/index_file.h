/* SPDX-License-Identifier: MIT */
/*
 * The index file: a model's store as it is in memory, with a head in its first 4096 bytes
 * (docs/tarry.dat.5, "INDEX"). Derived from the trace, tied to it, and never trusted: one that does
 * not fit in any respect is as good as none.
 *
 * It lies beside the trace as .NAME.tarry-index, where the folder is ours and can be written to;
 * else in $XDG_CACHE_HOME/tarry (~/.cache/tarry) under a number made from the trace's path.
 */
#ifndef TY_INDEX_FILE_H
#define TY_INDEX_FILE_H

#include "model.h"

/* The model of the index file of the trace that is open as trace_fd: 1, or 0 when there is none
 * that fits. */
int ty_index_open(const char *trace_path, int trace_fd, struct ty_model **out);

/* Remove the index file, which is damaged or of a trace that was replaced. */
void ty_index_remove(const char *trace_path);

struct ty_store;
struct ty_index_write;
/* Begin to write one for a store that begins to be filled from trace_fd. A trace that changes
 * from here on does not fit it. NULL: there is no place for it, or the trace is no regular file.
 * Freed with the store. */
struct ty_index_write *ty_index_begin(struct ty_store *store, const char *trace_path, int trace_fd);
/* The model is finished: the file gets its head and its name when all of it is written, which goes
 * on while the model is used (ty_model_free waits for it). Without this call there is none. */
void ty_index_commit(struct ty_index_write *w, struct ty_model *m);

#endif
