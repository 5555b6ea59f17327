/* SPDX-License-Identifier: MIT */
/* A view of scrolling lines, with a search (/, n, N), wrapped to the screen's width; a line may
 * link to a thread and time. */
#ifndef TY_PAGE_H
#define TY_PAGE_H

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
	const char *enter;	    /* footer's word for Enter; NULL: "go there" */
	char find[60];		    /* text that is looked for; "": none */
	bool typing;		    /* it is being typed */
	int find_from;		    /* the line at which typing began */
	bool chosen;		    /* closed by Enter on the line `at`, which has a link */
	bool failed;		    /* out of memory: lines are missing, and the page says so */
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

/* A line of help: the effect of two actions' keys (b TY_ACT_NONE: of one action's). */
struct ty_page_key {
	enum ty_action a, b;
	const char *what;
};
/* Fills a help page: its title, n lines of keys, a blank line, lines_n lines of text. */
void ty_page_help(struct ty_page *p, const char *title, const struct ty_page_key *keys, size_t n,
		  const char *const *lines, size_t lines_n);

extern const struct ty_view_ops ty_page_ops; /* self: struct ty_page, zeroed at first */

#endif
