/* SPDX-License-Identifier: MIT */
/* See memory_view.h. A latency's row is its power of two: 0, 1, 2-3, 4-7 ... 32768 and more. */
#include "memory_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "page.h"
#include "ruler.h"
#include "sharing.h"
#include "viewport.h"

#define OCTAVES	    17 /* of latencies of 16 bits, and 0 */
#define LABEL	    7  /* columns left of the scatter */
#define HIST	    13 /* columns right of it, where there is room */
#define TABLE_ROWS  200u
#define RECORDS_MAX 1000u
#define IDLE_MS	    60 /* the table follows after so long without input */

enum { BY_PC, BY_SOURCE, BY_PAGE, BY_THREAD, BY_SHARING, TABLES };

enum far { FAR_UNKNOWN, FAR_CACHE, FAR_RAM, FAR_OTHER };

struct bin {
	uint32_t n;
	uint8_t far; /* the farthest source */
};

struct ty_memory_view {
	const struct ty_memory_input *in;
	struct ty_viewport vp;
	uint64_t cursor_ns;
	uint64_t shown; /* samples of the scatter */
	uint64_t timed; /* samples in the window */
	uint64_t hist[OCTAVES];
	struct bin *bin; /* OCTAVES by w */
	int w;		 /* columns of the scatter */
	uint64_t bin_from, bin_to;
	uint64_t first, n; /* the window's samples: where, how many */
	unsigned by;
	int top; /* first row of the table on the screen */
	bool counted, failed;
	struct ty_memory_table table;
	struct ty_sharing sharing;
	struct ty_page page;
};

int ty_memory_view_new(const struct ty_memory_input *in, struct ty_memory_view **out,
		       struct ty_err *err)
{
	struct ty_memory_sum sum = ty_memory_sum(in->points);
	struct ty_memory_view *v;

	*out = NULL;
	if (sum.no_time == sum.samples)
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "%s: its memory samples have no time, so there is no time axis: "
			       "tarry report %s memory sums them up",
			       in->path, in->path);
	v = calloc(1, sizeof(*v));
	if (!v)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", in->path);
	v->in = in;
	ty_viewport_init(&v->vp, sum.first_ns, sum.last_ns + 1);
	v->cursor_ns = sum.first_ns;
	*out = v;
	return 0;
}

void ty_memory_view_free(struct ty_memory_view *v)
{
	if (!v)
		return;
	ty_memory_fini(&v->table);
	ty_sharing_fini(&v->sharing);
	ty_page_reset(&v->page);
	free(v->bin);
	free(v);
}

static enum far how_far(const struct ty_mem_point *o)
{
	if (o->src_flags & (TY_MEM_SRC_PEER | TY_MEM_SRC_HITM | TY_MEM_SRC_REMOTE))
		return FAR_OTHER;
	if (o->level >= TY_MEM_LV_RAM)
		return FAR_RAM;
	return o->level == TY_MEM_LV_UNKNOWN ? FAR_UNKNOWN : FAR_CACHE;
}

static unsigned octave(const struct ty_mem_point *o)
{
	return o->total ? 32u - (unsigned)__builtin_clz(o->total) : 0;
}

static bool inside(const struct ty_mem_point *o, uint64_t from, uint64_t to)
{
	return o->flags & TY_MP_HAS_TIME && o->ts_ns >= from && o->ts_ns < to;
}

/* Fill the cells of w columns, if they are not those of this window. */
static void fill(struct ty_memory_view *v, int w)
{
	const struct ty_mem_points *p = v->in->points;
	uint64_t from = v->vp.from_ns, to = v->vp.to_ns;
	struct bin *bin;

	if (v->bin && v->w == w && v->bin_from == from && v->bin_to == to)
		return;
	bin = calloc((size_t)w * OCTAVES, sizeof(*bin));
	v->failed = !bin;
	if (!bin)
		return;
	v->counted &= v->bin_from == from && v->bin_to == to;
	free(v->bin);
	v->bin = bin;
	v->w = w;
	v->bin_from = from;
	v->bin_to = to;
	v->shown = v->timed = v->first = v->n = 0;
	memset(v->hist, 0, sizeof(v->hist));
	for (uint64_t i = 0; i < p->n; i++) {
		const struct ty_mem_point *o = ty_mem_points_get(p, i);
		struct bin *b;

		if (!inside(o, from, to))
			continue;
		if (!v->timed++)
			v->first = i;
		v->n = i + 1 - v->first;
		if (!(o->flags & TY_MP_HAS_LAT))
			continue;
		v->shown++;
		v->hist[octave(o)]++;
		b = &bin[octave(o) * (unsigned)w +
			 ty_viewport_column(&v->vp, o->ts_ns, (uint32_t)w)];
		b->n++;
		b->far = how_far(o) > b->far ? (uint8_t)how_far(o) : b->far;
	}
}

