/* SPDX-License-Identifier: MIT */
#include "json_out.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void ty_json_init(struct ty_json *j, FILE *f)
{
	*j = (struct ty_json){.f = f};
}

/* Bytes of the well-formed UTF-8 sequence at s (RFC 3629), 0 when there is none. */
static unsigned utf8_len(const unsigned char *s, size_t n)
{
	unsigned len, min;
	uint32_t c;

	if (s[0] < 0x80)
		return 1;
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
	return c < min || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) ? 0 : len;
}

static void string(FILE *f, const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s, *end = p + n;

	putc_unlocked('"', f);
	while (p < end) {
		unsigned len = utf8_len(p, (size_t)(end - p));

		if (!len) {
			fputs("\\ufffd", f);
			p++;
		} else if (*p == '"' || *p == '\\') {
			putc_unlocked('\\', f);
			putc_unlocked(*p++, f);
		} else if (*p < 0x20 || *p == 0x7f) {
			fprintf(f, "\\u%04x", *p++);
		} else {
			while (len--)
				putc_unlocked(*p++, f);
		}
	}
	putc_unlocked('"', f);
}

static void lead(struct ty_json *j, const char *key)
{
	uint64_t bit = UINT64_C(1) << (j->depth & 63);

	if (j->comma & bit)
		putc_unlocked(',', j->f);
	j->comma |= bit;
	if (key) {
		string(j->f, key, strlen(key));
		putc_unlocked(':', j->f);
	}
}

static void open_level(struct ty_json *j, const char *key, char c)
{
	lead(j, key);
	putc_unlocked(c, j->f);
	j->depth++;
	j->comma &= ~(UINT64_C(1) << (j->depth & 63));
}

static void close_level(struct ty_json *j, char c)
{
	j->depth--;
	putc_unlocked(c, j->f);
}

void ty_json_object(struct ty_json *j, const char *key)
{
	open_level(j, key, '{');
}

void ty_json_array(struct ty_json *j, const char *key)
{
	open_level(j, key, '[');
}

void ty_json_end_object(struct ty_json *j)
{
	close_level(j, '}');
}

void ty_json_end_array(struct ty_json *j)
{
	close_level(j, ']');
}

void ty_json_strn(struct ty_json *j, const char *key, const char *s, size_t n)
{
	lead(j, key);
	string(j->f, s, n);
}

void ty_json_str(struct ty_json *j, const char *key, const char *s)
{
	ty_json_strn(j, key, s, strlen(s));
}

void ty_json_u64(struct ty_json *j, const char *key, uint64_t v)
{
	lead(j, key);
	fprintf(j->f, "%" PRIu64, v);
}

void ty_json_i64(struct ty_json *j, const char *key, int64_t v)
{
	lead(j, key);
	fprintf(j->f, "%" PRId64, v);
}

void ty_json_f64(struct ty_json *j, const char *key, double v)
{
	lead(j, key);
	if (isfinite(v))
		fprintf(j->f, "%.9g", v);
	else
		fputs("null", j->f);
}

void ty_json_bool(struct ty_json *j, const char *key, bool v)
{
	lead(j, key);
	fputs(v ? "true" : "false", j->f);
}

void ty_json_null(struct ty_json *j, const char *key)
{
	lead(j, key);
	fputs("null", j->f);
}

void ty_json_hex(struct ty_json *j, const char *key, uint64_t v)
{
	lead(j, key);
	fprintf(j->f, "\"0x%" PRIx64 "\"", v);
}

void ty_json_line(struct ty_json *j)
{
	putc_unlocked('\n', j->f);
	j->comma = 0;
}
