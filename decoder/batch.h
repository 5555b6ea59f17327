/* SPDX-License-Identifier: MIT */
/*
 * A batch: one chunk of one stream, decompressed, with its records as items of one size in file
 * order. The hot kinds (system calls) are decoded into the item; for all others it holds the head
 * and the record's position. Lost or damaged data is an item at its position.
 *
 * A chunk with more than TY_BATCH_ITEMS records comes in parts: ty_batch_more produces the next
 * one. Budget: 15 ns per record besides decompression; no allocation once the batch's arrays have
 * grown to the size of the trace's chunks. Batches are independent: any thread may fill one.
 */
#ifndef TY_BATCH_H
#define TY_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "formats.h"
#include "ring_page.h"
#include "trace.h"

#define TY_BATCH_ITEMS 65536u
#define TY_CHUNK_LIMIT (256u << 20) /* larger chunks are not read */

/* Common input of all batches of a trace. */
struct ty_batch_source {
	const struct ty_trace *trace;
	const struct ty_formats *formats; /* NULL: heads only */
	struct ty_ring_layout layout;
};

struct ty_batch {
	uint32_t stream, chunk;
	uint32_t page_size, pages, page; /* page: of `it`, or the next one */
	uint64_t first_page;		 /* position of the chunk in the stream */
	uint32_t raw_bytes;		 /* of the chunk, as the file says */
	int status;			 /* 0, or a fatal failure: see err */
	bool loaded;			 /* false: missing or damaged, no items */
	bool odd;			 /* incomplete last page */
	bool whole;			 /* no further parts */
	bool in_page;
	struct ty_ring_page it;
	uint8_t *raw;
	size_t raw_cap;
	struct ty_item *item;
	uint32_t n, cap;
	uint32_t marks; /* number of items that are losses or damage */
	struct ty_err err;
	struct ty_batch *next; /* list link for the owner */
	bool ready;
};

struct ty_batch *ty_batch_new(void); /* NULL: out of memory */
void ty_batch_free(struct ty_batch *b);

/* Reads the chunk's bytes; produces no items. Sets b->status, loaded and odd. */
void ty_batch_read(struct ty_batch *b, const struct ty_batch_source *s, uint32_t stream,
		   uint32_t chunk, struct ty_chunk_scratch *scratch);
/* Positions the batch at a page: the next ty_batch_more begins there. */
void ty_batch_at_page(struct ty_batch *b, uint32_t page);
/* Produces the next items, replacing the previous ones. b->status: 0 or -TY_ENOMEM. */
void ty_batch_more(struct ty_batch *b, const struct ty_batch_source *s);

/* Returns the record of an item of this batch. */
struct ty_ring_record ty_batch_record(const struct ty_batch *b, const struct ty_batch_source *s,
				      const struct ty_item *item);

#endif
