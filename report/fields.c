/* SPDX-License-Identifier: MIT */
/* See fields.h. */
#include "fields.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "plain_text.h"
#include "units.h"

#define VALUE_MAX 2048

/* A field's value, whatever its size. */
union value {
	uint64_t u64;
	uint32_t u32;
	int32_t i32;
	double f64;
	bool b;
	const char *s;
};

static union value value_of(const struct ty_field *d, const struct ty_field_ctx *c,
			    const void *record, char *buf)
{
	const char *at = (const char *)record + d->at;
	union value v = {0};

	switch (d->type) {
	case TY_F_U32:
	case TY_F_I32:
	case TY_F_ID: memcpy(&v, at, 4); break;
	case TY_F_BOOL: memcpy(&v, at, sizeof(bool)); break;
	case TY_F_CHARS: v.s = at; break;
	case TY_F_TEXT: v.s = d->text(c->ctx, record, buf, VALUE_MAX); break;
	default: memcpy(&v, at, 8); break;
	}
	return v;
}

static bool is_known(const struct ty_field *d, union value v)
{
	switch (d->type) {
	case TY_F_U64:
	case TY_F_DURATION:
	case TY_F_HEX:
	case TY_F_INSTANT: return v.u64 != UINT64_MAX;
	case TY_F_U32: return v.u32 != UINT32_MAX;
	case TY_F_ID: return v.i32 >= 0;
	case TY_F_F64: return !isnan(v.f64);
	case TY_F_STR:
	case TY_F_TEXT:
	case TY_F_OBJECT: return v.s;
	default: return true;
	}
}

/* text ---------------------------------------------------------------------------------------- */

/* One column: the value, or its heading. */
static void put(FILE *f, const struct ty_field *d, bool first, bool last, const char *s)
{
	const int gap = d->gap ? d->gap : first ? 0 : 2;
	char b[VALUE_MAX];

	snprintf(b, sizeof(b), "%s", s);
	ty_plain(b, strlen(b));
	for (char *tab = b; (tab = strchr(tab, '\t'));)
		*tab = '?'; /* columns are aligned by blanks */
	fprintf(f, "%*s%*s%s", gap > 0 ? gap : 0, "", last && d->width <= 0 ? 0 : d->width, b,
		last ? "\n" : "");
}

static const char *text_of(const struct ty_field *d, const struct ty_field_ctx *c,
			   const void *record, char *buf)
{
	const union value v = value_of(d, c, record, buf);

	if (!is_known(d, v))
		return "-";
	switch (d->type) {
	case TY_F_U64: return ty_fmt_count(v.u64, buf);
	case TY_F_DIGITS: snprintf(buf, VALUE_MAX, "%" PRIu64, v.u64); return buf;
	case TY_F_U32: snprintf(buf, VALUE_MAX, "%" PRIu32, v.u32); return buf;
	case TY_F_I32:
	case TY_F_ID: snprintf(buf, VALUE_MAX, "%" PRId32, v.i32); return buf;
	case TY_F_F64: snprintf(buf, VALUE_MAX, "%.1f", v.f64); return buf;
	case TY_F_ELAPSED: return v.u64 ? ty_fmt_duration(v.u64, buf) : "-";
	case TY_F_DURATION: return ty_fmt_duration(v.u64, buf);
	case TY_F_INSTANT: return c->instant(c->ctx, v.u64, buf, VALUE_MAX);
	case TY_F_BOOL: return v.b ? d->head : "";
	case TY_F_STR:
	case TY_F_CHARS:
	case TY_F_TEXT: return v.s;
	case TY_F_HEX: snprintf(buf, VALUE_MAX, "0x%" PRIx64, v.u64); return buf;
	case TY_F_OBJECT:
	case TY_F_END: break;
	}
	return "";
}

/* record NULL: the headings. */
static void put_line(const struct ty_field *d, const struct ty_field_ctx *c, const void *record,
		     FILE *f)
{
	const struct ty_field *shown[32];
	unsigned n = 0, column = 0;
	char buf[VALUE_MAX];

	for (; d->type != TY_F_END; d++)
		if (d->head && !(c->hide >> column++ & 1))
			shown[n++] = d;
	for (unsigned i = 0; i < n; i++)
		put(f, shown[i], !i, i == n - 1,
		    record ? text_of(shown[i], c, record, buf) : shown[i]->head);
}

void ty_fields_head(const struct ty_field *fields, const struct ty_field_ctx *c, FILE *f)
{
	put_line(fields, c, NULL, f);
}

void ty_fields_text(const struct ty_field *fields, const struct ty_field_ctx *c, const void *record,
		    FILE *f)
{
	put_line(fields, c, record, f);
}

/* JSON ---------------------------------------------------------------------------------------- */

static void put_json(const struct ty_field *d, const struct ty_field_ctx *c, const void *record,
		     struct ty_json *j)
{
	char buf[VALUE_MAX];
	const union value v = value_of(d, c, record, buf);

	if (!is_known(d, v) || (d->optional && d->type == TY_F_BOOL && !v.b)) {
		if (!d->optional)
			ty_json_null(j, d->key);
		return;
	}
	switch (d->type) {
	case TY_F_U64:
	case TY_F_DIGITS:
	case TY_F_DURATION:
	case TY_F_ELAPSED:
	case TY_F_INSTANT: ty_json_u64(j, d->key, v.u64); break;
	case TY_F_U32: ty_json_u64(j, d->key, v.u32); break;
	case TY_F_I32:
	case TY_F_ID: ty_json_i64(j, d->key, v.i32); break;
	case TY_F_F64: ty_json_f64(j, d->key, v.f64); break;
	case TY_F_BOOL: ty_json_bool(j, d->key, v.b); break;
	case TY_F_STR:
	case TY_F_CHARS:
	case TY_F_TEXT: ty_json_str(j, d->key, v.s); break;
	case TY_F_HEX: ty_json_hex(j, d->key, v.u64); break;
	case TY_F_OBJECT:
		ty_json_object(j, d->key);
		ty_fields_json(d->of, c, v.s, j);
		ty_json_end_object(j);
		break;
	case TY_F_END: break;
	}
}

void ty_fields_json(const struct ty_field *fields, const struct ty_field_ctx *c, const void *record,
		    struct ty_json *j)
{
	for (const struct ty_field *d = fields; d->type != TY_F_END; d++)
		if (d->key)
			put_json(d, c, record, j);
}

void ty_fields_object(const struct ty_field *fields, const struct ty_field_ctx *c,
		      const void *record, struct ty_json *j)
{
	ty_json_object(j, NULL);
	ty_fields_json(fields, c, record, j);
	ty_json_end_object(j);
}

void ty_fields_array(const struct ty_field *fields, const struct ty_field_ctx *c, const char *key,
		     const void *records, size_t n, size_t size, struct ty_json *j)
{
	ty_json_array(j, key);
	for (size_t i = 0; i < n; i++)
		ty_fields_object(fields, c, (const char *)records + i * size, j);
	ty_json_end_array(j);
}
