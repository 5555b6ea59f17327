/* SPDX-License-Identifier: MIT */
/* The search of a list of lines: the text, as it is typed, and the line that holds it, in either
 * case. */
#ifndef TY_LIST_FIND_H
#define TY_LIST_FIND_H

#include <stdbool.h>

#include "input_line.h"

struct ty_list_find {
	char text[60]; /* "": nothing is searched for */
	bool typing;   /* keys go into it */
	int from;      /* the line at which typing began */
};

/* Typing begins, at this line of the list. */
void ty_list_find_start(struct ty_list_find *f, int at);
/* The effect of a key while the text is typed: Enter and Esc end that, Esc drops the text, too. */
enum ty_input_key ty_list_find_key(struct ty_list_find *f, uint32_t key);
bool ty_list_find_is(const struct ty_list_find *f, const char *line); /* line NULL: false */
/* Among n lines: the first one from `from` on that holds the text, forward (by 1) or backward (-1),
 * round the end; -1: none. line(ctx, i): its text until the next call; NULL. */
int ty_list_find_next(const struct ty_list_find *f, int n, int from, int by,
		      const char *(*line)(void *ctx, int i), void *ctx);

#endif
