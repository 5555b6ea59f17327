/* SPDX-License-Identifier: MIT */
#include "buf.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"

void ty_buf_init(struct ty_buf *b, size_t limit_bytes)
{
	/* Leave room for the closing NUL. */
	*b = (struct ty_buf){.limit = limit_bytes < SIZE_MAX ? limit_bytes : SIZE_MAX - 1};
}

void ty_buf_fini(struct ty_buf *b)
{
	free(b->p);
	*b = (struct ty_buf){.limit = b->limit};
}

void ty_buf_reset(struct ty_buf *b)
{
	b->len = 0;
	b->failed = 0;
	if (b->p)
		b->p[0] = 0;
}

int ty_buf_reserve(struct ty_buf *b, size_t n)
{
	size_t want, cap;
	char *p;

	if (b->failed)
		return b->failed;
	if (n > b->limit || b->len > b->limit - n)
		return b->failed = -TY_ELIMIT;
	want = b->len + n + 1;
	if (want <= b->cap)
		return 0;
	cap = b->cap ? b->cap : 64;
	while (cap < want)
		cap = cap > SIZE_MAX / 2 ? want : cap * 2;
	if (cap > b->limit + 1)
		cap = b->limit + 1;
	p = realloc(b->p, cap);
	if (!p)
		return b->failed = -TY_ENOMEM;
	b->p = p;
	b->cap = cap;
	return 0;
}

/* True when n bytes and a NUL fit the allocation. No check of the limit, which cap never
 * exceeds. */
static inline bool has_room(const struct ty_buf *b, size_t n)
{
	return n < b->cap - b->len && !b->failed;
}

int ty_buf_add(struct ty_buf *b, const void *p, size_t n)
{
	int r = has_room(b, n) ? 0 : ty_buf_reserve(b, n);

	if (r)
		return r;
	if (n)
		memcpy(b->p + b->len, p, n);
	b->len += n;
	b->p[b->len] = 0;
	return 0;
}

int ty_buf_adds(struct ty_buf *b, const char *s)
{
	return ty_buf_add(b, s, strlen(s));
}

int ty_buf_addc(struct ty_buf *b, char c)
{
	if (!has_room(b, 1))
		return ty_buf_add(b, &c, 1);
	b->p[b->len++] = c;
	b->p[b->len] = 0;
	return 0;
}

int ty_buf_vaddf(struct ty_buf *b, const char *fmt, va_list ap)
{
	char small[256];
	va_list again;
	int n, r;

	va_copy(again, ap);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	if (n < 0) {
		r = b->failed = -TY_EFORMAT;
	} else if ((size_t)n < sizeof(small)) {
		r = ty_buf_add(b, small, (size_t)n);
	} else if (!(r = ty_buf_reserve(b, (size_t)n))) {
		vsnprintf(b->p + b->len, (size_t)n + 1, fmt, again);
		b->len += (size_t)n;
	}
	va_end(again);
	return r;
}

int ty_buf_addf(struct ty_buf *b, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = ty_buf_vaddf(b, fmt, ap);
	va_end(ap);
	return r;
}

int ty_buf_addle(struct ty_buf *b, uint64_t v, unsigned bytes)
{
	unsigned char t[8];

	for (unsigned i = 0; i < 8; i++)
		t[i] = (unsigned char)(v >> (8 * i));
	return ty_buf_add(b, t, bytes > 8 ? 8 : bytes);
}
