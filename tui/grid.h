/* SPDX-License-Identifier: MIT */
/*
 * A screen as cells, apart from any terminal: views write into it, term.c shows it, and it can be
 * dumped as text, so that a screen is testable without a terminal. A character of two columns
 * takes its cell and leaves the next one with ch 0. Writing over half of such a character blanks
 * the other half; writing outside the grid is clipped.
 */
#ifndef TY_GRID_H
#define TY_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"
#include "palette.h"

struct ty_gcell {
	uint32_t ch; /* code point; 0: right half of the character before */
	struct ty_style st;
};

struct ty_grid {
	struct ty_gcell *cells;
	int w, h;
};

#define TY_GRID_MAX 2000 /* columns, rows */

/* A blank grid of w x h (1..TY_GRID_MAX each). 0, -TY_ENOMEM or -TY_ELIMIT. */
int ty_grid_init(struct ty_grid *g, int w, int h);
void ty_grid_fini(struct ty_grid *g);
void ty_grid_clear(struct ty_grid *g);

/* The cell at (x, y); NULL outside. */
struct ty_gcell *ty_grid_at(const struct ty_grid *g, int x, int y);
/* One character; returns its columns (0: clipped, or it takes none). */
int ty_grid_put(struct ty_grid *g, int x, int y, uint32_t ch, struct ty_style st);
void ty_grid_fill(struct ty_grid *g, int x, int y, int w, int h, uint32_t ch, struct ty_style st);
/* Style over what is there: background and attributes of st (bg default: keeps the cells' own). */
void ty_grid_tint(struct ty_grid *g, int x, int y, int w, struct ty_style st);

/*
 * UTF-8 text in at most max columns; returns the columns used. Invalid bytes and control
 * characters are shown as '?', characters without width are left out.
 */
int ty_grid_text(struct ty_grid *g, int x, int y, int max, const char *s, struct ty_style st);
/* As ty_grid_text; text that does not fit ends in an ellipsis ("..." would cost three columns: one
 * character, '~' where the palette has no UTF-8). */
int ty_grid_elide(struct ty_grid *g, const struct ty_palette *p, int x, int y, int max,
		  const char *s, struct ty_style st);
/* Text over at most `lines` lines of w columns, broken at blanks, those behind the first set in by
 * two; returns the lines used. g NULL: counts only. */
int ty_grid_wrap(struct ty_grid *g, const struct ty_palette *p, int x, int y, int lines, int w,
		 const char *s, struct ty_style st);
/* The same without its first `first` lines: of so many at most the following ones, the first of
 * them at y. */
int ty_grid_wrap_from(struct ty_grid *g, const struct ty_palette *p, int x, int y, int first,
		      int lines, int w, const char *s, struct ty_style st);
/* A typed line from x to the end of the row, with a cursor; a long one shows its end. */
void ty_grid_input(struct ty_grid *g, int x, int y, const char *s, struct ty_style st);
/* Columns that s takes. */
int ty_text_width(const char *s);
/* The bytes of s for a line of at most max columns, broken at a blank where there is one (0: not
 * even one character fits); *cols: the columns they take. */
size_t ty_text_break(const char *s, int max, int *cols);

/* The next code point of *s (not at its NUL), stepping over it; '?' for an invalid byte. */
uint32_t ty_utf8_next(const char **s);

/*
 * The grid as lines, blank ends cut, each with a newline. With p NULL or without colours: plain
 * text. Without UTF-8 in p other characters become '?'.
 */
int ty_grid_dump(const struct ty_grid *g, const struct ty_palette *p, struct ty_buf *out);

#endif
