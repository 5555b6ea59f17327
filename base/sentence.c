/* SPDX-License-Identifier: MIT */
/* See sentence.h. */
#include "sentence.h"

#include <stdarg.h>
#include <stdio.h>

void ty_put(struct ty_sentence *s, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(s->p + s->n, s->size - s->n, fmt, ap);
	va_end(ap);
	if (n > 0)
		s->n += (size_t)n < s->size - s->n ? (size_t)n : s->size - s->n - 1;
}
