/* SPDX-License-Identifier: MIT */
/* See timeline_slowest.h. */
#include "timeline_slowest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call_args.h"
#include "counter_measures.h"
#include "ledger.h"
#include "outlier_parts.h"
#include "ruler.h"
#include "timeline_priv.h"
#include "units.h"

/* The list ------------------------------------------------------------------------------------ */

void ty_timeline_slowest_fini(struct ty_timeline_slowest *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		free(s->v[i].mostly);
	free(s->v);
	free(s->groups);
	*s = (struct ty_timeline_slowest){0};
}

static char *most_of(const struct ty_explain *x, const struct ty_slow *s)
{
	char buf[2 * TY_LEDGER_ROW_TEXT], *text = NULL;
	struct ty_ledger_most most;
	struct ty_ledger l;

	if (s->thread == TY_NONE || ty_ledger_thread(x, s->thread, s->start_ns, s->end_ns, &l))
		return NULL;
	if (ty_ledger_most(x, &l, &most)) {
		ty_ledger_most_text(&most, "", buf, sizeof(buf));
		text = strdup(buf);
	}
	ty_ledger_fini(&l);
	return text;
}

int ty_slowest_room(struct ty_page_job *a, uint32_t n, uint32_t groups)
{
	a->slowest.v = calloc(n + (size_t)1, sizeof(*a->slowest.v));
	a->slowest.groups = calloc(groups + (size_t)1, sizeof(*a->slowest.groups));
	return a->slowest.v && a->slowest.groups ? 0 : -TY_ENOMEM;
}

void ty_slowest_add(struct ty_page_job *a, const struct ty_slow *s)
{
	struct ty_slow *to = &a->slowest.v[a->slowest.n++];

	*to = *s;
	to->mostly = ty_explain_stopped(&a->explain) ? NULL : most_of(&a->explain, s);
}

void ty_slowest_forget(struct ty_page_job *a)
{
	ty_timeline_slowest_fini(&a->slowest);
}

static void fill_list(struct ty_timeline *t)
{
	const struct ty_timeline_slowest *s = &t->slowest;
	char who[TY_THREAD_NAME_MAX], at[TY_TIME_MAX];

	ty_page_reset(&t->page);
	snprintf(t->page.title, sizeof(t->page.title),
		 "The slowest of %s %s%s%s%s; Enter compares one with a median %s",
		 ty_count(s->all), s->of, s->all == 1 ? "" : "s", *s->name ? " " : "", s->name,
		 s->of);
	ty_page_add(&t->page, TY_ROLE_ACCENT, "%9s  %-16s %12s  %s", "duration", "thread", "start",
		    "state with most time");
	for (uint32_t i = 0; i < s->n; i++) {
		const struct ty_slow *v = &s->v[i];

		ty_page_add(&t->page, TY_ROLE_TEXT, "%9s  %-16s %12s  %s%s",
			    ty_duration(v->end_ns - v->start_ns),
			    ty_timeline_thread_within(t, v->thread, v->start_ns, 16, who),
			    ty_timeline_at(t, v->start_ns, 1000, at), v->mostly ? v->mostly : "",
			    v->open ? "; no reply seen" : "");
		if (v->thread != TY_NONE)
			ty_page_link(&t->page, v->thread, v->start_ns);
	}
	ty_page_add(&t->page, TY_ROLE_TEXT, "%s", "");
	for (uint32_t i = 0; i < s->groups_n; i++) {
		const struct ty_slow_group *g = &s->groups[i];

		ty_page_add(&t->page, TY_ROLE_DIM,
			    "%s: %" PRIu64 " %s%s, p50 %s, p90 %s, p99 %s, longest %s",
			    ty_timeline_thread_name(t, g->thread, t->vp.end_ns, who), g->n,
			    s->counted, g->inferred ? " (inferred)" : "", ty_duration(g->p50_ns),
			    ty_duration(g->p90_ns), ty_duration(g->p99_ns), ty_duration(g->max_ns));
	}
	if (s->cut_ns)
		ty_page_add(&t->page, TY_ROLE_WARN,
			    "Those after %s are not counted: too many calls.",
			    ty_timeline_at(t, s->cut_ns, 1000, at));
	t->page.at = s->at ? s->at : 1; /* below the headings */
	t->page.enter = "compare";
}

bool ty_slowest_page(struct ty_timeline *t, struct ty_page_job *a)
{
	ty_timeline_slowest_fini(&t->slowest);
	if (!a->slowest.n) {
		ty_timeline_say(t, "%s", a->slowest.none);
		return false;
	}
	t->slowest = a->slowest;
	t->slowest.m = t->m;
	t->slowest.list = a->what;
	a->slowest = (struct ty_timeline_slowest){0};
	fill_list(t);
	return true;
}

bool ty_slowest_again(struct ty_timeline *t)
{
	fill_list(t);
	t->page.name = t->slowest.list->title;
	t->page.about = t->slowest.list->about;
	return ty_timeline_push(t, &ty_page_ops, &t->page, ty_slowest_left);
}

/* The comparison ------------------------------------------------------------------------------ */

/* "flock(8</srv/site.lock>, LOCK_EX)" of the call in which it spent most time; NULL. */
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
	const struct ty_slow *s = &a->slow;
	int rc;

	if (s->median_thread == TY_NONE)
		return ty_fail(
			&a->err, TY_ENOTFOUND, TY_NO_OFFSET,
			"no other region has both a recorded start and end: there is no median");
	a->beside = (struct ty_outlier){.thread = s->thread,
					.slow_start_ns = s->start_ns,
					.slow_ns = s->end_ns - s->start_ns,
					.median_start_ns = s->median_start_ns,
					.median_ns = s->median_end_ns - s->median_start_ns,
					.elsewhere = s->elsewhere};
	rc = ty_timeline_page_functions(a);
	rc = rc ? rc : ty_outlier_compare(&a->explain, &a->beside, s->median_thread);
	a->object[0] = rc ? NULL : longest_wait(&a->explain, &a->beside);
	return rc;
}

