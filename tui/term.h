/* SPDX-License-Identifier: MIT */
/*
 * The terminal: shows grids, gives input. The only door to ncurses. The terminal is restored on
 * close, on stop and continue (Ctrl-Z, fg), and when the program dies of a fatal signal.
 */
#ifndef TY_TERM_H
#define TY_TERM_H

#include <stdbool.h>

#include "err.h"
#include "grid.h"
#include "palette.h"
#include "view.h"

enum ty_input_what {
	TY_INPUT_NONE,
	TY_INPUT_KEY,
	TY_INPUT_MOUSE,
	TY_INPUT_RESIZE, /* or came back from a stop: ask for the size, draw everything */
	TY_INPUT_END	 /* a signal asked to end, or the terminal is gone */
};
struct ty_input {
	enum ty_input_what what;
	uint32_t key;
	struct ty_mouse mouse;
	int signal; /* END: the signal; SIGHUP when the terminal is gone */
};

struct ty_term;

/* Take the terminal of stdin/stdout over. Only one at a time. 0, -TY_EUNSUPPORTED (terminal
 * unknown to terminfo), -TY_ESYS. */
int ty_term_open(struct ty_term **out, struct ty_err *err);
void ty_term_close(struct ty_term *t); /* NULL: nothing */
/* Number of colours, for ty_palette_detect. */
int ty_term_colors(const struct ty_term *t);
void ty_term_size(const struct ty_term *t, int *w, int *h);
/* Show g: what changed since the last one; all of it with afresh. */
void ty_term_show(struct ty_term *t, const struct ty_grid *g, const struct ty_palette *p,
		  bool afresh);
/* The next input; NONE when there was none for so many milliseconds (-1: waits for ever). */
struct ty_input ty_term_read(struct ty_term *t, int wait_ms);

#endif
