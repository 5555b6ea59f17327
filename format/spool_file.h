/* SPDX-License-Identifier: MIT */
/*
 * Shared by the writing side, the finishing and the reading side of the spool: the file's head and
 * the scan for chunk heads. Layout: spool.h.
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
 * Most chunks of one file. Bounds the memory of the chunk tables (72 bytes per chunk present) and
 * keeps the chunk directory (about 50 bytes per chunk) below TY_DAT_SECTION_BYTES. With a chunk per
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
/* The entry of that stream; NULL: all its chunks count. */
struct ty_spool_first *ty_spool_first(const ty_spool_firsts *f, uint32_t type, uint32_t stream);

struct ty_spool_keep;

struct ty_spool {
	int fd;
	char *path;	/* of the output */
	char *name;	/* until it is published: its name, or NULL when it has none */
	bool published; /* placed at path */
	bool finished;	/* the finished file is at path */
	uint32_t page_size;
	_Atomic uint64_t end;	     /* offset of the next chunk */
	_Atomic uint64_t dropped;    /* bytes dropped from the file */
	struct ty_spool_keep *keep;  /* NULL: dropping is not allowed */
	_Atomic uint64_t sync_at_ns; /* time of the next start of writeback */
	_Atomic int failed;	     /* TY_E... of the first failure; 0 */
	atomic_bool err_ready;	     /* err holds the sentence for `failed` */
	struct ty_err err;
	void (*progress)(void *ctx, uint64_t done,
			 uint64_t total); /* progress of finishing; NULL */
	void *progress_ctx;
	_Atomic uint64_t done; /* bytes that finishing has recompressed or copied */
	uint64_t total;
};

/* crc32 of a chunk head's first 60 bytes. */
uint32_t ty_spool_head_crc(const struct ty_spool_chunk *c);
/* True when the head's magic number and checksum are right. */
bool ty_spool_head_valid(const struct ty_spool_chunk *c);

/* Registers a chunk that is about to be written at `end` and advances `end`. Returns its offset;
 * -1: out of memory. */
int64_t ty_spool_keep_place(struct ty_spool *s, const struct ty_spool_chunk *c, size_t len);
void ty_spool_keep_free(struct ty_spool *s);

/* Appends a packed chunk; *off is its offset. 0, or -1 with errno, which is not stored as the
 * spool's failure. */
int ty_spool_write(struct ty_spool *s, const void *chunk, size_t len, uint64_t *off);

/* 0, or the spool's first failure. */
int ty_spool_failed(struct ty_spool *s, struct ty_err *err);

/* A chunk found in a spool: offset of its head. The payload follows the head and is complete. */
struct ty_spool_ent {
	uint64_t off;
	struct ty_spool_chunk h;
};

/*
 * Appends the decompressed content of the chunk and a NUL (not counted) to `to`. 0; -TY_EFORMAT:
 * corrupted; -TY_EIO: cannot be read; -TY_ENOMEM; -TY_ELIMIT: over the limit of `to`. On failure
 * nothing is appended.
 */
int ty_spool_chunk_read(int fd, const struct ty_spool_ent *e, struct ty_buf *to);

struct ty_spool_scan {
	VEC(struct ty_spool_ent) ents; /* by type, stream, seq; one per seq */
	uint32_t torn;		       /* number of incomplete or damaged chunks */
	uint64_t torn_off;	       /* offset of the first one */
	uint64_t torn_bytes;
	uint64_t size;	       /* of the part of the file that was scanned */
	bool too_many;	       /* more than TY_CHUNKS_MAX: the rest was not scanned */
	ty_spool_firsts first; /* intentionally dropped data, ascending; and its range */
	uint64_t dropped_from, dropped_to, kept_off;
	uint64_t kept;	/* value in the head at that time; 0: nothing was dropped */
	bool kept_lost; /* the chunk that it points to is unreadable: an older one is used, or none
			 */
};

/*
 * Finds all whole chunks of a spool of `size` bytes (after its 64-byte head), or more: when data is
 * dropped meanwhile, the scan starts again with the current file. Reads heads only; from a damaged
 * position everything up to the next head. 0, -TY_ENOMEM, -TY_EIO.
 */
int ty_spool_scan(int fd, uint64_t size, const char *path, struct ty_spool_scan *out,
		  struct ty_err *err);
void ty_spool_scan_fini(struct ty_spool_scan *s);
/* True when the recorder, still running, has dropped the data at off since a scan that found
 * `kept`. Costs one read of the head when nothing was dropped since. */
bool ty_spool_dropped(int fd, uint64_t kept, uint64_t off);

/*
 * Parses the TY_SEC_KEPT chunk at off into *out. An incomplete one leaves *out unchanged. 0 or
 * -TY_ENOMEM.
 */
int ty_spool_read_kept(int fd, uint64_t off, uint64_t size, struct ty_spool_scan *out);

/* Reads n bytes at off: n, fewer at the end of the file, or -1 with errno. */
int64_t ty_pread(int fd, void *dst, size_t n, uint64_t off);
/* Sticky error state per thread, so that a reader can check once after many calls: errno and offset
 * of the first ty_pread failure since ty_pread_forget; 0: none. */
void ty_pread_forget(void);
int ty_pread_failed(uint64_t *off);

#endif
