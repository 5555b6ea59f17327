/* SPDX-License-Identifier: MIT */
/*
 * Hash table from pairs (a, b) of 64-bit keys to 32-bit numbers. 40 to 80 bytes per entry, constant
 * time. Not thread-safe while it is modified.
 */
#ifndef TY_PAIR_MAP_H
#define TY_PAIR_MAP_H

#include <stdint.h>

#include "hash_index.h"
#include "vec.h"

#define TY_PAIR_NONE UINT32_MAX

struct ty_pair {
	uint64_t a, b;
	uint32_t value;
};

struct ty_pair_map {
	VEC(struct ty_pair) pairs;
	struct ty_hash_index index;
};

/* Returns the slot of (a, b), which holds TY_PAIR_NONE when it is new. Valid until the next add.
 * NULL: out of memory. A zeroed map is empty. */
uint32_t *ty_pair_map_add(struct ty_pair_map *m, uint64_t a, uint64_t b);
/* The number of (a, b); TY_PAIR_NONE when there is none. */
uint32_t ty_pair_map_get(const struct ty_pair_map *m, uint64_t a, uint64_t b);
void ty_pair_map_fini(struct ty_pair_map *m);

#endif
