/* SPDX-License-Identifier: MIT */
/* The main loop: draw, wait for input, process all pending input, draw again: one frame per
 * burst. */
#include "app.h"

#include <string.h>

#include "help.h"
#include "term.h"
#include "timeline.h"

#define DEPTH 4

struct app {
	struct ty_term *term;
	struct ty_palette palette;
	struct ty_grid grid;
	struct {
		const struct ty_view_ops *ops;
		void *self;
	} stack[DEPTH];
	int n;
	struct ty_help help;
	const char *note, *scope;
	bool dirty, afresh;
	uint32_t kept[128]; /* keys for a view that is loading */
	unsigned kept_n;
	const void *kept_for;
	bool kept_text; /* they are the text of a prompt now */
};

static void push(struct app *a, const struct ty_view_ops *ops, void *self)
{
	if (a->n == DEPTH)
		return;
	a->stack[a->n].ops = ops;
	a->stack[a->n++].self = self;
}

static int resize(struct app *a, struct ty_err *err)
{
	int w, h, rc;

	ty_term_size(a->term, &w, &h);
	ty_grid_fini(&a->grid);
	rc = ty_grid_init(&a->grid, w, h);
	return rc ? ty_fail(err, -rc, TY_NO_OFFSET, "cannot draw a screen of %dx%d cells: %s", w, h,
			    ty_strerror(rc))
		  : 0;
}

/* Handles the result of the i-th view. False: the program ends. */
static bool take(struct app *a, int i, enum ty_view_result r)
{
	const struct ty_view_ops *ops = a->stack[i].ops;
	void *child;

	a->dirty |= r != TY_VIEW_IGNORED;
	switch (r) {
	case TY_VIEW_QUIT: return false;
	case TY_VIEW_CLOSE:
		if (!--a->n)
			return false;
		ops = a->stack[a->n - 1].ops;
		return !ops->resumed || take(a, a->n - 1, ops->resumed(a->stack[a->n - 1].self));
	case TY_VIEW_PUSH:
		a->stack[i].ops->child(a->stack[i].self, &ops, &child);
		push(a, ops, child);
		return true;
	case TY_VIEW_HELP:
		a->help = (struct ty_help){.note = a->note, .scope = a->scope};
		if (ops->help)
			a->help.topic = ops->help(a->stack[i].self);
		push(a, &ty_help_ops, &a->help);
		return true;
	case TY_VIEW_REDRAW: a->afresh = true; return true;
	default: return true;
	}
}

static bool is_loading(const struct app *a)
{
	const struct ty_view_ops *ops = a->stack[a->n - 1].ops;

	return ops->loading && ops->loading(a->stack[a->n - 1].self);
}

/* Keeps a key for a view that is loading; the view is given those that need nothing. */
static bool keep(struct app *a, uint32_t key)
{
	const enum ty_action action = ty_keys_action(key);
	const void *self = a->stack[a->n - 1].self;

	if (!is_loading(a))
		return false;
	if (!a->kept_n || a->kept_for != self)
		a->kept_n = a->kept_text = 0;
	if (!a->kept_text && (action == TY_ACT_HELP || action == TY_ACT_REDRAW))
		return false;
	if (!a->kept_text && (action == TY_ACT_QUIT || action == TY_ACT_BACK)) {
		a->kept_n = 0;
		return false;
	}
	/* Behind the key of a search they are text, up to its end. */
	a->kept_text =
		a->kept_text ? key != TY_KEY_ENTER && key != TY_KEY_ESC : action == TY_ACT_SEARCH;
	a->kept_for = self;
	if (a->kept_n < sizeof(a->kept) / sizeof(*a->kept))
		a->kept[a->kept_n++] = key;
	return true;
}

static bool give(struct app *a, const struct ty_input *in)
{
	const struct ty_view_ops *ops = a->stack[a->n - 1].ops;
	void *self = a->stack[a->n - 1].self;

	if (in->what == TY_INPUT_KEY && keep(a, in->key))
		return true;

	if (in->what == TY_INPUT_MOUSE)
		return take(a, a->n - 1, ops->mouse(self, &in->mouse));
	if (in->what != TY_INPUT_KEY)
		return true;
	if (ops->wants_text && ops->wants_text(self))
		return take(a, a->n - 1, ops->text(self, in->key));
	return take(a, a->n - 1, ops->act(self, ty_keys_action(in->key)));
}

/* Gives the keys that were kept to the view they are for, once it is on top and not loading. Those
 * for a prompt that it does not open are dropped. */
static bool give_kept(struct app *a)
{
	const struct ty_view_ops *ops = a->stack[a->n - 1].ops;
	void *self = a->stack[a->n - 1].self;
	const unsigned n = a->kept_n;
	bool go_on = true;

	if (!n || self != a->kept_for || is_loading(a))
		return true;
	/* What is drawn, it may look at. */
	ops->draw(self, &a->grid, &a->palette);
	a->kept_n = 0;
	for (unsigned i = 0; go_on && i < n && a->stack[a->n - 1].self == self; i++) {
		const bool text = ops->wants_text && ops->wants_text(self);

		go_on = give(a, &(struct ty_input){.what = TY_INPUT_KEY, .key = a->kept[i]});
		if (!text && ty_keys_action(a->kept[i]) == TY_ACT_SEARCH &&
		    !(ops->wants_text && ops->wants_text(self)))
			break;
	}
	return go_on;
}

