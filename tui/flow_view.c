/* SPDX-License-Identifier: MIT */
/* The instruction view's state, and the actions of keys and mouse; see flow_view.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "flow_view_priv.h"

#define PART_MOST (2u << 20) /* instructions decoded at a time: 64 MB */
#define POLL_MS	  20
#define ABOUT	  30 /* instructions before and behind the cursor, where none is in the window */
#define IDLE_MS	  60 /* counts follow after so long without input */

/* Decoding --------------------------------------------------------------------------------------
 */

static void decode(void *ctx)
{
	struct ty_flow_view *v = ctx;

	v->rc = v->on.in->read(v->on.in->ctx, &v->request, &v->part, &v->err);
}

/* The cursor's step, once there are steps: the last one not later than the cursor. */
static void place_cursor(struct ty_flow_view *v)
{
	uint32_t n;

	if (!ty_flow_view_steps(v))
		return;
	n = ty_flow_part_step_at(v->part, v->at_ns + 1);
	v->at = n ? n - 1 : 0;
	v->placed = true;
}

/* Time or instructions along the axis; the steps on the screen stay there. */
static void set_axis(struct ty_flow_view *v, bool by_insn)
{
	uint32_t first = ty_flow_view_step(v, v->vp.from_ns),
		 last = ty_flow_view_step(v, v->vp.to_ns), n = ty_flow_view_steps(v);
	struct ty_viewport was = v->vp;

	v->by_insn = by_insn;
	if (by_insn)
		ty_viewport_init(&v->vp, 0, (uint64_t)n * TY_FLOW_PER_INSN);
	else
		ty_viewport_init(&v->vp, 0, (v->on.end_ns - v->on.start_ns) * TY_FLOW_PER_NS);
	if (by_insn && first >= last) { /* none is in the window: those about the cursor */
		first = v->at > ABOUT ? v->at - ABOUT : 0;
		last = v->at + ABOUT < n ? v->at + ABOUT : n;
	}
	if (first < last)
		ty_viewport_jump(&v->vp, ty_flow_view_pos(v, first), ty_flow_view_pos(v, last));
	else
		v->vp = was;
}

static void decoded(struct ty_flow_view *v)
{
	if (v->rc) {
		v->part = NULL;
		snprintf(v->message, sizeof(v->message), "%.199s", v->err.msg);
	}
	v->counted = false;
	if (v->whole && v->part && v->part->cut) { /* too much: of the window, then */
		v->whole = false;
		v->part = NULL;
	}
	place_cursor(v);
	if (!v->chosen && ty_flow_view_steps(v)) {
		v->chosen = true;
		if (v->on.in->software)
			set_axis(v, true);
	}
}

static void drop_part(struct ty_flow_view *v)
{
	if (ty_flow_view_steps(v) && v->at < ty_flow_view_steps(v) &&
	    v->part->steps.v[v->at].ts_ns != TY_FLOW_NO_TIME)
		v->at_ns = v->part->steps.v[v->at].ts_ns;
	v->part = NULL;
	v->placed = false;
}

/* Twice the displayed window, so that a small step needs no new decoding. */
static void begin(struct ty_flow_view *v)
{
	uint64_t from = v->vp.from_ns / TY_FLOW_PER_NS, to = v->vp.to_ns / TY_FLOW_PER_NS + 1;
	uint64_t half = (to - from) / 2;

	from = v->whole || from < half ? 0 : from - half;
	to = v->whole ? v->on.end_ns - v->on.start_ns + 1 : to + half;
	drop_part(v);
	v->request_from_ns = v->vp.from_ns;
	v->request_to_ns = v->vp.to_ns;
	v->message[0] = 0;
	v->rc = 0;
	v->request = (struct ty_flow_part_request){.tid = v->on.tid,
						   .from_ns = v->on.start_ns + from,
						   .to_ns = v->on.start_ns + to,
						   .most = PART_MOST,
						   .stop = &v->aside.stop};
	ty_background_start(&v->aside, v->on.aside, decode, v);
	if (ty_background_wait(&v->aside, v->on.aside ? POLL_MS : 0))
		decoded(v);
}

