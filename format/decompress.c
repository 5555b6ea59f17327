/* SPDX-License-Identifier: MIT */
/* Decompression of chunks and sections (trace_file.h). */
#include <lz4.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "trace_file.h"

static int zstd_result(size_t r, size_t n)
{
	if (ZSTD_isError(r))
		return ZSTD_getErrorCode(r) == ZSTD_error_memory_allocation ? -TY_ENOMEM
									    : -TY_EFORMAT;
	return r == n ? 0 : -TY_EFORMAT;
}

int ty_decompress(enum ty_codec codec, const void *src, size_t src_n, void *dst, size_t n)
{
	if (codec == TY_CODEC_ZSTD)
		return zstd_result(ZSTD_decompress(dst, n, src, src_n), n);
	if (codec == TY_CODEC_LZ4) {
		if (src_n > LZ4_MAX_INPUT_SIZE || n > LZ4_MAX_INPUT_SIZE)
			return -TY_EFORMAT;
		return LZ4_decompress_safe(src, dst, (int)src_n, (int)n) == (int)n ? 0
										   : -TY_EFORMAT;
	}
	if (codec == TY_CODEC_ZLIB) {
		uLongf len = n;
		int r = uncompress(dst, &len, src, src_n);

		if (r == Z_MEM_ERROR)
			return -TY_ENOMEM;
		return r == Z_OK && len == n ? 0 : -TY_EFORMAT;
	}
	return -TY_EFORMAT;
}

bool ty_ratio_ok(enum ty_codec codec, uint64_t stored, uint64_t raw)
{
	/* A zstd block of at least 4 bytes gives at most 128 KiB; a byte of an LZ4 length 255
	 * bytes; deflate at most 1032 : 1. */
	if (codec == TY_CODEC_ZSTD)
		return raw <= (stored / 4 + 1) * (128 << 10);
	if (codec == TY_CODEC_LZ4)
		return raw <= stored * 255;
	return raw <= (stored + 1) * 1032;
}

int ty_decompress_kept(enum ty_codec codec, const void *src, size_t src_n, void *dst, size_t n,
		       struct ty_chunk_scratch *s)
{
	if (codec != TY_CODEC_ZSTD)
		return ty_decompress(codec, src, src_n, dst, n);
	if (!s->zstd)
		s->zstd = ZSTD_createDCtx();
	if (!s->zstd)
		return -TY_ENOMEM;
	return zstd_result(ZSTD_decompressDCtx(s->zstd, dst, n, src, src_n), n);
}

enum ty_codec ty_chunk_codec(const struct ty_trace *t, const struct ty_chunk_ent *e)
{
	return e->lz4 ? TY_CODEC_LZ4 : t->priv->codec;
}
