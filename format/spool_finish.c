/* SPDX-License-Identifier: MIT */
/*
 * From spool to finished trace.dat v7 (trace-cmd.dat.v7(5), tarry.dat(5)).
 *
 * The order of the sections is chosen so that a file that was cut while it was copied loses ring
 * pages and nothing else: initial header, metadata, tarry's sections with the chunk directory,
 * strings, options, then the data of the buffers, then the directory of tarry's sections with the
 * footer. All sizes are known from the spool's chunk heads, so the options can tell the data's
 * places before it is written.
 *
 * Ring data is copied as it is, without decompressing; only metadata is compressed anew. Disk: for
 * a moment the file exists twice. (Punching the copied chunks out of the spool would save that, and
 * would leave neither file whole when the machine dies in the middle: not done.)
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "buf.h"
#include "spool_file.h"
#include "trace_dat.h"
#include "units.h"

#define META_LIMIT   (4096ull << 20)
#define COPY_BYTES   (1u << 20)
#define COPY_AT_ONCE (64u << 20)

/* One CPU of one buffer: its chunks are ents[first .. first + n). */
struct cpu_data {
	uint32_t buffer, cpu;
	size_t first, n;
	uint64_t off, size; /* in the finished file */
	uint32_t count;	    /* chunks that are written (empty ones are not) */
};

struct buffer {
	const char *name, *clock; /* in `texts` */
	uint32_t desc;
	uint64_t off, size; /* section head; bytes behind the head */
};

struct finish {
	struct ty_spool *spool;
	struct ty_spool_scan scan;
	struct ty_buf head;    /* all bytes before the first buffer section */
	struct ty_buf strings; /* STRINGS section, collected */
	struct ty_buf raw;     /* one section before compression */
	struct ty_buf z;       /* one payload as stored */
	struct ty_buf texts;   /* decompressed META_BUFFER chunks; sized once, never moved */
	VEC(struct ty_dat_entry) dir;
	VEC(struct buffer) buffers;
	VEC(struct cpu_data) cpus;
	uint64_t section_off[TY_DAT_CMDLINES + 1]; /* by enum ty_dat_id; 0: not written */
	char *tmp;
	int fd;
	struct ty_err *err;
};

