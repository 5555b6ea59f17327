/* SPDX-License-Identifier: MIT */
/*
 * Finishing a spool: metadata chunks become the sections of trace.dat v7 (trace-cmd.dat.v7(5),
 * HEADER INFO SECTION to SAVED COMMAND LINES SECTION) and tarry's own (tarry.dat(5)). Each is built
 * in f->raw and appended, compressed, to f->head.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "compare.h"
#include "trace_v7_write.h"

int ty_v7_no_memory(struct ty_v7 *f)
{
	return ty_fail(f->err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", f->spool->path);
}

int ty_v7_bad_chunk(const struct ty_spool *s, const struct ty_spool_ent *e, int r,
		    struct ty_err *err)
{
	if (r == -TY_EIO)
		return ty_fail(err, TY_EIO, e->off, "%s: cannot read it back at offset %" PRIu64,
			       s->path, e->off);
	if (r == -TY_EFORMAT)
		return ty_fail(err, TY_EFORMAT, e->off,
			       "%s: the chunk at offset %" PRIu64
			       " differs from what was written. Check the disk and the memory",
			       s->path, e->off);
	return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", s->path);
}

/* A description's number: its place in the STRINGS section. */
uint32_t ty_v7_describe(struct ty_v7 *f, const char *text)
{
	uint32_t id = (uint32_t)f->strings.len;

	ty_buf_add(&f->strings, text, strlen(text) + 1);
	return id;
}

/* Decompress chunk e of the spool and append it to `to`. */
int ty_v7_chunk(struct ty_v7 *f, const struct ty_spool_ent *e, struct ty_buf *to)
{
	int r = ty_spool_chunk_read(f->spool->fd, e, to);

	return r ? ty_v7_bad_chunk(f->spool, e, r, f->err) : 0;
}

/* The chunks of (type, stream) as a range of scan.ents. */
void ty_v7_find(const struct ty_v7 *f, enum ty_spool_type type, uint32_t stream, size_t *first,
		size_t *n)
{
	size_t i = 0;

	while (i < f->scan.ents.n &&
	       (f->scan.ents.v[i].h.type != type || f->scan.ents.v[i].h.stream != stream))
		i++;
	*first = i;
	while (i < f->scan.ents.n && f->scan.ents.v[i].h.type == type &&
	       f->scan.ents.v[i].h.stream == stream)
		i++;
	*n = i - *first;
}

/* Appends all chunks of (type, stream) to `to`, in order. */
int ty_v7_append(struct ty_v7 *f, enum ty_spool_type type, uint32_t stream, struct ty_buf *to)
{
	size_t first, n;

	ty_v7_find(f, type, stream, &first, &n);
	for (size_t i = 0; i < n; i++) {
		int r = ty_v7_chunk(f, &f->scan.ents.v[first + i], to);

		if (r)
			return r;
	}
	return 0;
}

