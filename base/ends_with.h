/* SPDX-License-Identifier: MIT */
#ifndef TY_ENDS_WITH_H
#define TY_ENDS_WITH_H

#include <stdbool.h>
#include <string.h>

static inline bool ty_ends_with(const char *s, const char *end)
{
	const size_t n = strlen(s), k = strlen(end);

	return n >= k && !memcmp(s + n - k, end, k);
}

#endif
