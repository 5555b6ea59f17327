/* SPDX-License-Identifier: MIT */
/* Text of a file is no terminal control. */
#ifndef TY_PLAIN_H
#define TY_PLAIN_H

#include <stddef.h>

/*
 * In place: every byte that a terminal may take for a command becomes '?': control bytes (escape,
 * newline, delete...; a TAB stays) and the control characters U+0080 to U+009F, in UTF-8 or as lone
 * bytes. Other text stays as it is, whatever its encoding. Budget: 1 ns per 8 bytes of ASCII.
 */
void ty_plain(char *s, size_t n);

#endif
