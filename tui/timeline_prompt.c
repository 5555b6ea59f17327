/* SPDX-License-Identifier: MIT */
/* Prompts in the footer: a line of UTF-8, and the action when it is entered. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "time_format.h"
#include "input_line.h"
#include "log_file.h"
#include "log_timestamp.h"
#include "ruler.h"
#include "sentence.h"
#include "timeline_priv.h"
#include "units.h"

void ty_timeline_prompt_open(struct ty_timeline *t, enum ty_prompt what)
{
	ty_timeline_keep_load(t); /* what other views kept meanwhile */
	t->prompt = (uint8_t)what;
	t->input[0] = t->refused[0] = 0;
	t->recalled = t->history.n;
}

const char *ty_timeline_prompt_label(const struct ty_timeline *t, char names[TY_QUESTION_MAX])
{
	size_t n;

	switch (t->prompt) {
	case TY_PROMPT_GOTO: return "go to (1.5, 250ms, +2ms, -2ms, 14:03:22.5): ";
	case TY_PROMPT_SEARCH:
		return "search (sh, call:read, file:^/etc, error:, region:, >10ms): ";
	case TY_PROMPT_FILTER: return "show only threads matching (empty: all): ";
	case TY_PROMPT_EXPORT:
		return t->sel.on ? "export the selection, all threads (x.txt, x.json, x.dat): "
				 : "export the window, all threads (x.txt, x.json, x.dat): ";
	case TY_PROMPT_MARK: return "name of the mark (empty: the next letter; -NAME removes): ";
	case TY_PROMPT_MARK_JUMP:
		n = (size_t)snprintf(names, TY_QUESTION_MAX,
				     "jump to mark (empty: the next; marks:");
		for (size_t i = 0; i < t->marks.n; i++)
			if (n + strlen(t->marks.v[i].name) + 12 < TY_QUESTION_MAX)
				n += (size_t)snprintf(names + n, TY_QUESTION_MAX - n, "%s '%s'",
						      i ? "," : "", t->marks.v[i].name);
		snprintf(names + n, TY_QUESTION_MAX - n, t->marks.n ? "): " : " none): ");
		return names;
	default: return "";
	}
}

/* A clock time on the trace's axis; false after a sentence. */
static bool clock_time(struct ty_timeline *t, const char *s, uint64_t *at)
{
	uint64_t real;
	int r;

	if (!ty_model_realtime(t->m, t->vp.start_ns, &real)) {
		ty_timeline_say(t, "the recording has no time of day; give seconds from the start");
		return false;
	}
	r = ty_wall_time(s, real, t->vp.end_ns - t->vp.start_ns, &real);
	if (r < 0)
		ty_timeline_say(
			t,
			"'%s' is not a time of day (examples: 14:03:22.5, 2026-05-06T14:03:22.5Z)",
			s);
	else if (r)
		ty_timeline_say(t,
				"the local time '%s' is ambiguous or does not exist (clock "
				"change): add its zone",
				s);
	else if (!ty_log_trace_time(t->m, TY_LOG_REALTIME, real, at))
		*at = UINT64_MAX; /* far outside */
	return !r;
}

static void go_to(struct ty_timeline *t)
{
	const char *s = t->input + strspn(t->input, " ");
	char sign = *s == '+' || *s == '-' ? *s++ : 0;
	uint64_t d, at;
	const uint64_t near = (t->vp.end_ns - t->vp.start_ns) / 1000;
	char text[TY_TIME_MAX], end[TY_TIME_MAX];
	bool outside;

	if (!*s)
		return;
	if (!sign && ty_wall_time_like(s)) {
		if (!clock_time(t, s, &d))
			return;
	} else if (ty_parse_duration(s, &d)) {
		ty_timeline_say(t,
				"'%s' is not a time (examples: 1.5, 250ms, +2ms, -2ms, 14:03:22.5)",
				t->input);
		return;
	}
	if (!sign && ty_wall_time_like(s)) {
		at = d;
		outside = at < t->vp.start_ns || at >= t->vp.end_ns;
	} else {
		at = sign ? t->cursor_ns : ty_model_origin_ns(t->m);
		outside = sign == '-' ? d > at - t->vp.start_ns
				      : d >= t->vp.end_ns - at || at + d < t->vp.start_ns;
		at = sign == '-' ? at - d : at + d;
	}
	/* What a part was cut from and to, and what is read off a cell, may be a little outside. */
	if (outside && !sign && at >= d && at < t->vp.start_ns && t->vp.start_ns - at <= near) {
		at = t->vp.start_ns;
		outside = false;
	} else if (outside && !sign && at >= d && at >= t->vp.end_ns && at - t->vp.end_ns <= near) {
		at = t->vp.end_ns - 1;
		outside = false;
	}
	if (outside) {
		ty_timeline_say(t, "%s is outside the %s, from %s to %s", t->input,
				ty_model_noun(t->m), ty_timeline_at(t, t->vp.start_ns, 1000, text),
				ty_timeline_at(t, t->vp.end_ns, 1000, end));
		return;
	}
	t->typed_ns = at;
	ty_timeline_visit(t, TY_NONE, at);
}