static void count(struct ty_memory_view *v)
{
	static const enum ty_memory_by by[] = {TY_MEMORY_BY_PC, TY_MEMORY_BY_SOURCE,
					       TY_MEMORY_BY_PAGE, TY_MEMORY_BY_THREAD};
	struct ty_mem_points window = *v->in->points;

	window.first = v->first;
	window.n = v->n;
	ty_memory_fini(&v->table);
	ty_sharing_fini(&v->sharing);
	v->failed = v->by == BY_SHARING
			    ? ty_sharing_find(&window, v->in->line_bytes, &v->sharing)
			    : ty_memory_count(&window, by[v->by], NULL, TABLE_ROWS, &v->table);
	v->counted = true;
}

/* Drawing ------------------------------------------------------------------------------------- */

static struct ty_style color(enum ty_color c)
{
	return (struct ty_style){.fg = (uint8_t)c};
}

static void draw_cell(struct ty_grid *g, const struct ty_palette *p, int x, int y,
		      const struct bin *b)
{
	static const uint32_t shade[2][5] = {{'.', ':', '+', '*', '#'},
					     {0xb7, 0x2591, 0x2592, 0x2593, 0x2588}};
	static const uint8_t fg[] = {TY_C_UNKNOWN, TY_C_RUNNING, TY_C_RUNNABLE, TY_C_BLOCKED};
	unsigned k = b->n < 2 ? 0 : b->n < 4 ? 1 : b->n < 16 ? 2 : b->n < 64 ? 3 : 4;

	if (b->n)
		ty_grid_put(g, x, y, shade[p->utf8][k], color((enum ty_color)fg[b->far]));
}

/* Rows y..y+h: octaves from high to low, several in a row where there is no room. */
static void draw_scatter(struct ty_memory_view *v, struct ty_grid *g, const struct ty_palette *p,
			 int y, int h, bool hist)
{
	uint64_t most = 1, sum[OCTAVES] = {0};
	char text[40];

	for (unsigned o = 0; o < OCTAVES; o++)
		sum[(int)o * h / OCTAVES] += v->hist[o];
	for (int r = 0; r < h; r++)
		most = sum[r] > most ? sum[r] : most;
	for (int r = 0; r < h; r++) {
		int at = y + h - 1 - r, low = (r * OCTAVES + h - 1) / h;

		snprintf(text, sizeof(text), "%6u", low ? 1u << (low - 1) : 0);
		ty_grid_text(g, 0, at, LABEL, text, ty_palette_role(p, TY_ROLE_DIM));
		for (int x = 0; x < v->w; x++) {
			struct bin b = {0};

			for (int o = low; o < OCTAVES && o * h / OCTAVES == r; o++) {
				const struct bin *c = &v->bin[o * v->w + x];

				b.n += c->n;
				b.far = c->far > b.far ? c->far : b.far;
			}
			draw_cell(g, p, LABEL + x, at, &b);
		}
		if (hist && sum[r]) {
			int bar = (int)((sum[r] * 4 + most - 1) / most);

			ty_grid_fill(g, LABEL + v->w + 1, at, bar, 1, p->utf8 ? 0x2588 : '#',
				     ty_palette_role(p, TY_ROLE_ACCENT));
			snprintf(text, sizeof(text), "%" PRIu64, sum[r]);
			ty_grid_elide(g, p, LABEL + v->w + 2 + bar, at, HIST - 2 - bar, text,
				      ty_palette_role(p, TY_ROLE_DIM));
		}
	}
}

