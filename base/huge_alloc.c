/* SPDX-License-Identifier: MIT */
#include "huge_alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "err.h"

#define HUGE_PAGE (2u << 20)
#define SMALL	  (256u << 10)

void *ty_huge_alloc(size_t n)
{
	void *p;

	if (n < HUGE_PAGE || n > SIZE_MAX - HUGE_PAGE)
		return malloc(n);
	n = (n + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	p = aligned_alloc(HUGE_PAGE, n);
	if (p)
		(void)madvise(p, n, MADV_HUGEPAGE); /* failure only costs speed */
	return p;
}

void *ty_huge_table(size_t n)
{
	const size_t pages = (n + HUGE_PAGE - 1) & -(size_t)HUGE_PAGE;
	void *p = n < HUGE_PAGE ? malloc(n) : pages >= n ? aligned_alloc(HUGE_PAGE, pages) : NULL;

	if (p && n >= HUGE_PAGE)
		(void)madvise(p, pages, MADV_HUGEPAGE);
	return p ? memset(p, 0, n) : NULL;
}

void *ty_huge_reserve(size_t n)
{
	const int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	uint8_t *p = mmap(NULL, n + HUGE_PAGE, PROT_READ | PROT_WRITE, kind, -1, 0), *from;

	if (p == MAP_FAILED)
		return NULL;
	from = (uint8_t *)(((uintptr_t)p + SMALL + HUGE_PAGE - 1) & -(uintptr_t)HUGE_PAGE) - SMALL;
	if (from > p)
		(void)munmap(p, (size_t)(from - p));
	if (from < p + HUGE_PAGE)
		(void)munmap(from + n, (size_t)(p + HUGE_PAGE - from));
	if (n > SMALL)
		(void)madvise(from + SMALL, n - SMALL, MADV_HUGEPAGE);
	return from;
}

void ty_huge_release(void *p, size_t n)
{
	if (p)
		(void)munmap(p, n);
}

int ty_huge_grow(void **v, size_t n, size_t *was, size_t cap, size_t size)
{
	void *more = ty_huge_alloc(cap * size);

	if (!more)
		return -TY_ENOMEM;
	if (n)
		memcpy(more, *v, n * size);
	free(*v);
	*v = more;
	*was = cap;
	return 0;
}
