/* SPDX-License-Identifier: MIT */
/*
 * The spool: what the recorder writes while it records, and what is left when it dies.
 *
 *   file   = head chunk*
 *   head   = 64 bytes: "TARRYSPL" u32 version(2) u32 page_size u32 long_size u32 0 u64 kept
 *            u32 0...
 *   chunk  = 64-byte struct ty_spool_chunk (little endian), then `stored` bytes of payload
 *
 * The payload of a DATA chunk is a trace.dat v7 compressed chunk, byte for byte (u32 compressed
 * size, u32 raw size, zstd frame), so that finishing is copying. While all CPUs are busy the
 * recorder writes LZ4 blocks instead of zstd frames, a third of the work (flag TY_SPOOL_LZ4);
 * finishing compresses them anew. Chunks lie in any order (writers
 * reserve space by an atomic add, or a short lock where something may be dropped, and write without
 * locks); `seq` orders those of one stream. A
 * reader that meets anything but a valid chunk head at its place searches for the next one: zeros
 * (a reservation that was never written) and torn tails cost at most the chunks that lay there.
 *
 * A spool may drop its oldest data (ty_spool_keep). Then `kept` in the head is the offset of the
 * newest TY_SEC_KEPT chunk, which lists what was dropped on purpose: a range of the file, and for
 * each stream the number of its first chunk that counts. Order of writing: first the chunks of the
 * kept part (TY_SPOOL_LATER), then this chunk; only then is data removed. So a spool is whole at
 * every moment.
 */
#ifndef TY_SPOOL_H
#define TY_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "section.h"

enum ty_spool_type {
	TY_SPOOL_DATA = 1,    /* ring pages; stream = buffer << 16 | cpu */
	TY_SPOOL_SECTION = 2, /* a tarry section; stream = enum ty_section; payload as DATA's */
	TY_SPOOL_META = 3,    /* a v7 metadata text; stream = enum ty_spool_meta */
};

/* Metadata that the finished file holds in standard v7 sections and options. */
enum ty_spool_meta {
	TY_META_HEADER_PAGE = 1,
	TY_META_HEADER_EVENT,
	TY_META_FTRACE_FORMAT, /* one per event: the format text */
	TY_META_EVENT_FORMAT,  /* one per event: "SYSTEM\0" then the format text */
	TY_META_KALLSYMS,
	TY_META_PRINTK,
	TY_META_CMDLINES,
	TY_META_BUFFER,	 /* one per buffer, in order: "NAME\0CLOCK\0" */
	TY_META_CPUSTAT, /* one per buffer and cpu: text of per_cpu/cpuN/stats */
	TY_META_UNAME,
	TY_META_VERSION,
	TY_META_CPUCOUNT,    /* decimal */
	TY_META_TRACE_CLOCK, /* text of the trace_clock file */
};

/* Flags of a chunk. LATER: it counts only once `kept` in the head points past it. */
enum { TY_SPOOL_LZ4 = 1, TY_SPOOL_LATER = 2 };

struct ty_spool_chunk {
	uint32_t magic; /* TY_SPOOL_CHUNK_MAGIC */
	uint16_t type, flags;
	uint32_t stream;
	uint32_t stored;	    /* bytes of payload that follow */
	uint64_t seq;		    /* 0, 1, 2... within (type, stream) */
	uint64_t first_ns, last_ns; /* DATA: time of its first page and of its last */
	uint32_t raw;		    /* bytes before compression */
	uint32_t crc;		    /* crc32 (zlib) of the payload */
	uint32_t pad[3];
	uint32_t head_crc; /* crc32 of the 60 bytes before */
};
_Static_assert(sizeof(struct ty_spool_chunk) == 64, "on disk");

#define TY_SPOOL_MAGIC	     "TARRYSPL"
#define TY_SPOOL_CHUNK_MAGIC 0x4b434754u /* "TGCK" */

/* The writing side. All put functions are thread-safe, and lock-free unless old data may be
 * dropped. */
struct ty_spool;

/*
 * Creates the spool that ty_spool_publish will place at path; an existing file stays until then.
 * Fails when path exists and is neither a regular file nor a link to one, or when another recorder
 * is writing to it.
 */
int ty_spool_create(const char *path, uint32_t page_size, struct ty_spool **out,
		    struct ty_err *err);

