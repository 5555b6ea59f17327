/* SPDX-License-Identifier: MIT */
/* See key_value.h. */
#include "key_value.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ty_key_next(const char **text, const char *key, const char **value, size_t *n)
{
	size_t k = strlen(key);

	for (const char *p = *text; p && *p;) {
		size_t len = strcspn(p, "\n");
		const char *line = p;

		p += len + (p[len] == '\n');
		if (len > k && line[k] == '=' && !memcmp(line, key, k)) {
			*text = p;
			*value = line + k + 1;
			*n = len - k - 1;
			return true;
		}
	}
	return false;
}

bool ty_key_numbers(const char *value, size_t n, uint64_t *v, unsigned count)
{
	char line[80], *p = line;

	if (n >= sizeof(line))
		return false;
	memcpy(line, value, n);
	line[n] = 0;
	for (unsigned i = 0; i < count; i++) {
		char *end;

		v[i] = strtoull(p, &end, 10);
		if (end == p)
			return false;
		p = end;
	}
	return true;
}

bool ty_key_value(const char *text, const char *key, char *out, size_t size)
{
	const char *v;
	size_t n;

	if (size)
		out[0] = 0;
	if (!ty_key_next(&text, key, &v, &n))
		return false;
	if (size)
		snprintf(out, size, "%.*s", (int)n, v);
	return true;
}

uint64_t ty_key_u64(const char *text, const char *key)
{
	char v[32];

	return ty_key_value(text, key, v, sizeof(v)) ? strtoull(v, NULL, 10) : 0;
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

int ty_key_add_ranges(struct ty_buf *out, const char *key, const int *v, size_t n)
{
	int r = 0;

	for (size_t i = 0, k; !r && i < n; i = k) {
		for (k = i + 1; k < n && v[k] == v[k - 1] + 1; k++)
			;
		r = ty_buf_addf(out, "%s=%d %d\n", key, v[i], v[k - 1]);
	}
	return r;
}
