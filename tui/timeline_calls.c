/* SPDX-License-Identifier: MIT */
/*
 * Executed calls of one thread at a time, nested, in rows of the timeline under that thread:
 * decoded in a thread, for twice the window that is looked at and PART_MOST instructions at most;
 * what is beyond is drawn as such. Where the window holds few enough instructions, the last row
 * shows them one by one. Drawing costs columns x log(calls) a row.
 */
#include <inttypes.h>
#include <stdio.h>

#include "flow_spans.h"
#include "timeline_priv.h"

#define PART_MOST (1u << 19) /* instructions that are decoded at a time: 16 MB */
#define ROWS_MOST 8u
#define INSN_W	  8 /* columns that an instruction is to have, to be shown by itself */

static uint32_t steps(const struct ty_timeline_calls *c)
{
	return c->part ? (uint32_t)c->part->steps.n : 0;
}

/* The timeline's window on the axis of calls. */
static struct ty_flow_axis axis(const struct ty_timeline *t, struct ty_viewport *vp)
{
	uint64_t start = t->vp.start_ns;

	*vp = (struct ty_viewport){.start_ns = 0,
				   .end_ns = (t->vp.end_ns - start) * TY_FLOW_PER_NS,
				   .from_ns = (t->vp.from_ns - start) * TY_FLOW_PER_NS,
				   .to_ns = (t->vp.to_ns - start) * TY_FLOW_PER_NS};
	return (struct ty_flow_axis){.part = t->calls.part,
				     .vp = vp,
				     .start_ns = start,
				     .x = t->lay.cells_x,
				     .w = t->lay.cells_w};
}

static void decode(void *ctx)
{
	struct ty_timeline *t = ctx;
	struct ty_timeline_calls *c = &t->calls;

	c->rc = t->in->flow->read(t->in->flow->ctx, &c->ask, &c->part, &c->err);
}

static bool shown(const struct ty_timeline *t)
{
	return t->in->flow && t->tracks.flow_thread != TY_NONE;
}

bool ty_timeline_calls_due(const struct ty_timeline *t)
{
	const struct ty_timeline_calls *c = &t->calls;

	/* The view of instructions has the decoder while it is open. */
	if (!shown(t) || c->aside.on || t->flow)
		return false;
	if (c->thread != t->tracks.flow_thread || (!c->part && !c->rc))
		return true;
	if (c->rc)
		return false;
	if (t->vp.from_ns < c->ask.from_ns || t->vp.to_ns > c->ask.to_ns)
		return true;
	/* What was too much may fit now. */
	return c->part->cut && (c->asked_from != t->vp.from_ns || c->asked_to != t->vp.to_ns) &&
	       (!steps(c) || c->part->steps.v[steps(c) - 1].ts_ns < t->vp.to_ns);
}

/* The calls' rows: as many as there are depths, and one for instructions. */
static void decoded(struct ty_timeline *t)
{
	struct ty_timeline_calls *c = &t->calls;
	uint32_t depths;
	struct ty_place at = ty_timeline_place(t);

	if (c->rc)
		c->part = NULL;
	depths = c->part ? ty_flow_part_depths(c->part) : 0;
	c->rows = depths < 1 ? 1 : depths + 1 < ROWS_MOST ? depths + 1 : ROWS_MOST;
	if (shown(t) && c->rows != t->tracks.flow_rows) {
		ty_tracks_calls(&t->tracks, t->tracks.flow_thread, c->rows);
		t->vp.here = at;
		ty_timeline_restore(t);
	}
}

