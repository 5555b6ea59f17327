/* SPDX-License-Identifier: MIT */
/* See key_value.h. */
#include "key_value.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ty_key_value(const char *text, const char *key, char *out, size_t size)
{
	size_t k = strlen(key);

	for (const char *p = text; p && *p;) {
		size_t n = strcspn(p, "\n");

		if (n > k && p[k] == '=' && !memcmp(p, key, k)) {
			size_t v = n - k - 1;

			if (!size)
				return true;
			if (v >= size)
				v = size - 1;
			memcpy(out, p + k + 1, v);
			out[v] = 0;
			return true;
		}
		p += n + (p[n] == '\n');
	}
	if (size)
		out[0] = 0;
	return false;
}

bool ty_key_i64(const char *text, const char *key, int64_t *out)
{
	char t[32], *end;

	if (!ty_key_value(text, key, t, sizeof(t)) || !(*t == '-' || (*t >= '0' && *t <= '9')))
		return false;
	errno = 0;
	*out = strtoll(t, &end, 10);
	return !errno && end != t && !*end;
}