static void name(const struct ty_memory_view *v, int32_t pid, uint64_t addr, uint64_t ts, char *buf,
		 size_t n)
{
	size_t k = (size_t)snprintf(buf, n, "0x%" PRIx64 " ", addr);

	if (v->in->name)
		v->in->name(v->in->ctx, pid, addr, ts, buf + k, n - k);
}

static void row_name(const struct ty_memory_view *v, const struct ty_memory_row *w, char *buf,
		     size_t n)
{
	const struct ty_mem_points *p = v->in->points;
	unsigned f = w->key & 0xff;

	switch (v->by) {
	case BY_PC: name(v, p->pc_pid.v[w->key], p->pc_ids.keys.v[w->key], w->ts_ns, buf, n); break;
	case BY_SOURCE:
		snprintf(buf, n, "%s%s%s%s%s", ty_mem_level_name((enum ty_mem_level)(w->key >> 8)),
			 f & TY_MEM_SRC_MISS ? " miss" : "",
			 f & TY_MEM_SRC_HITM ? ", modified" : "",
			 f & TY_MEM_SRC_REMOTE ? ", remote" : "",
			 f & TY_MEM_SRC_EVENTS ? " (by events)" : "");
		break;
	case BY_PAGE: name(v, w->pid, w->key, w->ts_ns, buf, n); break;
	default: snprintf(buf, n, "%d %s", p->threads.v[w->key].tid, p->threads.v[w->key].comm);
	}
}

static void draw_table(struct ty_memory_view *v, struct ty_grid *g, const struct ty_palette *p,
		       int y, int h)
{
	static const char *const titles[] = {"instructions", "data sources", "pages", "threads",
					     "cache lines that threads share while one writes"};
	uint32_t n = v->by == BY_SHARING ? v->sharing.lines_n : v->table.rows_n;
	char text[400], what[300];

	snprintf(text, sizeof(text), "%s%s", titles[v->by],
		 !v->counted	       ? ": counting"
		 : v->failed	       ? ": out of memory"
		 : !n		       ? ": none in this window"
		 : v->by == BY_SHARING ? "   kind, evidence, threads, samples, writes"
				       : "   samples, share; latency p50, p99, longest");
	ty_grid_elide(g, p, 1, y, g->w - 2, text, ty_palette_role(p, TY_ROLE_ACCENT));
	if (!v->counted || v->failed)
		return;
	v->top = v->top >= (int)n ? (int)n - 1 : v->top;
	v->top = v->top < 0 ? 0 : v->top;
	for (int r = 0; r + 1 < h && v->top + r < (int)n; r++) {
		if (v->by == BY_SHARING) {
			const struct ty_sharing_line *l = &v->sharing.lines[v->top + r];

			name(v, l->physical ? l->va_pid : l->pid, l->va ? l->va : l->line,
			     l->last_ns, what, sizeof(what));
			snprintf(text, sizeof(text), "%-5s %-6s %3u %8" PRIu64 " %8" PRIu64 "  %s",
				 ty_sharing_kind_name(l->kind),
				 ty_sharing_evidence_name(l->evidence), l->threads, l->count,
				 l->writes, what);
		} else {
			const struct ty_memory_row *w = &v->table.rows[v->top + r];
			char lat[40] = "     -      -      -";

			row_name(v, w, what, sizeof(what));
			if (w->total.n)
				snprintf(lat, sizeof(lat), "%6u %6u %6u", w->total.p50,
					 w->total.p99, w->total.max);
			snprintf(text, sizeof(text), "%8" PRIu64 " %5.1f%% %s  %s", w->count,
				 100 * w->share, lat, what);
		}
		ty_grid_elide(g, p, 1, y + 1 + r, g->w - 2, text, ty_palette_role(p, TY_ROLE_TEXT));
	}
}

static int scatter_width(const struct ty_grid *g)
{
	return g->w - LABEL - (g->w >= 60 ? HIST : 1);
}

