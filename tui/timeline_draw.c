/* SPDX-License-Identifier: MIT */
/* Composes the timeline's screen: bars, overview, ruler, rows, list, details. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base_name.h"
#include "first_keys.h"
#include "footer.h"
#include "glyphs.h"
#include "ruler.h"
#include "timeline_priv.h"
#include "model_time.h"
#include "units.h"

/* The line above a part: its name, and facts at the right end. */
static void headline(struct ty_grid *g, const struct ty_palette *p, int y, const char *name,
		     const char *right, bool focus)
{
	struct ty_style dim = ty_palette_role(p, TY_ROLE_DIM);
	int n, w = ty_text_width(right);

	ty_grid_fill(g, 0, y, g->w, 1, p->utf8 ? 0x2500 : '-', dim);
	ty_grid_put(g, 2, y, ' ', dim);
	n = ty_grid_text(g, 3, y, g->w - 6, name,
			 ty_palette_role(p, focus ? TY_ROLE_ACCENT : TY_ROLE_STRONG));
	ty_grid_put(g, 3 + n, y, ' ', dim);
	if (*right && n + w + 8 < g->w) { /* a dash between */
		ty_grid_put(g, g->w - w - 4, y, ' ', dim);
		ty_grid_text(g, g->w - w - 3, y, w, right, dim);
		ty_grid_put(g, g->w - 3, y, ' ', dim);
	}
}

/* The window in words; the lower the level, the fewer. */
static void window_text(const struct ty_timeline *t, int level, char out[320])
{
	char a[TY_TIME_MAX], b[TY_TIME_MAX];
	uint64_t res = (t->vp.to_ns - t->vp.from_ns) / 1000 + 1;
	const bool all = t->vp.from_ns == t->vp.start_ns && t->vp.to_ns == t->vp.end_ns &&
			 !t->partial && !ty_model_is_part(t->m);
	size_t n = 0;

	out[0] = 0;
	if (level >= 2)
		n += (size_t)snprintf(out, 60, "%s to %s (",
				      ty_timeline_at(t, t->vp.from_ns, res, a),
				      ty_timeline_at(t, t->vp.to_ns, res, b));
	if (level >= 1)
		n += (size_t)snprintf(out + n, 60,
				      level == 1	  ? "window %s"
				      : level >= 3 && all ? "all %s"
							  : "%s",
				      ty_fmt_length(t->vp.to_ns - t->vp.from_ns, a));
	if (level >= 3 && ty_model_is_part(t->m))
		n += (size_t)snprintf(out + n, 60, " of the part from %s to %s",
				      ty_timeline_at(t, t->vp.start_ns, res, a),
				      ty_timeline_at(t, t->vp.end_ns, res, b));
	else if (level >= 3 && !all)
		n += (size_t)snprintf(out + n, 60, "%s%s", t->partial ? " of the first " : " of ",
				      ty_fmt_length(t->vp.end_ns - t->vp.start_ns, a));
	if (level >= 2)
		n += (size_t)snprintf(out + n, 60, ")");
	if (level >= 4 && t->in->recorder_cpu_ns != UINT64_MAX)
		n += (size_t)snprintf(out + n, 60, "  recorder %s CPU",
				      ty_fmt_duration(t->in->recorder_cpu_ns, a));
	if (n)
		snprintf(out + n, 8, "  ");
}