/* True if the window contains a part that was not decoded. */
static bool must_decode(const struct ty_flow_view *v)
{
	uint64_t from, to;

	if (v->aside.on || v->by_insn || v->rc)
		return false;
	if (!v->part)
		return true;
	from = v->on.start_ns + v->vp.from_ns / TY_FLOW_PER_NS;
	to = v->on.start_ns + v->vp.to_ns / TY_FLOW_PER_NS;
	if (from < v->part->from_ns || to > v->part->to_ns)
		return v->request_from_ns != v->vp.from_ns || v->request_to_ns != v->vp.to_ns;
	/* A part that was too large before may fit now. */
	return v->part->cut && v->vp.to_ns > ty_flow_view_pos(v, ty_flow_view_steps(v)) &&
	       (v->request_from_ns != v->vp.from_ns || v->request_to_ns != v->vp.to_ns);
}

struct ty_flow_view *ty_flow_view_new(const struct ty_flow_on *on)
{
	struct ty_flow_view *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->on = *on;
	v->at_ns = on->cursor_ns;
	v->whole = on->in->software;
	ty_viewport_init(&v->vp, 0, (on->end_ns - on->start_ns) * TY_FLOW_PER_NS);
	ty_viewport_jump(&v->vp, (on->from_ns - on->start_ns) * TY_FLOW_PER_NS,
			 (on->to_ns - on->start_ns) * TY_FLOW_PER_NS);
	begin(v);
	return v;
}

void ty_flow_view_free(struct ty_flow_view *v)
{
	if (!v)
		return;
	ty_background_stop(&v->aside);
	free(v);
}

bool ty_flow_view_at(const struct ty_flow_view *v, uint64_t *at_ns)
{
	if (v->aside.on || v->at >= ty_flow_view_steps(v) ||
	    v->part->steps.v[v->at].ts_ns == TY_FLOW_NO_TIME)
		return false;
	*at_ns = v->part->steps.v[v->at].ts_ns;
	return true;
}

/* Moving ----------------------------------------------------------------------------------------
 */

static uint64_t here(const struct ty_flow_view *v)
{
	return v->at < ty_flow_view_steps(v) ? ty_flow_view_pos(v, v->at)
					     : v->vp.from_ns + (v->vp.to_ns - v->vp.from_ns) / 2;
}

/* After a move of the window: the cursor stays in it, on a step where there is one. */
static enum ty_view_result moved(struct ty_flow_view *v)
{
	uint64_t pos = here(v);
	uint32_t first, last;

	v->counted = false;
	v->message[0] = 0;
	if (!ty_flow_view_steps(v) || (pos >= v->vp.from_ns && pos < v->vp.to_ns))
		return TY_VIEW_CHANGED;
	first = ty_flow_view_step(v, v->vp.from_ns);
	last = ty_flow_view_step(v, v->vp.to_ns);
	if (first < last)
		v->at = pos < v->vp.from_ns ? first : last - 1;
	return TY_VIEW_CHANGED;
}

static enum ty_view_result column(struct ty_flow_view *v, int by)
{
	uint64_t cell = (v->vp.to_ns - v->vp.from_ns) / (v->w > 0 ? (unsigned)v->w : 1) + 1;
	uint64_t pos = here(v);
	uint32_t step = ty_flow_view_step(v, by < 0 ? (pos > cell ? pos - cell : 0) : pos + cell);

	if (by > 0 && step <= v->at)
		step = v->at + 1;
	if (by < 0 && step >= v->at)
		step = v->at ? v->at - 1 : 0;
	return ty_flow_view_go(v, step);
}

static uint32_t depth_of(const struct ty_flow_view *v, uint32_t step)
{
	uint32_t c = v->part->steps.v[step].call;

	return c == TY_NO_CALL ? 0 : v->part->calls.v[c].depth;
}

/* The next step forward or back that is not deeper: calls in between are stepped over. */
static enum ty_view_result over(struct ty_flow_view *v, int by)
{
	uint32_t depth;
	int64_t i;

	if (v->at >= ty_flow_view_steps(v))
		return TY_VIEW_IGNORED;
	depth = depth_of(v, v->at);
	for (i = (int64_t)v->at + by; i >= 0 && i < ty_flow_view_steps(v); i += by)
		if (depth_of(v, (uint32_t)i) <= depth)
			return ty_flow_view_go(v, (uint32_t)i);
	snprintf(v->message, sizeof(v->message), "no %s instruction at this depth",
		 by > 0 ? "later" : "earlier");
	return TY_VIEW_CHANGED;
}

