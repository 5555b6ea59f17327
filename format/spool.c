/* SPDX-License-Identifier: MIT */
/*
 * The spool, writing side (layout: spool.h, tarry.dat(5)).
 *
 * Budget of ty_spool_put: one zstd level-1 (or LZ4) compression, one crc32, two pwrites, a read of
 * the coarse clock and once a second a sync_file_range; no lock and no allocation of its own (zstd
 * may resize its tables when chunk sizes change for good).
 *
 * Invariants:
 *   - A chunk's offset is reserved by one atomic add; writers never wait for each other (where the
 *     oldest may be dropped, spool_keep.c, for as long as it takes to note a number).
 *   - The payload is written before its head. A writer that dies between the two leaves a hole
 *     without a head, which a reader skips; a head never exists without its payload (except after
 *     a power cut, which the payload's crc32 detects).
 *   - The first failure is sticky and returned by every later put: a recording never continues with
 *     an unreported hole.
 */
#include "spool.h"

#include <fcntl.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "atomic_file.h"
#include "full_io.h"
#include "now.h"
#include "spool_file.h"
#include "trace_dat.h"

#define SYNC_NS 1000000000u

struct ty_spool_writer {
	struct ty_spool *spool;
	ZSTD_CCtx *zstd;
	LZ4_stream_t *lz4; /* room for its state */
	size_t max_raw, cap;
	uint8_t *out;  /* one packed chunk */
	size_t stored; /* bytes of it */
};

int ty_spool_create(const char *path, uint32_t page_size, struct ty_spool **out, struct ty_err *err)
{
	struct ty_spool_head head = {
		.version = TY_SPOOL_VERSION, .page_size = page_size, .long_size = sizeof(long)};
	struct ty_spool *s = calloc(1, sizeof(*s));
	int r;

	*out = NULL;
	if (page_size < TY_DAT_PAGE_MIN || page_size & (page_size - 1)) {
		free(s);
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET, "%s: invalid ring page size %u", path,
			       page_size);
	}
	if (!s || !(s->path = strdup(path))) {
		free(s);
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", path);
	}
	s->fd = -1;
	s->page_size = page_size;
	s->fd = ty_atomic_file_open(path, -1, false, &s->name, err);
	r = s->fd < 0 ? s->fd : 0;
	memcpy(head.magic, TY_SPOOL_MAGIC, sizeof(head.magic));
	if (!r && !ty_full_write(s->fd, &head, sizeof(head), 0))
		r = ty_fail_errno(err, "cannot write %s", s->path);
	if (r) {
		ty_spool_discard(s);
		ty_spool_close(s);
		return r;
	}
	atomic_init(&s->end, sizeof(head));
	atomic_init(&s->sync_at_ns, ty_now_ns(CLOCK_MONOTONIC_COARSE) + SYNC_NS);
	*out = s;
	return 0;
}

int ty_spool_publish(struct ty_spool *s, struct ty_err *err)
{
	int r = s->published ? 0 : ty_atomic_file_place(s->fd, &s->name, s->path, -1, err);

	s->published |= !r;
	return r;
}

void ty_spool_discard(struct ty_spool *s)
{
	ty_atomic_file_remove(&s->name);
	if (s->published && ty_atomic_file_is_at(s->path, s->fd))
		unlink(s->path);
	s->published = false;
}

bool ty_spool_is_finished(const struct ty_spool *s)
{
	return s->finished;
}

bool ty_spool_removed(const struct ty_spool *s)
{
	struct stat st;

	return !s->finished && !fstat(s->fd, &st) && !st.st_nlink;
}

void ty_spool_close(struct ty_spool *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	ty_spool_keep_free(s);
	free(s->name);
	free(s->path);
	free(s);
}

uint64_t ty_spool_bytes(const struct ty_spool *s)
{
	return atomic_load(&s->end) - atomic_load(&s->dropped);
}

uint64_t ty_spool_written(const struct ty_spool *s)
{
	return atomic_load(&s->end);
}

struct ty_spool_writer *ty_spool_writer_new(struct ty_spool *s, size_t max_raw_bytes)
{
	struct ty_spool_writer *w = calloc(1, sizeof(*w));
	uint8_t *raw = NULL;

	if (!w || max_raw_bytes > TY_CHUNK_RAW_MAX)
		goto fail;
	w->spool = s;
	w->max_raw = max_raw_bytes;
	w->cap = ty_spool_packed_max(max_raw_bytes);
	w->out = malloc(w->cap);
	w->zstd = ZSTD_createCCtx();
	w->lz4 = calloc(1, sizeof(*w->lz4));
	raw = calloc(1, max_raw_bytes ? max_raw_bytes : 1);
	if (!w->out || !w->zstd || !w->lz4 || !raw)
		goto fail;
	if (ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, 1)))
		goto fail;
	/* One compression of full size makes zstd allocate its tables now. */
	memset(w->out, 1, w->cap);
	if (ZSTD_isError(ZSTD_compress2(w->zstd, w->out, w->cap, raw, max_raw_bytes)))
		goto fail;
	free(raw);
	return w;
fail:
	free(raw);
	ty_spool_writer_free(w);
	return NULL;
}

void ty_spool_writer_free(struct ty_spool_writer *w)
{
	if (!w)
		return;
	ZSTD_freeCCtx(w->zstd);
	free(w->lz4);
	free(w->out);
	free(w);
}