static void draw_top(const struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p)
{
	const struct ty_summary *s = ty_model_summary(t->m);
	struct ty_style bar = ty_palette_role(p, TY_ROLE_BAR);
	char text[320], lost[64], rest[TY_INDEXING_MAX], filter[TY_GRID_MAX] = "";
	const char *name = ty_base_name(t->in->path),
		   *mark = t->in->note ? " INCOMPLETE" : ty_timeline_indexing_mark(t, rest);
	const char *label = g->w < 100 ? "lost" : "lost events:";
	const bool kept = t->in->kept && !*mark;
	bool bad = s->lost || s->gaps_unknown || t->in->note;
	int x = 0, n;

	mark = kept ? " NEWEST PART" : mark;
	ty_grid_fill(g, 0, 0, g->w, 1, ' ', bar);
	if (s->lost || s->gaps_unknown)
		snprintf(lost, sizeof(lost), s->gaps_unknown ? "%s %" PRIu64 "+" : "%s %" PRIu64,
			 label, s->lost);
	else
		snprintf(lost, sizeof(lost), "%s %s", label, t->partial ? "?" : "0");
	/* The name and notes on missing data have priority; the recorder's cost is dropped
	 * first. */
	n = ty_text_width(name);
	if (n > 12 && n > g->w / 4)
		n = g->w / 4 > 12 ? g->w / 4 : 12;
	if (t->filter) { /* in force: whole where there is room */
		const char *what = ty_query_text(t->filter);
		const int own = 8 + 4 + (int)strlen(mark) + (int)strlen(lost) + 12, /* window */
			room = g->w - own - n - (int)strlen(" filter:  ");

		snprintf(filter, sizeof(filter), " filter: %.*s%s ", room > 12 ? room : 12, what,
			 (int)strlen(what) > (room > 12 ? room : 12) ? "..." : "");
	}
	n += (int)strlen(mark) + ty_text_width(filter);
	for (int level = 4; level >= 0; level--) {
		window_text(t, level, text);
		x = g->w - 1 - (int)strlen(text) - (int)strlen(lost);
		if (x - 2 >= n)
			break;
	}
	n = x - 2 - (int)strlen(mark) - ty_text_width(filter);
	bar.attr |= TY_A_BOLD;
	n = ty_grid_elide(g, p, 1, 0, n, name, bar);
	if (*mark)
		ty_grid_text(g, 1 + n, 0, (int)strlen(mark), mark,
			     ty_palette_role(p, kept ? TY_ROLE_BAR : TY_ROLE_LOST));
	if (*filter)
		ty_grid_text(g, 1 + n + (int)strlen(mark), 0, g->w, filter,
			     ty_palette_role(p, TY_ROLE_LOST));
	bar = ty_palette_role(p, TY_ROLE_BAR);
	x += ty_grid_text(g, x, 0, g->w - x, text, bar);
	ty_grid_text(g, x, 0, g->w - x, lost, bad ? ty_palette_role(p, TY_ROLE_LOST) : bar);
}

/* What ended the wait, or how it is. */
static void cause_text(const struct ty_timeline *t, const struct ty_wait *f, int columns,
		       char out[TY_WAIT_CAUSE])
{
	char who[TY_THREAD_NAME_MAX], by[TY_WAKER_TEXT];
	struct ty_waker k;

	if (f->state == TY_ST_RUNNABLE && f->ran >= 0) {
		snprintf(out, TY_WAIT_CAUSE, "CPU used most by %s",
			 ty_timeline_thread_within(t, (uint32_t)f->ran,
						   f->start_ns + f->duration_ns, columns - 17,
						   who));
	} else if (f->woken) {
		k = ty_waker_find(t->m, ty_model_span(t->m, f->span).edge);
		snprintf(out, TY_WAIT_CAUSE, "woken by %s",
			 k.kind == TY_WAKER_THREAD
				 ? ty_timeline_thread_within(t, k.thread, k.act_ns, columns - 10,
							     who)
				 : ty_waker_text(t->m, &k, by));
	} else {
		snprintf(out, TY_WAIT_CAUSE, "%s",
			 f->flags & TY_SF_OPEN	      ? "still waiting"
			 : f->state == TY_ST_RUNNABLE ? "-"
						      : "waker not recorded");
	}
}

