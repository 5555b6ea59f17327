/* SPDX-License-Identifier: MIT */
/* Number formatting for hot paths, where printf costs too much. All functions return the position
 * after the number. */
#ifndef TY_DIGITS_H
#define TY_DIGITS_H

#include <stdint.h>

/* Each function may write this many bytes, including scratch bytes after the number. */
#define TY_DIGITS_MAX 20

char *ty_put_big_dec(char *p, uint64_t v);
static inline char *ty_put_dec(char *p, uint64_t v)
{
	if (v >= 10)
		return ty_put_big_dec(p, v);
	*p = (char)('0' + v);
	return p + 1;
}

/* Right-aligned in `width` columns (9 at most), filled up with `fill`; wider where it is longer. */
static inline char *ty_put_right(char *p, uint64_t v, unsigned width, char fill)
{
	uint64_t most = 10;

	for (unsigned n = 1; n < width; n++, most *= 10)
		if (v < most)
			*p++ = fill; /* one for each digit that is missing */
	return ty_put_dec(p, v);
}

/* "0x1f"; zero is "0x0". */
char *ty_put_hex(char *p, uint64_t v);

#endif
