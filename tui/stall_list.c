/* SPDX-License-Identifier: MIT */
/* The list of stalls and longest waits; see stall_list.h. Computed once when a file is opened, not
 * on the drawing path. */
#include "stall_list.h"

#include <stdlib.h>

/* How many of the longest waits are searched for those of active threads. */
#define POOL 16384

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

bool ty_findings_still(const struct ty_findings *f, const struct ty_wait *w)
{
	return !f->traced_only && w->state == TY_ST_SLEEPING && w->flags & TY_SF_OPEN &&
	       w->flags & (TY_SF_BEFORE | TY_SF_SNAPSHOT);
}

/* In a recording of all processes, threads without any event (daemons) come after the others; both
 * keep their order. */
static void still_last(const struct ty_findings *f, struct ty_wait *v, uint32_t n)
{
	struct ty_wait *still = malloc((n + 1) * sizeof(*still));
	uint32_t k = 0, s = 0;

	if (!still)
		return; /* their order is all that is lost */
	for (uint32_t i = 0; i < n; i++)
		if (ty_findings_still(f, &v[i]))
			still[s++] = v[i];
		else
			v[k++] = v[i];
	for (uint32_t i = 0; i < s; i++)
		v[k++] = still[i];
	free(still);
}

/* A stall as one of the waits. */
static struct ty_wait wait_of(const struct ty_model *m, const struct ty_stall *st)
{
	struct ty_wait w = {.span = st->span,
			    .thread = st->thread,
			    .start_ns = st->start_ns,
			    .duration_ns = st->duration_ns,
			    .state = st->state,
			    .flags = st->flags,
			    .syscall = st->syscall == TY_NONE ? -1 : (int32_t)st->syscall,
			    .waker = st->culprit == TY_NONE ? -1 : (int32_t)st->culprit,
			    .ran = -1};
	struct ty_span s = ty_model_span(m, st->span);

	w.woken = s.edge != TY_NONE;
	if (w.woken)
		w.waker_context = ty_model_edge(m, s.edge).context;
	return w;
}

static bool is_stall(const struct ty_findings *f, uint32_t span)
{
	for (uint32_t i = 0; i < f->stalls.n; i++)
		if (f->stalls.v[i].span == span)
			return true;
	return false;
}

int ty_findings_init(struct ty_findings *f, const struct ty_model *m, const struct ty_explain *x,
		     const struct ty_window *w, struct ty_err *err)
{
	struct ty_requests requests = {0};
	struct ty_stalls_opts opts = {.requests = &requests};
	struct ty_window win = *w;
	struct ty_wait *all;
	uint32_t n, waits;
	int rc = 0;

	*f = (struct ty_findings){0};
	f->traced_only = !w->tids_n && !w->comms_n && some_traced_only(m);
	win.traced_only |= f->traced_only;
	if (x)
		rc = ty_requests_find(x, w, TY_REQUESTS_KEPT, TY_REQUESTS_CALLS, &requests, err);
	if (x && !rc)
		rc = ty_stalls_find(x, w, &opts, TY_FINDINGS_MAX, &f->stalls, err);
	ty_requests_fini(&requests);
	f->unsearched = rc == -TY_EINTR && x->steps && !*x->steps;
	if (rc && !f->unsearched)
		return rc;
	all = malloc(POOL * sizeof(*all));
	f->v = malloc(TY_FINDINGS_MAX * sizeof(*f->v));
	if (!all || !f->v) {
		free(all);
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET,
			       "out of memory while searching for the longest waits");
	}
	for (uint32_t i = 0; i < f->stalls.n; i++)
		f->v[f->n++] = wait_of(m, &f->stalls.v[i]);
	/* Stalls that fill the list leave no place for waits. */
	n = f->n < TY_FINDINGS_MAX ? ty_longest_find(m, &win, KINDS, all,
						     f->traced_only ? TY_FINDINGS_MAX + f->n : POOL)
				   : 0;
	if (!f->traced_only)
		still_last(f, all, n);
	waits = f->n;
	for (uint32_t i = 0; i < n && f->n < TY_FINDINGS_MAX; i++)
		if (!is_stall(f, all[i].span))
			f->v[f->n++] = all[i];
	ty_longest_explain(m, f->v + waits, f->n - waits);
	free(all);
	return 0;
}

void ty_findings_fini(struct ty_findings *f)
{
	ty_stalls_fini(&f->stalls);
	free(f->v);
	*f = (struct ty_findings){0};
}