/* The texts of a row for these widths. cause_w 0: without. */
static const struct ty_wait_text *wait_text(struct ty_timeline *t, uint32_t i, int who_w,
					    int cause_w)
{
	const struct ty_wait *f = &t->findings.v[i];
	struct ty_wait_text *s = &t->wait_text[i];
	char at[TY_TIME_MAX];

	if (s->known && s->who_w == who_w && s->cause_w == cause_w && s->clock == t->clock)
		return s;
	*s = (struct ty_wait_text){
		.known = true, .clock = (uint8_t)t->clock, .who_w = who_w, .cause_w = cause_w};
	ty_timeline_thread_within(t, f->thread, f->start_ns, who_w, s->who);
	if (cause_w)
		cause_text(t, f, cause_w, s->cause);
	snprintf(s->start, sizeof(s->start), "start %s",
		 ty_timeline_at(t, f->start_ns, 1000000, at));
	return s;
}

/* The sentence of a stall; of one too long for max columns the root cause is kept. */
static void draw_stall_text(struct ty_grid *g, const struct ty_palette *p, int x, int y, int max,
			    const char *s)
{
	static const char mark[] = "Root cause: ";
	const char *root = strstr(s, mark);
	const struct ty_style st = {0};
	const int kept = 48, before = root ? ty_text_width(s) - ty_text_width(root) : 0;
	int head = 0;

	if (root && ty_text_width(s) > max && before > max - kept) {
		if (max - kept >= 24) { /* a thread's name fits */
			head = ty_grid_elide(g, p, x, y, max - kept, s, st);
			s = root;
		} else {
			head = ty_grid_text(g, x, y, max, "root: ", st);
			s = root + strlen(mark);
		}
	}
	ty_grid_elide(g, p, x + head, y, max - head, s, st);
}

static void draw_wait(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p, int y,
		      int w, uint32_t i)
{
	const struct ty_wait *f = &t->findings.v[i];
	const struct ty_stall *stall = i < t->findings.stalls.n ? &t->findings.stalls.v[i] : NULL;
	bool wide = w >= 100, chosen = i == t->finding;
	struct ty_style dim = ty_palette_role(p, TY_ROLE_DIM), st = {0};
	struct ty_style state = {.fg = ty_state_color(f->state)};
	int state_w = wide ? 16 : 2,
	    at_w = w < 120			? 0
		   : t->clock == TY_CLOCK_START ? 19
						: 22,
	    call_w = w >= 60 ? 16 : 9;
	int x = 0, flex;
	const struct ty_wait_text *texts;
	char text[96], len[TY_TIME_MAX], more[TY_TIME_MAX + 1], name[32];

	/* What began before the recording, or was not over, lasted longer. */
	snprintf(more, sizeof(more), "%s%s", f->flags & (TY_SF_BEFORE | TY_SF_OPEN) ? ">" : "",
		 ty_fmt_length(f->duration_ns, len));
	snprintf(text, sizeof(text), "%c%3u %11s ",
		 !chosen	 ? ' '
		 : t->list_focus ? '>'
				 : '*',
		 i + 1, more);
	x += ty_grid_text(g, x, y, w, text, stall ? ty_palette_role(p, TY_ROLE_STRONG) : st);
	if (wide)
		ty_grid_text(g, x, y, state_w, ty_state_name(f->state), state);
	else
		ty_grid_put(g, x, y,
			    f->state == TY_ST_RUNNABLE ? 'R' : (uint32_t)ty_state_letter(f->state),
			    state);
	x += state_w;
	flex = (w - x - call_w - (w < 60 ? 0 : at_w ? at_w : 13)) / 2;
	if (flex < 8)
		flex = w - x - call_w;
	if (flex > 30)
		flex = 30;
	texts = wait_text(t, i, flex - 1, stall || w < 60 ? 0 : w - x - flex - call_w - at_w);
	ty_grid_elide(g, p, x, y, flex - 1, texts->who, st);
	x += flex;
	if (f->syscall >= 0) {
		struct ty_syscall c = ty_model_syscall(t->m, (uint32_t)f->syscall);

		ty_grid_elide(g, p, x, y, call_w - 1,
			      ty_syscall_name(t->in->arch, (enum ty_abi)c.abi, c.nr, name), st);
	} else if (stall && stall->by_waker) {
		ty_grid_text(g, x, y, call_w - 1, "futex", st); /* as ty_stall_call has it */
	} else {
		ty_grid_text(g, x, y, call_w - 1, "-", dim);
	}
	x += call_w;
	if (stall) { /* the cause in words needs all the room there is */
		if (!stall->proven) {
			const bool unknown = !strcmp(ty_stall_grade(stall), "cause unknown");

			x += ty_grid_text(g, x, y, 2, unknown ? "? " : "~ ",
					  ty_palette_role(p, TY_ROLE_WARN));
		}
		if (stall->waits > 1) {
			snprintf(text, sizeof(text), "%u waits: ", stall->waits);
			x += ty_grid_text(g, x, y, w - x - 1, text, st);
		}
		draw_stall_text(g, p, x, y, w - x - 1, stall->text);
	} else if (w >= 60) {
		ty_grid_elide(g, p, x, y, w - x - at_w - 1, texts->cause, st);
		if (at_w)
			ty_grid_text(g, w - 1 - (int)strlen(texts->start), y, at_w, texts->start,
				     dim);
	}
	if (chosen) {
		st = ty_palette_role(p, TY_ROLE_SELECT);
		if (!t->list_focus)
			st.attr = TY_A_BOLD;
		ty_grid_tint(g, 0, y, w, st);
	}
}

