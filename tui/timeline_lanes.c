/* SPDX-License-Identifier: MIT */
/*
 * Lanes of measurements on the timeline: CPU samples and performance counters under threads and
 * CPUs: a lane for each counter and each ratio of two. Read in a thread when the recording is
 * opened; functions of samples are read when the cursor first stands on a lane of them.
 *
 * Budget: a cell costs log(samples) and log(readings).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "counter_measures.h"
#include "glyphs.h"
#include "sample_marks.h"
#include "samples.h"
#include "timeline_priv.h"
#include "units.h"

static void load(void *ctx)
{
	struct ty_timeline *t = ctx;
	struct ty_timeline_lanes *l = &t->lanes;

	l->rc = l->host->lanes_load(l->host->ctx, &l->aside.stop, &l->marks, &l->counts, &l->err);
	ty_counts_free(l->cpu_counts);
	/* Out of memory: CPUs have no lanes of them. */
	l->cpu_counts = l->rc || !l->counts ? NULL : ty_counts_of_cpus(l->counts);
}

static void load_names(void *ctx)
{
	struct ty_timeline *t = ctx;
	struct ty_timeline_lanes *l = &t->lanes;
	struct ty_err err = {0};

	l->names_failed =
		l->host->functions_load(l->host->ctx, &l->names_aside.stop, &l->names, &err) ||
		!l->names;
}

void ty_timeline_lanes_begin(struct ty_timeline *t)
{
	t->lanes.host = &t->in->host;
	if (t->in->host.lanes_load)
		ty_background_start(&t->lanes.aside, t->in->aside, load, t);
}

/* A thread's number is another's before and after its life. */
static void clip_to_life(const struct ty_timeline *t, uint32_t thread, uint64_t *from, uint64_t *to)
{
	const struct ty_thread *th = ty_model_thread(t->m, thread);

	*from = *from > th->start_ns ? *from : th->start_ns;
	*to = *to < th->end_ns + 1 ? *to : th->end_ns + 1;
}

struct ty_count_sum ty_timeline_counted(const struct ty_timeline *t, uint32_t thread, uint64_t from,
					uint64_t to)
{
	const struct ty_counts *c = t->lanes.counts;
	struct ty_count_sum s = {0};
	size_t first, end;

	if (!c)
		return s;
	clip_to_life(t, thread, &from, &to);
	ty_counts_of(c, ty_model_thread(t->m, thread)->tid, &first, &end);
	ty_counts_sum(c, first, end, from, to, &s);
	return s;
}

struct ty_count_sum ty_timeline_cpu_counted(const struct ty_timeline *t, uint32_t cpu,
					    uint64_t from, uint64_t to)
{
	const struct ty_counts *c = t->lanes.cpu_counts;
	struct ty_count_sum s = {0};
	size_t first, end;

	if (!c)
		return s;
	ty_counts_of(c, (int32_t)cpu, &first, &end);
	ty_counts_sum(c, first, end, from, to, &s);
	return s;
}

void ty_timeline_lanes_map(struct ty_timeline *t)
{
	struct ty_timeline_lanes *l = &t->lanes;
	const uint32_t threads = ty_model_summary(t->m)->threads,
		       cpus = ty_model_summary(t->m)->cpus;
	uint8_t *of_thread = calloc((size_t)threads + 1, 1), *of_cpu = calloc((size_t)cpus + 1, 1);

	for (uint32_t i = 0; of_thread && i < threads; i++) {
		const struct ty_thread *th = ty_model_thread(t->m, i);

		if (l->marks && ty_sample_marks_count(l->marks, TY_MARKS_THREAD, (uint32_t)th->tid,
						      th->start_ns, th->end_ns + 1))
			of_thread[i] |= TY_LANE_SAMPLES;
		if (ty_timeline_counted(t, i, 0, UINT64_MAX).on_ns)
			of_thread[i] |= TY_LANE_COUNTERS;
	}
	for (uint32_t i = 0; of_cpu && i < cpus; i++) {
		if (l->marks && ty_sample_marks_count(l->marks, TY_MARKS_CPU, i, 0, UINT64_MAX))
			of_cpu[i] |= TY_LANE_SAMPLES;
		if (ty_timeline_cpu_counted(t, i, 0, UINT64_MAX).readings)
			of_cpu[i] |= TY_LANE_COUNTERS;
	}
	ty_tracks_lanes(&t->tracks, of_thread, of_cpu, l->counts ? ty_count_measures(l->counts) : 0,
			l->counts && l->counts->intervals);
}

