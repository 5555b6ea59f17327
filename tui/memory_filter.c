/* SPDX-License-Identifier: MIT */
/*
 * The memory view's filter: only samples that match are shown and counted. It makes a selection of
 * the points in a thread, which then takes the place of all of them; the shared lines, which need
 * the accesses of every thread, are still found in all.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "memory_priv.h"
#include "query_word.h"

/* In the thread. */
static void make(void *ctx)
{
	struct ty_memory_view *v = ctx;
	struct ty_memory_filter *f = &v->filter;
	const struct ty_mem_points *p = v->in->points;
	struct ty_mem_point rows[TY_BLOCK_ROWS];
	const struct ty_mem_work work = {.stop = &f->aside.stop};
	uint32_t n;

	f->rc = ty_mem_points_part(&f->made, p, v->in->work_bytes);
	for (uint64_t at = 0; !f->rc && at < p->n; at += n) {
		n = ty_mem_points_rows(p, at, TY_MEM_WANT_ALL, rows);
		if (!n || ty_mem_stopped(&work))
			f->rc = -TY_EINTR;
		for (uint32_t i = 0; !f->rc && i < n; i++)
			if (ty_memory_query_has(f->wanted, &rows[i]))
				f->rc = ty_mem_points_take(&f->made, &rows[i]);
	}
	f->rc = f->rc ? f->rc : ty_mem_points_end(&f->made);
}

/* From now on these are the points; what was made of others goes. */
static void use(struct ty_memory_view *v, const struct ty_mem_points *points)
{
	ty_memory_count_forget(v);
	ty_memory_strips_drop(v);
	v->points = points;
	v->selecting = v->held = v->dragging = false;
	v->filled = v->counted = v->failed = false;
	v->at = v->top = v->row = v->strip_top = 0;
}

static void stop(struct ty_memory_filter *f)
{
	if (ty_background_stop(&f->aside))
		ty_mem_points_fini(&f->made);
	ty_memory_query_free(f->wanted);
	f->wanted = NULL;
}

static void drop(struct ty_memory_view *v)
{
	struct ty_memory_filter *f = &v->filter;

	if (v->points != v->in->points)
		use(v, v->in->points);
	ty_mem_points_fini(&f->points);
	ty_memory_query_free(f->query);
	f->query = NULL;
}

void ty_memory_filter_fini(struct ty_memory_view *v)
{
	stop(&v->filter);
	drop(v);
}

/* Made: it is in force, unless nothing matches. */
static void take(struct ty_memory_view *v)
{
	struct ty_memory_filter *f = &v->filter;

	if (f->rc || !f->made.n || f->made.sum.no_time == f->made.sum.samples) {
		const char *text = ty_memory_query_text(f->wanted), *number = ty_tid_meant(text);

		snprintf(v->message, sizeof(v->message),
			 f->rc	  ? "out of memory for the filter '%s'"
			 : number ? "no sample matches '%s'; nothing is changed (tid:%s is the "
				    "thread with that number)"
				  : "no sample matches '%s'; nothing is changed",
			 text, number);
		ty_mem_points_fini(&f->made);
		ty_memory_query_free(f->wanted);
		f->wanted = NULL;
		return;
	}
	drop(v);
	f->points = f->made;
	f->made = (struct ty_mem_points){0};
	f->query = f->wanted;
	f->wanted = NULL;
	use(v, &f->points);
	snprintf(v->message, sizeof(v->message),
		 "%" PRIu64 " of %" PRIu64 " samples shown; f, then Enter, shows all%s",
		 f->points.n, v->in->points->n,
		 v->by == TY_MEMORY_OF_SHARING ? "; shared lines are of all samples" : "");
}

void ty_memory_filter(struct ty_memory_view *v, const char *text)
{
	struct ty_memory_filter *f = &v->filter;
	struct ty_err err = {0};

	stop(f);
	if (!text[strspn(text, " ")]) {
		drop(v);
		return;
	}
	if (ty_memory_query_new(v->in->points, text, &f->wanted, &err)) {
		snprintf(v->message, sizeof(v->message), "%.190s", err.msg);
		return;
	}
	snprintf(v->message, sizeof(v->message), "filtering by '%s'", text);
	ty_background_start(&f->aside, v->in->aside, make, v);
	ty_memory_filter_step(v);
}

bool ty_memory_filter_step(struct ty_memory_view *v)
{
	if (!ty_background_wait(&v->filter.aside, 0))
		return false;
	v->message[0] = 0;
	take(v);
	return true;
}

const char *ty_memory_filter_text(const struct ty_memory_view *v)
{
	return v->filter.query ? ty_memory_query_text(v->filter.query) : NULL;
}
