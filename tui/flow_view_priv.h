/* SPDX-License-Identifier: MIT */
/* Internals of the instruction view: state (flow_view.c) and drawing (flow_draw.c). */
#ifndef TY_FLOW_VIEW_PRIV_H
#define TY_FLOW_VIEW_PRIV_H

#include "background.h"
#include "flow_spans.h"
#include "flow_view.h"
#include "viewport.h"

#define TY_FLOW_LINES 128 /* of instructions on the screen that are counted */

struct ty_flow_view {
	struct ty_flow_on on;
	struct ty_background aside;
	/* Owned by the thread while it runs: */
	struct ty_flow_part_request request;
	const struct ty_flow_part *part; /* NULL: none (yet) */
	int rc;
	struct ty_err err;

	bool by_insn;
	bool whole;  /* the whole thread is requested at once */
	bool chosen; /* the axis was chosen, by default or by the user */
	struct ty_viewport vp;
	uint64_t request_from_ns, request_to_ns; /* the window when the part was requested */
	uint64_t at_ns;				 /* time for the cursor until there is a part */
	bool placed;
	uint32_t at;	/* step under the cursor */
	uint32_t depth; /* of the topmost row of calls */
	char message[200];
	/* Last layout. */
	int w, calls_y, calls_h, path_y, list_y, list_h;
	bool titles;  /* between path and list: source line of the cursor, and the columns' names */
	uint32_t top; /* step in the list's first line */
	/* Execution counts of the listed instructions within the window. */
	bool counted;
	uint32_t count_first, count_last;
	uint64_t ip[TY_FLOW_LINES], count[TY_FLOW_LINES];
	int counts;
	/* Search for a function: current input, and last search. */
	bool prompting;
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
/* The first step at or after a position on the axis. */
uint32_t ty_flow_view_step(const struct ty_flow_view *v, uint64_t pos);

/* Moves the cursor to a step, and the window with it. */
enum ty_view_result ty_flow_view_go(struct ty_flow_view *v, uint32_t step);

/* flow_find.c */
void ty_flow_find_prompt(struct ty_flow_view *v);
enum ty_view_result ty_flow_find_key(struct ty_flow_view *v, uint32_t key);
void ty_flow_find_draw(const struct ty_flow_view *v, struct ty_grid *g, const struct ty_palette *p);

/* flow_draw.c */
void ty_flow_draw(struct ty_flow_view *v, struct ty_grid *g, const struct ty_palette *p);

#endif
