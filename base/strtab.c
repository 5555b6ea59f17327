/* SPDX-License-Identifier: MIT */
#include "strtab.h"

#include <string.h>

#include "hash_index.h"
#include "vec.h"

struct ty_strtab {
	VEC(char) bytes;
	VEC(uint32_t) off;
	struct ty_hash_index ids;
};

struct ty_strtab *ty_strtab_new(void)
{
	struct ty_strtab *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	if (ty_strtab_add(t, "", 0) == UINT32_MAX) {
		ty_strtab_free(t);
		return NULL;
	}
	return t;
}

void ty_strtab_free(struct ty_strtab *t)
{
	if (!t)
		return;
	vec_fini(&t->bytes);
	vec_fini(&t->off);
	ty_hash_fini(&t->ids);
	free(t);
}

/* Finds a string (n bytes, no NUL) by its hash. */
static uint32_t find(const struct ty_strtab *t, uint32_t h, const char *s, size_t n)
{
	hash_each (id, &t->ids, h) {
		const char *have = t->bytes.v + t->off.v[id];

		if (!strncmp(have, s, n) && !have[n])
			return id;
	}
	return UINT32_MAX;
}

uint32_t ty_strtab_find(const struct ty_strtab *t, const char *s, size_t n)
{
	n = strnlen(s, n);
	return find(t, ty_hash_bytes(s, n), s, n);
}

uint32_t ty_strtab_add(struct ty_strtab *t, const char *s, size_t n)
{
	uint32_t h, id;

	n = strnlen(s, n);
	h = ty_hash_bytes(s, n);
	id = find(t, h, s, n);
	if (id != UINT32_MAX)
		return id;
	id = (uint32_t)t->off.n;
	if (t->bytes.n + n + 1 > UINT32_MAX || vec_reserve(&t->bytes, t->bytes.n + n + 1) ||
	    vec_reserve(&t->off, t->off.n + 1) || ty_hash_add(&t->ids, h, id))
		return UINT32_MAX;
	t->off.v[t->off.n++] = (uint32_t)t->bytes.n;
	memcpy(t->bytes.v + t->bytes.n, s, n);
	t->bytes.v[t->bytes.n + n] = 0;
	t->bytes.n += n + 1;
	return id;
}

const char *ty_strtab_get(const struct ty_strtab *t, uint32_t id)
{
	return id < t->off.n ? t->bytes.v + t->off.v[id] : "";
}

uint32_t ty_strtab_count(const struct ty_strtab *t)
{
	return (uint32_t)t->off.n;
}
