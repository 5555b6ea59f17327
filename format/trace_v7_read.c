/* SPDX-License-Identifier: MIT */
/*
 * trace.dat version 7 (trace-cmd.dat.v7(5)): sections with a common head, found through a chain of
 * options. tarry's own sections (tarry.dat(5)) are found through the footer at the end of the file
 * or, when that was cut off, by walking from section to section.
 *
 * Damage of the options, the page description or the event formats is an error, because nothing can
 * be read without them. Damage of anything else adds a clause to the note.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "compare.h"
#include "checked_read.h"
#include "trace_file.h"

#define OPTION_SECTIONS_MAX 4096
#define SECTIONS_MAX	    65536 /* looked at in a walk */
#define TARRY_MAX	    256	  /* of tarry's own */
#ifndef LATER_MIN		  /* make fuzz: 1 */
#define LATER_MIN (1u << 20)	  /* decompressed bytes of a section that is read on first use */
#endif

struct cpu_place {
	uint32_t cpu;
	uint64_t off, size;
};

/* A BUFFER option. */
struct v7_buffer {
	struct ty_trace_buffer b;
	uint64_t off; /* of its section */
	VEC(struct cpu_place) cpus;
};

struct v7 {
	struct ty_trace *t;
	struct ty_err *err;
	uint64_t section_off[TY_DAT_CMDLINES + 1]; /* by id; 0: none */
	VEC(struct v7_buffer) buffers;
	bool latency; /* there is a BUFFER_TEXT option */
};

struct section {
	unsigned id, flags;
	uint64_t off, size; /* of its head; of what follows the head */
};

static int damaged(struct v7 *v, int r, const char *what, uint64_t off)
{
	return ty_trace_damaged(v->t, r, what, off, v->err);
}

/* The section head at off. 0 or -TY_EFORMAT. */
static int section_head(struct ty_trace *t, uint64_t off, struct section *s)
{
	struct ty_in in = ty_trace_in(t, off, t->file_bytes);

	s->off = off;
	s->id = (unsigned)ty_in_uint(&in, 2);
	s->flags = (unsigned)ty_in_uint(&in, 2);
	ty_in_skip(&in, 4);
	s->size = ty_in_uint(&in, 8);
	return in.bad ? -TY_EFORMAT : 0;
}

/*
 * Whether the section is compressed, and its two sizes, checked and taken from the budget for
 * decompressing: 1, 0 when it is not, -TY_EFORMAT. `in` is then before its bytes.
 */
static int section_sizes(struct ty_trace *t, const struct section *s, struct ty_in *in,
			 uint64_t *stored, uint64_t *raw)
{
	*in = ty_trace_in(t, s->off + TY_DAT_SECTION_HEAD, t->file_bytes);
	if (!(s->flags & TY_DAT_COMPRESSED)) {
		if (s->size < ty_in_left(in))
			in->end = in->pos + s->size;
		return 0;
	}
	*stored = ty_in_uint(in, 4);
	*raw = ty_in_uint(in, 4);
	if (in->bad || *stored > ty_in_left(in) || *raw > TY_DAT_SECTION_BYTES ||
	    t->priv->codec == TY_CODEC_NONE || !ty_ratio_ok(t->priv->codec, *stored, *raw) ||
	    *raw > t->priv->unpack_left)
		return -TY_EFORMAT;
	t->priv->unpack_left -= *raw;
	return 1;
}

/* Decompresses it; *block must be freed. `in` is then before its content. */
static int section_unpack(struct ty_trace *t, struct ty_in *in, uint64_t stored, uint64_t raw,
			  uint8_t **block)
{
	uint8_t *z = malloc(stored + 1);
	int r = -TY_ENOMEM;

	*block = malloc(raw + 1);
	if (z && *block) {
		ty_in_get(in, z, stored);
		r = in->bad ? -TY_EFORMAT : ty_decompress(t->priv->codec, z, stored, *block, raw);
	}
	free(z);
	if (r) {
		free(*block);
		*block = NULL;
		return r;
	}
	*in = (struct ty_in){.fd = -1, .mem = *block, .end = raw, .swap = t->big_endian};
	return 0;
}

