/* SPDX-License-Identifier: MIT */
/* See hash_index.h. */
#include "hash_index.h"

#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "huge_alloc.h"

#define SLOTS_FIRST 64u

static void place(struct ty_hash_index *x, struct ty_hash_slot s)
{
	uint32_t i = ty_hash_home(x, s.key);

	while (x->slot[i].at)
		i = (i + 1) & x->mask;
	x->slot[i] = s;
}

/* To twice the slots, or more for so many numbers. */
static int grow(struct ty_hash_index *x, uint32_t n)
{
	struct ty_hash_index big = {.mask = x->slot ? x->mask * 2 + 1 : SLOTS_FIRST - 1, .n = x->n};

	if (n > UINT32_MAX / 4)
		return -TY_ENOMEM;
	while (n > big.mask / 2 + 1)
		big.mask = big.mask * 2 + 1;
	big.slot = ty_huge_table(((size_t)big.mask + 1) * sizeof(*big.slot));
	if (!big.slot)
		return -TY_ENOMEM;
	for (size_t i = 0; x->slot && i <= x->mask; i++)
		if (x->slot[i].at)
			place(&big, x->slot[i]);
	free(x->slot);
	*x = big;
	return 0;
}

int ty_hash_reserve(struct ty_hash_index *x, uint32_t n)
{
	return !x->slot || n > x->mask / 2 + 1 ? grow(x, n) : 0;
}

int ty_hash_add(struct ty_hash_index *x, uint32_t key, uint32_t number)
{
	if (ty_hash_reserve(x, x->n + 1))
		return -TY_ENOMEM;
	place(x, (struct ty_hash_slot){.key = key, .at = number + 1});
	x->n++;
	return 0;
}

int ty_hash_put(struct ty_hash_index *x, uint32_t key, uint32_t number)
{
	uint32_t i = ty_hash_first(x, key);

	if (i == TY_HASH_NONE)
		return ty_hash_add(x, key, number);
	x->slot[i].at = number + 1;
	return 0;
}

void ty_hash_drop(struct ty_hash_index *x, uint32_t key, uint32_t number)
{
	uint32_t i = ty_hash_first(x, key);

	while (i != TY_HASH_NONE && x->slot[i].at != number + 1)
		i = ty_hash_from(x, key, (i + 1) & x->mask);
	if (i == TY_HASH_NONE)
		return;
	/* Move later entries of the probe sequence up, but none before its home slot. */
	for (uint32_t k = (i + 1) & x->mask; x->slot[k].at; k = (k + 1) & x->mask) {
		uint32_t home = ty_hash_home(x, x->slot[k].key);

		if (((k - home) & x->mask) < ((k - i) & x->mask))
			continue;
		x->slot[i] = x->slot[k];
		i = k;
	}
	x->slot[i].at = 0;
	x->n--;
}

void ty_hash_clear(struct ty_hash_index *x)
{
	if (x->slot)
		memset(x->slot, 0, ((size_t)x->mask + 1) * sizeof(*x->slot));
	x->n = 0;
}

void ty_hash_fini(struct ty_hash_index *x)
{
	free(x->slot);
	*x = (struct ty_hash_index){0};
}
