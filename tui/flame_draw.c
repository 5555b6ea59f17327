/* SPDX-License-Identifier: MIT */
/*
 * Draws the flame graph; see flame_view.h. Boxes narrower than a cell are not drawn, so that a
 * frame costs no more than the screen has cells, and the lists of children that lead to them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "flame_priv.h"
#include "footer.h"
#include "units.h"

enum { HEAD = 1, TAIL = 3, DEPTH_MAX = 4096, SHARE_MIN = 12 };

const char *ty_flame_name(const struct ty_flame_view *v, const struct ty_flame_node *n)
{
	const struct ty_sample_func *f;
	const char *base;

	if (n->func == UINT32_MAX)
		return "all";
	f = &v->s->funcs.v[n->func];
	if (f->name)
		return ty_samples_str(v->s, f->name);
	if (!f->module)
		return "[unknown]";
	base = strrchr(ty_samples_str(v->s, f->module), '/');
	return base && base[1] ? base + 1 : ty_samples_str(v->s, f->module);
}

bool ty_flame_is_hit(const struct ty_flame_view *v, const struct ty_flame_node *n)
{
	return *v->needle && n->func != UINT32_MAX && strstr(ty_flame_name(v, n), v->needle);
}

bool ty_flame_is_above(const struct ty_flame *f, uint32_t above, uint32_t below)
{
	while (below && below != above)
		below = f->v.v[below].parent;
	return below == above;
}

/* The row of a depth; -1: not on the screen. */
static int row_of(const struct ty_flame_pane *p, uint32_t depth)
{
	const int k = (int)depth - p->top;

	if (k < 0 || k >= p->h)
		return -1;
	return p->upwards ? p->y + p->h - 1 - k : p->y + k;
}

static struct ty_style box_style(const struct ty_flame_view *v, const struct ty_palette *p,
				 const struct ty_flame_node *n, unsigned odd)
{
	struct ty_style st = {0};

	if (p->mode < TY_COLOR_16) {
		st.attr = ty_flame_is_hit(v, n) ? TY_A_UNDERLINE : 0;
		return st;
	}
	st.fg = TY_C_BLACK;
	if (ty_flame_is_hit(v, n))
		st.bg = TY_C_LOST;
	else if (n->func == UINT32_MAX)
		st.bg = TY_C_UNKNOWN;
	else if (v->s->funcs.v[n->func].kernel)
		st.bg = odd ? TY_C_CALL_ODD : TY_C_CALL;
	else
		st.bg = odd ? TY_C_RUNNING_ODD : TY_C_RUNNING;
	if (st.bg == TY_C_CALL || st.bg == TY_C_CALL_ODD)
		st.fg = TY_C_WHITE;
	return st;
}

/* Its name, and its share of the whole where there is room for both; of the first row, which is
 * compared by it, also instead of a part of the name. */
static void box_text(const struct ty_flame_view *v, struct ty_grid *g, const struct ty_palette *p,
		     unsigned pane, const struct ty_flame_node *n, int x, int y, int w,
		     struct ty_style st)
{
	const uint64_t all = ty_flame_node_of(v, pane, 0)->weight;
	const char *name = ty_flame_name(v, n);
	char share[16] = "";

	if (all)
		snprintf(share, sizeof(share), " %.1f%%", 100 * (double)n->weight / (double)all);
	if (ty_text_width(name) + (int)strlen(share) > w && (n->depth != 1 || w < SHARE_MIN))
		*share = 0;
	x += ty_grid_elide(g, p, x, y, w - (int)strlen(share), name, st);
	ty_grid_text(g, x, y, (int)strlen(share), share, st);
}

/* Each box begins with a bar, so that neighbours differ without colours, too. */
static void draw_box(const struct ty_flame_view *v, struct ty_grid *g, const struct ty_palette *p,
		     unsigned pane, uint32_t node, int x0, int x1, unsigned odd)
{
	const struct ty_flame_node *n = ty_flame_node_of(v, pane, node);
	const int y = row_of(&v->pane[pane], n->depth);
	struct ty_style st = box_style(v, p, n, odd);

	if (y < 0)
		return;
	if (pane == v->at && node == v->node)
		st.attr |= TY_A_REVERSE | TY_A_BOLD;
	ty_grid_fill(g, x0, y, x1 - x0, 1, ' ', st);
	ty_grid_put(g, x0, y,
		    pane == v->at && node == v->node ? '>'
		    : ty_flame_is_hit(v, n)	     ? '*'
						     : (p->utf8 ? 0x2502 : '|'),
		    st);
	if (x1 - x0 > 2)
		box_text(v, g, p, pane, n, x0 + 1, y, x1 - x0 - 1, st);
}

