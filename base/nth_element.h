/* SPDX-License-Identifier: MIT */
/* The number of a rank without sorting all: percentiles of millions. */
#ifndef TY_NTH_ELEMENT_H
#define TY_NTH_ELEMENT_H

#include <stddef.h>
#include <stdint.h>

/* Of n numbers the one that is the k-th (0: the smallest) when they are sorted; k < n. They are
 * moved about, and are the same numbers afterwards. Eight passes at most, whatever they are. */
uint64_t ty_nth_element(uint64_t *v, size_t n, size_t k);

#endif