static void draw_list(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p)
{
	const struct ty_layout *l = &t->lay;
	const int w = ty_timeline_chain_pane(t, NULL, NULL, 0) ? g->w - TY_CHAIN_PANE_W : g->w;
	char right[80], ranked[80];

	if (!l->list_h)
		return;
	snprintf(ranked, sizeof(ranked), "Stalls by %s, then the longest waits%s",
		 t->findings.stalls.by_command ? "delay" : "total time",
		 t->findings.traced_only && l->w >= 100 ? " of traced threads" : "");
	snprintf(right, sizeof(right), "%u stall%s, %u wait%s", t->findings.stalls.n,
		 t->findings.stalls.n == 1 ? "" : "s", t->findings.n - t->findings.stalls.n,
		 t->findings.n - t->findings.stalls.n == 1 ? "" : "s");
	if (t->listed_n < t->findings.n)
		snprintf(right, sizeof(right), "%u of %u by filter", t->listed_n, t->findings.n);
	if (t->stall_search.aside.on || t->partial)
		snprintf(right, sizeof(right), "...");
	else if (t->findings.unsearched)
		snprintf(right, sizeof(right), "? stalls, %u waits", t->findings.n);
	headline(g, p, l->list_y,
		 t->partial		    ? "No stalls yet"
		 : t->stall_search.aside.on ? "Searching for stalls..."
		 : t->findings.unsearched   ? "The longest waits; tarry report shows stalls"
		 : !t->findings.stalls.n    ? "No stalls; the longest waits"
					    : ranked,
		 right, t->list_focus);
	if (!t->findings.n)
		ty_grid_text(g, 1, l->list_y + 1, g->w - 1,
			     t->indexing.failed
				     ? "only the beginning of the recording could be indexed"
			     : t->partial ? "stalls are searched when the whole recording is "
					    "indexed; this is its beginning"
			     : t->stall_search.aside.on
				     ? "searching the whole recording; all keys work meanwhile"
				     : "none: no thread waited, or no scheduling was recorded",
			     ty_palette_role(p, TY_ROLE_DIM));
	for (int i = 0; i < l->list_h - 1 && t->list_top + (uint32_t)i < t->listed_n; i++)
		draw_wait(t, g, p, l->list_y + 1 + i, w, t->listed[t->list_top + (uint32_t)i]);
	ty_timeline_chain_pane(t, g, p, w);
}

