/* SPDX-License-Identifier: MIT */
/* Little-endian integers at any address, of records whose bounds were checked (checked_read.h
 * checks them). */
#ifndef TY_UNALIGNED_H
#define TY_UNALIGNED_H

#include <stdint.h>
#include <string.h>

static inline uint32_t ty_u32_at(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t ty_u64_at(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Of n bytes, at most 8. */
static inline uint64_t ty_le_at(const void *p, unsigned n)
{
	uint64_t v = 0;

	memcpy(&v, p, n);
	return v;
}

#endif
