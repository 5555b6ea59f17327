/* SPDX-License-Identifier: MIT */
/*
 * Work of the timeline between two polls of the input: the current job, in slices of SLICE_MS;
 * background work of its layers; the bars of heads. Both are rows of tables: a job has functions to
 * step, end and stop, a layer to draw, wait, work and end.
 */
#include "now.h"
#include "timeline_priv.h"

#define SLICE_MS 4
/* A job that takes longer reports its progress at this interval. */
#define PROGRESS_MS 200

/* In the order in which they are drawn, over each other. */
static const struct ty_layer *const layers[] = {
	&ty_indexing_layer, &ty_findings_layer, &ty_marks_layer,     &ty_log_layer,
	&ty_rows_layer,	    &ty_memory_layer,	&ty_lanes_layer,     &ty_path_overlay_layer,
	&ty_calls_layer,    &ty_cursor_layer,	&ty_selection_layer, &ty_export_layer,
	&ty_names_layer};
#define LAYERS (sizeof(layers) / sizeof(*layers))

void ty_timeline_layers_draw(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p)
{
	for (unsigned i = 0; i < LAYERS; i++)
		if (layers[i]->draw)
			layers[i]->draw(t, g, p);
}

void ty_timeline_layers_fini(struct ty_timeline *t)
{
	for (unsigned i = 0; i < LAYERS; i++)
		if (layers[i]->fini)
			layers[i]->fini(t);
}

bool ty_timeline_stop(struct ty_timeline *t)
{
	bool stopped = false;

	if (ty_timeline_stop_job(t))
		return true;
	for (unsigned i = 0; i < LAYERS; i++)
		if (layers[i]->stop)
			stopped |= layers[i]->stop(t);
	if (stopped)
		ty_timeline_say(t, "stopped");
	return stopped;
}

int ty_timeline_wait_ms(const void *self)
{
	const struct ty_timeline *t = self;
	int least = t->job || ty_group_bars_due(&t->heads) ? 0 : -1;

	for (unsigned i = 0; least && i < LAYERS; i++) {
		int ms = layers[i]->wait_ms ? layers[i]->wait_ms(t) : -1;

		if (ms >= 0 && (least < 0 || ms < least))
			least = ms;
	}
	return least;
}

static enum ty_view_result job_done(struct ty_timeline *t)
{
	const struct ty_job *job = t->job;

	t->job = NULL;
	if (job->done(t))
		return TY_VIEW_PUSH;
	ty_timeline_clamp(t);
	ty_timeline_select_to(t);
	return TY_VIEW_CHANGED;
}

/* Requested results first; the bars of group rows follow. */
static enum ty_view_result sum_heads(struct ty_timeline *t, int64_t start)
{
	while (ty_now_ms() - start < SLICE_MS && ty_group_bars_due(&t->heads))
		if (ty_group_bars_step(&t->heads, t->m, &t->gaps))
			return TY_VIEW_CHANGED;
	return TY_VIEW_IGNORED;
}

enum ty_view_result ty_timeline_work(void *self)
{
	struct ty_timeline *t = self;
	int64_t start = ty_now_ms();

	for (unsigned i = 0; i < LAYERS; i++)
		if (layers[i]->work && layers[i]->work(t))
			return TY_VIEW_CHANGED;
	if (!t->job)
		return sum_heads(t, start);
	do {
		if (t->job->step(t))
			return job_done(t);
	} while (ty_now_ms() - start < SLICE_MS);
	if (ty_now_ms() - t->progress_ms < PROGRESS_MS)
		return TY_VIEW_IGNORED;
	t->progress_ms = ty_now_ms();
	t->job->progress(t);
	return TY_VIEW_CHANGED;
}
