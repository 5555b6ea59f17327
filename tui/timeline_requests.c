/* SPDX-License-Identifier: MIT */
/* The slowest requests as a page; Enter on one opens a page that shows it beside a median one. Left
 * without a choice, that page leads back to the list. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call_args.h"
#include "ledger.h"
#include "ruler.h"
#include "timeline_priv.h"
#include "units.h"

#define LISTED 50u /* requests */

/* The list ------------------------------------------------------------------------------------ */

static char *mostly(const struct ty_explain *x, const struct ty_request *q)
{
	const uint32_t thread = ty_request_thread(q);
	char len[TY_DURATION_MAX], *s = NULL;
	struct ty_ledger l;

	if (thread == TY_NONE || ty_ledger_thread(x, thread, q->start_ns, q->end_ns, &l))
		return NULL;
	if (l.n && asprintf(&s, "%s %s", ty_fmt_duration(l.rows[0].ns, len), l.rows[0].row) < 0)
		s = NULL;
	ty_ledger_fini(&l);
	return s;
}

static int make_list(struct ty_page_job *a)
{
	int r = ty_requests_find(&a->explain, &a->window, LISTED, TY_REQUESTS_CALLS, &a->requests,
				 &a->err);

	memset(a->object, 0, sizeof(a->object));
	for (uint32_t i = 0; !r && i < a->requests.n && !ty_explain_stopped(&a->explain); i++)
		a->object[i] = mostly(&a->explain, &a->requests.v[i]);
	return r;
}

static void forget_list(struct ty_page_job *a)
{
	ty_requests_fini(&a->requests);
	a->requests = (struct ty_requests){0};
	for (uint32_t i = 0; i < TY_HITS_MAX; i++) {
		free(a->object[i]);
		a->object[i] = NULL;
	}
}

void ty_timeline_requests_fini(struct ty_timeline *t)
{
	if (t->requests.m)
		ty_requests_fini(&t->requests.q);
	for (uint32_t i = 0; i < TY_HITS_MAX; i++)
		free(t->requests.mostly[i]);
	t->requests = (struct ty_timeline_requests){0};
}

static void fill_list(struct ty_timeline *t)
{
	const struct ty_requests *q = &t->requests.q;
	char who[TY_THREAD_NAME_MAX], d[4][TY_DURATION_MAX], at[TY_TIME_MAX];

	ty_page_reset(&t->page);
	snprintf(t->page.title, sizeof(t->page.title),
		 "The slowest of %" PRIu64 " request%s; Enter compares one with a median request",
		 q->all, q->all == 1 ? "" : "s");
	for (uint32_t i = 0; i < q->n; i++) {
		const struct ty_request *r = &q->v[i];
		const uint32_t thread = ty_request_thread(r);

		ty_page_add(&t->page, TY_ROLE_TEXT, "%9s  %-16s %12s  %s%s",
			    ty_fmt_duration(r->end_ns - r->start_ns, d[0]),
			    ty_timeline_thread_name(t, thread, r->start_ns, who),
			    ty_timeline_at(t, r->start_ns, 1000, at),
			    t->requests.mostly[i] ? t->requests.mostly[i] : "",
			    r->flags & TY_REQ_OPEN ? "; no reply when the recording ended" : "");
		if (thread != TY_NONE)
			ty_page_link(&t->page, thread, r->start_ns);
	}
	ty_page_add(&t->page, TY_ROLE_TEXT, "%s", "");
	for (uint32_t i = 0; i < q->services_n; i++) {
		const struct ty_service *s = &q->services[i];

		ty_page_add(&t->page, TY_ROLE_DIM,
			    "%s: %" PRIu64 " answered%s, p50 %s, p90 %s, p99 %s, longest %s",
			    ty_timeline_thread_name(t, s->process, t->vp.end_ns, who), s->n,
			    s->inferred ? " (inferred)" : "", ty_fmt_duration(s->p50_ns, d[0]),
			    ty_fmt_duration(s->p90_ns, d[1]), ty_fmt_duration(s->p99_ns, d[2]),
			    ty_fmt_duration(s->max_ns, d[3]));
	}
	if (q->cut_ns)
		ty_page_add(&t->page, TY_ROLE_WARN,
			    "Requests after %s are not counted: too many calls.",
			    ty_timeline_at(t, q->cut_ns, 1000, at));
	t->page.at = t->requests.at;
	t->page.enter = "compare";
}