/* Until the first key: help keeps it. How many lines it took. */
static int draw_note(struct ty_grid *g, const struct ty_palette *p, int y, int end,
		     const char *title, const char *text)
{
	char note[600];

	if (!text)
		return 0;
	snprintf(note, sizeof(note), "%s: %s", title, text);
	return ty_grid_wrap(g, p, 1, y, end - y, g->w - 2, note, ty_palette_role(p, TY_ROLE_WARN));
}

/* Scrolled at most to the last line; from the first one for a new subject. Returns the number of
 * lines above the pane. */
static int settle_details(struct ty_timeline *t, int room)
{
	struct ty_place here = ty_timeline_place(t), *of = &t->details_of;

	if (here.cursor_ns != of->cursor_ns || here.row_kind != of->row_kind ||
	    here.row_id != of->row_id)
		t->details_top = 0;
	*of = here;
	if (t->details_top > t->details_n - room)
		t->details_top = t->details_n - room;
	if (t->details_top < 0)
		t->details_top = 0;
	return t->details_top;
}

/* One sentence from line y on, without its first *skip lines; returns the lines used. */
static int wrap_from(struct ty_grid *g, const struct ty_palette *p, int y, int end, int *skip,
		     const char *s, struct ty_style st)
{
	int all = ty_grid_wrap(NULL, p, 0, 0, TY_DETAIL_MAX, g->w - 2, s, st), cut;

	cut = *skip < all ? *skip : all;
	*skip -= cut;
	if (cut == all)
		return 0;
	return ty_grid_wrap_from(g, p, 1, y, cut, end - y, g->w - 2, s, st);
}

static void draw_details(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p)
{
	const struct ty_layout *l = &t->lay;
	char lines[TY_DETAIL_LINES][TY_DETAIL_MAX], right[120], at[TY_TIME_MAX], other[TY_TIME_MAX],
		title[64];
	const char *more;
	uint64_t cell = (t->vp.to_ns - t->vp.from_ns) / (uint64_t)l->cells_w, real;
	const uint64_t rounded = t->cursor_ns + ty_fmt_unit(cell) / 2;
	unsigned n = ty_details(t, lines);
	int y = l->details_y + 1, end = l->details_y + l->details_h, skip, below;

	ty_timeline_at(t, rounded, cell, at);
	snprintf(right, sizeof(right), "at %s", at);
	/* And in the other clock, without which neither a log nor a colleague's screen is found. */
	if (t->clock == TY_CLOCK_WALL)
		snprintf(right, sizeof(right), "at %s, %s from the start", at,
			 ty_time_text(t->m, TY_CLOCK_START, rounded, cell, other));
	else if (ty_model_realtime(t->m, t->cursor_ns, &real))
		snprintf(right, sizeof(right), "at %s, clock %s", at,
			 ty_fmt_clock(real, 1000, other));
	snprintf(title, sizeof(title), "Under the cursor");
	if (t->stall_here && g->w >= 60)
		snprintf(title, sizeof(title), "Under the cursor: stall %u", t->stall_here);
	if (!t->note_seen) {
		const int last = end - (l->details_h > 3);

		y += draw_note(g, p, y, last, "INCOMPLETE", t->in->note);
		y += draw_note(g, p, y, last, "ONLY IN PART", t->in->scope);
		y += draw_note(g, p, y, last, "KEPT", t->in->kept);
	}
	t->details_n = 0;
	for (unsigned i = 0; i < n; i++)
		t->details_n += ty_grid_wrap(NULL, p, 0, 0, TY_DETAIL_MAX, g->w - 2, lines[i],
					     (struct ty_style){0});
	skip = settle_details(t, end - y);
	below = t->details_n - t->details_top - (end - y);
	more = g->w < 100 ? "" : "more "; /* the time at the right has priority */
	if (below > 0)
		snprintf(title + strlen(title), 32, " (J: %d %sline%s)", below, more,
			 below == 1 ? "" : "s");
	else if (skip)
		snprintf(title + strlen(title), 32, " (K: %d %sline%s)", skip, more,
			 skip == 1 ? "" : "s");
	headline(g, p, l->details_y, title, right, false);
	for (unsigned i = 0; i < n && y < end; i++) {
		struct ty_style st = ty_palette_role(p, i ? TY_ROLE_TEXT : TY_ROLE_STRONG);

		y += wrap_from(g, p, y, end, &skip, lines[i], st);
	}
}

