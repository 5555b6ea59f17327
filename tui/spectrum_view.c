/* SPDX-License-Identifier: MIT */
/* The spectrogram's state and its keys; see spectrum_view.h. */
#include "spectrum_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call_args.h"
#include "model_time.h"
#include "now.h"
#include "ruler.h"
#include "sentence.h"
#include "spectrum_priv.h"
#include "units.h"

/* Counting that takes no longer is shown in the frame of its key. */
#define AT_ONCE_MS 10
#define LOOK_MS	   15

#define say(v, ...) ty_put_instead((v)->message, sizeof((v)->message), __VA_ARGS__)

/* rows and cells ------------------------------------------------------------------------------ */

/* counting ------------------------------------------------------------------------------------ */

static void count(void *ctx)
{
	struct ty_spec_counting *c = ctx;

	c->rc = ty_spectrum_find(&c->explain, &c->request, c->cols, &c->s);
}

static void count_kinds(void *ctx)
{
	struct ty_spec_kinding *k = ctx;

	k->rc = ty_spectrum_kinds(&k->explain, &k->request, &k->v, &k->n);
}

/* Rows hold all that was seen of this kind, and at least one bin each. */
static void widen(struct ty_spectrum_view *v)
{
	unsigned h = (unsigned)(v->lay.heat_h > 0 ? v->lay.heat_h : 1);

	if (v->s.n) {
		bool none = v->lo >= v->hi;

		v->lo = none || v->s.first < v->lo ? v->s.first : v->lo;
		v->hi = none || v->s.end > v->hi ? v->s.end : v->hi;
	}
	while (v->hi - v->lo < h && v->hi - v->lo < TY_SPEC_BINS) {
		v->hi += v->hi < TY_SPEC_BINS;
		v->lo -= v->lo > 0 && v->hi - v->lo < h;
	}
	if (v->s.n && !v->bin_set)
		v->bin = ty_spec_bin(v->s.worst.end_ns - v->s.worst.start_ns);
	v->bin = v->bin < v->lo ? v->lo : v->bin >= v->hi ? v->hi - 1 : v->bin;
}

static void counted(struct ty_spectrum_view *v)
{
	if (v->counting.rc) {
		ty_spectrum_fini(&v->counting.s);
		return;
	}
	ty_spectrum_fini(&v->s);
	v->s = v->counting.s;
	v->of = v->counting.request;
	v->counting.s = (struct ty_spectrum){0};
	widen(v);
}

/* Counts the displayed part, unless that is done or in progress. */
static void follow(struct ty_spectrum_view *v)
{
	struct ty_spec_counting *c = &v->counting;
	struct ty_spec_query now = ty_spec_query_of(v, v->on.vp->from_ns, v->on.vp->to_ns);

	if (c->aside.on && c->cols == (uint32_t)v->lay.cells_w &&
	    ty_spec_query_same(&c->request, &now)) {
		if (ty_background_wait(&c->aside, 0))
			counted(v);
		return;
	}
	if (ty_spec_is_counted(v))
		return;
	if (ty_background_stop(&c->aside))
		ty_spectrum_fini(&c->s);
	c->request = now;
	c->cols = (uint32_t)v->lay.cells_w;
	ty_background_start(&c->aside, v->on.in->aside, count, c);
	if (ty_background_wait(&c->aside, AT_ONCE_MS))
		counted(v);
}

static void kinds_found(struct ty_spectrum_view *v)
{
	if (v->kinding.rc) {
		v->no_kinds = "out of memory";
		return;
	}
	free(v->kinds);
	v->kinds = v->kinding.v;
	v->kinds_n = v->kinding.n;
	v->no_kinds = v->kinds_n ? NULL : "nothing to count";
	v->kinding.v = NULL;
}

