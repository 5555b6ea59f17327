/* SPDX-License-Identifier: MIT */
/*
 * Reads the spool of an unfinished recording (spool.h, tarry.dat(5)): all chunks that are whole.
 * Holes in a stream's numbers become missing chunks; the note says that nothing is known after the
 * last chunk.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace_file.h"
#include "units.h"

struct spool {
	struct ty_trace *t;
	struct ty_err *err;
	struct ty_spool_scan scan;
	uint32_t damaged;  /* metadata chunks that could not be read */
	uint32_t nameless; /* data chunks of an undescribed buffer */
	uint64_t holes, chunks, bytes;
};

/* The decompressed content of a metadata chunk, appended to b. 0, -TY_EFORMAT, -TY_ENOMEM. */
static int content(struct spool *s, const struct ty_spool_ent *e, struct ty_buf *b)
{
	int r = ty_spool_chunk_read(s->t->priv->fd, e, b);

	b->failed = 0;
	return !r || r == -TY_ENOMEM ? r : -TY_EFORMAT;
}

/* One chunk that is an item of a list. */
static int list_item(struct spool *s, const struct ty_spool_chunk *h, const struct ty_buf *b)
{
	struct ty_trace *t = s->t;
	const char *z = b->len ? memchr(b->p, 0, b->len) : NULL;
	struct ty_text a, c;
	int r;

	switch (h->stream) {
	case TY_META_FTRACE_FORMAT:
		r = ty_trace_keep_bytes(s->t, b->p, b->len, TY_DAT_FORMAT_BYTES, &a);
		if (!r && t->formats.n >= TY_DAT_FORMATS_MAX)
			return -TY_EFORMAT;
		return r ? r : vec_push(&t->formats, (struct ty_event_format){"ftrace", a});
	case TY_META_EVENT_FORMAT:
		if (!z || t->formats.n >= TY_DAT_FORMATS_MAX)
			return -TY_EFORMAT;
		if ((r = ty_trace_keep_bytes(s->t, b->p, (size_t)(z - b->p), 4096, &a)) ||
		    (r = ty_trace_keep_bytes(s->t, z + 1, b->len - (size_t)(z + 1 - b->p),
					     TY_DAT_FORMAT_BYTES, &c)))
			return r;
		return vec_push(&t->formats, (struct ty_event_format){a.s, c});
	case TY_META_BUFFER:
		if (!z || h->seq >= TY_DAT_BUFFERS_MAX)
			return -TY_EFORMAT;
		/* Data names its buffer by number: a buffer whose name was lost keeps its
		 * number. */
		while (t->buffers.n < h->seq)
			if (vec_push(&t->buffers, (struct ty_trace_buffer){"(name lost)", "",
									   t->priv->page_size}))
				return -TY_ENOMEM;
		if ((r = ty_trace_keep_bytes(s->t, b->p, (size_t)(z - b->p), 4096, &a)) ||
		    (r = ty_trace_keep_bytes(s->t, z + 1,
					     strnlen(z + 1, b->len - (size_t)(z + 1 - b->p)), 4096,
					     &c)))
			return r;
		return vec_push(&t->buffers, (struct ty_trace_buffer){t->buffers.n ? a.s : "", c.s,
								      t->priv->page_size});
	default: /* TY_META_CPUSTAT */
		r = ty_trace_keep_bytes(s->t, b->p, b->len, TY_DAT_FORMAT_BYTES, &a);
		if (!r && t->cpustat.n >= TY_DAT_CPUS_MAX * TY_DAT_BUFFERS_MAX)
			return -TY_EFORMAT;
		return r ? r : vec_push(&t->cpustat, a);
	}
}

static int cpu_count(struct spool *s, const struct ty_buf *b)
{
	unsigned long n = b->len ? strtoul(b->p, NULL, 10) : 0;

	if (n > TY_DAT_CPUS_MAX)
		return -TY_EFORMAT;
	s->t->cpu_count = (uint32_t)n;
	return 0;
}

