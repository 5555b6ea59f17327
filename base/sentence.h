/* SPDX-License-Identifier: MIT */
/* Builds a sentence in a buffer of fixed size; text that does not fit is cut off. */
#ifndef TY_SENTENCE_H
#define TY_SENTENCE_H

#include <stddef.h>
#include <string.h>

struct ty_sentence {
	char *p;	/* the caller's; NUL-terminated after the first append */
	size_t size, n; /* size of the buffer, > 0; length of the text so far, < size */
};

void ty_put(struct ty_sentence *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same behind the text in out[0..size). */
#define ty_put_behind(out, size, ...)                                                              \
	({                                                                                         \
		char *out_ = (out);                                                                \
		ty_put(&(struct ty_sentence){out_, (size), strlen(out_)}, __VA_ARGS__);            \
	})
/* Instead of it. */
#define ty_put_instead(out, size, ...) ty_put(&(struct ty_sentence){(out), (size), 0}, __VA_ARGS__)

#endif