/* Out of the call: to the instruction after it, or to the calling one. */
static enum ty_view_result out(struct ty_flow_view *v, int by)
{
	uint32_t c = v->at < ty_flow_view_steps(v) ? v->part->steps.v[v->at].call : TY_NO_CALL;
	const struct ty_flow_part_call *call = c == TY_NO_CALL ? NULL : &v->part->calls.v[c];

	if (call && by > 0 && call->last < ty_flow_view_steps(v))
		return ty_flow_view_go(v, call->last);
	if (call && by < 0 && call->first)
		return ty_flow_view_go(v, call->first - 1);
	snprintf(v->message, sizeof(v->message), "this call %s the decoded part",
		 by > 0 ? "ends after" : "began before");
	return TY_VIEW_CHANGED;
}

static enum ty_view_result same(struct ty_flow_view *v, int by)
{
	uint32_t step = v->part ? ty_flow_part_same(v->part, v->at, by) : TY_NO_CALL;

	if (step != TY_NO_CALL)
		return ty_flow_view_go(v, step);
	snprintf(v->message, sizeof(v->message),
		 "no %s execution of this instruction in the decoded part",
		 by > 0 ? "later" : "earlier");
	return TY_VIEW_CHANGED;
}

static enum ty_view_result gap(struct ty_flow_view *v, int by)
{
	if (v->part)
		for (size_t i = 0; i < v->part->gaps.n; i++) {
			size_t k = by > 0 ? i : v->part->gaps.n - 1 - i;
			uint32_t step = v->part->gaps.v[k];

			if (by > 0 ? step > v->at : step < v->at)
				return ty_flow_view_go(v, step);
		}
	snprintf(v->message, sizeof(v->message), "no gap %s", by > 0 ? "behind" : "before");
	return TY_VIEW_CHANGED;
}

/* The window to the call at the cursor; again: to its caller. */
static enum ty_view_result fit(struct ty_flow_view *v)
{
	uint32_t c = v->at < ty_flow_view_steps(v) ? v->part->steps.v[v->at].call : TY_NO_CALL;

	for (; c != TY_NO_CALL; c = v->part->calls.v[c].parent) {
		const struct ty_flow_part_call *call = &v->part->calls.v[c];
		uint64_t from = ty_flow_view_pos(v, call->first),
			 to = ty_flow_view_pos(v, call->last < ty_flow_view_steps(v)
							  ? call->last
							  : ty_flow_view_steps(v));

		if (to <= from || (from >= v->vp.from_ns && to <= v->vp.to_ns &&
				   (to - from) * 2 > v->vp.to_ns - v->vp.from_ns))
			continue;
		ty_viewport_jump(&v->vp, from, to);
		return moved(v);
	}
	return TY_VIEW_IGNORED;
}

static enum ty_view_result next_axis(struct ty_flow_view *v)
{
	if (!ty_flow_view_steps(v))
		return TY_VIEW_IGNORED;
	set_axis(v, !v->by_insn);
	return moved(v);
}

/* How often each listed instruction was executed in the window. */
static void count(struct ty_flow_view *v)
{
	uint32_t first = ty_flow_view_step(v, v->vp.from_ns),
		 last = ty_flow_view_step(v, v->vp.to_ns);

	v->counts = 0;
	for (int i = 0; i < v->list_h && v->counts < TY_FLOW_LINES; i++) {
		uint32_t s = v->top + (uint32_t)i;
		bool known = s >= ty_flow_view_steps(v) || v->part->steps.v[s].kind != TY_FLOW_INSN;

		for (int k = 0; !known && k < v->counts; k++)
			known = v->ip[k] == v->part->steps.v[s].ip;
		if (known)
			continue;
		v->ip[v->counts] = v->part->steps.v[s].ip;
		v->count[v->counts] = ty_flow_part_count(v->part, v->ip[v->counts], first, last);
		v->counts++;
	}
	v->counted = true;
}

