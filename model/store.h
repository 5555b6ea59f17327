/* SPDX-License-Identifier: MIT */
/*
 * Where the model's bytes lie: one range of addresses, filled from its start to its end, never
 * changed again. An offset in the store is an offset in the index file (index_file.h), so that
 * building is writing and opening is mapping.
 *
 * Built: memory is taken by extents of 2 MB (huge pages where there are). With a file, complete
 * extents are written to it by a thread of its own, and beyond the memory budget the file's pages
 * take their place under the same addresses. Opened: the file, mapped. Behind the last byte
 * TY_STORE_GUARD bytes can be read, so that a block's reader need not look where it ends.
 */
#ifndef TY_STORE_H
#define TY_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

#define TY_STORE_GUARD (192u << 10)
#define TY_STORE_HEAD  4096u /* the first bytes: the index file's head; no offset lies there */

struct ty_store_writer;

struct ty_store {
	uint8_t *base;
	uint64_t used;	    /* bytes, the head included */
	uint64_t committed; /* with memory or file behind them */
	uint64_t reserved;  /* addresses */
	uint64_t budget;    /* bytes of memory; UINT64_MAX: no limit */
	uint64_t beside; /* of them taken by what belongs to the store and lies elsewhere as yet */
	bool opened;	 /* a mapped index: nothing is added */
	bool leaving;	 /* ty_store_free shall not take a time that anybody notices */
	int error;	 /* errno of the disk that was to stand in for memory; 0: none failed */
	char place[200]; /* the folder of that file */
	struct ty_store_writer *writer;
};

/* An empty one. NULL: no addresses or no memory. */
struct ty_store *ty_store_new(uint64_t budget_bytes);
/* The index file of `bytes` bytes, to be read; fd may be closed. NULL: cannot be mapped. */
struct ty_store *ty_store_map(int fd, uint64_t bytes);
/* Waits for what is being written, but, counted from ty_store_close_file, not longer than 10 s and
 * the time that it took to fill the store (to do that anew costs no more), and when leaving not
 * longer than a tenth of a second: then what is written is given up. */
void ty_store_free(struct ty_store *s);

/*
 * Room for `bytes`, aligned to 8: its offset, 0 when there is none (out of memory, or over the
 * budget and the file cannot take more). The caller fills it before he asks for more, and may give
 * its end back by lowering `used`.
 */
uint64_t ty_store_alloc(struct ty_store *s, uint64_t bytes);

/* Bytes that lie beside the store until they are added to it, more or fewer than before: they count
 * in its budget. */
void ty_store_beside(struct ty_store *s, uint64_t more, uint64_t less);

/* Why there was no room: when it was for a disk, the sentence in err and -TY_E...; 0: for want of
 * memory. */
int ty_store_why(const struct ty_store *s, struct ty_err *err);

static inline void *ty_store_at(const struct ty_store *s, uint64_t off)
{
	return s->base + off;
}

/*
 * From now on write everything to fd (taken over; opened for reading and writing, O_DIRECT or not),
 * a file in the folder `place`. What cannot be written gives its room on the disk back at once.
 * ty_store_close_file says that nothing more comes: when all is written, done(ctx, fd) is called
 * by the writing thread (ok: false when a write failed), then fd is closed. 0 or -TY_E....
 */
typedef void ty_store_done(void *ctx, int fd, bool ok);
int ty_store_file(struct ty_store *s, int fd, const char *place, ty_store_done *done, void *ctx);
void ty_store_close_file(struct ty_store *s);

/* A checksum of n bytes: every single changed word changes it. Not against malice. */
uint64_t ty_store_hash(const void *p, size_t n);

#endif