static void look_for_kinds(struct ty_spectrum_view *v)
{
	struct ty_spec_kinding *k = &v->kinding;

	if (ty_background_stop(&k->aside))
		free(k->v);
	free(v->kinds);
	v->kinds = NULL;
	v->kinds_n = 0;
	v->no_kinds = "counting...";
	k->v = NULL;
	k->request = ty_spec_query_of(v, v->on.vp->start_ns, v->on.vp->end_ns);
	ty_background_start(&k->aside, v->on.in->aside, count_kinds, k);
	if (ty_background_wait(&k->aside, AT_ONCE_MS))
		kinds_found(v);
}

static void draw(void *self, struct ty_grid *g, const struct ty_palette *p)
{
	struct ty_spectrum_view *v = self;
	char text[80];

	ty_grid_clear(g);
	if (g->w < TY_VIEW_MIN_W || g->h < TY_VIEW_MIN_H) {
		snprintf(text, sizeof(text), "tarry needs a terminal of %dx%d", TY_VIEW_MIN_W,
			 TY_VIEW_MIN_H);
		ty_grid_text(g, 0, 0, g->w, text, (struct ty_style){0});
		return;
	}
	v->lay = ty_spec_layout_make(g->w, g->h);
	follow(v);
	widen(v);
	ty_spec_draw(v, g, p);
}

/* moving -------------------------------------------------------------------------------------- */

static uint32_t cells(const struct ty_spectrum_view *v)
{
	return v->lay.cells_w > 0 ? (uint32_t)v->lay.cells_w : 1;
}

static void to_column(struct ty_spectrum_view *v, uint32_t c)
{
	uint64_t a = ty_viewport_edge(v->on.vp, c, cells(v)),
		 b = ty_viewport_edge(v->on.vp, c + 1, cells(v));

	*v->on.cursor_ns = a + (b - a) / 2;
}

static void to_row(struct ty_spectrum_view *v, int k)
{
	int h = v->lay.heat_h;

	k = k < 0 ? 0 : k >= h ? h - 1 : k;
	v->bin = ty_spec_row_begin(v, (unsigned)k);
	v->bin_set = true;
}

static void up_down(struct ty_spectrum_view *v, int by)
{
	to_row(v, (int)ty_spec_row_of(v, v->bin) + by);
}

static void left_right(struct ty_spectrum_view *v, int by)
{
	uint32_t c = ty_viewport_column(v->on.vp, *v->on.cursor_ns, cells(v));
	uint64_t cell = (v->on.vp->to_ns - v->on.vp->from_ns) / cells(v) + 1;

	if (by < 0 && !c)
		ty_viewport_pan(v->on.vp, -(int64_t)cell);
	else if (by > 0 && c + 1 >= cells(v))
		ty_viewport_pan(v->on.vp, (int64_t)cell);
	else
		c += (uint32_t)by;
	to_column(v, c);
}

static void pan(struct ty_spectrum_view *v, int by)
{
	uint32_t c = ty_viewport_column(v->on.vp, *v->on.cursor_ns, cells(v));

	ty_viewport_pan(v->on.vp, by * (int64_t)((v->on.vp->to_ns - v->on.vp->from_ns) / 4 + 1));
	to_column(v, c);
}

/* Along the row to the next cell that holds something. */
static void step(struct ty_spectrum_view *v, int by)
{
	struct ty_spec_box b = ty_spec_box(v);
	uint32_t c = ty_viewport_column(v->on.vp, *v->on.cursor_ns, cells(v));

	for (b.k0 = b.k1 = ty_spec_row_of(v, v->bin); (by > 0 ? c + 1 < cells(v) : c > 0);) {
		c += (uint32_t)by;
		b.c0 = b.c1 = c;
		if (ty_spec_count(v, &b)) {
			to_column(v, c);
			return;
		}
	}
	say(v, "the other cells of this row are empty");
}

static void select_cells(struct ty_spectrum_view *v)
{
	struct ty_spec_box b;

	v->sel = false;
	b = ty_spec_box(v);
	v->sel = true;
	v->sel_ns[0] = ty_viewport_edge(v->on.vp, b.c0, cells(v));
	v->sel_ns[1] = ty_viewport_edge(v->on.vp, b.c1 + 1, cells(v));
	v->sel_bin = v->bin;
}

