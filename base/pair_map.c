/* SPDX-License-Identifier: MIT */
#include "pair_map.h"

static uint32_t key_of(uint64_t a, uint64_t b)
{
	return ty_hash_mix(a ^ (uint64_t)ty_hash_mix(b) << 32);
}

static struct ty_pair *find(const struct ty_pair_map *m, uint64_t a, uint64_t b)
{
	hash_each (i, &m->index, key_of(a, b))
		if (m->pairs.v[i].a == a && m->pairs.v[i].b == b)
			return &m->pairs.v[i];
	return NULL;
}

uint32_t *ty_pair_map_add(struct ty_pair_map *m, uint64_t a, uint64_t b)
{
	struct ty_pair *p = find(m, a, b);

	if (p)
		return &p->value;
	if (vec_reserve(&m->pairs, m->pairs.n + 1) ||
	    ty_hash_add(&m->index, key_of(a, b), (uint32_t)m->pairs.n))
		return NULL;
	p = &m->pairs.v[m->pairs.n++];
	*p = (struct ty_pair){.a = a, .b = b, .value = TY_PAIR_NONE};
	return &p->value;
}

uint32_t ty_pair_map_get(const struct ty_pair_map *m, uint64_t a, uint64_t b)
{
	const struct ty_pair *p = find(m, a, b);

	return p ? p->value : TY_PAIR_NONE;
}

void ty_pair_map_fini(struct ty_pair_map *m)
{
	vec_fini(&m->pairs);
	ty_hash_fini(&m->index);
}
