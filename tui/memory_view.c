/* SPDX-License-Identifier: MIT */
/* The memory view's state, and the actions of keys and mouse; see memory_view.h. */
#include "memory_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base_name.h"
#include "footer.h"
#include "input_line.h"
#include "memory_priv.h"
#include "ruler.h"

#define IDLE_MS	 60 /* the table follows after so long without input */
#define BUSY_MS	 20 /* is it made? */
#define ROWS_MAX 1000000

int ty_memory_view_new(const struct ty_memory_input *in, struct ty_memory_view **out,
		       struct ty_err *err)
{
	struct ty_memory_sum sum = in->points->sum;
	uint64_t from = sum.first_ns, to = sum.last_ns + 1;
	struct ty_memory_view *v;

	*out = NULL;
	if (sum.no_time == sum.samples)
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "%s: the memory samples have no timestamps, so there is no "
			       "timeline; use tarry report %s memory",
			       in->path, in->path);
	v = calloc(1, sizeof(*v));
	if (!v)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", in->path);
	v->in = in;
	v->points = in->points;
	if (in->end_ns) {
		from = in->start_ns < from ? in->start_ns : from;
		to = in->end_ns > to ? in->end_ns : to;
	}
	ty_viewport_init(&v->vp, from, to);
	v->cursor_ns = sum.first_ns;
	*out = v;
	return 0;
}

void ty_memory_view_free(struct ty_memory_view *v)
{
	if (!v)
		return;
	ty_memory_count_stop(v);
	ty_memory_filter_fini(v);
	ty_memory_fini(&v->table);
	ty_sharing_fini(&v->sharing);
	ty_sharing_fini(&v->news.sharing);
	ty_page_reset(&v->page);
	ty_memory_line_drop(&v->line);
	vec_fini(&v->strips);
	free(v->bin);
	free(v);
}

void ty_memory_view_show(struct ty_memory_view *v, uint64_t from_ns, uint64_t to_ns,
			 uint64_t cursor_ns)
{
	v->child = true;
	if (from_ns != v->vp.from_ns || to_ns != v->vp.to_ns)
		ty_viewport_jump(&v->vp, from_ns, to_ns);
	v->cursor_ns = cursor_ns < v->vp.from_ns  ? v->vp.from_ns
		       : cursor_ns >= v->vp.to_ns ? v->vp.to_ns - 1
						  : cursor_ns;
}

void ty_memory_view_extend(struct ty_memory_view *v, uint64_t start_ns, uint64_t end_ns)
{
	v->vp.start_ns = start_ns < v->vp.start_ns ? start_ns : v->vp.start_ns;
	v->vp.end_ns = end_ns > v->vp.end_ns ? end_ns : v->vp.end_ns;
}

bool ty_memory_view_by_source(const struct ty_memory_view *v)
{
	return v->by_source;
}

void ty_memory_view_colours(struct ty_memory_view *v, bool by_source)
{
	v->by_source = by_source;
}

/* Drawing -------------------------------------------------------------------------------------- */

static void draw_footer(const struct ty_memory_view *v, struct ty_grid *g,
			const struct ty_palette *p)
{
	static const enum ty_action keys[] = {
		TY_ACT_ZOOM_IN, TY_ACT_FOCUS, TY_ACT_MEMORY, TY_ACT_SELECT,   TY_ACT_OPEN,
		TY_ACT_FILTER,	TY_ACT_UNDO,  TY_ACT_ALL,    TY_ACT_PAN_LEFT, TY_ACT_NONE};
	const bool line = v->by == TY_MEMORY_OF_SHARING && v->pane != TY_MEMORY_LINE;
	const char *const words[] = {NULL, "chart", "table", NULL, line ? "line" : "records",
				     NULL, "undo",  NULL,    NULL};
	struct ty_style bar = ty_palette_role(p, TY_ROLE_BAR);
	struct ty_memory_corner box;
	char text[200], len[TY_TIME_MAX], rows[60] = "";

	if (v->asking) {
		static const char ask[] = "filter, as tid:101 or >200 (empty: all): ";

		ty_grid_fill(g, 0, g->h - 1, g->w, 1, ' ', bar);
		ty_grid_input(g, 1 + ty_grid_text(g, 1, g->h - 1, g->w / 2 + 5, ask, bar), g->h - 1,
			      v->ask, bar);
		return;
	}
	if (*v->message) {
		ty_footer_say(g, p, v->message);
		return;
	}
	if (v->find.typing || (*v->find.text && !v->selecting)) {
		snprintf(text, sizeof(text),
			 v->find.typing ? "find in the table: %s_" : "find: %s  n/N next  Esc drop",
			 v->find.text);
		ty_grid_fill(g, 0, g->h - 1, g->w, 1, ' ', bar);
		ty_grid_elide(g, p, 1, g->h - 1, g->w - 2, text, bar);
		return;
	}
	if (!ty_memory_selected(v, &box)) {
		ty_footer_draw(g, p, g->h - 1, keys, words, v->child ? "back" : "quit");
		return;
	}
	ty_grid_fill(g, 0, g->h - 1, g->w, 1, ' ', bar);
	if (v->pane == TY_MEMORY_LATENCY)
		snprintf(rows, sizeof(rows), ", %u..%u cycles", box.low ? 1u << (box.low - 1) : 0,
			 (1u << box.high) - 1);
	else
		snprintf(rows, sizeof(rows), ", %u row%s", box.high - box.low + 1,
			 box.high > box.low ? "s" : "");
	snprintf(text, sizeof(text), "selected: %s%s  Enter records  z fit  Esc drop",
		 ty_fmt_length(box.to_ns - box.from_ns, len), rows);
	ty_grid_elide(g, p, 1, g->h - 1, g->w - 2, text, bar);
}

