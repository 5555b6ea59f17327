/* SPDX-License-Identifier: MIT */
/*
 * A timeline opened on the first part of a recording, while the whole is indexed in the background.
 * When that is done it switches to the whole model, as soon as nothing depends on the old one (no
 * page, prompt or job): window, cursor, row, folds, filter and marks stay.
 *
 * A thread of the part has the same index in the whole, because models are built from the beginning
 * in one order; indices of spans and calls differ.
 */
#include <stdio.h>

#include "timeline_priv.h"

void ty_timeline_indexing_begin(struct ty_timeline *t)
{
	t->partial = t->in->host.indexing_poll != NULL;
	t->indexing.left_s = -1;
}

const char *ty_timeline_indexing_mark(const struct ty_timeline *t, char out[TY_INDEXING_MAX])
{
	int n;

	if (!t->partial)
		return "";
	if (t->indexing.failed)
		return " BEGINNING ONLY";
	n = snprintf(out, TY_INDEXING_MAX, " INDEXING %d%%", (int)(100 * t->indexing.part));
	if (t->indexing.left_s >= 0 && n > 0 && n < TY_INDEXING_MAX)
		snprintf(out + n, (size_t)(TY_INDEXING_MAX - n), ", %.0f s left",
			 t->indexing.left_s);
	return out;
}

/* Nothing that is open knows the model of the part. */
static bool may_change(const struct ty_timeline *t)
{
	return !t->job && !t->prompt && !t->child.ops && !t->dragging;
}

/* The text of a query means the same in the whole recording. */
static void restart_pending(struct ty_timeline *t)
{
	struct ty_query *q = NULL;
	struct ty_err err = {0};
	char text[sizeof(t->input)];

	if (t->query && !ty_query_new(t->m, t->in->arch, ty_query_text(t->query), &q, &err)) {
		ty_query_free(t->query);
		t->query = q;
	}
	if (t->filter) {
		snprintf(text, sizeof(text), "%s", ty_query_text(t->filter));
		ty_timeline_filter(t, text);
	}
}

/* Go over to the whole recording. On failure (out of memory) nothing has changed. */
static int change(struct ty_timeline *t, const struct ty_view_input *all, struct ty_err *err)
{
	const struct ty_summary *s = ty_model_summary(all->model);
	const struct ty_findings none = {0};
	struct ty_place at = ty_timeline_place(t);
	bool whole = t->vp.from_ns == t->vp.start_ns && t->vp.to_ns == t->vp.end_ns;
	struct ty_gaps gaps;
	int rc = ty_gaps_init(&gaps, all->model, err);

	if (!rc)
		rc = ty_tracks_reorder(&t->tracks, all->model, &all->window, &none, err);
	if (rc) {
		ty_gaps_fini(&gaps);
		return rc;
	}
	ty_timeline_unselect(t);
	ty_group_bars_forget(&t->heads);
	ty_gaps_fini(&t->gaps);
	t->gaps = gaps;
	t->in = all;
	t->m = all->model;
	t->partial = false;
	t->vp.end_ns = s->end_ns;
	if (whole && !t->vp.undo_n)
		t->vp.to_ns = s->end_ns;
	(void)ty_timeline_memory_map(t); /* out of memory: the strips are as they were */
	if (!t->lanes.aside.on)
		ty_timeline_lanes_map(t);
	ty_timeline_args_forget(t);
	t->hit_known = t->hits_known = t->hits_many = t->pin.on = false;
	t->links_n = 0;
	ty_range_stats_free(t->stats);
	t->stats = NULL;
	ty_page_reset(&t->page);
	t->vp.here = at;
	ty_timeline_restore(t);
	ty_timeline_keep_begin(t);
	ty_timeline_keep_end(t, false);
	restart_pending(t);
	ty_timeline_find(t);
	return 0;
}

static int indexing_wait_ms(const struct ty_timeline *t)
{
	return t->partial && !t->indexing.failed ? 100 : -1;
}

/* Check the progress, and switch to the whole recording when it is indexed. */
static bool indexing_work(struct ty_timeline *t)
{
	struct ty_indexing_news was = t->indexing;
	struct ty_err err = {0};

	if (!t->partial || t->indexing.failed)
		return false;
	if (!t->indexed)
		t->indexed = t->in->host.indexing_poll(t->in->host.ctx, &t->indexing);
	if (t->indexed && t->indexing.failed) {
		ty_timeline_say(t, "%s", t->indexing.err.msg);
		return true;
	}
	if (t->indexed && may_change(t)) {
		if (change(t, t->indexing.all, &err)) {
			t->indexing.failed = true;
			ty_timeline_say(t, "%s", err.msg);
		}
		return true;
	}
	return (int)(100 * was.part) != (int)(100 * t->indexing.part) ||
	       (int)was.left_s != (int)t->indexing.left_s;
}

const struct ty_layer ty_indexing_layer = {.wait_ms = indexing_wait_ms, .work = indexing_work};
