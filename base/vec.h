/* SPDX-License-Identifier: MIT */
/*
 * Growable arrays of any type:  VEC(struct foo) foos = {0};  vec_push(&foos, f) -> 0 or -TY_ENOMEM.
 * Doubling, so that appending n elements costs O(n); vec_fini frees.
 */
#ifndef TY_VEC_H
#define TY_VEC_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "err.h"

#define VEC(T)                                                                                     \
	struct {                                                                                   \
		T *v;                                                                              \
		size_t n, cap;                                                                     \
	}

/* Grows *v to hold at least `want` elements of `size` bytes. 0 or -TY_ENOMEM. */
int ty_vec_grow(void **v, size_t *cap, size_t want, size_t size);

void ty_vec_trim(void **v, size_t *cap, size_t n, size_t size);

#define vec_reserve(a, want)                                                                       \
	((want) <= (a)->cap ? 0 : ty_vec_grow((void **)&(a)->v, &(a)->cap, (want), sizeof(*(a)->v)))
#define vec_push(a, ...)                                                                           \
	(vec_reserve(a, (a)->n + 1) ? -TY_ENOMEM : ((a)->v[(a)->n++] = (__VA_ARGS__), 0))
/* Keeps the first `keep` elements, and memory for no more. */
#define vec_trim(a, keep)                                                                          \
	((a)->n = (keep), ty_vec_trim((void **)&(a)->v, &(a)->cap, (a)->n, sizeof(*(a)->v)))
/* Address of element i (i <= n); NULL for an array that was never pushed to, because NULL + 0 is
 * undefined. */
#define vec_at(a, i) ((a)->v ? (a)->v + (i) : NULL)
/* As qsort, which does much even when all are in order, as they often are. */
void ty_vec_sort(void *v, size_t n, size_t size, int (*order)(const void *, const void *));
#define vec_sort(a, compare) ty_vec_sort((a)->v, (a)->n, sizeof(*(a)->v), (compare))
#define vec_fini(a)	     (free((a)->v), (a)->v = NULL, (a)->n = (a)->cap = 0)
#define vec_each(it, a)	     for (typeof(&*(a)->v) it = (a)->v; it && it < (a)->v + (a)->n; it++)

#endif