/* Append f->raw as one compressed section to f->head. */
int ty_v7_section(struct ty_v7 *f, unsigned id, const char *what)
{
	size_t bound = ZSTD_compressBound(f->raw.len), z, at = f->head.len;
	uint64_t size;
	uint32_t desc = ty_v7_describe(f, what);

	if (f->raw.failed || f->raw.len > INT32_MAX)
		return ty_fail(f->err, f->raw.failed == -TY_ENOMEM ? TY_ENOMEM : TY_ELIMIT,
			       TY_NO_OFFSET, "%s: %s: %zu bytes do not fit into a section",
			       f->spool->path, what, f->raw.len);
	if (ty_buf_reserve(&f->head, TY_DAT_SECTION_HEAD + TY_V7_CHUNK_HEAD + bound))
		return ty_v7_no_memory(f);
	ty_buf_addle(&f->head, id, 2);
	ty_buf_addle(&f->head, TY_DAT_COMPRESSED, 2);
	ty_buf_addle(&f->head, desc, 4);
	ty_buf_addle(&f->head, 0, 8); /* size: below */
	ty_buf_addle(&f->head, 0, 4); /* compressed size: below */
	ty_buf_addle(&f->head, f->raw.len, 4);
	/* With zstd's checksum: damaged metadata must be detected. */
	ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_checksumFlag, 1);
	z = ZSTD_compress2(f->zstd, f->head.p + f->head.len, bound, f->raw.len ? f->raw.p : "",
			   f->raw.len);
	if (ZSTD_isError(z))
		return ty_v7_no_memory(f);
	f->head.len += z;
	size = TY_V7_CHUNK_HEAD + z;
	memcpy(f->head.p + at + 8, &size, 8);
	memcpy(f->head.p + at + TY_DAT_SECTION_HEAD, &z, 4);
	if (id < sizeof(f->section_off) / sizeof(f->section_off[0]))
		f->section_off[id] = at;
	if (id >= TY_DAT_TARRY) {
		struct ty_dat_entry e = {.id = (uint16_t)id,
					 .off = at,
					 .size = f->head.len - at - TY_DAT_SECTION_HEAD};

		e.crc = (uint32_t)crc32_z(0, (uint8_t *)f->head.p + at + TY_DAT_SECTION_HEAD,
					  e.size);
		if (vec_push(&f->dir, e))
			return ty_v7_no_memory(f);
	}
	ty_buf_reset(&f->raw);
	return 0;
}

/* Adds a text preceded by its size in `width` bytes. */
static int add_sized(struct ty_v7 *f, unsigned width, enum ty_spool_meta meta)
{
	size_t at = f->raw.len;
	uint64_t n;
	int r;

	ty_buf_addle(&f->raw, 0, width);
	r = ty_v7_append(f, TY_SPOOL_META, meta, &f->raw);
	if (r)
		return r;
	if (f->raw.failed)
		return ty_v7_no_memory(f);
	n = f->raw.len - at - width;
	memcpy(f->raw.p + at, &n, width);
	return 0;
}

static int add_header_info(struct ty_v7 *f)
{
	int r;

	ty_buf_add(&f->raw, "header_page", 12);
	r = add_sized(f, 8, TY_META_HEADER_PAGE);
	if (r)
		return r;
	ty_buf_add(&f->raw, "header_event", 13);
	r = add_sized(f, 8, TY_META_HEADER_EVENT);
	return r ? r : ty_v7_section(f, TY_DAT_HEADER_INFO, "headers");
}

static int add_ftrace_formats(struct ty_v7 *f)
{
	size_t first, n;

	ty_v7_find(f, TY_SPOOL_META, TY_META_FTRACE_FORMAT, &first, &n);
	ty_buf_addle(&f->raw, n, 4);
	for (size_t i = first; i < first + n; i++) {
		int r;

		ty_buf_addle(&f->raw, f->scan.ents.v[i].h.raw, 8);
		r = ty_v7_chunk(f, &f->scan.ents.v[i], &f->raw);
		if (r)
			return r;
	}
	return ty_v7_section(f, TY_DAT_FTRACE_EVENTS, "ftrace events");
}

/* One event's format in the spool: "SYSTEM\0" text. */
struct event_text {
	const char *system, *text;
	size_t n;
	size_t order;
};

ORDER(by_system, struct event_text, strcmp(a->system, b->system) ?: compare(a->order, b->order))