/* Give the first failure of the spool to this caller. */
static int failed_before(struct ty_spool *s, struct ty_err *err)
{
	int code = atomic_load(&s->failed);

	if (!code)
		return 0;
	if (atomic_load(&s->err_ready))
		return ty_fail(err, code, s->err.off, "%s", s->err.msg);
	return ty_fail(err, code, TY_NO_OFFSET, "%s: an earlier write failed: %s", s->path,
		       ty_strerror(code));
}

static int fail_first(struct ty_spool *s, struct ty_err mine, struct ty_err *err)
{
	int none = 0;

	if (atomic_compare_exchange_strong(&s->failed, &none, mine.code)) {
		s->err = mine;
		atomic_store(&s->err_ready, true);
	}
	return failed_before(s, err);
}

int ty_spool_failed(struct ty_spool *s, struct ty_err *err)
{
	return failed_before(s, err);
}

/* Bytes of out that are used; 0 on failure, with the reason. */
static size_t squeeze(struct ty_spool_writer *w, bool lz4, const void *raw, size_t n, void *out,
		      size_t cap, const char **why)
{
	size_t r;

	if (lz4) {
		*why = "no space";
		return (size_t)LZ4_compress_fast_extState(w->lz4, raw, out, (int)n, (int)cap, 1);
	}
	r = ZSTD_compress2(w->zstd, out, cap, raw, n);
	*why = ZSTD_getErrorName(r);
	return ZSTD_isError(r) ? 0 : r;
}

int ty_spool_pack(struct ty_spool_writer *w, const struct ty_spool_chunk *what, const void *raw,
		  size_t n, void *out, size_t cap, size_t *len, struct ty_err *err)
{
	struct ty_spool_chunk c = *what;
	uint8_t *head = out, *payload = head + sizeof(c);
	struct ty_spool *s = w->spool;
	struct ty_err mine = {0};
	const char *why;
	uint32_t z;

	*len = 0;
	if (atomic_load_explicit(&s->failed, memory_order_relaxed))
		return failed_before(s, err);
	if (n > w->max_raw || cap < ty_spool_packed_max(n)) {
		ty_fail(&mine, TY_ELIMIT, TY_NO_OFFSET,
			"%s: a chunk of %zu bytes exceeds the limit of %zu", s->path, n,
			w->max_raw);
		return fail_first(s, mine, err);
	}
	z = (uint32_t)squeeze(w, c.flags & TY_SPOOL_LZ4, n ? raw : "", n,
			      payload + TY_V7_CHUNK_HEAD, cap - sizeof(c) - TY_V7_CHUNK_HEAD, &why);
	if (!z) {
		ty_fail(&mine, TY_ENOMEM, TY_NO_OFFSET, "%s: cannot compress: %s", s->path, why);
		return fail_first(s, mine, err);
	}
	c.magic = TY_SPOOL_CHUNK_MAGIC;
	c.raw = (uint32_t)n;
	memcpy(payload, &z, 4);
	memcpy(payload + 4, &c.raw, 4);
	c.stored = TY_V7_CHUNK_HEAD + z;
	c.crc = (uint32_t)crc32(0, payload, c.stored);
	c.head_crc = ty_spool_head_crc(&c);
	memcpy(head, &c, sizeof(c));
	*len = sizeof(c) + c.stored;
	return 0;
}

/*
 * About once a second: have the kernel write out what it holds of the file, without waiting for it,
 * so that a power cut costs seconds and not the half minute for which dirty pages may stay in
 * memory.
 */
static void start_writeback(struct ty_spool *s)
{
	uint64_t at = atomic_load_explicit(&s->sync_at_ns, memory_order_relaxed),
		 now = ty_now_ns(CLOCK_MONOTONIC_COARSE);

	if (now >= at && atomic_compare_exchange_strong(&s->sync_at_ns, &at, now + SYNC_NS))
		(void)sync_file_range(s->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

int ty_spool_write(struct ty_spool *s, const void *chunk, size_t len, uint64_t *off)
{
	const size_t head = sizeof(struct ty_spool_chunk);
	int64_t place;

	if (s->keep) {
		place = ty_spool_keep_place(s, chunk, len);
		if (place < 0)
			return -1;
		*off = (uint64_t)place;
	} else {
		*off = atomic_fetch_add(&s->end, len);
	}
	return !ty_full_write(s->fd, (const char *)chunk + head, len - head, *off + head) ||
	       !ty_full_write(s->fd, chunk, head, *off);
}

int ty_spool_append(struct ty_spool *s, const void *chunk, size_t len, struct ty_err *err)
{
	struct ty_err mine = {0};
	uint64_t off;

	if (atomic_load_explicit(&s->failed, memory_order_relaxed))
		return failed_before(s, err);
	if (ty_spool_write(s, chunk, len, &off)) {
		ty_fail_errno(&mine,
			      "cannot write to %s (free disk space or choose another disk with -o)",
			      s->path);
		mine.off = off;
		return fail_first(s, mine, err);
	}
	start_writeback(s);
	return 0;
}

int ty_spool_put(struct ty_spool_writer *w, const struct ty_spool_chunk *what, const void *raw,
		 size_t n, struct ty_err *err)
{
	int r = ty_spool_pack(w, what, raw, n, w->out, w->cap, &w->stored, err);

	return r ? r : ty_spool_append(w->spool, w->out, w->stored, err);
}

size_t ty_spool_stored(const struct ty_spool_writer *w)
{
	return w->stored;
}
