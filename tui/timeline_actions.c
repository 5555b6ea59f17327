/* SPDX-License-Identifier: MIT */
/* The actions of the timeline's keys. */
#include "timeline_priv.h"

static void undo(struct ty_timeline *t)
{
	if (ty_viewport_undo(&t->vp))
		ty_timeline_restore(t);
	else
		ty_timeline_say(t, "nothing to undo");
}

static void redo(struct ty_timeline *t)
{
	if (ty_viewport_redo(&t->vp))
		ty_timeline_restore(t);
	else
		ty_timeline_say(t, "nothing to redo");
}

static void follow_link(struct ty_timeline *t, int link)
{
	unsigned i = (unsigned)link;

	if (i >= t->links_n) {
		ty_timeline_say(t,
				t->links_n ? "there is no link [%u] in the details"
					   : "there are no links in the details",
				i + 1);
		return;
	}
	ty_timeline_visit_row(t, t->links[i].row_kind, t->links[i].row_id, t->links[i].at_ns);
}

static void focus(struct ty_timeline *t)
{
	t->list_focus = !t->list_focus;
	ty_timeline_list(t);
	if (t->list_focus && t->listed_n && ty_timeline_listed_at(t) >= t->listed_n)
		t->finding = t->listed[0];
}

/* The time of day is skipped if it is unknown. */
static void next_clock(struct ty_timeline *t)
{
	uint64_t real;
	bool wall = ty_model_realtime(t->m, t->vp.start_ns, &real);

	if (t->clock == TY_CLOCK_START && wall) {
		t->clock = TY_CLOCK_WALL;
		ty_timeline_say(t, "times are local time of day; press T for the trace clock");
	} else if (t->clock != TY_CLOCK_TRACE) {
		t->clock = TY_CLOCK_TRACE;
		ty_timeline_say(
			t, wall ? "times are in the trace clock; press T for times from the start"
				: "times are in the trace clock (the recording has no time of "
				  "day); press T for times from the start");
	} else {
		t->clock = TY_CLOCK_START;
		ty_timeline_say(t, "times are from the start");
	}
}

static void go(struct ty_timeline *t, uint64_t at_ns)
{
	ty_viewport_follow(&t->vp, at_ns);
	t->cursor_ns = at_ns;
}

static void go_first(struct ty_timeline *t)
{
	go(t, t->vp.start_ns);
}

static void go_last(struct ty_timeline *t)
{
	go(t, t->vp.end_ns - 1);
}

static void zoom(struct ty_timeline *t, int in)
{
	ty_viewport_zoom(&t->vp, t->cursor_ns, in ? 1 : 2, in ? 2 : 1);
}

static void whole_recording(struct ty_timeline *t)
{
	ty_viewport_jump(&t->vp, t->vp.start_ns, t->vp.end_ns);
}

/* By quarters of the window. */
static void pan(struct ty_timeline *t, int quarters)
{
	ty_timeline_pan(t, quarters * (int64_t)((t->vp.to_ns - t->vp.from_ns) / 4 + 1));
}

static void step_row(struct ty_timeline *t, int by)
{
	ty_timeline_up_down(t, by, false);
}

static void step_page(struct ty_timeline *t, int by)
{
	ty_timeline_up_down(t, by, true);
}

static void end_row(struct ty_timeline *t, int by)
{
	ty_timeline_up_down(t, by < 0 ? -(1 << 30) : 1 << 30, false);
}

static void step_hit(struct ty_timeline *t, int by)
{
	ty_timeline_next_hit(t, by < 0);
}

/* True: a view is pushed. */
static bool open_row(struct ty_timeline *t)
{
	struct ty_track track;

	if (t->list_focus)
		ty_timeline_to_finding(t);
	else if (ty_timeline_track(t, t->row, &track))
		ty_timeline_zoom(t);
	else if (t->row < t->tracks.rows.n && ty_row_is_memory(&t->tracks.rows.v[t->row]))
		ty_timeline_memory_recolour(t);
	else if (ty_timeline_region_here(t) != TY_NONE)
		return ty_timeline_region_slowest(t);
	else
		ty_timeline_fold(t);
	return false;
}

/* Esc undoes one thing at a time: typed text (timeline_prompt.c), a page (its own view), running
 * work, then this. It never touches the window: u does. */