/*
 * Opens the content of a section for reading. *block must be freed afterwards (the decompressed
 * bytes), or is NULL. 0, -TY_EFORMAT, -TY_ENOMEM.
 */
static int section_open(struct ty_trace *t, const struct section *s, struct ty_in *in,
			uint8_t **block)
{
	uint64_t stored, raw;
	int r = section_sizes(t, s, in, &stored, &raw);

	*block = NULL;
	return r > 0 ? section_unpack(t, in, stored, raw, block) : r;
}

/* BUFFER option: where the section is, name, clock, page size, and the places of the CPUs. */
static int buffer_option(struct v7 *v, struct ty_in *in)
{
	struct v7_buffer b = {.off = ty_in_uint(in, 8)};
	struct ty_text name, clock;
	uint64_t page, n;
	int r;

	if ((r = ty_trace_keep_str(v->t, in, &name)) || (r = ty_trace_keep_str(v->t, in, &clock)))
		return r;
	page = ty_in_uint(in, 4);
	n = ty_in_uint(in, 4);
	if (in->bad || !ty_trace_page_size_ok(page) || n > TY_DAT_CPUS_MAX ||
	    v->buffers.n >= TY_DAT_BUFFERS_MAX)
		return -TY_EFORMAT;
	b.b = (struct ty_trace_buffer){name.s, clock.s, (uint32_t)page};
	for (uint64_t i = 0; i < n && !r; i++) {
		struct cpu_place c = {.cpu = (uint32_t)ty_in_uint(in, 4)};

		c.off = ty_in_uint(in, 8);
		c.size = ty_in_uint(in, 8);
		if (in->bad || c.cpu >= TY_DAT_CPUS_MAX)
			r = -TY_EFORMAT;
		else if (c.size)
			r = vec_push(&b.cpus, c);
	}
	if (!r)
		r = vec_push(&v->buffers, b);
	if (r)
		vec_fini(&b.cpus);
	return r;
}

/* One option; *next is where the next options section is (DONE). */
static int option(struct v7 *v, unsigned id, struct ty_in *in, uint64_t *next)
{
	switch (id) {
	case TY_DAT_DONE:
		if (ty_in_left(in) >= 8)
			*next = ty_in_uint(in, 8);
		return 0;
	case TY_DAT_BUFFER: return buffer_option(v, in);
	case TY_DAT_BUFFER_TEXT: v->latency = true; return 0;
	case TY_DAT_HEADER_INFO ... TY_DAT_CMDLINES:
		v->section_off[id] = ty_in_uint(in, 8);
		return in->bad ? -TY_EFORMAT : 0;
	}
	return ty_trace_option(v->t, id, in, v->err);
}

/*
 * One options section: *next is the place of the one after it, 0 at the end. What is parsed counts
 * against the same budget as what is decompressed.
 */
static int options_section(struct v7 *v, uint64_t off, uint64_t *next)
{
	struct section s;
	struct ty_in in;
	uint8_t *block;
	unsigned id = 1;
	int r = section_head(v->t, off, &s);

	*next = 0;
	if (!r && s.id != TY_DAT_DONE)
		r = -TY_EFORMAT;
	if (!r)
		r = section_open(v->t, &s, &in, &block);
	if (!r && !block) {
		if (ty_in_left(&in) > v->t->priv->unpack_left)
			r = -TY_EFORMAT;
		else
			v->t->priv->unpack_left -= ty_in_left(&in);
	}
	if (r)
		return damaged(v, r, "options", off);
	while (!r && id != TY_DAT_DONE) {
		uint64_t size, end;

		id = (unsigned)ty_in_uint(&in, 2);
		size = ty_in_uint(&in, 4);
		if (in.bad || size > ty_in_left(&in)) {
			r = -TY_EFORMAT;
			break;
		}
		end = in.end;
		in.end = in.pos + size;
		r = option(v, id, &in, next);
		in.pos = in.end;
		in.end = end;
	}
	free(block);
	if (r && r != -TY_EUNSUPPORTED)
		return damaged(v, r, "options", off);
	return r;
}

