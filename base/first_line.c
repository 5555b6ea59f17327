/* SPDX-License-Identifier: MIT */
/* See first_line.h. */
#include "first_line.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool ty_first_line(char *out, size_t size, const char *fmt, ...)
{
	char path[PATH_MAX];
	FILE *f = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(path))
		f = fopen(path, "re");
	if (!f || !fgets(out, (int)size, f))
		*out = 0;
	if (f)
		fclose(f);
	out[strcspn(out, "\n")] = 0;
	return *out;
}
