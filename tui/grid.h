/* SPDX-License-Identifier: MIT */
/*
 * A screen of cells, independent of any terminal: views write to it, term.c displays it, and it can
 * be dumped as text for tests. A two-column character occupies its cell and leaves the next one
 * with ch 0. Overwriting half of such a character blanks the other half; writes outside the grid
 * are clipped.
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

/* Creates a blank grid of w x h (1..TY_GRID_MAX each). 0, -TY_ENOMEM or -TY_ELIMIT. */
int ty_grid_init(struct ty_grid *g, int w, int h);
void ty_grid_fini(struct ty_grid *g);
void ty_grid_clear(struct ty_grid *g);

/* The cell at (x, y); NULL outside. */
struct ty_gcell *ty_grid_at(const struct ty_grid *g, int x, int y);
/* Puts one character; returns its columns (0: clipped, or zero width). */
int ty_grid_put(struct ty_grid *g, int x, int y, uint32_t ch, struct ty_style st);
void ty_grid_fill(struct ty_grid *g, int x, int y, int w, int h, uint32_t ch, struct ty_style st);
/* Applies background and attributes of st to existing cells (bg default: keeps theirs). */
void ty_grid_tint(struct ty_grid *g, int x, int y, int w, struct ty_style st);

/*
 * Writes UTF-8 text of at most max columns; returns the columns used. Invalid bytes and control
 * characters become '?', characters without width are omitted.
 */
int ty_grid_text(struct ty_grid *g, int x, int y, int max, const char *s, struct ty_style st);
/* As ty_grid_text; text that does not fit ends in an ellipsis of one column ('~' without UTF-8). */
int ty_grid_elide(struct ty_grid *g, const struct ty_palette *p, int x, int y, int max,
		  const char *s, struct ty_style st);
/* Wraps text at blanks to at most `lines` lines of w columns, lines after the first indented by
 * two; returns the lines used. g NULL: counts only. */
int ty_grid_wrap(struct ty_grid *g, const struct ty_palette *p, int x, int y, int lines, int w,
		 const char *s, struct ty_style st);
/* The same without its first `first` lines: at most `lines` following ones, the first at y. */
int ty_grid_wrap_from(struct ty_grid *g, const struct ty_palette *p, int x, int y, int first,
		      int lines, int w, const char *s, struct ty_style st);
/* A typed line from x to the end of the row, with a cursor; a long one shows its end. */
void ty_grid_input(struct ty_grid *g, int x, int y, const char *s, struct ty_style st);
/* Columns that s occupies. */
int ty_text_width(const char *s);
/* Length in bytes of the first line when s is wrapped at max columns, at a blank if possible (0:
 * not even one character fits); *cols: its columns. */
size_t ty_text_break(const char *s, int max, int *cols);

/* Returns the next code point of *s (not at its NUL) and advances; '?' for an invalid byte. */
uint32_t ty_utf8_next(const char **s);

/*
 * Appends the grid as lines, trailing blanks removed. With p NULL or without colours: plain text.
 * Without UTF-8 in p other characters become '?'.
 */
int ty_grid_dump(const struct ty_grid *g, const struct ty_palette *p, struct ty_buf *out);

#endif
