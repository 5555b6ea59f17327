/* SPDX-License-Identifier: MIT */
/* Line editing of typed UTF-8: the effect of a key. */
#ifndef TY_INPUT_LINE_H
#define TY_INPUT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ty_input_key { TY_INPUT_IGNORED, TY_INPUT_CHANGED, TY_INPUT_ENTERED, TY_INPUT_CANCELLED };

/* text: the input so far, NUL-terminated, in size bytes. A character that does not fit is
 * ignored. */
enum ty_input_key ty_input_line_key(char *text, size_t size, uint32_t key);
/* The same of a prompt, which Enter and Esc close. */
enum ty_input_key ty_input_prompt_key(bool *open, char *text, size_t size, uint32_t key);

#endif