static void zoom_box(struct ty_spectrum_view *v)
{
	struct ty_spec_box b = ty_spec_box(v);
	uint64_t from = ty_viewport_edge(v->on.vp, b.c0, cells(v)),
		 to = ty_viewport_edge(v->on.vp, b.c1 + 1, cells(v));

	ty_viewport_jump(v->on.vp, from, to);
	*v->on.cursor_ns = from + (to - from) / 2;
	v->sel = false;
}

static void undo(struct ty_spectrum_view *v, bool (*f)(struct ty_viewport *), const char *none)
{
	if (f(v->on.vp))
		*v->on.cursor_ns = v->on.vp->here.cursor_ns;
	else
		say(v, "%s", none);
}

/* kind and scope ------------------------------------------------------------------------------ */

static void take_kind(struct ty_spectrum_view *v, const struct ty_spec_kind *k)
{
	v->kind = *k;
	v->lo = v->hi = 0;
	v->bin_set = v->sel = false;
}

static void next_kind(struct ty_spectrum_view *v, int by)
{
	uint32_t i = 0, n = v->kinds_n;

	if (v->no_kinds) {
		say(v, "no other kind of latency: %s", v->no_kinds);
		return;
	}
	while (i < n && !ty_spec_same(&v->kinds[i].kind, &v->kind))
		i++;
	i = i == n ? (by > 0 ? 0 : n - 1) : (i + n + (uint32_t)by) % n;
	take_kind(v, &v->kinds[i].kind);
}

static void next_scope(struct ty_spectrum_view *v)
{
	if (v->on.thread == TY_NONE) {
		say(v,
		    "to choose a thread or process: go back and put the cursor on its row first");
		return;
	}
	v->scope = v->scope == TY_SPEC_ALL	 ? TY_SPEC_PROCESS
		   : v->scope == TY_SPEC_PROCESS ? TY_SPEC_THREAD
						 : TY_SPEC_ALL;
	take_kind(v, &(struct ty_spec_kind){v->kind.of, v->kind.state, v->kind.abi, v->kind.nr});
	look_for_kinds(v);
}

/* pages --------------------------------------------------------------------------------------- */

static void forget_listing(struct ty_spec_listing *l)
{
	for (uint32_t i = 0; i < TY_SPEC_NAMED; i++) {
		free(l->object[i]);
		l->object[i] = NULL;
	}
	free(l->v);
	l->v = NULL;
}

/* The spans that are being listed are no longer wanted. False: there were none. */
static bool drop_listing(struct ty_spectrum_view *v)
{
	if (!ty_background_stop(&v->listing.aside))
		return false;
	forget_listing(&v->listing);
	v->message[0] = 0;
	return true;
}

static enum ty_view_result kinds_page(struct ty_spectrum_view *v)
{
	char name[32];

	if (v->no_kinds) {
		say(v, "nothing to list: %s", v->no_kinds);
		return TY_VIEW_CHANGED;
	}
	ty_page_reset(&v->page);
	v->page_of_kinds = true;
	snprintf(v->page.title, sizeof(v->page.title), "Choose a kind of latency");
	v->page.name = "Kinds of latency";
	v->page.about = "The kinds of waits and the system calls, with how many began in the "
			"recording.";
	v->page.enter = "choose";
	v->page.find.typing = v->page.quick = true;
	for (uint32_t i = 0; i < v->kinds_n; i++) {
		const struct ty_spec_kind_sum *k = &v->kinds[i];

		ty_page_add(&v->page, k->kind.of == TY_SPEC_CALL ? TY_ROLE_TEXT : TY_ROLE_STRONG,
			    "%-17s %8" PRIu64 "  mean %8s  longest %8s  sum %8s",
			    ty_spec_name(v->on.in->arch, &k->kind, name), k->n,
			    ty_duration(k->n ? k->total_ns / k->n : 0), ty_duration(k->max_ns),
			    ty_duration(k->total_ns));
		ty_page_link(&v->page, TY_NONE, 0);
		if (ty_spec_same(&k->kind, &v->kind))
			v->page.at = v->page.find.from = (int)i;
	}
	return TY_VIEW_PUSH;
}

