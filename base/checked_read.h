/* SPDX-License-Identifier: MIT */
/*
 * Bounds-checked reading of untrusted bytes. A read past the end returns 0 or NULL and sets `bad`
 * (sticky), so that a parser can read a whole record and check once.
 */
#ifndef TY_CHECKED_READ_H
#define TY_CHECKED_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ty_rd {
	const uint8_t *p, *end;
	bool bad;
	bool swap; /* the bytes are big endian */
};

static inline struct ty_rd ty_rd_init(const void *p, size_t n, bool big_endian)
{
	const uint8_t *at = p ? p : (const uint8_t *)"";

	return (struct ty_rd){.p = at, .end = p ? at + n : at, .swap = big_endian};
}

static inline size_t ty_rd_left(const struct ty_rd *r)
{
	return (size_t)(r->end - r->p);
}

/* Borrows n bytes and advances past them; NULL when there are fewer. */
static inline const uint8_t *ty_rd_bytes(struct ty_rd *r, uint64_t n)
{
	const uint8_t *p = r->p;

	if (r->bad || n > ty_rd_left(r)) {
		r->bad = true;
		return NULL;
	}
	r->p += n;
	return p;
}

/* An unsigned integer of 1, 2, 4 or 8 bytes in the given byte order, without a bounds check. */
static inline uint64_t ty_load(const uint8_t *p, unsigned bytes, bool big_endian)
{
	uint64_t v = 0;

	if (!big_endian) {
		memcpy(&v, p, bytes <= 8 ? bytes : 8); /* little-endian host: asserted below */
		return v;
	}
	for (unsigned i = 0; i < bytes && i < 8; i++)
		v = v << 8 | p[i];
	return v;
}

static inline uint64_t ty_rd_uint(struct ty_rd *r, unsigned bytes)
{
	const uint8_t *p = ty_rd_bytes(r, bytes);

	return p ? ty_load(p, bytes, r->swap) : 0;
}

static inline uint8_t ty_rd_u8(struct ty_rd *r)
{
	return (uint8_t)ty_rd_uint(r, 1);
}
static inline uint32_t ty_rd_u32(struct ty_rd *r)
{
	return (uint32_t)ty_rd_uint(r, 4);
}
static inline uint64_t ty_rd_u64(struct ty_rd *r)
{
	return ty_rd_uint(r, 8);
}

/* Borrows a NUL-terminated string and advances past its NUL; NULL (and bad) when there is no
 * NUL. */
static inline const char *ty_rd_str(struct ty_rd *r)
{
	const uint8_t *z = r->bad ? NULL : memchr(r->p, 0, ty_rd_left(r));
	const char *s = (const char *)r->p;

	if (!z) {
		r->bad = true;
		return NULL;
	}
	r->p = z + 1;
	return s;
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tarry runs on little-endian hosts only");

#endif
