/* SPDX-License-Identifier: MIT */
/*
 * Hash index over an array that the caller keeps: maps 32-bit keys to element numbers below
 * UINT32_MAX. The key is a small number itself (a tid), or the hash of something longer. In the
 * latter case several elements can share a key, and the caller compares the elements (hash_each).
 * Open addressing with linear probing, at most half full; 16 to 32 bytes per element. A zeroed
 * index is empty. Not thread-safe while it is modified.
 *
 * Budget: 12 instructions to find an element in its home slot.
 */
#ifndef TY_HASH_INDEX_H
#define TY_HASH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TY_HASH_NONE UINT32_MAX

struct ty_hash_slot {
	uint32_t key, at; /* number + 1; 0: free slot */
};

struct ty_hash_index {
	struct ty_hash_slot *slot;
	uint32_t mask, n;
};

#define TY_HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15) /* 2^64 by the golden ratio */

/* Hashes a 64-bit key. For a longer key: ty_hash_mix(a ^ ty_hash_mix(b)). */
static inline uint32_t ty_hash_mix(uint64_t v)
{
	v *= TY_HASH_FACTOR;
	return (uint32_t)(v >> 32 ^ v >> 15);
}

/* A place below 2^bits (bits: 1 to 64), for tables that are caches. */
static inline uint64_t ty_hash_bits(uint64_t key, unsigned bits)
{
	return key * TY_HASH_FACTOR >> (64 - bits);
}

/* Hashes n bytes (FNV-1a: for short ones). */
static inline uint32_t ty_hash_bytes(const char *s, size_t n)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (uint8_t)s[i]) * 0x100000001b3u;
	return (uint32_t)(h ^ h >> 29);
}

/* A hash of 64 bits that no file can be crafted to collide in: salt is an address of this process.
 */
static inline uint64_t ty_hash_salted(uint64_t key, const void *salt)
{
	key = (key ^ (uintptr_t)salt) * TY_HASH_FACTOR;
	key = (key ^ key >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return key ^ key >> 32;
}

static inline uint32_t ty_hash_home(const struct ty_hash_index *x, uint32_t key)
{
	return (uint32_t)ty_hash_bits(key, 32) & x->mask;
}

/* Soon the key is looked up. */
static inline void ty_hash_prefetch(const struct ty_hash_index *x, uint32_t key)
{
	if (x->slot)
		__builtin_prefetch(&x->slot[ty_hash_home(x, key)]);
}

/* The first slot at or after i that holds the key; TY_HASH_NONE. */
static inline uint32_t ty_hash_from(const struct ty_hash_index *x, uint32_t key, uint32_t i)
{
	for (; x->slot[i].at; i = (i + 1) & x->mask)
		if (x->slot[i].key == key)
			return i;
	return TY_HASH_NONE;
}

static inline uint32_t ty_hash_first(const struct ty_hash_index *x, uint32_t key)
{
	return x->slot ? ty_hash_from(x, key, ty_hash_home(x, key)) : TY_HASH_NONE;
}

/* The number stored under a unique key; TY_HASH_NONE. */
static inline uint32_t ty_hash_get(const struct ty_hash_index *x, uint32_t key)
{
	uint32_t i = ty_hash_first(x, key);

	return i == TY_HASH_NONE ? TY_HASH_NONE : x->slot[i].at - 1;
}

/* Iterates over all numbers stored under the key: hash_each (at, &index, key) { ... } Modify the
 * index only when the loop is left right after. */
#define hash_each(number, x, key)                                                                  \
	for (uint32_t number##_i = ty_hash_first(x, key), number;                                  \
	     number##_i != TY_HASH_NONE && (number = (x)->slot[number##_i].at - 1, true);          \
	     number##_i = ty_hash_from(x, key, (number##_i + 1) & (x)->mask))

/* Adds a number under the key. 0 or -TY_ENOMEM. */
int ty_hash_add(struct ty_hash_index *x, uint32_t key, uint32_t number);
/* Makes room for n numbers, so that it need not grow. 0 or -TY_ENOMEM. */
int ty_hash_reserve(struct ty_hash_index *x, uint32_t n);
/* Sets the number of a unique key. 0 or -TY_ENOMEM. */
int ty_hash_put(struct ty_hash_index *x, uint32_t key, uint32_t number);
/* Removes an entry, which must exist. */
void ty_hash_drop(struct ty_hash_index *x, uint32_t key, uint32_t number);
/* Empties it and keeps its memory. */
void ty_hash_clear(struct ty_hash_index *x);
void ty_hash_fini(struct ty_hash_index *x);

#endif
