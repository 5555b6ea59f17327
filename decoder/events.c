/* SPDX-License-Identifier: MIT */
/*
 * Merging the streams of a trace. One cursor per stream holds one decompressed chunk and stands at
 * its next item: a record, or a gap that comes before it. A binary heap orders the cursors by
 * (time, stream); streams are numbered by buffer, then cpu.
 *
 * Time never goes back in what is given out: a stamp smaller than the one before it in its own
 * stream is raised to that one. Kernels with an unsteady clock do this by nanoseconds; a step back
 * of more than BACK_LIMIT_NS is damage and is reported as such. What was lost is known to lie
 * between two records of its stream, so that a gap is given right before the record that follows.
 *
 * Memory: one chunk per stream, and LOOKUPS chunks for ty_events_read_at; no chunk may be larger
 * than CHUNK_LIMIT. Budget: 60 ns per event for two streams, decompression and decoding included.
 *
 * ty_loc: stream << 52 | page of the stream << 18 | offset in the page / 4. (12 bits: 4096 streams;
 * 34 bits: 64 TB of 4 kB pages; 18 bits: pages of 1 MB.) Never 0: a record is not at offset 0.
 */
#include "events.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "rd.h"
#include "ring_page.h"
#include "trace.h"

#define CHUNK_LIMIT   (256u << 20)
#define BACK_LIMIT_NS 1000000
#define LOOKUPS	      16

#define LOC_STREAM_SHIFT 52
#define LOC_PAGE_SHIFT	 18
#define LOC_STREAMS_MAX	 (1u << 12)
#define LOC_PAGES_MAX	 (UINT64_C(1) << 34)
#define LOC_OFF_MAX	 (1u << 20)

enum head { AT_OVERRUN, AT_DAMAGED, AT_RECORD, AT_UNFINISHED, AT_END };

struct cursor {
	uint64_t key; /* time of the item it stands at */
	uint8_t head; /* enum head */
	bool has_record, any, in_page, damaged, loaded;
	bool to_end; /* the gaps pending go on to the end of the recording */
	uint16_t buffer;
	uint32_t cpu, stream, page_size;
	uint32_t chunk, chunks; /* of `raw`; == chunks: at the end */
	uint32_t page, pages;	/* page of the chunk; UINT32_MAX before the first */
	uint64_t first_page;	/* of the chunk in the stream */
	uint8_t *raw;
	size_t raw_cap;
	struct ty_ring_page it;
	struct ty_ring_record rec;
	uint64_t ts;	       /* of rec, offset added, never less than last_ts */
	uint64_t last_ts;      /* of the item given before; valid with any */
	uint64_t gap_from;     /* of the gaps pending */
	uint64_t overrun;      /* pending: 0, a number, TY_MISSED_UNKNOWN */
	uint64_t damage_until; /* last time that a missing chunk is known to have covered; 0: the
				  latest damage does not tell */
	uint64_t done;	       /* bytes of the chunks before this one */
	uint32_t chunk_bytes;  /* of this one */
};

struct lookup {
	uint32_t stream, chunk, pages;
	uint64_t first_page, used;
	uint8_t *raw; /* NULL: empty */
	size_t cap;
};

struct ty_events {
	const struct ty_trace *trace;
	const struct ty_formats *formats;
	struct ty_ring_layout layout;
	struct cursor *cursors;
	struct cursor **heap;
	uint32_t n, heap_n;
	bool started, pulled; /* pulled: the item at the heap's top was given out */
	uint64_t all_bytes, tick;
	struct ty_buf scratch;
	struct lookup lookup[LOOKUPS];
};

/* chunks -------------------------------------------------------------------------------------- */

/*
 * Decompress a chunk into *raw (grown as needed). 1 when it is there, 0 when it is missing or
 * damaged, negative for out of memory and I/O errors.
 */
