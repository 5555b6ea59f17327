/* SPDX-License-Identifier: MIT */
/* Durations by bars: each of the first 64 values has its own, then 32 per power of two. */
#ifndef TY_LOG_HISTOGRAM_H
#define TY_LOG_HISTOGRAM_H

#include <stdint.h>

#define TY_BARS ((64 - 5) * 32 + 32)

static inline unsigned ty_bar_of(uint64_t v)
{
	unsigned e = v < 64 ? 5 : 63 - (unsigned)__builtin_clzll(v);

	return (e - 5) * 32 + (unsigned)(v >> (e - 5));
}

/* The first value of a bar, and how many it stands for. */
static inline uint64_t ty_bar_begin(unsigned bar, uint64_t *width)
{
	unsigned e = bar < 64 ? 5 : bar / 32 + 4;

	*width = UINT64_C(1) << (e - 5);
	return (uint64_t)(bar - (e - 5) * 32) << (e - 5);
}

#endif
