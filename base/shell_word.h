/* SPDX-License-Identifier: MIT */
/* Quotes a word for a shell. */
#ifndef TY_SHELL_WORD_H
#define TY_SHELL_WORD_H

#include <stddef.h>

/* s as it is where it needs no quotes, else in single quotes. out: holds any word of up to
 * (size - 3) / 4 bytes; a longer one that does not fit becomes `instead`, never a part of itself.
 * Returns out. */
const char *ty_shell_word(const char *s, const char *instead, char *out, size_t size);
/* Commands that a text proposes ("see tarry report FILE ledger") name the file at hand: the word
 * FILE behind "tarry" and a verb, in place. Where there is no room it stays. */
void ty_shell_name_file(char *text, size_t size, const char *file);

#endif
