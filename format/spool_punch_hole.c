/* SPDX-License-Identifier: MIT */
/*
 * Drops a spool's oldest data (layout: spool.h, TY_SEC_KEPT in section.h).
 *
 * The file grows at its end and is freed from its start (FALLOC_FL_PUNCH_HOLE): its size is that of
 * everything ever written, its disk usage that of the data kept. Everything before a mark is
 * dropped. Chunks are written within a second or two of their events, so file order is
 * approximately time order. A mark knows the number that each stream had reached: a chunk that was
 * overtaken by its successor lies after the mark but does not count, so that no stream has a hole
 * at its start.
 *
 * Crash safety determines the order of a drop: the new TY_SEC_KEPT chunk, the head that points to
 * it, the hole; each is on disk before the next one begins. A crash or power cut in between leaves
 * more data, or data that does not count.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "buf.h"
#include "full_io.h"
#include "key_value.h"
#include "section.h"
#include "spool_keep.h"

/* A hole begins where the previous one ended, in the middle of a block, and a block is freed only
 * by a hole that covers it: more than any file system's block. */
#define BLOCK_MAX  (1u << 20)
#define TEXT_LIMIT (2u << 20)

int ty_spool_keep(struct ty_spool *s, struct ty_err *err)
{
	struct ty_spool_keep *k;

	/* Probe with a hole after the end of the file: fails where holes are unsupported. */
	if (fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		      (off_t)atomic_load(&s->end), BLOCK_MAX))
		return ty_fail_errno(err,
				     "--keep: the file system of %s cannot punch holes into files. "
				     "Choose another one with -o",
				     s->path);
	k = calloc(1, sizeof(*k));
	if (!k)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", s->path);
	pthread_mutex_init(&k->lock, NULL);
	k->begin = k->from = k->to = atomic_load(&s->end);
	s->keep = k;
	return 0;
}

/* Writes the TY_SEC_KEPT chunk. Returns its text and offset. */
static int put_kept(struct ty_spool_writer *w, struct ty_spool *s, struct ty_spool_mark *m,
		    const char *text, uint64_t *off, struct ty_err *err)
{
	const struct ty_spool_chunk what = {.type = TY_SPOOL_SECTION,
					    .flags = TY_SPOOL_LATER,
					    .stream = TY_SEC_KEPT,
					    .seq = s->keep->seq};
	struct ty_buf b;
	char *out;
	size_t len, cap;
	int r = ty_spool_at_least(&m->first, what.type, what.stream, what.seq);

	ty_buf_init(&b, TEXT_LIMIT);
	ty_buf_adds(&b, text);
	ty_buf_addf(&b, "dropped=%" PRIu64 " %" PRIu64 "\n", s->keep->begin, m->off);
	vec_each (f, &m->first)
		ty_buf_addf(&b, "first=%u %u %" PRIu64 "\n", f->type, f->stream, f->seq);
	cap = ty_spool_packed_max(b.len);
	out = malloc(cap);
	if (r || b.failed || !out)
		r = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", s->path);
	if (!r)
		r = ty_spool_pack(w, &what, b.p, b.len, out, cap, &len, err);
	if (!r && ty_spool_write(s, out, len, off))
		r = ty_fail_errno(err, "cannot write to %s", s->path);
	s->keep->seq += !r;
	free(out);
	ty_buf_fini(&b);
	return r;
}

int ty_spool_drop(struct ty_spool_writer *w, struct ty_spool *s, struct ty_spool_mark *m,
		  const char *text, bool *begins, struct ty_err *err)
{
	struct ty_spool_keep *k = s->keep;
	uint64_t off, from;
	int r = put_kept(w, s, m, text, &off, err);

	*begins = false;
	if (r)
		return r;
	if (fdatasync(s->fd) ||
	    !ty_full_write(s->fd, &off, sizeof(off), offsetof(struct ty_spool_head, kept)) ||
	    fdatasync(s->fd))
		return ty_fail_errno(err, "cannot write to %s", s->path);
	*begins = true;
	if (m->off <= k->to)
		return 0;
	from = k->to - k->from > BLOCK_MAX ? k->to - BLOCK_MAX : k->from;
	while (fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
			 (off_t)(m->off - from)))
		if (errno != EINTR)
			return ty_fail_errno(err, "cannot free the oldest part of %s", s->path);
	k->from = from;
	k->to = m->off;
	atomic_store(&s->dropped, k->to - k->begin);
	return 0;
}

int ty_spool_read_kept(int fd, uint64_t off, uint64_t size, struct ty_spool_scan *out)
{
	struct ty_spool_ent e = {.off = off};
	struct ty_buf text;
	const char *p, *value;
	uint64_t v[3];
	size_t n;
	int r;

	if (off > size || size - off < sizeof(e.h) ||
	    ty_pread(fd, &e.h, sizeof(e.h), off) != sizeof(e.h) || !ty_spool_head_valid(&e.h) ||
	    e.h.type != TY_SPOOL_SECTION || e.h.stream != TY_SEC_KEPT ||
	    e.h.stored > size - off - sizeof(e.h))
		return 0;
	ty_buf_init(&text, TEXT_LIMIT);
	r = ty_spool_chunk_read(fd, &e, &text);
	out->kept_off = r ? 0 : off;
	p = text.p;
	if (!r && ty_key_next(&p, "dropped", &value, &n) && ty_key_numbers(value, n, v, 2)) {
		out->dropped_from = v[0];
		out->dropped_to = v[1];
	}
	for (p = text.p; !r && ty_key_next(&p, "first", &value, &n);) {
		const struct ty_spool_first *last =
			out->first.n ? &out->first.v[out->first.n - 1] : NULL;

		/* The lines are ascending; others are ignored. */
		if (ty_key_numbers(value, n, v, 3) && v[0] <= UINT32_MAX && v[1] <= UINT32_MAX &&
		    (!last || v[0] > last->type || (v[0] == last->type && v[1] > last->stream)))
			r = vec_push(&out->first, ((struct ty_spool_first){(uint32_t)v[0],
									   (uint32_t)v[1], v[2]}));
	}
	ty_buf_fini(&text);
	return r == -TY_ENOMEM ? r : 0;
}
