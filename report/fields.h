/* SPDX-License-Identifier: MIT */
/*
 * One table of fields for a kind of record, written down once: the same rows print it as a line of
 * a text table and as a JSON object.
 */
#ifndef TY_FIELDS_H
#define TY_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "json_out.h"

enum ty_field_type {
	TY_F_END,      /* of a table */
	TY_F_U64,      /* uint64_t; text with thousands separated; UINT64_MAX: unknown */
	TY_F_DIGITS,   /* uint64_t; text without separators */
	TY_F_U32,      /* uint32_t; UINT32_MAX: unknown */
	TY_F_I32,      /* int32_t */
	TY_F_ID,       /* int32_t; negative: unknown */
	TY_F_F64,      /* double; text with one decimal; NaN: unknown */
	TY_F_DURATION, /* uint64_t of nanoseconds; UINT64_MAX: unknown */
	TY_F_ELAPSED,  /* uint64_t of nanoseconds; text: 0 is "-" */
	TY_F_INSTANT,  /* uint64_t of the trace clock; text by ctx's clock; UINT64_MAX: unknown */
	TY_F_BOOL,     /* bool; text: the heading's word where it is true, else nothing */
	TY_F_STR,      /* const char *; NULL: unknown */
	TY_F_CHARS,    /* char [] */
	TY_F_HEX,      /* uint64_t; "0x..." in both; UINT64_MAX: unknown */
	TY_F_TEXT,     /* the result of `text`; NULL: unknown */
	TY_F_OBJECT,   /* const void *, a record of the table `of`; NULL: unknown; JSON only */
};

struct ty_field {
	enum ty_field_type type;
	const char *key;  /* JSON; NULL: in text only */
	const char *head; /* the column's heading; NULL: in JSON only */
	int width;	  /* of the column, to the right; negative: to the left; 0: the rest */
	size_t at;	  /* where the value lies in the record */
	signed char gap;  /* blanks before the column; 0: 2 (none before the first); -1: none */
	bool optional;	  /* unknown or false: not a member of the JSON object */
	const struct ty_field *of; /* OBJECT */
	/* TEXT: in buf or constant, for the record. */
	const char *(*text)(const void *ctx, const void *record, char *buf, size_t n);
};

struct ty_field_ctx {
	const void *ctx; /* for `text` */
	/* What instants need: text of one, in buf. */
	const char *(*instant)(const void *ctx, uint64_t t_ns, char *buf, size_t n);
	uint32_t hide; /* columns of the text that are left out: bit i of the i-th */
};

/* The headings, as a line. */
void ty_fields_head(const struct ty_field *fields, const struct ty_field_ctx *c, FILE *f);
/* One record as a line. What is unknown is "-". */
void ty_fields_text(const struct ty_field *fields, const struct ty_field_ctx *c, const void *record,
		    FILE *f);
/* Its members, into an object that is open: null where a value is unknown. */
void ty_fields_json(const struct ty_field *fields, const struct ty_field_ctx *c, const void *record,
		    struct ty_json *j);
/* The same as an object of its own, in an array. */
void ty_fields_object(const struct ty_field *fields, const struct ty_field_ctx *c,
		      const void *record, struct ty_json *j);
/* n records of `size` bytes: an array of objects. */
void ty_fields_array(const struct ty_field *fields, const struct ty_field_ctx *c, const char *key,
		     const void *records, size_t n, size_t size, struct ty_json *j);

#endif
