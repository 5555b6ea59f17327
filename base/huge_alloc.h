/* SPDX-License-Identifier: MIT */
/* Memory for large arrays: in huge pages where the system has them, because a virtual machine may
 * take 10 us for every small one that is touched first. */
#ifndef TY_HUGE_ALLOC_H
#define TY_HUGE_ALLOC_H

#include <stddef.h>

/* n bytes, not cleared, to be given back by free(); NULL: out of memory. */
void *ty_huge_alloc(size_t n);

#endif
