/* SPDX-License-Identifier: MIT */
/*
 * Storage of the model: one address range, filled from start to end and never changed again. An
 * offset in the store is an offset in the index file (index_file.h), so that building is writing
 * and opening is mapping.
 *
 * Built: memory is allocated in extents of 2 MB (huge pages where available). With a file, a
 * separate thread writes complete extents to it, and beyond the memory budget the file's pages
 * replace them at the same addresses. Opened: the file, mapped. TY_STORE_GUARD bytes after the last
 * byte are readable, so that a block's reader need not check for the end.
 */
#ifndef TY_STORE_H
#define TY_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

#define TY_STORE_GUARD (192u << 10)
#define TY_STORE_HEAD                                                                              \
	4096u /* the first bytes are the index file's head; no offset refers to them */

struct ty_store_writer;

struct ty_store {
	uint8_t *base;
	uint64_t used;	    /* bytes used, including the head */
	uint64_t committed; /* bytes backed by memory or file */
	uint64_t reserved;  /* size of the address range */
	uint64_t budget;    /* bytes of memory; UINT64_MAX: no limit */
	uint64_t beside;    /* of the budget, used by data outside the store so far */
	bool opened;	    /* a mapped index: read-only */
	bool leaving;	    /* ty_store_free must not cause a noticeable delay */
	int error;	    /* errno of the disk file that extends memory; 0: no failure */
	char place[200];    /* the folder of that file */
	struct ty_store_writer *writer;
};

/* Creates an empty store. NULL: out of addresses or memory. */
struct ty_store *ty_store_new(uint64_t budget_bytes);
/* Maps an index file of `bytes` bytes for reading; fd may be closed. NULL: cannot be mapped. */
struct ty_store *ty_store_map(int fd, uint64_t bytes);
/* Waits for pending writes, but, counted from ty_store_close_file, no longer than 10 s plus the
 * time it took to fill the store (rebuilding costs no more), and when leaving no longer than a
 * tenth of a second; after that the file is abandoned. */
void ty_store_free(struct ty_store *s);

/*
 * Allocates `bytes`, aligned to 8. Returns the offset; 0 when out of memory, or over the budget and
 * the file cannot grow. The caller fills it before the next allocation, and may return its end by
 * lowering `used`.
 */
uint64_t ty_store_alloc(struct ty_store *s, uint64_t bytes);

/* Accounts for bytes outside the store that are to be added to it later: they count towards its
 * budget. */
void ty_store_beside(struct ty_store *s, uint64_t more, uint64_t less);

/* Nothing more is allocated: where the store takes much of a budget, it leaves most of that to
 * others from now on. Waits until the file has what memory gives back. After ty_store_close_file.
 */
void ty_store_filled(struct ty_store *s);

/* Reason of a failed allocation: for a disk failure, sets err and returns -TY_E...; 0: out of
 * memory. */
int ty_store_why(const struct ty_store *s, struct ty_err *err);

static inline void *ty_store_at(const struct ty_store *s, uint64_t off)
{
	return s->base + off;
}

/*
 * Writes everything to fd from now on (takes ownership; opened for reading and writing, O_DIRECT or
 * not), a file in the folder `place`. Data that cannot be written frees its disk space at once.
 * ty_store_close_file ends the input: when all is written, the writing thread calls done(ctx, fd,
 * ok) (ok: false after a failed write), then closes fd. 0 or -TY_E....
 */
typedef void ty_store_done(void *ctx, int fd, bool ok);
int ty_store_file(struct ty_store *s, int fd, const char *place, ty_store_done *done, void *ctx);
void ty_store_close_file(struct ty_store *s);

/* A checksum of n bytes that detects any single changed word. Not cryptographic. */
uint64_t ty_store_hash(const void *p, size_t n);

#endif
