/* SPDX-License-Identifier: MIT */
/* What the fuzzers share: inputs made of parts and their mutator, files in memory, bytes that end
 * at a page that cannot be read, checksums that fit. */
#ifndef TY_FUZZ_H
#define TY_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "spool_file.h"
#include "trace_dat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

/* The input as the file behind *path, which is good until the next call. */
static inline void fuzz_file(const uint8_t *data, size_t size, char path[64])
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("fuzz", 0);
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	snprintf(path, 64, "/proc/self/fd/%d", fd);
}

/*
 * A copy that ends at a page that cannot be read, so that a library which was not built with
 * AddressSanitizer is caught, too. NULL when it is too large. Good until the next call.
 */
static inline uint8_t *fuzz_guarded(const void *data, size_t size)
{
	enum { ROOM = 1 << 20 };
	static uint8_t *area;

	if (!area) {
		area = mmap(NULL, ROOM + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
		if (area == MAP_FAILED || mprotect(area + ROOM, 4096, PROT_NONE))
			abort();
	}
	return size <= ROOM ? memcpy(area + ROOM - size, data, size) : NULL;
}

/* Make the checksums of a spool's chunks and of a footer's directory fit. */
static inline void fuzz_repair(uint8_t *p, size_t n)
{
	struct ty_spool_chunk c;
	struct ty_dat_footer f;
	struct ty_dat_entry e;

	for (size_t i = 0; i + sizeof(c) <= n; i++) {
		if (p[i] != (TY_SPOOL_CHUNK_MAGIC & 0xff))
			continue;
		memcpy(&c, p + i, sizeof(c));
		if (c.magic != TY_SPOOL_CHUNK_MAGIC)
			continue;
		if (c.stored <= n - i - sizeof(c))
			c.crc = (uint32_t)crc32(0, p + i + sizeof(c), c.stored);
		c.head_crc = ty_spool_head_crc(&c);
		memcpy(p + i, &c, sizeof(c));
	}
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

/* Parts ----------------------------------------------------------------------------------------
 *
 * An input of parts: u8 kind, length in `width` bytes (little endian), that many bytes; the last
 * one may be cut short.
 */
struct fuzz_part {
	size_t at, body, n; /* where it begins, its bytes, how many */
	uint8_t kind;
};

/* The part at *at, stepping over it; false at the end. */
static inline bool fuzz_part_next(const uint8_t *data, size_t size, unsigned width, size_t *at,
				  struct fuzz_part *out)
{
	size_t n = 0;

	if (*at > size || size - *at < 1 + width)
		return false;
	for (unsigned i = width; i--;)
		n = n << 8 | data[*at + 1 + i];
	*out = (struct fuzz_part){.at = *at, .body = *at + 1 + width, .kind = data[*at]};
	out->n = n < size - out->body ? n : size - out->body;
	*at = out->body + out->n;
	return true;
}

static inline void fuzz_part_length(uint8_t *part, size_t n, unsigned width)
{
	for (unsigned i = 0; i < width; i++)
		part[1 + i] = (uint8_t)(n >> 8 * i);
}

/*
 * A mutator that knows parts: changes the bytes or the kind of one, doubles it, drops it, or adds
 * one; lengths stay those of the parts.
 */
static inline size_t fuzz_mutate_parts(uint8_t *data, size_t size, size_t max, unsigned seed,
				       unsigned width)
{
	const size_t head = 1 + width, most = ((size_t)1 << 8 * width) - 1;
	struct fuzz_part p, chosen = {0};
	unsigned n = 0, state = seed;
	size_t at = 0, fresh, tail;

	while (fuzz_part_next(data, size, width, &at, &p))
		if (rand_r(&state) % ++n == 0)
			chosen = p;
	size = at;		    /* what is behind the last part is none */
	if (!n || seed % 16 == 0) { /* add one */
		if (size + head > max)
			return n ? size : LLVMFuzzerMutate(data, size, max);
		fresh = size + head + 16 <= max ? 16 : 0;
		data[size] = (uint8_t)rand_r(&state);
		memset(data + size + head, 0, fresh);
		fresh = LLVMFuzzerMutate(data + size + head, fresh ? 1 : 0, fresh ? fresh : 1);
		if (size + head + fresh > max)
			fresh = max - size - head;
		fuzz_part_length(data + size, fresh, width);
		return size + head + fresh;
	}
	tail = size - chosen.body - chosen.n;
	if (seed % 16 == 1 && size + head + chosen.n <= max) { /* double it */
		memmove(data + chosen.body + chosen.n + head + chosen.n,
			data + chosen.body + chosen.n, tail);
		memcpy(data + chosen.body + chosen.n, data + chosen.at, head + chosen.n);
		return size + head + chosen.n;
	}
	if (seed % 16 == 2 && n > 1) { /* drop it */
		memmove(data + chosen.at, data + chosen.body + chosen.n, tail);
		return size - head - chosen.n;
	}
	if (seed % 16 == 3) {
		data[chosen.at] = (uint8_t)rand_r(&state);
		return size;
	}
	{
		size_t room = chosen.n + (max - size);
		uint8_t *body = malloc(room ? room : 1);

		if (!body)
			abort();
		room = room < most ? room : most;
		memcpy(body, data + chosen.body, chosen.n);
		fresh = room ? LLVMFuzzerMutate(body, chosen.n, room) : 0;
		memmove(data + chosen.body + fresh, data + chosen.body + chosen.n, tail);
		memcpy(data + chosen.body, body, fresh);
		fuzz_part_length(data + chosen.at, fresh, width);
		free(body);
		return chosen.body + fresh + tail;
	}
}

#endif
