/* SPDX-License-Identifier: MIT */
/*
 * Streaming JSON writer over a FILE. It builds no tree, so that a dump of any length is one pass
 * (docs/design/libraries.md). The writer keeps commas and nesting.
 * Strings are written as UTF-8; invalid bytes become U+FFFD, so that the output is always valid
 * JSON. The buffer is flushed to the FILE when it is full and at the end.
 *
 * Budget: 15 instructions for a number with a literal key, plus those for its digits.
 */
#ifndef TY_JSON_OUT_H
#define TY_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "digits.h"

struct ty_json {
	FILE *f;
	char *p;    /* position of the next byte, after the comma or the bracket that opened the
		     * level */
	char *full; /* flush beyond this point: a key and a name may not fit */
	char buf[16384];
};

#define TY_JSON_KEY_MAX	  256 /* bytes of a key or of a name */
#define TY_JSON_VALUE_MAX 64  /* bytes of a number, word or sign */

void ty_json_init(struct ty_json *j, FILE *f);
/* Flushes the buffer. Call before the FILE is closed or written to by other means. */
void ty_json_fini(struct ty_json *j);
void ty_json_flush(struct ty_json *j); /* for the inline functions below only */

/* Writes what precedes a value: comma and key. The value must be a name, or shorter than
 * TY_JSON_VALUE_MAX bytes. Inline, so that the length of a literal key is a constant. */
static inline char *ty_json_lead(struct ty_json *j, const char *key)
{
	size_t n = key ? strlen(key) : 0;
	char *p;

	if (j->p > j->full)
		ty_json_flush(j);
	p = j->p;
	if (key) {
		n = n < TY_JSON_KEY_MAX ? n : TY_JSON_KEY_MAX; /* longer keys are cut; there are
								* none */
		*p++ = '"';
		memcpy(p, key, n);
		memcpy(p + n, "\":", 2);
		p += n + 2;
	}
	return p;
}

/* In an object every value is preceded by its key, which is plain ASCII without quotes; in an array
 * and at top level key is NULL. */
void ty_json_object(struct ty_json *j, const char *key);
void ty_json_array(struct ty_json *j, const char *key);
void ty_json_end_object(struct ty_json *j);
void ty_json_end_array(struct ty_json *j);
void ty_json_strn(struct ty_json *j, const char *key, const char *s, size_t n);
void ty_json_null(struct ty_json *j, const char *key);
/* s NULL: null. */
static inline void ty_json_str(struct ty_json *j, const char *key, const char *s)
{
	if (s)
		ty_json_strn(j, key, s, strlen(s));
	else
		ty_json_null(j, key);
}

/* A string constant of this program of at most TY_JSON_KEY_MAX bytes that needs no escaping. */
static inline void ty_json_name(struct ty_json *j, const char *key, const char *s, size_t n)
{
	char *p = ty_json_lead(j, key);

	n = n < TY_JSON_KEY_MAX ? n : TY_JSON_KEY_MAX;
	*p++ = '"';
	memcpy(p, s, n);
	memcpy(p + n, "\",", 2);
	j->p = p + n + 2;
}

/* A value that is JSON already, of at most 4096 bytes. */
static inline void ty_json_made(struct ty_json *j, const char *key, const char *s, size_t n)
{
	char *p = ty_json_lead(j, key);

	if ((size_t)(j->buf + sizeof(j->buf) - p) < n + 1) {
		j->p = p;
		ty_json_flush(j);
		p = j->p;
	}
	memcpy(p, s, n);
	p[n] = ',';
	j->p = p + n + 1;
}

static inline void ty_json_u64(struct ty_json *j, const char *key, uint64_t v)
{
	char *p = ty_put_dec(ty_json_lead(j, key), v);

	*p = ',';
	j->p = p + 1;
}

static inline void ty_json_i64(struct ty_json *j, const char *key, int64_t v)
{
	char *p = ty_json_lead(j, key);

	*p = '-';
	p = ty_put_dec(p + (v < 0), v < 0 ? -(uint64_t)v : (uint64_t)v);
	*p = ',';
	j->p = p + 1;
}

/* A "0x..." string. */
static inline void ty_json_hex(struct ty_json *j, const char *key, uint64_t v)
{
	char *p = ty_json_lead(j, key);

	*p = '"';
	p = ty_put_hex(p + 1, v);
	memcpy(p, "\",", 2);
	j->p = p + 2;
}

static inline void ty_json_bool(struct ty_json *j, const char *key, bool v)
{
	char *p = ty_json_lead(j, key);

	memcpy(p, v ? "true, " : "false,", 6);
	j->p = p + (v ? 5 : 6);
}

/* A number, or null. */
static inline void ty_json_u64_if(struct ty_json *j, const char *key, bool known, uint64_t v)
{
	if (known)
		ty_json_u64(j, key, v);
	else
		ty_json_null(j, key);
}

static inline void ty_json_i64_if(struct ty_json *j, const char *key, bool known, int64_t v)
{
	if (known)
		ty_json_i64(j, key, v);
	else
		ty_json_null(j, key);
}

void ty_json_f64(struct ty_json *j, const char *key, double v); /* null when not finite */
/* Ends one top-level value with a newline (a line of NDJSON, or the whole report). */
void ty_json_line(struct ty_json *j);

#endif
