/* SPDX-License-Identifier: MIT */
/* Queries of the timeline's state: the cursor's cell, row and span, names and formatted times.
 * Nothing here changes anything but the cursor within the window. */
#include <stdarg.h>
#include <stdio.h>

#include "glyphs.h"
#include "model_time.h"
#include "timeline_priv.h"
#include "process_titles.h"

bool ty_timeline_is_recorder(const struct ty_timeline *t, uint32_t thread)
{
	const int32_t pid = t->in->explain ? t->in->explain->recorder_pid : 0;

	return pid && ty_model_thread(t->m, thread)->tgid == pid;
}

const char *ty_timeline_thread_name(const struct ty_timeline *t, uint32_t thread, uint64_t at_ns,
				    char out[TY_THREAD_NAME_MAX])
{
	if (thread == TY_NONE)
		snprintf(out, TY_THREAD_NAME_MAX, "idle");
	else
		snprintf(out, TY_THREAD_NAME_MAX, "%s%s", ty_who(t->m, thread, at_ns),
			 ty_timeline_is_recorder(t, thread) ? " (recorder)" : "");
	return out;
}

const char *ty_timeline_thread_within(const struct ty_timeline *t, uint32_t thread, uint64_t at_ns,
				      int columns, char out[TY_THREAD_NAME_MAX])
{
	ty_timeline_thread_name(t, thread, at_ns, out);
	if (ty_text_width(out) > columns && thread != TY_NONE)
		ty_model_who_within(t->m, thread, at_ns, columns > 0 ? (unsigned)columns : 0, out);
	return out;
}

const char *ty_timeline_at(const struct ty_timeline *t, uint64_t ns, uint64_t res_ns,
			   char out[TY_TIME_MAX])
{
	return ty_time_text(t->m, t->clock, ns, res_ns, out);
}

bool ty_timeline_track(const struct ty_timeline *t, uint32_t row, struct ty_track *track)
{
	const struct ty_row *r;

	if (row >= t->tracks.rows.n)
		return false;
	r = &t->tracks.rows.v[row];
	track->id = r->id;
	switch (r->kind) {
	case TY_ROW_CPU: track->kind = TY_TRACK_CPU; return true;
	case TY_ROW_IRQS: track->kind = TY_TRACK_IRQS; return true;
	case TY_ROW_THREAD: track->kind = TY_TRACK_THREAD; return true;
	case TY_ROW_SYSCALLS: track->kind = TY_TRACK_SYSCALLS; return true;
	default: return false;
	}
}

uint32_t ty_timeline_cells(const struct ty_timeline *t)
{
	return t->lay.cells_w > 0 ? (uint32_t)t->lay.cells_w : 60;
}

uint32_t ty_timeline_cursor_column(const struct ty_timeline *t)
{
	return ty_viewport_column(&t->vp, t->cursor_ns, ty_timeline_cells(t));
}

/* Put the cursor into the middle of a cell. */
void ty_timeline_to_column(struct ty_timeline *t, uint32_t c)
{
	uint64_t a = ty_viewport_edge(&t->vp, c, ty_timeline_cells(t));
	uint64_t b = ty_viewport_edge(&t->vp, c + 1, ty_timeline_cells(t));

	t->cursor_ns = a + (b - a) / 2;
}

void ty_timeline_exact(struct ty_timeline *t)
{
	t->exact_ns = t->cursor_ns;
	t->pin.on = false;
}

uint32_t ty_timeline_span_at_instant(const struct ty_timeline *t, struct ty_track track)
{
	const uint64_t at = t->cursor_ns;
	struct ty_span s;
	uint32_t idx;

	if (t->exact_ns != at)
		return TY_NONE;
	if (t->pin.on && t->pin.track.kind == track.kind && t->pin.track.id == track.id)
		return t->pin.idx;
	switch (track.kind) {
	case TY_TRACK_THREAD: idx = ty_model_span_find(t->m, track.id, at); break;
	case TY_TRACK_CPU: idx = ty_model_cpu_span_find(t->m, track.id, at); break;
	case TY_TRACK_SYSCALLS: idx = ty_model_syscall_at(t->m, track.id, at); break;
	default: return TY_NONE; /* interrupts nest */
	}
	if (idx == TY_NONE)
		return TY_NONE;
	s = ty_track_span(t->m, track, idx);
	return s.start_ns <= at && at < s.end_ns ? idx : TY_NONE;
}

bool ty_timeline_subject(const struct ty_timeline *t, struct ty_track *track, struct ty_cell *cell,
			 uint32_t *idx, uint64_t *from_ns, uint64_t *to_ns)
{
	uint32_t c = ty_timeline_cursor_column(t), n = ty_timeline_cells(t), there;

	if (!ty_timeline_track(t, t->row, track))
		return false;
	*from_ns = ty_viewport_edge(&t->vp, c, n);
	*to_ns = ty_viewport_edge(&t->vp, c + 1, n);
	if (*to_ns <= *from_ns)
		*to_ns = *from_ns + 1;
	ty_model_cells(t->m, *track, *from_ns, *to_ns, 1, cell);
	*idx = ty_cell_subject(t->m, *track, cell, *from_ns, *to_ns);
	there = ty_timeline_span_at_instant(t, *track);
	if (there != TY_NONE)
		*idx = there;
	return *idx != TY_NONE;
}

void ty_timeline_pin(struct ty_timeline *t, struct ty_track track, uint32_t idx)
{
	ty_timeline_exact(t);
	t->pin.on = true;
	t->pin.track = track;
	t->pin.idx = idx;
}

void ty_timeline_clamp(struct ty_timeline *t)
{
	if (t->cursor_ns < t->vp.from_ns)
		t->cursor_ns = t->vp.from_ns;
	if (t->cursor_ns >= t->vp.to_ns)
		t->cursor_ns = t->vp.to_ns - 1;
}

struct ty_place ty_timeline_place(const struct ty_timeline *t)
{
	struct ty_place p = {.cursor_ns = t->cursor_ns};

	if (t->row < t->tracks.rows.n) {
		p.row_kind = t->tracks.rows.v[t->row].kind;
		p.row_id = t->tracks.rows.v[t->row].id;
	}
	return p;
}

uint32_t ty_timeline_row_thread(const struct ty_timeline *t)
{
	const struct ty_row *r = t->row < t->tracks.rows.n ? &t->tracks.rows.v[t->row] : NULL;

	if (r && (r->kind == TY_ROW_THREAD || r->kind == TY_ROW_SYSCALLS ||
		  r->kind == TY_ROW_MEMORY || r->kind == TY_ROW_FLOW || r->kind == TY_ROW_REGIONS ||
		  r->kind == TY_ROW_SAMPLES || r->kind == TY_ROW_COUNTER))
		return r->id;
	return r && r->kind == TY_ROW_PROCESS ? t->tracks.processes.v[r->id].leader : TY_NONE;
}

uint32_t ty_timeline_thread_here(const struct ty_timeline *t)
{
	uint32_t thread = ty_timeline_row_thread(t), idx;
	struct ty_track track;
	struct ty_cell cell;
	uint64_t from, to;

	if (thread == TY_NONE && ty_timeline_subject(t, &track, &cell, &idx, &from, &to) &&
	    track.kind == TY_TRACK_CPU)
		return ty_track_span(t->m, track, idx).thread;
	return thread;
}

bool ty_timeline_indexing_waits(struct ty_timeline *t, const char *what)
{
	if (!t->partial)
		return false;
	ty_timeline_say(t,
			t->indexing.failed
				? "%s: only the beginning of the recording could be indexed"
				: "%s: available when the whole recording is indexed",
			what);
	return true;
}
