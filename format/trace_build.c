/* SPDX-License-Identifier: MIT */
/*
 * Builds a struct ty_trace, for the readers of its layouts (trace_file.h): texts, streams, chunks,
 * sections, and the note about missing data.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace_file.h"

/* Pages per chunk of uncompressed data: 64, fewer when pages are large. */
#define FLAT_PAGES 64u
#define FLAT_BYTES (1u << 20)

struct ty_in ty_trace_in(const struct ty_trace *t, uint64_t from, uint64_t to)
{
	struct ty_in in = {.fd = t->priv->fd, .swap = t->big_endian, .win = t->priv->win};

	if (to > t->file_bytes)
		to = t->file_bytes;
	in.pos = from;
	in.end = to;
	if (from > to) {
		in.pos = in.end;
		in.bad = true;
	}
	return in;
}

/* Takes ownership of s; NULL: out of memory. */
static int keep(struct ty_trace *t, char *s, size_t n, struct ty_text *out)
{
	if (!s || vec_push(&t->priv->kept, s)) {
		free(s);
		return -TY_ENOMEM;
	}
	*out = (struct ty_text){s, n};
	return 0;
}

int ty_trace_keep(struct ty_trace *t, struct ty_in *in, uint64_t n, uint64_t limit,
		  struct ty_text *out)
{
	char *s;

	*out = (struct ty_text){0};
	if (n > limit || n > ty_in_left(in) || n + 64 > t->priv->meta_left)
		return -TY_EFORMAT;
	t->priv->meta_left -= n + 64;
	s = malloc((size_t)n + 1);
	if (!s)
		return -TY_ENOMEM;
	ty_in_get(in, s, (size_t)n);
	s[n] = 0;
	if (in->bad) {
		free(s);
		return -TY_EFORMAT;
	}
	return keep(t, s, (size_t)n, out);
}

int ty_trace_keep_bytes(struct ty_trace *t, const char *p, size_t n, uint64_t limit,
			struct ty_text *out)
{
	struct ty_in in = {.fd = -1, .mem = (const uint8_t *)(p ? p : ""), .end = n};

	return ty_trace_keep(t, &in, n, limit, out);
}

int ty_trace_keep_str(struct ty_trace *t, struct ty_in *in, struct ty_text *out)
{
	char s[4096];
	size_t n = ty_in_str(in, s, sizeof(s));

	*out = (struct ty_text){0};
	if (in->bad || n + 64 > t->priv->meta_left)
		return -TY_EFORMAT;
	t->priv->meta_left -= n + 64;
	return keep(t, strdup(s), n, out);
}

void ty_trace_note(struct ty_trace *t, const char *fmt, ...)
{
	va_list ap;

	if (t->priv->note.len)
		ty_buf_adds(&t->priv->note, "; ");
	va_start(ap, fmt);
	ty_buf_vaddf(&t->priv->note, fmt, ap);
	va_end(ap);
}

int ty_trace_damaged(struct ty_trace *t, int r, const char *what, uint64_t off, struct ty_err *err)
{
	if (r == -TY_ENOMEM)
		return ty_fail(err, TY_ENOMEM, off, "%s: out of memory", t->path);
	if (off > t->file_bytes)
		return ty_fail(err, TY_EFORMAT, off,
			       "%s: the file ends at byte %" PRIu64 ", but its section '%s' "
			       "should be at byte %" PRIu64 ". Get a complete copy of the file",
			       t->path, t->file_bytes, what, off);
	return ty_fail(err, TY_EFORMAT, off,
		       "%s: damaged before its first event: cannot read the %s at offset %" PRIu64
		       " of %" PRIu64 ". Get a complete copy of the file",
		       t->path, what, off, t->file_bytes);
}

bool ty_trace_page_size_ok(uint64_t n)
{
	return n >= TY_DAT_PAGE_MIN && n <= TY_DAT_PAGE_MAX && !(n & (n - 1));
}

void ty_trace_cut(struct ty_trace *t, uint64_t off)
{
	if (!t->priv->streams_cut++)
		t->priv->first_cut = off;
	t->truncated = true;
}

