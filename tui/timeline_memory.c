/* SPDX-License-Identifier: MIT */
/*
 * Memory samples of the recording on its timeline: read in a thread when it is opened; then each
 * thread and CPU with samples gets a strip (memory_glyphs.h) under its row, and y opens the memory
 * view for the window or the selection. A CPU's strip is shown when its row is unfolded; the CPUs'
 * strips (4.4 bytes per sample) are computed when the first one is shown.
 */
#include <stdio.h>
#include <stdlib.h>

#include "memory_glyphs.h"
#include "timeline_priv.h"

/* Strips that are shown without a request. */
#define OPEN_MOST 16u

/* Which CPUs have samples on the time axis. */
static uint8_t *sampled_cpus(const struct ty_mem_points *p, const atomic_bool *stop)
{
	const struct ty_mem_work work = {.stop = stop};
	struct ty_mem_point rows[TY_BLOCK_ROWS];
	uint8_t *has = calloc(UINT16_MAX + 1, 1);
	uint32_t n;

	for (uint64_t at = 0; has && !ty_mem_stopped(&work) &&
			      (n = ty_mem_points_rows(p, at, TY_MEM_WANT_CPU, rows));
	     at += n)
		for (uint32_t i = 0; i < n; i++)
			has[rows[i].cpu] |= !!(rows[i].flags & TY_MP_HAS_TIME);
	if (has)
		has[UINT16_MAX] = 0; /* not known */
	return has;
}

static void load(void *ctx)
{
	struct ty_timeline *t = ctx;
	struct ty_timeline_memory *m = &t->memory;

	m->rc = m->host->memory_load(m->host->ctx, &m->aside.stop, &m->in, &m->err);
	if (!m->rc && ty_mem_heat_new(m->in->points, TY_MEM_HEAT_THREAD,
				      &(struct ty_mem_work){.stop = &m->aside.stop}, &m->heat))
		m->rc = ty_fail(&m->err, TY_ENOMEM, TY_NO_OFFSET,
				"out of memory for the strips of memory samples");
	if (m->heat)
		m->cpus = sampled_cpus(m->in->points, &m->aside.stop);
}

static void load_cpus(void *ctx)
{
	struct ty_timeline *t = ctx;
	struct ty_timeline_memory *m = &t->memory;
	const struct ty_mem_work work = {.stop = &m->cpus_aside.stop};

	m->cpus_failed = ty_mem_heat_new(m->in->points, TY_MEM_HEAT_CPU, &work, &m->cpu_heat) != 0;
}

void ty_timeline_memory_begin(struct ty_timeline *t)
{
	struct ty_timeline_memory *m = &t->memory;

	if (!t->in->host.memory_load)
		return;
	m->host = &t->in->host;
	ty_background_start(&m->aside, t->in->aside, load, t);
}

int ty_timeline_memory_map(struct ty_timeline *t)
{
	struct ty_timeline_memory *m = &t->memory;
	uint32_t threads = ty_model_summary(t->m)->threads, *strip;

	/* While they are read they are the thread's; they are mapped when that is over. */
	if (m->aside.on || !m->heat)
		return 0;
	strip = malloc(((size_t)threads + 1) * sizeof(*strip));
	if (!strip)
		return -TY_ENOMEM;
	for (uint32_t i = 0; i < threads; i++)
		strip[i] = TY_NONE;
	for (uint32_t i = 0; i < ty_mem_heat_strips(m->heat); i++) {
		uint64_t first = ty_mem_heat_first_ns(m->heat, i);
		uint32_t thread =
			first == UINT64_MAX
				? TY_NONE
				: ty_model_thread_find(t->m, m->in->points->thread[i].tid, first);

		if (thread < threads && strip[thread] == TY_NONE)
			strip[thread] = i;
	}
	free(m->strip);
	m->strip = strip;
	m->strips = threads;
	ty_tracks_sampled(&t->tracks, strip, OPEN_MOST, m->cpus);
	return 0;
}

bool ty_timeline_memory_loaded(struct ty_timeline *t, unsigned ms)
{
	struct ty_timeline_memory *m = &t->memory;
	struct ty_place at = ty_timeline_place(t);

	if (ty_background_wait(&m->cpus_aside, 0)) {
		if (m->cpus_failed)
			ty_timeline_say(t, "out of memory for the CPUs' strips of memory samples");
		return true;
	}
	if (ty_timeline_keeps_rows(t) || !ty_background_wait(&m->aside, ms))
		return false;
	if (!m->rc && ty_timeline_memory_map(t))
		m->rc = ty_fail(&m->err, TY_ENOMEM, TY_NO_OFFSET,
				"out of memory for the strips of memory samples");
	if (m->rc && m->rc != -TY_ENOTFOUND)
		ty_timeline_say(t, "%s", m->err.msg);
	t->vp.here = at;
	ty_timeline_restore(t);
	return true;
}

static int memory_wait_ms(const struct ty_timeline *t)
{
	return t->memory.aside.on || t->memory.cpus_aside.on ? TY_LAYER_POLL_MS : -1;
}

static bool memory_work(struct ty_timeline *t)
{
	return ty_timeline_memory_loaded(t, 0);
}

/* The row's strip and its kind; NULL: none (yet). */
static const struct ty_mem_heat *strip_of(const struct ty_timeline *t, const struct ty_row *r,
					  uint32_t *strip)
{
	const struct ty_timeline_memory *m = &t->memory;

	if (r->kind == TY_ROW_CPU_MEMORY) {
		*strip = r->id;
		return m->cpus_aside.on ? NULL : m->cpu_heat;
	}
	*strip = m->strip && r->id < m->strips ? m->strip[r->id] : TY_NONE;
	return *strip == TY_NONE ? NULL : m->heat;
}

