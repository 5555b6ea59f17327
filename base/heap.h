/* SPDX-License-Identifier: MIT */
/*
 * Binary heaps in arrays of any type: h[0] is the element that comes first. `before(ctx, a, b)`, a
 * function or a macro, says whether *a comes before *b. Macros, so that a merge of millions of
 * events compares without a call. Budget: log2(n) moves of one element.
 */
#ifndef TY_HEAP_H
#define TY_HEAP_H

#include <stddef.h>

/* h[i] was replaced, or the heap below it is built: moves it down to its place. */
#define heap_down(h, count, i, before, ctx)                                                        \
	do {                                                                                       \
		typeof(&*(h)) h_ = (h);                                                            \
		const size_t n_ = (count);                                                         \
		size_t at_ = (i);                                                                  \
		const typeof(*(h)) v_ = h_[at_];                                                   \
                                                                                                   \
		for (size_t c_; (c_ = 2 * at_ + 1) < n_; at_ = c_) {                               \
			if (c_ + 1 < n_ && before(ctx, &h_[c_ + 1], &h_[c_]))                      \
				c_++;                                                              \
			if (!before(ctx, &h_[c_], &v_))                                            \
				break;                                                             \
			h_[at_] = h_[c_];                                                          \
		}                                                                                  \
		h_[at_] = v_;                                                                      \
	} while (0)

/* Adds *v, which is not in the array, behind its `count` elements; there is room. */
#define heap_add(h, count, v, before, ctx)                                                         \
	do {                                                                                       \
		typeof(&*(h)) h_ = (h);                                                            \
		size_t at_ = (count);                                                              \
                                                                                                   \
		for (; at_ && before(ctx, (v), &h_[(at_ - 1) / 2]); at_ = (at_ - 1) / 2)           \
			h_[at_] = h_[(at_ - 1) / 2];                                               \
		h_[at_] = *(v);                                                                    \
	} while (0)

/* Makes a heap of an array in any order. */
#define heap_order(h, count, before, ctx)                                                          \
	do {                                                                                       \
		const size_t all_ = (count);                                                       \
                                                                                                   \
		for (size_t k_ = all_ / 2; k_-- > 0;)                                              \
			heap_down(h, all_, k_, before, ctx);                                       \
	} while (0)

/* Of all elements that are offered, keeps the `most` that come last; n: a variable, how many there
 * are. The first of them is on top and is replaced. */
#define heap_keep(h, n, most, v, before, ctx)                                                      \
	do {                                                                                       \
		if ((n) < (most)) {                                                                \
			heap_add(h, n, v, before, ctx);                                            \
			(n)++;                                                                     \
		} else if ((n) && before(ctx, &(h)[0], (v))) {                                     \
			(h)[0] = *(v);                                                             \
			heap_down(h, n, 0, before, ctx);                                           \
		}                                                                                  \
	} while (0)

#endif
