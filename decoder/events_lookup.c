/* SPDX-License-Identifier: MIT */
/*
 * Reads one record by its position in the file. The chunks of recent look-ups are cached: analyses
 * request the arguments of calls all over a recording, and decompressing a chunk takes longer than
 * anything else. Budget: one cache set, and the records of a page up to the wanted one, or from the
 * last one found there: look-ups in file order read each record once.
 */
#include <string.h>

#include "events_priv.h"

static void drop(struct ty_events *es, struct ty_lookup *l)
{
	ty_batch_free(l->batch);
	es->lookup_bytes -= l->bytes;
	if (es->latest == l)
		es->latest = NULL;
	*l = (struct ty_lookup){0};
}

/* Room for a chunk of so many bytes in this set. */
static struct ty_lookup *make_room(struct ty_events *es, struct ty_lookup *set, uint64_t bytes)
{
	struct ty_lookup *old = set;

	for (unsigned i = 0; i < TY_LOOKUP_WAYS; i++)
		if (set[i].used < old->used)
			old = &set[i];
	drop(es, old);
	while (es->lookup_bytes && es->lookup_bytes + bytes > TY_LOOKUP_BYTES) {
		struct ty_lookup *oldest = NULL;

		for (unsigned i = 0; i < TY_LOOKUPS; i++)
			if (es->lookup[i].batch && (!oldest || es->lookup[i].used < oldest->used))
				oldest = &es->lookup[i];
		drop(es, oldest);
	}
	return old;
}

/* The chunk of the stream that has the page, by number; of those that do not overlap the last one
 * that begins there or before. */
static uint32_t chunk_of(const struct ty_events *es, uint32_t stream, uint64_t page)
{
	uint32_t lo = 0, hi = es->cursors[stream].chunks;

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (ty_trace_chunk(es->trace, stream, mid).first_page <= page)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* A chunk by page number: of the cache, read when it is not there. NULL: not found. */
static struct ty_lookup *find_page(struct ty_events *es, uint32_t stream, uint64_t page,
				   struct ty_err *err)
{
	uint32_t page_size = es->cursors[stream].page_size, chunk;
	struct ty_lookup *l = es->latest, *set;
	struct ty_chunk ch;

	if (l && l->stream == stream && page >= l->first_page && page - l->first_page < l->pages)
		return l;
	if (!es->cursors[stream].chunks)
		return NULL;
	chunk = chunk_of(es, stream, page);
	set = &es->lookup[((uint64_t)stream * 31 + chunk) % TY_LOOKUP_SETS * TY_LOOKUP_WAYS];
	for (unsigned i = 0; i < TY_LOOKUP_WAYS; i++) {
		l = &set[i];
		if (l->batch && l->stream == stream && l->chunk == chunk) {
			if (page < l->first_page || page - l->first_page >= l->pages)
				return NULL;
			l->used = ++es->tick;
			return es->latest = l;
		}
	}
	ch = ty_trace_chunk(es->trace, stream, chunk);
	if (page < ch.first_page || page - ch.first_page >= ch.raw_bytes / page_size)
		return NULL;
	l = make_room(es, set, ch.raw_bytes);
	l->batch = ty_batch_new();
	if (!l->batch)
		return NULL;
	ty_batch_read(l->batch, &es->src, stream, chunk, &es->scratch);
	l->bytes = ch.raw_bytes;
	es->lookup_bytes += l->bytes;
	if (!l->batch->loaded) {
		if (l->batch->status && err && !err->code)
			*err = l->batch->err;
		drop(es, l);
		return NULL;
	}
	l->stream = stream;
	l->chunk = chunk;
	l->first_page = ch.first_page;
	l->pages = ch.raw_bytes / page_size;
	l->used = ++es->tick;
	return es->latest = l;
}

/* To the record at off of a page of the chunk, which becomes `last`; false: there is none. Records
 * are found from the page's begin, or behind the last one that was found. */
static bool walk_to(const struct ty_events *es, struct ty_lookup *l, uint64_t page, uint32_t off)
{
	uint32_t size = es->cursors[l->stream].page_size;

	if (l->walking && l->walk_page == page && l->last.off == off)
		return true;
	if (!l->walking || l->walk_page != page || l->last.off > off) {
		l->walking = false;
		if (ty_ring_page_init(&l->walk, &es->src.layout,
				      l->batch->raw + (size_t)(page - l->first_page) * size, size))
			return false;
		l->walk_page = page;
		l->walking = true;
	}
	while (ty_ring_page_next(&l->walk, &l->last) > 0)
		if (l->last.off >= off)
			return l->last.off == off || (l->walking = false);
	return l->walking = false;
}

int ty_events_read_at(struct ty_events *es, ty_loc loc, struct ty_event *ev, struct ty_err *err)
{
	uint32_t stream = (uint32_t)(loc >> LOC_STREAM_SHIFT);
	uint64_t at = (loc & ((UINT64_C(1) << LOC_STREAM_SHIFT) - 1)) * 4, page = 0;
	uint32_t off = 0;
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
	if (!walk_to(es, l, page, off))
		goto none;
	ev->ts_ns = l->last.ts + (uint64_t)es->trace->ts_offset_ns;
	ev->loc = loc;
	ev->cpu = c->cpu;
	ev->buffer = c->buffer;
	ty_events_decode(es, ev, &l->last);
	return 0;
none:
	return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
		       "%s: cannot read record %#llx again. The file may have been changed",
		       es->trace->path, (unsigned long long)loc);
}