static int no_memory(struct finish *f)
{
	return ty_fail(f->err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", f->spool->path);
}

/* A description's number: its place in the STRINGS section. */
static uint32_t describe(struct finish *f, const char *text)
{
	uint32_t id = (uint32_t)f->strings.len;

	ty_buf_add(&f->strings, text, strlen(text) + 1);
	return id;
}

/* Decompress chunk e of the spool and append it to `to`. */
static int append_chunk(struct finish *f, const struct ty_spool_ent *e, struct ty_buf *to)
{
	uint32_t head[2];
	size_t r;

	ty_buf_reset(&f->z);
	if (ty_buf_reserve(&f->z, e->h.stored) || ty_buf_reserve(to, e->h.raw))
		return no_memory(f);
	if (ty_pread(f->spool->fd, f->z.p, e->h.stored, e->off + sizeof(e->h)) != e->h.stored)
		return ty_fail(f->err, TY_EIO, e->off, "%s: cannot read it back at offset %" PRIu64,
			       f->spool->path, e->off);
	if (e->h.stored < TY_V7_CHUNK_HEAD ||
	    e->h.crc != (uint32_t)crc32(0, (uint8_t *)f->z.p, e->h.stored))
		goto damaged;
	memcpy(head, f->z.p, sizeof(head));
	if (head[0] != e->h.stored - TY_V7_CHUNK_HEAD || head[1] != e->h.raw)
		goto damaged;
	r = ZSTD_decompress(to->p + to->len, e->h.raw, f->z.p + TY_V7_CHUNK_HEAD, head[0]);
	if (ZSTD_isError(r) || r != e->h.raw)
		goto damaged;
	to->len += r;
	to->p[to->len] = 0;
	return 0;
damaged:
	return ty_fail(f->err, TY_EFORMAT, e->off,
		       "%s: the chunk at offset %" PRIu64
		       " is not what was written; the disk or the memory is failing",
		       f->spool->path, e->off);
}

/* The chunks of (type, stream) as a range of scan.ents. */
static void find_stream(const struct finish *f, enum ty_spool_type type, uint32_t stream,
			size_t *first, size_t *n)
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

/* All chunks of (type, stream), one behind the other, appended to `to`. */
static int append_stream(struct finish *f, enum ty_spool_type type, uint32_t stream,
			 struct ty_buf *to)
{
	size_t first, n;

	find_stream(f, type, stream, &first, &n);
	for (size_t i = 0; i < n; i++) {
		int r = append_chunk(f, &f->scan.ents.v[first + i], to);

		if (r)
			return r;
	}
	return 0;
}

/* Append f->raw as one compressed section to f->head. */
static int add_section(struct finish *f, unsigned id, const char *what)
{
	size_t bound = ZSTD_compressBound(f->raw.len), z, at = f->head.len;
	uint64_t size;
	uint32_t desc = describe(f, what);

	if (f->raw.failed || f->raw.len > INT32_MAX)
		return ty_fail(f->err, f->raw.failed == -TY_ENOMEM ? TY_ENOMEM : TY_ELIMIT,
			       TY_NO_OFFSET, "%s: %s: %zu bytes do not fit into a section",
			       f->spool->path, what, f->raw.len);
	if (ty_buf_reserve(&f->head, TY_DAT_SECTION_HEAD + TY_V7_CHUNK_HEAD + bound))
		return no_memory(f);
	ty_buf_addle(&f->head, id, 2);
	ty_buf_addle(&f->head, TY_DAT_COMPRESSED, 2);
	ty_buf_addle(&f->head, desc, 4);
	ty_buf_addle(&f->head, 0, 8); /* size: below */
	ty_buf_addle(&f->head, 0, 4); /* compressed size: below */
	ty_buf_addle(&f->head, f->raw.len, 4);
	z = ZSTD_compress(f->head.p + f->head.len, bound, f->raw.len ? f->raw.p : "", f->raw.len,
			  3);
	if (ZSTD_isError(z))
		return no_memory(f);
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
			return no_memory(f);
	}
	ty_buf_reset(&f->raw);
	return 0;
}

/* A text that is preceded by its size, in `width` bytes, in the section. */
static int add_sized(struct finish *f, unsigned width, enum ty_spool_meta meta)
{
	size_t at = f->raw.len;
	uint64_t n;
	int r;

	ty_buf_addle(&f->raw, 0, width);
	r = append_stream(f, TY_SPOOL_META, meta, &f->raw);
	if (r)
		return r;
	if (f->raw.failed)
		return no_memory(f);
	n = f->raw.len - at - width;
	memcpy(f->raw.p + at, &n, width);
	return 0;
}

static int add_header_info(struct finish *f)
{
	int r;

	ty_buf_add(&f->raw, "header_page", 12);
	r = add_sized(f, 8, TY_META_HEADER_PAGE);
	if (r)
		return r;
	ty_buf_add(&f->raw, "header_event", 13);
	r = add_sized(f, 8, TY_META_HEADER_EVENT);
	return r ? r : add_section(f, TY_DAT_HEADER_INFO, "headers");
}

static int add_ftrace_formats(struct finish *f)
{
	size_t first, n;

	find_stream(f, TY_SPOOL_META, TY_META_FTRACE_FORMAT, &first, &n);
	ty_buf_addle(&f->raw, n, 4);
	for (size_t i = first; i < first + n; i++) {
		int r;

		ty_buf_addle(&f->raw, f->scan.ents.v[i].h.raw, 8);
		r = append_chunk(f, &f->scan.ents.v[i], &f->raw);
		if (r)
			return r;
	}
	return add_section(f, TY_DAT_FTRACE_EVENTS, "ftrace events");
}

/* One event's format in the spool: "SYSTEM\0" text. */
struct event_text {
	const char *system, *text;
	size_t n;
	size_t order;
};