static bool list_page(struct ty_timeline *t, struct ty_page_job *a)
{
	ty_timeline_requests_fini(t);
	if (!a->requests.n) {
		ty_timeline_say(t, "no requests: no process received data on a socket and replied "
				   "there");
		return false;
	}
	t->requests.q = a->requests;
	t->requests.m = t->m;
	memcpy(t->requests.mostly, a->object, sizeof(a->object));
	a->requests = (struct ty_requests){0};
	memset(a->object, 0, sizeof(a->object));
	fill_list(t);
	return true;
}

/* The comparison ------------------------------------------------------------------------------ */

/* "flock(8</srv/site.lock>, LOCK_EX)" of the call in which the request spent most time; NULL. */
static char *longest_wait(const struct ty_explain *x, const struct ty_outlier *o)
{
	char *text = NULL, name[32];
	struct ty_syscall c;
	struct ty_ledger l;
	uint32_t call = TY_NONE;
	struct ty_buf b;

	if (ty_ledger_thread(x, o->thread, o->slow_start_ns, o->slow_start_ns + o->slow_ns, &l))
		return NULL;
	if (l.n && l.rows[0].span != TY_NONE)
		call = ty_model_span(x->m, l.rows[0].span).syscall;
	ty_ledger_fini(&l);
	if (call == TY_NONE)
		return NULL;
	ty_buf_init(&b, 8192);
	c = ty_model_syscall(x->m, call);
	if (ty_call_args(x, call, &b) || !b.p ||
	    asprintf(&text, "%s(%s)", ty_syscall_name(x->arch, (enum ty_abi)c.abi, c.nr, name),
		     b.p) < 0)
		text = NULL;
	ty_buf_fini(&b);
	return text;
}

static int make_beside(struct ty_page_job *a)
{
	const struct ty_request *r = &a->requests.v[a->thread];
	int rc = ty_timeline_page_functions(a);

	if (!rc)
		rc = ty_request_compare(&a->explain, r, ty_request_median(&a->requests, r),
					&a->beside);

	a->object[0] = rc ? NULL : longest_wait(&a->explain, &a->beside);
	if (rc == -TY_ENOTFOUND)
		ty_fail(&a->err, TY_ENOTFOUND, TY_NO_OFFSET,
			"no other request was answered: there is no median");
	return rc;
}

static void forget_beside(struct ty_page_job *a)
{
	free(a->object[0]);
	a->object[0] = NULL;
	ty_outlier_fini(&a->beside);
	a->requests = (struct ty_requests){0}; /* the timeline's */
}

static const char *part(uint64_t ns, char d[TY_DURATION_MAX])
{
	return ns ? ty_fmt_duration(ns, d) : "-";
}

