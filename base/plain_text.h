/* SPDX-License-Identifier: MIT */
/*
 * Untrusted text (names, text of files, options) is made safe for a terminal. Harmful are control
 * characters (U+0000 to U+001F, U+007F to U+009F), bidirectional controls (U+061C, U+200E, U+200F,
 * U+202A to U+202E, U+2066 to U+2069), and bytes that are not valid UTF-8 (RFC 3629).
 */
#ifndef TY_PLAIN_TEXT_H
#define TY_PLAIN_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

/* Length of the well-formed UTF-8 sequence at s[0..n), n > 0, and its character; 0 when it is
 * malformed. */
unsigned ty_utf8_len(const char *s, size_t n, uint32_t *ch);
/* True for control and bidirectional control characters, including TAB and newline. */
bool ty_char_harmful(uint32_t ch);
/* Replaces each harmful byte but TAB by '?', in place. Budget: 1 ns per 8 bytes of ASCII. */
void ty_plain(char *s, size_t n);
/*
 * Prints a message on stderr, as printf does, with all harmful bytes escaped except newlines at the
 * end of fmt. For messages that quote untrusted text.
 */
void ty_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void ty_vsay(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

#endif
