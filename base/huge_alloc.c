/* SPDX-License-Identifier: MIT */
#include "huge_alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE (2u << 20)

void *ty_huge_alloc(size_t n)
{
	void *p;

	if (n < 2 * HUGE_PAGE || n > SIZE_MAX - HUGE_PAGE)
		return malloc(n);
	n = (n + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	p = aligned_alloc(HUGE_PAGE, n);
	if (p)
		(void)madvise(p, n, MADV_HUGEPAGE); /* failure only costs speed */
	return p;
}
