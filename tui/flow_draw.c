/* SPDX-License-Identifier: MIT */
/* Draws the instruction view: see flow_view.h. Budget: columns x depths x log(calls), and a line of
 * the list each for symbol, disassembly and source line. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "flow_view_priv.h"
#include "footer.h"
#include "ruler.h"
#include "time_text.h"

#define CALLS_Y	 2
#define TIME_W	 15
#define COUNT_W	 7
#define BYTES_AT 150 /* screens as wide show addresses and bytes */
#define LINE_AT	 100 /* and source lines */

static void lay_out(struct ty_flow_view *v, int w, int h)
{
	uint32_t depths = v->part ? ty_flow_part_depths(v->part) : 0;
	int most = (h - 4) / 2;

	v->w = w;
	v->calls_y = CALLS_Y;
	v->calls_h = depths < (uint32_t)most ? (int)depths : most;
	v->calls_h = v->calls_h < 1 ? 1 : v->calls_h;
	v->path_y = v->calls_y + v->calls_h;
	v->list_y = v->path_y + 1;
	v->list_h = h - 1 - v->list_y;
	v->list_h = v->list_h < 0 ? 0 : v->list_h;
}

/* The depths and steps that are on the screen: the cursor is among them. */
static void follow_cursor(struct ty_flow_view *v)
{
	uint32_t n = (uint32_t)v->part->steps.n, c = v->part->steps.v[v->at].call;
	uint32_t depth = c == TY_NO_CALL ? 0 : v->part->calls.v[c].depth;
	uint32_t depths = ty_flow_part_depths(v->part), rows = (uint32_t)v->calls_h;
	uint32_t h = (uint32_t)v->list_h, was = v->top;

	/* One row more than the cursor's, to see what is called. */
	if (v->depth > depth)
		v->depth = depth;
	if (depth + 2 > v->depth + rows)
		v->depth = depth + 2 > rows ? depth + 2 - rows : 0;
	if (v->depth + rows > depths)
		v->depth = depths > rows ? depths - rows : 0;
	if (v->at < v->top + h / 4)
		v->top = v->at > h / 2 ? v->at - h / 2 : 0;
	if (v->at >= v->top + h - h / 4)
		v->top = v->at > h / 2 ? v->at - h / 2 : 0;
	if (v->top + h > n)
		v->top = n > h ? n - h : 0;
	if (v->top != was)
		v->counted = false;
}

static const char *time_at(const struct ty_flow_view *v, uint64_t ts_ns, uint64_t res,
			   char out[TY_TIME_MAX])
{
	if (ts_ns == TY_FLOW_NO_TIME)
		snprintf(out, TY_TIME_MAX, "?");
	else if (v->on.m)
		ty_time_digits(v->on.m, v->on.clock, ts_ns, res, out);
	else
		ty_fmt_seconds(ts_ns > v->on.start_ns ? ts_ns - v->on.start_ns : 0, res, out);
	return out;
}

static void draw_head(const struct ty_flow_view *v, struct ty_grid *g, const struct ty_palette *p)
{
	struct ty_style bar = ty_palette_role(p, TY_ROLE_BAR);
	const struct ty_flow_part *part = v->part;
	char text[400], at[TY_TIME_MAX], len[TY_TIME_MAX];
	uint64_t span = (v->vp.to_ns - v->vp.from_ns) / TY_FLOW_PER_NS;
	size_t n;

	ty_grid_fill(g, 0, 0, g->w, 1, ' ', bar);
	n = (size_t)snprintf(text, sizeof(text), "%s/%d executed%s%s: ", v->on.comm, v->on.tid,
			     v->on.in->software ? " (software)" : "",
			     part && part->cut ? ", NOT ALL DECODED (zoom in)" : "");
	if (v->aside.on || !part)
		snprintf(text + n, sizeof(text) - n, "%s", v->aside.on ? "DECODING" : "nothing");
	else if (v->by_insn)
		snprintf(text + n, sizeof(text) - n,
			 "instructions %" PRIu64 " to %" PRIu64 " of %zu",
			 v->vp.from_ns / TY_FLOW_PER_INSN, v->vp.to_ns / TY_FLOW_PER_INSN,
			 part->steps.n);
	else
		snprintf(text + n, sizeof(text) - n,
			 "%s from %s, %" PRIu32 " instructions, %zu gaps", ty_fmt_length(span, len),
			 time_at(v, v->on.start_ns + v->vp.from_ns / TY_FLOW_PER_NS,
				 span / 1000 + 1, at),
			 ty_flow_view_step(v, v->vp.to_ns) - ty_flow_view_step(v, v->vp.from_ns),
			 part->gaps.n);
	ty_grid_elide(g, p, 1, 0, g->w - 2, text, bar);
}

