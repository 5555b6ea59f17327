/* SPDX-License-Identifier: MIT */
/* See nth_element.h. Radix selection by bytes, from the highest byte in which the numbers differ;
 * only the bucket that holds the rank is processed further. */
#include "nth_element.h"

enum { FEW = 24, BYTE = 256 };

static void sort_few(uint64_t *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		uint64_t x = v[i];
		size_t k = i;

		for (; k && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

uint64_t ty_nth_element(uint64_t *v, size_t n, size_t k)
{
	while (n > FEW) {
		size_t count[BYTE] = {0}, to = 0;
		uint64_t differ = 0;
		unsigned shift, byte = 0;

		for (size_t i = 1; i < n; i++)
			differ |= v[i] ^ v[0];
		if (!differ)
			return v[0];
		shift = (63u - (unsigned)__builtin_clzll(differ)) & ~7u;
		for (size_t i = 0; i < n; i++)
			count[v[i] >> shift & (BYTE - 1)]++;
		while (k >= count[byte])
			k -= count[byte++];
		for (size_t i = 0; i < n; i++) {
			uint64_t x = v[i];

			if ((x >> shift & (BYTE - 1)) != byte)
				continue;
			v[i] = v[to];
			v[to++] = x;
		}
		n = to;
	}
	sort_few(v, n);
	return v[k];
}