/* EVENT FORMATS: the events grouped by system. */
static int add_event_formats(struct ty_v7 *f)
{
	struct ty_buf all;
	struct event_text *ev = NULL;
	size_t first, n, systems = 0, at = 0, k;
	int r = 0;

	ty_buf_init(&all, TY_FINISH_LIMIT);
	ty_v7_find(f, TY_SPOOL_META, TY_META_EVENT_FORMAT, &first, &n);
	ev = calloc(n ? n : 1, sizeof(*ev));
	if (!ev)
		return ty_v7_no_memory(f);
	for (size_t i = 0; i < n && !r; i++)
		r = ty_v7_chunk(f, &f->scan.ents.v[first + i], &all);
	for (size_t i = 0; i < n && !r; i++) {
		size_t raw = f->scan.ents.v[first + i].h.raw;
		const char *p = all.p + at, *z = memchr(p, 0, raw);

		if (!z)
			r = ty_fail(f->err, TY_EFORMAT, f->scan.ents.v[first + i].off,
				    "%s: an event format has no system", f->spool->path);
		else
			ev[i] = (struct event_text){p, z + 1, raw - (size_t)(z + 1 - p), i};
		at += raw;
	}
	if (!r) {
		qsort(ev, n, sizeof(*ev), by_system);
		for (size_t i = 0; i < n; i++)
			systems += !i || strcmp(ev[i].system, ev[i - 1].system);
		ty_buf_addle(&f->raw, systems, 4);
		for (size_t i = 0; i < n; i = k) {
			for (k = i; k < n && !strcmp(ev[k].system, ev[i].system); k++)
				;
			ty_buf_add(&f->raw, ev[i].system, strlen(ev[i].system) + 1);
			ty_buf_addle(&f->raw, k - i, 4);
			for (size_t e = i; e < k; e++) {
				ty_buf_addle(&f->raw, ev[e].n, 8);
				ty_buf_add(&f->raw, ev[e].text, ev[e].n);
			}
		}
		r = ty_v7_section(f, TY_DAT_EVENT_FORMATS, "events format");
	}
	free(ev);
	ty_buf_fini(&all);
	return r;
}

int ty_v7_metadata(struct ty_v7 *f)
{
	int r;

	if ((r = add_header_info(f)) || (r = add_ftrace_formats(f)) || (r = add_event_formats(f)))
		return r;
	if ((r = add_sized(f, 4, TY_META_KALLSYMS)) ||
	    (r = ty_v7_section(f, TY_DAT_KALLSYMS, "kallsyms")))
		return r;
	if ((r = add_sized(f, 4, TY_META_PRINTK)) ||
	    (r = ty_v7_section(f, TY_DAT_PRINTK, "printk")))
		return r;
	if ((r = add_sized(f, 8, TY_META_CMDLINES)))
		return r;
	return ty_v7_section(f, TY_DAT_CMDLINES, "command lines");
}

/* One line per chunk, in the order in which a reader meets the chunks (section.h). */
static int add_chunk_directory(struct ty_v7 *f)
{
	vec_each (c, &f->cpus) {
		const struct ty_spool_first *first =
			ty_spool_first(&f->scan.first, TY_SPOOL_DATA, c->buffer << 16 | c->cpu);
		uint64_t seq = first ? first->seq : 0;

		for (size_t i = c->first; i < c->first + c->n; i++) {
			const struct ty_spool_chunk *h = &f->scan.ents.v[i].h;

			if (h->seq != seq)
				ty_buf_addf(&f->raw, "%u %u 0 0 missing\n", c->buffer, c->cpu);
			seq = h->seq + 1;
			if (h->raw)
				ty_buf_addf(&f->raw, "%u %u %" PRIu64 " %" PRIu64 " %08x\n",
					    c->buffer, c->cpu, h->first_ns, h->last_ns, h->crc);
		}
	}
	return ty_v7_section(f, TY_DAT_TARRY + TY_SEC_CHUNKS, "tarry chunks");
}

int ty_v7_tarry(struct ty_v7 *f)
{
	const struct ty_spool_ent *last = NULL;

	for (size_t i = 0; i < f->scan.ents.n; i++) {
		const struct ty_spool_ent *e = &f->scan.ents.v[i];
		char what[32];
		int r;

		if (e->h.type != TY_SPOOL_SECTION || (last && last->h.stream == e->h.stream) ||
		    !e->h.stream || e->h.stream > TY_DAT_TARRY_LAST - TY_DAT_TARRY)
			continue;
		last = e;
		snprintf(what, sizeof(what), "tarry section %u", e->h.stream);
		r = ty_v7_append(f, TY_SPOOL_SECTION, e->h.stream, &f->raw);
		if (!r)
			r = ty_v7_section(f, TY_DAT_TARRY + e->h.stream, what);
		if (r)
			return r;
	}
	return add_chunk_directory(f);
}