bool ty_timeline_lanes_loaded(struct ty_timeline *t, unsigned ms)
{
	struct ty_place at = ty_timeline_place(t);
	struct ty_timeline_lanes *l = &t->lanes;

	if (ty_background_wait(&l->names_aside, 0))
		return true;
	if (ty_timeline_keeps_rows(t) || !ty_background_wait(&l->aside, ms))
		return false;
	if (l->rc)
		ty_timeline_say(t, "%s", l->err.msg);
	else
		ty_timeline_lanes_map(t);
	t->vp.here = at;
	ty_timeline_restore(t);
	return true;
}

static int wait_ms(const struct ty_timeline *t)
{
	return t->lanes.aside.on || t->lanes.names_aside.on ? TY_LAYER_POLL_MS : -1;
}

static bool work(struct ty_timeline *t)
{
	return ty_timeline_lanes_loaded(t, 0);
}

static void fini(struct ty_timeline *t)
{
	ty_background_stop(&t->lanes.aside);
	ty_background_stop(&t->lanes.names_aside);
	ty_counts_free(t->lanes.cpu_counts);
	t->lanes.cpu_counts = NULL;
}

static uint64_t samples_in(const struct ty_timeline *t, const struct ty_row *r, uint64_t from,
			   uint64_t to)
{
	if (r->kind == TY_ROW_CPU_SAMPLES)
		return ty_sample_marks_count(t->lanes.marks, TY_MARKS_CPU, r->id, from, to);
	clip_to_life(t, r->id, &from, &to);
	return from < to ? ty_sample_marks_count(t->lanes.marks, TY_MARKS_THREAD,
						 (uint32_t)ty_model_thread(t->m, r->id)->tid, from,
						 to)
			 : 0;
}

static bool of_counters(const struct ty_row *r)
{
	return r->kind == TY_ROW_COUNTER || r->kind == TY_ROW_CPU_COUNTER;
}

static struct ty_count_sum sum_in(const struct ty_timeline *t, const struct ty_row *r,
				  uint64_t from, uint64_t to)
{
	return r->kind == TY_ROW_COUNTER ? ty_timeline_counted(t, r->id, from, to)
					 : ty_timeline_cpu_counted(t, r->id, from, to);
}

/* A cell shorter than the reading that it is in: to all of that. */
static void widen(const struct ty_timeline *t, const struct ty_row *r, uint64_t *from, uint64_t *to)
{
	const bool thread = r->kind == TY_ROW_COUNTER;
	const struct ty_counts *c = thread ? t->lanes.counts : t->lanes.cpu_counts;
	size_t first, end;

	if (!c)
		return;
	ty_counts_of(c, thread ? ty_model_thread(t->m, r->id)->tid : (int32_t)r->id, &first, &end);
	ty_counts_widen(c, first, end, from, to);
}

/* A ratio as it is; of a counter, scaled events per second on a CPU; of a clock, per second of the
 * cell. Negative: nothing ran, or nothing counted. */
static double rate_of(const struct ty_counts *c, const struct ty_count_sum *s, unsigned i,
		      uint64_t cell_ns)
{
	bool estimated;
	double v;

	if (!s->on_ns || !ty_count_measure(c, s, i, &v, &estimated))
		return -1;
	if (i >= c->n)
		return v;
	return v * 1e9 / (double)(c->def[i].is_time && cell_ns ? cell_ns : s->on_ns);
}

