/* SPDX-License-Identifier: MIT */
/*
 * The output of a command's text. On a terminal: wrapped to its width, in color, and through $PAGER
 * (less -FRX) if it is longer than the screen. Elsewhere: unchanged, unless COLUMNS sets a width.
 * JSON is written to stdout directly.
 */
#ifndef TY_TEXT_OUTPUT_H
#define TY_TEXT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "err.h"
#include "options.h"

struct ty_text_options {
	const char *color; /* NULL: auto */
	bool no_pager;
};
extern const struct ty_option ty_text_option_list[]; /* of struct ty_text_options */

struct ty_text_output {
	FILE *f;    /* to print to */
	FILE *held; /* what goes to the screen, until it is known how long it is; NULL: nothing is
		       held */
	char *text;
	size_t n;
	unsigned width, height;
};

/* Always gives an f. Switches the styles (base/text_page.h). */
void ty_text_output_open(struct ty_text_output *o, const struct ty_text_options *opts);
/* Show what is held: 0, or -TY_E... with err. After a failure of the command, too. */
int ty_text_output_close(struct ty_text_output *o, struct ty_err *err);

#endif
