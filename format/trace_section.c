/* SPDX-License-Identifier: MIT */
/*
 * Content of tarry's sections. Small ones are read when the file is opened. A large compressed one
 * is only checked then (place, sizes, checksum), and decompressed when it is first requested: into
 * memory, or, if it takes more than a part of the memory limit, into an unnamed temporary file that
 * is mapped, whose pages the kernel can take back.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "full_io.h"
#include "paged_bytes.h"
#include "temp_file.h"
#include "trace_file.h"

#define PIECE 65536u /* less than a block of zstd: what is left of one is taken out, too */

/* Decompresses the section into fd. 0, -TY_EFORMAT, -TY_ENOMEM, -TY_EIO. */
static int unpack_to_file(const struct ty_trace *t, const struct ty_section_text *s, int fd)
{
	ZSTD_DCtx *z = ZSTD_createDCtx();
	char *in = malloc(PIECE), *out = malloc(PIECE);
	uint64_t at = 0, done = 0;
	size_t more = 1;
	int r = z && in && out ? 0 : -TY_ENOMEM;

	while (!r && at < s->stored) {
		const size_t n = s->stored - at < PIECE ? (size_t)(s->stored - at) : PIECE;
		ZSTD_inBuffer from = {in, n, 0};
		bool full = false; /* there may be more to take out */

		if (ty_pread(t->priv->fd, in, n, s->off + at) != (int64_t)n)
			r = -TY_EIO;
		at += n;
		while (!r && (from.pos < from.size || full)) {
			ZSTD_outBuffer to = {out, PIECE, 0};

			more = ZSTD_decompressStream(z, &to, &from);
			if (ZSTD_isError(more) || to.pos > s->text.n - done)
				r = -TY_EFORMAT;
			else if (!ty_full_write(fd, out, to.pos, done))
				r = -TY_EIO;
			done += to.pos;
			full = more && to.pos == to.size;
		}
	}
	free(in);
	free(out);
	ZSTD_freeDCtx(z);
	return r ? r : done == s->text.n && !more ? 0 : -TY_EFORMAT;
}

/* NULL: no temporary file can hold it, which is no failure; or *r says what failed. */
static char *map_unpacked(const struct ty_trace *t, const struct ty_section_text *s, int *r)
{
	const char *dir;
	char *p = MAP_FAILED;
	int fd = ty_temp_file(&dir);

	*r = 0;
	if (fd < 0)
		return NULL;
	*r = unpack_to_file(t, s, fd);
	/* With a NUL behind it. */
	if (!*r && !ftruncate(fd, (off_t)s->text.n + 1))
		p = mmap(NULL, s->text.n + 1, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (*r == -TY_EIO)
		*r = 0;
	return p == MAP_FAILED ? NULL : p;
}

static char *unpack(const struct ty_trace *t, const struct ty_section_text *s, int *r)
{
	char *packed = malloc(s->stored + 1), *p = malloc(s->text.n + 1);

	*r = -TY_ENOMEM;
	if (packed && p)
		*r = ty_pread(t->priv->fd, packed, s->stored, s->off) != (int64_t)s->stored
			     ? -TY_EIO
			     : ty_decompress(t->priv->codec, packed, s->stored, p, s->text.n);
	free(packed);
	if (*r) {
		free(p);
		return NULL;
	}
	p[s->text.n] = 0;
	return p;
}

static void load(const struct ty_trace *t, struct ty_section_text *s)
{
	const uint64_t limit = t->priv->memory_bytes;
	int r = 0;

	if (limit && s->text.n > ty_paged_limit(limit) && t->priv->codec == TY_CODEC_ZSTD)
		s->text.s = map_unpacked(t, s, &r);
	s->mapped = s->text.s;
	if (!s->text.s && !r)
		s->text.s = unpack(t, s, &r);
	if (s->text.s)
		return;
	s->failed = r;
	s->text.n = 0;
}

struct ty_text ty_trace_section(const struct ty_trace *t, enum ty_section type)
{
	struct ty_text text = {0};

	vec_each (s, &t->priv->sections) {
		if (s->type != type)
			continue;
		pthread_mutex_lock(&t->priv->loading);
		if (s->later && !s->text.s && !s->failed)
			load(t, s);
		text = s->text;
		pthread_mutex_unlock(&t->priv->loading);
	}
	return text;
}

uint64_t ty_trace_section_bytes(const struct ty_trace *t, enum ty_section type)
{
	vec_each (s, &t->priv->sections)
		if (s->type == type)
			return s->bytes;
	return 0;
}

int ty_trace_section_check(const struct ty_trace *t, struct ty_err *err)
{
	vec_each (s, &t->priv->sections)
		if (s->failed)
			return ty_fail(
				err, -s->failed, s->off,
				"%s: section %u at offset %" PRIu64
				" cannot be read (%s): its data is missing from the output above",
				t->path, s->type, s->off, ty_strerror(s->failed));
	return 0;
}

void ty_trace_sections_fini(struct ty_trace_private *p)
{
	vec_each (s, &p->sections)
		if (s->mapped)
			munmap((char *)s->text.s, s->text.n + 1);
		else if (s->later)
			free((char *)s->text.s);
	vec_fini(&p->sections);
	pthread_mutex_destroy(&p->loading);
}

void ty_trace_memory(struct ty_trace *t, uint64_t bytes)
{
	t->priv->memory_bytes = bytes;
}
