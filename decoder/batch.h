/* SPDX-License-Identifier: MIT */
/*
 * A batch: one chunk of one stream, decompressed, and its records as items of one size in file
 * order. The hot kinds (system calls) are decoded into the item; of all others it holds the head,
 * and where the record lies. What was lost or damaged is an item in its place.
 *
 * A chunk with more than TY_BATCH_ITEMS records comes in parts: ty_batch_more makes the next one.
 * Budget: 15 ns per record beside decompression; no allocation once the batch's arrays have grown
 * to the size of the trace's chunks. Batches know nothing of each other: any thread may fill one.
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
#define TY_CHUNK_LIMIT (256u << 20) /* no larger chunk is read */

/* What all batches of a trace need. */
struct ty_batch_source {
	const struct ty_trace *trace;
	const struct ty_formats *formats; /* NULL: heads only */
	struct ty_ring_layout layout;
};

struct ty_batch {
	uint32_t stream, chunk;
	uint32_t page_size, pages, page; /* page: of `it`, or the next one */
	uint64_t first_page;		 /* of the chunk in the stream */
	uint32_t raw_bytes;		 /* of the chunk, as the file says */
	int status;			 /* 0, or a failure that ends reading: see err */
	bool loaded;			 /* else: missing or damaged, no items */
	bool odd;			 /* not whole pages */
	bool whole;			 /* no more parts */
	bool in_page;
	struct ty_ring_page it;
	uint8_t *raw;
	size_t raw_cap;
	struct ty_item *item;
	uint32_t n, cap;
	uint32_t marks; /* of the items: losses and damage */
	struct ty_err err;
	struct ty_batch *next; /* for lists of who holds it */
	bool ready;
};

struct ty_batch *ty_batch_new(void); /* NULL: out of memory */
void ty_batch_free(struct ty_batch *b);

/* Read the chunk's bytes; no items yet. b->status, loaded and odd tell. */
void ty_batch_read(struct ty_batch *b, const struct ty_batch_source *s, uint32_t stream,
		   uint32_t chunk, struct ty_chunk_scratch *scratch);
/* Go to a page: the next ty_batch_more begins there. */
void ty_batch_at_page(struct ty_batch *b, uint32_t page);
/* The next items, replacing those before. b->status: 0 or -TY_ENOMEM. */
void ty_batch_more(struct ty_batch *b, const struct ty_batch_source *s);

/* The record of an item of this batch again. */
struct ty_ring_record ty_batch_record(const struct ty_batch *b, const struct ty_batch_source *s,
				      const struct ty_item *item);

#endif
