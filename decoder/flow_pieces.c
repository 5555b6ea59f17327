/* SPDX-License-Identifier: MIT */
/* See flow_priv.h: bytes of a stream, which is stored in pieces. */
#include <string.h>

#include "flow_priv.h"
#include "partition.h"

int ty_flow_stream_read(const struct ty_flow_stream *s, size_t from, void *buf, size_t n)
{
	size_t i = partition_point(k, 0, s->pieces.n, s->pieces.v[k].at <= from);

	for (i--; n; i++) {
		const struct ty_flow_piece *p = &s->pieces.v[i];
		size_t in = from - p->at, part = ty_flow_piece_end(s, i) - from;
		int r = 0;

		part = part < n ? part : n;
		if (p->p)
			memcpy(buf, p->p + in, part);
		else
			r = s->flow->read(s->flow->read_ctx, p->place + in, buf, part);
		if (r)
			return r;
		buf = (uint8_t *)buf + part;
		from += part;
		n -= part;
	}
	return 0;
}
