/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a trace file: open it and read every chunk. Checksums would keep a fuzzer out of
 * what lies behind them, so where the last byte of the input is odd, the checksums of a spool's
 * chunks and of the footer's directory are made to fit first.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "spool_file.h"
#include "trace.h"
#include "trace_dat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fix_chunks(uint8_t *p, size_t n)
{
	struct ty_spool_chunk c;

	for (size_t i = 0; i + sizeof(c) <= n; i++) {
		memcpy(&c, p + i, sizeof(c));
		if (c.magic != TY_SPOOL_CHUNK_MAGIC)
			continue;
		if (c.stored <= n - i - sizeof(c))
			c.crc = (uint32_t)crc32(0, p + i + sizeof(c), c.stored);
		c.head_crc = ty_spool_head_crc(&c);
		memcpy(p + i, &c, sizeof(c));
	}
}

static void fix_footer(uint8_t *p, size_t n)
{
	struct ty_dat_footer f;
	struct ty_dat_entry e;

	if (n < sizeof(f))
		return;
	memcpy(&f, p + n - sizeof(f), sizeof(f));
	if (memcmp(f.magic, TY_DAT_FOOTER_MAGIC, 8) || f.size > n || f.off > n - f.size)
		return;
	for (uint64_t i = 0; i + sizeof(e) <= f.size; i += sizeof(e)) {
		memcpy(&e, p + f.off + i, sizeof(e));
		if (e.size > n || e.off > n - e.size || e.off + 16 > n - e.size)
			continue;
		e.crc = (uint32_t)crc32_z(0, p + e.off + 16, e.size);
		memcpy(p + f.off + i, &e, sizeof(e));
	}
	f.crc = (uint32_t)crc32_z(0, p + f.off, f.size);
	memcpy(p + n - sizeof(f), &f, sizeof(f));
}

static void read_all(const struct ty_trace *t)
{
	struct ty_chunk_scratch scratch;

	ty_chunk_scratch_init(&scratch);
	for (uint32_t s = 0; s < t->streams.n; s++)
		for (uint32_t k = 0; k < t->streams.v[s].chunks; k++) {
			struct ty_chunk c = ty_trace_chunk(t, s, k);
			struct ty_err err = {0};
			uint8_t *p = malloc(c.raw_bytes);
			int r = ty_trace_chunk_read(t, s, k, p, &scratch, &err);

			if (r && (!err.code || !err.msg[0]))
				abort();
			if (!r && c.missing)
				abort();
			free(p);
		}
	ty_chunk_scratch_fini(&scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct ty_err err = {0};
	struct ty_trace *t;
	char path[64];
	uint8_t *p;

	if (fd < 0)
		fd = memfd_create("fuzz_trace", 0);
	p = malloc(size + 1);
	if (size)
		memcpy(p, data, size);
	if (size && data[size - 1] & 1) {
		fix_chunks(p, size);
		fix_footer(p, size);
	}
	if (ftruncate(fd, 0) || pwrite(fd, p, size, 0) != (ssize_t)size)
		abort();
	free(p);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!ty_trace_open(path, &t, &err)) {
		if (t->truncated && !t->note.s)
			abort();
		read_all(t);
		for (unsigned i = 0; i < 6; i++) {
			struct ty_text s = ty_trace_section(t, i);

			if (s.s && s.s[s.n])
				abort();
		}
		ty_trace_close(t);
	} else if (!err.code || !err.msg[0]) {
		abort();
	}
	return 0;
}
