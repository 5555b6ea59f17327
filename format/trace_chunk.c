/* SPDX-License-Identifier: MIT */
/*
 * Reads ring pages: metadata of a chunk, and its bytes. The trace is const here, so many threads
 * may read at once. Budget: one pread, one crc32 where the file has one, one decompression with a
 * cached context (150 kB; creating it costs as much as decompressing a small chunk).
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "checked_read.h"
#include "trace_file.h"

static uint32_t whole_pages(const struct ty_stream_data *d, uint32_t raw)
{
	return raw & ~(d->page_size - 1);
}

struct ty_chunk ty_trace_chunk(const struct ty_trace *t, uint32_t stream, uint32_t chunk)
{
	const struct ty_stream_data *d = &t->priv->data.v[stream];
	struct ty_chunk c = {0};

	if (d->flat) {
		uint64_t at = (uint64_t)chunk * d->flat_pages * d->page_size;
		uint64_t most = (uint64_t)d->flat_pages * d->page_size;

		c.first_page = (at < d->bytes ? at : d->bytes) / d->page_size;
		c.missing = at >= d->bytes;
		if (!c.missing)
			c.raw_bytes = (uint32_t)(d->bytes - at < most ? d->bytes - at : most);
	} else {
		const struct ty_chunk_ent *e = &d->chunks.v[chunk];

		c.first_page = e->first_page;
		c.first_ns = e->first_ns;
		c.last_ns = e->last_ns;
		c.missing = e->missing;
		c.raw_bytes = whole_pages(d, e->raw);
	}
	return c;
}

static int bad_chunk(const struct ty_trace *t, uint32_t stream, uint64_t off, const char *why,
		     struct ty_err *err)
{
	const struct ty_stream *s = &t->streams.v[stream];

	return ty_fail(err, TY_EFORMAT, off, "%s: data of CPU %u at offset %" PRIu64 ": %s",
		       t->path, s->cpu, off, why);
}

static int read_at(const struct ty_trace *t, uint32_t stream, uint64_t off, void *dst, size_t n,
		   struct ty_err *err)
{
	int64_t r = ty_pread(t->priv->data_fd >= 0 ? t->priv->data_fd : t->priv->fd, dst, n, off);

	if (r < 0)
		return errno == EIO ? ty_fail(err, TY_EIO, off, "%s: read error at offset %" PRIu64,
					      t->path, off)
				    : ty_fail_errno(err, "%s: cannot read at offset %" PRIu64,
						    t->path, off);
	return r == (int64_t)n ? 0 : bad_chunk(t, stream, off, "the file ends inside it", err);
}

static int read_compressed(const struct ty_trace *t, uint32_t stream,
			   const struct ty_stream_data *d, const struct ty_chunk_ent *e, void *dst,
			   struct ty_chunk_scratch *scratch, struct ty_err *err)
{
	struct ty_buf *buf = &scratch->buf;
	uint32_t whole = whole_pages(d, e->raw);
	/* An incomplete last page is decompressed elsewhere and left out. */
	size_t need = e->stored + (whole == e->raw ? 0 : (size_t)e->raw);
	uint8_t *p;
	int r;

	ty_buf_reset(buf);
	if (buf->limit < need)
		buf->limit = need; /* capped when the chunk was added */
	if (ty_buf_reserve(buf, need))
		return ty_fail(err, TY_ENOMEM, e->off, "%s: out of memory for %zu bytes", t->path,
			       need);
	p = (uint8_t *)buf->p;
	r = read_at(t, stream, e->off, p, e->stored, err);
	if (r)
		return r;
	if (e->has_crc && e->crc != (uint32_t)crc32(0, p, e->stored))
		return bad_chunk(t, stream, e->off, "its checksum does not match", err);
	if (ty_load(p, 4, t->big_endian) != e->stored - TY_V7_CHUNK_HEAD ||
	    ty_load(p + 4, 4, t->big_endian) != e->raw)
		return bad_chunk(t, stream, e->off, "its sizes are inconsistent", err);
	r = ty_decompress_kept(ty_chunk_codec(t, e), p + TY_V7_CHUNK_HEAD,
			       e->stored - TY_V7_CHUNK_HEAD, whole == e->raw ? dst : p + e->stored,
			       e->raw, scratch);
	if (r == -TY_ENOMEM)
		return ty_fail(err, TY_ENOMEM, e->off, "%s: out of memory", t->path);
	if (r)
		return bad_chunk(t, stream, e->off, "it cannot be decompressed", err);
	if (whole != e->raw)
		memcpy(dst, p + e->stored, whole);
	return 0;
}

int ty_trace_chunk_read(const struct ty_trace *t, uint32_t stream, uint32_t chunk, void *dst,
			struct ty_chunk_scratch *scratch, struct ty_err *err)
{
	const struct ty_stream_data *d = &t->priv->data.v[stream];
	struct ty_chunk c = ty_trace_chunk(t, stream, chunk);
	struct ty_err why = {0};
	int r;

	if (c.missing)
		return bad_chunk(t, stream, d->flat ? d->off + d->bytes : d->chunks.v[chunk].off,
				 "it is not in the file", err);
	if (d->flat)
		return read_at(t, stream, d->off + c.first_page * d->page_size, dst, c.raw_bytes,
			       err);
	r = read_compressed(t, stream, d, &d->chunks.v[chunk], dst, scratch, &why);
	if (r == -TY_EFORMAT && t->unfinished &&
	    ty_spool_dropped(t->priv->fd, t->priv->spool_kept, d->chunks.v[chunk].off))
		return ty_trace_dropped(t, err);
	if (r && err && !err->code)
		*err = why;
	return r;
}
