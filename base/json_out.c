/* SPDX-License-Identifier: MIT */
#include "json_out.h"

#include <math.h>

#include "plain_text.h"

void ty_json_init(struct ty_json *j, FILE *f)
{
	j->f = f;
	j->p = j->buf;
	j->full = j->buf + sizeof(j->buf) - (2 * TY_JSON_KEY_MAX + TY_JSON_VALUE_MAX);
}

/* Flushes all but the last byte, which may be a comma that a closing bracket replaces. */
void ty_json_flush(struct ty_json *j)
{
	size_t n = (size_t)(j->p - j->buf);

	if (n < 2)
		return;
	fwrite_unlocked(j->buf, 1, n - 1, j->f); /* the caller checks ferror() */
	j->buf[0] = j->p[-1];
	j->p = j->buf + 1;
}

void ty_json_fini(struct ty_json *j)
{
	fwrite_unlocked(j->buf, 1, (size_t)(j->p - j->buf), j->f);
	j->p = j->buf;
}

/* Makes room for n bytes, fewer than the buffer's size. */
static inline void room(struct ty_json *j, size_t n)
{
	if ((size_t)(j->buf + sizeof(j->buf) - j->p) < n)
		ty_json_flush(j);
}

static inline void put(struct ty_json *j, const char *s, size_t n)
{
	memcpy(j->p, s, n);
	j->p += n;
}

static void string(struct ty_json *j, const char *s, size_t n)
{
	const char *end = s + n;

	*j->p++ = '"';
	while (s < end) {
		uint32_t ch;
		unsigned len;

		room(j, 16);
		if (*s >= ' ' && *s < 0x7f && *s != '"' && *s != '\\') {
			*j->p++ = *s++;
			continue;
		}
		len = ty_utf8_len(s, (size_t)(end - s), &ch);
		if (!len) {
			put(j, "\\ufffd", 6);
			s++;
		} else if (*s == '"' || *s == '\\') {
			*j->p++ = '\\';
			*j->p++ = *s++;
		} else if (ty_char_harmful(ch)) {
			j->p += snprintf(j->p, 16, "\\u%04x", ch);
			s += len;
		} else {
			put(j, s, len);
			s += len;
		}
	}
	*j->p++ = '"';
	*j->p++ = ',';
}

static void open_level(struct ty_json *j, const char *key, char c)
{
	j->p = ty_json_lead(j, key);
	*j->p++ = c;
}

static void close_level(struct ty_json *j, char c)
{
	room(j, 2);
	j->p -= j->p[-1] == ',';
	*j->p++ = c;
	*j->p++ = ',';
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
	j->p = ty_json_lead(j, key);
	string(j, s, n);
}

void ty_json_f64(struct ty_json *j, const char *key, double v)
{
	j->p = ty_json_lead(j, key);
	if (isfinite(v))
		j->p += snprintf(j->p, TY_JSON_VALUE_MAX, "%.9g", v);
	else
		put(j, "null", 4);
	*j->p++ = ',';
}

void ty_json_null(struct ty_json *j, const char *key)
{
	j->p = ty_json_lead(j, key);
	put(j, "null,", 5);
}

void ty_json_line(struct ty_json *j)
{
	j->p[-1] = '\n'; /* replaces the comma of the value */
}