static void back(struct ty_timeline *t)
{
	if (ty_timeline_stop(t))
		return;
	if (t->list_focus)
		t->list_focus = false;
	else if (t->arrows.on)
		ty_timeline_arrows(t);
	else if (t->route.on)
		ty_timeline_route(t);
	else if (t->filter)
		ty_timeline_filter(t, "");
	else if (t->sel.on)
		ty_timeline_unselect(t);
	else
		ty_timeline_say(t, "nothing to close or clear; u undoes the last zoom or jump");
}

/* One action: exactly one of these is set. */
struct action {
	void (*run)(struct ty_timeline *t);
	void (*step)(struct ty_timeline *t, int by); /* with `by` */
	int by;
	/* True: a view is pushed (ty_timeline_push). */
	bool (*open)(struct ty_timeline *t);
	enum ty_prompt prompt;
	enum ty_view_result result;
	const char
		*needs_all; /* the name of a result that needs the whole recording indexed; NULL */
};

static const struct action actions[TY_ACT_COUNT] = {
	[TY_ACT_ZOOM_IN] = {.step = zoom, .by = 1},
	[TY_ACT_ZOOM_OUT] = {.step = zoom, .by = 0},
	[TY_ACT_PAN_LEFT] = {.step = pan, .by = -1},
	[TY_ACT_PAN_RIGHT] = {.step = pan, .by = 1},
	[TY_ACT_ALL] = {.run = whole_recording},
	[TY_ACT_ZOOM_SPAN] = {.run = ty_timeline_zoom},
	[TY_ACT_UNDO] = {.run = undo},
	[TY_ACT_REDO] = {.run = redo},
	[TY_ACT_GOTO] = {.prompt = TY_PROMPT_GOTO},
	[TY_ACT_TIME_FIRST] = {.run = go_first},
	[TY_ACT_TIME_LAST] = {.run = go_last},
	[TY_ACT_CLOCK] = {.run = next_clock},
	[TY_ACT_LEFT] = {.step = ty_timeline_move_cursor, .by = -1},
	[TY_ACT_RIGHT] = {.step = ty_timeline_move_cursor, .by = 1},
	[TY_ACT_SPAN_PREV] = {.step = ty_timeline_step_span, .by = -1},
	[TY_ACT_SPAN_NEXT] = {.step = ty_timeline_step_span, .by = 1},
	[TY_ACT_UP] = {.step = step_row, .by = -1},
	[TY_ACT_DOWN] = {.step = step_row, .by = 1},
	[TY_ACT_PAGE_UP] = {.step = step_page, .by = -1},
	[TY_ACT_PAGE_DOWN] = {.step = step_page, .by = 1},
	[TY_ACT_ROW_FIRST] = {.step = end_row, .by = -1},
	[TY_ACT_ROW_LAST] = {.step = end_row, .by = 1},
	[TY_ACT_FOLD] = {.run = ty_timeline_fold},
	[TY_ACT_DETAILS_DOWN] = {.step = ty_timeline_scroll_details, .by = 1},
	[TY_ACT_DETAILS_UP] = {.step = ty_timeline_scroll_details, .by = -1},
	[TY_ACT_LINK_1] = {.step = follow_link, .by = 0},
	[TY_ACT_LINK_2] = {.step = follow_link, .by = 1},
	[TY_ACT_LINK_3] = {.step = follow_link, .by = 2},
	[TY_ACT_LINK_4] = {.step = follow_link, .by = 3},
	[TY_ACT_NEXT] = {.step = ty_timeline_step_finding, .by = 1},
	[TY_ACT_PREV] = {.step = ty_timeline_step_finding, .by = -1},
	[TY_ACT_OPEN] = {.open = open_row},
	[TY_ACT_FOCUS] = {.run = focus},
	[TY_ACT_CHAIN] = {.open = ty_timeline_chain, .needs_all = "chains"},
	[TY_ACT_STACK] = {.open = ty_timeline_stack, .needs_all = "stacks"},
	[TY_ACT_ARROWS] = {.run = ty_timeline_arrows, .needs_all = "chains"},
	[TY_ACT_ONLY] = {.run = ty_timeline_only, .needs_all = "chains"},
	[TY_ACT_PATH] = {.run = ty_timeline_route, .needs_all = "the critical path"},
	[TY_ACT_LEDGER] = {.open = ty_timeline_ledger, .needs_all = "ledgers"},
	[TY_ACT_DIFF] = {.open = ty_timeline_diff, .needs_all = "comparisons"},
	[TY_ACT_REQUESTS] = {.open = ty_timeline_requests, .needs_all = "requests"},
	[TY_ACT_SPECTRUM] = {.open = ty_timeline_spectrum, .needs_all = "latencies"},
	[TY_ACT_FLAME] = {.open = ty_timeline_flame, .needs_all = "samples"},
	[TY_ACT_LOG_NEXT] = {.step = ty_timeline_log_step, .by = 1},
	[TY_ACT_LOG_PREV] = {.step = ty_timeline_log_step, .by = -1},
	[TY_ACT_CALLS] = {.run = ty_timeline_calls, .needs_all = "calls"},
	[TY_ACT_INSNS] = {.open = ty_timeline_flow, .needs_all = "instructions"},
	[TY_ACT_MEMORY] = {.open = ty_timeline_memory_open},
	[TY_ACT_SEARCH] = {.prompt = TY_PROMPT_SEARCH},
	[TY_ACT_HIT_NEXT] = {.step = step_hit, .by = 1},
	[TY_ACT_HIT_PREV] = {.step = step_hit, .by = -1},
	[TY_ACT_HITS] = {.open = ty_timeline_hits},
	[TY_ACT_FILTER] = {.prompt = TY_PROMPT_FILTER},
	[TY_ACT_SELECT] = {.run = ty_timeline_select},
	[TY_ACT_STATS] = {.run = ty_timeline_stats},
	[TY_ACT_EXPORT] = {.prompt = TY_PROMPT_EXPORT, .needs_all = "exports"},
	[TY_ACT_MARK] = {.prompt = TY_PROMPT_MARK},
	[TY_ACT_MARK_JUMP] = {.prompt = TY_PROMPT_MARK_JUMP},
	[TY_ACT_KEPT] = {.open = ty_timeline_kept},
	[TY_ACT_BACK] = {.run = back},
	[TY_ACT_HELP] = {.result = TY_VIEW_HELP},
	[TY_ACT_REDRAW] = {.result = TY_VIEW_REDRAW},
	[TY_ACT_QUIT] = {.result = TY_VIEW_QUIT},
};

