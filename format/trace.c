/* SPDX-License-Identifier: MIT */
/*
 * Opening a trace: which of the three layouts it is, what they share while reading metadata, and
 * the note about what is missing. Limits are those of trace_dat.h: a file of N bytes makes us hold
 * at most its own texts and chunk tables, never what it merely claims.
 */
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "key_value.h"
#include "perf_data.h"
#include "trace_file.h"

#define META_BUDGET (1536ull << 20)
/* Each section is decompressed once and may be TY_DAT_SECTION_BYTES: room for the largest ones. */
#define UNPACK_BUDGET (3072ull << 20)
/* Pages per chunk of uncompressed data: 64, less where pages are large. */
#define FLAT_PAGES 64u
#define FLAT_BYTES (1u << 20)

struct ty_in ty_trace_in(const struct ty_trace *t, uint64_t from, uint64_t to)
{
	struct ty_in in = {.fd = t->priv->fd, .swap = t->big_endian, .win = t->priv->win};

	if (to > t->file_bytes)
		to = t->file_bytes;
	in.pos = from;
	in.end = to;
	if (from > to) {
		in.pos = in.end;
		in.bad = true;
	}
	return in;
}

/* Take s over; NULL: out of memory already. */
static int keep(struct ty_trace *t, char *s, size_t n, struct ty_text *out)
{
	if (!s || vec_push(&t->priv->kept, s)) {
		free(s);
		return -TY_ENOMEM;
	}
	*out = (struct ty_text){s, n};
	return 0;
}

int ty_trace_keep(struct ty_trace *t, struct ty_in *in, uint64_t n, uint64_t limit,
		  struct ty_text *out)
{
	char *s;

	*out = (struct ty_text){0};
	if (n > limit || n > ty_in_left(in) || n + 64 > t->priv->meta_left)
		return -TY_EFORMAT;
	t->priv->meta_left -= n + 64;
	s = malloc((size_t)n + 1);
	if (!s)
		return -TY_ENOMEM;
	ty_in_get(in, s, (size_t)n);
	s[n] = 0;
	if (in->bad) {
		free(s);
		return -TY_EFORMAT;
	}
	return keep(t, s, (size_t)n, out);
}

int ty_trace_keep_bytes(struct ty_trace *t, const char *p, size_t n, uint64_t limit,
			struct ty_text *out)
{
	struct ty_in in = {.fd = -1, .mem = (const uint8_t *)(p ? p : ""), .end = n};

	return ty_trace_keep(t, &in, n, limit, out);
}

int ty_trace_keep_str(struct ty_trace *t, struct ty_in *in, struct ty_text *out)
{
	char s[4096];
	size_t n = ty_in_str(in, s, sizeof(s));

	*out = (struct ty_text){0};
	if (in->bad || n + 64 > t->priv->meta_left)
		return -TY_EFORMAT;
	t->priv->meta_left -= n + 64;
	return keep(t, strdup(s), n, out);
}

void ty_trace_note(struct ty_trace *t, const char *fmt, ...)
{
	va_list ap;

	if (t->priv->note.len)
		ty_buf_adds(&t->priv->note, "; ");
	va_start(ap, fmt);
	ty_buf_vaddf(&t->priv->note, fmt, ap);
	va_end(ap);
}

int ty_trace_damaged(struct ty_trace *t, int r, const char *what, uint64_t off, struct ty_err *err)
{
	if (r == -TY_ENOMEM)
		return ty_fail(err, TY_ENOMEM, off, "%s: out of memory", t->path);
	return ty_fail(err, TY_EFORMAT, off,
		       "%s: damaged before its first event: the %s at offset %" PRIu64
		       " of %" PRIu64 " cannot be read; get a whole copy of the file",
		       t->path, what, off, t->file_bytes);
}

bool ty_trace_page_size_ok(uint64_t n)
{
	return n >= TY_DAT_PAGE_MIN && n <= TY_DAT_PAGE_MAX && !(n & (n - 1));
}