/* The end of the box of a child that begins at `at`, within the node's [x0, x1). Never beyond it:
 * the sums come from the file, and doubles round. */
static uint64_t box_end(uint64_t x0, uint64_t x1, uint64_t at, const struct ty_flame_node *child,
			const struct ty_flame_node *n)
{
	const double width =
		n->weight ? (double)(x1 - x0) * (double)child->weight / (double)n->weight : 0;

	return at < x1 && width < (double)(x1 - at) ? at + (uint64_t)width : x1;
}

/* The node is [x0, x1) of the screen's columns, in 1/65536 of them. */
static void draw_tree(const struct ty_flame_view *v, struct ty_grid *g, const struct ty_palette *p,
		      unsigned pane, uint32_t node, uint64_t x0, uint64_t x1, unsigned odd)
{
	const struct ty_flame *f = &v->pane[pane].flame;
	const struct ty_flame_node *n = &f->v.v[node];
	const bool above =
		node != v->pane[pane].zoom && ty_flame_is_above(f, node, v->pane[pane].zoom);
	uint64_t at = x0;
	unsigned k = 0;

	if (x1 >> 16 <= x0 >> 16 || n->depth >= DEPTH_MAX ||
	    (int)n->depth >= v->pane[pane].top + v->pane[pane].h)
		return;
	draw_box(v, g, p, pane, node, (int)(x0 >> 16), (int)(x1 >> 16), odd);
	for (uint32_t c = n->first; c && at < x1; c = f->v.v[c].next, k++) {
		const struct ty_flame_node *child = &f->v.v[c];
		uint64_t to;

		if (above) {
			if (ty_flame_is_above(f, c, v->pane[pane].zoom))
				draw_tree(v, g, p, pane, c, x0, x1, k & 1);
			continue;
		}
		to = box_end(x0, x1, at, child, n);
		/* What rounding leaves over belongs to no box. */
		draw_tree(v, g, p, pane, c, at, to, (odd + k) & 1);
		at = to;
	}
}

static void lay_out(struct ty_flame_view *v, int h)
{
	const int rows = h - HEAD - TAIL, above = v->sandwich ? rows / 2 : 0;

	v->pane[0].y = HEAD;
	v->pane[0].h = above;
	v->pane[0].upwards = true;
	v->pane[1].y = HEAD + above;
	v->pane[1].h = rows - above;
	v->pane[1].upwards = !v->sandwich && v->root_below;
	/* The chosen box is on the screen. */
	for (unsigned i = 0; i < 2; i++) {
		struct ty_flame_pane *p = &v->pane[i];
		const int depth = i == v->at && ty_flame_has_tree(v)
					  ? (int)ty_flame_node_of(v, i, v->node)->depth
					  : p->top;

		if (depth < p->top)
			p->top = depth;
		if (p->h > 0 && depth >= p->top + p->h)
			p->top = depth - p->h + 1;
	}
}

static void scope_text(const struct ty_flame_view *v, unsigned scope, char out[80])
{
	if (scope == TY_FLAME_THREAD)
		snprintf(out, 80, "thread %.20s/%d", v->in.comm, v->in.tid);
	else if (scope == TY_FLAME_PROCESS)
		snprintf(out, 80, "process %d", v->in.pid);
	else
		snprintf(out, 80, "all threads");
}

