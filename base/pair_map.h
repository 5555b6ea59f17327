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

/* The number of the element of a VEC that belongs to (a, b): where it has none yet, a new one is
 * appended, of the value that follows. TY_PAIR_NONE: out of memory. */
#define pair_number(m, a, b, vec, ...)                                                             \
	({                                                                                         \
		uint32_t *number_ = ty_pair_map_add((m), (a), (b));                                \
		if (number_ && *number_ == TY_PAIR_NONE && !vec_push((vec), __VA_ARGS__))          \
			*number_ = (uint32_t)(vec)->n - 1;                                         \
		number_ ? *number_ : TY_PAIR_NONE;                                                 \
	})
/* The same, its address, valid until the next one is appended. NULL: out of memory. */
#define pair_element(m, a, b, vec, ...)                                                            \
	({                                                                                         \
		const uint32_t at_ = pair_number(m, a, b, vec, __VA_ARGS__);                       \
		at_ == TY_PAIR_NONE ? NULL : &(vec)->v[at_];                                       \
	})

#endif