void ty_trace_cut(struct ty_trace *t, uint64_t off)
{
	if (!t->priv->streams_cut++)
		t->priv->first_cut = off;
	t->truncated = true;
}

int ty_trace_flat(struct ty_trace *t, struct ty_stream_data *d, uint32_t page_size, uint64_t off,
		  uint64_t size, struct ty_err *err)
{
	uint64_t have = off >= t->file_bytes	     ? 0
			: size < t->file_bytes - off ? size
						     : t->file_bytes - off;

	d->flat = true;
	d->page_size = page_size;
	d->flat_pages = page_size >= FLAT_BYTES ? 1 : FLAT_BYTES / page_size;
	if (d->flat_pages > FLAT_PAGES)
		d->flat_pages = FLAT_PAGES;
	d->off = off;
	d->bytes = have & ~(uint64_t)(page_size - 1);
	if (d->bytes / d->flat_pages / page_size >= UINT32_MAX - 1)
		return ty_fail(err, TY_ELIMIT, off,
			       "%s: more data on one CPU than tarry can number", t->path);
	d->cut = d->bytes != size;
	if (d->cut)
		ty_trace_cut(t, off + d->bytes);
	return 0;
}

int ty_trace_add_chunk(struct ty_trace *t, struct ty_stream_data *d, struct ty_chunk_ent c)
{
	const struct ty_chunk_ent *last = d->chunks.n ? &d->chunks.v[d->chunks.n - 1] : NULL;

	if (!c.missing && !c.raw)
		return 0;
	if (++t->priv->chunks_all > TY_CHUNKS_MAX)
		return -TY_ELIMIT;
	if (!c.missing &&
	    (c.raw > TY_CHUNK_RAW_MAX || c.raw < d->page_size || c.stored < TY_V7_CHUNK_HEAD ||
	     !ty_ratio_ok(ty_chunk_codec(t, &c), c.stored, c.raw))) {
		c.missing = true;
		ty_trace_cut(t, c.off);
	}
	if (c.missing)
		c.raw = 0;
	else if (c.raw & (d->page_size - 1))
		ty_trace_cut(t, c.off);
	if (last)
		c.first_page = last->first_page + last->raw / d->page_size;
	return vec_push(&d->chunks, c);
}

int ty_trace_add_stream(struct ty_trace *t, uint32_t buffer, uint32_t cpu,
			struct ty_stream_data *data, struct ty_err *err)
{
	struct ty_stream s = {.buffer = buffer, .cpu = cpu};

	if (data->flat) {
		uint64_t per = (uint64_t)data->flat_pages * data->page_size;

		s.raw_bytes = data->bytes;
		s.chunks = (uint32_t)((data->bytes + per - 1) / per) + data->cut;
	} else {
		s.chunks = (uint32_t)data->chunks.n;
		vec_each (c, &data->chunks)
			s.raw_bytes += c->raw & ~(data->page_size - 1);
	}
	if (!s.chunks) {
		vec_fini(&data->chunks);
		return 0;
	}
	if (vec_reserve(&t->streams, t->streams.n + 1) ||
	    vec_reserve(&t->priv->data, t->priv->data.n + 1)) {
		vec_fini(&data->chunks);
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", t->path);
	}
	t->streams.v[t->streams.n++] = s;
	t->priv->data.v[t->priv->data.n++] = *data;
	return 0;
}

struct ty_text ty_trace_section(const struct ty_trace *t, enum ty_section type)
{
	vec_each (s, &t->priv->sections)
		if (s->type == type)
			return s->text;
	return (struct ty_text){0};
}

