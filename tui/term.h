/* SPDX-License-Identifier: MIT */
/*
 * The terminal: displays grids, reads input. The only file that uses ncurses. The terminal is
 * restored on close, on stop and continue (Ctrl-Z, fg), and on fatal signals.
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
	TY_INPUT_RESIZE, /* or continued after a stop: read the size, redraw everything */
	TY_INPUT_END	 /* a termination signal, or the terminal disappeared */
};
struct ty_input {
	enum ty_input_what what;
	uint32_t key;
	struct ty_mouse mouse;
	int signal; /* END: the signal; SIGHUP when the terminal was closed */
};

struct ty_term;

/* Takes over the terminal of stdin/stdout. Only one at a time. 0, -TY_EUNSUPPORTED (terminal
 * unknown to terminfo), -TY_ESYS. */
int ty_term_open(struct ty_term **out, struct ty_err *err);
void ty_term_close(struct ty_term *t); /* NULL: nothing */
/* Number of colours, for ty_palette_detect. */
int ty_term_colors(const struct ty_term *t);
void ty_term_size(const struct ty_term *t, int *w, int *h);
/* Displays g: the changes since the last grid; everything if afresh. */
void ty_term_show(struct ty_term *t, const struct ty_grid *g, const struct ty_palette *p,
		  bool afresh);
/* Reads the next input; NONE when there was none within wait_ms milliseconds (-1: no limit). */
struct ty_input ty_term_read(struct ty_term *t, int wait_ms);

#endif
