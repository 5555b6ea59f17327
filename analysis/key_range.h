/* SPDX-License-Identifier: MIT */
/*
 * Partitions keys by ranges of their hash: however many there are, one range fits the available
 * memory, and the rest is left to later passes. A range that is too large is halved and started
 * again. Each key is in exactly one range.
 */
#ifndef TY_KEY_RANGE_H
#define TY_KEY_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "hash_index.h"

#define TY_KEY_HASHES (UINT64_C(1) << 32)

struct ty_key_range {
	uint64_t lo, hi;  /* hashes [lo, hi) */
	const void *salt; /* not predictable from a file */
	bool again;	  /* the range shrank: discard its results */
};

static inline struct ty_key_range ty_key_range_all(const void *salt)
{
	return (struct ty_key_range){0, TY_KEY_HASHES, salt, false};
}

static inline bool ty_key_range_is_all(const struct ty_key_range *r)
{
	return r->hi - r->lo == TY_KEY_HASHES;
}

static inline bool ty_key_in(const struct ty_key_range *r, uint64_t key)
{
	uint64_t v = ty_hash_salted(key, r->salt) >> 32;

	return v >= r->lo && v < r->hi;
}

/* Halves the range when memory is insufficient. 0; -TY_ELIMIT: it is a single hash. */
static inline int ty_key_range_less(struct ty_key_range *r)
{
	if (r->hi - r->lo < 2)
		return -TY_ELIMIT;
	r->hi = r->lo + (r->hi - r->lo) / 2;
	r->again = true;
	return 0;
}

/* Ends a pass: the same range again if it shrank, otherwise the next one. False: no further
 * range. */
static inline bool ty_key_range_next(struct ty_key_range *r)
{
	uint64_t width = r->hi - r->lo;

	if (r->again) {
		r->again = false;
		return true;
	}
	if (r->hi == TY_KEY_HASHES)
		return false;
	r->lo = r->hi;
	r->hi = width < TY_KEY_HASHES - r->lo ? r->lo + width : TY_KEY_HASHES;
	return true;
}

#endif