int ty_trace_add_section(struct ty_trace *t, uint32_t type, struct ty_text text)
{
	struct ty_section_text fresh = {.type = type, .text = text};
	struct ty_text both;
	char *s;
	int r;

	vec_each (old, &t->priv->sections) {
		if (old->type != type)
			continue;
		if (old->text.n + text.n + 64 > t->priv->meta_left)
			return -TY_EFORMAT;
		t->priv->meta_left -= old->text.n + text.n + 64;
		s = malloc(old->text.n + text.n + 1);
		if (s) {
			memcpy(s, old->text.s, old->text.n);
			memcpy(s + old->text.n, text.s, text.n + 1);
		}
		r = keep(t, s, old->text.n + text.n, &both);
		if (!r)
			old->text = both;
		return r;
	}
	return vec_push(&t->priv->sections, fresh);
}

/* Open a regular file; never waits (a FIFO would). */
static int open_file(struct ty_trace *t, struct ty_err *err)
{
	struct stat st;

	t->priv->fd = open(t->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (t->priv->fd < 0 && errno == ENOENT)
		return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			       "%s: cannot open: No such file or directory; record one with "
			       "'tarry record'",
			       t->path);
	if (t->priv->fd < 0)
		return ty_fail_errno(err, "%s: cannot open", t->path);
	if (fstat(t->priv->fd, &st))
		return ty_fail_errno(err, "%s: cannot examine", t->path);
	if (S_ISDIR(st.st_mode))
		return ty_fail(err, TY_EFORMAT, TY_NO_OFFSET,
			       "%s: is a directory; name the file in it (perf record --threads "
			       "writes directories, which are not read)",
			       t->path);
	if (!S_ISREG(st.st_mode))
		return ty_fail(err, TY_EFORMAT, TY_NO_OFFSET, "%s: is not a regular file", t->path);
	t->file_bytes = (uint64_t)st.st_size;
	return 0;
}

/* trace.dat: what the initial header has in common (trace-cmd.dat.v7(5), INITIAL FORMAT). */
static int read_dat(struct ty_trace *t, struct ty_err *err)
{
	struct ty_in in = ty_trace_in(t, TY_DAT_MAGIC_LEN, t->file_bytes);
	char version[16];
	uint64_t endian, size, page;

	ty_in_str(&in, version, sizeof(version));
	if (!in.bad && strcmp(version, "6") && strcmp(version, "7"))
		return ty_fail(err, TY_EUNSUPPORTED, TY_DAT_MAGIC_LEN,
			       "%s: is trace.dat of version %s; tarry reads 6 and 7", t->path,
			       version[strspn(version, "0123456789")] ? "(garbled)" : version);
	endian = ty_in_uint(&in, 1);
	size = ty_in_uint(&in, 1);
	if (in.bad || endian > 1 || (size != 4 && size != 8))
		return ty_trace_damaged(t, 0, "initial header", 0, err);
	t->big_endian = in.swap = endian;
	t->long_size = (unsigned)size;
	page = ty_in_uint(&in, 4);
	if (in.bad || !ty_trace_page_size_ok(page))
		return ty_trace_damaged(t, 0, "initial header", 0, err);
	t->priv->page_size = (uint32_t)page;
	t->version = version[0] - '0';
	return t->version == 6 ? ty_trace_read_v6(t, &in, err) : ty_trace_read_v7(t, &in, err);
}

static int read_any(struct ty_trace *t, struct ty_err *err)
{
	char magic[TY_DAT_MAGIC_LEN] = "";
	int64_t n;

	if (!t->file_bytes)
		return ty_fail(err, TY_EFORMAT, 0, "%s: is empty: no recording was written there",
			       t->path);
	n = ty_pread(t->priv->fd, magic, sizeof(magic), 0);
	if (n < 0)
		return ty_fail_errno(err, "%s: cannot read", t->path);
	if (n == TY_DAT_MAGIC_LEN && !memcmp(magic, TY_DAT_MAGIC, TY_DAT_MAGIC_LEN))
		return read_dat(t, err);
	if (n >= 8 && !memcmp(magic, TY_SPOOL_MAGIC, 8))
		return ty_trace_read_spool(t, err);
	if (n >= 8 && ty_perf_magic((const uint8_t *)magic, (size_t)n))
		return ty_trace_read_perf(t, err);
	return ty_fail(err, TY_EFORMAT, 0,
		       "%s: is no trace: neither a recording of tarry or trace-cmd nor a "
		       "perf.data file",
		       t->path);
}