/* The rows it takes. */
static int draw_news(const struct ty_memory_view *v, struct ty_grid *g, const struct ty_palette *p)
{
	char text[500];

	if (v->pane == TY_MEMORY_LINE || g->h < 16 || !ty_memory_news(v, text, sizeof(text)))
		return 0;
	return ty_grid_wrap(g, p, 1, 2 + v->h, 2, g->w - 2, text,
			    ty_palette_role(p, TY_ROLE_STRONG));
}

static void draw(void *self, struct ty_grid *g, const struct ty_palette *p)
{
	struct ty_memory_view *v = self;
	struct ty_style bar = ty_palette_role(p, TY_ROLE_BAR);
	char text[400], len[TY_TIME_MAX], at[TY_TIME_MAX], gaps[40] = "";
	const char *filter = ty_memory_filter_text(v);
	int x = 1;
	uint64_t span = v->vp.to_ns - v->vp.from_ns;

	if (v->in->points->gaps_n)
		snprintf(gaps, sizeof(gaps), ", %" PRIu64 " gaps", v->in->points->gaps_n);
	ty_grid_clear(g);
	ty_memory_lay_out(v, g);
	ty_memory_fill(v);
	ty_memory_lay_out(v, g); /* the rows are known now */
	ty_grid_fill(g, 0, 0, g->w, 1, ' ', bar);
	if (filter) { /* in force: beside the name */
		x += ty_grid_elide(g, p, x, 0, g->w / 3, ty_base_name(v->in->path), bar);
		snprintf(text, sizeof(text), " filter: %s ", filter);
		x += ty_grid_elide(g, p, x, 0, g->w / 2, text, ty_palette_role(p, TY_ROLE_LOST));
	}
	snprintf(text, sizeof(text),
		 "%s%s %s at %s; %" PRIu64 " samples, %" PRIu64 " with latency%s%s%s",
		 filter ? "" : v->in->path, filter ? "" : ":", ty_fmt_length(span, len),
		 ty_fmt_time(v->vp.from_ns - v->vp.start_ns, span / 1000 + 1, at), v->timed,
		 v->shown, gaps, v->in->note ? "; " : "", v->in->note ? v->in->note : "");
	ty_grid_elide(g, p, x, 0, g->w - 1 - x, text, bar);
	if (v->bin) {
		ty_ruler_draw(g, p, v->x, 1, v->w, &v->vp, NULL, TY_CLOCK_START,
			      (int)ty_viewport_column(&v->vp, v->cursor_ns, (uint32_t)v->w), NULL);
		if (v->pane == TY_MEMORY_LATENCY)
			ty_grid_text(g, 0, 1, v->x, "cycles", ty_palette_role(p, TY_ROLE_DIM));
		else if (v->pane == TY_MEMORY_LINE && v->filter.query)
			ty_grid_elide(g, p, 1, 1, v->x - 1, "of all samples",
				      ty_palette_role(p, TY_ROLE_WARN));
		ty_memory_draw_pane(v, g, p, 2);
	}
	v->table_y = 2 + v->h + draw_news(v, g, p);
	ty_memory_draw_table(v, g, p, v->table_y, g->h - 1 - v->table_y);
	draw_footer(v, g, p);
}