/* The question, shortened to leave room for the input. */
static void draw_prompt(const struct ty_timeline *t, struct ty_grid *g, int y, struct ty_style bar)
{
	char buf[TY_QUESTION_MAX];
	const char *ask = ty_timeline_prompt_label(t, buf);
	int n = ty_text_width(ask), x = 1;

	if (n > g->w - 20) { /* narrow: the hint in brackets goes first */
		const char *hint = strchr(ask, '(');

		n = hint ? (int)(hint - ask) : n;
		n = n < g->w / 2 ? n : g->w / 2;
	}
	x += ty_grid_text(g, x, y, n, ask, bar);
	ty_grid_input(g, x, y, t->input, bar);
}

/* The keys that count now, the most needed first: what does not fit is left out. */
static const enum ty_action *keys_now(const struct ty_timeline *t, int w)
{
	static const enum ty_action rows[] = {
		TY_ACT_ZOOM_IN,	 TY_ACT_PAN_LEFT,  TY_ACT_NEXT,	  TY_ACT_CHAIN,	   TY_ACT_FOCUS,
		TY_ACT_OPEN,	 TY_ACT_ALL,	   TY_ACT_LEDGER, TY_ACT_SEARCH,   TY_ACT_FILTER,
		TY_ACT_REQUESTS, TY_ACT_ZOOM_SPAN, TY_ACT_ARROWS, TY_ACT_SPECTRUM, TY_ACT_FOLD,
		TY_ACT_UNDO,	 TY_ACT_SELECT,	   TY_ACT_DIFF,	  TY_ACT_EXPORT,   TY_ACT_GOTO,
		TY_ACT_MARK,	 TY_ACT_NONE};
	/* Panning is left out: the arrows do it at the edges, too. */
	static const enum ty_action narrow[] = {TY_ACT_ZOOM_IN, TY_ACT_NEXT, TY_ACT_CHAIN,
						TY_ACT_FOCUS,	TY_ACT_OPEN, TY_ACT_SEARCH,
						TY_ACT_FILTER,	TY_ACT_NONE};
	static const enum ty_action list[] = {TY_ACT_OPEN,     TY_ACT_UP,   TY_ACT_FOCUS,
					      TY_ACT_CHAIN,    TY_ACT_UNDO, TY_ACT_ZOOM_IN,
					      TY_ACT_PAN_LEFT, TY_ACT_ALL,  TY_ACT_NONE};
	static const enum ty_action selection[] = {
		TY_ACT_ZOOM_SPAN, TY_ACT_STATS, TY_ACT_SELECT, TY_ACT_BACK,
		TY_ACT_SPAN_PREV, TY_ACT_UP,	TY_ACT_NONE};

	static const enum ty_action hits[] = {TY_ACT_HIT_NEXT, TY_ACT_SEARCH,	TY_ACT_FILTER,
					      TY_ACT_ZOOM_IN,  TY_ACT_PAN_LEFT, TY_ACT_ZOOM_SPAN,
					      TY_ACT_ALL,      TY_ACT_UNDO,	TY_ACT_NONE};

	if (t->hit_known && t->hit.at_ns == t->cursor_ns && !t->sel.on && !t->list_focus)
		return hits;
	return t->sel.on ? selection : t->list_focus ? list : w < TY_FOOTER_NARROW ? narrow : rows;
}

