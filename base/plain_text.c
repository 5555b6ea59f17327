/* SPDX-License-Identifier: MIT */
/* See plain_text.h. */
#include "plain_text.h"

#include <stdio.h>
#include <string.h>

#define EACH(b)	      ((b)*UINT64_C(0x0101010101010101))
#define MESSAGE_LIMIT (64u << 10)

/* True when all eight bytes are printable ASCII. False negatives are possible, false positives are
 * not. */
static inline bool eight_plain(const char *s)
{
	uint64_t v, del;

	memcpy(&v, s, 8);
	del = v ^ EACH(0x7f);
	return !((v | (v - EACH(0x20)) | (del - EACH(1))) & EACH(0x80));
}

unsigned ty_utf8_len(const char *text, size_t n, uint32_t *ch)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned len;
	uint32_t c, min;

	if (s[0] < 0x80) {
		*ch = s[0];
		return 1;
	}
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		len = 2, c = s[0] & 0x1f, min = 0x80;
	else if (s[0] >= 0xe0 && s[0] <= 0xef)
		len = 3, c = s[0] & 0x0f, min = 0x800;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		len = 4, c = s[0] & 0x07, min = 0x10000;
	else
		return 0;
	if (n < len)
		return 0;
	for (unsigned i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	*ch = c;
	return c < min || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) ? 0 : len;
}

bool ty_char_harmful(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || c == 0x200e || c == 0x200f ||
	       (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

void ty_plain(char *s, size_t n)
{
	size_t i = 0;

	while (i < n) {
		uint32_t ch;
		unsigned len;

		if (n - i >= 8 && eight_plain(s + i)) {
			i += 8;
			continue;
		}
		len = ty_utf8_len(s + i, n - i, &ch);
		if (!len || (ty_char_harmful(ch) && ch != '\t'))
			memset(s + i, '?', len ? len : 1);
		i += len ? len : 1;
	}
}

/* Appends s[0..n) with harmful characters written as \n, \t, \xNN (a byte) or \uNNNN. 0, or
 * -TY_E... */
static int escape(struct ty_buf *out, const char *s, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && !r;) {
		uint32_t ch;
		unsigned len = ty_utf8_len(s + i, n - i, &ch);

		if (!len)
			r = ty_buf_addf(out, "\\x%02x", (unsigned char)s[i]);
		else if (!ty_char_harmful(ch))
			r = ty_buf_add(out, s + i, len);
		else if (ch == '\n' || ch == '\t')
			r = ty_buf_adds(out, ch == '\n' ? "\\n" : "\\t");
		else
			r = ty_buf_addf(out, ch < 0x80 ? "\\x%02x" : "\\u%04x", ch);
		i += len ? len : 1;
	}
	return r;
}

void ty_vsay(const char *fmt, va_list ap)
{
	struct ty_buf text, shown;
	size_t lines = 0, n = strlen(fmt);

	ty_buf_init(&text, MESSAGE_LIMIT);
	ty_buf_init(&shown, 8 * MESSAGE_LIMIT);
	while (n && fmt[n - 1] == '\n') {
		lines++;
		n--;
	}
	if (ty_buf_vaddf(&text, fmt, ap) || text.len < lines ||
	    escape(&shown, text.p, text.len - lines)) {
		fputs("tarry: out of memory for a message\n", stderr);
	} else {
		fwrite(shown.p, 1, shown.len, stderr);
		for (; lines; lines--)
			putc('\n', stderr);
	}
	ty_buf_fini(&text);
	ty_buf_fini(&shown);
}

void ty_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	ty_vsay(fmt, ap);
	va_end(ap);
}
