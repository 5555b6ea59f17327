/* SPDX-License-Identifier: MIT */
/*
 * What the readers of the three layouts (v6, v7, spool) share. One file per layout fills a struct
 * ty_trace; trace.c owns it; trace_chunk.c reads the data.
 */
#ifndef TY_TRACE_FILE_H
#define TY_TRACE_FILE_H

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
	uint32_t stored; /* bytes at off, with the chunk head */
	uint32_t raw;	 /* bytes decompressed, as the file says */
	uint32_t crc;
	bool has_crc, missing;
	bool lz4; /* of a spool; else the file's codec */
};

/*
 * Where the data of t->streams.v[i] lies. Either flat pages in the file (chunks are computed), or a
 * list of compressed chunks.
 */
struct ty_stream_data {
	bool flat;
	uint32_t page_size;
	uint32_t flat_pages; /* pages per chunk */
	uint64_t off, bytes; /* flat: whole pages only */
	bool cut;	     /* flat: a last chunk is missing */
	VEC(struct ty_chunk_ent) chunks;
};

struct ty_section_text {
	uint32_t type; /* enum ty_section */
	struct ty_text text;
};

struct ty_trace_private {
	int fd;
	int data_fd;  /* where chunks are, when not in fd: a file of another form; -1 */
	uint8_t *win; /* of every ty_in on the file; the open is single-threaded */
	enum ty_codec codec;
	uint32_t page_size;   /* of the initial header */
	uint64_t spool_kept;  /* of a spool: struct ty_spool_scan's kept */
	uint64_t meta_left;   /* bytes of metadata that may still be held */
	uint64_t unpack_left; /* bytes of v7 sections that may still be decompressed: bounds time */
	uint64_t chunks_all;  /* over all streams, for TY_CHUNKS_MAX */
	uint64_t streams_cut, first_cut;
	ty_trace_progress *tell; /* NULL */
	void *tell_ctx;
	VEC(char *) kept; /* all texts */
	VEC(struct ty_stream_data) data;
	VEC(struct ty_section_text) sections;
	struct ty_buf note;
};

/* A reader of [from, to) of the file. The window is shared: use one at a time. */
struct ty_in ty_trace_in(const struct ty_trace *t, uint64_t from, uint64_t to);

/* Keep a NUL-terminated copy of n bytes read from `in` (bounded by `limit`): 0, -TY_EFORMAT (cut or
 * over the limit; err untouched), -TY_ENOMEM. */
int ty_trace_keep(struct ty_trace *t, struct ty_in *in, uint64_t n, uint64_t limit,
		  struct ty_text *out);
/* The same of n bytes at p (may be NULL when there are none). */
int ty_trace_keep_bytes(struct ty_trace *t, const char *p, size_t n, uint64_t limit,
			struct ty_text *out);
/* The same of a NUL-terminated string of at most 4095 bytes. */
int ty_trace_keep_str(struct ty_trace *t, struct ty_in *in, struct ty_text *out);

/* Add a kept text as content of a tarry section; one that is there already is continued. 0,
 * -TY_EFORMAT (over the budget), -TY_ENOMEM. */
int ty_trace_add_section(struct ty_trace *t, uint32_t type, struct ty_text text);

/* Append one clause to the trace's note. */
void ty_trace_note(struct ty_trace *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "PATH: damaged: WHAT at offset N ...": the sentence for metadata that cannot be read. Passes
 * -TY_ENOMEM (r) through. */
int ty_trace_damaged(struct ty_trace *t, int r, const char *what, uint64_t off, struct ty_err *err);

/* Texts that v6 and v7 hold in the same form. 0, -TY_EFORMAT (err untouched), -TY_ENOMEM. */
int ty_trace_header_info(struct ty_trace *t, struct ty_in *in);
int ty_trace_ftrace_formats(struct ty_trace *t, struct ty_in *in);
int ty_trace_event_formats(struct ty_trace *t, struct ty_in *in);
int ty_trace_sized_text(struct ty_trace *t, struct ty_in *in, unsigned width, struct ty_text *out);
/* One option that is the same in both; options it does not know are ignored. */
int ty_trace_option(struct ty_trace *t, unsigned id, struct ty_in *in, struct ty_err *err);
/* The traced kernel's word size, from the header page's text. */
void ty_trace_find_long_size(struct ty_trace *t);

bool ty_trace_page_size_ok(uint64_t n);

/* Add a stream; data's members are taken over. 0, -TY_ENOMEM, -TY_ELIMIT. */
int ty_trace_add_stream(struct ty_trace *t, uint32_t buffer, uint32_t cpu,
			struct ty_stream_data *data, struct ty_err *err);
/* Add a compressed chunk to d. What its sizes cannot be true is added as missing. 0, -TY_ENOMEM,
 * -TY_ELIMIT (err untouched). */
int ty_trace_add_chunk(struct ty_trace *t, struct ty_stream_data *d, struct ty_chunk_ent c);
/* Describe [off, off + size) as flat pages, clipped to the file. */
int ty_trace_flat(struct ty_trace *t, struct ty_stream_data *d, uint32_t page_size, uint64_t off,
		  uint64_t size, struct ty_err *err);
/* A stream's data is incomplete from off on. */
void ty_trace_cut(struct ty_trace *t, uint64_t off);

/* Decompress src into exactly n bytes of dst: 0, or -TY_EFORMAT / -TY_ENOMEM. Thread-safe. */
int ty_decompress(enum ty_codec codec, const void *src, size_t src_n, void *dst, size_t n);
/* The same with a context that is kept in s. */
int ty_decompress_kept(enum ty_codec codec, const void *src, size_t src_n, void *dst, size_t n,
		       struct ty_chunk_scratch *s);
/* Can `stored` compressed bytes be `raw` bytes at all? Keeps small files from asking for much. */
bool ty_ratio_ok(enum ty_codec codec, uint64_t stored, uint64_t raw);

/* What a chunk is compressed with. */
enum ty_codec ty_chunk_codec(const struct ty_trace *t, const struct ty_chunk_ent *e);

/* What was to be read is no damage: -TY_EIO. */
int ty_trace_dropped(const struct ty_trace *t, struct ty_err *err);

/* The layouts. `in` stands behind the initial header that both have in common. */
int ty_trace_read_v6(struct ty_trace *t, struct ty_in *in, struct ty_err *err);
int ty_trace_read_v7(struct ty_trace *t, struct ty_in *in, struct ty_err *err);
int ty_trace_read_spool(struct ty_trace *t, struct ty_err *err);
int ty_trace_read_perf(struct ty_trace *t, struct ty_err *err);

#endif
