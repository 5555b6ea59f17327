/* SPDX-License-Identifier: MIT */
/*
 * Streaming JSON writer over a FILE: no tree in memory, so that a dump of any length is one pass.
 * (jansson builds trees only; see docs/architecture.md.) Commas and nesting are kept by the writer.
 * Strings are written as UTF-8; invalid bytes become U+FFFD, so that the output is always JSON, and
 * what is harmful in a terminal (plain.h) is escaped.
 */
#ifndef TY_JSON_OUT_H
#define TY_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ty_json {
	FILE *f;
	unsigned depth;
	uint64_t comma; /* bit d: something was written at depth d */
};

void ty_json_init(struct ty_json *j, FILE *f);
/* In an object every value is preceded by its key; in an array and at top level key is NULL. */
void ty_json_object(struct ty_json *j, const char *key);
void ty_json_array(struct ty_json *j, const char *key);
void ty_json_end_object(struct ty_json *j);
void ty_json_end_array(struct ty_json *j);
void ty_json_str(struct ty_json *j, const char *key, const char *s);
void ty_json_strn(struct ty_json *j, const char *key, const char *s, size_t n);
void ty_json_u64(struct ty_json *j, const char *key, uint64_t v);
void ty_json_i64(struct ty_json *j, const char *key, int64_t v);
void ty_json_f64(struct ty_json *j, const char *key, double v); /* not finite: null */
void ty_json_bool(struct ty_json *j, const char *key, bool v);
void ty_json_null(struct ty_json *j, const char *key);
/* A "0x..." string. */
void ty_json_hex(struct ty_json *j, const char *key, uint64_t v);
/* End one top-level value with a newline (NDJSON line, or the report's document). */
void ty_json_line(struct ty_json *j);

#endif
