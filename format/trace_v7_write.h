/* SPDX-License-Identifier: MIT */
/* Shared by the two halves of finishing a spool: its metadata (trace_v7_write_meta.c) and the file
 * as a whole (trace_v7_write.c). */
#ifndef TY_TRACE_V7_WRITE_H
#define TY_TRACE_V7_WRITE_H

#include <zstd.h>

#include "buf.h"
#include "spool_file.h"
#include "trace_dat.h"

#define TY_FINISH_LIMIT (4096ull << 20)

/* One CPU of one buffer: its chunks are ents[first .. first + n). */
struct ty_v7_cpu {
	uint32_t buffer, cpu;
	size_t first, n;
	uint64_t off, size; /* in the finished file */
	uint32_t count;	    /* chunks written (empty ones are not) */
};

struct ty_v7_buffer {
	const char *name, *clock; /* in `texts` */
	uint32_t desc;
	uint64_t off, size; /* of the section head; bytes after the head */
};

struct ty_v7 {
	struct ty_spool *spool;
	struct ty_spool_scan scan;
	ZSTD_CCtx *zstd;
	struct ty_buf head;    /* all bytes before the first buffer section */
	struct ty_buf strings; /* STRINGS section being built */
	struct ty_buf raw;     /* one section before compression */
	struct ty_buf z;       /* buffer for copying */
	struct ty_buf texts;   /* decompressed META_BUFFER chunks; sized once, never moved */
	VEC(struct ty_dat_entry) dir;
	VEC(struct ty_v7_buffer) buffers;
	VEC(struct ty_v7_cpu) cpus;
	uint64_t section_off[TY_DAT_CMDLINES + 1]; /* by enum ty_dat_id; 0: not written */
	int fd;					   /* the finished file */
	char *name;				   /* its name until it is placed; NULL: none */
	struct ty_err *err;
};

/*
 * Recompresses the LZ4 chunks of the scan with zstd, as v7 requires, on all CPUs. The new chunks
 * are appended to the spool, and the scan then refers to them. 0; on failure some chunks may have
 * been replaced.
 */
int ty_spool_repack(struct ty_spool *s, struct ty_spool_scan *scan, struct ty_err *err);

bool ty_v7_is_lz4(const struct ty_spool_chunk *h);
/* Reports progress to the caller of ty_spool_finish; only from its thread. */
static inline void ty_v7_progress(const struct ty_spool *s)
{
	if (s->progress)
		s->progress(s->progress_ctx, atomic_load(&s->done), s->total);
}

int ty_v7_no_memory(struct ty_v7 *f);
/* Sets the error for a chunk of the spool that ty_spool_chunk_read refused with r. */
int ty_v7_bad_chunk(const struct ty_spool *s, const struct ty_spool_ent *e, int r,
		    struct ty_err *err);
/* A description's number: its offset in the STRINGS section. */
uint32_t ty_v7_describe(struct ty_v7 *f, const char *text);
/* The chunks of (type, stream) are scan.ents[*first .. *first + *n). */
void ty_v7_find(const struct ty_v7 *f, enum ty_spool_type type, uint32_t stream, size_t *first,
		size_t *n);
/* Appends one chunk, or all of (type, stream), decompressed, to `to`. */
int ty_v7_chunk(struct ty_v7 *f, const struct ty_spool_ent *e, struct ty_buf *to);
int ty_v7_append(struct ty_v7 *f, enum ty_spool_type type, uint32_t stream, struct ty_buf *to);
/* Appends f->raw as one compressed section to f->head, and empties it. */
int ty_v7_section(struct ty_v7 *f, unsigned id, const char *what);
/* The standard metadata sections; tarry's own sections with the chunk directory. */
int ty_v7_metadata(struct ty_v7 *f);
int ty_v7_tarry(struct ty_v7 *f);

#endif