static int by_system(const void *pa, const void *pb)
{
	const struct event_text *a = pa, *b = pb;
	int c = strcmp(a->system, b->system);

	return c ? c : (a->order > b->order) - (a->order < b->order);
}

/* EVENT FORMATS: the events grouped by system. */
static int add_event_formats(struct finish *f)
{
	struct ty_buf all;
	struct event_text *ev = NULL;
	size_t first, n, systems = 0, at = 0, k;
	int r = 0;

	ty_buf_init(&all, META_LIMIT);
	find_stream(f, TY_SPOOL_META, TY_META_EVENT_FORMAT, &first, &n);
	ev = calloc(n ? n : 1, sizeof(*ev));
	if (!ev)
		return no_memory(f);
	for (size_t i = 0; i < n && !r; i++)
		r = append_chunk(f, &f->scan.ents.v[first + i], &all);
	for (size_t i = 0; i < n && !r; i++) {
		size_t raw = f->scan.ents.v[first + i].h.raw;
		const char *p = all.p + at, *z = memchr(p, 0, raw);

		if (!z)
			r = ty_fail(f->err, TY_EFORMAT, f->scan.ents.v[first + i].off,
				    "%s: an event format without its system", f->spool->path);
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
		r = add_section(f, TY_DAT_EVENT_FORMATS, "events format");
	}
	free(ev);
	ty_buf_fini(&all);
	return r;
}

static int add_metadata(struct finish *f)
{
	int r;

	if ((r = add_header_info(f)) || (r = add_ftrace_formats(f)) || (r = add_event_formats(f)))
		return r;
	if ((r = add_sized(f, 4, TY_META_KALLSYMS)) ||
	    (r = add_section(f, TY_DAT_KALLSYMS, "kallsyms")))
		return r;
	if ((r = add_sized(f, 4, TY_META_PRINTK)) || (r = add_section(f, TY_DAT_PRINTK, "printk")))
		return r;
	if ((r = add_sized(f, 8, TY_META_CMDLINES)))
		return r;
	return add_section(f, TY_DAT_CMDLINES, "command lines");
}

/* One line per chunk, in the order in which a reader meets the chunks (section.h). */
static int add_chunk_directory(struct finish *f)
{
	vec_each (c, &f->cpus) {
		uint64_t seq = 0;

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
	return add_section(f, TY_DAT_TARRY + TY_SEC_CHUNKS, "tarry chunks");
}

static int add_tarry(struct finish *f)
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
		r = append_stream(f, TY_SPOOL_SECTION, e->h.stream, &f->raw);
		if (!r)
			r = add_section(f, TY_DAT_TARRY + e->h.stream, what);
		if (r)
			return r;
	}
	return add_chunk_directory(f);
}

/* Names and clocks of the buffers; the first is the file's top buffer, which has no name. */
static int load_buffers(struct finish *f)
{
	size_t first, n, at = 0;
	int r = append_stream(f, TY_SPOOL_META, TY_META_BUFFER, &f->texts);

	if (r)
		return r;
	find_stream(f, TY_SPOOL_META, TY_META_BUFFER, &first, &n);
	for (size_t i = 0; i < n; i++) {
		size_t raw = f->scan.ents.v[first + i].h.raw;
		const char *p = f->texts.p + at, *clock = memchr(p, 0, raw);
		struct buffer b = {.name = i ? p : ""};
		char desc[128];

		if (!clock || !memchr(clock + 1, 0, raw - (size_t)(clock + 1 - p)))
			return ty_fail(f->err, TY_EFORMAT, f->scan.ents.v[first + i].off,
				       "%s: a buffer without name and clock", f->spool->path);
		b.clock = clock + 1;
		snprintf(desc, sizeof(desc), "buffer flyrecord %s", b.name);
		b.desc = describe(f, desc);
		if (vec_push(&f->buffers, b))
			return no_memory(f);
		at += raw;
	}
	return n ? 0
		 : ty_fail(f->err, TY_EFORMAT, TY_NO_OFFSET, "%s: no buffer was recorded",
			   f->spool->path);
}

