/* SPDX-License-Identifier: MIT */
/* Numbers for keys (mem_ids.h): open addressing, at most half full. Budget: one cache miss. */
#include "mem_ids.h"

static uint64_t hash(uint64_t v)
{
	v ^= v >> 31;
	v *= 0x9e3779b97f4a7c15ull;
	return v ^ v >> 29;
}

static int grow(struct ty_mem_ids *t)
{
	uint64_t size = t->slot ? 2 * (t->mask + 1) : 1024;
	uint32_t *slot = calloc(size, sizeof(*slot));

	if (!slot)
		return -TY_ENOMEM;
	free(t->slot);
	t->slot = slot;
	t->mask = size - 1;
	for (size_t i = 0; i < t->keys.n; i++) {
		uint64_t at = hash(t->keys.v[i]) & t->mask;

		while (slot[at])
			at = (at + 1) & t->mask;
		slot[at] = (uint32_t)i + 1;
	}
	return 0;
}

int ty_mem_id(struct ty_mem_ids *t, uint64_t key, uint32_t *id, bool *fresh)
{
	uint64_t at;

	if ((!t->slot || t->keys.n * 2 > t->mask) && grow(t))
		return -TY_ENOMEM;
	*fresh = false;
	for (at = hash(key) & t->mask; t->slot[at]; at = (at + 1) & t->mask)
		if (t->keys.v[t->slot[at] - 1] == key) {
			*id = t->slot[at] - 1;
			return 0;
		}
	if (t->keys.n >= UINT32_MAX - 1)
		return -TY_ELIMIT;
	if (vec_push(&t->keys, key))
		return -TY_ENOMEM;
	*id = (uint32_t)t->keys.n - 1;
	t->slot[at] = *id + 1;
	*fresh = true;
	return 0;
}

void ty_mem_id_soon(const struct ty_mem_ids *t, uint64_t key)
{
	if (t->slot)
		__builtin_prefetch(&t->slot[hash(key) & t->mask]);
}

uint32_t ty_mem_id_find(const struct ty_mem_ids *t, uint64_t key)
{
	if (t->slot)
		for (uint64_t at = hash(key) & t->mask; t->slot[at]; at = (at + 1) & t->mask)
			if (t->keys.v[t->slot[at] - 1] == key)
				return t->slot[at] - 1;
	return UINT32_MAX;
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
