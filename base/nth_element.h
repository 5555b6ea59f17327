/* SPDX-License-Identifier: MIT */
/* Selection without sorting: percentiles of millions of numbers. */
#ifndef TY_NTH_ELEMENT_H
#define TY_NTH_ELEMENT_H

#include <stddef.h>
#include <stdint.h>

/* Returns the k-th smallest of n numbers (0: the smallest; k < n). Reorders the array. At most
 * eight passes, whatever the input. */
uint64_t ty_nth_element(uint64_t *v, size_t n, size_t k);

#endif
