/* SPDX-License-Identifier: MIT */
#include "json_out.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "plain.h"

void ty_json_init(struct ty_json *j, FILE *f)
{
	*j = (struct ty_json){.f = f};
}

static void string(FILE *f, const char *s, size_t n)
{
	const char *end = s + n;

	putc_unlocked('"', f);
	while (s < end) {
		uint32_t ch;
		unsigned len;

		if (*s >= ' ' && *s < 0x7f && *s != '"' && *s != '\\') {
			putc_unlocked(*s++, f);
			continue;
		}
		len = ty_utf8_len(s, (size_t)(end - s), &ch);
		if (!len) {
			fputs("\\ufffd", f);
			s++;
		} else if (*s == '"' || *s == '\\') {
			putc_unlocked('\\', f);
			putc_unlocked(*s++, f);
		} else if (ty_char_harmful(ch)) {
			fprintf(f, "\\u%04x", ch);
			s += len;
		} else {
			while (len--)
				putc_unlocked(*s++, f);
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