bool ty_timeline_calls_work(struct ty_timeline *t)
{
	struct ty_timeline_calls *c = &t->calls;
	uint64_t half = (t->vp.to_ns - t->vp.from_ns) / 2;

	if (c->aside.on) {
		if (!ty_aside_wait(&c->aside, 0))
			return false;
		decoded(t);
		return true;
	}
	if (!ty_timeline_calls_due(t))
		return false;
	c->part = NULL;
	c->rc = 0;
	c->thread = t->tracks.flow_thread;
	c->asked_from = t->vp.from_ns;
	c->asked_to = t->vp.to_ns;
	c->ask = (struct ty_flow_part_ask){
		.tid = ty_model_thread(t->m, c->thread)->tid,
		.from_ns = t->vp.from_ns > half ? t->vp.from_ns - half : 0,
		.to_ns = t->vp.to_ns < UINT64_MAX - half ? t->vp.to_ns + half : UINT64_MAX,
		.most = PART_MOST,
		.stop = &c->aside.stop};
	ty_aside_start(&c->aside, t->in->aside, decode, t);
	if (ty_aside_wait(&c->aside, 0))
		decoded(t);
	return true;
}

void ty_timeline_calls_stop(struct ty_timeline *t)
{
	ty_aside_stop(&t->calls.aside);
	t->calls.part = NULL;
	t->calls.rc = 0;
}

void ty_timeline_calls(struct ty_timeline *t)
{
	struct ty_place at = ty_timeline_place(t);
	uint32_t thread = ty_timeline_thread_here(t);

	if (!t->in->flow) {
		ty_timeline_say(t, "no executed instructions in this recording: record --flow, or "
				   "--flow=step where there is no Intel PT");
		return;
	}
	if (thread == TY_NONE) {
		ty_timeline_say(t, "calls are a thread's: put the cursor on its row");
		return;
	}
	if (thread == t->tracks.flow_thread) {
		if (at.row_kind == TY_ROW_FLOW)
			at.row_kind = TY_ROW_THREAD;
		thread = TY_NONE;
	}
	ty_tracks_calls(&t->tracks, thread, t->calls.rows ? t->calls.rows : 1);
	if (thread != TY_NONE)
		ty_timeline_say(t, "executed calls of %s%s; I folds them, i shows the instructions",
				ty_model_comm(t->m, thread, t->cursor_ns),
				t->in->flow->software ? " (software: the stepper's time)" : "");
	t->vp.here = at;
	ty_timeline_restore(t);
	/* As many rows as there are are to be seen. */
	t->below = ROWS_MOST;
}

/* The last step that is not later than the cursor's cell; TY_NONE: there is none. */
static uint32_t step_here(const struct ty_timeline *t)
{
	uint32_t w = ty_timeline_cells(t), x = ty_viewport_column(&t->vp, t->cursor_ns, w);
	uint32_t n;

	if (!steps(&t->calls))
		return TY_NONE;
	n = ty_flow_part_step_at(t->calls.part, ty_viewport_edge(&t->vp, x + 1, w));
	return n ? n - 1 : TY_NONE;
}

/* The depth of the first row, so that the call under the cursor and what it calls are among them.
 */
static uint32_t top_depth(const struct ty_timeline *t)
{
	const struct ty_flow_part *part = t->calls.part;
	uint32_t step = step_here(t), depths = ty_flow_part_depths(part), rows = t->calls.rows - 1;
	uint32_t c = step == TY_NONE ? TY_NO_CALL : part->steps.v[step].call;
	uint32_t depth = c == TY_NO_CALL ? 0 : part->calls.v[c].depth;
	uint32_t top = depth + 2 > rows ? depth + 2 - rows : 0;

	return top + rows > depths ? depths > rows ? depths - rows : 0 : top;
}

