/* SPDX-License-Identifier: MIT */
/*
 * Shared by the readers of the three layouts (v6, v7, spool). One file per layout fills a struct
 * ty_trace; trace.c owns it; trace_chunk.c reads the data.
 */
#ifndef TY_TRACE_FILE_H
#define TY_TRACE_FILE_H

#include <pthread.h>

#include "bounded_input.h"
#include "spool_file.h"
#include "trace.h"
#include "trace_dat.h"

enum ty_codec {
	TY_CODEC_NONE,
	TY_CODEC_ZLIB,
	TY_CODEC_ZSTD,
	TY_CODEC_LZ4, /* one block; only in spools */
};

/* One compressed chunk of a stream. */
struct ty_chunk_ent {
	uint64_t off; /* of its v7 chunk head */
	uint64_t first_page;
	uint64_t first_ns, last_ns;
	uint32_t stored; /* bytes at off, including the chunk head */
	uint32_t raw;	 /* decompressed bytes, as the file states */
	uint32_t crc;
	bool has_crc, missing;
	bool lz4; /* compressed with LZ4 (spool); otherwise the file's codec */
};

/*
 * Location of the data of t->streams.v[i]: either uncompressed pages in the file (chunks are
 * computed) or a list of compressed chunks.
 */
struct ty_stream_data {
	bool flat;
	uint32_t page_size;
	uint32_t flat_pages; /* pages per chunk */
	uint64_t off, bytes; /* flat: whole pages only */
	bool cut;	     /* uncompressed: the last chunk is missing */
	VEC(struct ty_chunk_ent) chunks;
};

struct ty_section_text {
	uint32_t type; /* enum ty_section */
	struct ty_text text;
	uint64_t bytes;	      /* of its content, read or not */
	bool later;	      /* text is decompressed on first use, from here (trace_section.c): */
	uint64_t off, stored; /* compressed bytes */
	const void *mapped;   /* then text is a mapped file */
	int failed;	      /* -TY_E...: it could not be read then */
};

struct ty_trace_private {
	int fd;
	int data_fd;  /* file with the chunks when that is not fd (converted files); -1 */
	uint8_t *win; /* window of every ty_in on the file; opening is single-threaded */
	enum ty_codec codec;
	uint32_t page_size;   /* of the initial header */
	uint64_t spool_kept;  /* of a spool: struct ty_spool_scan's kept */
	uint64_t meta_left;   /* remaining budget for metadata in memory */
	uint64_t unpack_left; /* remaining budget for decompressing v7 sections: bounds time */
	uint64_t chunks_all;  /* over all streams, for TY_CHUNKS_MAX */
	uint64_t streams_cut, first_cut;
	ty_trace_progress *progress; /* NULL */
	void *progress_ctx;
	VEC(char *) kept; /* all texts */
	VEC(struct ty_stream_data) data;
	VEC(struct ty_section_text) sections;
	pthread_mutex_t loading; /* a section on first use */
	uint64_t memory_bytes;	 /* ty_trace_memory; 0: no limit */
	struct ty_buf note;
};

/* A reader of [from, to) of the file. The window is shared: use one at a time. */
struct ty_in ty_trace_in(const struct ty_trace *t, uint64_t from, uint64_t to);

/* Keeps a NUL-terminated copy of n bytes read from `in` (bounded by `limit`): 0, -TY_EFORMAT
 * (truncated or over the limit; err untouched), -TY_ENOMEM. */
int ty_trace_keep(struct ty_trace *t, struct ty_in *in, uint64_t n, uint64_t limit,
		  struct ty_text *out);
/* The same for n bytes at p (may be NULL when n is 0). */
int ty_trace_keep_bytes(struct ty_trace *t, const char *p, size_t n, uint64_t limit,
			struct ty_text *out);
/* The same for a NUL-terminated string of at most 4095 bytes. */
int ty_trace_keep_str(struct ty_trace *t, struct ty_in *in, struct ty_text *out);

/* Adds a kept text as content of a tarry section, or appends it to an existing one. 0, -TY_EFORMAT
 * (over the budget), -TY_ENOMEM. */
