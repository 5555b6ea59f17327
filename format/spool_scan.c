/* SPDX-License-Identifier: MIT */
/*
 * Finds the chunks of a spool. A valid head is trusted for its length, so an intact spool costs one
 * 64-byte read per chunk. At an invalid one (a writer died between reserving and writing, a torn
 * tail, a damaged head) the scan searches for the next magic number with a valid head checksum.
 * Holes of a sparse file are skipped without reading. Intentionally dropped ranges (spool.h) are
 * not scanned, and superseded chunks are left out; when the newest TY_SEC_KEPT chunk is unreadable,
 * an older one is used.
 */
#include "spool_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compare.h"

#define WINDOW (1u << 20)
/* scans of a file whose data is dropped meanwhile; TY_SEC_KEPT chunks tried */
enum { DROP_TRIES = 4, KEPT_TRIES = 4 };

/* The next byte at or after off that is stored and not a hole; `size` when there is none. */
static uint64_t skip_hole(int fd, uint64_t off, uint64_t size)
{
	off_t d = lseek(fd, (off_t)off, SEEK_DATA);

	if (d < 0)
		return errno == ENXIO ? size : off;
	return (uint64_t)d < size ? (uint64_t)d : size;
}

/* Window of the search: it moves forward, so that no byte is read twice. */
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
		end = w->p + w->n - sizeof(c); /* last position at which a whole head fits the
						* window */
		for (p = w->p + (off - w->off); p <= end; p++) {
			p = memmem(p, (size_t)(end - p) + sizeof(magic), &magic, sizeof(magic));
			if (!p)
				break;
			memcpy(&c, p, sizeof(c));
			if (ty_spool_head_valid(&c))
				return (int64_t)(w->off + (uint64_t)(p - w->p));
		}
		off = w->off + w->n - (sizeof(c) - 1);
	}
	return (int64_t)size;
}

ORDER(by_place, struct ty_spool_ent,
      compare(a->h.type, b->h.type) ?: compare(a->h.stream, b->h.stream) ?:
      compare(a->h.seq, b->h.seq) ?: compare(a->off, b->off))

/* Sorts the chunks. Of two with the same number the first in the file counts; those numbered below
 * the first of their stream, and LATER ones not yet reached, do not. */
static void sort(struct ty_spool_scan *s)
{
	const struct ty_spool_first *first = NULL;
	uint32_t type = 0, stream = 0;
	size_t n = 0;

	vec_sort(&s->ents, by_place);
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

/* Finds all chunks after the head, in file order. */
static int walk(int fd, uint64_t size, const char *path, struct window *win,
		struct ty_spool_scan *out, struct ty_err *err)
{
	uint64_t off = sizeof(struct ty_spool_head);

	while (off < size) {
		struct ty_spool_ent e = {.off = off};
		int64_t n;

		if (off >= out->dropped_from && off < out->dropped_to) {
			off = out->dropped_to;
			continue;
		}
		n = ty_pread(fd, &e.h, sizeof(e.h), off);
		if (n == sizeof(e.h) && ty_spool_head_valid(&e.h)) {
			if (e.h.stored >
			    size - off - sizeof(e.h)) { /* truncated inside its payload */
				torn(out, off, size - off);
				break;
			}
			if (out->ents.n >= TY_CHUNKS_MAX) {
				out->too_many = true;
				break;
			}
			if (vec_push(&out->ents, e))
				return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory",
					       path);
			off += sizeof(e.h) + e.h.stored;
			continue;
		}
		if (n >= 0)
			n = find_head(fd, off + 1, size, win);
		if (n < 0)
			return ty_fail_errno(err, "%s: cannot read at offset %llu", path,
					     (unsigned long long)off);
		torn(out, off, (uint64_t)n - off);
		off = (uint64_t)n;
	}
	return 0;
}

/* Scans the file once; dropped ranges are those of the TY_SEC_KEPT chunk at kept (0: none). */
static int look(int fd, uint64_t size, const char *path, uint64_t kept, struct ty_spool_scan *out,
		struct ty_err *err)
{
	struct window win = {.p = malloc(WINDOW)};
	int r;

	ty_spool_scan_fini(out);
	*out = (struct ty_spool_scan){.size = size};
	if (!win.p || (kept && ty_spool_read_kept(fd, kept, size, out)))
		r = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", path);
	else
		r = walk(fd, size, path, &win, out, err);
	free(win.p);
	return r;
}

/* Finds the newest readable TY_SEC_KEPT chunk, of the last few in the file; 0: none. */
static int find_kept(int fd, uint64_t size, const struct ty_spool_scan *s, uint64_t *off)
{
	unsigned left = KEPT_TRIES;

	*off = 0;
	for (size_t i = s->ents.n; i-- > 0 && left && !*off;) {
		const struct ty_spool_ent *e = &s->ents.v[i];
		struct ty_spool_scan one = {0};
		int r;

		if (e->h.type != TY_SPOOL_SECTION || e->h.stream != TY_SEC_KEPT)
			continue;
		r = ty_spool_read_kept(fd, e->off, size, &one);
		*off = one.kept_off;
		ty_spool_scan_fini(&one);
		if (r)
			return r;
		left--;
	}
	return 0;
}

static uint64_t kept_now(int fd)
{
	struct ty_spool_head head;

	return ty_pread(fd, &head, sizeof(head), 0) == sizeof(head) ? head.kept : 0;
}

bool ty_spool_dropped(int fd, uint64_t kept, uint64_t off)
{
	struct ty_spool_scan now = {0};
	uint64_t newer = kept_now(fd);
	struct stat st;
	bool r = newer != kept && !fstat(fd, &st) &&
		 !ty_spool_read_kept(fd, newer, (uint64_t)st.st_size, &now) &&
		 off >= now.dropped_from && off < now.dropped_to;

	ty_spool_scan_fini(&now);
	return r;
}

int ty_spool_scan(int fd, uint64_t size, const char *path, struct ty_spool_scan *out,
		  struct ty_err *err)
{
	uint64_t kept, other;
	int r;

	*out = (struct ty_spool_scan){0};
	/* A running recorder may drop more meanwhile. */
	for (unsigned left = DROP_TRIES; left; left--) {
		struct stat st;

		kept = kept_now(fd);
		/* The chunk that the head points to was written before it: the file has grown. */
		if (kept >= size && !fstat(fd, &st) && (uint64_t)st.st_size > size)
			size = (uint64_t)st.st_size;
		r = look(fd, size, path, kept, out, err);
		if (r || kept_now(fd) == kept)
			break;
	}
	if (!r && kept && !out->kept_off) {
		if (find_kept(fd, size, out, &other))
			r = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", path);
		else if (other)
			r = look(fd, size, path, other, out, err);
		out->kept_lost = true;
	}
	out->kept = kept;
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
