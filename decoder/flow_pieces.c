/* SPDX-License-Identifier: MIT */
/*
 * See flow_priv.h: bytes of a stream, which is stored in pieces. Where these are small, as of many
 * snapshots or interrupted recordings, a read for each costs more than decoding it: AHEAD bytes of
 * the file are read at once.
 */
#include <stdlib.h>
#include <string.h>

#include "flow_priv.h"
#include "partition.h"

enum { AHEAD = 32 << 10, SMALL = AHEAD / 8 };

void ty_flow_ahead_fini(struct ty_flow_ahead *a)
{
	free(a->buf);
	*a = (struct ty_flow_ahead){0};
}

/* Bytes of the file to read from `place` in piece i, of which n are wanted: more of them when the
 * next piece is near, up to the end of the last piece. */
static size_t worthwhile(const struct ty_flow_stream *s, size_t i, uint64_t place, size_t n)
{
	const struct ty_flow_piece *last = &s->pieces.v[s->pieces.n - 1], *p = &s->pieces.v[i];
	uint64_t end = last->place + (s->size - last->at);

	if (p == last || p[1].p || last->p || p[1].place < place || p[1].place - place > SMALL ||
	    end < place || end - place < n)
		return n;
	return end - place < AHEAD ? end - place : AHEAD;
}

/* n bytes at `place`, in piece i. */
static int read_place(const struct ty_flow_stream *s, struct ty_flow_ahead *a, size_t i,
		      uint64_t place, void *buf, size_t n)
{
	const struct ty_flow *f = s->flow;
	size_t more;

	if (place < a->place || place - a->place > a->n || n > a->n - (place - a->place)) {
		more = worthwhile(s, i, place, n);
		a->n = 0;
		if (more > n && !a->buf)
			a->buf = malloc(AHEAD);
		/* If the larger range cannot be read, the requested part may still be readable. */
		if (more <= n || !a->buf || f->read(f->read_ctx, place, a->buf, more))
			return f->read(f->read_ctx, place, buf, n);
		a->place = place;
		a->n = more;
	}
	memcpy(buf, a->buf + (place - a->place), n);
	return 0;
}

int ty_flow_stream_read(const struct ty_flow_stream *s, struct ty_flow_ahead *a, size_t from,
			void *buf, size_t n)
{
	size_t i = a->piece;

	/* The last one or the next, mostly; of a stream. */
	while (i < s->pieces.n && i <= a->piece && ty_flow_piece_end(s, i) <= from)
		i++;
	if (i >= s->pieces.n || s->pieces.v[i].at > from || ty_flow_piece_end(s, i) <= from)
		i = partition_point(k, 0, s->pieces.n, s->pieces.v[k].at <= from) - 1;
	for (; n; a->piece = i++) {
		const struct ty_flow_piece *p = &s->pieces.v[i];
		size_t in = from - p->at, part = ty_flow_piece_end(s, i) - from;
		int r = 0;

		part = part < n ? part : n;
		if (p->p)
			memcpy(buf, p->p + in, part);
		else
			r = read_place(s, a, i, p->place + in, buf, part);
		if (r)
			return r;
		buf = (uint8_t *)buf + part;
		from += part;
		n -= part;
	}
	return 0;
}
