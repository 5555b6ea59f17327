/* SPDX-License-Identifier: MIT */
/* "key=value" lines: tarry's MACHINE and SELF sections (section.h). */
#ifndef TY_KEY_VALUE_H
#define TY_KEY_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first value of a key, up to the end of its line (cut to fit), into out; false and "" when
 * text is NULL or has no such line. */
bool ty_key_value(const char *text, const char *key, char *out, size_t size);
/* The same as a whole decimal number; false when there is none or it does not fit. */
bool ty_key_i64(const char *text, const char *key, int64_t *out);

#endif