/* Group the DATA chunks by buffer and CPU (the scan's order is by stream, which is that). */
static int load_cpus(struct finish *f)
{
	const struct ty_spool_ent *v = f->scan.ents.v;

	for (size_t i = 0; i < f->scan.ents.n; i++) {
		struct cpu_data *c = f->cpus.n ? &f->cpus.v[f->cpus.n - 1] : NULL;
		uint32_t buffer = v[i].h.stream >> 16, cpu = v[i].h.stream & 0xffff;

		if (v[i].h.type != TY_SPOOL_DATA)
			continue;
		if (buffer >= f->buffers.n)
			return ty_fail(f->err, TY_EFORMAT, v[i].off,
				       "%s: data of a buffer %u that was never named",
				       f->spool->path, buffer);
		if (!c || c->buffer != buffer || c->cpu != cpu) {
			struct cpu_data fresh = {.buffer = buffer, .cpu = cpu, .first = i};

			if (vec_push(&f->cpus, fresh))
				return no_memory(f);
			c = &f->cpus.v[f->cpus.n - 1];
			c->size = 4; /* count of chunks */
		}
		c->n++;
		if (v[i].h.raw) {
			c->count++;
			c->size += v[i].h.stored;
		}
	}
	return 0;
}

/* Decide where the buffer sections lie when the first begins at `off`; the end of the last. */
static uint64_t place_data(struct finish *f, uint64_t off)
{
	uint64_t mask = f->spool->page_size - 1;

	for (size_t b = 0; b < f->buffers.n; b++) {
		struct buffer *buf = &f->buffers.v[b];

		buf->off = off;
		off += TY_DAT_SECTION_HEAD;
		vec_each (c, &f->cpus) {
			if (c->buffer != b || !c->count)
				continue;
			c->off = (off + mask) & ~mask;
			off = c->off + c->size;
		}
		buf->size = off - buf->off - TY_DAT_SECTION_HEAD;
	}
	return off;
}

static void add_option(struct ty_buf *o, unsigned id, const void *p, size_t n)
{
	ty_buf_addle(o, id, 2);
	ty_buf_addle(o, n, 4);
	ty_buf_add(o, p, n);
}

static int add_text_option(struct finish *f, struct ty_buf *o, unsigned id, enum ty_spool_meta meta)
{
	int r;

	ty_buf_reset(&f->raw);
	r = append_stream(f, TY_SPOOL_META, meta, &f->raw);
	if (!r && f->raw.len) /* with its NUL, which trace-cmd counts on */
		add_option(o, id, f->raw.p, strlen(f->raw.p) + 1);
	ty_buf_reset(&f->raw);
	return r;
}

static void add_buffer_option(struct finish *f, struct ty_buf *o, size_t b, struct ty_buf *t)
{
	const struct buffer *buf = &f->buffers.v[b];
	uint32_t n = 0;

	vec_each (c, &f->cpus)
		n += c->buffer == b && c->count;
	ty_buf_reset(t);
	ty_buf_addle(t, buf->off, 8);
	ty_buf_add(t, buf->name, strlen(buf->name) + 1);
	ty_buf_add(t, buf->clock, strlen(buf->clock) + 1);
	ty_buf_addle(t, f->spool->page_size, 4);
	ty_buf_addle(t, n, 4);
	vec_each (c, &f->cpus) {
		if (c->buffer != b || !c->count)
			continue;
		ty_buf_addle(t, c->cpu, 4);
		ty_buf_addle(t, c->off, 8);
		ty_buf_addle(t, c->size, 8);
	}
	add_option(o, TY_DAT_BUFFER, t->p, t->len);
}

