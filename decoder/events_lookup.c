/* SPDX-License-Identifier: MIT */
/*
 * Reads one record by its position in the file. The chunks of recent look-ups are cached: analyses
 * request the arguments of calls all over a recording, and decompressing a chunk takes longer than
 * anything else. Pages have the size of the kernel's buffer pages, with thousands of records, and
 * look-ups jump back and forth (a call is read when it has returned), so a mark is kept for every
 * TY_LOOKUP_STEP records. Budget: one cache set; each record of a page is walked over once, and at
 * most TY_LOOKUP_STEP records again per look-up.
 */
#include <stdlib.h>

#include "events_priv.h"
#include "partition.h"

void ty_lookup_fini(struct ty_lookup *l)
{
	ty_batch_free(l->batch);
	for (uint32_t i = 0; l->page && i < l->pages; i++)
		vec_fini(&l->page[i].mark);
	free(l->page);
}

static void drop(struct ty_events *es, struct ty_lookup *l)
{
	ty_lookup_fini(l);
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
	while (es->lookup_bytes && es->lookup_bytes + bytes > es->lookup_limit) {
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
	const uint32_t n = es->cursors[stream].chunks;

	return n < 2 ? 0
		     : partition_point(k, 1u, n,
				       ty_trace_chunk(es->trace, stream, k).first_page <= page) -
			       1;
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
	l->page = calloc((size_t)l->pages + 1, sizeof(*l->page));
	if (!l->page) {
		drop(es, l);
		return NULL;
	}
	l->used = ++es->tick;
	return es->latest = l;
}

/* The record behind p->front, with a mark where one is due. As ty_ring_page_next. */
static int pass(struct ty_lookup_page *p, struct ty_ring_record *rec)
{
	struct ty_lookup_mark m = {p->front.pos, p->front.ts};
	int r = ty_ring_page_next(&p->front, rec);

	/* Without memory for a mark the way from the last one is longer. */
	if (r > 0 && ++p->since >= TY_LOOKUP_STEP && !vec_push(&p->mark, m))
		p->since = 0;
	return r;
}

/* The page's iterator before the last mark that is not behind off. */
static struct ty_ring_page from_mark(const struct ty_lookup_page *p,
				     const struct ty_ring_page *begin, uint32_t off)
{
	size_t i = partition_point(k, 0, p->mark.n, p->mark.v[k].pos <= off);
	struct ty_ring_page it = *begin;

	if (i) {
		it.pos = p->mark.v[i - 1].pos;
		it.ts = p->mark.v[i - 1].ts;
	}
	return it;
}

/* To the record at off of a page of the chunk, which becomes `last`; false: there is none. */
static bool walk_to(const struct ty_events *es, struct ty_lookup *l, uint64_t page, uint32_t off)
{
	uint32_t size = es->cursors[l->stream].page_size;
	struct ty_lookup_page *p = &l->page[page - l->first_page];
	bool same = l->walking && l->walk_page == page;
	struct ty_ring_page it;
	int r;

	if (same && l->last.off == off)
		return true;
	l->walking = false;
	l->walk_page = page;
	if (ty_ring_page_init(&it, &es->src.layout,
			      l->batch->raw + (size_t)(page - l->first_page) * size, size))
		return false;
	if (!p->made)
		p->front = it;
	p->made = true;
	if (off >= p->front.pos) {
		while ((r = pass(p, &l->last)) > 0 && l->last.off < off)
			;
		l->walk = p->front;
	} else {
		it = from_mark(p, &it, off);
		if (!same || l->walk.pos > off || l->walk.pos < it.pos)
			l->walk = it;
		while ((r = ty_ring_page_next(&l->walk, &l->last)) > 0 && l->last.off < off)
			;
	}
	return l->walking = r > 0 && l->last.off == off;
}

void ty_events_lookup_memory(struct ty_events *es, uint64_t memory_bytes)
{
	es->lookup_limit = memory_bytes > TY_LOOKUP_BYTES ? memory_bytes : TY_LOOKUP_BYTES;
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