static void draw_head(const struct ty_flame_view *v, struct ty_grid *g, const struct ty_palette *p)
{
	static const char *const what[] = {"samples", "waits with a stack", "samples and waits"};
	const struct ty_style bar = ty_palette_role(p, TY_ROLE_BAR);
	char text[400], who[200], tab[80];

	scope_text(v, v->scope, who);
	/* Whose they are is to be seen, and that there are others'. */
	if (v->in.tid) {
		scope_text(v, (v->scope + 1) % (TY_FLAME_THREAD + 1), tab);
		snprintf(who + strlen(who), sizeof(who) - strlen(who), " (Tab: %s)", tab);
	}
	/* What is seen comes first: the end may not fit. */
	snprintf(text, sizeof(text), "%s%s%s: %s, %s", what[v->what],
		 v->sandwich   ? ", callers and callees of "
		 : v->inverted ? ", hottest first"
			       : "",
		 v->sandwich ? ty_flame_name(v, &(struct ty_flame_node){.func = v->focus}) : "",
		 who, v->in.when);
	ty_grid_fill(g, 0, 0, g->w, 1, ' ', bar);
	ty_grid_elide(g, p, 1, 0, g->w - 2, text, bar);
}

/* Of the whole tree, samples of boxes that match; one in another counts once. */
static uint64_t hits(const struct ty_flame_view *v)
{
	const struct ty_flame *f = &v->pane[1].flame;
	uint64_t n = 0;

	for (uint32_t i = 1; i < f->v.n; i++) {
		uint32_t above = f->v.v[i].parent;

		if (!ty_flame_is_hit(v, &f->v.v[i]))
			continue;
		while (above && !ty_flame_is_hit(v, &f->v.v[above]))
			above = f->v.v[above].parent;
		n += above ? 0 : f->v.v[i].total;
	}
	return n;
}

/* ", 14 of its own": in which the function itself ran. From what ran outwards the first row is
 * that, and of a caller it says nothing. */
static const char *own(const struct ty_flame_view *v, const struct ty_flame_node *n, char out[40])
{
	*out = 0;
	if (!v->inverted || n->depth == 1)
		snprintf(out, 40, ", %" PRIu64 " of its own", v->inverted ? n->total : n->self);
	return out;
}

/* How much of what the box is. */
static void measure_text(const struct ty_flame_view *v, const struct ty_flame_node *n, char *out,
			 size_t size)
{
	const struct ty_sample_weights *w = &v->pane[v->at].flame.weights;
	const struct ty_flame_node *all = ty_flame_node_of(v, v->at, 0);
	char some[TY_DURATION_MAX], whole[TY_DURATION_MAX], mine[40];
	double low, high;
	const double share = 100 * ty_hot_share(w, n->weight, all->weight, all->total, &low, &high);

	ty_fmt_duration(n->weight, some);
	ty_fmt_duration(all->weight, whole);
	if (v->what != TY_HOT_CPU)
		snprintf(out, size, "%.1f%%: %s of %s, %" PRIu64 " of %" PRIu64 " %s", share, some,
			 whole, n->total, all->total,
			 v->what == TY_HOT_WAITS ? "waits"
						 : "CPU samples (estimated time) and waits");
	else if (!w->by_time)
		snprintf(out, size,
			 "%.1f%% (%.1f to %.1f%%): %" PRIu64 " of %" PRIu64 " samples of %s%s",
			 share, 100 * low, 100 * high, n->total, all->total, v->s->event,
			 own(v, n, mine));
	/* How long threads ran is known. */
	else if (n == all || !n->total)
		snprintf(out, size, "%.1f%%: %s of %s on CPU, %" PRIu64 " samples of %s", share,
			 some, whole, n->total, v->s->event);
	else
		snprintf(out, size,
			 "%.1f%% (%.1f to %.1f%%): ~%s of %s on CPU, %" PRIu64 " of %" PRIu64
			 " samples%s",
			 share, 100 * low, 100 * high, some, whole, n->total, all->total,
			 own(v, n, mine));
}

