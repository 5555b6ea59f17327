/* SPDX-License-Identifier: MIT */
/* Lines of source files that are on this machine, for who shows code. The files last asked for are
 * kept. Not thread-safe. */
#ifndef TY_SOURCE_TEXT_H
#define TY_SOURCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "texts.h"

struct ty_source_text;

/* roots: directories that hold the traced machine's files, looked at first; borrowed. NULL: out of
 * memory. */
struct ty_source_text *ty_source_text_new(const struct ty_texts *roots);
void ty_source_text_free(struct ty_source_text *s);
/*
 * Line `line` (1..) of the source file at this path, made plain (plain_text.h), without its
 * indentation, into out. False: there is no such regular file of 16 MB at most, the path is not
 * absolute, or the file is shorter. *newer: the file was written after `program` (a path; NULL: not
 * known), so that the line may be another one.
 */
bool ty_source_text_line(struct ty_source_text *s, const char *path, int line, const char *program,
			 char *out, size_t n, bool *newer);

#endif