static void put(const struct ty_timeline *t, struct ty_grid *g, int x, int y, struct ty_glyph gl)
{
	ty_grid_put(g, t->lay.cells_x + x, y, gl.ch, gl.st);
}

/* A sample is a low bar; more than one, up to a CPU that was sampled all the time, are higher. */
static void draw_samples(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p,
			 const struct ty_row *r, int y)
{
	const uint32_t w = (uint32_t)t->lay.cells_w;
	const uint64_t period = t->lanes.marks->period_ns;

	for (uint32_t i = 0; i < w; i++) {
		const uint64_t from = ty_viewport_edge(&t->vp, i, w),
			       to = ty_viewport_edge(&t->vp, i + 1, w),
			       n = samples_in(t, r, from, to);
		const double full = period ? (double)(to - from) / (double)period : 8;
		const double e = full < 8 ? (double)n : 8 * (double)n / full;

		if (n)
			put(t, g, (int)i, y,
			    ty_glyph_bar(p,
					 e < 1	 ? 1
					 : e > 8 ? 8
						 : (unsigned)(e + 0.5),
					 TY_C_RUNNING));
	}
}

/* The highest bar is the highest rate of the window. Where the thread ran without any, a dot. */
static void draw_counter(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p,
			 const struct ty_row *r, int y)
{
	const uint32_t w = (uint32_t)t->lay.cells_w;
	double rate[TY_GRID_MAX], most = 0;

	for (uint32_t i = 0; i < w; i++) {
		uint64_t from = ty_viewport_edge(&t->vp, i, w),
			 to = ty_viewport_edge(&t->vp, i + 1, w);
		struct ty_count_sum s;

		widen(t, r, &from, &to);
		s = sum_in(t, r, from, to);
		rate[i] = rate_of(t->lanes.counts, &s, r->sub, to - from);
		most = rate[i] > most ? rate[i] : most;
	}
	for (uint32_t i = 0; i < w; i++) {
		if (rate[i] > 0)
			put(t, g, (int)i, y,
			    ty_glyph_bar(p, 1 + (unsigned)(7 * rate[i] / most + 0.5), TY_C_ACCENT));
		else if (rate[i] >= 0)
			ty_grid_put(g, t->lay.cells_x + (int)i, y, p->utf8 ? 0xb7 : '.',
				    ty_palette_role(p, TY_ROLE_DIM));
	}
}

void ty_timeline_lane_row(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p,
			  const struct ty_row *r, int y)
{
	if (of_counters(r))
		draw_counter(t, g, p, r, y);
	else
		draw_samples(t, g, p, r, y);
}

void ty_timeline_lane_name(const struct ty_timeline *t, const struct ty_row *r, bool utf8,
			   char *out, size_t n)
{
	snprintf(out, n, "%s%s", utf8 ? "└ " : "` ",
		 of_counters(r) ? ty_count_measure_name(t->lanes.counts, r->sub) : "samples");
}

/* The function that most samples of the row in [from, to) were in, and how many; NULL: none has a
 * name. */
static const char *function_in(const struct ty_timeline *t, const struct ty_row *r, uint64_t from,
			       uint64_t to, uint64_t *most)
{
	const struct ty_samples *s = t->lanes.names;
	enum { FUNCS = 64 };
	struct {
		uint32_t func;
		uint64_t n;
	} seen[FUNCS];
	unsigned k = 0, best = 0;
	size_t first, end;

	ty_samples_range(s, from, to, &first, &end);
	for (size_t i = first; i < end; i++) {
		const struct ty_sample *x = &s->v.v[i];
		uint32_t func;
		unsigned at = 0;

		if (!x->node ||
		    (r->kind == TY_ROW_CPU_SAMPLES ? x->cpu != r->id
						   : x->tid != ty_model_thread(t->m, r->id)->tid))
			continue;
		func = s->frames.v[s->nodes.v[x->node].frame].func;
		while (at < k && seen[at].func != func)
			at++;
		if (at == FUNCS)
			continue;
		if (at == k) {
			seen[k].func = func;
			seen[k++].n = 0;
		}
		best = ++seen[at].n > seen[best].n ? at : best;
	}
	*most = k ? seen[best].n : 0;
	return k && s->funcs.v[seen[best].func].name
		       ? ty_samples_str(s, s->funcs.v[seen[best].func].name)
		       : NULL;
}

