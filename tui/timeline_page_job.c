/* SPDX-License-Identifier: MIT */
/* Pages computed in a thread for a key: chains, ledgers, comparisons. */
#include "timeline_priv.h"

/* A page is made at once when that takes no longer than a key may. */
#define AT_ONCE_MS 10
#define STEP_MS	   4

static void make(void *ctx)
{
	struct ty_page_job *a = ctx;

	a->rc = a->what->make(a);
}

void ty_timeline_cancel_page_job(struct ty_timeline *t)
{
	if (ty_background_stop(&t->page_job.aside))
		t->page_job.what->forget(&t->page_job);
}

static bool explained(struct ty_timeline *t)
{
	struct ty_page_job *a = &t->page_job;
	bool made = false;

	if (a->rc)
		ty_timeline_say(t, "%s: %s", a->what->name,
				a->err.msg[0] ? a->err.msg : ty_strerror(a->rc));
	else
		made = a->what->page(t, a) &&
		       ty_timeline_push(t, &ty_page_ops, &t->page,
					a->what->left ? a->what->left : ty_timeline_page_left);
	if (made) {
		t->page.name = a->what->title;
		t->page.about = a->what->about;
	}
	a->what->forget(a);
	return made;
}

static bool explain_step(struct ty_timeline *t)
{
	return ty_background_wait(&t->page_job.aside, STEP_MS);
}

static void explain_progress(struct ty_timeline *t)
{
	ty_timeline_say(t, "%s; Esc stops", t->page_job.what->doing);
}

static const struct ty_job explain_job = {.makes_page = true,
					  .step = explain_step,
					  .done = explained,
					  .progress = explain_progress,
					  .stop = ty_timeline_cancel_page_job,
					  .replaced = ty_timeline_cancel_page_job};

bool ty_timeline_start_page_job(struct ty_timeline *t, const struct ty_page_job_ops *what,
				uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	struct ty_page_job *a = &t->page_job;

	if (t->job == &explain_job)
		ty_timeline_drop_job(t);
	a->what = what;
	a->host = &t->in->host;
	a->explain.counts = t->lanes.counts;
	a->thread = thread;
	a->window = t->in->window;
	a->window.from_ns = from_ns;
	a->window.to_ns = to_ns;
	a->err = (struct ty_err){0};
	ty_background_start(&a->aside, t->in->aside, make, a);
	if (ty_background_wait(&a->aside, AT_ONCE_MS))
		return explained(t);
	ty_timeline_begin(t, &explain_job);
	return false;
}
