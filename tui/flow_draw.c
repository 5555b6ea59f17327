/* SPDX-License-Identifier: MIT */
/* Draws the instruction view: see flow_view.h. Budget: columns x depths x log(calls), and a line of
 * the list each for symbol, disassembly and source line. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "flow_view_priv.h"
#include "footer.h"
#include "ruler.h"
#include "model_time.h"

#define CALLS_Y	  2
#define TIME_W	  15
#define COUNT_W	  7
#define BYTES_AT  150 /* screens as wide show addresses and bytes */
#define LINE_AT	  60  /* and source lines */
#define TEXT_AT	  100 /* and their text */
#define LINE_W	  16
#define NUMBER_W  9  /* an instruction's number */
#define TITLES_AT 16 /* screens as high have the columns' names */

static void lay_out(struct ty_flow_view *v, int w, int h)
{
	uint32_t depths = v->part ? ty_flow_part_depths(v->part) : 0;
	int most = (h - 4) / 2 - (h >= TITLES_AT);

	v->w = w;
	v->calls_y = CALLS_Y;
	v->calls_h = depths < (uint32_t)most ? (int)depths : most;
	v->calls_h = v->calls_h < 1 ? 1 : v->calls_h;
	v->path_y = v->calls_y + v->calls_h;
	v->titles = h >= TITLES_AT;
	v->list_y = v->path_y + (v->titles ? 3 : 1);
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

	/* One row more than the cursor's, to show the callee. */
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
		ty_fmt_since(ts_ns, v->on.start_ns, res, out);
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
			 "%s, starting at %s, %" PRIu32 " instructions, %zu gaps",
			 ty_fmt_length(span, len),
			 time_at(v, v->on.start_ns + v->vp.from_ns / TY_FLOW_PER_NS,
				 span / 1000 + 1, at),
			 ty_flow_view_step(v, v->vp.to_ns) - ty_flow_view_step(v, v->vp.from_ns),
			 part->gaps.n);
	ty_grid_elide(g, p, 1, 0, g->w - 2, text, bar);
}

/* An axis of instructions, the first decoded being number 0. */
static void draw_numbers(const struct ty_flow_view *v, struct ty_grid *g,
			 const struct ty_palette *p, int cursor)
{
	struct ty_style dim = ty_palette_role(p, TY_ROLE_DIM);
	uint64_t length = v->vp.to_ns - v->vp.from_ns, unit = TY_FLOW_PER_INSN;
	uint64_t step = ty_round_step(length / (unsigned)(v->w > 12 ? v->w / 12 : 1) / unit + 1);
	int label_end = 0;
	char text[32];

	ty_grid_fill(g, 0, 1, v->w, 1, p->utf8 ? 0x2500 : '-', dim);
	for (uint64_t i = (v->vp.from_ns / unit + step - 1) / step * step; i * unit < v->vp.to_ns;
	     i += step) {
		int c = (int)ty_viewport_column(&v->vp, i * unit, (uint32_t)v->w), n;

		if (i * unit < v->vp.from_ns)
			continue;
		ty_grid_put(g, c, 1, p->utf8 ? 0x252c : '+', dim);
		n = snprintf(text, sizeof(text), "%" PRIu64, i);
		if (c + 1 >= label_end && c + 1 + n < v->w && (cursor < c || cursor > c + n))
			label_end = c + 2 +
				    ty_grid_text(g, c + 1, 1, n, text,
						 ty_palette_role(p, TY_ROLE_TEXT));
	}
	if (cursor >= 0)
		ty_grid_put(g, cursor, 1, p->utf8 ? 0x25bc : 'v',
			    ty_palette_role(p, TY_ROLE_ACCENT));
}

