/* SPDX-License-Identifier: MIT */
/* Parts of paths that were found before: waits of many threads lead to the same waits. Such a part
 * need not be found again. */
#ifndef TY_PATH_PART_H
#define TY_PATH_PART_H

#include "chain.h"
#include "hash_index.h"

#define TY_PATHS_KEPT 8

struct ty_kept_paths {
	struct ty_kept_path {
		struct ty_path p;
		struct ty_hash_index by_span; /* of its hops */
		size_t found;		      /* hops that were in no kept path */
	} v[TY_PATHS_KEPT];
	size_t bytes; /* limit of all; 0: 128 MB */
};

/*
 * Appends what is behind the thread's wait s, whose last part before to_ns is to be explained: the
 * waits, and the thread's waits before it, each with what is behind it, the last segment first, as
 * chain.c finds them. It ends at the first that is not in the kept path, depends on a wait before
 * them, or began before from_ns, where the window begins. parent: the hop of `out` that depends on
 * them. The number of hops; 0: they are in none, or may differ; -TY_ENOMEM. Cost: their number and
 * segments.
 */
int ty_path_part(const struct ty_kept_paths *k, const struct ty_span *s, uint32_t span,
		 uint64_t from_ns, uint64_t to_ns, uint32_t parent, struct ty_path *out);
/* Keeps a copy of a path, of whose hops so many were found, if it is worth it: in place of the one
 * with the fewest. 0 or -TY_ENOMEM. */
int ty_path_keep(struct ty_kept_paths *k, const struct ty_path *p, size_t found);
void ty_kept_paths_fini(struct ty_kept_paths *k);

#endif
