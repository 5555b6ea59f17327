/* SPDX-License-Identifier: MIT */
/* See batch.h. */
#include "batch.h"

#include <stdlib.h>

struct ty_batch *ty_batch_new(void)
{
	return calloc(1, sizeof(struct ty_batch));
}

void ty_batch_free(struct ty_batch *b)
{
	if (!b)
		return;
	free(b->raw);
	free(b->item);
	free(b);
}

void ty_batch_read(struct ty_batch *b, const struct ty_batch_source *s, uint32_t stream,
		   uint32_t chunk, struct ty_chunk_scratch *scratch)
{
	struct ty_chunk ch = ty_trace_chunk(s->trace, stream, chunk);
	int r;

	b->stream = stream;
	b->chunk = chunk;
	b->page_size = s->trace->buffers.v[s->trace->streams.v[stream].buffer].page_size;
	b->first_page = ch.first_page;
	b->raw_bytes = ch.raw_bytes;
	b->pages = b->n = b->status = 0;
	b->err = (struct ty_err){0};
	b->loaded = b->odd = false;
	ty_batch_at_page(b, 0);
	if (ch.missing || ch.raw_bytes > TY_CHUNK_LIMIT)
		return;
	if (ch.raw_bytes > b->raw_cap || !b->raw) {
		free(b->raw);
		b->raw_cap = ch.raw_bytes ? ch.raw_bytes : 1;
		b->raw = malloc(b->raw_cap);
		if (!b->raw) {
			b->raw_cap = 0;
			b->status = ty_fail(&b->err, TY_ENOMEM, TY_NO_OFFSET,
					    "%s: out of memory for a chunk of %u bytes",
					    s->trace->path, ch.raw_bytes);
			return;
		}
	}
	r = ty_trace_chunk_read(s->trace, stream, chunk, b->raw, scratch, &b->err);
	if (r == -TY_ENOMEM || r == -TY_EIO)
		b->status = r;
	if (r < 0)
		return;
	b->loaded = true;
	b->pages = ch.raw_bytes / b->page_size;
	b->odd = ch.raw_bytes % b->page_size;
	b->whole = !b->pages;
}

void ty_batch_at_page(struct ty_batch *b, uint32_t page)
{
	b->page = page;
	b->in_page = false;
	b->whole = page >= b->pages;
	b->n = b->marks = 0;
}

/* Space for one more item, and for items of loss and damage before it. */
static bool room(struct ty_batch *b)
{
	struct ty_item *p;
	uint32_t cap;

	if (b->n + 3 <= b->cap)
		return true;
	cap = b->cap ? b->cap * 2 : 4096;
	p = realloc(b->item, cap * sizeof(*p));
	if (!p)
		return false;
	b->item = p;
	b->cap = cap;
	return true;
}

static void add_mark(struct ty_batch *b, uint8_t kind, uint64_t val)
{
	b->item[b->n++] = (struct ty_item){.kind = kind, .val = val};
	b->marks++;
}

void ty_batch_more(struct ty_batch *b, const struct ty_batch_source *s)
{
	b->n = b->marks = 0;
	for (;;) {
		int r = 0;

		if (!room(b)) {
			b->status = ty_fail(&b->err, TY_ENOMEM, TY_NO_OFFSET,
					    "%s: out of memory for the records of a chunk of %u "
					    "bytes",
					    s->trace->path, b->raw_bytes);
			return;
		}
		if (b->n >= TY_BATCH_ITEMS)
			return;
		if (!b->in_page) {
			if (b->page >= b->pages)
				break;
			if (ty_ring_page_init(&b->it, &s->layout,
					      b->raw + (size_t)b->page * b->page_size,
					      b->page_size)) {
				add_mark(b, TY_IT_DAMAGED, 0);
				b->page++;
				continue;
			}
			if (b->it.missed)
				add_mark(b, TY_IT_MISSED, b->it.missed);
			b->in_page = true;
		}
		b->n += ty_formats_items(s->formats, &b->it, b->page * b->page_size, b->item + b->n,
					 b->cap - 1 - b->n, &r);
		if (r > 0)
			continue; /* the array is full */
		if (r < 0)
			add_mark(b, TY_IT_DAMAGED, 0);
		b->in_page = false;
		b->page++;
	}
	b->whole = true;
}

struct ty_ring_record ty_batch_record(const struct ty_batch *b, const struct ty_batch_source *s,
				      const struct ty_item *item)
{
	uint32_t page = item->at / b->page_size;

	return ty_ring_page_record(&s->layout, b->raw + (size_t)page * b->page_size,
				   item->at % b->page_size, item->ts_ns);
}