static struct ty_help_topic help(const void *self)
{
	static const struct ty_help_key keys[] = {
		{TY_ACT_DOWN, TY_ACT_UP, "next, previous instruction"},
		{TY_ACT_SPAN_NEXT, TY_ACT_SPAN_PREV, "the same, stepping over calls"},
		{TY_ACT_LOG_NEXT, TY_ACT_LOG_PREV, "step out: to the return; back to the call"},
		{TY_ACT_HIT_NEXT, TY_ACT_HIT_PREV, "next, previous execution of this instruction"},
		{TY_ACT_NEXT, TY_ACT_PREV, "next, previous gap (code that could not be decoded)"},
		{TY_ACT_SEARCH, TY_ACT_NONE,
		 "go to the next call of a function, by part of its name"},
		{TY_ACT_RIGHT, TY_ACT_LEFT, "one column right, left"},
		{TY_ACT_PAGE_DOWN, TY_ACT_PAGE_UP, "a page of instructions"},
		{TY_ACT_TIME_FIRST, TY_ACT_TIME_LAST, "first, last decoded instruction"},
		{TY_ACT_ZOOM_IN, TY_ACT_ZOOM_OUT, "zoom in and out at the cursor"},
		{TY_ACT_PAN_LEFT, TY_ACT_PAN_RIGHT, "pan a quarter of the window"},
		{TY_ACT_ZOOM_SPAN, TY_ACT_OPEN, "fit the window to the call; again: to its caller"},
		{TY_ACT_ALL, TY_ACT_NONE, "show the whole recording"},
		{TY_ACT_UNDO, TY_ACT_REDO, "undo; redo a change of the window"},
		{TY_ACT_FOLD, TY_ACT_NONE, "axis: time, or instruction count"},
		{TY_ACT_BACK, TY_ACT_INSNS, "back to the timeline, at this time"},
	};
	static const char *const signs[] = {
		"Calls: [name ] from first instruction to return, callees below; # several calls "
		"in one cell; ! a gap: trace data was lost or could not be decoded.",
		"An open side: the call began before or continues after the decoded part.",
		"Instructions: time, xN (executed N times in the window above), location "
		"(indented by call depth), instruction, source line. A time with ~ is a lower "
		"bound; the next time without ~ is the upper bound. The source text at the "
		"cursor is shown above the list. Wide screens show it for every line. "
		"\"(newer)\": the source file was changed after the program was built.",
		"Single-stepped (software): times are those of the stepping, not of the "
		"program. The axis counts instructions, and each instruction has its number.",
	};

	return (struct ty_help_topic){.title = "Executed instructions",
				      .keys = keys,
				      .keys_n = sizeof(keys) / sizeof(*keys),
				      .lines = signs,
				      .lines_n = sizeof(signs) / sizeof(*signs)};
}

static enum ty_view_result act(void *self, enum ty_action a)
{
	struct ty_flow_view *v = self;
	uint64_t span = v->vp.to_ns - v->vp.from_ns;
	uint32_t page = v->list_h > 1 ? (uint32_t)v->list_h - 1 : 1;