/* The content of the OPTIONS section; its length does not depend on the places in it. */
static int build_options(struct finish *f, struct ty_buf *o)
{
	size_t first, n;
	uint32_t cpus;
	uint64_t zero = 0;
	int r;

	if ((r = add_text_option(f, o, TY_DAT_UNAME, TY_META_UNAME)) ||
	    (r = add_text_option(f, o, TY_DAT_VERSION, TY_META_VERSION)) ||
	    (r = add_text_option(f, o, TY_DAT_TRACECLOCK, TY_META_TRACE_CLOCK)) ||
	    (r = append_stream(f, TY_SPOOL_META, TY_META_CPUCOUNT, &f->raw)))
		return r;
	cpus = f->raw.len ? (uint32_t)strtoul(f->raw.p, NULL, 10) : 0;
	ty_buf_reset(&f->raw);
	if (cpus)
		add_option(o, TY_DAT_CPUCOUNT, &cpus, sizeof(cpus));
	find_stream(f, TY_SPOOL_META, TY_META_CPUSTAT, &first, &n);
	for (size_t i = first; i < first + n; i++) {
		r = append_chunk(f, &f->scan.ents.v[i], &f->raw);
		if (r)
			return r;
		if (f->raw.len)
			add_option(o, TY_DAT_CPUSTAT, f->raw.p, strlen(f->raw.p) + 1);
		ty_buf_reset(&f->raw);
	}
	for (unsigned id = TY_DAT_HEADER_INFO; id <= TY_DAT_CMDLINES; id++)
		add_option(o, id, &f->section_off[id], 8);
	for (size_t b = 0; b < f->buffers.n; b++)
		add_buffer_option(f, o, b, &f->raw);
	ty_buf_reset(&f->raw);
	add_option(o, TY_DAT_DONE, &zero, 8);
	return o->failed ? no_memory(f) : 0;
}

static void section_head(struct ty_buf *b, unsigned id, unsigned flags, uint32_t desc,
			 uint64_t size)
{
	ty_buf_addle(b, id, 2);
	ty_buf_addle(b, flags, 2);
	ty_buf_addle(b, desc, 4);
	ty_buf_addle(b, size, 8);
}

/* Everything before the data, in f->head; *dir_desc is the description of the last section. */
static int build_head(struct finish *f, uint32_t *dir_desc, uint64_t *data_end)
{
	struct ty_buf o;
	uint64_t options_off;
	size_t at_options;
	uint32_t desc;
	int r;

	ty_buf_add(&f->head, TY_DAT_MAGIC, TY_DAT_MAGIC_LEN);
	ty_buf_add(&f->head, "7", 2);
	ty_buf_addc(&f->head, 0);
	ty_buf_addc(&f->head, sizeof(long));
	ty_buf_addle(&f->head, f->spool->page_size, 4);
	ty_buf_add(&f->head, "zstd", 5);
	ty_buf_add(&f->head, ZSTD_versionString(), strlen(ZSTD_versionString()) + 1);
	at_options = f->head.len;
	ty_buf_addle(&f->head, 0, 8);
	if ((r = load_buffers(f)) || (r = load_cpus(f)) || (r = add_metadata(f)) ||
	    (r = add_tarry(f)))
		return r;
	*dir_desc = describe(f, "tarry directory");
	desc = describe(f, "options");
	/* The strings section names itself last. */
	ty_buf_add(&f->raw, f->strings.p, f->strings.len);
	ty_buf_add(&f->raw, "strings", 8);
	if (f->strings.failed)
		return no_memory(f);
	r = add_section(f, TY_DAT_STRINGS, "strings");
	if (r)
		return r;

	options_off = f->head.len;
	memcpy(f->head.p + at_options, &options_off, 8);
	ty_buf_init(&o, META_LIMIT);
	r = build_options(f, &o); /* for its length */
	if (!r) {
		*data_end = place_data(f, options_off + TY_DAT_SECTION_HEAD + o.len);
		ty_buf_reset(&o);
		r = build_options(f, &o);
	}
	section_head(&f->head, TY_DAT_DONE, 0, desc, o.len);
	if (!r && ty_buf_add(&f->head, o.p, o.len))
		r = no_memory(f);
	ty_buf_fini(&o);
	return r ? r : f->head.failed ? no_memory(f) : 0;
}

