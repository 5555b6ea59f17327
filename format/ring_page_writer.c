/* SPDX-License-Identifier: MIT */
/*
 * See ring_page_writer.h. Chunks are LZ4 blocks after the head of a v7 chunk, as in a spool.
 * Budget: 30 ns per record of 100 bytes.
 *
 * A loss ends a page early, so a hostile file could force a page per loss. When a file has more
 * losses per byte than a kernel would write (bytes of the file, or of records, which may be
 * compressed there), the excess is stated by the next page that begins anyway: complete, but up to
 * a page late.
 */
#include "ring_page_writer.h"

#include <errno.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "temp_file.h"

#define CHUNK_BYTES (16 * TY_PAGE_OUT_BYTES)
#define FILE_LOSS   512u  /* minimum bytes of the file between two losses */
#define RECORD_LOSS 1024u /* the same for records */
#define MISSED	    (1u << 31)
#define MISSED_NUM  (1u << 30)
#define DELTA_BITS  27
#define EXTEND_BITS 59
#define SMALL_MAX   112u /* largest data whose length is encoded in the record's head */
#define EXTEND	    8u

static const char header_page[2][200] = {
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
	"\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield: char data;\toffset:12;\tsize:16372;\tsigned:0;\n",
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield: char data;\toffset:16;\tsize:16368;\tsigned:0;\n",
};

static void le(uint8_t *p, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

int ty_page_sink_init(struct ty_page_sink *k, struct ty_trace *t, struct ty_err *err)
{
	const char *dir, *head = header_page[t->long_size == 8];

	*k = (struct ty_page_sink){.t = t};
	t->priv->page_size = TY_PAGE_OUT_BYTES;
	t->header_page = (struct ty_text){head, strlen(head)};
	k->lz4_cap = TY_V7_CHUNK_HEAD + (size_t)LZ4_compressBound(CHUNK_BYTES);
	k->lz4 = malloc(k->lz4_cap);
	if (!k->lz4)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", t->path);
	t->priv->data_fd = ty_temp_file(&dir);
	if (t->priv->data_fd < 0)
		return ty_fail_errno(err,
				     "%s: cannot create a temporary file for its events in %s (set "
				     "TMPDIR to another directory)",
				     t->path, dir);
	return 0;
}

void ty_page_sink_fini(struct ty_page_sink *k)
{
	free(k->lz4);
	k->lz4 = NULL;
}

static void end_page(struct ty_page_writer *o, const struct ty_page_sink *k)
{
	unsigned word = k->t->long_size;
	uint8_t *page = o->raw + o->page;
	uint64_t commit = o->pos - 8 - word, most = word == 4 ? UINT32_MAX : UINT64_MAX;

	if (o->page_missed) {
		commit |= MISSED | MISSED_NUM;
		le(page + o->pos, o->page_missed < most ? o->page_missed : most, word);
	}
	le(page + 8, commit, word);
	o->page += TY_PAGE_OUT_BYTES;
	o->pos = 0;
}

static int flush(struct ty_page_writer *o, struct ty_page_sink *k, struct ty_err *err)
{
	struct ty_chunk_ent e = {.off = k->off,
				 .first_ns = o->first_ns,
				 .last_ns = o->ts,
				 .raw = o->page,
				 .lz4 = true};
	const struct ty_trace *t = k->t;
	int n, r;

	if (!o->page)
		return 0;
	n = LZ4_compress_default((const char *)o->raw, (char *)k->lz4 + TY_V7_CHUNK_HEAD,
				 (int)o->page, (int)(k->lz4_cap - TY_V7_CHUNK_HEAD));
	if (n <= 0)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", t->path);
	e.stored = (uint32_t)n + TY_V7_CHUNK_HEAD;
	le(k->lz4, (uint32_t)n, 4);
	le(k->lz4 + 4, o->page, 4);
	errno = ENOSPC; /* a short write */
	if (pwrite(t->priv->data_fd, k->lz4, e.stored, (off_t)k->off) != (ssize_t)e.stored)
		return ty_fail_errno(
			err,
			"%s: cannot write its events to a temporary file (in $TMPDIR or /var/tmp)",
			t->path);
	k->off += e.stored;
	k->pages += o->page / TY_PAGE_OUT_BYTES;
	o->page = 0;
	r = ty_trace_add_chunk(k->t, &o->data, e);
	return r ? ty_fail(err, -r, TY_NO_OFFSET, "%s: cannot store the events: %s", t->path,
			   ty_strerror(r))
		 : 0;
}

/* Closes the open page and opens one that begins at ts. */
static int next_page(struct ty_page_writer *o, struct ty_page_sink *k, uint64_t ts,
		     struct ty_err *err)
{
	int r;

	if (!o->raw) {
		o->raw = malloc(CHUNK_BYTES);
		if (!o->raw)
			return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory",
				       k->t->path);
		o->data.page_size = TY_PAGE_OUT_BYTES;
	}
	if (o->pos)
		end_page(o, k);
	if (o->page == CHUNK_BYTES) {
		r = flush(o, k, err);
		if (r)
			return r;
	}
	if (!o->page)
		o->first_ns = ts;
	memset(o->raw + o->page, 0, TY_PAGE_OUT_BYTES);
	le(o->raw + o->page, ts, 8);
	o->pos = 8 + k->t->long_size;
	o->end = TY_PAGE_OUT_BYTES - (o->missed ? k->t->long_size : 0);
	o->page_missed = o->missed;
	o->missed = 0;
	o->ts = ts;
	return 0;
}

