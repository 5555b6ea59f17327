/* SPDX-License-Identifier: MIT */
/* Starting again somewhere in the middle: the chunk by its time, the page in it, the record. */
#include "events_priv.h"

/*
 * The time of a chunk's first page: as the file says, or read from the chunk itself. 1, 0 when
 * the chunk cannot tell (missing, damaged).
 */
static int chunk_time(struct ty_events *es, struct ty_cursor *c, uint32_t chunk, uint64_t *ts,
		      struct ty_err *err)
{
	struct ty_chunk ch = ty_trace_chunk(es->trace, c->stream, chunk);

	if (ch.first_ns || ch.last_ns) {
		*ts = ch.first_ns;
		return 1;
	}
	ty_batch_read(es->probe, &es->src, c->stream, chunk, &es->scratch);
	if (es->probe->status) {
		if (err && !err->code)
			*err = es->probe->err;
		return es->probe->status;
	}
	if (!es->probe->loaded || ch.raw_bytes < c->page_size)
		return 0;
	*ts = ty_ring_page_ts(&es->src.layout, es->probe->raw);
	return 1;
}

/*
 * The last chunk that is known to begin before t (file time), 0 when none is. Chunks that cannot
 * tell are stepped over: first to the left, then to the right.
 */
static int find_chunk(struct ty_events *es, struct ty_cursor *c, uint64_t t, uint32_t *chunk,
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

/* t in the file's own time. */
static uint64_t file_time(const struct ty_events *es, uint64_t t)
{
	uint64_t off = (uint64_t)es->trace->ts_offset_ns, file_t = t - off;

	if (es->trace->ts_offset_ns > 0 && t < off)
		return 0;
	return es->trace->ts_offset_ns < 0 && file_t < t ? UINT64_MAX : file_t;
}

static int seek_cursor(struct ty_events *es, struct ty_cursor *c, uint64_t t, struct ty_err *err)
{
	uint64_t off = (uint64_t)es->trace->ts_offset_ns, file_t = file_time(es, t);
	struct ty_batch *b;
	int r = ty_cursor_load(es, c, err);

	if (r)
		return r;
	b = c->batch;
	if (b && b->loaded && b->pages) {
		uint32_t page = 0;

		/* The last page of it that begins before t: pages are in time order. */
		while (page + 1 < b->pages &&
		       ty_ring_page_ts(&es->src.layout,
				       b->raw + (size_t)(page + 1) * c->page_size) < file_t)
			page++;
		if (page) {
			ty_batch_at_page(b, page);
			ty_batch_more(b, &es->src);
			ty_cursor_items(c);
		}
		if (page || c->chunk) {
			c->last_ts = ty_ring_page_ts(&es->src.layout,
						     b->raw + (size_t)page * c->page_size) +
				     off;
			c->any = c->last_ts < t;
		}
	}
	for (;;) {
		r = ty_cursor_fill(es, c, err);
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
	uint64_t kept = es->trace->kept_from_ns, file_t;

	t_ns = t_ns > kept ? t_ns : kept;
	file_t = file_time(es, t_ns);
	es->started = false;
	ty_batch_ahead_stop(es->ahead);
	for (uint32_t i = 0; i < es->n; i++) {
		struct ty_cursor *c = &es->cursors[i];
		uint32_t chunk = 0;
		int r = c->chunks ? find_chunk(es, c, file_t, &chunk, err) : 0;

		if (r)
			return r;
		ty_cursor_place(es, c, chunk);
	}
	ty_batch_ahead_go(es->ahead);
	for (uint32_t i = 0; i < es->n; i++) {
		int r = seek_cursor(es, &es->cursors[i], t_ns, err);

		if (r)
			return r;
	}
	ty_events_order(es);
	return 0;
}
