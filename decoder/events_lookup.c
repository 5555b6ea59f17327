/* SPDX-License-Identifier: MIT */
/* One record again, by its place in the file: the chunks of the latest look-ups are kept. */
#include <string.h>

#include "events_priv.h"

/* A chunk by page number: of the lookup cache, read when it is not there. NULL: not found. */
static struct ty_lookup *find_page(struct ty_events *es, uint32_t stream, uint64_t page,
				   struct ty_err *err)
{
	uint32_t lo = 0, hi = es->cursors[stream].chunks, page_size = es->cursors[stream].page_size;
	struct ty_lookup *old = &es->lookup[0];
	struct ty_chunk ch;

	for (unsigned i = 0; i < TY_LOOKUPS; i++) {
		struct ty_lookup *l = &es->lookup[i];

		if (l->batch && l->stream == stream && page >= l->first_page &&
		    page - l->first_page < l->pages) {
			l->used = ++es->tick;
			return l;
		}
		if (l->used < old->used)
			old = l;
	}
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (ty_trace_chunk(es->trace, stream, mid).first_page <= page)
			lo = mid;
		else
			hi = mid;
	}
	if (lo >= hi)
		return NULL;
	ch = ty_trace_chunk(es->trace, stream, lo);
	old->pages = 0;
	if (!old->batch)
		old->batch = ty_batch_new();
	if (!old->batch || page < ch.first_page || page - ch.first_page >= ch.raw_bytes / page_size)
		return NULL;
	ty_batch_read(old->batch, &es->src, stream, lo, &es->scratch);
	if (!old->batch->loaded) {
		if (old->batch->status && err && !err->code)
			*err = old->batch->err;
		return NULL;
	}
	old->stream = stream;
	old->first_page = ch.first_page;
	old->pages = ch.raw_bytes / page_size;
	old->used = ++es->tick;
	return old;
}

int ty_events_read_at(struct ty_events *es, ty_loc loc, struct ty_event *ev, struct ty_err *err)
{
	uint32_t stream = (uint32_t)(loc >> LOC_STREAM_SHIFT);
	uint64_t at = (loc & ((UINT64_C(1) << LOC_STREAM_SHIFT) - 1)) * 4, page = 0;
	uint32_t off = 0;
	struct ty_ring_record rec;
	struct ty_ring_page it;
	struct ty_lookup *l = NULL;
	const struct ty_cursor *c;

	if (stream >= es->n)
		goto none;
	c = &es->cursors[stream];
	page = at / c->page_size;
	off = (uint32_t)(at % c->page_size);
	l = find_page(es, stream, page, err);
	if (!l)
		goto none;
	if (ty_ring_page_init(&it, &es->src.layout,
			      l->batch->raw + (size_t)(page - l->first_page) * c->page_size,
			      c->page_size))
		goto none;
	while (ty_ring_page_next(&it, &rec) > 0) {
		if (rec.off < off)
			continue;
		if (rec.off > off)
			break;
		ev->ts_ns = rec.ts + (uint64_t)es->trace->ts_offset_ns;
		ev->loc = loc;
		ev->cpu = c->cpu;
		ev->buffer = c->buffer;
		ty_events_decode(es, ev, &rec);
		return 0;
	}
none:
	return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
		       "%s: the record %#llx cannot be read again; was the file changed?",
		       es->trace->path, (unsigned long long)loc);
}
