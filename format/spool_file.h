/* SPDX-License-Identifier: MIT */
/*
 * What the writing side, the finishing and the reading side of the spool share: the file's head and
 * the scan for chunk heads. The layout is told in spool.h.
 */
#ifndef TY_SPOOL_FILE_H
#define TY_SPOOL_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "buf.h"
#include "err.h"
#include "spool.h"
#include "vec.h"

#define TY_SPOOL_VERSION 2

/* u32 compressed size, u32 raw size before the compressed bytes (trace-cmd.dat.v7(5), COMPRESSION
 * FORMAT). */
#define TY_V7_CHUNK_HEAD 8
/* Most bytes one chunk may hold decompressed. */
#define TY_CHUNK_RAW_MAX (256u << 20)
/*
 * Most chunks of one file: bounds the memory of the chunk tables (72 bytes per chunk that is there)
 * and keeps the chunk directory, some 50 bytes each, below TY_DAT_SECTION_BYTES. With a chunk per
 * second on each of 64 CPUs and two buffers that is 36 hours; below 8 chunks per second, weeks.
 */
#define TY_CHUNKS_MAX (16u << 20)

struct ty_spool_head {
	char magic[8];
	uint32_t version, page_size, long_size;
	uint32_t pad;
	uint64_t kept; /* offset of the newest TY_SEC_KEPT chunk; 0: nothing was dropped */
	uint32_t pad2[8];
};
_Static_assert(sizeof(struct ty_spool_head) == 64, "on disk");

/* Chunks of a stream that are numbered below seq do not count. */
struct ty_spool_first {
	uint32_t type, stream;
	uint64_t seq;
};
typedef VEC(struct ty_spool_first) ty_spool_firsts;
/* Of that stream; NULL: no chunk of it is left out. */
struct ty_spool_first *ty_spool_first(const ty_spool_firsts *f, uint32_t type, uint32_t stream);

struct ty_spool_keep;

struct ty_spool {
	int fd;
	char *path;	/* of the output */
	char *name;	/* until it is published: its name, or NULL when it has none */
	bool published; /* it is at path */
	bool finished;	/* what it has become is at path */
	uint32_t page_size;
	_Atomic uint64_t end;	     /* where the next chunk goes */
	_Atomic uint64_t dropped;    /* bytes that are not in the file any more */
	struct ty_spool_keep *keep;  /* NULL: nothing is ever dropped */
	_Atomic uint64_t sync_at_ns; /* when writeback is started again */
	_Atomic int failed;	     /* TY_E... of the first failure; 0 */
	atomic_bool err_ready;	     /* err holds the sentence that belongs to failed */
	struct ty_err err;
	void (*tell)(void *ctx, uint64_t done, uint64_t total); /* of finishing; NULL */
	void *tell_ctx;
	_Atomic uint64_t done; /* bytes that finishing has compressed anew or copied */
	uint64_t total;
};

/* crc32 of a chunk head's first 60 bytes. */
uint32_t ty_spool_head_crc(const struct ty_spool_chunk *c);
/* Is it the head of a chunk, as it was written? */
bool ty_spool_head_valid(const struct ty_spool_chunk *c);

/* Take note of a chunk that is about to be written at `end`, which moves on: its place; -1: out of
 * memory. */
int64_t ty_spool_keep_place(struct ty_spool *s, const struct ty_spool_chunk *c, size_t len);
void ty_spool_keep_free(struct ty_spool *s);

/* Append a packed chunk, *off is its place: 0 or -1 with errno, which is not kept as the spool's.
 */
int ty_spool_write(struct ty_spool *s, const void *chunk, size_t len, uint64_t *off);

/* 0, or the spool's first failure. */
int ty_spool_failed(struct ty_spool *s, struct ty_err *err);

/* A chunk found in a spool: where its head lies. Its payload follows the head and lies whole in the
 * file. */
struct ty_spool_ent {
	uint64_t off;
	struct ty_spool_chunk h;
};

/*
 * Append what the chunk holds, decompressed, to `to` (behind which a NUL stands). 0; -TY_EFORMAT:
 * it is not what was written; -TY_EIO: it cannot be read; -TY_ENOMEM; -TY_ELIMIT: over the limit of
 * `to`. On failure nothing is appended.
 */
int ty_spool_chunk_read(int fd, const struct ty_spool_ent *e, struct ty_buf *to);

struct ty_spool_scan {
	VEC(struct ty_spool_ent) ents; /* by type, stream, seq; one per seq */
	uint32_t torn;		       /* places where a chunk should have been but was not whole */
	uint64_t torn_off;	       /* the first of them */
	uint64_t torn_bytes;
	uint64_t size;	       /* of the file, as far as it was looked at */
	bool too_many;	       /* more than TY_CHUNKS_MAX: the rest was not looked at */
	ty_spool_firsts first; /* what was dropped on purpose, in order; and where it lay */
	uint64_t dropped_from, dropped_to, kept_off;
	uint64_t kept;	/* what the head said then; 0: nothing was dropped */
	bool kept_lost; /* what it points to does not read: an older one was taken, or none */
};

/*
 * Find all whole chunks of a spool of `size` bytes (behind its 64-byte head), or more: when
 * something was dropped meanwhile, the file is looked at anew as it is then. Reads heads only, but
 * where a place is torn everything up to the next head. 0, -TY_ENOMEM, -TY_EIO.
 */
int ty_spool_scan(int fd, uint64_t size, const char *path, struct ty_spool_scan *out,
		  struct ty_err *err);
void ty_spool_scan_fini(struct ty_spool_scan *s);
/* Of what a scan found then, whose `kept` it was: has the recorder, which still runs, dropped what
 * lay at off? Where it has dropped nothing since, that costs one look at the head. */
bool ty_spool_dropped(int fd, uint64_t kept, uint64_t off);

/*
 * What the newest TY_SEC_KEPT chunk, at off, says, into *out. One that is not whole says nothing. 0
 * or -TY_ENOMEM.
 */
int ty_spool_read_kept(int fd, uint64_t off, uint64_t size, struct ty_spool_scan *out);

/* Write all n bytes at off: 0 or -1 with errno. */
int ty_pwrite(int fd, const void *p, size_t n, uint64_t off);
/* Read n bytes at off: n, fewer at the end of the file, or -1 with errno. */
int64_t ty_pread(int fd, void *dst, size_t n, uint64_t off);
/* For whoever reads much and asks once: did a ty_pread of this thread fail since it forgot? Its
 * errno and offset; 0: none. */
void ty_pread_forget(void);
int ty_pread_failed(uint64_t *off);

#endif