static void forget_beside(struct ty_page_job *a)
{
	free(a->object[0]);
	a->object[0] = NULL;
	ty_outlier_fini(&a->beside);
}

static const char *part(uint64_t ns, char d[TY_DURATION_MAX])
{
	return ns ? ty_fmt_duration(ns, d) : "-";
}

static void add_head(struct ty_timeline *t, const char *what)
{
	ty_page_add(&t->page, TY_ROLE_ACCENT, "%10s %10s  %s", "this one", "median", what);
}

static void add_parts(struct ty_timeline *t, const struct ty_outlier *o)
{
	const struct ty_counts *c = t->lanes.counts;
	char a[TY_COUNT_TEXT], b[TY_COUNT_TEXT];

	if (o->parts_n)
		add_head(t, "system calls and CPU samples");
	for (uint32_t i = 0; i < o->parts_n; i++)
		ty_page_add(&t->page, TY_ROLE_TEXT, "%10" PRIu64 " %10" PRIu64 "  %s%s",
			    o->parts[i].slow, o->parts[i].median,
			    o->parts[i].sample ? "samples in " : "", o->parts[i].what);
	if (c && o->elsewhere)
		ty_page_add(&t->page, TY_ROLE_DIM, "%s",
			    "no counters: one of the two ended in another thread");
	if (!c || !(o->counted[0].readings | o->counted[1].readings))
		return;
	add_head(t, "counters of the thread (~: estimates)");
	for (uint32_t i = 0; i < ty_count_measures(c); i++)
		ty_page_add(&t->page, TY_ROLE_TEXT, "%10s %10s  %s",
			    ty_count_measure_text(c, &o->counted[0], i, a),
			    ty_count_measure_text(c, &o->counted[1], i, b),
			    ty_count_measure_name(c, i));
}

static void add_place(struct ty_timeline *t, const char *which, uint32_t thread, uint64_t from_ns,
		      uint64_t ns)
{
	char who[TY_THREAD_NAME_MAX], at[TY_TIME_MAX];

	ty_page_add(&t->page, TY_ROLE_TEXT, "%s: %s at %s", which,
		    ty_timeline_thread_name(t, thread, from_ns, who),
		    ty_timeline_at(t, from_ns, 1000, at));
	ty_page_link(&t->page, thread, from_ns + ns / 2);
}

static bool beside_page(struct ty_timeline *t, struct ty_page_job *a)
{
	const struct ty_outlier *o = &a->beside;
	char d[2][TY_DURATION_MAX];

	ty_page_reset(&t->page);
	snprintf(t->page.title, sizeof(t->page.title),
		 "A %s of %s compared with a median one of %s%s%s", t->slowest.of,
		 ty_fmt_duration(o->slow_ns, d[0]), ty_fmt_duration(o->median_ns, d[1]),
		 *t->slowest.name ? ": " : "", t->slowest.name);
	add_head(t, "where its thread spent the time");
	for (uint32_t i = 0; i < o->n; i++) {
		ty_page_add(&t->page, TY_ROLE_TEXT, "%10s %10s  %s", part(o->rows[i].slow_ns, d[0]),
			    part(o->rows[i].median_ns, d[1]), o->rows[i].row);
		ty_page_link(&t->page, o->thread, o->slow_start_ns + o->slow_ns / 2);
	}
	ty_page_add(&t->page, TY_ROLE_STRONG, "%10s %10s  in all", part(o->slow_ns, d[0]),
		    part(o->median_ns, d[1]));
	add_parts(t, o);
	ty_page_add(&t->page, TY_ROLE_TEXT, "%s", "");
	if (a->object[0])
		ty_page_add(&t->page, TY_ROLE_TEXT, "the call with most time: %s", a->object[0]);
	add_place(t, "this one", o->thread, o->slow_start_ns, o->slow_ns);
	add_place(t, "the median one", a->slow.median_thread, o->median_start_ns, o->median_ns);
	ty_page_add(&t->page, TY_ROLE_DIM,
		    "Enter goes to the %s; c then shows what held it up. q: the list.",
		    t->slowest.of);
	t->page.at = 1; /* the first row, which says most */
	return true;
}

static void beside_left(struct ty_timeline *t)
{
	if (t->page.chosen)
		ty_timeline_page_left(t);
	else
		ty_slowest_again(t);
}

static const struct ty_page_job_ops the_beside = {
	.name = "comparison",
	.title = "A slow one and a median one",
	.about = "Where the thread of a slow request or region spent its time, compared with a "
		 "median one of the same process or name: states and waits, then system calls, "
		 "CPU samples and counters.",
	.doing = "comparing with a median request",
	.make = make_beside,
	.page = beside_page,
	.forget = forget_beside,
	.left = beside_left};

void ty_slowest_left(struct ty_timeline *t)
{
	const uint32_t at = (uint32_t)t->page.at - 1;

	t->slowest.at = t->page.at;
	if (!t->page.chosen || at >= t->slowest.n)
		return;
	t->page.chosen = false;
	t->page_job.slow = t->slowest.v[at];
	ty_timeline_start_page_job(t, &the_beside, at, t->vp.start_ns, t->vp.end_ns);
}
