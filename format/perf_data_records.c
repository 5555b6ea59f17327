/* SPDX-License-Identifier: MIT */
/*
 * perf.data: the sequence of records (perf_data.h).
 *
 * Raw records are read through one window by pread, so that a file truncated meanwhile is a short
 * read. The content of a COMPRESSED record is a piece of one zstd stream over the whole file; its
 * output need not end at a record boundary, so the remainder stays in `dec` until the next piece.
 * Output is produced DEC_BYTES at a time: a small file that decompresses to much data costs time,
 * not memory. Budget of ty_perf_next: no allocation, and no copy except by zstd.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "buf.h"
#include "checked_read.h"
#include "perf_file.h"
#include "spool_file.h"

#define GLANCE                                                                                     \
	(4u << 10) /* read after a block of AUX data: the next record is often another             \
		    * block */
#define REC_MAX	  65535u
#define DEC_BYTES (256u << 10)

static int damaged(const struct ty_perf *p, uint64_t off, const char *what, struct ty_err *err)
{
	return ty_fail(err, TY_EFORMAT, off, "%s: damaged: %s at offset %" PRIu64, p->path, what,
		       off);
}

int ty_perf_read(const struct ty_perf *p, uint64_t off, void *dst, size_t n, struct ty_err *err)
{
	int64_t r;

	if (off > p->file_bytes || n > p->file_bytes - off)
		return damaged(p, off, "data beyond the end of the file", err);
	if (p->priv->mem) {
		memcpy(dst, p->priv->mem + off, n);
		return 0;
	}
	r = ty_pread(p->priv->fd, dst, n, off);
	if (r < 0)
		return ty_fail_errno(err, "%s: cannot read at offset %" PRIu64, p->path, off);
	return r == (int64_t)n ? 0
			       : damaged(p, off, "the file was truncated while it was read", err);
}

/* Borrows n bytes (at most REC_MAX) at off until the next call; NULL when there are fewer (*failed:
 * the read failed). */
static const uint8_t *window(struct ty_perf *p, uint64_t off, size_t n, bool *failed)
{
	struct ty_perf_priv *v = p->priv;
	int64_t r;

	if (v->mem)
		return off <= p->file_bytes && n <= p->file_bytes - off ? v->mem + off : NULL;
	if (off < v->win_off || off - v->win_off > v->win_n || n > v->win_n - (off - v->win_off)) {
		/* Also past a little AUX data, of which there is more then. */
		bool on = off >= v->win_off && off - v->win_off <= v->win_n + GLANCE;

		v->look = !on ? GLANCE : v->look < TY_PERF_WINDOW ? 2 * v->look : TY_PERF_WINDOW;
		v->look = v->look < n ? TY_PERF_WINDOW : v->look;
		r = ty_pread(v->fd, v->win, v->look, off);
		if (r < 0) {
			*failed = true;
			r = 0;
		}
		v->win_off = off;
		v->win_n = (size_t)r;
		if (n > v->win_n)
			return NULL;
	}
	return v->win + (off - v->win_off);
}

void ty_perf_note(struct ty_perf *p, uint64_t off, const char *what)
{
	struct ty_perf_priv *v = p->priv;

	if (p->note)
		return;
	ty_buf_addf(&v->note, "%s at offset %" PRIu64 ": everything after it is missing", what,
		    off);
	p->note = v->note.p;
}

/* A raw record of the file. */
static int next_raw(struct ty_perf *p, struct ty_perf_rec *out, struct ty_err *err)
{
	struct ty_perf_priv *v = p->priv;
	uint64_t left = v->end - v->pos, skip = 0;
	bool failed = false;
	const uint8_t *b;
	uint32_t size;

	if (!left)
		return 0;
	b = left < 8 ? NULL : window(p, v->pos, 8, &failed);
	size = b ? (uint32_t)ty_load(b + 6, 2, false) : 8;
	if (size < 8)
		return damaged(p, v->pos, "a record of less than 8 bytes", err);
	if (b)
		b = size > left ? NULL : window(p, v->pos, size, &failed);
	if (failed)
		return ty_fail_errno(err, "%s: cannot read at offset %" PRIu64, p->path, v->pos);
	if (!b) {
		ty_perf_note(p, v->pos, "the data ends inside a record");
		v->pos = v->end;
		return 0;
	}
	*out = (struct ty_perf_rec){.type = (uint32_t)ty_load(b, 4, false),
				    .misc = (uint16_t)ty_load(b + 4, 2, false),
				    .body = b + 8,
				    .n = size - 8,
				    .off = v->pos};
	if (out->type == TY_PERF_AUXTRACE || out->type == TY_PERF_HEADER_TRACING_DATA) {
		bool aux = out->type == TY_PERF_AUXTRACE;

		if (out->n < (aux ? 8 : 4))
			return damaged(p, v->pos, "a record too short for its type", err);
		out->data_off = v->pos + size;
		out->data_n = skip = ty_load(out->body, aux ? 8 : 4, false);
		if (!aux)
			skip = (skip + 7) & ~7ull;
		if (skip > left - size) {
			ty_perf_note(p, v->pos, "the data ends inside a block of AUX data");
			out->data_n = skip = left - size;
		}
	}
	v->pos += size + skip;
	return 1;
}

