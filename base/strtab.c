/* SPDX-License-Identifier: MIT */
#include "strtab.h"

#include <string.h>

#include "vec.h"

struct ty_strtab {
	VEC(char) bytes;
	VEC(uint32_t) off;
	uint32_t *slot; /* id + 1; 0 is free */
	uint32_t mask;
};

static uint64_t hash(const char *s, size_t n)
{
	uint64_t h = 0xcbf29ce484222325u; /* FNV-1a: names are short */

	for (size_t i = 0; i < n; i++)
		h = (h ^ (uint8_t)s[i]) * 0x100000001b3u;
	return h ^ h >> 29;
}

struct ty_strtab *ty_strtab_new(void)
{
	struct ty_strtab *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->mask = 255;
	t->slot = calloc(t->mask + 1, sizeof(*t->slot));
	if (!t->slot || ty_strtab_add(t, "", 0) == UINT32_MAX) {
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
	free(t->slot);
	free(t);
}

static int rehash(struct ty_strtab *t)
{
	uint32_t mask = t->mask * 2 + 1;
	uint32_t *slot = calloc((size_t)mask + 1, sizeof(*slot));

	if (!slot)
		return -TY_ENOMEM;
	for (uint32_t id = 0; id < t->off.n; id++) {
		const char *s = t->bytes.v + t->off.v[id];
		uint64_t i = hash(s, strlen(s)) & mask;

		while (slot[i])
			i = (i + 1) & mask;
		slot[i] = id + 1;
	}
	free(t->slot);
	t->slot = slot;
	t->mask = mask;
	return 0;
}

/* The slot of a string (n without a NUL), or the free one where it belongs. */
static uint64_t slot_of(const struct ty_strtab *t, const char *s, size_t n)
{
	uint64_t i;

	for (i = hash(s, n) & t->mask; t->slot[i]; i = (i + 1) & t->mask) {
		const char *have = t->bytes.v + t->off.v[t->slot[i] - 1];

		if (!strncmp(have, s, n) && !have[n])
			break;
	}
	return i;
}

uint32_t ty_strtab_find(const struct ty_strtab *t, const char *s, size_t n)
{
	uint32_t id = t->slot[slot_of(t, s, strnlen(s, n))];

	return id ? id - 1 : UINT32_MAX;
}

uint32_t ty_strtab_add(struct ty_strtab *t, const char *s, size_t n)
{
	uint64_t i;

	n = strnlen(s, n);
	if (t->off.n * 2 > t->mask && rehash(t))
		return UINT32_MAX;
	i = slot_of(t, s, n);
	if (t->slot[i])
		return t->slot[i] - 1;
	if (t->bytes.n + n + 1 > UINT32_MAX || vec_reserve(&t->bytes, t->bytes.n + n + 1) ||
	    vec_push(&t->off, (uint32_t)t->bytes.n))
		return UINT32_MAX;
	memcpy(t->bytes.v + t->bytes.n, s, n);
	t->bytes.v[t->bytes.n + n] = 0;
	t->bytes.n += n + 1;
	t->slot[i] = (uint32_t)t->off.n;
	return (uint32_t)t->off.n - 1;
}

const char *ty_strtab_get(const struct ty_strtab *t, uint32_t id)
{
	return id < t->off.n ? t->bytes.v + t->off.v[id] : "";
}

uint32_t ty_strtab_count(const struct ty_strtab *t)
{
	return (uint32_t)t->off.n;
}
