/* SPDX-License-Identifier: MIT */
#include "vec.h"

#include "huge_alloc.h"

/* Arrays of so many bytes are moved to huge pages, once they are; larger ones grow in place. */
enum { HUGE_MIN = 2 << 20, HUGE_MAX = 16 << 20 };

int ty_vec_grow(void **v, size_t *cap, size_t want, size_t size)
{
	size_t n = *cap ? *cap : size < 16 ? 16 : 4, bytes;
	void *p;

	while (n < want) {
		if (n > SIZE_MAX / 2)
			return -TY_ENOMEM;
		n *= 2;
	}
	if (__builtin_mul_overflow(n, size, &bytes))
		return -TY_ENOMEM;
	if (bytes >= HUGE_MIN && bytes <= HUGE_MAX)
		return ty_huge_grow(v, *cap, cap, n, size);
	p = realloc(*v, bytes);
	if (!p)
		return -TY_ENOMEM;
	*v = p;
	*cap = n;
	return 0;
}

void ty_vec_trim(void **v, size_t *cap, size_t n, size_t size)
{
	void *p = n && n < *cap ? realloc(*v, n * size) : NULL;

	if (!p)
		return;
	*v = p;
	*cap = n;
}

void ty_vec_sort(void *v, size_t n, size_t size, int (*order)(const void *, const void *))
{
	const char *p = v;

	for (size_t i = 1; i < n; i++, p += size)
		if (order(p, p + size) > 0) {
			qsort(v, n, size, order);
			return;
		}
}