static bool beside_page(struct ty_timeline *t, struct ty_page_job *a)
{
	const struct ty_outlier *o = &a->beside;
	const struct ty_request *r = &a->requests.v[a->thread],
				*median = ty_request_median(&a->requests, r);
	char d[2][TY_DURATION_MAX], who[TY_THREAD_NAME_MAX], at[TY_TIME_MAX];

	ty_page_reset(&t->page);
	snprintf(t->page.title, sizeof(t->page.title), "A request of %s beside a median one of %s",
		 ty_fmt_duration(o->slow_ns, d[0]), ty_fmt_duration(o->median_ns, d[1]));
	ty_page_add(&t->page, TY_ROLE_ACCENT, "%10s %10s  %s", "this one", "median",
		    "where its thread spent the time");
	for (uint32_t i = 0; i < o->n; i++)
		ty_page_add(&t->page, TY_ROLE_TEXT, "%10s %10s  %s", part(o->rows[i].slow_ns, d[0]),
			    part(o->rows[i].median_ns, d[1]), o->rows[i].row);
	ty_page_add(&t->page, TY_ROLE_STRONG, "%10s %10s  in all", part(o->slow_ns, d[0]),
		    part(o->median_ns, d[1]));
	if (o->parts_n)
		ty_page_add(&t->page, TY_ROLE_ACCENT, "%10s %10s  %s", "this one", "median",
			    "system calls and CPU samples");
	for (uint32_t i = 0; i < o->parts_n; i++)
		ty_page_add(&t->page, TY_ROLE_TEXT, "%10" PRIu64 " %10" PRIu64 "  %s%s",
			    o->parts[i].slow, o->parts[i].median,
			    o->parts[i].sample ? "samples in " : "", o->parts[i].what);
	ty_page_add(&t->page, TY_ROLE_TEXT, "%s", "");
	if (a->object[0])
		ty_page_add(&t->page, TY_ROLE_TEXT, "most of its time: in %s", a->object[0]);
	ty_page_add(&t->page, TY_ROLE_TEXT, "this one: %s at %s",
		    ty_timeline_thread_name(t, o->thread, o->slow_start_ns, who),
		    ty_timeline_at(t, o->slow_start_ns, 1000, at));
	ty_page_link(&t->page, o->thread, o->slow_start_ns + o->slow_ns / 2);
	ty_page_add(&t->page, TY_ROLE_TEXT, "the median one: %s at %s",
		    ty_timeline_thread_name(t, ty_request_thread(median), o->median_start_ns, who),
		    ty_timeline_at(t, o->median_start_ns, 1000, at));
	ty_page_link(&t->page, ty_request_thread(median), o->median_start_ns + o->median_ns / 2);
	ty_page_add(&t->page, TY_ROLE_DIM, "%s",
		    "Enter goes there; c then shows what held it up. q goes back to the list.");
	t->page.at = (int)(o->n + o->parts_n) + 3 + !!o->parts_n + !!a->object[0];
	return true;
}

static void list_left(struct ty_timeline *t);

static void beside_left(struct ty_timeline *t)
{
	if (t->page.chosen) {
		ty_timeline_page_left(t);
		return;
	}
	fill_list(t);
	ty_timeline_push(t, &ty_page_ops, &t->page, list_left);
}

static const struct ty_page_job_ops the_beside = {.name = "comparison",
						  .doing = "comparing with a median request",
						  .make = make_beside,
						  .page = beside_page,
						  .forget = forget_beside,
						  .left = beside_left};

static void list_left(struct ty_timeline *t)
{
	const uint32_t at = (uint32_t)t->page.at;

	t->requests.at = t->page.at;
	if (!t->page.chosen || at >= t->requests.q.n)
		return;
	t->page.chosen = false;
	t->page_job.requests = t->requests.q;
	ty_timeline_start_page_job(t, &the_beside, at, t->vp.start_ns, t->vp.end_ns);
}

static const struct ty_page_job_ops the_list = {.name = "requests",
						.doing = "finding requests",
						.make = make_list,
						.page = list_page,
						.forget = forget_list,
						.left = list_left};

bool ty_timeline_requests(struct ty_timeline *t)
{
	if (!t->in->explain) {
		ty_timeline_say(t, "this file has no system calls to find requests in");
		return false;
	}
	ty_timeline_stop_page(t);
	if (t->requests.m == t->m) {
		fill_list(t);
		return ty_timeline_push(t, &ty_page_ops, &t->page, list_left);
	}
	ty_page_reset(&t->page);
	return ty_timeline_start_page_job(t, &the_list, TY_NONE, t->vp.start_ns, t->vp.end_ns);
}
