/* SPDX-License-Identifier: MIT */
/* The help screen: keys from the one table, and what the signs mean. Scrolls. */
#ifndef TY_HELP_H
#define TY_HELP_H

#include "view.h"

struct ty_help {
	int top, lines, page; /* first line shown, lines in all, lines on the screen */
	const char *note;     /* what is missing in the recording; NULL */
	const char *scope;    /* what it could not tell; NULL */
};

extern const struct ty_view_ops
	ty_help_ops; /* self: struct ty_help, zeroed at first but for note and scope */

#endif