/* The chunks of one metadata stream together are one text. */
static int whole_text(struct spool *s, const struct ty_spool_ent *e, const struct ty_buf *b)
{
	struct ty_trace *t = s->t;
	struct ty_text text, *to = NULL;
	int r;

	if (e->h.type == TY_SPOOL_SECTION) {
		r = ty_trace_keep_bytes(s->t, b->p, b->len, TY_DAT_SECTION_BYTES, &text);
		return r ? r : ty_trace_add_section(t, e->h.stream, text);
	}
	switch (e->h.stream) {
	case TY_META_HEADER_PAGE: to = &t->header_page; break;
	case TY_META_HEADER_EVENT: to = &t->header_event; break;
	case TY_META_KALLSYMS: to = &t->kallsyms; break;
	case TY_META_PRINTK: to = &t->printk; break;
	case TY_META_CMDLINES: to = &t->cmdlines; break;
	case TY_META_UNAME: to = &t->uname; break;
	case TY_META_VERSION: to = &t->recorder_version; break;
	case TY_META_TRACE_CLOCK: to = &t->trace_clock; break;
	case TY_META_CPUCOUNT: return cpu_count(s, b);
	default: return 0; /* from a newer recorder */
	}
	return ty_trace_keep_bytes(s->t, b->p, b->len, TY_DAT_SECTION_BYTES, to);
}

static bool is_list(const struct ty_spool_chunk *h)
{
	return h->type == TY_SPOOL_META &&
	       (h->stream == TY_META_FTRACE_FORMAT || h->stream == TY_META_EVENT_FORMAT ||
		h->stream == TY_META_BUFFER || h->stream == TY_META_CPUSTAT);
}

int ty_trace_dropped(const struct ty_trace *t, struct ty_err *err)
{
	return ty_fail(err, TY_EIO, TY_NO_OFFSET,
		       "%s: the running recorder dropped (--keep) the data to read. Try again, or "
		       "stop the recorder first",
		       t->path);
}

static int metadata(struct spool *s)
{
	const struct ty_spool_ent *v = s->scan.ents.v;
	struct ty_buf b;
	int r = 0, gone = 0;

	ty_buf_init(&b, TY_DAT_SECTION_BYTES);
	for (size_t i = 0; i < s->scan.ents.n && r != -TY_ENOMEM && !gone; i++) {
		const struct ty_spool_chunk *h = &v[i].h;
		const struct ty_spool_chunk *next =
			i + 1 < s->scan.ents.n ? &v[i + 1].h : &(struct ty_spool_chunk){0};

		if (h->type != TY_SPOOL_META && h->type != TY_SPOOL_SECTION)
			continue;
		r = content(s, &v[i], &b);
		if (!r && is_list(h)) {
			r = list_item(s, h, &b);
			ty_buf_reset(&b);
		} else if (!is_list(h) && (next->type != h->type || next->stream != h->stream)) {
			int rt = whole_text(s, &v[i], &b);

			r = r ? r : rt;
			ty_buf_reset(&b);
		}
		if (r == -TY_EFORMAT && ty_spool_dropped(s->t->priv->fd, s->scan.kept, v[i].off))
			gone = ty_trace_dropped(s->t, s->err);
		if (r)
			s->damaged++;
	}
	ty_buf_fini(&b);
	return r == -TY_ENOMEM ? r : gone;
}

/* The chunks v[first..last) of one stream; missing numbers become missing chunks. */
static int stream(struct spool *s, const struct ty_spool_ent *v, size_t first, size_t last)
{
	struct ty_stream_data d = {.page_size = s->t->priv->page_size};
	uint32_t id = v[first].h.stream;
	const struct ty_spool_first *counts = ty_spool_first(&s->scan.first, TY_SPOOL_DATA, id);
	uint64_t seq = counts ? counts->seq : 0, last_ns = 0;
	int r = 0;

	for (size_t i = first; i < last && !r; i++) {
		const struct ty_spool_chunk *h = &v[i].h;
		struct ty_chunk_ent e = {.off = v[i].off + sizeof(*h),
					 .first_ns = h->first_ns,
					 .last_ns = h->last_ns,
					 .stored = h->stored,
					 .raw = h->raw,
					 .crc = h->crc,
					 .has_crc = true,
					 .lz4 = h->flags & TY_SPOOL_LZ4};

		if (h->seq != seq) {
			struct ty_chunk_ent gone = {.off = v[i].off,
						    .first_ns = last_ns,
						    .last_ns = h->first_ns,
						    .missing = true};

			s->holes++;
			r = ty_trace_add_chunk(s->t, &d, gone);
		}
		if (!r)
			r = ty_trace_add_chunk(s->t, &d, e);
		seq = h->seq + 1;
		last_ns = h->last_ns;
		s->chunks++;
		s->bytes += h->stored;
	}
	if (!r)
		return ty_trace_add_stream(s->t, id >> 16, id & 0xffff, &d, s->err);
	vec_fini(&d.chunks);
	return r;
}

