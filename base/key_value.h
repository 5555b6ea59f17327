/* SPDX-License-Identifier: MIT */
/* "key=value" lines: tarry's MACHINE and SELF sections (section.h). */
#ifndef TY_KEY_VALUE_H
#define TY_KEY_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

/*
 * Iterates over the lines of a repeated key, one per call. *text is the position: the whole text at
 * first, then as the previous call left it; NULL is an empty text. *value is borrowed, n bytes long
 * and not NUL-terminated. False when there is no further line.
 */
bool ty_key_next(const char **text, const char *key, const char **value, size_t *n);
/* Parses the first `count` integers of such a value, separated by blanks. False when it does not
 * begin with that many, or has 80 bytes or more. */
bool ty_key_numbers(const char *value, size_t n, uint64_t *v, unsigned count);
/* The first value of a key, up to the end of its line, copied into out (truncated to fit). False
 * and "" when text is NULL or has no such line. */
bool ty_key_value(const char *text, const char *key, char *out, size_t size);
/* The same as a decimal integer. False when there is none or it is out of range. */
bool ty_key_i64(const char *text, const char *key, int64_t *out);
/* The decimal number at the start of the value; 0 when there is none. */
uint64_t ty_key_u64(const char *text, const char *key);
/* Appends the lines that ty_key_next reads: "KEY=FROM TO", the ranges of n ascending numbers.
 * Errors as ty_buf_addf. */
int ty_key_add_ranges(struct ty_buf *out, const char *key, const int *v, size_t n);

#endif