/* Starts decompressing a COMPRESSED record. */
static int feed(struct ty_perf *p, const struct ty_perf_rec *r, struct ty_err *err)
{
	struct ty_perf_priv *v = p->priv;
	const uint8_t *src = r->body;
	uint32_t n = r->n;

	if (r->type == TY_PERF_COMPRESSED2) {
		uint64_t size = n >= 8 ? ty_load(src, 8, false) : UINT64_MAX;

		if (size > n - 8)
			return damaged(p, r->off, "a compressed record with a wrong size", err);
		src += 8;
		n = (uint32_t)size;
	}
	if (!v->zstd) {
		v->zstd = ZSTD_createDStream();
		v->zin = malloc(REC_MAX);
		v->dec = malloc(DEC_BYTES);
		if (!v->zstd || !v->zin || !v->dec)
			return ty_fail(err, TY_ENOMEM, r->off, "%s: out of memory", p->path);
	}
	if (!v->zstd_on) {
		ZSTD_initDStream(v->zstd);
		v->zstd_on = true;
	}
	memcpy(v->zin, src, n);
	v->zin_n = n;
	v->zin_pos = 0;
	v->zin_off = r->off;
	v->zin_more = true;
	return 0;
}

/* Returns a decompressed record: 1; 0 (needs another COMPRESSED record); -TY_EFORMAT. */
static int next_unpacked(struct ty_perf *p, struct ty_perf_rec *out, struct ty_err *err)
{
	struct ty_perf_priv *v = p->priv;

	for (;;) {
		size_t left = v->dec_n - v->dec_pos, r;
		const uint8_t *b = v->dec + v->dec_pos;
		ZSTD_inBuffer in = {v->zin, v->zin_n, v->zin_pos};
		ZSTD_outBuffer o;
		uint32_t size = left >= 8 ? (uint32_t)ty_load(b + 6, 2, false) : 0;

		if (left >= 8 && size < 8)
			return damaged(p, v->zin_off, "a compressed record of less than 8 bytes",
				       err);
		if (size && size <= left) {
			*out = (struct ty_perf_rec){.type = (uint32_t)ty_load(b, 4, false),
						    .misc = (uint16_t)ty_load(b + 4, 2, false),
						    .body = b + 8,
						    .n = size - 8,
						    .off = v->zin_off};
			if (out->type == TY_PERF_AUXTRACE ||
			    out->type == TY_PERF_HEADER_TRACING_DATA ||
			    out->type == TY_PERF_COMPRESSED || out->type == TY_PERF_COMPRESSED2)
				return damaged(
					p, v->zin_off,
					"a record type that is invalid inside a compressed record",
					err);
			v->dec_pos += size;
			return 1;
		}
		if (!v->zin_more)
			return 0;
		if (left)
			memmove(v->dec, b, left);
		v->dec_pos = 0;
		v->dec_n = left;
		o = (ZSTD_outBuffer){v->dec, DEC_BYTES, left};
		r = ZSTD_decompressStream(v->zstd, &o, &in);
		if (ZSTD_isError(r))
			return damaged(p, v->zin_off, "compressed data that cannot be decompressed",
				       err);
		/* zstd may hold back output only while there was no space for it. */
		v->zin_more = in.pos < in.size || o.pos == o.size;
		v->zin_pos = in.pos;
		v->dec_n = o.pos;
	}
}

int ty_perf_next_record(struct ty_perf *p, struct ty_perf_rec *out, struct ty_err *err)
{
	struct ty_perf_priv *v = p->priv;
	int r;

	for (;;) {
		if (p->stop && atomic_load_explicit(p->stop, memory_order_relaxed))
			return ty_fail(err, TY_EINTR, TY_NO_OFFSET, "%s: interrupted", p->path);
		if (v->zstd_on) {
			r = next_unpacked(p, out, err);
			if (r)
				return r;
		}
		r = next_raw(p, out, err);
		if (r <= 0)
			return r;
		if (out->type == TY_PERF_COMPRESSED || out->type == TY_PERF_COMPRESSED2) {
			r = feed(p, out, err);
			if (r)
				return r;
			continue;
		}
		return 1;
	}
}

void ty_perf_rewind(struct ty_perf *p)
{
	struct ty_perf_priv *v = p->priv;

	v->pos = v->begin;
	v->zstd_on = v->zin_more = false;
	v->dec_pos = v->dec_n = v->zin_n = v->zin_pos = 0;
}