static int read_chunk(struct ty_events *es, uint32_t stream, uint32_t chunk,
		      const struct ty_chunk *ch, uint8_t **raw, size_t *cap, struct ty_err *err)
{
	struct ty_err e = {0};
	int r;

	if (ch->missing || ch->raw_bytes > CHUNK_LIMIT)
		return 0;
	if (ch->raw_bytes > *cap || !*raw) {
		uint8_t *p = realloc(*raw, ch->raw_bytes ? ch->raw_bytes : 1);

		if (!p)
			return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET,
				       "%s: out of memory for a chunk of %u bytes", es->trace->path,
				       ch->raw_bytes);
		*raw = p;
		*cap = ch->raw_bytes;
	}
	r = ty_trace_chunk_read(es->trace, stream, chunk, *raw, &es->scratch, &e);
	if (r == -TY_ENOMEM || r == -TY_EIO) {
		if (err && !err->code)
			*err = e;
		return r;
	}
	return r < 0 ? 0 : 1;
}

/* Step to chunk c->chunk: loaded, or noted as damaged. */
static int load_chunk(struct ty_events *es, struct cursor *c, struct ty_err *err)
{
	struct ty_chunk ch = ty_trace_chunk(es->trace, c->stream, c->chunk);
	int r = read_chunk(es, c->stream, c->chunk, &ch, &c->raw, &c->raw_cap, err);

	c->chunk_bytes = ch.raw_bytes;
	c->loaded = false;
	c->in_page = false;
	c->page = UINT32_MAX;
	c->pages = 0;
	if (r < 0)
		return r;
	if (!r) {
		c->damaged = true;
		if (!ch.last_ns || ch.last_ns > c->damage_until)
			c->damage_until = ch.last_ns;
		return 0;
	}
	c->loaded = true;
	c->first_page = ch.first_page;
	c->pages = ch.raw_bytes / c->page_size;
	if (ch.raw_bytes % c->page_size)
		c->damaged = true;
	return 0;
}

static void add_overrun(struct cursor *c, uint64_t n)
{
	if (n == TY_MISSED_UNKNOWN || c->overrun == TY_MISSED_UNKNOWN || c->overrun + n < n)
		c->overrun = TY_MISSED_UNKNOWN;
	else
		c->overrun += n;
}

/* cursors ------------------------------------------------------------------------------------- */

/* Find the next record of the stream, gathering what was lost before it. 1, 0 at the end. */
static int next_record(struct ty_events *es, struct cursor *c, struct ty_err *err)
{
	for (;;) {
		int r;

		if (c->in_page) {
			r = ty_ring_page_next(&c->it, &c->rec);
			if (r > 0)
				return 1;
			if (r < 0) {
				c->damaged = true;
				c->damage_until = 0;
			}
			c->in_page = false;
		}
		if (c->chunk >= c->chunks)
			return 0;
		if (++c->page < c->pages) {
			if (ty_ring_page_init(&c->it, &es->layout,
					      c->raw + (size_t)c->page * c->page_size,
					      c->page_size)) {
				c->damaged = true;
				c->damage_until = 0;
				continue;
			}
			if (c->it.missed)
				add_overrun(c, c->it.missed);
			c->in_page = true;
			continue;
		}
		c->page = c->pages;
		c->done += c->chunk_bytes;
		c->loaded = false;
		if (++c->chunk >= c->chunks) {
			c->page = c->pages = 0;
			return 0;
		}
		r = load_chunk(es, c, err);
		if (r)
			return r;
	}
}

/* What the cursor stands at once next_record has run. */
static void set_head(struct ty_events *es, struct cursor *c)
{
	if (c->overrun)
		c->head = AT_OVERRUN;
	else if (c->damaged)
		c->head = AT_DAMAGED;
	else if (c->has_record)
		c->head = AT_RECORD;
	else if (es->trace->unfinished && c->head != AT_UNFINISHED)
		c->head = AT_UNFINISHED;
	else
		c->head = AT_END;
}

