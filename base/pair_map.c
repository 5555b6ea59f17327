/* SPDX-License-Identifier: MIT */
/* See pair_map.h: open addressing, at most half full. */
#include "pair_map.h"

#include <stdbool.h>
#include <stdlib.h>

struct ty_pair_slot {
	uint64_t a, b;
	uint32_t value;
	bool used;
};

static struct ty_pair_slot *find(const struct ty_pair_map *m, uint64_t a, uint64_t b)
{
	uint64_t h = (a * 0x9e3779b97f4a7c15ull ^ b) * 0xd6e8feb86659fd93ull;
	uint32_t i = (uint32_t)(h >> 32) & m->mask;

	while (m->slots[i].used && (m->slots[i].a != a || m->slots[i].b != b))
		i = (i + 1) & m->mask;
	return &m->slots[i];
}

static bool grow(struct ty_pair_map *m)
{
	struct ty_pair_map big = {.mask = m->slots ? m->mask * 2 + 1 : 63};

	if (m->n >= UINT32_MAX / 4)
		return false;
	big.slots = calloc((size_t)big.mask + 1, sizeof(*big.slots));
	if (!big.slots)
		return false;
	for (size_t i = 0; m->slots && i <= m->mask; i++)
		if (m->slots[i].used)
			*find(&big, m->slots[i].a, m->slots[i].b) = m->slots[i];
	big.n = m->n;
	free(m->slots);
	*m = big;
	return true;
}

uint32_t *ty_pair_map_add(struct ty_pair_map *m, uint64_t a, uint64_t b)
{
	struct ty_pair_slot *s;

	if ((!m->slots || m->n > m->mask / 2) && !grow(m))
		return NULL;
	s = find(m, a, b);
	if (!s->used) {
		*s = (struct ty_pair_slot){.a = a, .b = b, .value = TY_PAIR_NONE, .used = true};
		m->n++;
	}
	return &s->value;
}

uint32_t ty_pair_map_get(const struct ty_pair_map *m, uint64_t a, uint64_t b)
{
	const struct ty_pair_slot *s = m->slots ? find(m, a, b) : NULL;

	return s && s->used ? s->value : TY_PAIR_NONE;
}

void ty_pair_map_fini(struct ty_pair_map *m)
{
	free(m->slots);
	*m = (struct ty_pair_map){0};
}