/* q behind a key whose page is not there, or not yet, was meant for that page. */
static bool quits_page(struct ty_timeline *t, enum ty_action a)
{
	const bool meant = t->no_page && a == TY_ACT_QUIT;

	if (a != TY_ACT_REDRAW)
		t->no_page = false;
	if (!meant)
		return false;
	ty_timeline_stop_page(t);
	ty_timeline_say(t, "no page is open: q again quits");
	return true;
}

/* The result of the view; TY_VIEW_CHANGED: the cursor may have moved. */
static enum ty_view_result run(struct ty_timeline *t, const struct action *a)
{
	if (a->open)
		t->no_page = a->open != open_row;
	if (a->needs_all && ty_timeline_indexing_waits(t, a->needs_all))
		return TY_VIEW_CHANGED;
	if (a->open)
		return a->open(t) ? TY_VIEW_PUSH : TY_VIEW_CHANGED;
	if (a->prompt)
		ty_timeline_prompt_open(t, a->prompt);
	else if (a->step)
		a->step(t, a->by);
	else if (a->run)
		a->run(t);
	else
		return a->result;
	return TY_VIEW_CHANGED;
}

enum ty_view_result ty_timeline_act(void *self, enum ty_action a)
{
	struct ty_timeline *t = self;
	enum ty_view_result r;

	t->message[0] = 0;
	t->hit_said = false;
	t->note_seen |= a != TY_ACT_NONE && a != TY_ACT_REDRAW;
	t->keys_seen |= t->keys_shown && a != TY_ACT_REDRAW;
	t->touched = true;
	t->wanted = 0;
	t->vp.here = ty_timeline_place(t);
	if (quits_page(t, a))
		return TY_VIEW_CHANGED;
	r = run(t, &actions[a]);
	if (r == TY_VIEW_CHANGED) {
		ty_timeline_clamp(t);
		ty_timeline_select_to(t);
	}
	return r;
}
