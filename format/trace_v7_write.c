/* SPDX-License-Identifier: MIT */
/*
 * Converts a spool to a finished trace.dat v7 (trace-cmd.dat.v7(5), tarry.dat(5)).
 *
 * The order of the sections is chosen so that a truncated copy of the file loses ring pages and
 * nothing else: initial header, metadata, tarry's sections with the chunk directory, strings,
 * options, then the data of the buffers, then the directory of tarry's sections with the footer.
 * All sizes are known from the spool's chunk heads, so the options can state the data's offsets
 * before it is written.
 *
 * Ring data is copied without decompressing; only metadata, and chunks stored as LZ4 while all CPUs
 * were busy (spool_repack.c), are recompressed. Disk: the file exists twice for a moment, and its
 * LZ4 part in addition. (Punching the copied chunks out of the spool would avoid that, but leave
 * neither file whole after a crash in the middle.)
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

#include "atomic_file.h"
#include "full_io.h"
#include "trace_v7_write.h"
#include "units.h"

#define COPY_BYTES   (1u << 20)
#define COPY_AT_ONCE (64u << 20)
#define DATA_ALIGN   4096u

/* Names and clocks of the buffers; the first is the file's top buffer, which has no name. */
static int load_buffers(struct ty_v7 *f)
{
	size_t first, n, at = 0;
	int r = ty_v7_append(f, TY_SPOOL_META, TY_META_BUFFER, &f->texts);

	if (r)
		return r;
	ty_v7_find(f, TY_SPOOL_META, TY_META_BUFFER, &first, &n);
	for (size_t i = 0; i < n; i++) {
		size_t raw = f->scan.ents.v[first + i].h.raw;
		const char *p = f->texts.p + at, *clock = memchr(p, 0, raw);
		struct ty_v7_buffer b = {.name = i ? p : ""};
		char desc[128];

		if (!clock || !memchr(clock + 1, 0, raw - (size_t)(clock + 1 - p)))
			return ty_fail(f->err, TY_EFORMAT, f->scan.ents.v[first + i].off,
				       "%s: a buffer has no name or clock", f->spool->path);
		b.clock = clock + 1;
		snprintf(desc, sizeof(desc), "buffer flyrecord %s", b.name);
		b.desc = ty_v7_describe(f, desc);
		if (vec_push(&f->buffers, b))
			return ty_v7_no_memory(f);
		at += raw;
	}
	return n ? 0
		 : ty_fail(f->err, TY_EFORMAT, TY_NO_OFFSET, "%s: no buffer was recorded",
			   f->spool->path);
}

