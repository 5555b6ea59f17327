/* SPDX-License-Identifier: MIT */
/*
 * Memory samples of the recording on its timeline: they are read in a thread when it is opened;
 * then each thread that has some gets a strip (heat.h) under its row, and y opens the memory view
 * on the window or the selected time.
 */
#include <stdio.h>
#include <stdlib.h>

#include "heat.h"
#include "timeline_priv.h"

/* Strips that are shown without being asked for. */
#define OPEN_MOST 16u

static void load(void *ctx)
{
	struct ty_timeline *t = ctx;
	struct ty_timeline_memory *m = &t->memory;

	m->rc = m->load(m->source, &m->aside.stop, &m->in, &m->err);
	if (!m->rc && ty_mem_heat_new(m->in->points, TY_MEM_HEAT_THREAD,
				      &(struct ty_mem_work){.stop = &m->aside.stop}, &m->heat))
		m->rc = ty_fail(&m->err, TY_ENOMEM, TY_NO_OFFSET,
				"out of memory for the strips of memory samples");
}

void ty_timeline_memory_begin(struct ty_timeline *t)
{
	struct ty_timeline_memory *m = &t->memory;

	if (!t->in->memory_load)
		return;
	m->load = t->in->memory_load;
	m->source = t->in->memory;
	ty_aside_start(&m->aside, t->in->aside, load, t);
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
	ty_tracks_sampled(&t->tracks, strip, OPEN_MOST);
	return 0;
}

bool ty_timeline_memory_loaded(struct ty_timeline *t, unsigned ms)
{
	struct ty_timeline_memory *m = &t->memory;
	struct ty_place at = ty_timeline_place(t);

	/* A filter that is being made counts on the rows. */
	if (t->job == TY_JOB_FILTER || !ty_aside_wait(&m->aside, ms))
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

static uint32_t strip_of(const struct ty_timeline *t, uint32_t thread)
{
	return t->memory.strip && thread < t->memory.strips ? t->memory.strip[thread] : TY_NONE;
}

void ty_timeline_memory_row(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p,
			    uint32_t thread, int y)
{
	uint32_t strip = strip_of(t, thread);
	struct ty_mem_heat_cell cell[TY_GRID_MAX];
	/* As it was chosen in the view of them. */
	bool by_source = t->memory.view && ty_memory_view_by_source(t->memory.view);

	if (strip == TY_NONE)
		return;
	ty_mem_heat_cells(t->memory.heat, strip, t->vp.from_ns, t->vp.to_ns,
			  (uint32_t)t->lay.cells_w, cell);
	for (int i = 0; i < t->lay.cells_w; i++) {
		struct ty_glyph gl = ty_heat_glyph(p, &cell[i], by_source);

		ty_grid_put(g, t->lay.cells_x + i, y, gl.ch, gl.st);
	}
}

void ty_timeline_memory_text(const struct ty_timeline *t, uint32_t thread, char *out, size_t n)
{
	static const char *const far[] = {"not told", "a cache of its own core's", "memory",
					  "another core or socket"};
	uint32_t strip = strip_of(t, thread), w = ty_timeline_cells(t),
		 x = ty_viewport_column(&t->vp, t->cursor_ns, w);
	uint64_t from = ty_viewport_edge(&t->vp, x, w), to = ty_viewport_edge(&t->vp, x + 1, w);
	struct ty_mem_heat_cell c = {0};
	char lat[40] = "";

	if (strip != TY_NONE)
		ty_mem_heat_cells(t->memory.heat, strip, from, to, 1, &c);
	if (c.timed)
		snprintf(lat, sizeof(lat), ", the longest %s%u cycles",
			 c.worst == UINT16_MAX ? "at least " : "", c.worst);
	if (c.n)
		snprintf(out, n,
			 "%u memory sample%s in this cell%s; the farthest source: %s; y shows "
			 "them all",
			 c.n, c.n == 1 ? "" : "s", lat, far[c.far]);
	else
		snprintf(out, n,
			 "no memory sample in this cell: they are samples, one in so many "
			 "operations");
}

bool ty_timeline_memory_open(struct ty_timeline *t)
{
	struct ty_timeline_memory *m = &t->memory;
	uint64_t from = t->vp.from_ns, to = t->vp.to_ns;
	uint32_t first, last;
	struct ty_err err;

	if (m->aside.on) {
		ty_timeline_say(t, "the memory samples are still being read");
		return false;
	}
	if (!m->heat) {
		if (m->rc && m->rc != -TY_ENOTFOUND)
			ty_timeline_say(t, "%s", m->err.msg);
		else
			ty_timeline_say(t, "no memory samples in this recording: record them with "
					   "--memory, or view a perf.data file that holds some");
		return false;
	}
	if (!m->view && ty_memory_view_new(m->in, &m->view, &err)) {
		ty_timeline_say(t, "%s", err.msg);
		return false;
	}
	ty_timeline_selected(t, &from, &to, &first, &last);
	/* It may have been read for the recording's begin only. */
	ty_memory_view_extend(m->view, t->vp.start_ns, t->vp.end_ns);
	ty_memory_view_show(m->view, from, to, t->cursor_ns);
	m->opened = true;
	return true;
}

void ty_timeline_memory_fini(struct ty_timeline *t)
{
	struct ty_timeline_memory *m = &t->memory;

	ty_aside_stop(&m->aside);
	ty_memory_view_free(m->view);
	ty_mem_heat_free(m->heat);
	free(m->strip);
	m->view = NULL;
	m->heat = NULL;
	m->strip = NULL;
}
