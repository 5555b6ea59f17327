/* SPDX-License-Identifier: MIT */
/* Long work started by a key, one job at a time: start and cancellation (its slices:
 * timeline_layers.c). */
#include "now.h"
#include "timeline_priv.h"

void ty_timeline_drop_job(struct ty_timeline *t)
{
	if (t->job && t->job->replaced)
		t->job->replaced(t);
	t->job = NULL;
}

void ty_timeline_begin(struct ty_timeline *t, const struct ty_job *job)
{
	if (t->job != job)
		ty_timeline_drop_job(t);
	t->job = job;
	t->progress_ms = ty_now_ms();
}

bool ty_timeline_stop_job(struct ty_timeline *t)
{
	if (!t->job)
		return false;
	if (t->job->stop)
		t->job->stop(t);
	t->job = NULL;
	ty_timeline_say(t, "stopped");
	return true;
}

void ty_timeline_stop_page(struct ty_timeline *t)
{
	if (t->job && t->job->makes_page)
		ty_timeline_stop_job(t);
}

bool ty_timeline_keeps_rows(const struct ty_timeline *t)
{
	return t->job && t->job->keeps_rows;
}