/* Input ---------------------------------------------------------------------------------------- */

/* The cursor is the selection's other corner while that is being made. */
static void drag_on(struct ty_memory_view *v)
{
	if (!v->selecting || v->held)
		return;
	v->b = ty_memory_cell(v, v->cursor_ns, v->row);
	v->counted = false;
}

/* After a move: the cursor stays in the window. */
static enum ty_view_result moved(struct ty_memory_view *v)
{
	if (v->cursor_ns < v->vp.from_ns)
		v->cursor_ns = v->vp.from_ns;
	if (v->cursor_ns >= v->vp.to_ns)
		v->cursor_ns = v->vp.to_ns - 1;
	drag_on(v);
	return TY_VIEW_CHANGED;
}

/* To an instant, the window following. */
static enum ty_view_result go(struct ty_memory_view *v, uint64_t t)
{
	v->cursor_ns = t < v->vp.start_ns  ? v->vp.start_ns
		       : t >= v->vp.end_ns ? v->vp.end_ns - 1
					   : t;
	ty_viewport_follow(&v->vp, v->cursor_ns);
	return moved(v);
}

static enum ty_view_result unselect(struct ty_memory_view *v)
{
	v->selecting = v->held = v->dragging = false;
	v->counted = false;
	return TY_VIEW_CHANGED;
}

/* The scatter's row is one that was pointed at, or 0. */
static void no_row(struct ty_memory_view *v)
{
	v->row = v->pane == TY_MEMORY_LATENCY ? 0 : v->row;
}

/* Begin a selection at the cursor; keep it; begin anew. */
static enum ty_view_result select_here(struct ty_memory_view *v)
{
	if (v->selecting && !v->held) {
		v->held = true;
		no_row(v);
		return TY_VIEW_CHANGED;
	}
	v->selecting = true;
	v->held = false;
	v->a = ty_memory_cell(v, v->cursor_ns, v->row);
	/* Where no row was pointed at: all latencies, of which Up leaves out the short ones. */
	if (v->pane == TY_MEMORY_LATENCY && !v->row)
		v->row = v->h - 1;
	return moved(v);
}

static enum ty_view_result fit(struct ty_memory_view *v)
{
	struct ty_memory_corner box;

	if (!ty_memory_selected(v, &box))
		return TY_VIEW_IGNORED;
	ty_viewport_jump(&v->vp, box.from_ns, box.to_ns);
	unselect(v);
	return moved(v);
}

/* A row of the picture while selecting in it; else of the table. */
static enum ty_view_result up_down(struct ty_memory_view *v, int by)
{
	bool picture = v->selecting && !v->held;
	int *at = picture ? &v->row : &v->at, rows = ty_memory_rows(v);

	*at += by;
	*at = *at < 0 ? 0 : *at;
	if (picture) {
		v->row = v->row >= rows ? rows - 1 : v->row;
		v->row = v->row < 0 ? 0 : v->row;
		return moved(v);
	}
	if (v->pane == TY_MEMORY_LINE)
		v->choosing = true, v->counted = false; /* another line */
	return TY_VIEW_CHANGED;
}

struct row_text {
	struct ty_memory_view *v;
	char text[TY_MEMORY_ROW_TEXT];
};

static const char *text_of(void *ctx, int row)
{
	struct row_text *t = ctx;

	ty_memory_row_text(t->v, row, false, t->text);
	return t->text;
}

/* To the next row of the table from `from` on whose text holds what is searched for. */
static enum ty_view_result find_row(struct ty_memory_view *v, int from, int by)
{
	struct row_text t = {.v = v};
	const int at = ty_list_find_next(&v->find, ty_memory_table_rows(v), from, by, text_of, &t);

	if (at < 0)
		return TY_VIEW_CHANGED;
	v->at = at;
	return up_down(v, 0);
}

static bool wants_text(const void *self)
{
	const struct ty_memory_view *v = self;

	return v->find.typing || v->asking;
}

static enum ty_view_result text(void *self, uint32_t key)
{
	struct ty_memory_view *v = self;

	if (v->asking) {
		const enum ty_input_key r =
			ty_input_prompt_key(&v->asking, v->ask, sizeof(v->ask), key);

		if (r == TY_INPUT_ENTERED)
			ty_memory_filter(v, v->ask);
		return r == TY_INPUT_IGNORED ? TY_VIEW_IGNORED : TY_VIEW_CHANGED;
	}
	switch (ty_list_find_key(&v->find, key)) {
	case TY_INPUT_CHANGED: return find_row(v, v->find.from, 1);
	case TY_INPUT_IGNORED: return TY_VIEW_IGNORED;
	default: return TY_VIEW_CHANGED;
	}
}

