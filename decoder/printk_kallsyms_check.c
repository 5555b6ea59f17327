/* SPDX-License-Identifier: MIT */
/* See printk_kallsyms_check.h. */
#include "printk_kallsyms_check.h"

#include <stdbool.h>
#include <string.h>

#include "err.h"

enum { LINE_BYTES = 4096, HEX_MAX = 16, FLAGS_MAX = 6, MODIFIERS_MAX = 2 };

#define HEX "0123456789abcdefABCDEF"

/* A number of 1 to 16 hexadecimal digits at *p, stepping over it. */
static bool hex(const char **p)
{
	size_t n;

	if ((*p)[0] == '0' && (*p)[1] == 'x')
		*p += 2;
	n = strspn(*p, HEX);
	*p += n;
	return n && n <= HEX_MAX;
}

/* Is every "%" of [p, end) followed by all of its directive? */
static bool directives(const char *p, const char *end)
{
	size_t n;

	for (; p < end; p++) {
		if (*p != '%')
			continue;
		if (*++p == '%')
			continue;
		n = strspn(p, "0123456789.-+ #");
		if (n > FLAGS_MAX)
			return false;
		p += n;
		n = strspn(p, "hlLzZ");
		if (n > MODIFIERS_MAX)
			return false;
		p += n;
		if (p >= end || !strchr("diuxXopsc", *p))
			return false;
	}
	return true;
}

static bool printk_line(const char *p, const char *end)
{
	if (!hex(&p))
		return false;
	p += strspn(p, " \t");
	if (*p++ != ':' || *p++ != ' ' || *p++ != '"')
		return false;
	return end - p >= 3 && end[-1] == '"' && directives(p, end - 1);
}

/* Graphic characters at *p, one at least, stepping over them. */
static bool word(const char **p, char until)
{
	const char *from = *p;

	while (**p > ' ' && **p != until)
		(*p)++;
	return *p > from;
}

static bool kallsyms_line(const char *p, const char *end)
{
	if (!hex(&p) || *p++ != ' ' || *p <= ' ')
		return false;
	p++;
	if (*p++ != ' ' || !word(&p, 0))
		return false;
	if (*p == '\t' && p[1] == '[') {
		p += 2;
		if (!word(&p, ']') || *p++ != ']')
			return false;
	}
	return p == end;
}

static int lines(const char *text, bool (*good)(const char *, const char *), struct ty_buf *out)
{
	for (const char *p = text, *end; *p; p = *end ? end + 1 : end) {
		end = p + strcspn(p, "\n");
		if (end - p <= LINE_BYTES && good(p, end))
			ty_buf_addf(out, "%.*s\n", (int)(end - p), p);
	}
	return out->failed ? -TY_ENOMEM : 0;
}

int ty_printk_lines(const char *text, struct ty_buf *out)
{
	return lines(text, printk_line, out);
}

int ty_kallsyms_lines(const char *text, struct ty_buf *out)
{
	return lines(text, kallsyms_line, out);
}
