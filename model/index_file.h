/* SPDX-License-Identifier: MIT */
/*
 * The index file: a model's store (or that of memory samples) as it is in memory, with a head in
 * its first 4096 bytes (docs/tarry.dat.5, "INDEX"). Derived from the trace, tied to it, and never
 * trusted: one that does not fit in any respect is as good as none.
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

/* Remove the index files, which are damaged or of a trace that was replaced. */
void ty_index_remove(const char *trace_path);

/* What an index file holds: the end of its name, and its body, which says where in the store
 * everything lies. Another layout is another file. */
struct ty_index_kind {
	const char *suffix;
	uint64_t (*layout)(void);
	size_t body_bytes; /* at most TY_INDEX_BODY_MAX */
};
#define TY_INDEX_BODY_MAX   3072u
#define TY_INDEX_OF_MODEL   "tarry-index"
#define TY_INDEX_OF_SAMPLES "tarry-memory-index"
extern const struct ty_index_kind ty_index_of_model; /* model_index.c */

/* A run of bytes in the store. */
struct ty_index_part {
	uint64_t off, bytes, hash;
};

struct ty_store;
struct ty_index_write;
/* Open one: fills body, then attach takes the store over and says whether it is any good. False:
 * there is none. */
bool ty_index_load(const struct ty_index_kind *kind, const char *trace_path, int trace_fd,
		   void *body, bool (*attach)(void *ctx, struct ty_store *store), void *ctx);
/* Begin to write one for a store that begins to be filled from trace_fd. A trace that changes
 * from here on does not fit it. NULL: there is no place for it, or the trace is no regular file.
 * Freed with the store. */
struct ty_index_write *ty_index_begin(const struct ty_index_kind *kind, struct ty_store *store,
				      const char *trace_path, int trace_fd);
/* The store is complete: the file gets its head and its name when all of it is written, which goes
 * on while it is used (ty_store_free waits for it). Without this call there is none. */
void ty_index_commit(struct ty_index_write *w, struct ty_store *store, const void *body);
void ty_index_commit_model(struct ty_index_write *w, struct ty_model *m);
/* Fill in the hashes of parts of the store. */
void ty_index_seal(struct ty_store *store, struct ty_index_part *parts, size_t n);

#endif