static void list_spans(void *ctx)
{
	struct ty_spec_listing *l = ctx;
	int64_t start;

	l->rc = ty_spectrum_list(&l->explain, &l->request, l->before, l->min_ns, l->end_ns,
				 TY_SPEC_LIST_MAX, &l->v, &l->n, &l->all);
	start = ty_now_ms();
	for (uint32_t i = 0;
	     !l->rc && i < l->n && i < TY_SPEC_NAMED && ty_now_ms() - start < TY_NAMES_MS; i++) {
		uint32_t call = l->request.kind.of == TY_SPEC_CALL ? l->v[i].index : TY_NONE;
		struct ty_buf b;

		if (call == TY_NONE || ty_explain_stopped(&l->explain))
			break;
		ty_buf_init(&b, 8192);
		if (!ty_call_object(&l->explain, call, &b) && b.p)
			l->object[i] = strdup(b.p);
		ty_buf_fini(&b);
	}
}

static enum ty_view_result listed(struct ty_spectrum_view *v)
{
	struct ty_spec_listing *l = &v->listing;
	char name[32], len[TY_TIME_MAX], who[TY_SPEC_THREAD_NAME_MAX];

	if (l->rc || !l->n) {
		say(v, l->rc ? "out of memory for the list" : "this cell is empty");
		forget_listing(l);
		return TY_VIEW_CHANGED;
	}
	ty_page_reset(&v->page);
	v->page_of_kinds = false;
	snprintf(v->page.title, sizeof(v->page.title), "%" PRIu64 " of %s%s, the longest first",
		 l->all, ty_spec_name(v->on.in->arch, &l->request.kind, name),
		 l->window ? " in the window" : "");
	for (uint32_t i = 0; i < l->n; i++) {
		const struct ty_spec_span *s = &l->v[i];
		const char *object = i < TY_SPEC_NAMED ? l->object[i] : NULL;

		ty_page_add(&v->page, TY_ROLE_TEXT, "%11s  %-16s %12s%s%s",
			    ty_fmt_length(s->end_ns - s->start_ns, len),
			    s->thread == TY_NONE
				    ? ty_spec_thread_name(v, s->thread, s->start_ns, who)
				    : ty_model_who_within(v->m, s->thread, s->start_ns, 16, who),
			    ty_time(v->m, *v->on.clock, s->start_ns, 1000), object ? "  " : "",
			    object ? object : "");
		ty_page_link(&v->page, s->thread, s->start_ns);
	}
	if (l->all > l->n)
		ty_page_add(&v->page, TY_ROLE_DIM, "%12s and %" PRIu64 " shorter ones", "",
			    l->all - l->n);
	forget_listing(l);
	v->page.name = "Latencies: a list";
	v->page.about =
		"Waits or calls that began in the cell, rectangle or window, longest first: "
		"length, thread, start, and the file that a call acts on.";
	return TY_VIEW_PUSH;
}

static enum ty_view_result list_box(struct ty_spectrum_view *v)
{
	struct ty_spec_listing *l = &v->listing;
	struct ty_spec_box b = ty_spec_box(v);

	if (!ty_spec_is_counted(v) || !v->s.n || (v->sel && !ty_spec_count(v, &b))) {
		say(v, "this %s is empty", v->sel ? "rectangle" : "window");
		return TY_VIEW_CHANGED;
	}
	drop_listing(v);
	/* Where the cell has none, all of the window. */
	l->window = !v->sel && !ty_spec_count(v, &b);
	if (l->window)
		b = (struct ty_spec_box){.c1 = cells(v) - 1};
	l->request = ty_spec_query_of(v, ty_viewport_edge(v->on.vp, b.c0, cells(v)),
				      ty_viewport_edge(v->on.vp, b.c1 + 1, cells(v)));
	l->before = !b.c0;
	l->min_ns = l->window ? 0 : ty_spec_bin_begin(ty_spec_row_begin(v, b.k0));
	l->end_ns = l->window ? UINT64_MAX : ty_spec_bin_begin(ty_spec_row_begin(v, b.k1 + 1));
	ty_background_start(&l->aside, v->on.in->aside, list_spans, l);
	if (ty_background_wait(&l->aside, AT_ONCE_MS))
		return listed(v);
	say(v, "listing; Esc stops");
	return TY_VIEW_CHANGED;
}

