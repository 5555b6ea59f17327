/* SPDX-License-Identifier: MIT */
/* Build ids of mapped files. */
#ifndef TY_BUILD_ID_H
#define TY_BUILD_ID_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "pair_map.h"
#include "vec.h"

/* Reads the GNU build id from the notes of an ELF file; returns its length, 0: none. */
unsigned ty_file_build_id(const char *path, uint8_t id[20]);

struct ty_known_id {
	struct timespec changed; /* ctime of the file */
	uint8_t id[20], n;
};

/* Build ids that were read, so that each file is read once. Zeroed: empty. */
struct ty_build_ids {
	struct ty_pair_map by_file; /* device and inode: index */
	VEC(struct ty_known_id) ids;
};

/*
 * Puts the build id of the mapped file into a PERF_RECORD_MMAP2 (rec[0..n), as much as there is of
 * it; others stay as they are), where the kernel puts it when perf_event_attr.build_id is set; a
 * file that cannot be reached any more: none. That attribute must not be used: from 5.12 to 6.18 at
 * least, the kernel then marks the same mappings as ones with build ids
 * (PERF_RECORD_MISC_MMAP_BUILD_ID, which __perf_event_mmap never takes back) in the rings of all
 * other events too, which have none: what a concurrent `perf record` writes is
 * garbage, and perf 6.1 crashes on it. For the same reason, a mark in our own records is taken
 * off, too.
 */
void ty_build_ids_put(struct ty_build_ids *b, uint8_t *rec, size_t n);
void ty_build_ids_fini(struct ty_build_ids *b);

#endif
