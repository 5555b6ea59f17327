/* SPDX-License-Identifier: MIT */
/* Fields of the lines in tarry's sections (tarry.dat(5)): TAB, newline and backslash are escaped as
 * \t, \n and \\. */
#ifndef TY_FIELD_TEXT_H
#define TY_FIELD_TEXT_H

#include "buf.h"

/* Appends s[0..n), escaped. 0, or -TY_ENOMEM / -TY_ELIMIT. */
int ty_escape_field(struct ty_buf *out, const char *s, size_t n);
/* Unescapes into out[size], truncated to fit and NUL-terminated (unless size is 0). Returns the
 * bytes before the NUL, never more than n. */
size_t ty_unescape_field(const char *s, size_t n, char *out, size_t size);

#endif