static void draw(struct app *a)
{
	a->stack[a->n - 1].ops->draw(a->stack[a->n - 1].self, &a->grid, &a->palette);
	ty_term_show(a->term, &a->grid, &a->palette, a->afresh);
	a->dirty = a->afresh = false;
}

/* How long input may be waited for: views below the topmost one work on, too. */
static int wait_ms(const struct app *a)
{
	int least = -1;

	for (int i = 0; i < a->n; i++) {
		int ms = a->stack[i].ops->wait_ms ? a->stack[i].ops->wait_ms(a->stack[i].self) : -1;

		if (ms >= 0 && (least < 0 || ms < least))
			least = ms;
	}
	return least;
}

static bool work(struct app *a)
{
	bool go_on = true;

	for (int i = 0; i < a->n && go_on; i++)
		if (a->stack[i].ops->wait_ms && a->stack[i].ops->wait_ms(a->stack[i].self) >= 0)
			go_on = take(a, i, a->stack[i].ops->work(a->stack[i].self));
	return go_on;
}

static int loop(struct app *a, struct ty_err *err)
{
	for (;;) {
		struct ty_input in;
		int rc;

		if (a->dirty)
			draw(a);
		in = ty_term_read(a->term, wait_ms(a));
		if (in.what == TY_INPUT_NONE && (!work(a) || !give_kept(a)))
			return 0;
		for (; in.what != TY_INPUT_NONE; in = ty_term_read(a->term, 0)) {
			if (in.what == TY_INPUT_END)
				return in.signal;
			if (in.what == TY_INPUT_RESIZE) {
				rc = resize(a, err);
				if (rc)
					return rc;
				a->dirty = true;
			} else if (!give(a, &in)) {
				return 0;
			}
		}
	}
}

static int run(const struct ty_view_ops *ops, void *self, const char *note, const char *scope,
	       const char *color, struct ty_err *err)
{
	struct app a = {.dirty = true, .note = note, .scope = scope};
	int rc = ty_term_open(&a.term, err);

	if (!rc) {
		a.palette = ty_palette_detect(ty_term_colors(a.term));
		if (color)
			ty_palette_choose(&a.palette, color);
		ty_palette_clamp(&a.palette, ty_term_colors(a.term));
		push(&a, ops, self);
		rc = resize(&a, err);
		if (!rc)
			rc = loop(&a, err);
		ty_term_close(a.term);
	}
	ty_grid_fini(&a.grid);
	return rc;
}

/* The work that waits for an idle moment is done, too. */
static int print(const struct ty_view_ops *ops, void *self, const struct ty_app_frame *to,
		 struct ty_err *err)
{
	struct ty_grid g;
	int rc = ty_grid_init(&g, to->w, to->h);

	if (rc)
		return ty_fail(err, -rc, TY_NO_OFFSET, "cannot draw a frame of %dx%d cells: %s",
			       to->w, to->h, ty_strerror(rc));
	ops->draw(self, &g, &to->palette);
	if (ops->wait_ms(self) >= 0) {
		while (ops->wait_ms(self) >= 0)
			ops->work(self);
		ops->draw(self, &g, &to->palette);
	}
	rc = ty_grid_dump(&g, &to->palette, to->out);
	ty_grid_fini(&g);
	return rc ? ty_fail(err, -rc, TY_NO_OFFSET, "cannot write a frame of %dx%d cells: %s",
			    to->w, to->h, ty_strerror(rc))
		  : 0;
}

int ty_app_show(const struct ty_app_input *in, const char *color, const struct ty_app_frame *to,
		struct ty_err *err)
{
	const struct ty_view_ops *ops = &ty_timeline_ops;
	const char *note = NULL, *scope = NULL;
	struct ty_memory_view *memory = NULL;
	struct ty_flame_view *flame = NULL;
	struct ty_timeline *timeline = NULL;
	void *self;
	int rc = 0;

	if (in->memory) {
		ops = &ty_memory_view_ops;
		note = in->memory->note;
		rc = ty_memory_view_new(in->memory, &memory, err);
		self = memory;
	} else if (in->flame) {
		ops = &ty_flame_view_ops;
		note = in->flame->note;
		self = flame = ty_flame_view_new(in->flame);
		if (!flame)
			rc = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET,
				     "out of memory for the flame graph");
	} else {
		note = in->timeline->note;
		scope = in->timeline->scope;
		rc = ty_timeline_new(in->timeline, &timeline, err);
		self = timeline;
	}
	if (!rc)
		rc = to ? print(ops, self, to, err) : run(ops, self, note, scope, color, err);
	ty_timeline_free(timeline);
	ty_memory_view_free(memory);
	ty_flame_view_free(flame);
	return rc;
}
