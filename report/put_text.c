/* SPDX-License-Identifier: MIT */
/* See put_text.h. */
#include "put_text.h"

#include <stdarg.h>
#include <string.h>

#include "plain_text.h"
#include "text_page.h"

static void put(FILE *f, const char *s, size_t n)
{
	char b[1024];

	if (n >= sizeof(b))
		n = sizeof(b) - 1;
	memcpy(b, s, n);
	b[n] = 0;
	ty_plain(b, n);
	fputs(b, f);
}

void ty_put_plain(FILE *f, const char *s)
{
	put(f, s, strlen(s));
}

void ty_put_heading(FILE *f, const char *name, const char *fmt, ...)
{
	va_list ap;

	fprintf(f, "%s%s%s", ty_style(TY_STYLE_HEADING), name, ty_style(TY_STYLE_END));
	va_start(ap, fmt);
	if (*fmt)
		fputs(": ", f);
	vfprintf(f, fmt, ap);
	va_end(ap);
	putc('\n', f);
}

void ty_put_note(FILE *f, const char *note)
{
	fprintf(f, "%s%s%s\n", ty_style(TY_STYLE_NOTE), note, ty_style(TY_STYLE_END));
}

void ty_put_graded(FILE *f, const char *s)
{
	static const struct {
		const char *text;
		enum ty_style style;
	} grades[] = {{" [proven]", TY_STYLE_PROVEN}, {" [inferred]", TY_STYLE_INFERRED}};
	size_t n = strlen(s);

	for (size_t i = 0; i < sizeof(grades) / sizeof(*grades); i++) {
		size_t k = strlen(grades[i].text);

		if (n < k || strcmp(s + n - k, grades[i].text))
			continue;
		put(f, s, n - k);
		fprintf(f, " %s%s%s", ty_style(grades[i].style), grades[i].text + 1,
			ty_style(TY_STYLE_END));
		return;
	}
	put(f, s, n);
}