static enum ty_view_result next_pane(struct ty_memory_view *v)
{
	ty_memory_count_forget(v); /* it reads the pane */
	v->pane = (v->pane + 1) % TY_MEMORY_PANES;
	if (v->pane == TY_MEMORY_LINE && v->by != TY_MEMORY_OF_SHARING) {
		v->by = TY_MEMORY_OF_SHARING;
		v->at = v->top = 0;
	}
	v->choosing = v->pane == TY_MEMORY_LINE;
	v->row = v->strip_top = 0;
	v->filled = false;
	return unselect(v);
}

static enum ty_view_result next_table(struct ty_memory_view *v)
{
	v->by = (v->by + 1) % TY_MEMORY_TABLES;
	v->at = v->top = 0;
	v->counted = false;
	return TY_VIEW_CHANGED;
}

/* Of the table of lines the chosen one is shown; otherwise records are listed. */
static enum ty_view_result open_row(struct ty_memory_view *v)
{
	if (!v->selecting && v->by == TY_MEMORY_OF_SHARING && v->pane != TY_MEMORY_LINE) {
		const int at = v->at;

		v->pane = TY_MEMORY_LINE - 1;
		next_pane(v);
		v->at = at;
		return TY_VIEW_CHANGED;
	}
	ty_memory_records(v, false);
	return TY_VIEW_PUSH;
}

static enum ty_view_result act(void *self, enum ty_action a)
{
	struct ty_memory_view *v = self;
	uint64_t span = v->vp.to_ns - v->vp.from_ns,
		 cell = span / (v->w > 0 ? (unsigned)v->w : 1) + 1;

	v->message[0] = 0;
	switch (a) {
	case TY_ACT_ZOOM_IN: ty_viewport_zoom(&v->vp, v->cursor_ns, 1, 2); return moved(v);
	case TY_ACT_ZOOM_OUT: ty_viewport_zoom(&v->vp, v->cursor_ns, 2, 1); return moved(v);
	case TY_ACT_PAN_LEFT: ty_viewport_pan(&v->vp, -(int64_t)(span / 4 + 1)); return moved(v);
	case TY_ACT_PAN_RIGHT: ty_viewport_pan(&v->vp, (int64_t)(span / 4 + 1)); return moved(v);
	case TY_ACT_ALL: ty_viewport_jump(&v->vp, v->vp.start_ns, v->vp.end_ns); return moved(v);
	case TY_ACT_ZOOM_SPAN: return fit(v);
	case TY_ACT_BACK:
		if (v->selecting) {
			no_row(v);
			return unselect(v);
		}
		if (*v->find.text) {
			v->find.text[0] = 0;
			return TY_VIEW_CHANGED;
		}
		if (v->filter.query || v->filter.wanted) {
			ty_memory_filter(v, "");
			return TY_VIEW_CHANGED;
		}
		if (v->child)
			return TY_VIEW_CLOSE;
		return ty_viewport_undo(&v->vp) ? moved(v) : TY_VIEW_IGNORED;
	case TY_ACT_UNDO: return ty_viewport_undo(&v->vp) ? moved(v) : TY_VIEW_IGNORED;
	case TY_ACT_REDO: return ty_viewport_redo(&v->vp) ? moved(v) : TY_VIEW_IGNORED;
	case TY_ACT_LEFT:
		return go(v, v->cursor_ns - v->vp.start_ns > cell ? v->cursor_ns - cell
								  : v->vp.start_ns);
	case TY_ACT_RIGHT: return go(v, v->cursor_ns + cell);
	case TY_ACT_TIME_FIRST: return go(v, v->vp.start_ns);
	case TY_ACT_TIME_LAST: return go(v, v->vp.end_ns);
	case TY_ACT_UP: return up_down(v, -1);
	case TY_ACT_DOWN: return up_down(v, 1);
	case TY_ACT_PAGE_UP: return up_down(v, -10);
	case TY_ACT_PAGE_DOWN: return up_down(v, 10);
	case TY_ACT_ROW_FIRST: return up_down(v, -ROWS_MAX);
	case TY_ACT_ROW_LAST: return up_down(v, ROWS_MAX);
	case TY_ACT_FILTER:
		v->asking = true;
		v->ask[0] = 0;
		return TY_VIEW_CHANGED;
	case TY_ACT_SEARCH: ty_list_find_start(&v->find, v->at); return TY_VIEW_CHANGED;
	case TY_ACT_NEXT:
	case TY_ACT_HIT_NEXT: return find_row(v, v->at + 1, 1);
	case TY_ACT_PREV:
	case TY_ACT_HIT_PREV: return find_row(v, v->at - 1, -1);
	case TY_ACT_MEMORY: return next_table(v);
	case TY_ACT_FOCUS: return next_pane(v);
	case TY_ACT_FOLD: v->by_source = !v->by_source; return TY_VIEW_CHANGED;
	case TY_ACT_SELECT: return select_here(v);
	case TY_ACT_LINK_1: return ty_memory_open_news(v) ? TY_VIEW_CHANGED : TY_VIEW_IGNORED;
	case TY_ACT_OPEN: return open_row(v);
	case TY_ACT_HELP: return TY_VIEW_HELP;
	case TY_ACT_REDRAW: return TY_VIEW_REDRAW;
	case TY_ACT_QUIT: return v->child ? TY_VIEW_CLOSE : TY_VIEW_QUIT;
	default: snprintf(v->message, sizeof(v->message), "%s", TY_NO_KEY); return TY_VIEW_CHANGED;
	}
}

