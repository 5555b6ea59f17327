/* SPDX-License-Identifier: MIT */
/* Memory for large arrays, in huge pages where available: in a virtual machine the first touch of
 * each small page can cost 10 us. */
#ifndef TY_HUGE_ALLOC_H
#define TY_HUGE_ALLOC_H

#include <stddef.h>

/* Allocates n bytes, not cleared; release with free(). NULL: out of memory. */
void *ty_huge_alloc(size_t n);

#endif
