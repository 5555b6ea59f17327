/* SPDX-License-Identifier: MIT */
/* "key=value" lines: tarry's MACHINE and SELF sections (section.h). */
#ifndef TY_KEY_VALUE_H
#define TY_KEY_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

/*
 * The lines of a key that repeats, one per call: *text is where to look on (the whole text at
 * first, then left as the call before put it; NULL: none). *value is borrowed and n bytes long, not
 * NUL-terminated. False when there is no further line.
 */
bool ty_key_next(const char **text, const char *key, const char **value, size_t *n);
/* The first `count` whole numbers of such a value, with blanks between; false: it does not begin
 * with so many, or is 80 bytes and longer. */
bool ty_key_numbers(const char *value, size_t n, uint64_t *v, unsigned count);
/* The first value of a key, up to the end of its line (cut to fit), into out; false and "" when
 * text is NULL or has no such line. */
bool ty_key_value(const char *text, const char *key, char *out, size_t size);
/* The same as a whole decimal number; false when there is none or it does not fit. */
bool ty_key_i64(const char *text, const char *key, int64_t *out);
/* The decimal number that a value begins with; 0 when there is none. */
uint64_t ty_key_u64(const char *text, const char *key);
/* Append what that reads: "KEY=FROM TO" lines, the ranges of n numbers in order. As ty_buf_addf. */
int ty_key_add_ranges(struct ty_buf *out, const char *key, const int *v, size_t n);

#endif