static int fill(struct ty_events *es, struct cursor *c, struct ty_err *err)
{
	uint64_t off = (uint64_t)es->trace->ts_offset_ns;
	int r = next_record(es, c, err);

	if (r < 0)
		return r;
	c->has_record = r > 0;
	c->to_end = false;
	c->gap_from = c->any ? c->last_ts : 0;
	if (c->has_record) {
		c->ts = c->rec.ts + off;
		if (c->any && c->ts < c->last_ts) {
			if (c->last_ts - c->ts > BACK_LIMIT_NS)
				c->damaged = true;
			c->ts = c->last_ts;
		}
	} else {
		c->ts = c->any ? c->last_ts : 0;
		/* A whole chunk that is gone says how far it reached; anything else does not. */
		c->to_end = es->trace->unfinished || !c->damaged || !c->damage_until;
		if (c->damaged && c->damage_until && c->damage_until + off > c->ts)
			c->ts = c->damage_until + off;
	}
	c->damage_until = 0;
	c->key = c->ts;
	set_head(es, c);
	return 0;
}

/* Step over the item that was given out. */
static int advance(struct ty_events *es, struct cursor *c, struct ty_err *err)
{
	switch (c->head) {
	case AT_OVERRUN: c->overrun = 0; break;
	case AT_DAMAGED: c->damaged = false; break;
	case AT_RECORD:
		c->last_ts = c->ts;
		c->any = true;
		return fill(es, c, err);
	default: break;
	}
	set_head(es, c);
	return 0;
}

static int rewind_cursor(struct ty_events *es, struct cursor *c, uint32_t chunk, struct ty_err *err)
{
	c->any = c->damaged = c->has_record = false;
	c->overrun = c->damage_until = c->done = 0;
	c->head = AT_RECORD;
	c->chunk = chunk;
	for (uint32_t i = 0; i < chunk; i++)
		c->done += ty_trace_chunk(es->trace, c->stream, i).raw_bytes;
	if (chunk >= c->chunks) {
		c->in_page = c->loaded = false;
		c->page = c->pages = 0;
		return 0;
	}
	return load_chunk(es, c, err);
}

/* heap ---------------------------------------------------------------------------------------- */

static inline bool before(const struct cursor *a, const struct cursor *b)
{
	return a->key != b->key ? a->key < b->key : a->stream < b->stream;
}

static void sift_down(struct ty_events *es, uint32_t i)
{
	struct cursor **h = es->heap, *c = h[i];

	for (;;) {
		uint32_t k = 2 * i + 1;

		if (k >= es->heap_n)
			break;
		if (k + 1 < es->heap_n && before(h[k + 1], h[k]))
			k++;
		if (!before(h[k], c))
			break;
		h[i] = h[k];
		i = k;
	}
	h[i] = c;
}

static void build_heap(struct ty_events *es)
{
	uint64_t first = UINT64_MAX;

	/* A stream of which nothing is left has no time: its loss stands where the trace begins. */
	for (uint32_t i = 0; i < es->n; i++)
		if (es->cursors[i].has_record && es->cursors[i].key < first)
			first = es->cursors[i].key;
	for (uint32_t i = 0; i < es->n; i++)
		if (!es->cursors[i].key && !es->cursors[i].any && first != UINT64_MAX)
			es->cursors[i].key = first;
	es->heap_n = 0;
	for (uint32_t i = 0; i < es->n; i++)
		if (es->cursors[i].head != AT_END)
			es->heap[es->heap_n++] = &es->cursors[i];
	for (uint32_t i = es->heap_n / 2; i-- > 0;)
		sift_down(es, i);
	es->started = true;
	es->pulled = false;
}

static int start(struct ty_events *es, struct ty_err *err)
{
	for (uint32_t i = 0; i < es->n; i++) {
		int r = rewind_cursor(es, &es->cursors[i], 0, err);

		if (!r)
			r = fill(es, &es->cursors[i], err);
		if (r)
			return r;
	}
	build_heap(es);
	return 0;
}

/* the interface ------------------------------------------------------------------------------- */

int ty_events_open(const struct ty_trace *trace, const struct ty_formats *formats,
		   struct ty_events **out, struct ty_err *err)
{
	struct ty_events *es;
	size_t n = trace->streams.n;