/* The chain may lead anywhere in the file, but never to the same offset twice. */
static int all_options(struct v7 *v, uint64_t off)
{
	VEC(uint64_t) seen = {0};
	int r = 0;

	do {
		bool again = seen.n >= OPTION_SECTIONS_MAX;

		vec_each (o, &seen)
			again |= *o == off;
		if (again || vec_push(&seen, off))
			r = damaged(v, again ? 0 : -TY_ENOMEM, "chain of options", off);
		else
			r = options_section(v, off, &off);
	} while (!r && off);
	vec_fini(&seen);
	return r;
}

static int parse(struct v7 *v, unsigned id, struct ty_in *in)
{
	struct ty_trace *t = v->t;

	switch (id) {
	case TY_DAT_HEADER_INFO: return ty_trace_header_info(t, in);
	case TY_DAT_FTRACE_EVENTS: return ty_trace_ftrace_formats(t, in);
	case TY_DAT_EVENT_FORMATS: return ty_trace_event_formats(t, in);
	case TY_DAT_KALLSYMS: return ty_trace_sized_text(t, in, 4, &t->kallsyms);
	case TY_DAT_PRINTK: return ty_trace_sized_text(t, in, 4, &t->printk);
	default: return ty_trace_sized_text(t, in, 8, &t->cmdlines);
	}
}

static int metadata(struct v7 *v)
{
	static const char *const what[] = {"description of the ring pages",
					   "ftrace's event formats",
					   "event formats",
					   "kernel symbols",
					   "printk formats",
					   "command names"};
	struct ty_trace *t = v->t;

	for (unsigned id = TY_DAT_HEADER_INFO; id <= TY_DAT_CMDLINES; id++) {
		uint64_t off = v->section_off[id];
		uint8_t *block = NULL;
		struct section s;
		struct ty_in in;
		int r;

		if (!off) {
			if (id == TY_DAT_HEADER_INFO)
				return damaged(v, 0, what[0], 0);
			continue;
		}
		r = section_head(t, off, &s);
		if (!r && s.id != id)
			r = -TY_EFORMAT;
		if (!r)
			r = section_open(t, &s, &in, &block);
		if (!r)
			r = parse(v, id, &in);
		free(block);
		if (r == -TY_ENOMEM || (r && id <= TY_DAT_EVENT_FORMATS))
			return damaged(v, r, what[id - TY_DAT_HEADER_INFO], off);
		if (r) {
			ty_trace_note(t, "its %s at offset %" PRIu64 " are damaged and ignored",
				      what[id - TY_DAT_HEADER_INFO], off);
			t->truncated = true;
		}
	}
	return 0;
}

ORDER(by_cpu, struct cpu_place, compare(a->cpu, b->cpu))

/* n bytes at off, which must lie before end. */
static bool read_small(const struct ty_trace *t, uint64_t off, uint64_t end, void *dst, size_t n)
{
	return off <= end && end - off >= n && ty_pread(t->priv->fd, dst, n, off) == (int64_t)n;
}

/*
 * The compressed chunks of one CPU: u32 count, then u32 stored, u32 raw, bytes; each. One 8-byte
 * read per chunk.
 */
static int load_chunks(struct ty_trace *t, const struct cpu_place *c, struct ty_stream_data *d)
{
	/* trace-cmd 3.1 leaves the 4 bytes of the count out of the size. */
	uint64_t off = c->off, end = c->off + c->size + 4, count = 1, i = 0;
	uint8_t h[TY_V7_CHUNK_HEAD];
	int r = 0;

	if (end < c->off || end > t->file_bytes)
		end = t->file_bytes;
	if (read_small(t, off, end, h, 4)) {
		count = ty_load(h, 4, t->big_endian);
		off += 4;
		for (; i < count && !r && read_small(t, off, end, h, sizeof(h)); i++) {
			uint64_t stored = ty_load(h, 4, t->big_endian) + sizeof(h);
			struct ty_chunk_ent e = {.off = off,
						 .stored = (uint32_t)stored,
						 .raw = (uint32_t)ty_load(h + 4, 4, t->big_endian)};

			if (stored > end - off || stored > UINT32_MAX)
				break;
			r = ty_trace_add_chunk(t, d, e);
			off += stored;
		}
	}
	if (!r && i < count) { /* the rest is known to have been there */
		struct ty_chunk_ent gone = {.off = off, .missing = true};

		ty_trace_cut(t, off);
		r = ty_trace_add_chunk(t, d, gone);
	}
	return r;
}

