/* SPDX-License-Identifier: MIT */
/* See fields.h. */
#include "fields.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "plain_text.h"
#include "units.h"

#define VALUE_MAX 320

static void put(FILE *f, int width, const char *s, bool last)
{
	char b[VALUE_MAX];

	snprintf(b, sizeof(b), "%s", s);
	ty_plain(b, strlen(b));
	if (last && width <= 0)
		fputs(b, f);
	else
		fprintf(f, "%*s", width, b);
	fputs(last ? "\n" : "  ", f);
}

static const struct ty_field *next_shown(const struct ty_field *d)
{
	while (d->type != TY_F_END && !d->head)
		d++;
	return d->type == TY_F_END ? NULL : d;
}

void ty_fields_head(const struct ty_field *fields, FILE *f)
{
	for (const struct ty_field *d = next_shown(fields), *n; d; d = n) {
		n = next_shown(d + 1);
		put(f, d->width, d->head, !n);
	}
}

static const char *value(const struct ty_field *d, const struct ty_field_ctx *c, const void *record,
			 char *buf)
{
	const char *p = (const char *)record + d->at, *s;

	switch (d->type) {
	case TY_F_U64: return ty_fmt_count(*(const uint64_t *)(const void *)p, buf);
	case TY_F_U32:
		if (*(const uint32_t *)(const void *)p == UINT32_MAX)
			return "-";
		snprintf(buf, VALUE_MAX, "%" PRIu32, *(const uint32_t *)(const void *)p);
		return buf;
	case TY_F_I32:
		snprintf(buf, VALUE_MAX, "%" PRId32, *(const int32_t *)(const void *)p);
		return buf;
	case TY_F_DURATION:
		if (*(const uint64_t *)(const void *)p == UINT64_MAX)
			return "-";
		return ty_fmt_duration(*(const uint64_t *)(const void *)p, buf);
	case TY_F_INSTANT:
		return c->instant(c->ctx, *(const uint64_t *)(const void *)p, buf, VALUE_MAX);
	case TY_F_BOOL: return *(const bool *)p ? d->head : "";
	case TY_F_TEXT: s = d->text(c->ctx, record, buf, VALUE_MAX); return s ? s : "-";
	case TY_F_END: break;
	}
	return "";
}

void ty_fields_text(const struct ty_field *fields, const struct ty_field_ctx *c, const void *record,
		    FILE *f)
{
	char buf[VALUE_MAX];

	for (const struct ty_field *d = next_shown(fields), *n; d; d = n) {
		n = next_shown(d + 1);
		put(f, d->width, value(d, c, record, buf), !n);
	}
}

void ty_fields_json(const struct ty_field *fields, const struct ty_field_ctx *c, const void *record,
		    struct ty_json *j)
{
	char buf[VALUE_MAX];

	for (const struct ty_field *d = fields; d->type != TY_F_END; d++) {
		const char *p = (const char *)record + d->at, *s;

		if (!d->key)
			continue;
		switch (d->type) {
		case TY_F_DURATION:
			if (*(const uint64_t *)(const void *)p == UINT64_MAX) {
				ty_json_null(j, d->key);
				break;
			}
			__attribute__((fallthrough));
		case TY_F_U64:
		case TY_F_INSTANT:
			ty_json_u64(j, d->key, *(const uint64_t *)(const void *)p);
			break;
		case TY_F_U32:
			if (*(const uint32_t *)(const void *)p == UINT32_MAX)
				ty_json_null(j, d->key);
			else
				ty_json_u64(j, d->key, *(const uint32_t *)(const void *)p);
			break;
		case TY_F_I32: ty_json_i64(j, d->key, *(const int32_t *)(const void *)p); break;
		case TY_F_BOOL: ty_json_bool(j, d->key, *(const bool *)p); break;
		case TY_F_TEXT:
			s = d->text(c->ctx, record, buf, sizeof(buf));
			if (s)
				ty_json_str(j, d->key, s);
			else
				ty_json_null(j, d->key);
			break;
		case TY_F_END: break;
		}
	}
}