	*out = NULL;
	if (n > LOC_STREAMS_MAX)
		return ty_fail(err, TY_ELIMIT, TY_NO_OFFSET,
			       "%s: %zu CPU buffers; tarry reads at most %u in one file",
			       trace->path, n, LOC_STREAMS_MAX);
	es = calloc(1, sizeof(*es));
	if (!es)
		goto nomem;
	es->trace = trace;
	es->formats = formats;
	es->n = (uint32_t)n;
	ty_buf_init(&es->scratch, CHUNK_LIMIT);
	if (ty_ring_layout_init(&es->layout, trace->header_page.s, trace->long_size,
				trace->big_endian)) {
		ty_events_close(es);
		return ty_fail(err, TY_EFORMAT, TY_NO_OFFSET,
			       "%s: the header_page text describes no ring buffer page that a "
			       "kernel writes; the file is damaged",
			       trace->path);
	}
	es->cursors = calloc(n + 1, sizeof(*es->cursors));
	es->heap = calloc(n + 1, sizeof(struct cursor *));
	if (!es->cursors || !es->heap)
		goto nomem;
	for (uint32_t i = 0; i < n; i++) {
		const struct ty_stream *s = &trace->streams.v[i];
		struct cursor *c = &es->cursors[i];

		if (s->buffer >= trace->buffers.n || s->buffer > UINT16_MAX)
			c->page_size = 0;
		else
			c->page_size = trace->buffers.v[s->buffer].page_size;
		if (c->page_size < 64 || c->page_size > LOC_OFF_MAX || c->page_size % 4 ||
		    s->raw_bytes / c->page_size >= LOC_PAGES_MAX) {
			uint32_t page_size = c->page_size;

			ty_events_close(es);
			return ty_fail(err, TY_EFORMAT, TY_NO_OFFSET,
				       "%s: CPU %u has ring pages of %u bytes (%llu in all); the "
				       "file is damaged",
				       trace->path, s->cpu, page_size,
				       (unsigned long long)s->raw_bytes);
		}
		c->stream = i;
		c->buffer = (uint16_t)s->buffer;
		c->cpu = s->cpu;
		c->chunks = s->chunks;
		es->all_bytes += s->raw_bytes;
	}
	*out = es;
	return 0;
nomem:
	ty_events_close(es);
	return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory for %zu streams",
		       trace->path, n);
}

void ty_events_close(struct ty_events *es)
{
	if (!es)
		return;
	for (uint32_t i = 0; es->cursors && i < es->n; i++)
		free(es->cursors[i].raw);
	for (unsigned i = 0; i < LOOKUPS; i++)
		free(es->lookup[i].raw);
	free(es->cursors);
	free(es->heap);
	ty_buf_fini(&es->scratch);
	free(es);
}

/* Head and union of ev from a record. */
static inline void decode(const struct ty_events *es, struct ty_event *ev,
			  const struct ty_ring_record *rec)
{
	ev->data = rec->data;
	ev->size = rec->size;
	if (es->formats) {
		ty_formats_decode(es->formats, ev);
		return;
	}
	/* Heads only: the common fields lie here in every kernel since 2.6.33. */
	ev->kind = TY_EV_OTHER;
	ev->decode_error = rec->size < 8;
	ev->id = ev->decode_error ? 0 : (uint16_t)ty_load(rec->data, 2, es->layout.big_endian);
	ev->flags = ev->decode_error ? 0 : rec->data[2];
	ev->preempt = ev->decode_error ? 0 : rec->data[3];
	ev->tid = ev->decode_error ? 0 : (int32_t)ty_load(rec->data + 4, 4, es->layout.big_endian);
}

static inline ty_loc loc_of(uint32_t stream, uint64_t page, uint32_t off)
{
	return (uint64_t)stream << LOC_STREAM_SHIFT | page << LOC_PAGE_SHIFT | off / 4;
}

