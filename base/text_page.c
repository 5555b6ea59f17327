/* SPDX-License-Identifier: MIT */
/* See text_page.h. */
#include "text_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "buf.h"
#include "plain_text.h"

#define LINE_MAX_BYTES (1 << 20) /* a longer line is written in pieces */
#define FURTHEST_OUT   4
#define ESC	       '\033'

static bool styles;

void ty_styles_switch(bool on)
{
	styles = on;
}

const char *ty_style(enum ty_style s)
{
	static const char *const text[TY_STYLES] = {
		[TY_STYLE_END] = "\033[m",	[TY_STYLE_HEADING] = "\033[1m",
		[TY_STYLE_STRONG] = "\033[1m",	[TY_STYLE_NOTE] = "\033[2m",
		[TY_STYLE_PROVEN] = "\033[32m", [TY_STYLE_INFERRED] = "\033[33m",
		[TY_STYLE_LOSS] = "\033[1;31m", [TY_STYLE_NEXT] = "\033[36m"};

	return styles ? text[s] : "";
}

/* Bytes of the character or the style at s[0..n), n > 0, and the columns that it takes. */
static size_t step(const char *s, size_t n, unsigned *columns)
{
	uint32_t ch;
	size_t len;
	int w;

	if (*s == ESC) {
		const char *m = memchr(s, 'm', n);

		*columns = 0;
		return m ? (size_t)(m - s) + 1 : n;
	}
	len = ty_utf8_len(s, n, &ch);
	w = len > 1 ? wcwidth((wchar_t)ch) : 1;
	*columns = w < 0 ? 1 : (unsigned)w;
	return len ? len : 1;
}

static unsigned columns_of(const char *s, size_t n)
{
	unsigned all = 0, w;

	for (size_t i = 0; i < n; all += w)
		i += step(s + i, n - i, &w);
	return all;
}

/* Where the rest of a line that is too long begins: behind the last two blanks in its first half,
 * which separate columns; else a little further in than the line. */
static unsigned hang_of(const char *s, size_t n, unsigned width)
{
	unsigned at = 0, blanks = 0, hang = 0, first = 0, w;
	bool begun = false;

	for (size_t i = 0; i < n && at <= width / 2;) {
		size_t k = step(s + i, n - i, &w);

		if (s[i] == ' ') {
			blanks++;
		} else if (w) {
			if (!begun)
				first = at;
			else if (blanks > 1)
				hang = at;
			begun = true;
			blanks = 0;
		}
		i += k;
		at += w;
	}
	return hang ? hang : first + 2 < width / 2 ? first + 2 : 0;
}

/* Of a name that is longer than a line: bytes up to the last place in its first `room` columns
 * where it may be divided, as C++ names may and paths may not; 0: none. */
static size_t joint(const char *s, size_t n, unsigned room)
{
	unsigned at = 0, w;
	size_t best = 0;

	for (size_t i = 0; i < n && s[i] != '/';) { /* a path begins there */
		const bool ends = s[i] == ',' || s[i] == '<' || s[i] == '(' ||
				  (s[i] == ':' && i && s[i - 1] == ':');

		i += step(s + i, n - i, &w);
		at += w;
		if (at > room)
			break;
		if (ends && i < n && s[i] != ':')
			best = i;
	}
	return best;
}

struct page {
	FILE *to;
	struct ty_buf line; /* not ended yet */
	unsigned width;
};

static int put_line(const struct page *p, const char *s, size_t n)
{
	unsigned hang, in, at = 0;
	size_t from = 0;

	if (!p->width || n <= p->width || columns_of(s, n) <= p->width)
		return fwrite(s, 1, n, p->to) == n ? 0 : -1;
	hang = hang_of(s, n, p->width);
	/* The blanks at the start, then words with the blanks before them. */
	while (from < n) {
		size_t blanks = strspn(s + from, " "), end;
		unsigned wide;

		if (from + blanks > n)
			blanks = n - from;
		for (end = from + blanks; end < n && s[end] != ' ';)
			end++;
		wide = columns_of(s + from + blanks, end - from - blanks);
		if (wide > p->width) {
			const char *word = s + from + blanks;
			const unsigned used = at + (unsigned)blanks;
			size_t k = joint(word, end - from - blanks,
					 used < p->width ? p->width - used : 0);

			k = k ?: joint(word, end - from - blanks, p->width - hang);
			end = k ? from + blanks + k : end;
			wide = columns_of(word, end - from - blanks);
		}
		/* One that is too long for there (a path) begins further out. It is not cut: it can
		 * be copied. */
		in = hang + wide <= p->width ? hang
		     : wide <= p->width	     ? p->width - wide
					     : FURTHEST_OUT;
		in = in < hang ? in : hang;
		if (wide && at > in && (at > hang || in < hang) && at + blanks + wide > p->width) {
			fprintf(p->to, "\n%*s", (int)in, "");
			at = in;
		} else {
			fprintf(p->to, "%*s", (int)blanks, "");
			at += (unsigned)blanks;
		}
		fwrite(s + from + blanks, 1, end - from - blanks, p->to);
		at += wide;
		from = end;
	}
	return ferror(p->to) ? -1 : 0;
}

static ssize_t page_write(void *cookie, const char *s, size_t n)
{
	struct page *p = cookie;

	for (size_t i = 0; i < n;) {
		const char *end = memchr(s + i, '\n', n - i);
		size_t len = end ? (size_t)(end - s) - i : n - i;

		if (len > LINE_MAX_BYTES) {
			len = LINE_MAX_BYTES;
			end = NULL;
		}
		if (ty_buf_add(&p->line, s + i, len)) {
			errno = ENOMEM;
			return -1;
		}
		i += len;
		if (!end && p->line.len < LINE_MAX_BYTES)
			continue;
		if (put_line(p, p->line.p ? p->line.p : "", p->line.len) ||
		    (end && putc('\n', p->to) == EOF))
			return -1;
		p->line.len = 0;
		i += end != NULL;
	}
	return (ssize_t)n;
}

static int page_close(void *cookie)
{
	struct page *p = cookie;
	int r = p->line.len ? put_line(p, p->line.p, p->line.len) : 0;

	ty_buf_fini(&p->line);
	free(p);
	return r;
}

FILE *ty_page_open(FILE *to, unsigned width)
{
	struct page *p = calloc(1, sizeof(*p));
	FILE *f;

	if (!p)
		return NULL;
	p->to = to;
	p->width = width;
	ty_buf_init(&p->line, 2 * LINE_MAX_BYTES);
	f = fopencookie(p, "w", (cookie_io_functions_t){.write = page_write, .close = page_close});
	if (!f)
		free(p);
	return f;
}

size_t ty_page_rows(const char *s, size_t n, unsigned width)
{
	size_t rows = 0;

	for (size_t i = 0; i < n;) {
		const char *end = memchr(s + i, '\n', n - i);
		size_t len = end ? (size_t)(end - s) - i : n - i;
		unsigned wide = columns_of(s + i, len);

		rows += wide > width ? (wide + width - 1) / width : 1;
		i += len + 1;
	}
	return rows;
}
