/* SPDX-License-Identifier: MIT */
/* Sorted sets of integers (thread ids), to be searched by bsearch with ty_int_order. */
#ifndef TY_INT_SET_H
#define TY_INT_SET_H

#include <stddef.h>
#include <stdlib.h>

#include "compare.h"

static inline int ty_int_order(const void *a, const void *b)
{
	return compare(*(const int *)a, *(const int *)b);
}

/* Sorts n numbers and removes duplicates. Returns how many remain. */
static inline size_t ty_int_set(int *v, size_t n)
{
	size_t kept = 0;

	if (n)
		qsort(v, n, sizeof(*v), ty_int_order);
	for (size_t i = 0; i < n; i++)
		if (!kept || v[i] != v[kept - 1])
			v[kept++] = v[i];
	return kept;
}

#endif