static void give(struct ty_events *es, struct cursor *c, struct ty_event *ev)
{
	ev->ts_ns = c->key;
	ev->cpu = c->cpu;
	ev->buffer = c->buffer;
	if (c->head == AT_RECORD) {
		ev->loc = loc_of(c->stream, c->first_page + c->page, c->rec.off);
		decode(es, ev, &c->rec);
		return;
	}
	ev->loc = 0;
	ev->tid = 0;
	ev->id = 0;
	ev->kind = TY_EV_GAP;
	ev->flags = ev->preempt = ev->decode_error = 0;
	ev->size = 0;
	ev->data = NULL;
	ev->u.gap.from_ns = c->gap_from;
	ev->u.gap.count = c->head == AT_OVERRUN ? c->overrun : UINT64_MAX;
	ev->u.gap.what = c->head == AT_OVERRUN	 ? TY_GAP_OVERRUN
			 : c->head == AT_DAMAGED ? TY_GAP_DAMAGED
						 : TY_GAP_UNFINISHED;
	ev->u.gap.to_end = c->to_end;
	if (c->head == AT_UNFINISHED)
		ev->u.gap.from_ns = c->key;
}

int ty_events_next(struct ty_events *es, struct ty_event *ev, struct ty_err *err)
{
	struct cursor *c;
	int r;

	if (!es->started) {
		r = start(es, err);
		if (r)
			return r;
	}
	if (es->pulled) {
		c = es->heap[0];
		r = advance(es, c, err);
		if (r)
			return r;
		if (c->head == AT_END)
			es->heap[0] = es->heap[--es->heap_n];
		if (es->heap_n)
			sift_down(es, 0);
		es->pulled = false;
	}
	if (!es->heap_n)
		return 0;
	give(es, es->heap[0], ev);
	es->pulled = true;
	return 1;
}

bool ty_events_past(const struct ty_events *es, uint64_t t_ns)
{
	if (!es->started)
		return false;
	for (uint32_t i = 0; i < es->heap_n; i++) {
		const struct cursor *c = es->heap[i];

		if (c->key < t_ns || (c->head != AT_RECORD && c->gap_from < t_ns))
			return false;
	}
	return true;
}

/*
 * The time of a chunk's first page: as the file says, or read from the chunk itself. 1, 0 when
 * the chunk cannot tell (missing, damaged).
 */
static int chunk_time(struct ty_events *es, struct cursor *c, uint32_t chunk, uint64_t *ts,
		      struct ty_err *err)
{
	struct ty_chunk ch = ty_trace_chunk(es->trace, c->stream, chunk);
	int r;

	if (ch.first_ns || ch.last_ns) {
		*ts = ch.first_ns;
		return 1;
	}
	r = read_chunk(es, c->stream, chunk, &ch, &c->raw, &c->raw_cap, err);
	c->loaded = false;
	if (r <= 0)
		return r;
	if (ch.raw_bytes < c->page_size)
		return 0;
	*ts = ty_ring_page_ts(&es->layout, c->raw);
	return 1;
}

/*
 * The last chunk that is known to begin before t (file time), 0 when none is. Chunks that cannot
 * tell are stepped over: first to the left, then to the right.
 */
static int find_chunk(struct ty_events *es, struct cursor *c, uint64_t t, uint32_t *chunk,
		      struct ty_err *err)
{
	uint32_t lo = 0, hi = c->chunks; /* chunk lo begins before t or is 0; hi does not */

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2, probe = mid;
		uint64_t ts = 0;
		int r = 0;

		while (probe > lo && !(r = chunk_time(es, c, probe, &ts, err)))
			probe--;
		if (probe == lo)
			for (probe = mid + 1; probe < hi; probe++)
				if ((r = chunk_time(es, c, probe, &ts, err)))
					break;
		if (r < 0)
			return r;
		if (!r)
			break;
		if (ts < t)
			lo = probe;
		else if (probe > mid)
			break; /* all between lo and probe cannot tell */
		else
			hi = probe;
	}
	*chunk = lo;
	return 0;
}

