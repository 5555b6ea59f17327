/* SPDX-License-Identifier: MIT */
/* Per-thread state for reading chunks, kept between chunks. */
#include <zstd.h>

#include "spool_file.h"
#include "trace.h"

void ty_chunk_scratch_init(struct ty_chunk_scratch *s)
{
	s->zstd = NULL;
	ty_buf_init(&s->buf, TY_CHUNK_RAW_MAX);
}

void ty_chunk_scratch_fini(struct ty_chunk_scratch *s)
{
	ZSTD_freeDCtx(s->zstd);
	s->zstd = NULL;
	ty_buf_fini(&s->buf);
}