static void export_to(struct ty_timeline *t)
{
	uint64_t from = t->vp.from_ns, to = t->vp.to_ns;
	uint32_t first, last;
	struct ty_err err = {0};

	if (!*t->input)
		return;
	(void)ty_timeline_selected(t, &from, &to, &first, &last);
	if (!t->in->host.export_start)
		ty_timeline_say(t, "export works in the timeline only (press q)");
	else if (!t->in->host.export_start(t->in->host.ctx, t->input, from, to, &err))
		t->exporting = true;
	else { /* to be mended */
		ty_put_instead(t->refused, sizeof(t->refused), "%s", err.msg);
		t->prompt = TY_PROMPT_EXPORT;
	}
}

static int export_wait_ms(const struct ty_timeline *t)
{
	return t->exporting ? 50 : -1;
}

static bool export_work(struct ty_timeline *t)
{
	if (!t->exporting ||
	    !t->in->host.export_poll(t->in->host.ctx, t->message, sizeof(t->message)))
		return false;
	t->exporting = false;
	return true;
}

static bool export_stop(struct ty_timeline *t)
{
	if (!t->exporting)
		return false;
	t->in->host.export_stop(t->in->host.ctx);
	t->exporting = false;
	return true;
}

const struct ty_layer ty_export_layer = {
	.wait_ms = export_wait_ms, .work = export_work, .stop = export_stop};

static void enter(struct ty_timeline *t)
{
	enum ty_prompt what = (enum ty_prompt)t->prompt;

	t->prompt = TY_PROMPT_NONE;
	t->vp.here = ty_timeline_place(t);
	switch (what) {
	case TY_PROMPT_GOTO: go_to(t); break;
	case TY_PROMPT_SEARCH: ty_timeline_search(t, t->input); break;
	case TY_PROMPT_FILTER: ty_timeline_filter(t, t->input); break;
	case TY_PROMPT_EXPORT: export_to(t); break;
	case TY_PROMPT_MARK: ty_timeline_mark(t, t->input); break;
	case TY_PROMPT_MARK_JUMP: ty_timeline_mark_jump(t, t->input); break;
	case TY_PROMPT_NONE: break;
	}
	ty_timeline_clamp(t);
	ty_timeline_select_to(t);
}

enum ty_view_result ty_timeline_text(void *self, uint32_t key)
{
	struct ty_timeline *t = self;
	bool filter = t->prompt == TY_PROMPT_FILTER;

	if ((key == TY_KEY_UP || key == TY_KEY_DOWN) && (filter || t->prompt == TY_PROMPT_SEARCH))
		return ty_timeline_recall(t, filter, key == TY_KEY_UP) ? TY_VIEW_CHANGED
								       : TY_VIEW_IGNORED;
	switch (ty_input_line_key(t->input, sizeof(t->input), key)) {
	case TY_INPUT_ENTERED: enter(t); return TY_VIEW_CHANGED;
	case TY_INPUT_CANCELLED: t->prompt = TY_PROMPT_NONE; return TY_VIEW_CHANGED;
	case TY_INPUT_CHANGED: return TY_VIEW_CHANGED;
	case TY_INPUT_IGNORED: break;
	}
	return TY_VIEW_IGNORED;
}