static void draw(void *self, struct ty_grid *g, const struct ty_palette *p)
{
	struct ty_memory_view *v = self;
	struct ty_style bar = ty_palette_role(p, TY_ROLE_BAR);
	int w = scatter_width(g), h = (g->h - 3) / 2;
	char text[400], len[TY_TIME_MAX], at[TY_TIME_MAX];
	uint64_t span = v->vp.to_ns - v->vp.from_ns;

	h = h > OCTAVES ? OCTAVES : h < 2 ? 2 : h;
	ty_grid_clear(g);
	fill(v, w > 1 ? w : 1);
	ty_grid_fill(g, 0, 0, g->w, 1, ' ', bar);
	snprintf(text, sizeof(text),
		 "%s: %s from %s; %" PRIu64 " samples, %" PRIu64 " with a latency, %" PRIu64
		 " gaps%s%s",
		 v->in->path, ty_fmt_length(span, len),
		 ty_fmt_time(v->vp.from_ns - v->vp.start_ns, span / 1000 + 1, at), v->timed,
		 v->shown, v->in->points->gaps_n, v->in->note ? "; " : "",
		 v->in->note ? v->in->note : "");
	ty_grid_elide(g, p, 1, 0, g->w - 2, text, bar);
	if (v->bin) {
		int x = (int)ty_viewport_column(&v->vp, v->cursor_ns, (uint32_t)v->w);

		ty_ruler_draw(g, p, LABEL, 1, v->w, &v->vp, NULL, TY_CLOCK_START, x);
		draw_scatter(v, g, p, 2, h, g->w >= 60);
		for (int r = 0; r < h; r++)
			ty_grid_tint(g, LABEL + x, 2 + r, 1, ty_palette_role(p, TY_ROLE_SELECT));
	}
	draw_table(v, g, p, 2 + h, g->h - 3 - h);
	ty_grid_fill(g, 0, g->h - 1, g->w, 1, ' ', bar);
	ty_grid_elide(g, p, 1, g->h - 1, g->w - 2,
		      "w/s zoom  a/d pan  h/l cursor  Enter its records  y other table  u undo  "
		      "? help  q quit",
		      bar);
}

/* Input --------------------------------------------------------------------------------------- */

/* The records of the cursor's column as lines. */
static void records(struct ty_memory_view *v)
{
	static const char *const kinds[] = {"other", "load", "store", "branch", "gap"};
	const struct ty_mem_points *p = v->in->points;
	uint32_t w = v->w > 0 ? (uint32_t)v->w : 1, x = ty_viewport_column(&v->vp, v->cursor_ns, w);
	uint64_t from = ty_viewport_edge(&v->vp, x, w), to = ty_viewport_edge(&v->vp, x + 1, w),
		 n = 0;
	char at[TY_TIME_MAX];

	ty_page_reset(&v->page);
	for (uint64_t i = v->first; i < v->first + v->n; i++) {
		const struct ty_mem_point *o = ty_mem_points_get(p, i);
		const struct ty_mem_thread *t =
			o->thread != TY_MEM_NO_THREAD ? &p->threads.v[o->thread] : NULL;
		char pc[200] = "", lat[40] = "-", va[24] = "";

		if (!inside(o, from, to) || n++ >= RECORDS_MAX)
			continue;
		if (o->pc != UINT32_MAX)
			name(v, t ? t->pid : -1, p->pc_ids.keys.v[o->pc], o->ts_ns, pc, sizeof(pc));
		if (o->flags & TY_MP_HAS_LAT)
			snprintf(lat, sizeof(lat), "%u", o->total);
		if (o->flags & TY_MP_HAS_VA)
			snprintf(va, sizeof(va), "0x%" PRIx64, o->va);
		ty_page_add(&v->page, TY_ROLE_TEXT, "%-14s %6s %-6s %-9s %-18s %d %s  %s",
			    ty_fmt_time(o->ts_ns - v->vp.start_ns, 1, at), lat, kinds[o->kind],
			    o->level ? ty_mem_level_name((enum ty_mem_level)o->level) : "", va,
			    t ? t->tid : -1, t ? t->comm : "?", pc);
	}
	if (n > RECORDS_MAX)
		ty_page_add(&v->page, TY_ROLE_DIM, "%" PRIu64 " more: zoom in", n - RECORDS_MAX);
	snprintf(v->page.title, sizeof(v->page.title),
		 "%" PRIu64 " records from %s: time, latency, kind, source, address, thread, code",
		 n, ty_fmt_time(from - v->vp.start_ns, 1, at));
}

