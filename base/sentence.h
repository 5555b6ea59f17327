/* SPDX-License-Identifier: MIT */
/* Builds a sentence in a buffer of fixed size; text that does not fit is cut off. */
#ifndef TY_SENTENCE_H
#define TY_SENTENCE_H

#include <stddef.h>

struct ty_sentence {
	char *p;	/* the caller's; NUL-terminated after the first append */
	size_t size, n; /* size of the buffer, > 0; length of the text so far, < size */
};

void ty_put(struct ty_sentence *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
