/* SPDX-License-Identifier: MIT */
/* The inside of a flame graph's view, shared by flame_view.c (state, keys) and flame_draw.c. */
#ifndef TY_FLAME_PRIV_H
#define TY_FLAME_PRIV_H

#include "background.h"
#include "flame_view.h"

enum { TY_FLAME_NEEDLE = 64 };

/* Whose samples. */
enum ty_flame_scope { TY_FLAME_ALL, TY_FLAME_PROCESS, TY_FLAME_THREAD };

/* A part of the screen with a tree: its root's row, and whether deeper ones lie above it. */
struct ty_flame_pane {
	struct ty_flame flame;
	uint32_t zoom; /* the node that is as wide as the screen */
	int y, h;
	bool upwards;
	int top; /* the depth that lies next to the edge where the root begins */
};

struct ty_flame_view {
	struct ty_flame_input in;
	const struct ty_samples *s;
	struct ty_background loading;
	int rc;
	struct ty_err err;
	struct ty_flame_pane pane[2]; /* 1: callees; 0: with a focus, callers */
	bool sandwich;		      /* both are shown, of the function `focus` */
	bool inverted;		      /* pane 1 leads from the innermost function outwards */
	bool tree_inverted;	      /* and did so before callers and callees were shown */
	bool root_below;	      /* flames: the root is at the bottom */
	bool stale;		      /* the trees do not match the request */
	uint32_t focus;
	enum ty_flame_scope scope;
	enum ty_hot_what what;
	bool shown;  /* drawn with its samples */
	unsigned at; /* the pane of: */
	uint32_t node;
	int w;
	bool prompting;
	char typed[TY_FLAME_NEEDLE], needle[TY_FLAME_NEEDLE];
	char message[200];
};

static inline const struct ty_flame_node *ty_flame_node_of(const struct ty_flame_view *v,
							   unsigned pane, uint32_t n)
{
	return &v->pane[pane].flame.v.v[n];
}
static inline bool ty_flame_has_tree(const struct ty_flame_view *v)
{
	return v->s && !v->rc && v->pane[1].flame.v.n;
}
/* True if one node is the other one or its ancestor. */
bool ty_flame_is_above(const struct ty_flame *f, uint32_t above, uint32_t below);
/* The name of a box; "all": the root. */
const char *ty_flame_name(const struct ty_flame_view *v, const struct ty_flame_node *n);
/* Does its name match the search? */
bool ty_flame_is_hit(const struct ty_flame_view *v, const struct ty_flame_node *n);

/* flame_draw.c: the screen of a view whose trees are there (or whose error is). text: a sentence in
 * place of the trees; NULL. */
void ty_flame_draw(struct ty_flame_view *v, struct ty_grid *g, const struct ty_palette *p,
		   const char *text);
/* The pane and the node of the box at a cell of the frame drawn last; false: there is none. */
bool ty_flame_at(const struct ty_flame_view *v, int x, int y, unsigned *pane, uint32_t *node);

#endif