static int load_cpu(struct v7 *v, uint32_t buffer, const struct cpu_place *c, bool compressed)
{
	struct ty_trace *t = v->t;
	struct ty_stream_data d = {.page_size = t->buffers.v[buffer].page_size};
	int r;

	if (compressed)
		r = load_chunks(t, c, &d);
	else
		r = ty_trace_flat(t, &d, d.page_size, c->off, c->size, v->err);
	if (!r)
		return ty_trace_add_stream(t, buffer, c->cpu, &d, v->err);
	vec_fini(&d.chunks);
	if (r == -TY_ENOMEM)
		return damaged(v, r, "", c->off);
	return ty_fail(v->err, TY_ELIMIT, c->off, "%s: more than %u chunks of data", t->path,
		       TY_CHUNKS_MAX);
}

static int load_buffer(struct v7 *v, struct v7_buffer *b)
{
	struct ty_trace *t = v->t;
	uint32_t buffer = (uint32_t)t->buffers.n;
	bool compressed = t->priv->codec != TY_CODEC_NONE;
	struct section s;
	int r = 0;

	if (vec_push(&t->buffers, b->b))
		return damaged(v, -TY_ENOMEM, "", b->off);
	/* A truncated section head: no data follows. */
	if (!section_head(t, b->off, &s)) {
		if (s.id != TY_DAT_BUFFER)
			return damaged(v, 0, "header of the data", b->off);
		compressed = s.flags & TY_DAT_COMPRESSED;
	}
	if (compressed && t->priv->codec == TY_CODEC_NONE)
		return damaged(v, 0, "header of the data", b->off);
	vec_sort(&b->cpus, by_cpu);
	for (size_t i = 0; i < b->cpus.n && !r; i++) {
		if (i && b->cpus.v[i].cpu == b->cpus.v[i - 1].cpu)
			return damaged(v, 0, "list of CPUs of the data", b->off);
		r = load_cpu(v, buffer, &b->cpus.v[i], compressed);
		if (t->cpu_count <= b->cpus.v[i].cpu)
			t->cpu_count = b->cpus.v[i].cpu + 1;
	}
	return r;
}

/* The top buffer first, whatever the order of the options. */
static int data(struct v7 *v)
{
	int r = 0;

	if (!v->buffers.n && v->latency)
		return ty_fail(v->err, TY_EUNSUPPORTED, TY_NO_OFFSET,
			       "%s: contains the text of a latency tracer, not events. Use "
			       "'trace-cmd report' to show it",
			       v->t->path);
	for (int top = 1; top >= 0; top--)
		for (size_t i = 0; i < v->buffers.n && !r; i++)
			if ((*v->buffers.v[i].b.name == 0) == top)
				r = load_buffer(v, &v->buffers.v[i]);
	return r;
}

/* Take one of tarry's sections, a large one without reading more than its checksum needs. Damage is
 * noted. 0 or -TY_ENOMEM. */
static int tarry_section(struct ty_trace *t, const struct section *s, const uint32_t *crc)
{
	uint64_t data_off = s->off + TY_DAT_SECTION_HEAD;
	struct ty_section_text st = {.type = s->id - TY_DAT_TARRY};
	uint64_t stored, raw;
	uint8_t *block = NULL;
	struct ty_in in;
	int r = 0;

	if (s->size > t->file_bytes || data_off > t->file_bytes - s->size) {
		r = -TY_EFORMAT;
	} else if (crc) {
		uint32_t sum = 0;

		in = ty_trace_in(t, data_off, data_off + s->size);
		while (ty_in_left(&in) && !in.bad) {
			uint8_t b[4096];
			size_t n =
				ty_in_left(&in) < sizeof(b) ? (size_t)ty_in_left(&in) : sizeof(b);

			ty_in_get(&in, b, n);
			sum = (uint32_t)crc32(sum, b, (uInt)n);
		}
		if (in.bad || sum != *crc)
			r = -TY_EFORMAT;
	}
	if (!r)
		r = section_sizes(t, s, &in, &stored, &raw);
	/* What the checksum covers is whole. */
	if (r > 0 && crc && raw >= LATER_MIN && stored + TY_V7_CHUNK_HEAD <= s->size &&
	    !ty_trace_section_bytes(t, st.type)) {
		r = ty_trace_add_section_later(t, st.type, raw, in.pos, stored);
	} else {
		if (r > 0)
			r = section_unpack(t, &in, stored, raw, &block);
		if (!r)
			r = ty_trace_keep(t, &in, ty_in_left(&in), TY_DAT_SECTION_BYTES, &st.text);
		free(block);
		if (!r)
			r = ty_trace_add_section(t, st.type, st.text);
	}
	if (r == -TY_EFORMAT) {
		ty_trace_note(t, "section %u at offset %" PRIu64 " is damaged and ignored", st.type,
			      s->off);
		t->truncated = true;
		r = 0;
	}
	return r;
}

