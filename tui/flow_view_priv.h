/* SPDX-License-Identifier: MIT */
/* The inside of the instruction view: its state (flow_view.c) and how it is drawn (flow_draw.c). */
#ifndef TY_FLOW_VIEW_PRIV_H
#define TY_FLOW_VIEW_PRIV_H

#include "background.h"
#include "flow_spans.h"
#include "flow_view.h"
#include "page.h"
#include "viewport.h"

#define TY_FLOW_LINES 128 /* of instructions on the screen that are counted */

struct ty_flow_view {
	struct ty_flow_on on;
	struct ty_background aside;
	/* The thread's while it is on: */
	struct ty_flow_part_ask ask;
	const struct ty_flow_part *part; /* NULL: none (yet) */
	int rc;
	struct ty_err err;

	bool by_insn;
	bool whole;  /* all of the thread is asked for at once */
	bool chosen; /* the axis that suits the recording was taken, or one by the user */
	struct ty_viewport vp;
	uint64_t asked_from, asked_to; /* the window that was looked at when the part was made */
	uint64_t at_ns;		       /* where the cursor belongs, until there is a part */
	bool placed;
	uint32_t at;	/* step under the cursor */
	uint32_t depth; /* of the topmost row of calls */
	char message[200];
	/* As last laid out. */
	int w, calls_y, calls_h, path_y, list_y, list_h;
	bool titles;  /* between path and list: source line of the cursor, and the columns' names */
	uint32_t top; /* step in the list's first line */
	/* How often the instructions in the list were executed in the window. */
	bool counted;
	uint32_t count_first, count_last;
	uint64_t ip[TY_FLOW_LINES], count[TY_FLOW_LINES];
	int counts;
	struct ty_page page; /* help */
	/* The search for a function: what is being typed, and what was searched for last. */
	bool asking;
	char input[100], wanted[100];
};

/* Steps of the part. */
static inline uint32_t ty_flow_view_steps(const struct ty_flow_view *v)
{
	return v->part ? (uint32_t)v->part->steps.n : 0;
}

/* flow_cursor.c */
struct ty_flow_axis ty_flow_view_axis(const struct ty_flow_view *v);
uint64_t ty_flow_view_pos(const struct ty_flow_view *v, uint32_t step); /* on the axis */
/* The first step at or behind a place on the axis. */
uint32_t ty_flow_view_step(const struct ty_flow_view *v, uint64_t pos);

/* The cursor to a step, the window following. */
enum ty_view_result ty_flow_view_go(struct ty_flow_view *v, uint32_t step);

/* flow_find.c */
void ty_flow_find_ask(struct ty_flow_view *v);
enum ty_view_result ty_flow_find_key(struct ty_flow_view *v, uint32_t key);
void ty_flow_find_draw(const struct ty_flow_view *v, struct ty_grid *g, const struct ty_palette *p);

/* flow_draw.c */
void ty_flow_draw(struct ty_flow_view *v, struct ty_grid *g, const struct ty_palette *p);

#endif
