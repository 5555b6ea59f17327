/* SPDX-License-Identifier: MIT */
/*
 * The index file: a model's store (or that of memory samples) as it is in memory, with a head in
 * its first 4096 bytes (docs/tarry.dat.5, "INDEX"). Derived from the trace, tied to it, and never
 * trusted: a file that does not match in every respect is ignored.
 *
 * Its path is .NAME.tarry-index beside the trace, when that folder belongs to the user and is
 * writable; otherwise in $XDG_CACHE_HOME/tarry (~/.cache/tarry), named by a hash of the trace's
 * path.
 */
#ifndef TY_INDEX_FILE_H
#define TY_INDEX_FILE_H

#include "model.h"

/* Opens the model from the index file of the trace open as trace_fd: 1, or 0 when no index file
 * matches. */
int ty_index_open(const char *trace_path, int trace_fd, struct ty_model **out);

/* Removes index files that are damaged or belong to a replaced trace. */
void ty_index_remove(const char *trace_path);

/* A kind of index file: its file name suffix, and its body, which locates everything in the store.
 * Another layout needs another kind. */
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
/* Opens an index file: fills body, then calls attach, which takes ownership of the store and
 * validates it. False: there is none. */
bool ty_index_load(const struct ty_index_kind *kind, const char *trace_path, int trace_fd,
		   void *body, bool (*attach)(void *ctx, struct ty_store *store), void *ctx);
/* Starts writing an index file for a store that is being filled from trace_fd. A later change of
 * the trace invalidates it. NULL: there is no writable place, or the trace is not a regular file.
 * Freed with the store. */
struct ty_index_write *ty_index_begin(const struct ty_index_kind *kind, struct ty_store *store,
				      const char *trace_path, int trace_fd);
/* The store is complete: the file gets its head and its name when all of it is written, in the
 * background (ty_store_free waits for that). Without this call no file is created. */
void ty_index_commit(struct ty_index_write *w, struct ty_store *store, const void *body);
void ty_index_commit_model(struct ty_index_write *w, struct ty_model *m);
/* Computes the hashes of parts of the store. */
void ty_index_seal(struct ty_store *store, struct ty_index_part *parts, size_t n);

#endif