/* After a move: the cursor stays in the window. */
static enum ty_view_result moved(struct ty_memory_view *v)
{
	if (v->cursor_ns < v->vp.from_ns)
		v->cursor_ns = v->vp.from_ns;
	if (v->cursor_ns >= v->vp.to_ns)
		v->cursor_ns = v->vp.to_ns - 1;
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

static enum ty_view_result act(void *self, enum ty_action a)
{
	struct ty_memory_view *v = self;
	uint64_t span = v->vp.to_ns - v->vp.from_ns,
		 cell = span / (v->w > 0 ? (unsigned)v->w : 1) + 1;

	switch (a) {
	case TY_ACT_ZOOM_IN: ty_viewport_zoom(&v->vp, v->cursor_ns, 1, 2); return moved(v);
	case TY_ACT_ZOOM_OUT: ty_viewport_zoom(&v->vp, v->cursor_ns, 2, 1); return moved(v);
	case TY_ACT_PAN_LEFT: ty_viewport_pan(&v->vp, -(int64_t)(span / 4 + 1)); return moved(v);
	case TY_ACT_PAN_RIGHT: ty_viewport_pan(&v->vp, (int64_t)(span / 4 + 1)); return moved(v);
	case TY_ACT_ALL: ty_viewport_jump(&v->vp, v->vp.start_ns, v->vp.end_ns); return moved(v);
	case TY_ACT_BACK:
	case TY_ACT_UNDO: return ty_viewport_undo(&v->vp) ? moved(v) : TY_VIEW_IGNORED;
	case TY_ACT_REDO: return ty_viewport_redo(&v->vp) ? moved(v) : TY_VIEW_IGNORED;
	case TY_ACT_LEFT:
		return go(v, v->cursor_ns - v->vp.start_ns > cell ? v->cursor_ns - cell
								  : v->vp.start_ns);
	case TY_ACT_RIGHT: return go(v, v->cursor_ns + cell);
	case TY_ACT_TIME_FIRST: return go(v, v->vp.start_ns);
	case TY_ACT_TIME_LAST: return go(v, v->vp.end_ns);
	case TY_ACT_UP: v->top -= v->top > 0; return TY_VIEW_CHANGED;
	case TY_ACT_DOWN: v->top++; return TY_VIEW_CHANGED;
	case TY_ACT_MEMORY:
	case TY_ACT_FOCUS:
		v->by = (v->by + 1) % TABLES;
		v->top = 0;
		v->counted = false;
		return TY_VIEW_CHANGED;
	case TY_ACT_OPEN: records(v); return TY_VIEW_PUSH;
	case TY_ACT_REDRAW: return TY_VIEW_REDRAW;
	case TY_ACT_HELP: return TY_VIEW_HELP;
	case TY_ACT_QUIT: return TY_VIEW_QUIT;
	default: return TY_VIEW_IGNORED;
	}
}

static enum ty_view_result mouse(void *self, const struct ty_mouse *m)
{
	struct ty_memory_view *v = self;
	int x = m->x - LABEL;

	if (x < 0 || x >= v->w)
		return TY_VIEW_IGNORED;
	v->cursor_ns = ty_viewport_edge(&v->vp, (uint32_t)x, (uint32_t)v->w);
	switch (m->what) {
	case TY_MOUSE_WHEEL_UP: return act(v, TY_ACT_ZOOM_IN);
	case TY_MOUSE_WHEEL_DOWN: return act(v, TY_ACT_ZOOM_OUT);
	case TY_MOUSE_DOUBLE: return act(v, TY_ACT_OPEN);
	default: return moved(v);
	}
}

static bool wants_text(const void *self)
{
	return false;
}

static enum ty_view_result text(void *self, uint32_t key)
{
	return TY_VIEW_IGNORED;
}

static void child(void *self, const struct ty_view_ops **ops, void **view)
{
	*ops = &ty_page_ops;
	*view = &((struct ty_memory_view *)self)->page;
}

static int wait_ms(const void *self)
{
	const struct ty_memory_view *v = self;

	return v->bin && !v->counted ? IDLE_MS : -1;
}

static enum ty_view_result work(void *self)
{
	count(self);
	return TY_VIEW_CHANGED;
}

const struct ty_view_ops ty_memory_view_ops = {
	.name = "memory",
	.draw = draw,
	.act = act,
	.mouse = mouse,
	.wants_text = wants_text,
	.text = text,
	.child = child,
	.wait_ms = wait_ms,
	.work = work,
};