static int write_failed(struct finish *f)
{
	return ty_fail_errno(f->err,
			     "cannot write %s (the recording stays readable as unfinished %s)",
			     f->tmp, f->spool->path);
}

static int put(struct finish *f, const void *p, size_t n, uint64_t off)
{
	const char *s = p;

	while (n) {
		ssize_t w = pwrite(f->fd, s, n, (off_t)off);

		if (w < 0 && errno == EINTR)
			continue;
		if (w == 0)
			errno = ENOSPC;
		if (w <= 0)
			return write_failed(f);
		s += w;
		n -= (size_t)w;
		off += (uint64_t)w;
	}
	return 0;
}

/* n bytes of the spool at `from` to `to` in the finished file. */
static int copy(struct finish *f, uint64_t from, uint64_t to, uint64_t n)
{
	while (n) {
		off_t in = (off_t)from, out = (off_t)to;
		size_t want = n < COPY_AT_ONCE ? (size_t)n : COPY_AT_ONCE;
		ssize_t c = copy_file_range(f->spool->fd, &in, f->fd, &out, want, 0);
		int r;

		if (c < 0 && errno == EINTR)
			continue;
		if (c < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO))
			return write_failed(f);
		if (c <= 0) { /* not on this file system */
			ty_buf_reset(&f->z);
			if (ty_buf_reserve(&f->z, COPY_BYTES))
				return no_memory(f);
			c = ty_pread(f->spool->fd, f->z.p, n < COPY_BYTES ? (size_t)n : COPY_BYTES,
				     from);
			if (c <= 0)
				return ty_fail(f->err, TY_EIO, from,
					       "%s: cannot read it back at offset %" PRIu64,
					       f->spool->path, from);
			r = put(f, f->z.p, (size_t)c, to);
			if (r)
				return r;
		}
		from += (uint64_t)c;
		to += (uint64_t)c;
		n -= (uint64_t)c;
	}
	return 0;
}

static int write_data(struct finish *f)
{
	int r = 0;

	for (size_t b = 0; b < f->buffers.n && !r; b++) {
		const struct buffer *buf = &f->buffers.v[b];

		ty_buf_reset(&f->raw);
		section_head(&f->raw, TY_DAT_BUFFER, TY_DAT_COMPRESSED, buf->desc, buf->size);
		r = put(f, f->raw.p, f->raw.len, buf->off);
	}
	for (size_t k = 0; k < f->cpus.n && !r; k++) {
		const struct cpu_data *c = &f->cpus.v[k];
		uint64_t to = c->off + 4;

		if (!c->count)
			continue;
		r = put(f, &c->count, 4, c->off);
		for (size_t i = c->first; i < c->first + c->n && !r; i++) {
			const struct ty_spool_ent *e = &f->scan.ents.v[i];

			if (!e->h.raw)
				continue;
			r = copy(f, e->off + sizeof(e->h), to, e->h.stored);
			to += e->h.stored;
		}
	}
	return r;
}

/* The directory of tarry's sections and the footer, as the last section of the file. */
static int write_footer(struct finish *f, uint32_t desc, uint64_t off)
{
	size_t n = f->dir.n * sizeof(*f->dir.v);
	struct ty_dat_footer foot = {.version = TY_DAT_FOOTER_VERSION,
				     .crc = (uint32_t)crc32_z(0, (uint8_t *)f->dir.v, n),
				     .off = off + TY_DAT_SECTION_HEAD,
				     .size = n};

	memcpy(foot.magic, TY_DAT_FOOTER_MAGIC, sizeof(foot.magic));
	ty_buf_reset(&f->raw);
	section_head(&f->raw, TY_DAT_TARRY_DIR, 0, desc, n + sizeof(foot));
	ty_buf_add(&f->raw, f->dir.v, n);
	if (ty_buf_add(&f->raw, &foot, sizeof(foot)))
		return no_memory(f);
	return put(f, f->raw.p, f->raw.len, off);
}

