/* SPDX-License-Identifier: MIT */
/* Opens the streams of a trace for the merge (events.c) and checks the file's description of
 * each. */
#include <stdlib.h>

#include "events_priv.h"

#define LOC_STREAMS_MAX (1u << 12)
#define LOC_BYTES_MAX	(UINT64_C(4) << LOC_STREAM_SHIFT)
#define PAGE_MAX	(1u << 20)

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
	es->offset = (uint64_t)trace->ts_offset_ns;
	es->src.trace = trace;
	es->src.formats = formats;
	es->n = (uint32_t)n;
	ty_events_lookup_memory(es, 0);
	ty_chunk_scratch_init(&es->scratch);
	if (ty_ring_layout_init(&es->src.layout, trace->header_page.s, trace->long_size,
				trace->big_endian)) {
		ty_events_close(es);
		return ty_fail(err, TY_EFORMAT, TY_NO_OFFSET,
			       "%s: invalid ring buffer layout (header_page): the file is damaged",
			       trace->path);
	}
	es->cursors = calloc(n + 1, sizeof(*es->cursors));
	es->heap = calloc(n + 1, sizeof(*es->heap));
	es->probe = ty_batch_new();
	if (!es->cursors || !es->heap || !es->probe)
		goto nomem;
	for (uint32_t i = 0; i < n; i++) {
		const struct ty_stream *s = &trace->streams.v[i];
		struct ty_cursor *c = &es->cursors[i];

		if (s->buffer >= trace->buffers.n || s->buffer > UINT16_MAX)
			c->page_size = 0;
		else
			c->page_size = trace->buffers.v[s->buffer].page_size;
		if (c->page_size < 64 || c->page_size > PAGE_MAX ||
		    c->page_size & (c->page_size - 1) || s->raw_bytes >= LOC_BYTES_MAX) {
			uint32_t page_size = c->page_size;

			ty_events_close(es);
			return ty_fail(err, TY_EFORMAT, TY_NO_OFFSET,
				       "%s: CPU %u has ring pages of %u bytes (%llu in total): the "
				       "file is damaged",
				       trace->path, s->cpu, page_size,
				       (unsigned long long)s->raw_bytes);
		}
		c->stream = i;
		c->buffer = (uint16_t)s->buffer;
		c->cpu = s->cpu;
		c->chunks = s->chunks;
		c->same_cpu = i;
		for (uint32_t k = i; k-- > 0;)
			if (es->cursors[k].cpu == c->cpu) {
				c->same_cpu = es->cursors[k].same_cpu;
				es->cursors[k].same_cpu = i;
				break;
			}
		es->all_bytes += s->raw_bytes;
	}
	es->ahead = ty_batch_prefetch_new(&es->src);
	if (!es->ahead)
		goto nomem;
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
		ty_batch_free(es->cursors[i].batch);
	for (unsigned i = 0; i < TY_LOOKUPS; i++)
		ty_lookup_fini(&es->lookup[i]);
	ty_batch_prefetch_free(es->ahead);
	ty_batch_free(es->probe);
	free(es->cursors);
	free(es->heap);
	ty_chunk_scratch_fini(&es->scratch);
	free(es);
}