int ty_trace_add_section(struct ty_trace *t, uint32_t type, struct ty_text text);

/* The same for n bytes that are decompressed when they are first requested, from `stored` bytes at
 * off, which were checked. */
int ty_trace_add_section_later(struct ty_trace *t, uint32_t type, uint64_t n, uint64_t off,
			       uint64_t stored);
void ty_trace_sections_fini(struct ty_trace_private *p);

/* Appends one clause to the trace's note. */
void ty_trace_note(struct ty_trace *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Sets the error for unreadable metadata: "PATH: damaged: WHAT at offset N ...". Passes -TY_ENOMEM
 * (r) through. */
int ty_trace_damaged(struct ty_trace *t, int r, const char *what, uint64_t off, struct ty_err *err);

/* Texts in the form common to v6 and v7. 0, -TY_EFORMAT (err untouched), -TY_ENOMEM. */
int ty_trace_header_info(struct ty_trace *t, struct ty_in *in);
int ty_trace_ftrace_formats(struct ty_trace *t, struct ty_in *in);
int ty_trace_event_formats(struct ty_trace *t, struct ty_in *in);
int ty_trace_sized_text(struct ty_trace *t, struct ty_in *in, unsigned width, struct ty_text *out);
/* Processes one option in the form common to both; unknown options are ignored. */
int ty_trace_option(struct ty_trace *t, unsigned id, struct ty_in *in, struct ty_err *err);
/* Finds the traced kernel's word size in the header page's text. */
void ty_trace_find_long_size(struct ty_trace *t);

bool ty_trace_page_size_ok(uint64_t n);

/* Adds a stream and takes ownership of data's members. 0, -TY_ENOMEM, -TY_ELIMIT. */
int ty_trace_add_stream(struct ty_trace *t, uint32_t buffer, uint32_t cpu,
			struct ty_stream_data *data, struct ty_err *err);
/* Adds a compressed chunk to d. A chunk with impossible sizes is added as missing. 0, -TY_ENOMEM,
 * -TY_ELIMIT (err untouched). */
int ty_trace_add_chunk(struct ty_trace *t, struct ty_stream_data *d, struct ty_chunk_ent c);
/* Describes [off, off + size) as uncompressed pages, clipped to the file. */
int ty_trace_flat(struct ty_trace *t, struct ty_stream_data *d, uint32_t page_size, uint64_t off,
		  uint64_t size, struct ty_err *err);
/* Marks the trace as truncated: a stream's data is incomplete from off on. */
void ty_trace_cut(struct ty_trace *t, uint64_t off);

/* Decompresses src into exactly n bytes of dst: 0, or -TY_EFORMAT / -TY_ENOMEM. Thread-safe. */
int ty_decompress(enum ty_codec codec, const void *src, size_t src_n, void *dst, size_t n);
/* The same with a context cached in s. */
int ty_decompress_kept(enum ty_codec codec, const void *src, size_t src_n, void *dst, size_t n,
		       struct ty_chunk_scratch *s);
/* True when `stored` compressed bytes can decompress to `raw` bytes at all. Keeps small files from
 * demanding much memory. */
bool ty_ratio_ok(enum ty_codec codec, uint64_t stored, uint64_t raw);

/* The codec of a chunk. */
enum ty_codec ty_chunk_codec(const struct ty_trace *t, const struct ty_chunk_ent *e);

/* Reports data that the recorder has dropped meanwhile, which is not damage: -TY_EIO. */
int ty_trace_dropped(const struct ty_trace *t, struct ty_err *err);

/* Readers of the layouts. `in` is positioned after the initial header, which both have in
 * common. */
int ty_trace_read_v6(struct ty_trace *t, struct ty_in *in, struct ty_err *err);
int ty_trace_read_v7(struct ty_trace *t, struct ty_in *in, struct ty_err *err);
int ty_trace_read_spool(struct ty_trace *t, struct ty_err *err);
int ty_trace_read_perf(struct ty_trace *t, struct ty_err *err);

#endif
