/* SPDX-License-Identifier: MIT */
/* The region under the cursor, and the slowest of its name as a page (timeline_slowest.h). */
#include <stdio.h>

#include "region_stats.h"
#include "timeline_priv.h"

uint32_t ty_timeline_region_here(const struct ty_timeline *t)
{
	const struct ty_row *row = t->row < t->tracks.rows.n ? &t->tracks.rows.v[t->row] : NULL;
	const uint32_t n = ty_timeline_cells(t), c = ty_viewport_column(&t->vp, t->cursor_ns, n);
	const uint64_t from = ty_viewport_edge(&t->vp, c, n),
		       to = ty_viewport_edge(&t->vp, c + 1, n);
	struct ty_region r;

	if (!row || row->kind != TY_ROW_REGIONS)
		return TY_NONE;
	/* Of several in a cell, the one that was searched for. */
	r = ty_model_region(t->m, t->hit.idx);
	if (t->hit_known && t->hit.what == TY_HIT_REGION && t->hit.at_ns == t->cursor_ns &&
	    r.thread == row->id && r.lane == ty_tracks_lane(row))
		return t->hit.idx;
	return ty_model_region_in(t->m, row->id, ty_tracks_lane(row), from,
				  to > from ? to : from + 1);
}

static void add(struct ty_page_job *a, uint32_t slow, uint32_t median)
{
	const struct ty_region r = ty_model_region(a->explain.m, slow);
	struct ty_slow s = {.thread = r.thread,
			    .start_ns = r.start_ns,
			    .end_ns = r.end_ns,
			    .elsewhere = !ty_region_of_one_thread(&r),
			    .median_thread = TY_NONE};

	if (median != TY_NONE) {
		const struct ty_region m = ty_model_region(a->explain.m, median);

		s.elsewhere |= !ty_region_of_one_thread(&m);
		s.median_thread = m.thread;
		s.median_start_ns = m.start_ns;
		s.median_end_ns = m.end_ns;
	}
	ty_slowest_add(a, &s);
}

static int make(struct ty_page_job *a)
{
	struct ty_region_slowest q;
	int r = ty_region_slowest_find(&a->explain, &a->window, a->thread, TY_SLOWEST_LISTED, &q);
	const char *name =
		ty_model_str(a->explain.m, ty_model_region(a->explain.m, a->thread).name);

	a->slowest = (struct ty_timeline_slowest){
		.of = q.all.kind == TY_REG_CALL ? "call" : "region",
		.counted = "with start and end",
		.none = "no region of this name has both a recorded start and end",
		.all = q.all.timed};
	snprintf(a->slowest.name, sizeof(a->slowest.name), "%s", *name ? name : "without a name");
	r = r ? r : ty_slowest_room(a, q.n, q.by_thread_n);
	for (uint32_t i = 0; !r && i < q.n; i++)
		add(a, q.v[i], q.v[i] == q.all.median ? q.other : q.all.median);
	for (uint32_t i = 0; !r && i < q.by_thread_n && q.by_thread[i].timed; i++) {
		const struct ty_region_stats *s = &q.by_thread[i];

		a->slowest.groups[a->slowest.groups_n++] = (struct ty_slow_group){
			s->thread, false, s->timed, s->p50_ns, s->p90_ns, s->p99_ns, s->max_ns};
	}
	ty_region_slowest_fini(&q);
	return r;
}

static const struct ty_page_job_ops the_list = {
	.name = "regions",
	.title = "Regions",
	.about = "The slowest regions of this name: length, thread, start, and where most of the "
		 "time went. Below: each thread that began one, with percentiles.",
	.doing = "finding the slowest regions",
	.make = make,
	.page = ty_slowest_page,
	.forget = ty_slowest_forget,
	.left = ty_slowest_left};

bool ty_timeline_region_slowest(struct ty_timeline *t)
{
	if (!t->in->explain) {
		ty_timeline_say(t, "this file has nothing to compare regions with");
		return false;
	}
	ty_timeline_stop_page(t);
	ty_page_reset(&t->page);
	return ty_timeline_start_page_job(t, &the_list, ty_timeline_region_here(t), t->vp.start_ns,
					  t->vp.end_ns);
}