/* True when a loss may end a page. */
static bool may_end(struct ty_page_sink *k)
{
	if (k->losses >= k->t->file_bytes / FILE_LOSS + k->bytes / RECORD_LOSS + 64)
		return false;
	k->losses++;
	return true;
}

int ty_page_writer_add(struct ty_page_writer *o, struct ty_page_sink *k, uint64_t ts, const void *p,
		       uint32_t n, struct ty_err *err)
{
	uint32_t size = (n + 3) & ~3u, head = size && size <= SMALL_MAX ? 4 : 8;
	uint64_t delta;
	uint8_t *to;
	int r;

	if (n > TY_PAGE_OUT_BYTES - 64) {
		o->missed++;
		return 0;
	}
	k->bytes += n;
	if (!o->pos || o->pos + EXTEND + head + size > o->end || (ts - o->ts) >> EXTEND_BITS ||
	    (o->missed && may_end(k))) {
		r = next_page(o, k, ts, err);
		if (r)
			return r;
	}
	delta = ts - o->ts;
	if (delta >> DELTA_BITS) {
		to = o->raw + o->page + o->pos;
		le(to, 30 | (uint32_t)(delta << 5), 4);
		le(to + 4, delta >> DELTA_BITS, 4);
		o->pos += EXTEND;
		delta = 0;
	}
	to = o->raw + o->page + o->pos;
	le(to, (head == 4 ? size / 4 : 0) | (uint32_t)delta << 5, 4);
	if (head == 8)
		le(to + 4, size + 4, 4);
	memcpy(to + head, p, n);
	o->pos += head + size;
	o->ts = ts;
	return 0;
}

int ty_page_writer_finish(struct ty_page_writer *o, struct ty_page_sink *k, uint32_t cpu,
			  struct ty_err *err)
{
	int r = 0;

	/* Losses after the last record are stated by an empty page. */
	if (o->missed)
		r = next_page(o, k, o->ts, err);
	if (!r && o->pos)
		end_page(o, k);
	r = r ? r : o->raw ? flush(o, k, err) : 0;
	return r ? r : ty_trace_add_stream(k->t, 0, cpu, &o->data, err);
}

void ty_page_writer_fini(struct ty_page_writer *o)
{
	free(o->raw);
	o->raw = NULL;
}