static void draw_footer(const struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p)
{
	/* What keys of the list do in it, as keys_now has them. */
	static const char *const in_list[] = {"go there", "+waits", "rows", "chain",
					      "+undo",	  "+zoom",  "+pan", "all"};
	struct ty_style bar = ty_palette_role(p, TY_ROLE_BAR);
	int y = t->lay.footer_y;

	if (t->prompt) {
		ty_grid_fill(g, 0, y, g->w, 1, ' ', bar);
		draw_prompt(t, g, y, bar);
		if (*t->refused) {
			const int n = ty_grid_wrap(NULL, p, 1, 0, 3, g->w - 2, t->refused, bar);

			ty_grid_fill(g, 0, y - n, g->w, n, ' ', bar);
			ty_grid_wrap(g, p, 1, y - n, n, g->w - 2, t->refused, bar);
		}
	} else if (t->message[0]) {
		ty_footer_say(g, p, t->message);
	} else {
		ty_footer_draw(g, p, y, keys_now(t, g->w),
			       t->list_focus && !t->sel.on ? in_list : NULL, "quit");
	}
}

/* The number of rows hidden by a filter is shown beside the ruler. */
static void draw_hidden(const struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p)
{
	char text[60];

	if (!t->tracks.hidden_n && t->top) { /* CPUs first: they are missed most */
		snprintf(text, sizeof(text), t->lay.label_w < 18 ? "%u above" : "%u rows above",
			 t->top);
		ty_grid_elide(g, p, 1, t->lay.ruler_y, t->lay.label_w - 2, text,
			      ty_palette_role(p, TY_ROLE_DIM));
	}
	if (!t->tracks.hidden_n)
		return;
	snprintf(text, sizeof(text), "filter: %u hidden", t->tracks.hidden_n);
	if ((int)strlen(text) > t->lay.label_w - 2)
		snprintf(text, sizeof(text), "%u hidden", t->tracks.hidden_n);
	ty_grid_elide(g, p, 1, t->lay.ruler_y, t->lay.label_w - 2, text,
		      ty_palette_role(p, TY_ROLE_WARN));
}

void ty_timeline_draw(void *self, struct ty_grid *g, const struct ty_palette *p)
{
	struct ty_timeline *t = self;
	uint8_t taken[TY_GRID_MAX] = {0};
	char text[80];

	ty_grid_clear(g);
	if (g->w < TY_VIEW_MIN_W || g->h < TY_VIEW_MIN_H) {
		snprintf(text, sizeof(text), "tarry needs %dx%d; this is %dx%d", TY_VIEW_MIN_W,
			 TY_VIEW_MIN_H, g->w, g->h);
		ty_grid_wrap(g, p, 0, 0, g->h, g->w, text, (struct ty_style){0});
		return;
	}
	if (ty_timeline_settle(t, g->w, g->h)) {
		ty_grid_text(g, 0, 0, g->w, "out of memory", (struct ty_style){0});
		return;
	}
	draw_top(t, g, p);
	if (t->lay.minimap_y >= 0) {
		ty_grid_elide(g, p, 1, t->lay.minimap_y, t->lay.label_w - 2, "overview",
			      ty_palette_role(p, TY_ROLE_DIM));
		ty_minimap_draw(g, p, t->lay.cells_x, t->lay.minimap_y, t->lay.cells_w, &t->vp,
				&t->findings, &t->gaps);
	}
	ty_timeline_marks_taken(t, taken);
	ty_timeline_selection_taken(t, taken);
	ty_ruler_draw(g, p, t->lay.cells_x, t->lay.ruler_y, t->lay.cells_w, &t->vp, t->m, t->clock,
		      (int)ty_viewport_column(&t->vp, t->cursor_ns, (uint32_t)t->lay.cells_w),
		      taken);
	draw_hidden(t, g, p);
	ty_timeline_layers_draw(t, g, p);
	draw_details(t, g, p); /* which find out whether a stall is under the cursor */
	draw_list(t, g, p);
	draw_footer(t, g, p);
	if (t->in->first && !t->keys_seen && ty_first_keys_draw(g, p) && !t->keys_shown) {
		t->keys_shown = true;
		if (t->in->host.first_keys_shown)
			t->in->host.first_keys_shown(t->in->host.ctx);
	}
}
