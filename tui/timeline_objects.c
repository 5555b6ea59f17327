/* SPDX-License-Identifier: MIT */
/* Names of files for a search or a filter: the first one that needs them costs a pass over the
 * recording, in a thread. */
#include <stdio.h>

#include "timeline_priv.h"

#define AT_ONCE_MS 50
#define STEP_MS	   4

static void load(void *ctx)
{
	struct ty_timeline *t = ctx;
	struct ty_timeline_objects *o = &t->objects;
	const struct ty_call_objects *names = NULL;

	o->rc = t->in->host.objects_load(t->in->host.ctx, &o->aside.stop, &o->permille, &names,
					 &o->err);
	if (!o->rc)
		o->rc = ty_query_objects(o->query, names, &o->aside.stop);
}

/* A filter that waited for them is none. */
static void unwanted(struct ty_timeline *t)
{
	if (t->objects.query && t->objects.query == t->filter) {
		ty_query_free(t->filter);
		t->filter = NULL;
	}
	t->objects.query = NULL;
}

static void loaded(struct ty_timeline *t)
{
	struct ty_timeline_objects *o = &t->objects;

	t->message[0] = 0;
	if (o->rc) {
		ty_timeline_say(t, "names of files: %s",
				o->err.msg[0] ? o->err.msg : ty_strerror(o->rc));
		unwanted(t);
	} else {
		o->query = NULL;
		o->then(t);
	}
}

static bool step(struct ty_timeline *t)
{
	return ty_background_wait(&t->objects.aside, STEP_MS);
}

static bool done(struct ty_timeline *t)
{
	loaded(t);
	return false;
}

static void progress(struct ty_timeline *t)
{
	ty_timeline_say(t, "reading the names of files: %u %%; Esc stops",
			atomic_load(&t->objects.permille) / 10);
}

void ty_timeline_objects_stop(struct ty_timeline *t)
{
	(void)ty_background_stop(&t->objects.aside);
	unwanted(t);
}

static const struct ty_job objects_job = {.step = step,
					  .done = done,
					  .progress = progress,
					  .stop = ty_timeline_objects_stop,
					  .replaced = ty_timeline_objects_stop};

bool ty_timeline_objects(struct ty_timeline *t, struct ty_query *q,
			 void (*then)(struct ty_timeline *t))
{
	struct ty_timeline_objects *o = &t->objects;

	if (!ty_query_needs_objects(q) || !t->in->host.objects_load || t->partial)
		return true;
	ty_timeline_drop_job(t);
	ty_timeline_objects_stop(t);
	o->query = q;
	o->then = then;
	o->err = (struct ty_err){0};
	atomic_store(&o->permille, 0);
	ty_background_start(&o->aside, t->in->aside, load, t);
	if (ty_background_wait(&o->aside, AT_ONCE_MS))
		loaded(t);
	else
		ty_timeline_begin(t, &objects_job);
	return false;
}
