/* SPDX-License-Identifier: MIT */
/* The help screen: keys from the table of keys, and the meaning of the symbols. Scrolls. */
#ifndef TY_HELP_H
#define TY_HELP_H

#include "view.h"

struct ty_help {
	char find[40];	      /* only what holds this is shown; "": all */
	bool typing;	      /* keys go into it */
	int top, lines, page; /* first line shown, number of lines, lines on the screen */
	const char *note;     /* missing data of the recording; NULL */
	const char *scope;    /* a note on data that the recording cannot contain; NULL */
};

extern const struct ty_view_ops
	ty_help_ops; /* self: struct ty_help, zeroed at first but for note and scope */

#endif
