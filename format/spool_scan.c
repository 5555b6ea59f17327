/* SPDX-License-Identifier: MIT */
/*
 * Find the chunks of a spool. A valid head is trusted for its length, so that an intact spool costs
 * one 64-byte read per chunk; where there is none (a writer died between reserving and writing, a
 * torn tail, a damaged head) the next magic number whose head checksum fits is searched for. Holes
 * of a sparse file are stepped over, never read. What was dropped on purpose (spool.h) is not
 * looked at, and what does not count any more is left out.
 */
#include "spool_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define WINDOW (1u << 20)

int ty_pwrite(int fd, const void *p, size_t n, uint64_t off)
{
	const char *s = p;

	while (n) {
		ssize_t w = pwrite(fd, s, n, (off_t)off);

		if (w < 0 && errno == EINTR)
			continue;
		if (w == 0)
			errno = ENOSPC;
		if (w <= 0)
			return -1;
		s += w;
		n -= (size_t)w;
		off += (uint64_t)w;
	}
	return 0;
}

uint32_t ty_spool_head_crc(const struct ty_spool_chunk *c)
{
	return (uint32_t)crc32(0, (const uint8_t *)c, offsetof(struct ty_spool_chunk, head_crc));
}

static bool head_valid(const struct ty_spool_chunk *c)
{
	return c->magic == TY_SPOOL_CHUNK_MAGIC && c->raw <= TY_CHUNK_RAW_MAX &&
	       c->head_crc == ty_spool_head_crc(c);
}

/* The next byte at or after off that is stored and not a hole; `size` when there is none. */
static uint64_t skip_hole(int fd, uint64_t off, uint64_t size)
{
	off_t d = lseek(fd, (off_t)off, SEEK_DATA);

	if (d < 0)
		return errno == ENXIO ? size : off;
	return (uint64_t)d < size ? (uint64_t)d : size;
}

/* What the search read last: searches go forward, so that no byte is read twice for them. */
struct window {
	uint8_t *p;
	uint64_t off, n;
};

/* The offset of the next valid head at or after off; `size` when there is none; -1: I/O error. */
static int64_t find_head(int fd, uint64_t off, uint64_t size, struct window *w)
{
	const uint32_t magic = TY_SPOOL_CHUNK_MAGIC;
	struct ty_spool_chunk c;

	while (off < size) {
		const uint8_t *p, *end;

		if (off < w->off || off + sizeof(c) > w->off + w->n) {
			int64_t n;

			off = skip_hole(fd, off, size);
			if (size - off < sizeof(c))
				break;
			n = ty_pread(fd, w->p, size - off < WINDOW ? (size_t)(size - off) : WINDOW,
				     off);
			if (n < 0)
				return -1;
			if (n < (int64_t)sizeof(c))
				break;
			w->off = off;
			w->n = (uint64_t)n;
		}
		end = w->p + w->n - sizeof(c); /* last place where a whole head is in the window */
		for (p = w->p + (off - w->off); p <= end; p++) {
			p = memmem(p, (size_t)(end - p) + sizeof(magic), &magic, sizeof(magic));
			if (!p)
				break;
			memcpy(&c, p, sizeof(c));
			if (head_valid(&c))
				return (int64_t)(w->off + (uint64_t)(p - w->p));
		}
		off = w->off + w->n - (sizeof(c) - 1);
	}
	return (int64_t)size;
}

static int by_place(const void *pa, const void *pb)
{
	const struct ty_spool_ent *a = pa, *b = pb;

	if (a->h.type != b->h.type)
		return a->h.type < b->h.type ? -1 : 1;
	if (a->h.stream != b->h.stream)
		return a->h.stream < b->h.stream ? -1 : 1;
	if (a->h.seq != b->h.seq)
		return a->h.seq < b->h.seq ? -1 : 1;
	return (a->off > b->off) - (a->off < b->off);
}

/* Into order; of two chunks with one number the first in the file counts, and none whose number is
 * below the first of its stream or whose time has not come. */
static void sort(struct ty_spool_scan *s)
{
	const struct ty_spool_first *first = NULL;
	uint32_t type = 0, stream = 0;
	size_t n = 0;

	if (s->ents.n)
		qsort(s->ents.v, s->ents.n, sizeof(*s->ents.v), by_place);
	for (size_t i = 0; i < s->ents.n; i++) {
		const struct ty_spool_ent *e = &s->ents.v[i], *k = n ? &s->ents.v[n - 1] : NULL;

		if (e->h.flags & TY_SPOOL_LATER && e->off > s->kept_off)
			continue;
		if (k && k->h.type == e->h.type && k->h.stream == e->h.stream &&
		    k->h.seq == e->h.seq)
			continue;
		if (e->h.type != type || e->h.stream != stream)
			first = ty_spool_first(&s->first, type = e->h.type, stream = e->h.stream);
		if (first && e->h.seq < first->seq)
			continue;
		s->ents.v[n++] = *e;
	}
	s->ents.n = n;
}

static void torn(struct ty_spool_scan *s, uint64_t off, uint64_t bytes)
{
	if (!s->torn++)
		s->torn_off = off;
	s->torn_bytes += bytes;
}

int ty_spool_scan(int fd, uint64_t size, const char *path, struct ty_spool_scan *out,
		  struct ty_err *err)
{
	struct window win = {.p = malloc(WINDOW)};
	uint64_t off = sizeof(struct ty_spool_head);
	struct ty_spool_head head;
	int r = 0;

	*out = (struct ty_spool_scan){0};
	if (ty_pread(fd, &head, sizeof(head), 0) == sizeof(head) && head.kept)
		r = ty_spool_read_kept(fd, head.kept, size, out);
	if (!win.p || r) {
		free(win.p);
		ty_spool_scan_fini(out);
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", path);
	}
	while (off < size && !r) {
		struct ty_spool_ent e = {.off = off};
		int64_t n;

		if (off >= out->dropped_from && off < out->dropped_to) {
			off = out->dropped_to;
			continue;
		}
		n = ty_pread(fd, &e.h, sizeof(e.h), off);
		if (n == sizeof(e.h) && head_valid(&e.h)) {
			if (e.h.stored > size - off - sizeof(e.h)) { /* cut inside its payload */
				torn(out, off, size - off);
				break;
			}
			if (out->ents.n >= TY_CHUNKS_MAX) {
				out->too_many = true;
				break;
			}
			if (vec_push(&out->ents, e))
				r = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory",
					    path);
			off += sizeof(e.h) + e.h.stored;
			continue;
		}
		if (n >= 0)
			n = find_head(fd, off + 1, size, &win);
		if (n < 0) {
			r = ty_fail_errno(err, "%s: cannot read at offset %llu", path,
					  (unsigned long long)off);
			break;
		}
		torn(out, off, (uint64_t)n - off);
		off = (uint64_t)n;
	}
	free(win.p);
	if (r)
		ty_spool_scan_fini(out);
	else
		sort(out);
	return r;
}

void ty_spool_scan_fini(struct ty_spool_scan *s)
{
	vec_fini(&s->ents);
	vec_fini(&s->first);
}