/* A click on a row of the table chooses it. */
static enum ty_view_result click_table(struct ty_memory_view *v, const struct ty_mouse *m)
{
	int row = m->y - (v->table_y + 1);

	if (row < 0 || (m->what != TY_MOUSE_CLICK && m->what != TY_MOUSE_DOUBLE))
		return TY_VIEW_IGNORED;
	v->at = v->top + row;
	return up_down(v, 0);
}

static enum ty_view_result mouse(void *self, const struct ty_mouse *m)
{
	struct ty_memory_view *v = self;
	int x = m->x - v->x, row = m->y - 2;

	v->message[0] = 0;
	if (!v->dragging && row >= v->h)
		return click_table(v, m);
	if (v->dragging) { /* beyond the edges it is at the edge */
		x = x < 0 ? 0 : x >= v->w ? v->w - 1 : x;
		row = row < 0 ? 0 : row >= v->h ? v->h - 1 : row;
	}
	if (x < 0 || x >= v->w || row < 0)
		return TY_VIEW_IGNORED;
	v->cursor_ns = ty_viewport_edge(&v->vp, (uint32_t)x, (uint32_t)v->w);
	v->row = v->pane == TY_MEMORY_LATENCY ? row : v->strip_top + row;
	switch (m->what) {
	case TY_MOUSE_WHEEL_UP: return act(v, TY_ACT_ZOOM_IN);
	case TY_MOUSE_WHEEL_DOWN: return act(v, TY_ACT_ZOOM_OUT);
	case TY_MOUSE_DOUBLE: ty_memory_records(v, true); return TY_VIEW_PUSH;
	case TY_MOUSE_DRAG: /* from where the button went down */
		v->selecting = v->dragging;
		v->held = false;
		return moved(v);
	case TY_MOUSE_DROP:
		v->held = v->selecting;
		v->dragging = false;
		return TY_VIEW_CHANGED;
	default:
		unselect(v);
		v->dragging = true;
		v->a = ty_memory_cell(v, v->cursor_ns, v->row);
		return moved(v);
	}
}

static void child(void *self, const struct ty_view_ops **ops, void **view)
{
	*ops = &ty_page_ops;
	*view = &((struct ty_memory_view *)self)->page;
}

static int wait_ms(const void *self)
{
	const struct ty_memory_view *v = self;

	if (v->job.aside.on || v->heats.aside.on || v->news.aside.on || v->filter.aside.on)
		return BUSY_MS;
	return v->bin && (!v->counted || !v->news.begun || ty_memory_wants_strips(v)) ? IDLE_MS
										      : -1;
}

static enum ty_view_result work(void *self)
{
	const bool filtered = ty_memory_filter_step(self);

	return ty_memory_count_step(self) || filtered ? TY_VIEW_CHANGED : TY_VIEW_IGNORED;
}

const struct ty_view_ops ty_memory_view_ops = {
	.name = "memory",
	.help = ty_memory_help,
	.draw = draw,
	.act = act,
	.mouse = mouse,
	.child = child,
	.wants_text = wants_text,
	.text = text,
	.wait_ms = wait_ms,
	.work = work,
};