static bool is_tarry(unsigned id)
{
	return id > TY_DAT_TARRY && id <= TY_DAT_TARRY_LAST;
}

/* Through the directory that the footer points to: 1; 0 when there is no footer; -TY_ENOMEM. */
static int tarry_by_footer(struct ty_trace *t)
{
	struct ty_dat_footer f;
	struct ty_dat_entry *e;
	int r = 0;

	if (t->file_bytes < sizeof(f) ||
	    ty_pread(t->priv->fd, &f, sizeof(f), t->file_bytes - sizeof(f)) != sizeof(f) ||
	    memcmp(f.magic, TY_DAT_FOOTER_MAGIC, sizeof(f.magic)) ||
	    f.version != TY_DAT_FOOTER_VERSION || f.size > TARRY_MAX * sizeof(*e) ||
	    f.size % sizeof(*e) || f.size > t->file_bytes || f.off > t->file_bytes - f.size)
		return 0;
	e = malloc(f.size + 1);
	if (!e)
		return -TY_ENOMEM;
	if (ty_pread(t->priv->fd, e, f.size, f.off) != (int64_t)f.size ||
	    (uint32_t)crc32_z(0, (uint8_t *)e, f.size) != f.crc) {
		free(e);
		return 0;
	}
	for (size_t i = 0; i < f.size / sizeof(*e) && !r; i++) {
		struct section s = {.id = e[i].id, .off = e[i].off, .size = e[i].size};
		struct section head;

		if (!is_tarry(s.id))
			continue;
		if (!section_head(t, s.off, &head))
			s.flags = head.flags;
		r = tarry_section(t, &s, &e[i].crc);
	}
	free(e);
	return r ? r : 1;
}

/* By walking the sections after the initial header. 0 or -TY_ENOMEM. */
static int tarry_by_walk(struct ty_trace *t, uint64_t off)
{
	unsigned any = 0;
	struct section s;
	int r = 0;

	for (unsigned n = 0; n < SECTIONS_MAX && any < TARRY_MAX && !r && !section_head(t, off, &s);
	     n++) {
		if (is_tarry(s.id)) {
			any++;
			r = tarry_section(t, &s, NULL);
		}
		if (s.size > t->file_bytes - off - TY_DAT_SECTION_HEAD)
			break;
		off += TY_DAT_SECTION_HEAD + s.size;
	}
	if (any) {
		ty_trace_note(t, "the end of the file is missing or damaged");
		t->truncated = true;
	}
	return r;
}

/* A decimal number and the blank behind it; false when there is none. */
static bool number(const char **p, uint64_t *v)
{
	char *end;

	if (**p < '0' || **p > '9')
		return false;
	*v = strtoull(*p, &end, 10);
	*p = end + 1;
	return *end == ' ';
}

/* One line of the chunk directory; `missing`: the chunk was lost while recording. */
struct dir_line {
	uint64_t buffer, cpu, first_ns, last_ns;
	uint32_t crc;
	bool missing;
};

static bool dir_line(const char **p, struct dir_line *l)
{
	if (!number(p, &l->buffer) || !number(p, &l->cpu) || !number(p, &l->first_ns) ||
	    !number(p, &l->last_ns))
		return false;
	l->missing = **p == 'm';
	l->crc = l->missing ? 0 : (uint32_t)strtoul(*p, NULL, 16);
	*p += strcspn(*p, "\n");
	*p += **p == '\n';
	return true;
}