/* Say at once, not after gigabytes, that the second copy will not fit. */
static int check_space(struct finish *f, uint64_t need)
{
	char a[TY_DURATION_MAX], b[TY_DURATION_MAX];
	struct statvfs vfs;
	uint64_t have;

	if (fstatvfs(f->fd, &vfs) || !vfs.f_blocks)
		return 0;
	have = (uint64_t)vfs.f_bavail * vfs.f_frsize;
	if (have >= need)
		return 0;
	return ty_fail(f->err, TY_ENOSPC, TY_NO_OFFSET,
		       "%s: finishing needs %s, only %s are free; the recording stays readable as "
		       "unfinished",
		       f->spool->path, ty_fmt_bytes(need, a), ty_fmt_bytes(have, b));
}

static int sync_directory(struct finish *f)
{
	char *copy_of = strdup(f->spool->path);
	int fd, r = 0;

	if (!copy_of)
		return no_memory(f);
	fd = open(dirname(copy_of), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* Some file systems cannot sync directories (EINVAL): nothing more can be done there. */
	if (fd < 0 || (fsync(fd) && errno != EINVAL && errno != EROFS))
		r = ty_fail_errno(f->err, "cannot sync the folder of %s", f->spool->path);
	if (fd >= 0)
		close(fd);
	free(copy_of);
	return r;
}

static int write_file(struct finish *f, uint32_t dir_desc, uint64_t data_end)
{
	int r;

	/* What an earlier try left behind; a link put there by somebody else is not followed. */
	unlink(f->tmp);
	f->fd = open(f->tmp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (f->fd < 0)
		return ty_fail_errno(f->err,
				     "cannot create %s (the recording stays readable as "
				     "unfinished %s)",
				     f->tmp, f->spool->path);
	if (!(r = check_space(f, data_end + 4096)) && !(r = put(f, f->head.p, f->head.len, 0)) &&
	    !(r = write_data(f)) && !(r = write_footer(f, dir_desc, data_end))) {
		if (fsync(f->fd))
			r = ty_fail_errno(f->err, "cannot sync %s", f->tmp);
		else if (rename(f->tmp, f->spool->path))
			r = ty_fail_errno(f->err, "cannot rename %s to %s", f->tmp, f->spool->path);
		else
			r = sync_directory(f);
	}
	if (r)
		unlink(f->tmp);
	close(f->fd);
	return r;
}

int ty_spool_finish(struct ty_spool *s, struct ty_err *err)
{
	struct finish f = {.spool = s, .fd = -1, .err = err};
	uint64_t data_end = 0;
	uint32_t dir_desc = 0;
	int r = ty_spool_failed(s, err);

	if (r)
		return r;
	ty_buf_init(&f.head, META_LIMIT);
	ty_buf_init(&f.strings, 1 << 20);
	ty_buf_init(&f.raw, META_LIMIT);
	ty_buf_init(&f.z, META_LIMIT);
	ty_buf_init(&f.texts, 1 << 20);
	if (asprintf(&f.tmp, "%s.tmp", s->path) < 0) {
		f.tmp = NULL;
		r = no_memory(&f);
	}
	if (!r)
		r = ty_spool_scan(s->fd, atomic_load(&s->end), s->path, &f.scan, err);
	if (!r && (f.scan.torn || f.scan.too_many))
		r = ty_fail(err, TY_EFORMAT, f.scan.torn_off,
			    "%s: not all of its chunks can be found again; it stays as it is, "
			    "unfinished and readable",
			    s->path);
	if (!r)
		r = build_head(&f, &dir_desc, &data_end);
	if (!r)
		r = write_file(&f, dir_desc, data_end);
	ty_spool_scan_fini(&f.scan);
	ty_buf_fini(&f.head);
	ty_buf_fini(&f.strings);
	ty_buf_fini(&f.raw);
	ty_buf_fini(&f.z);
	ty_buf_fini(&f.texts);
	vec_fini(&f.dir);
	vec_fini(&f.buffers);
	vec_fini(&f.cpus);
	free(f.tmp);
	return r;
}
