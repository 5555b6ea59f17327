/* SPDX-License-Identifier: MIT */
/* Histogram of durations: one bar for each of the first 64 values, then 32 bars per power of
 * two. */
#ifndef TY_LOG_HISTOGRAM_H
#define TY_LOG_HISTOGRAM_H

#include <stdint.h>

#define TY_BARS ((64 - 5) * 32 + 32)

static inline unsigned ty_bar_of(uint64_t v)
{
	unsigned e = v < 64 ? 5 : 63 - (unsigned)__builtin_clzll(v);

	return (e - 5) * 32 + (unsigned)(v >> (e - 5));
}

/* First value of a bar, and the number of values it covers. */
static inline uint64_t ty_bar_begin(unsigned bar, uint64_t *width)
{
	unsigned e = bar < 64 ? 5 : bar / 32 + 4;

	*width = UINT64_C(1) << (e - 5);
	return (uint64_t)(bar - (e - 5) * 32) << (e - 5);
}

#endif
