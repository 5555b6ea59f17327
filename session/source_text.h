/* SPDX-License-Identifier: MIT */
/* Lines of source files on this machine, for views that show code. Recently used files are cached.
 * Not thread-safe. */
#ifndef TY_SOURCE_TEXT_H
#define TY_SOURCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "texts.h"

struct ty_source_text;

/* roots: directories with the traced machine's files, searched first; borrowed. NULL: out of
 * memory. */
struct ty_source_text *ty_source_text_new(const struct ty_texts *roots);
void ty_source_text_free(struct ty_source_text *s);
/*
 * Copies line `line` (1..) of the source file at this path to out, made plain (plain_text.h),
 * without its indentation. False: there is no such regular file of at most 16 MB, the path is not
 * absolute, or the file is shorter. *newer: the file was modified after `program` (a path; NULL:
 * unknown), so the line may have changed.
 */
bool ty_source_text_line(struct ty_source_text *s, const char *path, int line, const char *program,
			 char *out, size_t n, bool *newer);

#endif