/* As it was chosen here, or in the view of them. */
static bool by_source(const struct ty_timeline *t)
{
	const struct ty_timeline_memory *m = &t->memory;

	return m->view ? ty_memory_view_by_source(m->view) : m->by_source;
}

void ty_timeline_memory_recolour(struct ty_timeline *t)
{
	struct ty_timeline_memory *m = &t->memory;

	m->by_source = !by_source(t);
	if (m->view)
		ty_memory_view_colours(m->view, m->by_source);
}

void ty_timeline_memory_colours(const struct ty_timeline *t, char *what, char *other, size_t n)
{
	bool source = by_source(t);

	snprintf(what, n, "%s",
		 source ? "colors: ? grey unknown, c green own cache, m yellow memory, o red other "
			  "core"
			: "colors: number of samples (4, 16, 128 and more)");
	snprintf(other, n, "Enter: colors by %s; Space folds",
		 source ? "number of samples" : "the farthest source");
}

void ty_timeline_memory_row(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p,
			    const struct ty_row *r, int y)
{
	struct ty_timeline_memory *m = &t->memory;
	struct ty_mem_heat_cell cell[TY_GRID_MAX];
	const struct ty_mem_heat *heat;
	uint32_t strip;

	if (r->kind == TY_ROW_CPU_MEMORY && !m->cpu_heat && !m->cpus_aside.on && !m->cpus_failed) {
		ty_background_start(&m->cpus_aside, t->in->aside, load_cpus, t);
		ty_background_wait(&m->cpus_aside, 0);
	}
	heat = strip_of(t, r, &strip);
	if (!heat) {
		ty_grid_text(g, t->lay.cells_x, y, t->lay.cells_w,
			     m->cpus_failed ? "out of memory" : "reading the samples",
			     ty_palette_role(p, TY_ROLE_DIM));
		return;
	}
	ty_mem_heat_cells(heat, strip, t->vp.from_ns, t->vp.to_ns, (uint32_t)t->lay.cells_w, cell);
	for (int i = 0; i < t->lay.cells_w; i++) {
		struct ty_glyph gl = ty_memory_glyph(p, &cell[i], by_source(t));

		ty_grid_put(g, t->lay.cells_x + i, y, gl.ch, gl.st);
	}
}

void ty_timeline_memory_text(const struct ty_timeline *t, const struct ty_row *r, char *out,
			     size_t n)
{
	static const char *const far[] = {"unknown", "a cache of the same core", "memory",
					  "another core or socket"};
	uint32_t strip, w = ty_timeline_cells(t), x = ty_viewport_column(&t->vp, t->cursor_ns, w);
	uint64_t from = ty_viewport_edge(&t->vp, x, w), to = ty_viewport_edge(&t->vp, x + 1, w);
	const struct ty_mem_heat *heat = strip_of(t, r, &strip);
	struct ty_mem_heat_cell c = {0};
	char lat[40] = "";

	if (heat)
		ty_mem_heat_cells(heat, strip, from, to, 1, &c);
	if (c.timed)
		snprintf(lat, sizeof(lat), ", the longest %s%u cycles",
			 c.worst == UINT16_MAX ? "at least " : "", c.worst);
	if (c.n)
		snprintf(out, n,
			 "%u memory sample%s in this cell%s; the farthest source: %s; y shows "
			 "them all",
			 c.n, c.n == 1 ? "" : "s", lat, far[c.far]);
	else if (heat)
		snprintf(out, n,
			 "no memory sample in this cell (only one in many operations is sampled)");
	else
		snprintf(out, n, "%s",
			 t->memory.cpus_failed ? "out of memory for the CPUs' strips"
					       : "reading the samples");
}

bool ty_timeline_memory_open(struct ty_timeline *t)
{
	struct ty_timeline_memory *m = &t->memory;
	uint64_t from = t->vp.from_ns, to = t->vp.to_ns;
	uint32_t first, last;
	struct ty_err err = {0};

	if (m->aside.on) {
		ty_timeline_say(t, "still reading the memory samples");
		return false;
	}
	if (!m->heat) {
		if (m->rc && m->rc != -TY_ENOTFOUND)
			ty_timeline_say(t, "%s", m->err.msg);
		else
			ty_timeline_say(t, "this recording has no memory samples: record with "
					   "--memory, or view a perf.data file that has some");
		return false;
	}
	if (!m->view) {
		if (ty_memory_view_new(m->in, &m->view, &err)) {
			ty_timeline_say(t, "%s", err.msg);
			return false;
		}
		ty_memory_view_colours(m->view, m->by_source);
	}
	ty_timeline_selected(t, &from, &to, &first, &last);
	/* It may have been read for the recording's begin only. */
	ty_memory_view_extend(m->view, t->vp.start_ns, t->vp.end_ns);
	ty_memory_view_show(m->view, from, to, t->cursor_ns);
	return ty_timeline_push(t, &ty_memory_view_ops, m->view, NULL);
}

static void memory_fini(struct ty_timeline *t)
{
	struct ty_timeline_memory *m = &t->memory;

	ty_background_stop(&m->aside);
	ty_background_stop(&m->cpus_aside);
	ty_memory_view_free(m->view);
	ty_mem_heat_free(m->heat);
	ty_mem_heat_free(m->cpu_heat);
	free(m->strip);
	free(m->cpus);
	t->tracks.cpu_samples = NULL;
	m->view = NULL;
	m->heat = m->cpu_heat = NULL;
	m->cpus = NULL;
	m->strip = NULL;
}

const struct ty_layer ty_memory_layer = {
	.wait_ms = memory_wait_ms, .work = memory_work, .fini = memory_fini};
