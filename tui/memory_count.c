/* SPDX-License-Identifier: MIT */
/*
 * Background computations of the memory view: its tables, the line above the axis, and the strips
 * of threads and CPUs. A thread reads the points, which are const, and otherwise only its copied
 * request; the view takes its result when it is done. A change of window or table cancels it, which
 * takes as long as 512 samples do.
 */
#include <stdlib.h>

#include "memory_priv.h"

#define TABLE_ROWS 200u

void ty_memory_line_drop(struct ty_memory_line *l)
{
	vec_fini(&l->sites);
	vec_fini(&l->access);
	*l = (struct ty_memory_line){0};
}

/* Shared lines are found in all samples: of a part others would seem to share them. */
static const struct ty_mem_points *points_of(const struct ty_memory_view *v, unsigned by)
{
	return by == TY_MEMORY_OF_SHARING ? v->in->points : v->points;
}

/* Are all of the points [first, first + n) in the window? */
static bool window_exact(const struct ty_memory_view *v)
{
	const struct ty_mem_points *p = points_of(v, v->by);

	return (!p->back_ns && !p->sum.no_time) ||
	       (v->vp.from_ns <= p->sum.first_ns && v->vp.to_ns > p->sum.last_ns);
}

static struct ty_memory_want wanted(const struct ty_memory_view *v)
{
	struct ty_memory_want w = {.first = v->first, .n = v->n, .by = v->by, .pane = v->pane};

	if (v->points != points_of(v, v->by))
		ty_mem_points_between(points_of(v, v->by), v->vp.from_ns, v->vp.to_ns, &w.first,
				      &w.n);
	w.choosing = v->pane == TY_MEMORY_LINE && v->by == TY_MEMORY_OF_SHARING &&
		     (v->choosing || !v->line.made);
	w.at = w.choosing ? v->at : 0;
	w.selected = ty_memory_selected(v, &w.box);
	if (w.selected && v->pane == TY_MEMORY_LINE && v->by == TY_MEMORY_OF_SHARING) {
		w.box.low = 0; /* of one thread alone no line is shared: its time counts */
		w.box.high = UINT32_MAX;
	}
	if (!w.selected && !window_exact(v)) {
		w.selected = true;
		w.box = (struct ty_memory_corner){v->vp.from_ns, v->vp.to_ns, 0, UINT32_MAX};
	}
	return w;
}

static bool same_want(const struct ty_memory_want *a, const struct ty_memory_want *b)
{
	return a->first == b->first && a->n == b->n && a->by == b->by && a->pane == b->pane &&
	       a->selected == b->selected && a->choosing == b->choosing && a->at == b->at &&
	       (!a->selected || (a->box.from_ns == b->box.from_ns && a->box.to_ns == b->box.to_ns &&
				 a->box.low == b->box.low && a->box.high == b->box.high));
}

/* The selected samples. The rows of strips and line are the view's, which leaves them alone while a
 * job is on. */
static int select_part(const struct ty_memory_view *v, const struct ty_mem_work *work,
		       struct ty_mem_points *part)
{
	const struct ty_memory_want *w = &v->job.want;
	const struct ty_mem_points *p = points_of(v, w->by);
	bool line = w->pane == TY_MEMORY_LINE && !ty_memory_all_rows(&w->box);
	struct ty_mem_point rows[TY_BLOCK_ROWS];
	int r = ty_mem_points_part(part, p, v->in->work_bytes);
	uint32_t n;

	for (size_t i = 0; !r && line && i < v->line.access.n; i++) {
		struct ty_mem_point o = ty_mem_points_get(v->in->points, v->line.access.v[i]);

		if (ty_memory_in_box(v, &w->box, &o) &&
		    (!v->filter.query || ty_memory_query_has(v->filter.query, &o)))
			r = ty_mem_points_take(part, &o);
	}
	for (uint64_t at = 0; !r && !line && at < w->n; at += n) {
		n = ty_mem_points_rows(p, w->first + at, TY_MEM_WANT_ALL, rows);
		n = n < w->n - at ? n : (uint32_t)(w->n - at);
		if (!n || ty_mem_stopped(work))
			r = -TY_EINTR;
		for (uint32_t i = 0; !r && i < n; i++)
			if (ty_memory_in_box(v, &w->box, &rows[i]))
				r = ty_mem_points_take(part, &rows[i]);
	}
	return r ? r : ty_mem_points_end(part);
}