int ty_trace_flat(struct ty_trace *t, struct ty_stream_data *d, uint32_t page_size, uint64_t off,
		  uint64_t size, struct ty_err *err)
{
	uint64_t have = off >= t->file_bytes	     ? 0
			: size < t->file_bytes - off ? size
						     : t->file_bytes - off;

	d->flat = true;
	d->page_size = page_size;
	d->flat_pages = page_size >= FLAT_BYTES ? 1 : FLAT_BYTES / page_size;
	if (d->flat_pages > FLAT_PAGES)
		d->flat_pages = FLAT_PAGES;
	d->off = off;
	d->bytes = have & ~(uint64_t)(page_size - 1);
	if (d->bytes / d->flat_pages / page_size >= UINT32_MAX - 1)
		return ty_fail(err, TY_ELIMIT, off, "%s: too much data on one CPU", t->path);
	d->cut = d->bytes != size;
	if (d->cut)
		ty_trace_cut(t, off + d->bytes);
	return 0;
}

int ty_trace_add_chunk(struct ty_trace *t, struct ty_stream_data *d, struct ty_chunk_ent c)
{
	const struct ty_chunk_ent *last = d->chunks.n ? &d->chunks.v[d->chunks.n - 1] : NULL;

	if (!c.missing && !c.raw)
		return 0;
	if (++t->priv->chunks_all > TY_CHUNKS_MAX)
		return -TY_ELIMIT;
	if (!c.missing &&
	    (c.raw > TY_CHUNK_RAW_MAX || c.raw < d->page_size || c.stored < TY_V7_CHUNK_HEAD ||
	     !ty_ratio_ok(ty_chunk_codec(t, &c), c.stored, c.raw))) {
		c.missing = true;
		ty_trace_cut(t, c.off);
	}
	if (c.missing)
		c.raw = 0;
	else if (c.raw & (d->page_size - 1))
		ty_trace_cut(t, c.off);
	if (last)
		c.first_page = last->first_page + last->raw / d->page_size;
	return vec_push(&d->chunks, c);
}

int ty_trace_add_stream(struct ty_trace *t, uint32_t buffer, uint32_t cpu,
			struct ty_stream_data *data, struct ty_err *err)
{
	struct ty_stream s = {.buffer = buffer, .cpu = cpu};

	if (data->flat) {
		uint64_t per = (uint64_t)data->flat_pages * data->page_size;

		s.raw_bytes = data->bytes;
		s.chunks = (uint32_t)((data->bytes + per - 1) / per) + data->cut;
	} else {
		s.chunks = (uint32_t)data->chunks.n;
		vec_each (c, &data->chunks)
			s.raw_bytes += c->raw & ~(data->page_size - 1);
	}
	if (!s.chunks) {
		vec_fini(&data->chunks);
		return 0;
	}
	if (vec_reserve(&t->streams, t->streams.n + 1) ||
	    vec_reserve(&t->priv->data, t->priv->data.n + 1)) {
		vec_fini(&data->chunks);
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", t->path);
	}
	t->streams.v[t->streams.n++] = s;
	t->priv->data.v[t->priv->data.n++] = *data;
	return 0;
}

int ty_trace_add_section(struct ty_trace *t, uint32_t type, struct ty_text text)
{
	struct ty_section_text fresh = {.type = type, .text = text, .bytes = text.n};
	struct ty_text both;
	char *s;
	int r;

	vec_each (old, &t->priv->sections) {
		if (old->type != type)
			continue;
		ty_trace_section(t, type);
		if (old->failed)
			return old->failed;
		if (old->text.n + text.n + 64 > t->priv->meta_left)
			return -TY_EFORMAT;
		t->priv->meta_left -= old->text.n + text.n + 64;
		s = malloc(old->text.n + text.n + 1);
		if (s) {
			memcpy(s, old->text.s, old->text.n);
			memcpy(s + old->text.n, text.s, text.n + 1);
		}
		r = keep(t, s, old->text.n + text.n, &both);
		if (r)
			return r;
		if (old->later)
			free((char *)old->text.s);
		old->later = false;
		old->text = both;
		old->bytes = both.n;
		return 0;
	}
	return vec_push(&t->priv->sections, fresh);
}

int ty_trace_add_section_later(struct ty_trace *t, uint32_t type, uint64_t n, uint64_t off,
			       uint64_t stored)
{
	struct ty_section_text fresh = {
		.type = type, .text.n = n, .bytes = n, .later = true, .off = off, .stored = stored};

	if (n + 64 > t->priv->meta_left)
		return -TY_EFORMAT;
	t->priv->meta_left -= n + 64;
	return vec_push(&t->priv->sections, fresh);
}
