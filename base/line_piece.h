/* SPDX-License-Identifier: MIT */
/* Text that is stored in pieces of limited size. */
#ifndef TY_LINE_PIECE_H
#define TY_LINE_PIECE_H

#include <stddef.h>
#include <string.h>

/* Length of the first piece of n bytes: at most `most`, up to the last newline where there is one.
 */
static inline size_t ty_line_piece(const char *text, size_t n, size_t most)
{
	const char *end = n > most ? memrchr(text, '\n', most) : NULL;

	return end ? (size_t)(end - text) + 1 : n < most ? n : most;
}

#endif
