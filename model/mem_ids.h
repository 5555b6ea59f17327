/* SPDX-License-Identifier: MIT */
/* Numbers 0, 1, 2... for 64-bit keys, in the order of their first use. */
#ifndef TY_MEM_IDS_H
#define TY_MEM_IDS_H

#include <stdbool.h>

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

/* The number of a key: 0, or -TY_ENOMEM / -TY_ELIMIT (2^32). *fresh: it is new. */
int ty_mem_id(struct ty_mem_ids *t, uint64_t key, uint32_t *id, bool *fresh);
/* The key will be asked for in a while, some ten others from now: memory is slow, and this does not
 * wait for it. */
void ty_mem_id_soon(const struct ty_mem_ids *t, uint64_t key);
/* UINT32_MAX when the key has none. */
uint32_t ty_mem_id_find(const struct ty_mem_ids *t, uint64_t key);
/* Bytes held. */
uint64_t ty_mem_ids_bytes(const struct ty_mem_ids *t);
void ty_mem_ids_fini(struct ty_mem_ids *t);

#endif
