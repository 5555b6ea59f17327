/* SPDX-License-Identifier: MIT */
/* Build ids of mapped files. */
#ifndef TY_BUILD_ID_H
#define TY_BUILD_ID_H

#include <stddef.h>
#include <stdint.h>

/* Reads the GNU build id from the notes of an ELF file; returns its length, 0: none. */
unsigned ty_file_build_id(const char *path, uint8_t id[20]);

/* Build ids that were read, so that each file is read once, by a thread of its own: a file on an
 * unreachable server holds up nothing else. It has the priority of the thread that calls
 * ty_build_ids_put first, which waits for it. One thread at a time. */
struct ty_build_ids;

/* NULL: out of memory. */
struct ty_build_ids *ty_build_ids_new(void);
/*
 * Puts the build id of the mapped file into a PERF_RECORD_MMAP2 (rec[0..n), as much as there is of
 * it; others stay as they are), where the kernel puts it when perf_event_attr.build_id is set; a
 * file that cannot be reached any more, or not within 500 ms: none. That attribute must not be
 * used: from 5.12 to 6.18 at least, the kernel then marks the same mappings as ones with build ids
 * (PERF_RECORD_MISC_MMAP_BUILD_ID, which __perf_event_mmap never takes back) in the rings of all
 * other events too, which have none: what a concurrent `perf record` writes is
 * garbage, and perf 6.1 crashes on it. For the same reason, a mark in our own records is taken
 * off, too.
 */
void ty_build_ids_put(struct ty_build_ids *b, uint8_t *rec, size_t n);
/* Never waits: a thread that is held up keeps what it uses, and frees it. NULL does nothing. */
void ty_build_ids_free(struct ty_build_ids *b);

#endif
