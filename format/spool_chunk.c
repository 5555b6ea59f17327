/* SPDX-License-Identifier: MIT */
/*
 * One chunk of a spool (spool.h): validation of its head, and its content. All readers of a spool's
 * texts use this file; ring pages are read like those of any trace (trace_chunk.c).
 */
#include <stdlib.h>
#include <lz4.h>
#include <zlib.h>
#include <zstd.h>

#include "checked_read.h"
#include "trace_file.h"

uint32_t ty_spool_head_crc(const struct ty_spool_chunk *c)
{
	return (uint32_t)crc32(0, (const uint8_t *)c, offsetof(struct ty_spool_chunk, head_crc));
}

bool ty_spool_head_valid(const struct ty_spool_chunk *c)
{
	return c->magic == TY_SPOOL_CHUNK_MAGIC && c->raw <= TY_CHUNK_RAW_MAX &&
	       c->head_crc == ty_spool_head_crc(c);
}

int ty_spool_chunk_read(int fd, const struct ty_spool_ent *e, struct ty_buf *to)
{
	const struct ty_spool_chunk *h = &e->h;
	enum ty_codec codec = h->flags & TY_SPOOL_LZ4 ? TY_CODEC_LZ4 : TY_CODEC_ZSTD;
	uint32_t n = h->stored - TY_V7_CHUNK_HEAD;
	uint8_t *z;
	int r;

	if (h->stored < TY_V7_CHUNK_HEAD || h->stored > ty_spool_packed_max(h->raw) ||
	    !ty_ratio_ok(codec, n, h->raw))
		return -TY_EFORMAT;
	r = ty_buf_reserve(to, h->raw);
	if (r)
		return r;
	z = malloc(h->stored);
	if (!z)
		return -TY_ENOMEM;
	if (ty_pread(fd, z, h->stored, e->off + sizeof(*h)) != h->stored)
		r = -TY_EIO;
	else if ((uint32_t)crc32(0, z, h->stored) != h->crc || ty_load(z, 4, false) != n ||
		 ty_load(z + 4, 4, false) != h->raw)
		r = -TY_EFORMAT;
	else
		r = ty_decompress(codec, z + TY_V7_CHUNK_HEAD, n, to->p + to->len, h->raw);
	free(z);
	if (!r)
		to->len += h->raw;
	to->p[to->len] = 0;
	return r;
}

size_t ty_spool_packed_max(size_t raw_bytes)
{
	size_t zstd = ZSTD_compressBound(raw_bytes), lz4 = (size_t)LZ4_COMPRESSBOUND(raw_bytes);

	return sizeof(struct ty_spool_chunk) + TY_V7_CHUNK_HEAD + (zstd > lz4 ? zstd : lz4);
}
