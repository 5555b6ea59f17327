/* SPDX-License-Identifier: MIT */
/* Histograms of durations: of `bits`, one bar for each of the first 2 << bits values, then 1 <<
 * bits bars per power of two. Most have 5. */
#ifndef TY_LOG_HISTOGRAM_H
#define TY_LOG_HISTOGRAM_H

#include <stdint.h>

#define TY_BARS_OF(bits) ((65u - (bits)) << (bits))
#define TY_BARS		 TY_BARS_OF(5)

static inline unsigned ty_bar_in(uint64_t v, unsigned bits)
{
	unsigned e = v >> bits > 1 ? 63 - (unsigned)__builtin_clzll(v) : bits;

	return ((e - bits) << bits) + (unsigned)(v >> (e - bits));
}

/* First value of a bar, and the number of values it covers. */
static inline uint64_t ty_bar_first(unsigned bar, unsigned bits, uint64_t *width)
{
	unsigned e = bar >> bits > 1 ? (bar >> bits) - 1 : 0;

	*width = UINT64_C(1) << e;
	return (uint64_t)(bar - (e << bits)) << e;
}

static inline unsigned ty_bar_of(uint64_t v)
{
	return ty_bar_in(v, 5);
}

static inline uint64_t ty_bar_begin(unsigned bar, uint64_t *width)
{
	return ty_bar_first(bar, 5, width);
}

#endif
