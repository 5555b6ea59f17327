/* SPDX-License-Identifier: MIT */
/* A sentence that is put together in a buffer of fixed size; what has no room is cut off. */
#ifndef TY_SENTENCE_H
#define TY_SENTENCE_H

#include <stddef.h>

struct ty_sentence {
	char *p;	/* the caller's; ends with a NUL from the first part on */
	size_t size, n; /* of the buffer, > 0; of the text so far, < size */
};

void ty_put(struct ty_sentence *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
