/* SPDX-License-Identifier: MIT */
/* See interval_tree.h. */
#include "interval_tree.h"

#include <stdlib.h>
#include <string.h>

#include "err.h"

int ty_interval_tree_begin(struct ty_interval_tree *l, uint32_t n)
{
	l->n = n;
	l->first = calloc(2 * (uint64_t)n + 1, sizeof(*l->first));
	return l->first ? 0 : -TY_ENOMEM;
}

static void at_node(struct ty_interval_tree *l, uint64_t node, uint32_t number)
{
	if (l->entry)
		l->entry[l->first[node]++] = number;
	else
		l->first[node + 1]++;
}

void ty_interval_tree_add(struct ty_interval_tree *l, uint64_t a, uint64_t b, uint32_t number)
{
	a += l->n;
	b += l->n;
	for (; a < b; a /= 2, b /= 2) {
		if (a & 1)
			at_node(l, a++, number);
		if (b & 1)
			at_node(l, --b, number);
	}
}

int ty_interval_tree_turn(struct ty_interval_tree *l)
{
	uint64_t all = 0;

	for (uint64_t i = 0; i <= 2 * (uint64_t)l->n; i++) {
		all += l->first[i];
		if (all > UINT32_MAX)
			return -TY_ENOMEM;
		l->first[i] = (uint32_t)all;
	}
	l->entry = malloc((all + 1) * sizeof(*l->entry));
	return l->entry ? 0 : -TY_ENOMEM;
}

void ty_interval_tree_end(struct ty_interval_tree *l)
{
	/* Each begin has become its end, which is the next one's begin. */
	memmove(l->first + 1, l->first, 2 * (size_t)l->n * sizeof(*l->first));
	l->first[0] = 0;
}

void ty_interval_tree_fini(struct ty_interval_tree *l)
{
	free(l->first);
	free(l->entry);
	*l = (struct ty_interval_tree){0};
}
