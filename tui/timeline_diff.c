/* SPDX-License-Identifier: MIT */
/* The page that compares the selection, or the window, with the rest. */
#include <stdio.h>

#include "ruler.h"
#include "timeline_priv.h"

static int make(struct ty_page_job *a)
{
	return ty_diff_find(&a->explain, &a->window, &a->diff, &a->err);
}

static void forget(struct ty_page_job *a)
{
	ty_diff_fini(&a->diff);
}

static bool page(struct ty_timeline *t, struct ty_page_job *a)
{
	const struct ty_diff *d = &a->diff;
	uint32_t i;

	if (d->in_lost || d->out_lost)
		ty_page_add(&t->page, TY_ROLE_LOST, "events were lost %s: its rates may be too low",
			    !d->out_lost  ? "in the selected part"
			    : !d->in_lost ? "in the rest"
					  : "in both parts");
	ty_page_add(&t->page, TY_ROLE_ACCENT, "%11s %11s %12s  %-9s %s", "selected", "rest",
		    "ratio", "metric", "of");
	for (i = 0; i < d->n && d->v[i].significant; i++) {
		const struct ty_diff_row *r = &d->v[i];
		char in[TY_DIFF_TEXT_MAX], out[TY_DIFF_TEXT_MAX], change[TY_DIFF_TEXT_MAX];

		ty_page_add(&t->page, TY_ROLE_TEXT, "%11s %11s %12s  %-9s %s",
			    ty_diff_rate(r, r->in_rate, in), ty_diff_rate(r, r->out_rate, out),
			    ty_diff_change(r, change),
			    ty_diff_kind_name((enum ty_diff_kind)r->kind), r->what);
	}
	if (!i)
		ty_page_add(&t->page, TY_ROLE_TEXT, "no statistically significant difference");
	ty_page_add(&t->page, TY_ROLE_DIM,
		    "ranked by each row's share of its metric's total change (cpu, io, ...); %u "
		    "differences that "
		    "are not statistically significant are hidden",
		    d->n - i);
	return true;
}

static const struct ty_page_job_ops the_difference = {
	.name = "differences",
	.title = "Differences",
	.about = "Rates in the selection or window and in the rest of the recording: calls, waits, "
		 "running time and interrupts. Only statistically significant differences are "
		 "listed.",
	.doing = "comparing with the rest",
	.make = make,
	.page = page,
	.forget = forget};

bool ty_timeline_diff(struct ty_timeline *t)
{
	uint64_t from = t->vp.from_ns, to = t->vp.to_ns;
	uint32_t first, last;
	char len[2][TY_TIME_MAX], at[TY_TIME_MAX];

	(void)ty_timeline_selected(t, &from, &to, &first, &last);
	if (from < t->vp.start_ns)
		from = t->vp.start_ns;
	if (to > t->vp.end_ns)
		to = t->vp.end_ns;
	if (!t->in->explain || to - from >= t->vp.end_ns - t->vp.start_ns) {
		ty_timeline_say(
			t, "nothing to compare: the window is the whole recording. Zoom in, or "
			   "select a part with v");
		return false;
	}
	ty_page_reset(&t->page);
	snprintf(t->page.title, sizeof(t->page.title),
		 "Differences: %s, starting at %s, compared with the rest (%s)",
		 ty_fmt_length(to - from, len[0]),
		 ty_timeline_at(t, from, (to - from) / 1000 + 1, at),
		 ty_fmt_length(t->vp.end_ns - t->vp.start_ns - (to - from), len[1]));
	return ty_timeline_start_page_job(t, &the_difference, TY_NONE, from, to);
}
