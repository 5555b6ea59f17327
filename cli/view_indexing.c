/* SPDX-License-Identifier: MIT */
#include "view_indexing.h"

#include "now.h"

/* Arranging takes the last small part of the progress. */
static bool progress(void *ctx, const struct ty_progress *p)
{
	struct ty_view_indexing *r = ctx;

	atomic_store(&r->done, (unsigned)(p->finishing ? 950 + 50 * p->part : 950 * p->part));
	return !atomic_load(&r->aside.stop);
}

static void build(void *ctx)
{
	struct ty_view_indexing *r = ctx;
	const struct ty_build_how how = {
		.memory_bytes = r->memory_bytes, .on_progress = progress, .ctx = r};

	r->rc = ty_session_build(r->s, &how, &r->err);
}

void ty_view_indexing_start(struct ty_view_indexing *r)
{
	r->begin_ms = ty_now_ms();
	ty_background_start(&r->aside, true, build, r);
}

bool ty_view_indexing_poll(struct ty_view_indexing *r, struct ty_indexing_news *news)
{
	double t = (double)(ty_now_ms() - r->begin_ms) / 1e3;

	news->part = atomic_load(&r->done) / 1000.0;
	news->left_s = news->part > 0.01 ? t / news->part - t : -1;
	if (!ty_background_wait(&r->aside, 0))
		return false;
	news->all = r->rc ? NULL : r->shown(r->ctx, &r->err);
	news->failed = !news->all;
	news->err = r->err;
	return true;
}

void ty_view_indexing_stop(struct ty_view_indexing *r)
{
	ty_background_stop(&r->aside);
}