static enum ty_view_result lead(struct ty_spectrum_view *v, uint32_t thread, uint64_t at_ns)
{
	v->leads = true;
	v->lead_thread = thread;
	v->lead_ns = at_ns;
	return TY_VIEW_CLOSE;
}

static enum ty_view_result back(struct ty_spectrum_view *v)
{
	if (drop_listing(v)) {
		say(v, "stopped");
	} else if (v->sel) {
		v->sel = false;
	} else {
		return TY_VIEW_CLOSE;
	}
	return TY_VIEW_CHANGED;
}

static enum ty_view_result act(void *self, enum ty_action a)
{
	struct ty_spectrum_view *v = self;
	struct ty_viewport *vp = v->on.vp;

	v->message[0] = 0;
	vp->here.cursor_ns = *v->on.cursor_ns;
	switch (a) {
	case TY_ACT_ZOOM_IN: ty_viewport_zoom(vp, *v->on.cursor_ns, 1, 2); break;
	case TY_ACT_ZOOM_OUT: ty_viewport_zoom(vp, *v->on.cursor_ns, 2, 1); break;
	case TY_ACT_PAN_LEFT: pan(v, -1); break;
	case TY_ACT_PAN_RIGHT: pan(v, 1); break;
	case TY_ACT_ALL: ty_viewport_jump(vp, vp->start_ns, vp->end_ns); break;
	case TY_ACT_ZOOM_SPAN: zoom_box(v); break;
	case TY_ACT_UNDO: undo(v, ty_viewport_undo, "nothing to undo"); break;
	case TY_ACT_REDO: undo(v, ty_viewport_redo, "nothing to redo"); break;
	case TY_ACT_TIME_FIRST:
		*v->on.cursor_ns = vp->start_ns;
		ty_viewport_follow(vp, vp->start_ns);
		break;
	case TY_ACT_TIME_LAST:
		*v->on.cursor_ns = vp->end_ns - 1;
		ty_viewport_follow(vp, vp->end_ns - 1);
		break;
	case TY_ACT_LEFT: left_right(v, -1); break;
	case TY_ACT_RIGHT: left_right(v, 1); break;
	case TY_ACT_SPAN_PREV: step(v, -1); break;
	case TY_ACT_SPAN_NEXT: step(v, 1); break;
	case TY_ACT_UP: up_down(v, 1); break;
	case TY_ACT_DOWN: up_down(v, -1); break;
	case TY_ACT_PAGE_UP: up_down(v, 5); break;
	case TY_ACT_PAGE_DOWN: up_down(v, -5); break;
	case TY_ACT_ROW_FIRST: up_down(v, INT16_MAX); break;
	case TY_ACT_ROW_LAST: up_down(v, -INT16_MAX); break;
	case TY_ACT_NEXT: next_kind(v, 1); break;
	case TY_ACT_PREV: next_kind(v, -1); break;
	case TY_ACT_SEARCH:
		drop_listing(v); /* its page would be opened above this one */
		return kinds_page(v);
	case TY_ACT_FOCUS: next_scope(v); break;
	case TY_ACT_SELECT: select_cells(v); break;
	case TY_ACT_OPEN: return list_box(v);
	case TY_ACT_LINK_1:
		if (ty_spec_is_counted(v) && v->s.n)
			return lead(v, v->s.worst.thread, v->s.worst.start_ns);
		say(v, "nothing to count here");
		break;
	case TY_ACT_HELP: drop_listing(v); return TY_VIEW_HELP;
	case TY_ACT_REDRAW: return TY_VIEW_REDRAW;
	case TY_ACT_BACK: return back(v);
	case TY_ACT_SPECTRUM:
	case TY_ACT_QUIT: return TY_VIEW_CLOSE;
	default: say(v, "%s", TY_NO_KEY); break;
	}
	if (*v->on.cursor_ns < vp->from_ns)
		*v->on.cursor_ns = vp->from_ns;
	if (*v->on.cursor_ns >= vp->to_ns)
		*v->on.cursor_ns = vp->to_ns - 1;
	return TY_VIEW_CHANGED;
}

