/* SPDX-License-Identifier: MIT */
/* Maps 64-bit keys to consecutive numbers 0, 1, 2..., in the order of first use. */
#ifndef TY_MEM_IDS_H
#define TY_MEM_IDS_H

#include <stdbool.h>

#include "hash_index.h"
#include "vec.h"

struct ty_mem_ids_slot {
	uint64_t key;
	uint32_t id1; /* id + 1; 0: free */
} __attribute__((packed, aligned(4)));

struct ty_mem_ids {
	struct ty_mem_ids_slot *slot;
	uint64_t mask;
	VEC(uint64_t) keys; /* by id */
};

/* Home slot of a key. The table's address is part of the hash, so that no file can be crafted to
 * collide. */
static inline uint64_t ty_mem_id_place(const struct ty_mem_ids *t, uint64_t key)
{
	return ty_hash_salted(key, t->slot) & t->mask;
}

/* UINT32_MAX when the key is not in the table. */
static inline uint32_t ty_mem_id_find(const struct ty_mem_ids *t, uint64_t key)
{
	if (t->slot)
		for (uint64_t at = ty_mem_id_place(t, key); t->slot[at].id1;
		     at = (at + 1) & t->mask)
			if (t->slot[at].key == key)
				return t->slot[at].id1 - 1;
	return UINT32_MAX;
}

/* Inserts a new key: see ty_mem_id. */
int ty_mem_id_insert(struct ty_mem_ids *t, uint64_t key, uint32_t *id);

/* The number of a key: 0, or -TY_ENOMEM / -TY_ELIMIT (2^32). *fresh: it is new. */
static inline int ty_mem_id(struct ty_mem_ids *t, uint64_t key, uint32_t *id, bool *fresh)
{
	*id = ty_mem_id_find(t, key);
	*fresh = *id == UINT32_MAX;
	return *fresh ? ty_mem_id_insert(t, key, id) : 0;
}

/* Prefetches the slot of a key that is needed about ten look-ups later. */
static inline void ty_mem_id_soon(const struct ty_mem_ids *t, uint64_t key)
{
	if (t->slot)
		__builtin_prefetch(&t->slot[ty_mem_id_place(t, key)]);
}

/* Bytes held. */
uint64_t ty_mem_ids_bytes(const struct ty_mem_ids *t);
void ty_mem_ids_fini(struct ty_mem_ids *t);

#endif
