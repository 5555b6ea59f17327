/* SPDX-License-Identifier: MIT */
/*
 * Converts events of a file without ring pages into ring pages (layout: decoder/ring_page.h) in
 * compressed chunks of an unnamed file, so that the streams read like those of any other trace.
 */
#ifndef TY_RING_PAGE_WRITER_H
#define TY_RING_PAGE_WRITER_H

#include "trace_file.h"

#define TY_PAGE_OUT_BYTES 16384u /* holds perf's largest record (PERF_MAX_TRACE_SIZE) */

/* Destination of all streams of a trace: t->priv->data_fd. */
struct ty_page_sink {
	struct ty_trace *t;
	uint64_t off;	 /* offset of the next chunk */
	uint64_t pages;	 /* written so far */
	uint64_t bytes;	 /* of records */
	uint64_t losses; /* pages ended early, because a loss can be marked between pages only */
	uint8_t *lz4;
	size_t lz4_cap;
};

/* Creates the file; sets page size and header page of t. 0 or -TY_E.... */
int ty_page_sink_init(struct ty_page_sink *k, struct ty_trace *t, struct ty_err *err);
void ty_page_sink_fini(struct ty_page_sink *k);

/* The stream of one CPU; zero-initialised. */
struct ty_page_writer {
	struct ty_stream_data data;
	uint8_t *raw; /* a chunk's pages */
	uint32_t page, pos,
		end;	      /* the open page, its write position, its end; pos 0: none is open */
	uint64_t ts;	      /* of the last record */
	uint64_t page_missed; /* lost events that the open page states */
	uint64_t missed;      /* events that were lost since the last record */
	uint64_t first_ns;    /* of the chunk */
};

/* Adds a record, not earlier than the previous one of this stream. A record too large for a page
 * counts as lost. 0 or -TY_E.... */
int ty_page_writer_add(struct ty_page_writer *o, struct ty_page_sink *k, uint64_t ts, const void *p,
		       uint32_t n, struct ty_err *err);
/* Flushes, and adds the stream to the trace. 0 or -TY_E.... */
int ty_page_writer_finish(struct ty_page_writer *o, struct ty_page_sink *k, uint32_t cpu,
			  struct ty_err *err);
void ty_page_writer_fini(struct ty_page_writer *o);

#endif
