/* SPDX-License-Identifier: MIT */
/* A view of scrolling lines, with a search (/, n, N), wrapped to the screen's width; a line may
 * link to a thread and time. */
#ifndef TY_PAGE_H
#define TY_PAGE_H

#include "list_find.h"
#include "vec.h"
#include "view.h"

struct ty_page_line {
	char *text;	 /* owned */
	uint8_t role;	 /* enum ty_role */
	bool link;	 /* Enter leads to: */
	uint32_t thread; /* TY_NONE: stay on the row */
	uint64_t at_ns;
	bool calls; /* its system calls are meant, not its states */
};

struct ty_page {
	char title[160];
	VEC(struct ty_page_line) lines;
	int top, at, height, width; /* first and selected line; layout of the lines */
	int head;		    /* lines of the title */
	const char *enter;	    /* footer's word for Enter; NULL: "go there" */
	const char *name, *about;   /* for its help: "Stack", and what it shows; NULL */
	bool quick;		    /* Enter while text is typed chooses, too */
	bool no_key;		    /* the last key has no effect here */
	struct ty_list_find find;
	bool chosen; /* closed by Enter on the line `at`, which has a link */
	bool failed; /* out of memory: lines are missing, and the page says so */
};

/* Removes all lines. */
void ty_page_reset(struct ty_page *p);
/* Adds a line without a link; the page displays a failure. */
void ty_page_add(struct ty_page *p, enum ty_role role, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Links the last line added to a thread and time. */
void ty_page_link(struct ty_page *p, uint32_t thread, uint64_t at_ns);

/* The last link leads to the thread's system calls. */
void ty_page_link_calls(struct ty_page *p);

extern const struct ty_view_ops ty_page_ops; /* self: struct ty_page, zeroed at first */

#endif