/* help ---------------------------------------------------------------------------------------- */

static struct ty_help_topic help(const void *self)
{
	static const struct ty_help_key keys[] = {
		{TY_ACT_LEFT, TY_ACT_RIGHT, "move by one cell in time"},
		{TY_ACT_UP, TY_ACT_DOWN, "move to longer, to shorter latencies"},
		{TY_ACT_SPAN_PREV, TY_ACT_SPAN_NEXT,
		 "the previous, the next cell of this row that is not empty"},
		{TY_ACT_OPEN, TY_ACT_NONE,
		 "list the cell or rectangle, longest first (in an empty cell: the window)"},
		{TY_ACT_NEXT, TY_ACT_PREV,
		 "the next, the previous kind of latency (of the list at the right)"},
		{TY_ACT_SEARCH, TY_ACT_NONE, "choose a kind by name"},
		{TY_ACT_FOCUS, TY_ACT_NONE,
		 "switch between all threads, and the process and thread of the row that L was "
		 "pressed on"},
		{TY_ACT_LINK_1, TY_ACT_NONE, "go to the longest one in the timeline"},
		{TY_ACT_SELECT, TY_ACT_NONE, "start a rectangle (or drag the mouse)"},
		{TY_ACT_ZOOM_SPAN, TY_ACT_NONE, "fit the window to the cell or rectangle"},
		{TY_ACT_ZOOM_IN, TY_ACT_ZOOM_OUT, "zoom in and out at the cursor"},
		{TY_ACT_PAN_LEFT, TY_ACT_PAN_RIGHT, "pan a quarter of the window"},
		{TY_ACT_ALL, TY_ACT_NONE, "show the whole recording"},
		{TY_ACT_UNDO, TY_ACT_REDO, "undo; redo a change of the window"},
		{TY_ACT_BACK, TY_ACT_NONE, "stop listing, drop the rectangle; otherwise go back"},
		{TY_ACT_QUIT, TY_ACT_SPECTRUM, "go back to the timeline"},
	};
	static const char *const lines[] = {
		"A column is the time in which waits or calls began. A row is a range of their "
		"lengths, on a logarithmic scale; the number at its left is within that range. "
		"The glyph shows how many there are (the scale is at the right).",
		"The diamond (or *) marks the longest one. ! on the axis: events were lost there.",
	};

	return (struct ty_help_topic){.title = "Latencies",
				      .keys = keys,
				      .keys_n = sizeof(keys) / sizeof(*keys),
				      .lines = lines,
				      .lines_n = sizeof(lines) / sizeof(*lines)};
}

/* mouse --------------------------------------------------------------------------------------- */

static enum ty_view_result mouse(void *self, const struct ty_mouse *m)
{
	struct ty_spectrum_view *v = self;
	const struct ty_spec_layout *l = &v->lay;
	int c = m->x - l->cells_x, k = l->heat_y + l->heat_h - 1 - m->y;
	bool heat = c >= 0 && c < l->cells_w && k >= 0 && k < l->heat_h,
	     ruler = c >= 0 && c < l->cells_w && m->y == 1;