static void draw_details(const struct ty_flame_view *v, struct ty_grid *g,
			 const struct ty_palette *p)
{
	const struct ty_flame_node *n = ty_flame_node_of(v, v->at, v->node);
	const struct ty_sample_func *f = n->func == UINT32_MAX ? NULL : &v->s->funcs.v[n->func];
	char text[500];
	int used;

	snprintf(text, sizeof(text), "%s%s%s%s",
		 f && f->module && !f->name ? "[no symbol]" : ty_flame_name(v, n),
		 f && f->module ? "  (" : "", f && f->module ? ty_samples_str(v->s, f->module) : "",
		 f && f->module ? ")" : "");
	used = ty_grid_elide(g, p, 1, g->h - 3, g->w - 2, text, ty_palette_role(p, TY_ROLE_STRONG));
	if (*v->needle) {
		snprintf(text, sizeof(text), "%s: %" PRIu64 " samples", v->needle, hits(v));
		ty_grid_elide(g, p, used + 3, g->h - 3, g->w - used - 4, text,
			      ty_palette_role(p, TY_ROLE_ACCENT));
	}
	measure_text(v, n, text, sizeof(text));
	ty_grid_elide(g, p, 1, g->h - 2, g->w - 2, text, ty_palette_role(p, TY_ROLE_TEXT));
}

static void draw_tail(struct ty_flame_view *v, struct ty_grid *g, const struct ty_palette *p)
{
	static const enum ty_action keys[] = {TY_ACT_OPEN,   TY_ACT_FLAME, TY_ACT_FOCUS,
					      TY_ACT_LEDGER, TY_ACT_CHAIN, TY_ACT_SEARCH,
					      TY_ACT_FOLD,   TY_ACT_ALL,   TY_ACT_NONE};
	const char *const words[] = {"zoom",	v->inverted ? "outermost first" : "hottest first",
				     "threads", "waits",
				     "callers", "search",
				     "turn",	"all"};
	char text[TY_FLAME_NEEDLE + 20];

	if (v->prompting) {
		snprintf(text, sizeof(text), "search: %s", v->typed);
		ty_grid_input(g, 0, g->h - 1, text, ty_palette_role(p, TY_ROLE_STRONG));
	} else if (*v->message) {
		ty_footer_say(g, p, v->message);
	} else {
		ty_footer_draw(g, p, g->h - 1, keys, words, "back");
	}
}

void ty_flame_draw(struct ty_flame_view *v, struct ty_grid *g, const struct ty_palette *p,
		   const char *text)
{
	if (!text)
		lay_out(v, g->h);
	draw_head(v, g, p);
	if (text) {
		ty_grid_wrap(g, p, 1, 2, 5, g->w - 2, text, ty_palette_role(p, TY_ROLE_TEXT));
	} else {
		for (unsigned i = v->sandwich ? 0 : 1; i < 2; i++)
			if (v->pane[i].flame.v.n)
				draw_tree(v, g, p, i, 0, 0, (uint64_t)g->w << 16, 0);
		draw_details(v, g, p);
	}
	draw_tail(v, g, p);
}

/* The node whose box holds the cell, of the node at [x0, x1). */
static uint32_t node_at(const struct ty_flame_view *v, unsigned pane, uint32_t node, uint64_t x0,
			uint64_t x1, uint32_t depth, int x)
{
	const struct ty_flame *f = &v->pane[pane].flame;

	while (f->v.v[node].depth < depth) {
		const struct ty_flame_node *n = &f->v.v[node];
		const bool above = node != v->pane[pane].zoom &&
				   ty_flame_is_above(f, node, v->pane[pane].zoom);
		uint64_t at = x0, to = x0;
		uint32_t c = n->first;

		for (; c; c = f->v.v[c].next, at = to) {
			if (above) {
				if (ty_flame_is_above(f, c, v->pane[pane].zoom))
					break;
				continue;
			}
			to = box_end(x0, x1, at, &f->v.v[c], n);
			if (x >= (int)(at >> 16) && x < (int)(to >> 16))
				break;
		}
		if (!c)
			return TY_NONE;
		node = c;
		if (!above) {
			x0 = at;
			x1 = to;
		}
	}
	return node;
}

bool ty_flame_at(const struct ty_flame_view *v, int x, int y, unsigned *pane, uint32_t *node)
{
	for (unsigned i = v->sandwich ? 0 : 1; i < 2; i++) {
		const struct ty_flame_pane *p = &v->pane[i];
		const int k = p->upwards ? p->y + p->h - 1 - y : y - p->y;

		if (k < 0 || k >= p->h || !p->flame.v.n)
			continue;
		*pane = i;
		*node = node_at(v, i, 0, 0, (uint64_t)v->w << 16, (uint32_t)(k + p->top), x);
		return *node != TY_NONE;
	}
	return false;
}
