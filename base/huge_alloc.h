/* SPDX-License-Identifier: MIT */
/* Memory for large arrays, in huge pages where available: in a virtual machine the first touch of
 * each small page can cost 10 us. */
#ifndef TY_HUGE_ALLOC_H
#define TY_HUGE_ALLOC_H

#include <stddef.h>

/* Allocates n bytes, not cleared; release with free(). NULL: out of memory. */
void *ty_huge_alloc(size_t n);

/* Allocates n bytes of zeros that will be written here and there, as a hash table is: calloc's
 * would be read first, which is a page fault of its own for each page. Release with free(). NULL:
 * out of memory. */
void *ty_huge_table(size_t n);

/* Reserves n bytes (a multiple of 2 MB) of addresses, which are zero and take memory when they are
 * written: the first 256 KB in small pages, so that little costs little. NULL: out of memory. */
void *ty_huge_reserve(size_t n);
void ty_huge_release(void *p, size_t n); /* p: NULL, or reserved with the same n */

/* Room for `cap` elements of `size` bytes in place of *was; the first n of *v are moved. 0 or
 * -TY_ENOMEM, and nothing has changed. */
int ty_huge_grow(void **v, size_t n, size_t *was, size_t cap, size_t size);

#endif
