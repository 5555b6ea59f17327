/* SPDX-License-Identifier: MIT */
/*
 * A growing byte buffer with a limit (the idea of curl's dynbuf): hostile input can exhaust the
 * limit, but not memory. A failed append leaves the buffer unchanged and is sticky, so that a
 * writer can append many times and check once.
 */
#ifndef TY_BUF_H
#define TY_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct ty_buf {
	char *p;      /* always NUL-terminated when not NULL */
	size_t len;   /* bytes in use, without the NUL */
	size_t cap;   /* bytes allocated */
	size_t limit; /* most bytes that it may hold */
	int failed;   /* -TY_ENOMEM or -TY_ELIMIT once an append failed, else 0 */
};

void ty_buf_init(struct ty_buf *b, size_t limit_bytes);
void ty_buf_fini(struct ty_buf *b);
/* Clears content and failure; keeps the memory. */
void ty_buf_reset(struct ty_buf *b);
/* Reserves room for n more bytes. Returns 0, -TY_ENOMEM or -TY_ELIMIT. */
int ty_buf_reserve(struct ty_buf *b, size_t n);
int ty_buf_add(struct ty_buf *b, const void *p, size_t n);
int ty_buf_adds(struct ty_buf *b, const char *s);
int ty_buf_addc(struct ty_buf *b, char c);
int ty_buf_addf(struct ty_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int ty_buf_vaddf(struct ty_buf *b, const char *fmt, va_list ap);
/* Appends v as a little-endian integer of the given width (1 to 8 bytes). */
int ty_buf_addle(struct ty_buf *b, uint64_t v, unsigned bytes);

#endif
