/* SPDX-License-Identifier: MIT */
/* Current time of a clock. */
#ifndef TY_NOW_H
#define TY_NOW_H

#include <stdint.h>
#include <time.h>

static inline uint64_t ty_now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* For timeouts and deadlines: monotonic, unaffected by clock changes. */
static inline uint64_t ty_now_ms(void)
{
	return ty_now_ns(CLOCK_MONOTONIC) / 1000000;
}

/* That much later, as waits with a timeout on CLOCK_MONOTONIC take it. */
static inline struct timespec ty_in_ms(unsigned ms)
{
	const uint64_t ns = ty_now_ns(CLOCK_MONOTONIC) + (uint64_t)ms * 1000000u;

	return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
				 .tv_nsec = (long)(ns % 1000000000u)};
}

#endif