	if (!heat && !ruler)
		return TY_VIEW_IGNORED;
	v->message[0] = 0;
	v->on.vp->here.cursor_ns = *v->on.cursor_ns;
	switch (m->what) {
	case TY_MOUSE_WHEEL_UP:
	case TY_MOUSE_WHEEL_DOWN:
		to_column(v, (uint32_t)c);
		ty_viewport_zoom(v->on.vp, *v->on.cursor_ns, m->what == TY_MOUSE_WHEEL_UP ? 1 : 2,
				 m->what == TY_MOUSE_WHEEL_UP ? 2 : 1);
		return TY_VIEW_CHANGED;
	case TY_MOUSE_CLICK: v->sel = false; break;
	case TY_MOUSE_DRAG:
		if (!v->sel)
			select_cells(v);
		break;
	case TY_MOUSE_DOUBLE: return heat ? list_box(v) : TY_VIEW_IGNORED;
	default: return TY_VIEW_IGNORED;
	}
	to_column(v, (uint32_t)c);
	if (heat)
		to_row(v, k);
	return TY_VIEW_CHANGED;
}

/* the view ------------------------------------------------------------------------------------ */

static void child(void *self, const struct ty_view_ops **ops, void **view)
{
	struct ty_spectrum_view *v = self;

	*ops = &ty_page_ops;
	*view = &v->page;
}

static enum ty_view_result resumed(void *self)
{
	struct ty_spectrum_view *v = self;
	uint32_t at = (uint32_t)v->page.at;

	if (!v->page.chosen)
		return TY_VIEW_CHANGED;
	v->page.chosen = false;
	if (v->page_of_kinds) {
		if (at < v->kinds_n)
			take_kind(v, &v->kinds[at].kind);
		return TY_VIEW_CHANGED;
	}
	return lead(v, v->page.lines.v[at].thread, v->page.lines.v[at].at_ns);
}

static int wait_ms(const void *self)
{
	const struct ty_spectrum_view *v = self;

	return v->counting.aside.on || v->kinding.aside.on || v->listing.aside.on ? LOOK_MS : -1;
}

static enum ty_view_result work(void *self)
{
	struct ty_spectrum_view *v = self;
	enum ty_view_result r = TY_VIEW_IGNORED;

	if (ty_background_wait(&v->kinding.aside, 0)) {
		kinds_found(v);
		r = TY_VIEW_CHANGED;
	}
	if (ty_background_wait(&v->counting.aside, 0)) {
		counted(v);
		r = TY_VIEW_CHANGED;
	}
	if (ty_background_wait(&v->listing.aside, 0)) {
		v->message[0] = 0;
		return listed(v);
	}
	return r;
}

struct ty_spectrum_view *ty_spectrum_view_new(const struct ty_spectrum_on *on)
{
	struct ty_spectrum_view *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->on = *on;
	v->m = on->in->model;
	v->kind = on->kind;
	v->counting.explain = v->kinding.explain = v->listing.explain =
		(struct ty_explain){.m = v->m, .arch = on->in->arch};
	if (on->in->explain)
		v->listing.explain = *on->in->explain;
	v->listing.explain.steps = NULL;
	v->counting.explain.stop = &v->counting.aside.stop;
	v->kinding.explain.stop = &v->kinding.aside.stop;
	v->listing.explain.stop = &v->listing.aside.stop;
	v->lay = ty_spec_layout_make(80, 24);
	look_for_kinds(v);
	return v;
}

void ty_spectrum_view_free(struct ty_spectrum_view *v)
{
	if (!v)
		return;
	ty_background_stop(&v->counting.aside);
	ty_background_stop(&v->kinding.aside);
	ty_background_stop(&v->listing.aside);
	ty_spectrum_fini(&v->counting.s);
	ty_spectrum_fini(&v->s);
	free(v->kinding.v);
	forget_listing(&v->listing);
	free(v->kinds);
	ty_page_reset(&v->page);
	free(v);
}

bool ty_spectrum_view_leads(const struct ty_spectrum_view *v, uint32_t *thread, uint64_t *at_ns,
			    bool *calls)
{
	*calls = v->kind.of == TY_SPEC_CALL;
	*thread = v->lead_thread;
	*at_ns = v->lead_ns;
	return v->leads;
}

const struct ty_view_ops ty_spectrum_view_ops = {
	.name = "spectrum",
	.help = help,
	.draw = draw,
	.act = act,
	.mouse = mouse,
	.child = child,
	.resumed = resumed,
	.wait_ms = wait_ms,
	.work = work,
};