	switch (a) {
	case TY_ACT_ZOOM_IN: ty_viewport_zoom(&v->vp, here(v), 1, 2); return moved(v);
	case TY_ACT_ZOOM_OUT: ty_viewport_zoom(&v->vp, here(v), 2, 1); return moved(v);
	case TY_ACT_PAN_LEFT: ty_viewport_pan(&v->vp, -(int64_t)(span / 4 + 1)); return moved(v);
	case TY_ACT_PAN_RIGHT: ty_viewport_pan(&v->vp, (int64_t)(span / 4 + 1)); return moved(v);
	case TY_ACT_ALL: ty_viewport_jump(&v->vp, v->vp.start_ns, v->vp.end_ns); return moved(v);
	case TY_ACT_UNDO: return ty_viewport_undo(&v->vp) ? moved(v) : TY_VIEW_IGNORED;
	case TY_ACT_REDO: return ty_viewport_redo(&v->vp) ? moved(v) : TY_VIEW_IGNORED;
	case TY_ACT_ZOOM_SPAN:
	case TY_ACT_OPEN: return fit(v);
	case TY_ACT_LEFT: return column(v, -1);
	case TY_ACT_RIGHT: return column(v, 1);
	case TY_ACT_UP: return ty_flow_view_go(v, v->at ? v->at - 1 : 0);
	case TY_ACT_DOWN: return ty_flow_view_go(v, v->at + 1);
	case TY_ACT_PAGE_UP: return ty_flow_view_go(v, v->at > page ? v->at - page : 0);
	case TY_ACT_PAGE_DOWN: return ty_flow_view_go(v, v->at + page);
	case TY_ACT_ROW_FIRST:
	case TY_ACT_TIME_FIRST: return ty_flow_view_go(v, 0);
	case TY_ACT_ROW_LAST:
	case TY_ACT_TIME_LAST: return ty_flow_view_go(v, UINT32_MAX - 1);
	case TY_ACT_SPAN_PREV: return over(v, -1);
	case TY_ACT_SPAN_NEXT: return over(v, 1);
	case TY_ACT_LOG_PREV: return out(v, -1);
	case TY_ACT_LOG_NEXT: return out(v, 1);
	case TY_ACT_HIT_PREV: return same(v, -1);
	case TY_ACT_HIT_NEXT: return same(v, 1);
	case TY_ACT_PREV: return gap(v, -1);
	case TY_ACT_NEXT: return gap(v, 1);
	case TY_ACT_FOLD: return next_axis(v);
	case TY_ACT_SEARCH: ty_flow_find_prompt(v); return TY_VIEW_CHANGED;
	case TY_ACT_HELP: return TY_VIEW_HELP;
	case TY_ACT_REDRAW: return TY_VIEW_REDRAW;
	case TY_ACT_INSNS:
	case TY_ACT_BACK:
	case TY_ACT_QUIT: return TY_VIEW_CLOSE;
	default: return TY_VIEW_IGNORED;
	}
}

static enum ty_view_result mouse(void *self, const struct ty_mouse *m)
{
	struct ty_flow_view *v = self;
	bool calls = m->y >= 1 && m->y < v->path_y,
	     list = m->y >= v->list_y && m->y < v->list_y + v->list_h;

	switch (m->what) {
	case TY_MOUSE_WHEEL_UP:
		return list ? act(v, TY_ACT_UP) : calls ? act(v, TY_ACT_ZOOM_IN) : TY_VIEW_IGNORED;
	case TY_MOUSE_WHEEL_DOWN:
		return list    ? act(v, TY_ACT_DOWN)
		       : calls ? act(v, TY_ACT_ZOOM_OUT)
			       : TY_VIEW_IGNORED;
	case TY_MOUSE_CLICK:
	case TY_MOUSE_DOUBLE:
		if (list)
			return ty_flow_view_go(v, v->top + (uint32_t)(m->y - v->list_y));
		if (!calls || m->x >= v->w)
			return TY_VIEW_IGNORED;
		ty_flow_view_go(v, ty_flow_view_step(v, ty_viewport_edge(&v->vp, (uint32_t)m->x,
									 (uint32_t)v->w)));
		return m->what == TY_MOUSE_DOUBLE ? fit(v) : TY_VIEW_CHANGED;
	default: return TY_VIEW_IGNORED;
	}
}

static bool wants_text(const void *self)
{
	return ((const struct ty_flow_view *)self)->prompting;
}

static enum ty_view_result text(void *self, uint32_t key)
{
	return ty_flow_find_key(self, key);
}

static int wait_ms(const void *self)
{
	const struct ty_flow_view *v = self;

	return v->aside.on ? POLL_MS : must_decode(v) ? 0 : !v->counted ? IDLE_MS : -1;
}

static enum ty_view_result work(void *self)
{
	struct ty_flow_view *v = self;

	if (v->aside.on) {
		if (!ty_background_wait(&v->aside, 0))
			return TY_VIEW_IGNORED;
		decoded(v);
	} else if (must_decode(v)) {
		begin(v);
	} else {
		count(v);
	}
	return TY_VIEW_CHANGED;
}

static void draw(void *self, struct ty_grid *g, const struct ty_palette *p)
{
	ty_flow_draw(self, g, p);
}

const struct ty_view_ops ty_flow_view_ops = {
	.name = "instructions",
	.help = help,
	.draw = draw,
	.act = act,
	.mouse = mouse,
	.wants_text = wants_text,
	.text = text,
	.wait_ms = wait_ms,
	.work = work,
};
