/* SPDX-License-Identifier: MIT */
/* Sums for group heads; see group_bars.h. Budget: FRAME_MEMBERS members per frame, STEP_MEMBERS per
 * slice; a member that did not run in the window costs log(spans), another one cells x
 * log(spans). */
#include "group_bars.h"

#include <string.h>

#include "glyphs.h"

#define FRAME_MEMBERS 256
#define STEP_MEMBERS  16

static void fini(struct ty_head *e)
{
	free(e->ran_ns);
	free(e->lost);
	*e = (struct ty_head){0};
}

void ty_group_bars_forget(struct ty_group_bars *h)
{
	vec_each (e, &h->v)
		fini(e);
	h->v.n = 0;
}

void ty_group_bars_fini(struct ty_group_bars *h)
{
	ty_group_bars_forget(h);
	vec_fini(&h->v);
	free(h->cell);
	*h = (struct ty_group_bars){0};
}

void ty_group_bars_frame(struct ty_group_bars *h)
{
	h->frame++;
	h->budget = FRAME_MEMBERS;
}

static void add(struct ty_group_bars *h, const struct ty_model *m, const struct ty_gaps *gaps,
		struct ty_head *e)
{
	struct ty_track track = {.kind = e->kind, .id = e->ids[e->done++]};
	struct ty_viewport v = {.from_ns = e->from_ns, .to_ns = e->to_ns};
	struct ty_cell *c = h->cell;

	ty_model_cells(m, track, e->from_ns, e->to_ns, 1, c);
	if (!c->ns[TY_ST_RUNNING] && !(c->flags & TY_SF_LOST))
		return;
	ty_model_cells(m, track, e->from_ns, e->to_ns, e->cells, c);
	for (uint32_t i = 0; i < e->cells; i++) {
		e->ran_ns[i] += c[i].ns[TY_ST_RUNNING];
		if (c[i].flags & TY_SF_LOST)
			e->lost[i] |=
				ty_cell_lost(gaps, track, &c[i], ty_viewport_edge(&v, i, e->cells),
					     ty_viewport_edge(&v, i + 1, e->cells));
	}
}

/* The row's sum, or one that was not shown for a while, made the row's. NULL: out of memory. */
static struct ty_head *find(struct ty_group_bars *h, const struct ty_head *row)
{
	struct ty_head *old = NULL;

	vec_each (e, &h->v) {
		if (e->row_kind == row->row_kind && e->row_id == row->row_id)
			return e;
		if (e->frame + 1 < h->frame)
			old = e;
	}
	if (!old) {
		if (vec_push(&h->v, (struct ty_head){0}))
			return NULL;
		old = &h->v.v[h->v.n - 1];
	}
	fini(old);
	return old;
}

/* Begin the sum anew, for another window or other members. */
static int begin(struct ty_head *e, const struct ty_head *row, const struct ty_viewport *v,
		 uint32_t cells)
{
	uint64_t *ran = realloc(e->ran_ns, cells * sizeof(*ran));
	uint8_t *lost;

	if (!ran)
		return -TY_ENOMEM;
	e->ran_ns = ran;
	lost = realloc(e->lost, cells);
	if (!lost)
		return -TY_ENOMEM;
	*e = *row;
	e->ran_ns = ran;
	e->lost = lost;
	e->done = 0;
	e->cells = cells;
	e->from_ns = v->from_ns;
	e->to_ns = v->to_ns;
	memset(ran, 0, cells * sizeof(*ran));
	memset(lost, 0, cells);
	return 0;
}

const struct ty_head *ty_group_bars_get(struct ty_group_bars *h, const struct ty_model *m,
					const struct ty_gaps *gaps, const struct ty_viewport *v,
					uint32_t cells, const struct ty_head *row)
{
	struct ty_head *e;

	if (h->cells < cells) {
		struct ty_cell *c = realloc(h->cell, cells * sizeof(*c));

		if (!c)
			return NULL;
		h->cell = c;
		h->cells = cells;
	}
	e = find(h, row);
	if (!e)
		return NULL;
	if ((e->cells != cells || e->from_ns != v->from_ns || e->to_ns != v->to_ns ||
	     e->ids != row->ids || e->n != row->n) &&
	    begin(e, row, v, cells)) {
		e->cells = 0; /* nothing is whole in it: begun again with the next frame */
		return NULL;
	}
	e->frame = h->frame;
	for (; h->budget && e->done < e->n; h->budget--)
		add(h, m, gaps, e);
	return e;
}

static struct ty_head *due(const struct ty_group_bars *h)
{
	vec_each (e, &h->v)
		if (e->frame == h->frame && e->cells && e->done < e->n)
			return e;
	return NULL;
}

bool ty_group_bars_due(const struct ty_group_bars *h)
{
	return due(h);
}

bool ty_group_bars_step(struct ty_group_bars *h, const struct ty_model *m,
			const struct ty_gaps *gaps)
{
	struct ty_head *e = due(h);

	for (int i = 0; e && i < STEP_MEMBERS && e->done < e->n; i++)
		add(h, m, gaps, e);
	return e && e->done == e->n;
}
