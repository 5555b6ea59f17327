/* SPDX-License-Identifier: MIT */
/* What a thread that reads chunks keeps from one to the next. */
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