static bool same_line(const struct ty_sharing_line *a, const struct ty_sharing_line *b)
{
	return a->line == b->line && a->physical == b->physical && a->shared == b->shared &&
	       a->pid == b->pid;
}

/* The chosen line's accesses in the whole recording, and a row for each thread of it. */
static int choose_line(const struct ty_memory_view *v, const struct ty_mem_points *all,
		       const struct ty_mem_work *work, struct ty_memory_job *j)
{
	struct ty_sharing whole;
	int r = ty_sharing_one(all, v->in->line_bytes, &j->sharing.lines[j->want.at], work, &whole);

	if (!r && whole.lines_n) {
		j->line.made = true;
		j->line.line = whole.lines[0];
		j->line.access.v = whole.access;
		j->line.access.n = j->line.access.cap = whole.access_n;
		whole.access = NULL;
	}
	for (uint32_t k = 0; !r && k < whole.sites_n; k++) {
		bool known = false;

		vec_each (o, &j->line.sites)
			known |= o->thread == whole.sites[k].thread;
		if (!known)
			r = vec_push(&j->line.sites, whole.sites[k]);
	}
	ty_sharing_fini(&whole);
	return r;
}

/* Names are slow to find for the first time; drawing uses them again. */
static void learn_names(struct ty_memory_view *v, const struct ty_mem_work *work)
{
	const struct ty_memory_job *j = &v->job;
	const struct ty_mem_points *p = v->in->points;
	char name[8];

	if (!v->in->name)
		return;
	for (uint32_t i = 0; i < j->table.rows_n && !ty_mem_stopped(work); i++) {
		const struct ty_memory_row *w = &j->table.rows[i];

		if (j->want.by == TY_MEMORY_OF_PC) {
			const struct ty_mem_code *c = &p->code[w->key];

			v->in->name(v->in->ctx, c->pid, c->addr, c->ts_ns, name, sizeof(name));
		} else if (j->want.by == TY_MEMORY_OF_PAGE) {
			v->in->name(v->in->ctx, w->pid, w->key, w->ts_ns, name, sizeof(name));
		}
	}
	for (uint32_t i = 0; i < j->sharing.lines_n && i < TABLE_ROWS && !ty_mem_stopped(work); i++)
		v->in->name(v->in->ctx, j->sharing.lines[i].va_pid,
			    ty_sharing_accessed(&j->sharing, &j->sharing.lines[i]),
			    j->sharing.lines[i].va_ts_ns, name, sizeof(name));
}

static void count(void *ctx)
{
	static const enum ty_memory_by by[] = {TY_MEMORY_BY_PC, TY_MEMORY_BY_SOURCE,
					       TY_MEMORY_BY_PAGE, TY_MEMORY_BY_THREAD};
	struct ty_memory_view *v = ctx;
	struct ty_memory_job *j = &v->job;
	const struct ty_mem_work work = {v->in->work_bytes, &j->aside.stop};
	struct ty_mem_points all = *points_of(v, j->want.by), window, part = {0};
	bool sharing = j->want.by == TY_MEMORY_OF_SHARING;

	if (sharing && v->in->widths)
		all.width = v->in->widths(v->in->ctx, &j->aside.stop);
	window = all;
	window.first = j->want.first;
	window.n = j->want.n;
	j->rc = 0;
	if (j->want.selected) {
		j->rc = select_part(v, &work, &part);
		part.width = all.width;
		window = part;
	}
	if (!j->rc && sharing)
		j->rc = ty_sharing_find(&window, v->in->line_bytes, &work, &j->sharing);
	else if (!j->rc)
		j->rc = ty_memory_count(&window, by[j->want.by], NULL, TABLE_ROWS, &work,
					&j->table);
	if (!j->rc && j->want.choosing && j->want.at < (int)j->sharing.lines_n)
		j->rc = choose_line(v, &all, &work, j);
	if (!j->rc)
		learn_names(v, &work);
	ty_mem_points_fini(&part);
}

static void make_strips(void *ctx)
{
	struct ty_memory_view *v = ctx;
	struct ty_memory_strips_job *h = &v->heats;
	const struct ty_mem_work work = {v->in->work_bytes, &h->aside.stop};

	h->rc = ty_mem_heat_new(v->points, h->by, &work, &h->heat);
}

