/* SPDX-License-Identifier: MIT */
/*
 * The timeline's state. Which key does what is in timeline_act.c; cursor and rows are moved in
 * timeline_move.c, selections and marks kept in timeline_select.c, prompts in timeline_prompt.c,
 * the mouse in timeline_mouse.c; drawing is in timeline_draw.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ruler.h"
#include "timeline_priv.h"

/* So long the first frame waits for the findings. */
#define FIRST_MS 100

static struct ty_layout layout_make(const struct ty_timeline *t, int w, int h)
{
	uint32_t rows = (uint32_t)t->tracks.rows.n, findings = t->findings.n;
	struct ty_layout l = {.w = w, .h = h};
	int y = 1, left, list = (int)(findings < 50 ? findings : 50);

	l.label_w = w / 4 < 13 ? 13 : w / 4 > 34 ? 34 : w / 4;
	l.cells_x = l.label_w;
	l.cells_w = w - l.label_w;
	l.minimap_y = h >= 16 ? y++ : -1;
	l.ruler_y = y++;
	/* A small screen keeps its rows. */
	l.log_y = t->in->log && !(h < 13 && t->list_focus) ? y++ : -1;
	l.path_y = t->route.on && (h >= 13 || (l.log_y < 0 && !t->list_focus)) ? y++ : -1;
	l.rows_y = y;
	l.footer_y = h - 1;
	left = l.footer_y - y;
	l.details_h = h >= 40 ? 7 : h >= 20 ? 5 : h >= 13 ? 4 : 3;
	left -= l.details_h;
	if (h >= 16)
		l.list_h = h >= 40 ? 9 : h >= 20 ? 5 : 3;
	else
		l.list_h = t->list_focus ? 3 : 0;
	if (l.list_h > list + 1 && list)
		l.list_h = list + 1;
	/* Rows that are not there leave their place to the list. */
	if (l.list_h && (int)rows < left - l.list_h && list > l.list_h - 1) {
		int spare = left - l.list_h - (int)rows, want = list - (l.list_h - 1);

		l.list_h += spare < want ? spare : want;
	}
	l.rows_h = left - l.list_h;
	l.list_y = l.rows_y + l.rows_h;
	l.details_y = l.list_y + l.list_h;
	return l;
}

bool ty_timeline_track(const struct ty_timeline *t, uint32_t row, struct ty_track *track)
{
	const struct ty_row *r;

	if (row >= t->tracks.rows.n)
		return false;
	r = &t->tracks.rows.v[row];
	track->id = r->id;
	switch (r->kind) {
	case TY_ROW_CPU: track->kind = TY_TRACK_CPU; return true;
	case TY_ROW_IRQS: track->kind = TY_TRACK_IRQS; return true;
	case TY_ROW_THREAD: track->kind = TY_TRACK_THREAD; return true;
	case TY_ROW_SYSCALLS: track->kind = TY_TRACK_SYSCALLS; return true;
	default: return false;
	}
}

int ty_timeline_settle(struct ty_timeline *t, int w, int h)
{
	struct ty_cell *cells;

	t->lay = layout_make(t, w, h);
	ty_timeline_show_row(t, t->below);
	t->below = 0;
	if (t->finding < t->findings.n)
		ty_timeline_show_finding(t);
	if (t->cells_n < t->lay.cells_w) {
		cells = realloc(t->cells, 2 * (size_t)t->lay.cells_w * sizeof(*cells));
		if (!cells)
			return -TY_ENOMEM;
		t->cells = cells;
		t->cells_n = t->lay.cells_w;
	}
	return 0;
}

static bool wants_text(const void *self)
{
	return ((const struct ty_timeline *)self)->prompt;
}

static void hunt(void *ctx)
{
	struct ty_timeline *t = ctx;
	struct ty_hunting *h = &t->hunting;

	h->rc = ty_findings_init(&h->found, t->m, t->in->explain ? &h->explain : NULL, &h->window,
				 &h->err);
}

/* What most people come for: the first stall of what is shown, under the cursor, so that the
 * details tell it; else the foremost thread, not CPU 0. */
static void to_foremost(struct ty_timeline *t)
{
	for (uint32_t i = 0; i < t->findings.stalls.n; i++) {
		const struct ty_stall *s = &t->findings.stalls.v[i];
		struct ty_span span = ty_model_span(t->m, s->span);
		uint64_t a = span.start_ns > t->vp.from_ns ? span.start_ns : t->vp.from_ns,
			 b = span.end_ns < t->vp.to_ns ? span.end_ns : t->vp.to_ns;
		uint32_t row = a < b ? ty_tracks_reveal(&t->tracks, s->thread) : TY_NONE;

		if (row == TY_NONE)
			continue;
		t->row = row;
		t->below = 1;
		t->cursor_ns = a + (b - a) / 2;
		return;
	}
	for (uint32_t i = 0; i < t->tracks.rows.n; i++)
		if (t->tracks.rows.v[i].kind == TY_ROW_THREAD) {
			t->row = i;
			break;
		}
}