static int seek_cursor(struct ty_events *es, struct cursor *c, uint64_t t, struct ty_err *err)
{
	uint64_t off = (uint64_t)es->trace->ts_offset_ns;
	uint64_t file_t = t - off;
	uint32_t chunk = 0, page;
	int r;

	if (es->trace->ts_offset_ns > 0 && t < off)
		file_t = 0;
	else if (es->trace->ts_offset_ns < 0 && file_t < t)
		file_t = UINT64_MAX;
	r = c->chunks ? find_chunk(es, c, file_t, &chunk, err) : 0;
	if (!r)
		r = rewind_cursor(es, c, chunk, err);
	if (r)
		return r;
	/* The last page of it that begins before t: pages are in time order. */
	for (page = 0; page + 1 < c->pages; page++)
		if (ty_ring_page_ts(&es->layout, c->raw + (size_t)(page + 1) * c->page_size) >=
		    file_t)
			break;
	if (c->pages && (page || chunk)) {
		c->page = page - 1; /* UINT32_MAX before page 0 */
		c->last_ts =
			ty_ring_page_ts(&es->layout, c->raw + (size_t)page * c->page_size) + off;
		c->any = c->last_ts < t;
	}
	for (;;) {
		r = fill(es, c, err);
		if (r || c->ts >= t)
			return r;
		c->overrun = 0;
		c->damaged = false;
		if (!c->has_record) {
			c->head = AT_END;
			return 0;
		}
		c->last_ts = c->ts;
		c->any = true;
	}
}

int ty_events_seek(struct ty_events *es, uint64_t t_ns, struct ty_err *err)
{
	es->started = false;
	for (uint32_t i = 0; i < es->n; i++) {
		int r = seek_cursor(es, &es->cursors[i], t_ns, err);

		if (r)
			return r;
	}
	build_heap(es);
	return 0;
}

/* A chunk by page number: of the lookup cache, read when it is not there. NULL: not found. */
static struct lookup *find_page(struct ty_events *es, uint32_t stream, uint64_t page,
				struct ty_err *err)
{
	uint32_t lo = 0, hi = es->cursors[stream].chunks, page_size = es->cursors[stream].page_size;
	struct lookup *old = &es->lookup[0];
	struct ty_chunk ch;

	for (unsigned i = 0; i < LOOKUPS; i++) {
		struct lookup *l = &es->lookup[i];

		if (l->raw && l->stream == stream && page >= l->first_page &&
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
	if (page < ch.first_page || page - ch.first_page >= ch.raw_bytes / page_size ||
	    read_chunk(es, stream, lo, &ch, &old->raw, &old->cap, err) <= 0)
		return NULL;
	old->stream = stream;
	old->chunk = lo;
	old->first_page = ch.first_page;
	old->pages = ch.raw_bytes / page_size;
	old->used = ++es->tick;
	return old;
}

int ty_events_read_at(struct ty_events *es, ty_loc loc, struct ty_event *ev, struct ty_err *err)
{
	uint32_t stream = (uint32_t)(loc >> LOC_STREAM_SHIFT);
	uint64_t page = loc >> LOC_PAGE_SHIFT & (LOC_PAGES_MAX - 1);
	uint32_t off = (uint32_t)(loc & ((1u << LOC_PAGE_SHIFT) - 1)) * 4;
	struct ty_ring_record rec;
	struct ty_ring_page it;
	struct lookup *l = NULL;
	const struct cursor *c;

	if (stream < es->n)
		l = find_page(es, stream, page, err);
	if (!l)
		goto none;
	c = &es->cursors[stream];
	if (ty_ring_page_init(&it, &es->layout,
			      l->raw + (size_t)(page - l->first_page) * c->page_size, c->page_size))
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
		decode(es, ev, &rec);
		return 0;
	}
none:
	return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
		       "%s: the record %#llx cannot be read again; was the file changed?",
		       es->trace->path, (unsigned long long)loc);
}

void ty_events_progress(const struct ty_events *es, uint64_t *done_bytes, uint64_t *all_bytes)
{
	uint64_t done = 0;

	for (uint32_t i = 0; i < es->n; i++) {
		const struct cursor *c = &es->cursors[i];

		done += c->done;
		if (c->loaded && c->page != UINT32_MAX)
			done += (uint64_t)c->page * c->page_size;
	}
	*all_bytes = es->all_bytes;
	*done_bytes = done > es->all_bytes ? es->all_bytes : done;
}
