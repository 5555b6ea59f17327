/* SPDX-License-Identifier: MIT */
/*
 * A stream for text that people read: long lines break at words, and the rest of a line begins
 * where its last column began; styles by meaning. Styles are sequences of the terminal, which take
 * no columns; where they are switched off they are "".
 */
#ifndef TY_TEXT_PAGE_H
#define TY_TEXT_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A stream whose lines are written to `to` (which stays open), broken so that they take at most
 * width columns; a longer word stays whole, but for a name with joints (, < ( ::) before any slash.
 * width 0: lines stay as they are. fclose writes the rest and fails where `to` did. NULL: out of
 * memory. */
FILE *ty_page_open(FILE *to, unsigned width);
/* How many lines a terminal of that width takes to show the text. */
size_t ty_page_rows(const char *s, size_t n, unsigned width);

enum ty_style {
	TY_STYLE_END, /* of any */
	TY_STYLE_HEADING,
	TY_STYLE_STRONG,   /* the number that matters */
	TY_STYLE_NOTE,	   /* explanations */
	TY_STYLE_PROVEN,   /* recorded */
	TY_STYLE_INFERRED, /* concluded */
	TY_STYLE_LOSS,	   /* lost or unknown */
	TY_STYLE_NEXT,	   /* a command to type */
	TY_STYLES
};
/* For the process; off at first. */
void ty_styles_switch(bool on);
const char *ty_style(enum ty_style s);

#endif