static int data(struct spool *s)
{
	const struct ty_spool_ent *v = s->scan.ents.v;
	size_t k;
	int r = 0;

	for (size_t i = 0; i < s->scan.ents.n && !r; i = k) {
		uint32_t cpu = v[i].h.stream & 0xffff;

		for (k = i; k < s->scan.ents.n && v[k].h.type == v[i].h.type &&
			    v[k].h.stream == v[i].h.stream;
		     k++)
			;
		if (v[i].h.type != TY_SPOOL_DATA)
			continue;
		if (v[i].h.stream >> 16 >= s->t->buffers.n || cpu >= TY_DAT_CPUS_MAX) {
			s->nameless += (uint32_t)(k - i);
			continue;
		}
		r = stream(s, v, i, k);
		if (s->t->cpu_count <= cpu)
			s->t->cpu_count = cpu + 1;
	}
	return r;
}

static void note(struct spool *s)
{
	char size[TY_DURATION_MAX], torn[TY_DURATION_MAX];

	ty_trace_note(
		s->t,
		"the recording is not finished (the recorder died or is still running): %" PRIu64
		" chunks (%s) were read, later data is missing",
		s->chunks, ty_fmt_bytes(s->bytes, size));
	if (s->scan.kept_lost)
		ty_trace_note(s->t, "unknown which data it dropped last (a damaged header)");
	if (s->scan.torn)
		ty_trace_note(s->t,
			      "%u damaged place%s (%s, the first at offset %" PRIu64 ") skipped",
			      s->scan.torn, s->scan.torn > 1 ? "s" : "",
			      ty_fmt_bytes(s->scan.torn_bytes, torn), s->scan.torn_off);
	if (s->holes)
		ty_trace_note(s->t, "%" PRIu64 " gap%s in its chunk numbers", s->holes,
			      s->holes > 1 ? "s" : "");
	if (s->damaged)
		ty_trace_note(s->t, "%u damaged metadata chunk%s skipped", s->damaged,
			      s->damaged > 1 ? "s" : "");
	if (s->nameless)
		ty_trace_note(s->t, "%u chunk%s of an unknown buffer skipped", s->nameless,
			      s->nameless > 1 ? "s" : "");
	if (s->scan.too_many)
		ty_trace_note(s->t, "more than %u chunks: the rest was not read", TY_CHUNKS_MAX);
	s->t->truncated |= s->scan.torn || s->scan.kept_lost || s->holes || s->damaged ||
			   s->nameless || s->scan.too_many;
}

int ty_trace_read_spool(struct ty_trace *t, struct ty_err *err)
{
	struct spool s = {.t = t, .err = err};
	struct ty_spool_head head;
	int r;

	if (ty_pread(t->priv->fd, &head, sizeof(head), 0) != sizeof(head) ||
	    !ty_trace_page_size_ok(head.page_size) || (head.long_size != 4 && head.long_size != 8))
		return ty_trace_damaged(t, 0, "header of the unfinished recording", 0, err);
	if (head.version != TY_SPOOL_VERSION)
		return ty_fail(err, TY_EUNSUPPORTED, 8,
			       "%s: is an unfinished recording of version %u; this tarry reads %u",
			       t->path, head.version, TY_SPOOL_VERSION);
	t->unfinished = true;
	t->long_size = head.long_size;
	t->priv->page_size = head.page_size;
	t->priv->codec = TY_CODEC_ZSTD;
	r = ty_spool_scan(t->priv->fd, t->file_bytes, t->path, &s.scan, err);
	if (r)
		return r;
	t->file_bytes = s.scan.size;
	t->priv->spool_kept = s.scan.kept;
	if (s.scan.dropped_to <= s.scan.size && s.scan.dropped_from < s.scan.dropped_to)
		t->dropped_bytes = s.scan.dropped_to - s.scan.dropped_from;
	r = metadata(&s);
	if (!r && (!t->header_page.s || !t->buffers.n))
		r = ty_fail(err, TY_EFORMAT, sizeof(head),
			    "%s: the recorder died before it wrote the event formats. Nothing can "
			    "be read from this file",
			    t->path);
	if (!r) {
		ty_trace_find_long_size(t);
		r = data(&s);
	}
	if (r == -TY_ENOMEM)
		r = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", t->path);
	else if (r == -TY_ELIMIT)
		r = ty_fail(err, TY_ELIMIT, TY_NO_OFFSET, "%s: too many chunks of data", t->path);
	if (!r)
		note(&s);
	ty_spool_scan_fini(&s.scan);
	return r;
}