/* Group the DATA chunks by buffer and CPU (the scan's order is by stream, which is that). */
static int load_cpus(struct ty_v7 *f)
{
	const struct ty_spool_ent *v = f->scan.ents.v;

	for (size_t i = 0; i < f->scan.ents.n; i++) {
		struct ty_v7_cpu *c = f->cpus.n ? &f->cpus.v[f->cpus.n - 1] : NULL;
		uint32_t buffer = v[i].h.stream >> 16, cpu = v[i].h.stream & 0xffff;

		if (v[i].h.type != TY_SPOOL_DATA)
			continue;
		if (buffer >= f->buffers.n)
			return ty_fail(f->err, TY_EFORMAT, v[i].off,
				       "%s: data of unknown buffer %u", f->spool->path, buffer);
		if (!c || c->buffer != buffer || c->cpu != cpu) {
			struct ty_v7_cpu fresh = {.buffer = buffer, .cpu = cpu, .first = i};

			if (vec_push(&f->cpus, fresh))
				return ty_v7_no_memory(f);
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

/* Computes the offsets of the buffer sections, the first at `off`. Returns the end of the last. */
static uint64_t place_data(struct ty_v7 *f, uint64_t off)
{
	const uint64_t mask = DATA_ALIGN - 1;

	for (size_t b = 0; b < f->buffers.n; b++) {
		struct ty_v7_buffer *buf = &f->buffers.v[b];

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

static int add_text_option(struct ty_v7 *f, struct ty_buf *o, unsigned id, enum ty_spool_meta meta)
{
	int r;

	ty_buf_reset(&f->raw);
	r = ty_v7_append(f, TY_SPOOL_META, meta, &f->raw);
	if (!r && f->raw.len) /* with its NUL, which trace-cmd requires */
		add_option(o, id, f->raw.p, strlen(f->raw.p) + 1);
	ty_buf_reset(&f->raw);
	return r;
}

static void add_buffer_option(struct ty_v7 *f, struct ty_buf *o, size_t b, struct ty_buf *t)
{
	const struct ty_v7_buffer *buf = &f->buffers.v[b];
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
static int build_options(struct ty_v7 *f, struct ty_buf *o)
{
	size_t first, n;
	uint32_t cpus;
	uint64_t zero = 0;
	int r;

	if ((r = add_text_option(f, o, TY_DAT_UNAME, TY_META_UNAME)) ||
	    (r = add_text_option(f, o, TY_DAT_VERSION, TY_META_VERSION)) ||
	    (r = add_text_option(f, o, TY_DAT_TRACECLOCK, TY_META_TRACE_CLOCK)) ||
	    (r = ty_v7_append(f, TY_SPOOL_META, TY_META_CPUCOUNT, &f->raw)))
		return r;
	cpus = f->raw.len ? (uint32_t)strtoul(f->raw.p, NULL, 10) : 0;
	ty_buf_reset(&f->raw);
	if (cpus)
		add_option(o, TY_DAT_CPUCOUNT, &cpus, sizeof(cpus));
	ty_v7_find(f, TY_SPOOL_META, TY_META_CPUSTAT, &first, &n);
	for (size_t i = first; i < first + n; i++) {
		r = ty_v7_chunk(f, &f->scan.ents.v[i], &f->raw);
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
	return o->failed ? ty_v7_no_memory(f) : 0;
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
static int build_head(struct ty_v7 *f, uint32_t *dir_desc, uint64_t *data_end)
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
	if ((r = load_buffers(f)) || (r = load_cpus(f)) || (r = ty_v7_metadata(f)) ||
	    (r = ty_v7_tarry(f)))
		return r;
	*dir_desc = ty_v7_describe(f, "tarry directory");
	desc = ty_v7_describe(f, "options");
	/* The strings section names itself last. */
	ty_buf_add(&f->raw, f->strings.p, f->strings.len);
	ty_buf_add(&f->raw, "strings", 8);
	if (f->strings.failed)
		return ty_v7_no_memory(f);
	r = ty_v7_section(f, TY_DAT_STRINGS, "strings");
	if (r)
		return r;

	options_off = f->head.len;
	memcpy(f->head.p + at_options, &options_off, 8);
	ty_buf_init(&o, TY_FINISH_LIMIT);
	r = build_options(f, &o); /* for its length */
	if (!r) {
		*data_end = place_data(f, options_off + TY_DAT_SECTION_HEAD + o.len);
		ty_buf_reset(&o);
		r = build_options(f, &o);
	}
	section_head(&f->head, TY_DAT_DONE, 0, desc, o.len);
	if (!r && ty_buf_add(&f->head, o.p, o.len))
		r = ty_v7_no_memory(f);
	ty_buf_fini(&o);
	return r ? r : f->head.failed ? ty_v7_no_memory(f) : 0;
}

static int write_failed(struct ty_v7 *f)
{
	return ty_fail_errno(f->err, "%s: cannot write the finished file", f->spool->path);
}

static int put(struct ty_v7 *f, const void *p, size_t n, uint64_t off)
{
	return ty_full_write(f->fd, p, n, off) ? 0 : write_failed(f);
}

void ty_spool_on_finish(struct ty_spool *s,
			void (*progress)(void *ctx, uint64_t done, uint64_t total), void *ctx)
{
	s->progress = progress;
	s->progress_ctx = ctx;
}

/* Recompressed chunks count with their uncompressed size, copied ones with their stored size: the
 * time per byte is about equal. */
static void count_work(struct ty_spool *s, const struct ty_spool_scan *scan)
{
	atomic_store(&s->done, 0);
	s->total = 0;
	vec_each (e, &scan->ents)
		if (e->h.type == TY_SPOOL_DATA && e->h.raw)
			s->total += e->h.stored + (ty_v7_is_lz4(&e->h) ? e->h.raw : 0);
}

/* n bytes of the spool at `from` to `to` in the finished file. */
static int copy(struct ty_v7 *f, uint64_t from, uint64_t to, uint64_t n)
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
				return ty_v7_no_memory(f);
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

static int write_data(struct ty_v7 *f)
{
	int r = 0;

	for (size_t b = 0; b < f->buffers.n && !r; b++) {
		const struct ty_v7_buffer *buf = &f->buffers.v[b];

		ty_buf_reset(&f->raw);
		section_head(&f->raw, TY_DAT_BUFFER, TY_DAT_COMPRESSED, buf->desc, buf->size);
		r = put(f, f->raw.p, f->raw.len, buf->off);
	}
	for (size_t k = 0; k < f->cpus.n && !r; k++) {
		const struct ty_v7_cpu *c = &f->cpus.v[k];
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
			atomic_fetch_add(&f->spool->done, e->h.stored);
			ty_v7_progress(f->spool);
		}
	}
	return r;
}

/* The directory of tarry's sections and the footer, as the last section of the file. */
static int write_footer(struct ty_v7 *f, uint32_t desc, uint64_t off)
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
		return ty_v7_no_memory(f);
	return put(f, f->raw.p, f->raw.len, off);
}

/* Fail at once, not after gigabytes, when the second copy will not fit. */
static int check_space(struct ty_v7 *f, uint64_t need)
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
		       "%s: finishing the recording needs %s of disk space, but only %s are free "
		       "(free space or choose another disk with -o)",
		       f->spool->path, ty_fmt_bytes(need, a), ty_fmt_bytes(have, b));
}

static int sync_directory(struct ty_v7 *f)
{
	char *copy_of = strdup(f->spool->path);
	int fd, r = 0;

	if (!copy_of)
		return ty_v7_no_memory(f);
	fd = open(dirname(copy_of), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* Some file systems cannot sync directories (EINVAL): nothing more can be done there. */
	if (fd < 0 || (fsync(fd) && errno != EINVAL && errno != EROFS))
		r = ty_fail_errno(f->err,
				  "%s is finished, but a power failure may still lose it: cannot "
				  "sync its directory",
				  f->spool->path);
	if (fd >= 0)
		close(fd);
	free(copy_of);
	return r;
}

static int write_file(struct ty_v7 *f, uint32_t dir_desc, uint64_t data_end)
{
	int r;

	f->fd = ty_atomic_file_open(f->spool->path, f->spool->fd, false, &f->name, f->err);
	if (f->fd < 0)
		return f->fd;
	if (!(r = check_space(f, data_end + 4096)) && !(r = put(f, f->head.p, f->head.len, 0)) &&
	    !(r = write_data(f)) && !(r = write_footer(f, dir_desc, data_end))) {
		if (fsync(f->fd))
			r = ty_fail_errno(f->err, "%s: cannot sync the finished file",
					  f->spool->path);
		else if (!(r = ty_atomic_file_place(f->fd, &f->name, f->spool->path, f->spool->fd,
						    f->err))) {
			f->spool->finished = true;
			r = sync_directory(f);
		}
	}
	if (!r)
		ty_atomic_file_remove(&f->spool->name);
	ty_atomic_file_remove(&f->name);
	close(f->fd);
	return r;
}

int ty_spool_finish(struct ty_spool *s, struct ty_err *err)
{
	struct ty_v7 f = {.spool = s, .fd = -1, .err = err};
	uint64_t data_end = 0, end = atomic_load(&s->end);
	uint32_t dir_desc = 0;
	int r = ty_spool_failed(s, err);

	if (r)
		return r;
	ty_buf_init(&f.head, TY_FINISH_LIMIT);
	ty_buf_init(&f.strings, 1 << 20);
	ty_buf_init(&f.raw, TY_FINISH_LIMIT);
	ty_buf_init(&f.z, TY_FINISH_LIMIT);
	ty_buf_init(&f.texts, 1 << 20);
	f.zstd = ZSTD_createCCtx();
	if (!f.zstd)
		r = ty_v7_no_memory(&f);
	if (!r)
		r = ty_spool_scan(s->fd, atomic_load(&s->end), s->path, &f.scan, err);
	if (!r && (f.scan.torn || f.scan.too_many))
		r = ty_fail(err, TY_EFORMAT, f.scan.torn_off,
			    "%s: some of its chunks cannot be found any more", s->path);
	if (!r) {
		count_work(s, &f.scan);
		r = ty_spool_repack(s, &f.scan, err);
	}
	if (!r)
		r = build_head(&f, &dir_desc, &data_end);
	if (!r)
		r = write_file(&f, dir_desc, data_end);
	/* The recompressed chunks would only use space twice. */
	if (r && !ftruncate(s->fd, (off_t)end))
		atomic_store(&s->end, end);
	ZSTD_freeCCtx(f.zstd);
	ty_spool_scan_fini(&f.scan);
	ty_buf_fini(&f.head);
	ty_buf_fini(&f.strings);
	ty_buf_fini(&f.raw);
	ty_buf_fini(&f.z);
	ty_buf_fini(&f.texts);
	vec_fini(&f.dir);
	vec_fini(&f.buffers);
	vec_fini(&f.cpus);
	return r;
}
