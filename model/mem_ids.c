/* SPDX-License-Identifier: MIT */
/*
 * Numbers for keys (mem_ids.h): open addressing, at most two thirds full, the key in its slot.
 * Budget: one cache miss; 39 instructions and 42 bytes per key, where pair_map.h takes 66 and 52
 * (docs/design/index.md, "Hash tables").
 */
#include "mem_ids.h"

#define FIRST 1024u

static int grow(struct ty_mem_ids *t)
{
	struct ty_mem_ids_slot *old = t->slot;
	uint64_t n = old ? t->mask + 1 : 0, size = n ? 2 * n : FIRST;

	t->slot = calloc(size, sizeof(*t->slot));
	if (!t->slot) {
		t->slot = old;
		return -TY_ENOMEM;
	}
	t->mask = size - 1;
	for (size_t i = 0; i < t->keys.n; i++) {
		uint64_t at = ty_mem_id_place(t, t->keys.v[i]);

		while (t->slot[at].id1)
			at = (at + 1) & t->mask;
		t->slot[at] = (struct ty_mem_ids_slot){t->keys.v[i], (uint32_t)i + 1};
	}
	free(old);
	return 0;
}

int ty_mem_id_insert(struct ty_mem_ids *t, uint64_t key, uint32_t *id)
{
	uint64_t at;

	if ((!t->slot || t->keys.n * 3 > t->mask * 2) && grow(t))
		return -TY_ENOMEM;
	if (t->keys.n >= UINT32_MAX - 1)
		return -TY_ELIMIT;
	if (vec_push(&t->keys, key))
		return -TY_ENOMEM;
	for (at = ty_mem_id_place(t, key); t->slot[at].id1;)
		at = (at + 1) & t->mask;
	*id = (uint32_t)t->keys.n - 1;
	t->slot[at] = (struct ty_mem_ids_slot){key, *id + 1};
	return 0;
}

void ty_mem_ids_fini(struct ty_mem_ids *t)
{
	free(t->slot);
	vec_fini(&t->keys);
	*t = (struct ty_mem_ids){0};
}

uint64_t ty_mem_ids_bytes(const struct ty_mem_ids *t)
{
	return t->keys.cap * sizeof(*t->keys.v) + (t->slot ? (t->mask + 1) * sizeof(*t->slot) : 0);
}