static void draw_ruler(const struct ty_flow_view *v, struct ty_grid *g, const struct ty_palette *p)
{
	struct ty_viewport ns = v->vp;
	int cursor = -1;

	if (v->part && v->at < v->part->steps.n)
		cursor =
			(int)ty_viewport_column(&v->vp, ty_flow_view_pos(v, v->at), (uint32_t)v->w);
	if (v->by_insn) {
		draw_numbers(v, g, p, cursor);
		return;
	}
	ns.start_ns = v->on.start_ns;
	ns.end_ns = v->on.end_ns;
	ns.from_ns = v->on.start_ns + v->vp.from_ns / TY_FLOW_PER_NS;
	ns.to_ns = v->on.start_ns + v->vp.to_ns / TY_FLOW_PER_NS;
	if (ns.to_ns <= ns.from_ns)
		ns.to_ns = ns.from_ns + 1;
	ty_ruler_draw(g, p, 0, 1, v->w, &ns, v->on.m, v->on.clock, cursor, NULL);
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

/* Columns of the list. Times of a stepped program are meaningless, and numbers are narrower. */
struct columns {
	int first_w, count, bytes, place, place_w, insn, insn_w, line, line_w;
	bool numbers;
};

static struct columns columns_of(const struct ty_flow_view *v)
{
	struct columns c = {.numbers = v->on.in->software && v->by_insn};
	int end = v->w - 1, room;

	c.first_w = c.numbers ? NUMBER_W : TIME_W;
	c.count = 2 + c.first_w;
	c.place = c.count + COUNT_W;
	if (v->w >= BYTES_AT) {
		c.bytes = c.place;
		c.place += 41;
	}
	room = end - c.place;
	c.line_w = v->w >= TEXT_AT ? room * 2 / 5 : v->w >= LINE_AT ? LINE_W : 0;
	c.line = end - c.line_w;
	room -= c.line_w + (c.line_w > 0);
	c.place_w = room * (v->w >= LINE_AT ? 4 : 5) / 10;
	c.insn = c.place + c.place_w;
	c.insn_w = room - c.place_w;
	return c;
}

/* Shortens at the start: the number in "directory.c:123" matters most. */
static void put_tail(struct ty_grid *g, const struct ty_palette *p, int x, int y, int w,
		     const char *s, struct ty_style st)
{
	if (w > 1 && ty_text_width(s) > w) {
		while (*s && ty_text_width(s) > w - 1)
			ty_utf8_next(&s);
		ty_grid_put(g, x++, y, p->utf8 ? 0x2026 : '~', st);
		w--;
	}
	ty_grid_text(g, x, y, w, s, st);
}

/* The source line's text; "" where there is none. */
static const char *source_of(const struct ty_flow_view *v, const struct ty_flow_step *s, char *out,
			     size_t n)
{
	char text[300];
	bool newer;

	*out = 0;
	if (v->on.in->source &&
	    v->on.in->source(v->on.in->ctx, v->part->pid, s, text, sizeof(text), &newer))
		snprintf(out, n, "%s%s", newer ? "(newer) " : "", text);
	return out;
}

/* line: "FILE:LINE" of the row before, and of this one afterwards. */
static void draw_step(struct ty_flow_view *v, struct ty_grid *g, const struct ty_palette *p,
		      const struct columns *c, uint32_t step, int y, char line[256])
{
	const struct ty_flow_step *s = &v->part->steps.v[step];
	uint32_t depth = s->call == TY_NO_CALL ? 0 : v->part->calls.v[s->call].depth;
	struct ty_style st = ty_palette_role(p, TY_ROLE_TEXT),
			dim = ty_palette_role(p, TY_ROLE_DIM);
	char text[400], bytes[60] = "", place[256], insn[192], name[256], at[TY_TIME_MAX];
	bool exact = s->flags & TY_FF_EXACT;

	if (c->numbers)
		snprintf(text, sizeof(text), "%*" PRIu32, NUMBER_W, step);
	else
		snprintf(text, sizeof(text), "%s%s", time_at(v, s->ts_ns, 1, at), exact ? "" : "~");
	ty_grid_text(g, 1, y, c->first_w, text, dim);
	if (s->kind != TY_FLOW_INSN) {
		snprintf(text, sizeof(text), "! GAP: %s: %s",
			 ty_flow_gap_size(ty_flow_part_gap(v->part, step), bytes, sizeof(bytes)),
			 s->text);
		ty_grid_elide(g, p, c->count, y, v->w - 1 - c->count, text,
			      ty_palette_role(p, TY_ROLE_LOST));
		*line = 0;
		return;
	}
	for (int i = 0; v->counted && i < v->counts; i++)
		if (v->ip[i] == s->ip && v->count[i] > 1) {
			snprintf(text, sizeof(text), "x%" PRIu64, v->count[i]);
			ty_grid_text(g, c->count, y, COUNT_W - 1, text, dim);
		}
	v->on.in->place(v->on.in->ctx, v->part->pid, s, place, sizeof(place));
	v->on.in->insn(v->on.in->ctx, v->part->pid, s, insn, sizeof(insn), bytes, sizeof(bytes));
	if (c->bytes) {
		snprintf(text, sizeof(text), "%16" PRIx64 " %-22.22s", s->ip, bytes);
		ty_grid_text(g, c->bytes, y, 40, text, dim);
	}
	/* Callees are indented further, while there is room. */
	depth = depth > v->depth ? depth - v->depth : 0;
	depth = depth < 8 ? depth : 8;
	ty_grid_elide(g, p, c->place + (int)depth, y, c->place_w - (int)depth - 1,
		      ty_flow_bare(place, name), st);
	ty_grid_elide(g, p, c->insn, y, c->insn_w, insn,
		      s->cls == TY_FC_OTHER ? st : ty_palette_role(p, TY_ROLE_STRONG));
	if (!c->line_w)
		return;
	v->on.in->line(v->on.in->ctx, v->part->pid, s, text, 256);
	if (v->w < TEXT_AT) {
		put_tail(g, p, c->line, y, c->line_w, text, dim);
	} else {
		int w = ty_text_width(text), most = c->line_w * 2 / 5;

		w = w < most ? w : most;
		put_tail(g, p, c->line, y, w, text, dim);
		/* Once for all instructions of a line in a row. */
		if (*text && strcmp(text, line))
			ty_grid_elide(g, p, c->line + w + 2, y, c->line_w - w - 2,
				      source_of(v, s, insn, sizeof(insn)), st);
	}
	memcpy(line, text, 256);
}

/* Of the cursor's instruction: its source line. Then the names of the list's columns. */
static void draw_titles(struct ty_flow_view *v, struct ty_grid *g, const struct ty_palette *p,
			const struct columns *c)
{
	const struct ty_flow_step *s = &v->part->steps.v[v->at];
	struct ty_style dim = ty_palette_role(p, TY_ROLE_DIM);
	char text[700], line[256] = "", source[310] = "";
	int y = v->path_y + 1;

	if (s->kind == TY_FLOW_INSN) {
		v->on.in->line(v->on.in->ctx, v->part->pid, s, line, sizeof(line));
		source_of(v, s, source, sizeof(source));
	}
	snprintf(text, sizeof(text), "%s%s%s", *line ? line : "no source line found",
		 *line ? "  " : "", *line && !*source ? "(source file not found)" : source);
	ty_grid_elide(g, p, 1, y, g->w - 2, text, *source ? ty_palette_role(p, TY_ROLE_TEXT) : dim);
	y++;
	ty_grid_text(g, c->numbers ? 4 : 1, y, c->first_w, c->numbers ? "number" : "time", dim);
	ty_grid_elide(g, p, c->count, y, c->insn - c->count - 1,
		      v->w >= TEXT_AT ? "xN: executed N times in this window"
				      : "xN: executed N times",
		      dim);
	ty_grid_text(g, c->insn, y, c->insn_w, "instruction", dim);
	ty_grid_text(g, c->line, y, c->line_w, "source line", dim);
}

static void draw_list(struct ty_flow_view *v, struct ty_grid *g, const struct ty_palette *p,
		      const struct columns *c)
{
	char line[256] = "";

	for (int i = 0; i < v->list_h; i++) {
		uint32_t step = v->top + (uint32_t)i;

		if (step >= v->part->steps.n)
			return;
		draw_step(v, g, p, c, step, v->list_y + i, line);
		if (step == v->at)
			ty_grid_tint(g, 0, v->list_y + i, g->w, ty_palette_role(p, TY_ROLE_SELECT));
		if (step == v->at)
			ty_grid_put(g, 0, v->list_y + i, '>', ty_palette_role(p, TY_ROLE_STRONG));
	}
}

void ty_flow_draw(struct ty_flow_view *v, struct ty_grid *g, const struct ty_palette *p)
{
	static const enum ty_action keys[] = {
		TY_ACT_DOWN,	  TY_ACT_SPAN_NEXT, TY_ACT_LOG_NEXT, TY_ACT_SEARCH, TY_ACT_FOLD,
		TY_ACT_ZOOM_SPAN, TY_ACT_ZOOM_IN,   TY_ACT_HIT_NEXT, TY_ACT_NEXT,   TY_ACT_NONE};
	static const char *const words[] = {"step",	"over", "out",	"find", "axis",
					    "fit call", "zoom", "same", "gap"};

	struct columns c;

	ty_grid_clear(g);
	lay_out(v, g->w, g->h);
	c = columns_of(v);
	if (v->part && v->part->steps.n && !v->aside.on) {
		follow_cursor(v);
		draw_ruler(v, g, p);
		draw_calls(v, g, p);
		draw_path(v, g, p);
		if (v->titles)
			draw_titles(v, g, p, &c);
		draw_list(v, g, p, &c);
	} else {
		draw_ruler(v, g, p);
		ty_grid_elide(g, p, 1, v->path_y, g->w - 2,
			      v->aside.on ? "decoding ..."
			      : v->message[0]
				      ? v->message
				      : "no instructions of this thread were traced here: press 0 "
					"for the whole recording, s for a longer window",
			      ty_palette_role(p, TY_ROLE_WARN));
	}
	draw_head(v, g, p);
	if (v->prompting)
		ty_flow_find_draw(v, g, p);
	else if (v->message[0])
		ty_footer_say(g, p, v->message);
	else
		ty_footer_draw(g, p, g->h - 1, keys, words, "back");
}