static void draw_ruler(const struct ty_flow_view *v, struct ty_grid *g, const struct ty_palette *p)
{
	struct ty_viewport ns = v->vp;
	int cursor = -1;

	if (v->part && v->at < v->part->steps.n)
		cursor =
			(int)ty_viewport_column(&v->vp, ty_flow_view_pos(v, v->at), (uint32_t)v->w);
	if (v->by_insn) {
		if (cursor >= 0)
			ty_grid_put(g, cursor, 1, p->utf8 ? 0x25bc : 'v',
				    ty_palette_role(p, TY_ROLE_STRONG));
		return;
	}
	ns.start_ns = v->on.start_ns;
	ns.end_ns = v->on.end_ns;
	ns.from_ns = v->on.start_ns + v->vp.from_ns / TY_FLOW_PER_NS;
	ns.to_ns = v->on.start_ns + v->vp.to_ns / TY_FLOW_PER_NS;
	if (ns.to_ns <= ns.from_ns)
		ns.to_ns = ns.from_ns + 1;
	ty_ruler_draw(g, p, 0, 1, v->w, &ns, v->on.m, v->on.clock, cursor);
}

static void draw_calls(const struct ty_flow_view *v, struct ty_grid *g, const struct ty_palette *p)
{
	struct ty_flow_axis a = ty_flow_view_axis(v);

	for (int i = 0; i < v->calls_h; i++)
		ty_flow_spans_draw(&a, g, p, v->depth + (uint32_t)i, v->calls_y + i);
	ty_flow_gaps_draw(&a, g, p, v->calls_y, v->calls_h);
}

static void draw_path(const struct ty_flow_view *v, struct ty_grid *g, const struct ty_palette *p)
{
	char text[1000];

	ty_flow_path_text(v->part, v->at, text, sizeof(text));
	ty_grid_elide(g, p, 1, v->path_y, g->w - 2, text, ty_palette_role(p, TY_ROLE_ACCENT));
}

