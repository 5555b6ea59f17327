/* SPDX-License-Identifier: MIT */
/*
 * The window of time that is on the screen: pan, zoom, undo, redo. Always inside the recording,
 * never shorter than min_ns (or the recording, when that is shorter). Steps of one kind in
 * a row are undone together.
 */
#ifndef TY_VIEWPORT_H
#define TY_VIEWPORT_H

#include <stdbool.h>
#include <stdint.h>

#define TY_VIEW_MIN_NS 2000u
#define TY_VIEW_UNDO   64

/* What else belongs to a view; its owner keeps `here` up to date and finds it back after undo. */
struct ty_place {
	uint64_t cursor_ns;
	uint32_t row_id;
	uint8_t row_kind;
};

struct ty_view_at {
	uint64_t from_ns, to_ns;
	struct ty_place place;
};

enum ty_move { TY_MOVE_NONE, TY_MOVE_PAN, TY_MOVE_ZOOM, TY_MOVE_JUMP };

struct ty_viewport {
	uint64_t start_ns, end_ns; /* the recording; start < end */
	uint64_t from_ns, to_ns;   /* the window [from, to) */
	uint64_t min_ns;	   /* TY_VIEW_MIN_NS, unless the owner sets another value */
	struct ty_place here;
	struct ty_view_at undo[TY_VIEW_UNDO]; /* oldest are forgotten */
	struct ty_view_at redo[TY_VIEW_UNDO]; /* undone changes; cleared by the next move */
	unsigned undo_n, redo_n;
	enum ty_move last;
};

/* The whole recording. An empty one is given one nanosecond. */
void ty_viewport_init(struct ty_viewport *v, uint64_t start_ns, uint64_t end_ns);

/* Show [from, to), cut and shifted to fit. */
void ty_viewport_jump(struct ty_viewport *v, uint64_t from_ns, uint64_t to_ns);
/* Length times num/den, the instant at_ns staying at its place on the screen. */
void ty_viewport_zoom(struct ty_viewport *v, uint64_t at_ns, unsigned num, unsigned den);
/* Shifts by delta ns, within the recording. */
void ty_viewport_pan(struct ty_viewport *v, int64_t delta_ns);
/* A move that belongs to the one before (following the cursor): not undone by itself. */
void ty_viewport_follow(struct ty_viewport *v, uint64_t t_ns);
/* Go to an instant that has nothing to do with the present one: undone by itself, even when the
 * window stays as it is. */
void ty_viewport_visit(struct ty_viewport *v, uint64_t t_ns);
/* Back to the previous view, and forward again; `here`: the current one. False: there is none. */
bool ty_viewport_undo(struct ty_viewport *v);
bool ty_viewport_redo(struct ty_viewport *v);

/* Time of the left edge of column i of n (i in 0..n). */
uint64_t ty_viewport_edge(const struct ty_viewport *v, uint32_t i, uint32_t n);
/* The column of n that holds t (clamped to the window). */
uint32_t ty_viewport_column(const struct ty_viewport *v, uint64_t t_ns, uint32_t n);

/* A round step (1, 2 or 5 times a power of ten, ns) that is at least min_ns. */
uint64_t ty_round_step(uint64_t min_ns);

#endif
