/* SPDX-License-Identifier: MIT */
/*
 * See flame_view.h. Two trees: the calls from the outermost function on; and, of one function, its
 * callers (upwards) above its callees (downwards).
 */
#include "flame_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flame_priv.h"
#include "input_line.h"
#include "sentence.h"

enum { LOOK_MS = 15, DEEP = 20 };

#define say(v, ...) ty_put_instead((v)->message, sizeof((v)->message), __VA_ARGS__)

/* the trees ---------------------------------------------------------------------------------------
 */

static void load(void *ctx)
{
	struct ty_flame_view *v = ctx;

	v->rc = v->in.host->samples_load(v->in.host->ctx, &v->loading.stop, &v->s, &v->err);
}

static void find(struct ty_flame_view *v)
{
	const bool thread = v->scope == TY_FLAME_THREAD;
	const struct ty_window w = {.from_ns = v->in.from_ns,
				    .to_ns = v->in.to_ns,
				    .tids = thread ? &v->in.tid : NULL,
				    .tids_n = thread};
	const struct ty_hot_of of = {.s = v->s,
				     .w = &w,
				     .model = v->in.model,
				     .what = v->what,
				     .pid = v->scope == TY_FLAME_PROCESS ? v->in.pid : 0};
	int e = 0;

	ty_flame_fini(&v->pane[0].flame);
	ty_flame_fini(&v->pane[1].flame);
	if (v->sandwich)
		e = ty_flame_find(&of, TY_FLAME_CALLERS, v->focus, &v->pane[0].flame);
	if (!e)
		e = ty_flame_find(&of, v->inverted ? TY_FLAME_CALLERS : TY_FLAME_CALLEES,
				  v->sandwich ? v->focus : UINT32_MAX, &v->pane[1].flame);
	if (e) {
		ty_flame_fini(&v->pane[0].flame);
		ty_flame_fini(&v->pane[1].flame);
		v->rc = ty_fail(&v->err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for the graph");
	}
	/* The function is drawn once between its callers and its callees, without the roots. */
	v->pane[0].zoom = v->pane[1].zoom = 0;
	v->pane[0].top = 2;
	v->pane[1].top = v->sandwich;
	v->at = 1;
	v->node = v->sandwich && !e ? v->pane[1].flame.v.v[0].first : 0;
	v->stale = false;
}

/* Do most samples lie below that many rows? */
static bool is_deep(const struct ty_flame *f, int rows)
{
	uint64_t below = 0;

	vec_each (n, &f->v)
		below += (int)n->depth >= rows ? n->self : 0;
	return f->v.n && below > f->v.v[0].total / 2;
}

/* Where the outermost frames (of an interpreter) fill a screen of 24 lines, what ran comes first,
 * at any size: the same recording opens in the same order. */
static void open_on_what_ran(struct ty_flame_view *v)
{
	if (v->shown || v->what != TY_HOT_CPU || !is_deep(&v->pane[1].flame, DEEP))
		return;
	v->inverted = true;
	find(v);
	say(v, "most stacks are deeper than %d: leaf functions are first (F: outermost first)",
	    DEEP);
}

/* Makes the trees of the request. Keys come in bursts: what one requested, the next one acts on. */
static void refresh(struct ty_flame_view *v)
{
	if (!v->stale || v->loading.on || v->rc || !v->s)
		return;
	/* Of a recording without samples. */
	if (v->what == TY_HOT_CPU && !v->s->v.n && v->s->waits.n)
		v->what = TY_HOT_WAITS;
	find(v);
}

static void draw(void *self, struct ty_grid *g, const struct ty_palette *p)
{
	struct ty_flame_view *v = self;
	const char *text = NULL;

	ty_grid_clear(g);
	v->w = g->w;
	if (g->w < TY_VIEW_MIN_W || g->h < TY_VIEW_MIN_H) {
		ty_grid_text(g, 0, 0, g->w, "tarry needs a terminal of 40x10",
			     (struct ty_style){0});
		return;
	}
	if (v->loading.on)
		text = "reading the samples and finding their callers";
	if (!text && !v->rc && v->stale) {
		refresh(v);
		open_on_what_ran(v);
		v->shown = true;
	}
	if (!text && v->rc)
		text = v->err.msg;
	else if (!text && !ty_flame_node_of(v, 1, 0)->total)
		text = v->what == TY_HOT_CPU ? "no sample in this window (t: waits, Tab: other "
					       "threads)"
					     : "no wait with a stack in this window (t: CPU "
					       "samples, Tab: other threads)";
	ty_flame_draw(v, g, p, text);
}

/* moving ------------------------------------------------------------------------------------------
 */

static void to_parent(struct ty_flame_view *v)
{
	const struct ty_flame_node *n = ty_flame_node_of(v, v->at, v->node);

	/* From the function to its most frequent caller, and back. */
	if (v->sandwich && !v->at && n->depth <= 2) {
		v->at = 1;
		v->node = ty_flame_node_of(v, 1, 0)->first;
	} else if (v->sandwich && v->at && n->depth <= 1) {
		const uint32_t self = ty_flame_node_of(v, 0, 0)->first;
		const uint32_t caller = ty_flame_node_of(v, 0, self)->first;

		v->at = !caller;
		v->node = caller ? caller : v->node;
	} else if (v->node) {
		v->node = n->parent;
	}
}

static void to_child(struct ty_flame_view *v)
{
	const struct ty_flame *f = &v->pane[v->at].flame;
	uint32_t c = f->v.v[v->node].first;

	/* Each ancestor of the zoomed box has one child only. */
	if (v->node != v->pane[v->at].zoom && ty_flame_is_above(f, v->node, v->pane[v->at].zoom))
		while (c && !ty_flame_is_above(f, c, v->pane[v->at].zoom))
			c = f->v.v[c].next;
	if (c)
		v->node = c;
}

static void to_sibling(struct ty_flame_view *v, int by)
{
	const struct ty_flame *f = &v->pane[v->at].flame;
	const struct ty_flame_node *n = &f->v.v[v->node];
	uint32_t before = 0, c = v->node ? f->v.v[n->parent].first : 0;

	if (by > 0) {
		v->node = n->next ? n->next : v->node;
		return;
	}
	for (; c && c != v->node; c = f->v.v[c].next)
		before = c;
	v->node = before ? before : v->node;
}

/* By rows of the screen: up is away from the root where that is below. */
static void up_down(struct ty_flame_view *v, int by)
{
	const bool deeper = v->pane[v->at].upwards ? by < 0 : by > 0;

	for (int i = abs(by); i > 0; i--)
		if (deeper)
			to_child(v);
		else
			to_parent(v);
}

/* To the root, or to the deepest function of the stack that is called most. */
static void to_end(struct ty_flame_view *v, bool deepest)
{
	for (uint32_t was = UINT32_MAX; deepest && v->node != was; to_child(v))
		was = v->node;
	while (!deepest && v->node)
		v->node = ty_flame_node_of(v, v->at, v->node)->parent;
}

static void zoom_to(struct ty_flame_view *v)
{
	v->pane[v->at].zoom = v->node;
}

/* To the root; from there to the whole recording. */
static void zoom_out(struct ty_flame_view *v)
{
	const struct ty_summary *all = v->in.model ? ty_model_summary(v->in.model) : NULL;

	if (!v->pane[0].zoom && !v->pane[1].zoom && all &&
	    (v->in.from_ns > all->start_ns || v->in.to_ns < all->end_ns)) {
		v->in.from_ns = all->start_ns;
		v->in.to_ns = all->end_ns;
		snprintf(v->in.when, sizeof(v->in.when), "the whole recording");
		v->stale = true;
	} else if (!v->pane[0].zoom && !v->pane[1].zoom) {
		say(v, "not zoomed: this is the whole graph");
	}
	v->pane[0].zoom = v->pane[1].zoom = 0;
}

/* The next box that matches, in the order of the tree. */
static void next_hit(struct ty_flame_view *v, int by)
{
	const struct ty_flame *f = &v->pane[v->at].flame;
	const uint32_t n = (uint32_t)f->v.n;
	uint32_t i = v->node;

	if (!*v->needle) {
		say(v, "press / to search for a function");
		return;
	}
	for (uint32_t k = 0; k < n; k++) {
		i = (i + (by > 0 ? 1 : n - 1)) % n;
		if (ty_flame_is_hit(v, &f->v.v[i])) {
			v->node = i;
			if (!ty_flame_is_above(f, v->pane[v->at].zoom, i))
				v->pane[v->at].zoom = 0;
			return;
		}
	}
	say(v, "no function here has '%s' in its name", v->needle);
}

/* Back to the tree as it was. */
static void leave_callers(struct ty_flame_view *v)
{
	if (!v->sandwich)
		return;
	v->sandwich = false;
	v->inverted = v->tree_inverted;
	v->stale = true;
}

static void focus_here(struct ty_flame_view *v)
{
	const uint32_t func = ty_flame_node_of(v, v->at, v->node)->func;

	if (v->sandwich && func == v->focus) {
		leave_callers(v);
	} else if (func == UINT32_MAX) {
		say(v, "choose a function first: its callers and callees are shown");
		return;
	} else {
		v->tree_inverted = v->sandwich ? v->tree_inverted : v->inverted;
		v->sandwich = true;
		v->inverted = false;
		v->focus = func;
	}
	v->stale = true;
}

static void next_scope(struct ty_flame_view *v)
{
	if (!v->in.tid) {
		say(v, "to choose a thread or process: go back and put the cursor on its row");
		return;
	}
	v->scope = (v->scope + 1) % (TY_FLAME_THREAD + 1);
	v->stale = true;
	leave_callers(v);
}

static void next_what(struct ty_flame_view *v)
{
	if (!v->s || !v->s->waits.n) {
		say(v, "no stack of a wait was recorded (record --stacks T)");
		return;
	}
	v->what = (v->what + 1) % (TY_HOT_BOTH + 1);
	if (v->what == TY_HOT_BOTH &&
	    (!v->s->v.n || !(v->s->clock || (v->s->of_time && v->in.model))))
		v->what = v->s->v.n ? TY_HOT_CPU : TY_HOT_WAITS;
	else if (v->what == TY_HOT_CPU && !v->s->v.n)
		v->what = TY_HOT_WAITS;
	v->stale = true;
	leave_callers(v);
}

static enum ty_view_result back(struct ty_flame_view *v)
{
	if (ty_flame_has_tree(v) && v->pane[v->at].zoom)
		v->pane[v->at].zoom = ty_flame_node_of(v, v->at, v->pane[v->at].zoom)->parent;
	else if (*v->needle)
		*v->needle = 0;
	else if (v->sandwich)
		leave_callers(v);
	else
		return TY_VIEW_CLOSE;
	return TY_VIEW_CHANGED;
}

static struct ty_help_topic help(const void *self)
{
	static const struct ty_help_key keys[] = {
		{TY_ACT_LEFT, TY_ACT_RIGHT, "go to the next function of the same caller"},
		{TY_ACT_UP, TY_ACT_DOWN, "go to the caller, to the function it called most"},
		{TY_ACT_OPEN, TY_ACT_NONE, "zoom: the function takes the whole width"},
		{TY_ACT_ALL, TY_ACT_NONE, "zoom out to all samples; again: of the whole recording"},
		{TY_ACT_CHAIN, TY_ACT_NONE,
		 "callers and callees of this function; again: the tree"},
		{TY_ACT_FLAME, TY_ACT_NONE,
		 "invert: begin with the functions that ran, and show their callers"},
		{TY_ACT_FOLD, TY_ACT_NONE, "flip the flame graph (root at the bottom or top)"},
		{TY_ACT_FOCUS, TY_ACT_NONE,
		 "switch between all threads, the process and the thread"},
		{TY_ACT_LEDGER, TY_ACT_NONE,
		 "switch between CPU samples, waits with a stack, and both (if the sampled event "
		 "is "
		 "a clock)"},
		{TY_ACT_SEARCH, TY_ACT_NONE, "search: mark functions by a part of their name"},
		{TY_ACT_NEXT, TY_ACT_PREV, "go to the next, the previous marked function"},
		{TY_ACT_BACK, TY_ACT_NONE, "undo zoom, search, callers; otherwise go back"},
		{TY_ACT_QUIT, TY_ACT_NONE, "undo callers; otherwise go back"},
	};
	static const char *const lines[] = {
		"A box is as wide as its function's share of the samples, with what it called. "
		"Green: user code. Blue: the kernel. Yellow or *: matches the search.",
		"Mouse: a click chooses, a double click zooms, the wheel moves along the stack.",
		"Shares are estimates, shown with their 95% confidence interval. If switches are "
		"recorded, the exact time on CPU of a thread is split by its samples.",
		"Waits are not sampled: their lengths are exact. Only waits of T or more have a "
		"stack (record --stacks T, default 20ms). It ends in [sleeping] or [blocked].",
	};

	return (struct ty_help_topic){.title = "Flame graph",
				      .keys = keys,
				      .keys_n = sizeof(keys) / sizeof(*keys),
				      .lines = lines,
				      .lines_n = sizeof(lines) / sizeof(*lines)};
}

/* What needs no tree. */
static enum ty_view_result leave(struct ty_flame_view *v, enum ty_action a)
{
	switch (a) {
	case TY_ACT_HELP: return TY_VIEW_HELP;
	case TY_ACT_REDRAW: return TY_VIEW_REDRAW;
	case TY_ACT_QUIT:
		if (!v->sandwich)
			return TY_VIEW_CLOSE;
		leave_callers(v);
		return TY_VIEW_CHANGED;
	case TY_ACT_BACK: return back(v);
	case TY_ACT_FOCUS: next_scope(v); return TY_VIEW_CHANGED;
	case TY_ACT_LEDGER: next_what(v); return TY_VIEW_CHANGED;
	default: return TY_VIEW_IGNORED;
	}
}

static enum ty_view_result act(void *self, enum ty_action a)
{
	struct ty_flame_view *v = self;
	enum ty_view_result r;

	v->message[0] = 0;
	refresh(v);
	r = leave(v, a);
	if (r != TY_VIEW_IGNORED || !ty_flame_has_tree(v))
		return r == TY_VIEW_IGNORED ? TY_VIEW_CHANGED : r;
	switch (a) {
	case TY_ACT_LEFT: to_sibling(v, -1); break;
	case TY_ACT_RIGHT: to_sibling(v, 1); break;
	case TY_ACT_UP: up_down(v, -1); break;
	case TY_ACT_DOWN: up_down(v, 1); break;
	case TY_ACT_PAN_LEFT: to_sibling(v, -1); break;
	case TY_ACT_PAN_RIGHT: to_sibling(v, 1); break;
	case TY_ACT_ROW_FIRST:
	case TY_ACT_TIME_FIRST: to_end(v, v->pane[v->at].upwards); break;
	case TY_ACT_ROW_LAST:
	case TY_ACT_TIME_LAST: to_end(v, !v->pane[v->at].upwards); break;
	case TY_ACT_PAGE_UP: up_down(v, -8); break;
	case TY_ACT_PAGE_DOWN: up_down(v, 8); break;
	case TY_ACT_OPEN:
	case TY_ACT_ZOOM_IN:
	case TY_ACT_ZOOM_SPAN: zoom_to(v); break;
	case TY_ACT_UNDO:
	case TY_ACT_ZOOM_OUT:
		v->pane[v->at].zoom = ty_flame_node_of(v, v->at, v->pane[v->at].zoom)->parent;
		break;
	case TY_ACT_ALL: zoom_out(v); break;
	case TY_ACT_CHAIN: focus_here(v); break;
	case TY_ACT_FLAME:
		v->inverted = !v->inverted;
		v->sandwich = false;
		v->stale = true;
		break;
	case TY_ACT_FOLD: v->root_below = !v->root_below; break;
	case TY_ACT_SEARCH:
		v->prompting = true;
		snprintf(v->typed, sizeof(v->typed), "%s", v->needle);
		break;
	case TY_ACT_NEXT:
	case TY_ACT_HIT_NEXT: next_hit(v, 1); break;
	case TY_ACT_PREV:
	case TY_ACT_HIT_PREV: next_hit(v, -1); break;
	default: say(v, "%s", TY_NO_KEY); break;
	}
	return TY_VIEW_CHANGED;
}

static bool wants_text(const void *self)
{
	return ((const struct ty_flame_view *)self)->prompting;
}

static enum ty_view_result text(void *self, uint32_t key)
{
	struct ty_flame_view *v = self;

	refresh(v);
	if (ty_input_prompt_key(&v->prompting, v->typed, sizeof(v->typed), key) != TY_INPUT_ENTERED)
		return TY_VIEW_CHANGED;
	snprintf(v->needle, sizeof(v->needle), "%s", v->typed);
	if (*v->needle && ty_flame_has_tree(v) &&
	    !ty_flame_is_hit(v, ty_flame_node_of(v, v->at, v->node)))
		next_hit(v, 1);
	return TY_VIEW_CHANGED;
}

/* mouse -------------------------------------------------------------------------------------------
 */

static enum ty_view_result mouse(void *self, const struct ty_mouse *m)
{
	struct ty_flame_view *v = self;
	unsigned pane;
	uint32_t node;

	refresh(v);
	if (!ty_flame_has_tree(v))
		return TY_VIEW_IGNORED;
	v->message[0] = 0;
	if (m->what == TY_MOUSE_WHEEL_UP || m->what == TY_MOUSE_WHEEL_DOWN) {
		up_down(v, m->what == TY_MOUSE_WHEEL_UP ? -1 : 1);
		return TY_VIEW_CHANGED;
	}
	if (m->what != TY_MOUSE_CLICK && m->what != TY_MOUSE_DOUBLE)
		return TY_VIEW_IGNORED;
	if (!ty_flame_at(v, m->x, m->y, &pane, &node))
		return TY_VIEW_IGNORED;
	v->at = pane;
	v->node = node;
	if (m->what == TY_MOUSE_DOUBLE)
		zoom_to(v);
	return TY_VIEW_CHANGED;
}

/* the view ----------------------------------------------------------------------------------------
 */

static bool loading(const void *self)
{
	return ((const struct ty_flame_view *)self)->loading.on;
}

static int wait_ms(const void *self)
{
	return ((const struct ty_flame_view *)self)->loading.on ? LOOK_MS : -1;
}

static enum ty_view_result work(void *self)
{
	struct ty_flame_view *v = self;

	return ty_background_wait(&v->loading, v->in.aside ? 0 : LOOK_MS) ? TY_VIEW_CHANGED
									  : TY_VIEW_IGNORED;
}

struct ty_flame_view *ty_flame_view_new(const struct ty_flame_input *in)
{
	struct ty_flame_view *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->in = *in;
	v->s = in->samples;
	v->stale = true;
	v->scope = TY_FLAME_ALL;
	v->at = 1;
	if (!v->s) {
		ty_background_start(&v->loading, in->aside, load, v);
		ty_background_wait(&v->loading, LOOK_MS);
	}
	return v;
}

void ty_flame_view_free(struct ty_flame_view *v)
{
	if (!v)
		return;
	ty_background_stop(&v->loading);
	ty_flame_fini(&v->pane[0].flame);
	ty_flame_fini(&v->pane[1].flame);
	free(v);
}

const struct ty_view_ops ty_flame_view_ops = {
	.name = "flame",
	.help = help,
	.draw = draw,
	.act = act,
	.mouse = mouse,
	.wants_text = wants_text,
	.text = text,
	.loading = loading,
	.wait_ms = wait_ms,
	.work = work,
};
