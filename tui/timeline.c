/* SPDX-License-Identifier: MIT */
/*
 * Opens and closes the timeline. From the bottom up: its state (timeline_state.c), selection and
 * moves (timeline_select.c, timeline_move.c), long work and views above it (timeline_job.c,
 * timeline_child_view.c), layers and pages, one file each; the layers' table (timeline_layers.c);
 * actions of keys, mouse and prompts (timeline_actions.c, timeline_mouse.c, timeline_prompt.c), and
 * drawing (timeline_draw.c).
 */
#include <stdlib.h>

#include "timeline_priv.h"

/* So long the first frame waits for the findings. */
#define FIRST_MS 100

static bool wants_text(const void *self)
{
	return ((const struct ty_timeline *)self)->prompt;
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
	t->args_of = t->names.call = TY_NONE;
	t->exact_ns = UINT64_MAX;
	t->clock = in->clock;
	t->lay = ty_timeline_layout(t, 80, 24);
	ty_viewport_init(&t->vp, s->start_ns, s->end_ns);
	if (t->in->flow)
		t->vp.min_ns = TY_CALLS_MIN_NS;
	if (in->window.from_ns > s->start_ns || in->window.to_ns < s->end_ns)
		ty_viewport_jump(&t->vp, in->window.from_ns, in->window.to_ns);
	t->vp.undo_n = 0;
	ty_timeline_indexing_begin(t);
	ty_timeline_find(t);
	/* A result that is available at once needs no second frame. */
	if (ty_background_wait(&t->stall_search.aside, FIRST_MS)) {
		rc = t->stall_search.rc;
		t->findings = t->stall_search.found;
		t->stall_search.found = (struct ty_findings){0};
		if (rc)
			*err = t->stall_search.err;
	}
	if (!rc)
		rc = ty_gaps_init(&t->gaps, t->m, err);
	if (!rc)
		rc = ty_tracks_init(&t->tracks, t->m, &in->window, &t->findings, err);
	if (!rc && in->at_finding > t->findings.n)
		rc = ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			     "%s: --at-wait %u: the list has only %u entries", in->path,
			     in->at_finding, t->findings.n);
	if (rc) {
		ty_timeline_free(t);
		return rc;
	}
	t->finding = TY_NONE;
	ty_timeline_keep_load(t);
	ty_timeline_memory_begin(t);
	ty_timeline_lanes_begin(t);
	t->cursor_ns = t->vp.from_ns + (t->vp.to_ns - t->vp.from_ns) / 2;
	ty_timeline_to_foremost(t);
	if (in->at_finding) {
		t->finding = in->at_finding - 1;
		ty_timeline_to_finding(t);
		t->message[0] = 0;
	}
	ty_timeline_memory_loaded(t, FIRST_MS); /* results available at once */
	ty_timeline_lanes_loaded(t, FIRST_MS);
	*out = t;
	return 0;
}

void ty_timeline_free(struct ty_timeline *t)
{
	if (!t)
		return;
	ty_timeline_cancel_page_job(t);
	ty_timeline_objects_stop(t);
	ty_timeline_slowest_fini(&t->slowest);
	ty_timeline_layers_fini(t);
	ty_tracks_fini(&t->tracks);
	ty_gaps_fini(&t->gaps);
	ty_group_bars_fini(&t->heads);
	ty_range_stats_free(t->stats);
	ty_page_reset(&t->page);
	ty_spectrum_view_free(t->spectrum);
	ty_flame_view_free(t->flame);
	ty_flow_view_free(t->flow);
	ty_query_free(t->query);
	ty_query_free(t->filter);
	vec_fini(&t->marks);
	vec_fini(&t->history);
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
