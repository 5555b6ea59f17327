/* SPDX-License-Identifier: MIT */
/*
 * Which elements of an array have a key: a hash table from 32-bit keys to numbers (below
 * UINT32_MAX), for whoever keeps the elements. The key is a small number itself (a tid), or a hash
 * of what is longer: then several numbers have one key, and the elements tell which is meant
 * (hash_each). Open addressing with linear probing, at most half full; 16 to 32 bytes per number.
 * Zeroed, an index is empty. Not thread-safe while it is changed.
 *
 * Budget: 12 instructions to find a number that lies at its home.
 */
#ifndef TY_HASH_INDEX_H
#define TY_HASH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TY_HASH_NONE UINT32_MAX

struct ty_hash_slot {
	uint32_t key, at; /* number + 1; 0: free */
};

struct ty_hash_index {
	struct ty_hash_slot *slot;
	uint32_t mask, n;
};

/* A key of 64 bits, or of several: ty_hash_mix(a ^ ty_hash_mix(b)). */
static inline uint32_t ty_hash_mix(uint64_t v)
{
	v *= 0x9e3779b97f4a7c15u;
	return (uint32_t)(v >> 32 ^ v >> 15);
}

static inline uint32_t ty_hash_home(const struct ty_hash_index *x, uint32_t key)
{
	return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & x->mask;
}

/* The first place from i on with the key; TY_HASH_NONE. */
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

/* A number that has the key, of keys that are of one number each; TY_HASH_NONE. */
static inline uint32_t ty_hash_get(const struct ty_hash_index *x, uint32_t key)
{
	uint32_t i = ty_hash_first(x, key);

	return i == TY_HASH_NONE ? TY_HASH_NONE : x->slot[i].at - 1;
}

/* All numbers that have the key: hash_each (at, &index, key) { ... } Nothing may be added or
 * dropped inside, but before it is left. */
#define hash_each(number, x, key)                                                                  \
	for (uint32_t number##_i = ty_hash_first(x, key), number;                                  \
	     number##_i != TY_HASH_NONE && (number = (x)->slot[number##_i].at - 1, true);          \
	     number##_i = ty_hash_from(x, key, (number##_i + 1) & (x)->mask))

/* One more number with the key. 0 or -TY_ENOMEM. */
int ty_hash_add(struct ty_hash_index *x, uint32_t key, uint32_t number);
/* The key's one number is this from now on. 0 or -TY_ENOMEM. */
int ty_hash_put(struct ty_hash_index *x, uint32_t key, uint32_t number);
/* Which must be there. */
void ty_hash_drop(struct ty_hash_index *x, uint32_t key, uint32_t number);
void ty_hash_fini(struct ty_hash_index *x);

#endif
