/* SPDX-License-Identifier: MIT */
/* Finds the chunk of a stream that contains a time: by the file's directory, or by reading
 * chunks. */
#include "events_priv.h"

/*
 * The time of a chunk's first page: as the file says, or read from the chunk itself. 1; 0 when the
 * chunk has none (missing, damaged).
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
 * The last chunk that is known to begin before t (file time), 0 when none is. Chunks without a time
 * are stepped over: first to the left, then to the right.
 */
int ty_events_find_chunk(struct ty_events *es, struct ty_cursor *c, uint64_t t, uint32_t *chunk,
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
			break; /* all between lo and probe have no time */
		else
			hi = probe;
	}
	*chunk = lo;
	return 0;
}
