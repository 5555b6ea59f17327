/* SPDX-License-Identifier: MIT */
/* The list of waits; see findings.h. Made once when a file is opened, not on the drawing path. */
#include "findings.h"

#include <stdlib.h>

/* How many waits are looked at to find those of the traced threads among everybody's. */
#define POOL 16384
/* So many thread ids may be handed to the search itself; more are picked out afterwards. */
#define TIDS 512

#define KINDS                                                                                      \
	(1u << TY_ST_SLEEPING | 1u << TY_ST_BLOCKED | 1u << TY_ST_STOPPED | 1u << TY_ST_RUNNABLE)

static bool some_traced_only(const struct ty_model *m)
{
	uint32_t n = ty_model_summary(m)->threads, traced = 0, user = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct ty_thread *t = ty_model_thread(m, i);

		traced += t->traced;
		user += !t->kernel;
	}
	return traced && traced < user;
}

/* The traced threads' ids into tids; 0 when there are too many. */
static uint32_t traced_tids(const struct ty_model *m, int32_t tids[TIDS])
{
	uint32_t n = ty_model_summary(m)->threads, k = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct ty_thread *t = ty_model_thread(m, i);

		if (!t->traced)
			continue;
		if (k == TIDS)
			return 0;
		tids[k++] = t->tid;
	}
	return k;
}

int ty_findings_init(struct ty_findings *f, const struct ty_model *m, const struct ty_window *w,
		     struct ty_err *err)
{
	struct ty_window win = *w;
	int32_t tids[TIDS];
	uint32_t n, k = 0;

	*f = (struct ty_findings){0};
	f->traced_only = !w->tids_n && !w->comms_n && some_traced_only(m);
	if (f->traced_only) {
		win.tids_n = traced_tids(m, tids);
		win.tids = tids;
	}
	f->v = malloc(POOL * sizeof(*f->v));
	if (!f->v)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET,
			       "out of memory while looking for the longest waits");
	n = ty_longest(m, &win, KINDS, f->v, f->traced_only ? POOL : TY_FINDINGS_MAX);
	for (uint32_t i = 0; i < n && k < TY_FINDINGS_MAX; i++)
		if (!f->traced_only || ty_model_thread(m, f->v[i].thread)->traced)
			f->v[k++] = f->v[i];
	f->n = k;
	return 0;
}

void ty_findings_fini(struct ty_findings *f)
{
	free(f->v);
	*f = (struct ty_findings){0};
}