static void draw_step(struct ty_flow_view *v, struct ty_grid *g, const struct ty_palette *p,
		      uint32_t step, int y)
{
	const struct ty_flow_step *s = &v->part->steps.v[step];
	uint32_t depth = s->call == TY_NO_CALL ? 0 : v->part->calls.v[s->call].depth;
	struct ty_style st = ty_palette_role(p, TY_ROLE_TEXT),
			dim = ty_palette_role(p, TY_ROLE_DIM);
	char text[400], bytes[60] = "", place[256], insn[192], name[256], at[TY_TIME_MAX];
	int x = 1, end = v->w - 1, place_w;
	bool exact = s->flags & TY_FF_EXACT;

	snprintf(text, sizeof(text), "%s%s", time_at(v, s->ts_ns, 1, at), exact ? "" : "~");
	ty_grid_text(g, x, y, TIME_W, text, dim);
	x += TIME_W + 1;
	if (s->kind != TY_FLOW_INSN) {
		snprintf(text, sizeof(text), "! GAP: %s: %s",
			 ty_flow_gap_size(ty_flow_part_gap(v->part, step), bytes, sizeof(bytes)),
			 s->text);
		ty_grid_elide(g, p, x, y, end - x, text, ty_palette_role(p, TY_ROLE_LOST));
		return;
	}
	for (int i = 0; v->counted && i < v->counts; i++)
		if (v->ip[i] == s->ip && v->count[i] > 1) {
			snprintf(text, sizeof(text), "x%" PRIu64, v->count[i]);
			ty_grid_text(g, x, y, COUNT_W - 1, text, dim);
		}
	x += COUNT_W;
	v->on.in->place(v->on.in->ctx, v->part->pid, s, place, sizeof(place));
	v->on.in->insn(v->on.in->ctx, v->part->pid, s, insn, sizeof(insn), bytes, sizeof(bytes));
	if (v->w >= BYTES_AT) {
		snprintf(text, sizeof(text), "%16" PRIx64 " %-22.22s", s->ip, bytes);
		ty_grid_text(g, x, y, 40, text, dim);
		x += 41;
	}
	/* Callees stand further right, as far as there is room. */
	place_w = (end - x) * (v->w >= LINE_AT ? 4 : 5) / 10;
	depth = depth > v->depth ? depth - v->depth : 0;
	depth = depth < 8 ? depth : 8;
	ty_grid_elide(g, p, x + (int)depth, y, place_w - (int)depth - 1, ty_flow_bare(place, name),
		      st);
	x += place_w;
	if (v->w >= LINE_AT) {
		int line_w = (end - x) / 3;

		v->on.in->line(v->on.in->ctx, v->part->pid, s, text, sizeof(text));
		ty_grid_elide(g, p, end - line_w, y, line_w, text, dim);
		end -= line_w + 1;
	}
	ty_grid_elide(g, p, x, y, end - x, insn,
		      s->cls == TY_FC_OTHER ? st : ty_palette_role(p, TY_ROLE_STRONG));
}

static void draw_list(struct ty_flow_view *v, struct ty_grid *g, const struct ty_palette *p)
{
	for (int i = 0; i < v->list_h; i++) {
		uint32_t step = v->top + (uint32_t)i;

		if (step >= v->part->steps.n)
			return;
		draw_step(v, g, p, step, v->list_y + i);
		if (step == v->at)
			ty_grid_tint(g, 0, v->list_y + i, g->w, ty_palette_role(p, TY_ROLE_SELECT));
		if (step == v->at)
			ty_grid_put(g, 0, v->list_y + i, '>', ty_palette_role(p, TY_ROLE_STRONG));
	}
}

void ty_flow_draw(struct ty_flow_view *v, struct ty_grid *g, const struct ty_palette *p)
{
	static const enum ty_action keys[] = {TY_ACT_DOWN,     TY_ACT_SPAN_NEXT, TY_ACT_LOG_NEXT,
					      TY_ACT_HIT_NEXT, TY_ACT_ZOOM_SPAN, TY_ACT_ZOOM_IN,
					      TY_ACT_FOLD,     TY_ACT_NEXT,	 TY_ACT_NONE};
	static const char *const words[] = {"step",	"over", "out",	"same",
					    "fit call", "zoom", "axis", "gap"};

	ty_grid_clear(g);
	lay_out(v, g->w, g->h);
	if (v->part && v->part->steps.n && !v->aside.on) {
		follow_cursor(v);
		draw_ruler(v, g, p);
		draw_calls(v, g, p);
		draw_path(v, g, p);
		draw_list(v, g, p);
	} else {
		draw_ruler(v, g, p);
		ty_grid_elide(g, p, 1, v->path_y, g->w - 2,
			      v->aside.on     ? "decoding ..."
			      : v->message[0] ? v->message
					      : "nothing of this thread was traced here: 0 shows "
						"the whole recording, s a longer window",
			      ty_palette_role(p, TY_ROLE_WARN));
	}
	draw_head(v, g, p);
	if (v->message[0])
		ty_footer_say(g, p, v->message);
	else
		ty_footer_draw(g, p, g->h - 1, keys, words, "back");
}
