/* SPDX-License-Identifier: MIT */
/* Pan and zoom arithmetic; all in integers, 128 bits where a product may be larger than 64. */
#include "viewport.h"

#include <string.h>

typedef unsigned __int128 u128;

void ty_viewport_init(struct ty_viewport *v, uint64_t start_ns, uint64_t end_ns)
{
	memset(v, 0, sizeof(*v));
	if (start_ns == UINT64_MAX)
		start_ns--;
	v->start_ns = start_ns;
	v->end_ns = end_ns > start_ns ? end_ns : start_ns + 1;
	v->from_ns = v->start_ns;
	v->to_ns = v->end_ns;
	v->min_ns = TY_VIEW_MIN_NS;
}

static void push(struct ty_view_at *stack, unsigned *n, const struct ty_viewport *v)
{
	if (*n == TY_VIEW_UNDO)
		memmove(stack, stack + 1, --*n * sizeof(*stack));
	stack[(*n)++] = (struct ty_view_at){v->from_ns, v->to_ns, v->here};
}

static bool is_shown(const struct ty_viewport *v, const struct ty_view_at *a)
{
	return a->from_ns == v->from_ns && a->to_ns == v->to_ns &&
	       a->place.cursor_ns == v->here.cursor_ns && a->place.row_id == v->here.row_id &&
	       a->place.row_kind == v->here.row_kind;
}

/* To the last view of one stack, the present one onto the other. */
static bool swap(struct ty_viewport *v, struct ty_view_at *from, unsigned *from_n,
		 struct ty_view_at *to, unsigned *to_n)
{
	const struct ty_view_at *a;

	v->last = TY_MOVE_NONE;
	while (*from_n && is_shown(v, &from[*from_n - 1])) /* a move that changed nothing */
		--*from_n;
	if (!*from_n)
		return false;
	push(to, to_n, v);
	a = &from[--*from_n];
	v->from_ns = a->from_ns;
	v->to_ns = a->to_ns;
	v->here = a->place;
	return true;
}

static void remember(struct ty_viewport *v, enum ty_move kind)
{
	v->redo_n = 0;
	if (kind != TY_MOVE_JUMP && kind == v->last)
		return;
	v->last = kind;
	push(v->undo, &v->undo_n, v);
}

/* A window of the given length around the wish, inside the recording. */
static void place(struct ty_viewport *v, uint64_t from, uint64_t length)
{
	uint64_t all = v->end_ns - v->start_ns;

	if (length < v->min_ns)
		length = v->min_ns;
	if (length > all)
		length = all;
	if (from < v->start_ns)
		from = v->start_ns;
	if (from > v->end_ns - length)
		from = v->end_ns - length;
	v->from_ns = from;
	v->to_ns = from + length;
}

void ty_viewport_jump(struct ty_viewport *v, uint64_t from_ns, uint64_t to_ns)
{
	remember(v, TY_MOVE_JUMP);
	place(v, from_ns, to_ns > from_ns ? to_ns - from_ns : 0);
}

void ty_viewport_zoom(struct ty_viewport *v, uint64_t at_ns, unsigned num, unsigned den)
{
	uint64_t old = v->to_ns - v->from_ns, all = v->end_ns - v->start_ns, left;
	u128 wish = (u128)old * num / den;
	uint64_t length = wish > all ? all : (uint64_t)wish;

	if (length < v->min_ns)
		length = v->min_ns < all ? v->min_ns : all;
	if (length == old)
		return;
	if (at_ns < v->from_ns)
		at_ns = v->from_ns;
	if (at_ns > v->to_ns)
		at_ns = v->to_ns;
	remember(v, TY_MOVE_ZOOM);
	left = (uint64_t)((u128)(at_ns - v->from_ns) * length / old);
	place(v, at_ns > left ? at_ns - left : 0, length);
}

void ty_viewport_pan(struct ty_viewport *v, int64_t delta_ns)
{
	uint64_t length = v->to_ns - v->from_ns, from = v->from_ns;

	if (delta_ns < 0) {
		uint64_t d = 0 - (uint64_t)delta_ns, room = from - v->start_ns;

		from -= d < room ? d : room;
	} else {
		uint64_t d = (uint64_t)delta_ns, room = v->end_ns - v->to_ns;

		from += d < room ? d : room;
	}
	if (from == v->from_ns)
		return;
	remember(v, TY_MOVE_PAN);
	place(v, from, length);
}

void ty_viewport_follow(struct ty_viewport *v, uint64_t t_ns)
{
	uint64_t length = v->to_ns - v->from_ns;

	if (t_ns >= v->from_ns && t_ns < v->to_ns)
		return;
	remember(v, TY_MOVE_PAN);
	place(v, t_ns > length / 2 ? t_ns - length / 2 : 0, length);
}

void ty_viewport_visit(struct ty_viewport *v, uint64_t t_ns)
{
	remember(v, TY_MOVE_JUMP);
	v->last = TY_MOVE_PAN; /* what follows the cursor to there is part of it */
	ty_viewport_follow(v, t_ns);
	v->last = TY_MOVE_JUMP;
}

bool ty_viewport_undo(struct ty_viewport *v)
{
	return swap(v, v->undo, &v->undo_n, v->redo, &v->redo_n);
}

bool ty_viewport_redo(struct ty_viewport *v)
{
	return swap(v, v->redo, &v->redo_n, v->undo, &v->undo_n);
}

uint64_t ty_viewport_edge(const struct ty_viewport *v, uint32_t i, uint32_t n)
{
	uint64_t width = v->to_ns - v->from_ns, product;

	n = n ? n : 1;
	/* Computed for every cell of a frame: in 64 bits where they are enough. */
	if (!__builtin_mul_overflow(width, (uint64_t)i, &product))
		return v->from_ns + product / n;
	return v->from_ns + (uint64_t)((u128)width * i / n);
}

uint32_t ty_viewport_column(const struct ty_viewport *v, uint64_t t_ns, uint32_t n)
{
	uint64_t length = v->to_ns - v->from_ns;
	uint32_t i;

	if (t_ns <= v->from_ns || !n)
		return 0;
	if (t_ns >= v->to_ns)
		return n - 1;
	i = (uint32_t)((u128)(t_ns - v->from_ns) * n / length);
	/* Edges are rounded down: t may already lie behind the next one. */
	while (i + 1 < n && ty_viewport_edge(v, i + 1, n) <= t_ns)
		i++;
	return i;
}

uint64_t ty_round_step(uint64_t min_ns)
{
	uint64_t p = 1;

	for (;;) {
		if (p >= min_ns)
			return p;
		if (2 * p >= min_ns)
			return 2 * p;
		if (5 * p >= min_ns)
			return 5 * p;
		if (p >= 1000000000000000000u)
			return 5 * p;
		p *= 10;
	}
}