static bool findings_work(struct ty_timeline *t)
{
	struct ty_hunting *h = &t->hunting;
	struct ty_place at = ty_timeline_place(t);

	/* A filter that is being made counts on the order of the threads. */
	if (t->job == &ty_filter_job || !ty_background_wait(&h->aside, 0))
		return false;
	if (!h->rc)
		h->rc = ty_tracks_reorder(&t->tracks, t->m, &t->in->window, &h->found, &h->err);
	ty_group_bars_forget(&t->heads);
	if (h->rc) {
		ty_findings_fini(&h->found);
		ty_timeline_say(t, "%s", h->err.msg);
		return true;
	}
	ty_findings_fini(&t->findings);
	t->findings = h->found;
	h->found = (struct ty_findings){0};
	ty_timeline_unselect(t);
	t->vp.here = at;
	ty_timeline_restore(t);
	if (!t->touched)
		to_foremost(t);
	if (t->wanted)
		ty_timeline_step_finding(t, t->wanted);
	return true;
}

static int findings_wait_ms(const struct ty_timeline *t)
{
	return t->hunting.aside.on ? TY_LAYER_POLL_MS : -1;
}

static void findings_fini(struct ty_timeline *t)
{
	if (ty_background_stop(&t->hunting.aside))
		ty_findings_fini(&t->hunting.found);
	ty_findings_fini(&t->findings);
}

const struct ty_layer ty_findings_layer = {
	.wait_ms = findings_wait_ms, .work = findings_work, .fini = findings_fini};

void ty_timeline_hunt(struct ty_timeline *t)
{
	const struct ty_summary *s = ty_model_summary(t->m);
	struct ty_hunting *h = &t->hunting;

	/* The list is about the whole recording: what lies outside the window is one key away. */
	h->window = t->in->window;
	h->window.from_ns = s->start_ns;
	h->window.to_ns = s->end_ns;
	if (t->in->explain) {
		h->explain = t->asked.explain = *t->in->explain;
		h->explain.stop = &h->aside.stop;
		t->asked.explain.stop = &t->asked.aside.stop;
		t->asked.explain.steps = NULL;
	}
	if (!t->partial)
		ty_background_start(&h->aside, t->in->aside && !t->in->at_finding, hunt, t);
}

int ty_timeline_new(const struct ty_view_input *in, struct ty_timeline **out, struct ty_err *err)
{
	const struct ty_summary *s = ty_model_summary(in->model);
	struct ty_timeline *t = calloc(1, sizeof(*t));
	int rc = 0;

	*out = NULL;
	if (!t)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for the timeline");
	t->in = in;
	t->m = in->model;
	t->args_of = TY_NONE;
	t->clock = in->clock;
	t->lay = layout_make(t, 80, 24);
	ty_viewport_init(&t->vp, s->start_ns, s->end_ns);
	if (t->in->flow)
		t->vp.min_ns = TY_CALLS_MIN_NS;
	if (in->window.from_ns > s->start_ns || in->window.to_ns < s->end_ns)
		ty_viewport_jump(&t->vp, in->window.from_ns, in->window.to_ns);
	t->vp.undo_n = 0;
	ty_timeline_indexing_begin(t);
	ty_timeline_hunt(t);
	/* What is there at once needs no second frame. */
	if (ty_background_wait(&t->hunting.aside, FIRST_MS)) {
		rc = t->hunting.rc;
		t->findings = t->hunting.found;
		t->hunting.found = (struct ty_findings){0};
		if (rc)
			*err = t->hunting.err;
	}
	if (!rc)
		rc = ty_gaps_init(&t->gaps, t->m, err);
	if (!rc)
		rc = ty_tracks_init(&t->tracks, t->m, &in->window, &t->findings, err);
	if (!rc && in->at_finding > t->findings.n)
		rc = ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			     "%s: finding %u does not exist; there are %u", in->path,
			     in->at_finding, t->findings.n);
	if (rc) {
		ty_timeline_free(t);
		return rc;
	}
	t->finding = TY_NONE;
	ty_timeline_memory_begin(t);
	t->cursor_ns = t->vp.from_ns + (t->vp.to_ns - t->vp.from_ns) / 2;
	to_foremost(t);
	if (in->at_finding) {
		t->finding = in->at_finding - 1;
		ty_timeline_to_finding(t);
		t->message[0] = 0;
	}
	ty_timeline_memory_loaded(t, FIRST_MS); /* what is there at once */
	*out = t;
	return 0;
}

void ty_timeline_free(struct ty_timeline *t)
{
	if (!t)
		return;
	ty_timeline_unask(t);
	ty_timeline_layers_fini(t);
	ty_tracks_fini(&t->tracks);
	ty_gaps_fini(&t->gaps);
	ty_group_bars_fini(&t->heads);
	ty_range_stats_free(t->stats);
	ty_page_reset(&t->page);
	ty_spectrum_view_free(t->spectrum);
	ty_flow_view_free(t->flow);
	ty_query_free(t->query);
	ty_query_free(t->filter);
	vec_fini(&t->marks);
	free(t->cells);
	free(t);
}

const struct ty_view_ops ty_timeline_ops = {
	.name = "timeline",
	.draw = ty_timeline_draw,
	.act = ty_timeline_act,
	.mouse = ty_timeline_mouse,
	.wants_text = wants_text,
	.text = ty_timeline_text,
	.child = ty_timeline_child,
	.resumed = ty_timeline_resumed,
	.wait_ms = ty_timeline_wait_ms,
	.work = ty_timeline_work,
};
