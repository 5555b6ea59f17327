/* SPDX-License-Identifier: MIT */
/* The help screen, scrolling: of the timeline the table of keys and the meaning of the symbols; of
 * another page its topic. */
#ifndef TY_HELP_H
#define TY_HELP_H

#include "list_find.h"
#include "view.h"

struct ty_help {
	struct ty_list_find find;   /* only what holds this is shown */
	int top, lines, page;	    /* first line shown, number of lines, lines on the screen */
	struct ty_help_topic topic; /* of a page; title NULL: of the timeline */
	const char *note;	    /* missing data of the recording; NULL */
	const char *scope;	    /* a note on data that the recording cannot contain; NULL */
};

extern const struct ty_view_ops
	ty_help_ops; /* self: struct ty_help, zeroed at first but for topic, note and scope */

#endif