/* Each instruction from where it is to where the next one is, where that is wide enough. */
static void draw_insns(const struct ty_timeline *t, const struct ty_flow_axis *a, struct ty_grid *g,
		       const struct ty_palette *p, int y)
{
	uint32_t first = ty_flow_axis_step(a, a->vp->from_ns),
		 last = ty_flow_axis_step(a, a->vp->to_ns);
	struct ty_style dim = ty_palette_role(p, TY_ROLE_DIM);
	char text[192], bytes[60];

	if (first == last)
		return;
	if ((last - first) * INSN_W > (uint32_t)a->w) {
		snprintf(text, sizeof(text), "%" PRIu32 " instructions: zoom in, or i",
			 last - first);
		ty_grid_elide(g, p, a->x + 1, y, a->w - 1, text, dim);
		return;
	}
	for (uint32_t s = first; s < last; s++) {
		const struct ty_flow_step *step = &a->part->steps.v[s];
		int x = (int)ty_viewport_column(a->vp, ty_flow_axis_pos(a, s), (uint32_t)a->w), end;
		uint32_t n = s + 1;

		/* Those with one time stamp have one place. */
		while (n < last && a->part->steps.v[n].ts_ns == step->ts_ns)
			n++;
		end = n < last ? (int)ty_viewport_column(a->vp, ty_flow_axis_pos(a, n),
							 (uint32_t)a->w)
			       : a->w;
		if (step->kind == TY_FLOW_INSN)
			t->in->flow->insn(t->in->flow->ctx, step, text, sizeof(text), bytes,
					  sizeof(bytes));
		else
			snprintf(text, sizeof(text), "GAP");
		ty_grid_put(g, a->x + x, y, '|', dim);
		ty_grid_elide(g, p, a->x + x + 1, y, end - x - 1, text, (struct ty_style){0});
		if (n > s + 1) {
			snprintf(text, sizeof(text), " +%" PRIu32, n - s - 1);
			if (end - x > 24)
				ty_grid_text(g, a->x + end - 5, y, 5, text, dim);
		}
		s = n - 1;
	}
}

void ty_timeline_calls_row(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p,
			   uint32_t sub, int y)
{
	const struct ty_timeline_calls *c = &t->calls;
	struct ty_viewport vp;
	struct ty_flow_axis a = axis(t, &vp);
	bool ours = c->thread == t->tracks.flow_thread && c->part && !c->aside.on && !t->flow;
	const char *why = NULL;

	if (c->aside.on || (!ours && !c->rc))
		why = "decoding the calls ...";
	else if (c->rc)
		why = c->err.msg;
	else if (!steps(c))
		why = "no executed instruction of this thread is known here";
	if (why) {
		if (!sub)
			ty_grid_elide(g, p, a.x + 1, y, a.w - 1, why,
				      ty_palette_role(p, TY_ROLE_DIM));
		return;
	}
	if (sub + 1 == c->rows && c->rows > 1) {
		draw_insns(t, &a, g, p, y);
		return;
	}
	ty_flow_spans_draw(&a, g, p, top_depth(t) + sub, y);
	if (!sub)
		ty_flow_gaps_draw(&a, g, p, y, 1);
	else if (c->part->cut && ty_flow_axis_pos(&a, steps(c)) < vp.to_ns) {
		struct ty_flow_part nogaps = *c->part;

		nogaps.gaps.n = 0;
		a.part = &nogaps;
		ty_flow_gaps_draw(&a, g, p, y, 1);
	}
}

void ty_timeline_calls_text(const struct ty_timeline *t, char *out, size_t n)
{
	const struct ty_timeline_calls *c = &t->calls;
	uint32_t step = c->aside.on ? TY_NONE : step_here(t);

	if (step != TY_NONE)
		ty_flow_path_text(c->part, step, out, n);
	else
		snprintf(out, n, "no executed instruction is known before the cursor");
}

void ty_timeline_calls_note(const struct ty_timeline *t, char *out, size_t n)
{
	const struct ty_timeline_calls *c = &t->calls;
	bool cut = !c->aside.on && c->part && c->part->cut;

	snprintf(out, n, "%s%s; i: the instructions; Space folds",
		 t->in->flow->software ? "software: the time is the stepper's"
				       : "times are those of the packets before",
		 cut ? "; not all of the window is decoded: zoom in" : "");
}