static void samples_text(struct ty_timeline *t, const struct ty_row *r, uint64_t from, uint64_t to,
			 char *out, size_t n)
{
	struct ty_timeline_lanes *l = &t->lanes;
	uint64_t seen, most = 0;
	const char *name;
	size_t k;

	if (r->kind == TY_ROW_SAMPLES)
		clip_to_life(t, r->id, &from, &to);
	seen = samples_in(t, r, from, to);
	if (!seen) {
		snprintf(out, n, "no CPU sample in this cell");
		return;
	}
	k = (size_t)snprintf(out, n, "%" PRIu64 " CPU sample%s in this cell", seen,
			     seen == 1 ? "" : "s");
	if (!l->names && !l->names_failed && !l->names_aside.on && l->host->functions_load) {
		ty_background_start(&l->names_aside, t->in->aside, load_names, t);
		ty_background_wait(&l->names_aside, 0);
	}
	if (l->names_aside.on) {
		snprintf(out + k, n - k, "; reading the functions");
	} else if (l->names) {
		name = function_in(t, r, from, to, &most);
		snprintf(out + k, n - k, ", %" PRIu64 " in %s (F: flame graph)", most,
			 name ? name : "a function without a name");
	}
}

static void counter_text(const struct ty_timeline *t, const struct ty_row *r, uint64_t from,
			 uint64_t to, char *out, size_t n)
{
	const struct ty_counts *c = t->lanes.counts;
	const struct ty_count_sum s = sum_in(t, r, from, to);
	const uint32_t group = ty_count_measure_group(c, r->sub);
	const uint64_t enabled = s.enabled[group], running = s.running[group];
	const char *name = ty_count_measure_name(c, r->sub);
	char a[TY_COUNT_MAX + TY_DURATION_MAX], b[TY_COUNT_TEXT], on[64];

	if (!s.readings) {
		snprintf(out, n, "%s: %s in this cell", name,
			 r->kind == TY_ROW_COUNTER ? "the thread did not run"
						   : "no counted thread ran");
		return;
	}
	if (enabled && !running) {
		snprintf(out, n, "%s: not counted here: other events used the counters", name);
		return;
	}
	ty_count_measure_text(c, &s, r->sub, b);
	snprintf(on, sizeof(on), "in %s on a CPU%s",
		 ty_fmt_duration(s.on_ns, (char[TY_DURATION_MAX]){0}),
		 s.cut ? " (readings split by time)" : "");
	if (r->sub >= c->n)
		snprintf(out, n, "%s: %s%s %s", name, b,
			 running < enabled ? " (an estimate: of a part of the time)" : "", on);
	else if (running < enabled)
		snprintf(out, n,
			 "%s: %s counted, %s scaled (an estimate: counting %.1f%% of the time) %s",
			 name,
			 c->def[r->sub].is_time ? ty_fmt_duration(s.v[r->sub], a)
						: ty_fmt_count(s.v[r->sub], a),
			 b, 100.0 * (double)running / (double)enabled, on);
	else
		snprintf(out, n, "%s: %s %s", name, b, on);
}

void ty_timeline_lane_text(struct ty_timeline *t, const struct ty_row *r, char *out, size_t n)
{
	const uint32_t w = ty_timeline_cells(t), x = ty_viewport_column(&t->vp, t->cursor_ns, w);
	const uint64_t from = ty_viewport_edge(&t->vp, x, w),
		       to = ty_viewport_edge(&t->vp, x + 1, w);

	if (of_counters(r))
		counter_text(t, r, from, to, out, n);
	else
		samples_text(t, r, from, to, out, n);
}

const struct ty_layer ty_lanes_layer = {.wait_ms = wait_ms, .work = work, .fini = fini};
