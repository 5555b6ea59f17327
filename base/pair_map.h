/* SPDX-License-Identifier: MIT */
/*
 * Numbers of things that are known by two words: a hash table of (a, b) to a 32-bit number. 40 to
 * 80 bytes per entry; adding and finding cost the same, whatever the number. Not thread-safe while
 * it is added to.
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

/* The place of the number of (a, b), which is TY_PAIR_NONE when it is new; valid until the next
 * add. NULL: out of memory. Zeroed, a map is empty. */
uint32_t *ty_pair_map_add(struct ty_pair_map *m, uint64_t a, uint64_t b);
/* The number of (a, b); TY_PAIR_NONE: it has none. */
uint32_t ty_pair_map_get(const struct ty_pair_map *m, uint64_t a, uint64_t b);
void ty_pair_map_fini(struct ty_pair_map *m);

#endif
