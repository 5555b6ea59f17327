/* SPDX-License-Identifier: MIT */
/* See field_text.h. */
#include "field_text.h"

#include <stdbool.h>

int ty_escape_field(struct ty_buf *out, const char *s, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && !r; i++) {
		switch (s[i]) {
		case '\t': r = ty_buf_adds(out, "\\t"); break;
		case '\n': r = ty_buf_adds(out, "\\n"); break;
		case '\\': r = ty_buf_adds(out, "\\\\"); break;
		default: r = ty_buf_addc(out, s[i]);
		}
	}
	return r;
}

size_t ty_unescape_field(const char *s, size_t n, char *out, size_t size)
{
	size_t len = 0;

	for (size_t i = 0; i < n && len + 1 < size; i++) {
		bool escaped = s[i] == '\\' && i + 1 < n;

		i += escaped;
		out[len++] = (char)(!escaped	  ? s[i]
				    : s[i] == 't' ? '\t'
				    : s[i] == 'n' ? '\n'
						  : s[i]);
	}
	if (size)
		out[len] = 0;
	return len;
}