/*
 * Places the spool at its path. An old file there is replaced; a symbolic link is replaced itself,
 * never followed. Before that, a recorder that dies leaves nothing behind (or, where the file
 * system does not support unnamed files, tarry-unfinished-XXXXXX in the folder). Further calls have
 * no effect.
 */
int ty_spool_publish(struct ty_spool *s, struct ty_err *err);
/* Removes the spool's file and nothing else. The caller still closes it. */
void ty_spool_discard(struct ty_spool *s);

/*
 * One per writing thread: zstd and LZ4 contexts and output space, allocated (and touched) up front
 * so that the recording path does not allocate.
 */
struct ty_spool_writer;
struct ty_spool_writer *ty_spool_writer_new(struct ty_spool *s, size_t max_raw_bytes);
void ty_spool_writer_free(struct ty_spool_writer *w);

/*
 * Compresses raw bytes and appends them as one chunk. The caller sets type, flags, stream, seq,
 * first_ns and last_ns of `what`. Returns 0. After the first failure (disk full, I/O) every later
 * call fails with the same error, and the file keeps all chunks written before.
 */
int ty_spool_put(struct ty_spool_writer *w, const struct ty_spool_chunk *what, const void *raw,
		 size_t n, struct ty_err *err);
/* Bytes that the last chunk of this writer takes in the file. */
size_t ty_spool_stored(const struct ty_spool_writer *w);

/*
 * ty_spool_put in two steps, for threads that must not wait for the disk or for the file's lock.
 * pack compresses into out (at least ty_spool_packed_max(n) bytes, *len used) and touches no file;
 * append writes the result. Thread-safe; failures as for put.
 */
size_t ty_spool_packed_max(size_t raw_bytes);
int ty_spool_pack(struct ty_spool_writer *w, const struct ty_spool_chunk *what, const void *raw,
		  size_t n, void *out, size_t cap, size_t *len, struct ty_err *err);
int ty_spool_append(struct ty_spool *s, const void *chunk, size_t len, struct ty_err *err);

/* Bytes in the file, excluding dropped data. */
uint64_t ty_spool_bytes(const struct ty_spool *s);
/* Bytes ever written to it. */
uint64_t ty_spool_written(const struct ty_spool *s);

/*
 * Allows dropping from now on. Call it when everything that must stay is in the file; after it only
 * data and sections that supersede each other may be put until the last drop. Fails when the file
 * system cannot free part of a file.
 */
int ty_spool_keep(struct ty_spool *s, struct ty_err *err);

/* A position in the file: data put before it can be dropped. NULL: out of memory. */
struct ty_spool_mark;
struct ty_spool_mark *ty_spool_mark_new(struct ty_spool *s);
void ty_spool_mark_free(struct ty_spool_mark *m);
/* After everything before the mark is dropped, chunks of this stream with smaller numbers do not
 * count, wherever they are in the file. 0 or -TY_ENOMEM. */
int ty_spool_mark_first(struct ty_spool_mark *m, enum ty_spool_type type, uint32_t stream,
			uint64_t seq);

/*
 * Drops the data before the mark and frees its space (w: a writer of s). `text`: "key=value" lines
 * for TY_SEC_KEPT. Marks must be used in the order of their creation. On failure nothing, or
 * nothing more, is dropped: the file stays readable. *begins: the file now begins at the mark (also
 * on failure, when the space could not be freed).
 */
int ty_spool_drop(struct ty_spool_writer *w, struct ty_spool *s, struct ty_spool_mark *m,
		  const char *text, bool *begins, struct ty_err *err);

/*
 * Converts the spool to a finished trace.dat v7 at its own path: written to a second file in the
 * same folder, synced and renamed over it (atomic_file.h). On failure (no space) the spool stays as
 * it is and remains readable.
 */
int ty_spool_finish(struct ty_spool *s, struct ty_err *err);
/*
 * Sets a progress callback (bytes done, total) for ty_spool_finish; called often, from the thread
 * that called ty_spool_finish.
 */
void ty_spool_on_finish(struct ty_spool *s,
			void (*progress)(void *ctx, uint64_t done, uint64_t total), void *ctx);
/* True when the finished file is at its path, even if ty_spool_finish failed to sync it. */
bool ty_spool_is_finished(const struct ty_spool *s);
/* True when the spool's file was removed before it was finished: its content is lost on close. */
bool ty_spool_removed(const struct ty_spool *s);
/* Close without finishing; the file stays. */
void ty_spool_close(struct ty_spool *s);

#endif
