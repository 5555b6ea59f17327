/* SPDX-License-Identifier: MIT */
/* See plain.h. UTF-8 is told by lead and continuation bytes only: what it encodes does not matter
 * but for U+0080 to U+009F (C2 80 to C2 9F). */
#include "plain.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define EACH(b) ((b)*UINT64_C(0x0101010101010101))

/* Printable ASCII in all eight bytes? May say no when it is, never the other way round. */
static inline bool eight_plain(const char *s)
{
	uint64_t v, del;

	memcpy(&v, s, 8);
	del = v ^ EACH(0x7f);
	return !((v | (v - EACH(0x20)) | (del - EACH(1))) & EACH(0x80));
}

static bool continues(const unsigned char *s, size_t n, size_t want)
{
	if (want >= n)
		return false;
	for (size_t i = 1; i <= want; i++)
		if ((s[i] & 0xc0) != 0x80)
			return false;
	return true;
}

/* Length of what stands at s if it may stay, else 0. */
static size_t harmless(const unsigned char *s, size_t n)
{
	if (*s < 0x20 || *s == 0x7f)
		return *s == '\t';
	if (*s < 0x80)
		return 1;
	if (*s == 0xc2 && n > 1 && s[1] >= 0x80 && s[1] < 0xa0)
		return 0;
	if (*s >= 0xc2 && *s < 0xe0 && continues(s, n, 1))
		return 2;
	if (*s >= 0xe0 && *s < 0xf0 && continues(s, n, 2))
		return 3;
	if (*s >= 0xf0 && *s < 0xf5 && continues(s, n, 3))
		return 4;
	return *s >= 0xa0;
}

void ty_plain(char *s, size_t n)
{
	size_t i = 0;

	while (i < n) {
		size_t len;

		if (n - i >= 8 && eight_plain(s + i)) {
			i += 8;
			continue;
		}
		len = harmless((unsigned char *)s + i, n - i);
		if (!len)
			s[i] = '?';
		i += len ? len : 1;
	}
}
