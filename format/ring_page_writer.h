/* SPDX-License-Identifier: MIT */
/*
 * Events of a file that has no ring pages, as ring pages (decoder/ring_page.h describes them) in
 * compressed chunks of a nameless file: the streams of a trace like any other's.
 */
#ifndef TY_RING_PAGE_WRITER_H
#define TY_RING_PAGE_WRITER_H

#include "trace_file.h"

#define TY_PAGE_OUT_BYTES 16384u /* holds the largest record of perf's (PERF_MAX_TRACE_SIZE) */

/* Where all streams of a trace go: t->priv->data_fd. */
struct ty_page_sink {
	struct ty_trace *t;
	uint64_t off;	 /* where the next chunk goes */
	uint64_t pages;	 /* written so far */
	uint64_t bytes;	 /* of records */
	uint64_t losses; /* pages that were ended early, for a loss stands between pages only */
	uint8_t *lz4;
	size_t lz4_cap;
};

/* Open the file, set page size and header page of t. 0 or -TY_E.... */
int ty_page_sink_init(struct ty_page_sink *k, struct ty_trace *t, struct ty_err *err);
void ty_page_sink_fini(struct ty_page_sink *k);

/* The stream of one CPU; {0} at first. */
struct ty_page_writer {
	struct ty_stream_data data;
	uint8_t *raw;		 /* a chunk's pages */
	uint32_t page, pos, end; /* the open page, where its next record goes, its end; pos 0: none
				    is open */
	uint64_t ts;		 /* of the last record */
	uint64_t page_missed;	 /* that the open page tells */
	uint64_t missed;	 /* events that were lost since the last record */
	uint64_t first_ns;	 /* of the chunk */
};

/* A record, not earlier than the last one of this stream; what no page can hold counts as lost. 0
 * or -TY_E.... */
int ty_page_writer_add(struct ty_page_writer *o, struct ty_page_sink *k, uint64_t ts, const void *p,
		       uint32_t n, struct ty_err *err);
/* Write what is left, and add the stream to the trace. 0 or -TY_E.... */
int ty_page_writer_finish(struct ty_page_writer *o, struct ty_page_sink *k, uint32_t cpu,
			  struct ty_err *err);
void ty_page_writer_fini(struct ty_page_writer *o);

#endif