/* The clauses that are counted while reading, and the note as the caller sees it. */
static void finish_note(struct ty_trace *t)
{
	struct ty_trace_private *p = t->priv;

	if (p->streams_cut)
		ty_trace_note(t,
			      "data is cut off or damaged in %" PRIu64
			      " place%s, the first at offset %" PRIu64 " of %" PRIu64
			      "; what lay there is missing",
			      p->streams_cut, p->streams_cut > 1 ? "s" : "", p->first_cut,
			      t->file_bytes);
	if (p->note.len)
		t->note = (struct ty_text){p->note.p, p->note.len};
}

int ty_trace_open(const char *path, struct ty_trace **out, struct ty_err *err)
{
	return ty_trace_open_telling(path, NULL, NULL, out, err);
}

/* What is not there: of perf.data its reader knows it, a file cut out of one says it. */
static void find_scope(struct ty_trace *t)
{
	const char *machine = ty_trace_section(t, TY_SEC_MACHINE).s;

	t->own_only |= ty_key_value(machine, "own_only", NULL, 0);
	t->switches_only |= ty_key_value(machine, "switches_only", NULL, 0);
}

static void find_kept(struct ty_trace *t)
{
	const char *facts = ty_trace_section(t, TY_SEC_KEPT).s,
		   *machine = ty_trace_section(t, TY_SEC_MACHINE).s;

	t->kept_from_ns = ty_key_u64(facts, "from_ns");
	t->kept_began_ns = ty_key_u64(facts, "began_ns");
	if (t->kept_from_ns)
		t->begins_later = facts;
	else if (ty_key_value(machine, "cut_from_ns", NULL, 0))
		t->begins_later = machine;
}

int ty_trace_open_telling(const char *path, ty_trace_tell *tell, void *ctx, struct ty_trace **out,
			  struct ty_err *err)
{
	struct ty_trace *t = calloc(1, sizeof(*t));
	struct ty_text kept;
	int r;

	*out = NULL;
	if (!t || !(t->priv = calloc(1, sizeof(*t->priv)))) {
		free(t);
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", path);
	}
	t->priv->fd = t->priv->data_fd = -1;
	t->priv->tell = tell;
	t->priv->tell_ctx = ctx;
	t->priv->meta_left = META_BUDGET;
	t->priv->unpack_left = UNPACK_BUDGET;
	ty_buf_init(&t->priv->note, 4096);
	t->path = path;
	t->priv->win = malloc(TY_IN_WINDOW);
	r = keep(t, strdup(path), strlen(path), &kept);
	if (r || !t->priv->win) {
		r = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", path);
	} else {
		t->path = kept.s;
		r = open_file(t, err);
	}
	if (!r)
		r = read_any(t, err);
	if (r) {
		ty_trace_close(t);
		return r;
	}
	find_kept(t);
	find_scope(t);
	finish_note(t);
	*out = t;
	return 0;
}

int ty_trace_fd(const struct ty_trace *t)
{
	return t->priv->fd;
}

void ty_trace_close(struct ty_trace *t)
{
	struct ty_trace_private *p = t ? t->priv : NULL;

	if (!t)
		return;
	vec_each (d, &p->data)
		vec_fini(&d->chunks);
	vec_fini(&p->data);
	vec_each (s, &p->kept)
		free(*s);
	vec_fini(&p->kept);
	vec_fini(&p->sections);
	ty_buf_fini(&p->note);
	if (p->fd >= 0)
		close(p->fd);
	if (p->data_fd >= 0)
		close(p->data_fd);
	free(p->win);
	free(p);
	vec_fini(&t->formats);
	vec_fini(&t->cpustat);
	vec_fini(&t->buffers);
	vec_fini(&t->streams);
	free(t);
}