/* The lines of stream i, from *p on; *p is then at the first line of another stream. */
static int direct_stream(struct ty_trace *t, size_t i, const char **p)
{
	struct ty_stream_data *d = &t->priv->data.v[i];
	struct ty_stream *s = &t->streams.v[i];
	struct ty_stream_data old = *d;
	struct dir_line l;
	size_t k = 0;
	int r = 0;

	memset(&d->chunks, 0, sizeof(d->chunks));
	for (const char *q = *p; !r && dir_line(&q, &l); *p = q) {
		if (l.buffer != s->buffer || l.cpu != s->cpu) {
			/* All chunks of the stream before this one were dropped from the file. */
			if (l.buffer < s->buffer || (l.buffer == s->buffer && l.cpu < s->cpu))
				continue;
			break;
		}
		if (l.missing && (!d->chunks.n || !d->chunks.v[d->chunks.n - 1].missing)) {
			struct ty_chunk_ent gone = {.missing = true};

			if (k < old.chunks.n)
				gone.off = old.chunks.v[k].off;
			r = ty_trace_add_chunk(t, d, gone);
		} else if (!l.missing && k < old.chunks.n && !old.chunks.v[k].missing) {
			struct ty_chunk_ent e = old.chunks.v[k++];

			e.first_ns = l.first_ns;
			e.last_ns = l.last_ns;
			e.crc = l.crc;
			e.has_crc = true;
			r = vec_push(&d->chunks, e);
		}
	}
	if (r == -TY_ELIMIT) {
		ty_trace_note(t, "more than %u chunks: some places with lost data are not shown",
			      TY_CHUNKS_MAX);
		t->truncated = true;
		r = 0;
	}
	for (; k < old.chunks.n && !r; k++)
		r = vec_push(&d->chunks, old.chunks.v[k]);
	vec_fini(&old.chunks);
	s->chunks = (uint32_t)d->chunks.n;
	return r;
}

/* Times and checksums of the chunks (section.h, TY_SEC_CHUNKS), onto the chunks already found. */
static int chunk_directory(struct ty_trace *t)
{
	const char *p = ty_trace_section(t, TY_SEC_CHUNKS).s;
	int r = 0;

	for (size_t i = 0; p && i < t->streams.n && !r; i++)
		if (!t->priv->data.v[i].flat)
			r = direct_stream(t, i, &p);
	return r;
}

static int codec(struct v7 *v, struct ty_in *in)
{
	char name[64], version[64];
	uint64_t off = in->pos;

	ty_in_str(in, name, sizeof(name));
	ty_in_str(in, version, sizeof(version));
	if (in->bad)
		return damaged(v, 0, "initial header", off);
	if (!strcmp(name, "none"))
		v->t->priv->codec = TY_CODEC_NONE;
	else if (!strcmp(name, "zlib"))
		v->t->priv->codec = TY_CODEC_ZLIB;
	else if (!strcmp(name, "zstd"))
		v->t->priv->codec = TY_CODEC_ZSTD;
	else
		return ty_fail(v->err, TY_EUNSUPPORTED, off,
			       "%s: unknown compression (not zlib or zstd). 'trace-cmd convert "
			       "--compression zstd' may convert it",
			       v->t->path);
	return 0;
}

int ty_trace_read_v7(struct ty_trace *t, struct ty_in *in, struct ty_err *err)
{
	struct v7 v = {.t = t, .err = err};
	uint64_t options, first;
	int r = codec(&v, in);

	if (r)
		return r;
	options = ty_in_uint(in, 8);
	first = in->pos;
	if (in->bad || !options)
		return damaged(&v, 0, "initial header", 0);
	if (!(r = all_options(&v, options)) && !(r = metadata(&v))) {
		ty_trace_find_long_size(t);
		r = data(&v);
	}
	if (!r) {
		r = tarry_by_footer(t);
		if (!r)
			r = tarry_by_walk(t, first);
		if (r >= 0)
			r = chunk_directory(t);
		if (r < 0)
			r = damaged(&v, r, "", 0);
	}
	vec_each (b, &v.buffers)
		vec_fini(&b->cpus);
	vec_fini(&v.buffers);
	return r;
}
