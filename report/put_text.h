/* SPDX-License-Identifier: MIT */
/* Pieces of a report's text: untrusted text without control characters, and styles by meaning. */
#ifndef TY_PUT_TEXT_H
#define TY_PUT_TEXT_H

#include <stdio.h>

/* Untrusted text; a very long one ends with its first KB. */
void ty_put_plain(FILE *f, const char *s);
/* "\nname: what it is" */
void ty_put_heading(FILE *f, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A line below the heading of a table that explains its columns. */
void ty_put_note(FILE *f, const char *note);
/* Text that ends with its grade, "[proven]" or "[inferred]", which has a style of its own. */
void ty_put_graded(FILE *f, const char *s);

#endif
