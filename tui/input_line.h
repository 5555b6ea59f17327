/* SPDX-License-Identifier: MIT */
/* A line of UTF-8 that is typed: what a key does to it. */
#ifndef TY_INPUT_LINE_H
#define TY_INPUT_LINE_H

#include <stddef.h>
#include <stdint.h>

enum ty_input_key { TY_INPUT_IGNORED, TY_INPUT_CHANGED, TY_INPUT_ENTERED, TY_INPUT_CANCELLED };

/* text: what was typed so far, ended by NUL, in size bytes. A character that does not fit is
 * ignored. */
enum ty_input_key ty_input_line_key(char *text, size_t size, uint32_t key);

#endif