static void find_news(void *ctx)
{
	struct ty_memory_view *v = ctx;
	const struct ty_mem_work work = {v->in->work_bytes, &v->news.aside.stop};
	struct ty_mem_points all = *v->in->points;

	if (v->in->widths)
		all.width = v->in->widths(v->in->ctx, &v->news.aside.stop);
	if (ty_sharing_find(&all, v->in->line_bytes, &work, &v->news.found))
		ty_sharing_fini(&v->news.found);
}

static void drop(struct ty_memory_job *j)
{
	ty_memory_fini(&j->table);
	ty_sharing_fini(&j->sharing);
	ty_memory_line_drop(&j->line);
}

void ty_memory_count_forget(struct ty_memory_view *v)
{
	if (ty_background_stop(&v->job.aside))
		drop(&v->job);
}

void ty_memory_strips_drop(struct ty_memory_view *v)
{
	if (ty_background_stop(&v->heats.aside))
		ty_mem_heat_free(v->heats.heat);
	v->heats.heat = NULL;
	for (unsigned by = 0; by < 2; by++) {
		ty_mem_heat_free(v->heat[by]);
		v->heat[by] = NULL;
	}
	v->strips.n = 0;
}

void ty_memory_count_stop(struct ty_memory_view *v)
{
	ty_memory_count_forget(v);
	ty_background_stop(&v->news.aside);
	ty_sharing_fini(&v->news.found);
	ty_memory_strips_drop(v);
}

/* Another window has other lines: the chosen row is still that of the line above. */
static void find_line(struct ty_memory_view *v)
{
	for (uint32_t i = 0; i < v->sharing.lines_n; i++)
		if (same_line(&v->line.line, &v->sharing.lines[i]))
			v->at = (int)i;
}

static void take(struct ty_memory_view *v)
{
	struct ty_memory_job *j = &v->job;

	ty_memory_fini(&v->table);
	ty_sharing_fini(&v->sharing);
	v->table = j->table;
	v->sharing = j->sharing;
	j->table = (struct ty_memory_table){0};
	j->sharing = (struct ty_sharing){0};
	v->failed = j->rc != 0;
	v->counted = true;
	if (j->line.made) {
		ty_memory_line_drop(&v->line);
		v->line = j->line;
		j->line = (struct ty_memory_line){0};
	}
	if (v->pane == TY_MEMORY_LINE && !j->want.choosing)
		find_line(v);
	v->choosing &= !j->want.choosing;
	drop(j);
}

bool ty_memory_wants_strips(const struct ty_memory_view *v)
{
	bool cpus = v->pane == TY_MEMORY_CPUS;

	return (cpus || v->pane == TY_MEMORY_THREADS) && !v->heat[cpus] && !v->failed;
}

bool ty_memory_count_step(struct ty_memory_view *v)
{
	struct ty_memory_want want = wanted(v);
	bool changed = false;

	if (v->job.aside.on && !same_want(&want, &v->job.want))
		ty_memory_count_forget(v);
	if (!v->counted && !v->job.aside.on) {
		v->job.want = want;
		ty_background_start(&v->job.aside, v->in->aside, count, v);
	}
	if (ty_background_wait(&v->job.aside, 0)) {
		take(v);
		changed = true;
	}
	if (!v->news.begun && !v->job.aside.on) { /* one after the other: both may read widths */
		v->news.begun = true;
		ty_background_start(&v->news.aside, v->in->aside, find_news, v);
	}
	if (ty_background_wait(&v->news.aside, 0)) {
		v->news.sharing = v->news.found;
		v->news.found = (struct ty_sharing){0};
		changed = true;
	}
	if (ty_memory_wants_strips(v) && !v->heats.aside.on) {
		v->heats.by = v->pane == TY_MEMORY_CPUS ? TY_MEM_HEAT_CPU : TY_MEM_HEAT_THREAD;
		ty_background_start(&v->heats.aside, v->in->aside, make_strips, v);
	}
	if (ty_background_wait(&v->heats.aside, 0)) {
		v->heat[v->heats.by] = v->heats.heat;
		v->heats.heat = NULL;
		v->failed |= v->heats.rc != 0;
		v->refill = true;
		changed = true;
	}
	return changed;
}
