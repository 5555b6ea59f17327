/* SPDX-License-Identifier: MIT */
/*
 * Executed calls of up to TY_TRACKS_FLOW threads, nested, in rows of the timeline under each
 * thread: decoded in a thread, one after the other, for twice the displayed window and at most
 * PARTS_MOST instructions in total; the rest is marked. If the window has few enough instructions,
 * the last row shows them individually. If it has more packets than are decoded at a time, a strip
 * shows their number over time. Drawing costs columns x log(calls) per row.
 */
#include <inttypes.h>
#include <stdio.h>

#include "flow_spans.h"
#include "timeline_priv.h"

#define PART_MOST  (1u << 19) /* instructions that are decoded at a time: 16 MB */
#define PARTS_MOST (1u << 20) /* of many threads together, or so */
#define ROWS_MOST  8u
/* What one instruction may take with all that belongs to it: tracing begins (9 bytes), its mode,
 * time and ratio (2, 8, 7 and 4), its target, tracing ends (9 each). Packets beyond are more than
 * fits. */
#define INSN_BYTES 64u
/* A part that ends in this share of the window shows less than the window's packets do. */
#define PART_LEAST 8u
#define INSN_W	   6 /* columns that an instruction is to have, to be shown by itself */

_Static_assert(TY_TRACKS_FLOW < TY_FLOW_SLOTS, "slot 0 is the view's");

static uint32_t steps(const struct ty_timeline_part *c)
{
	return c->part ? (uint32_t)c->part->steps.n : 0;
}

/* The timeline's window on the axis of calls. */
static struct ty_flow_axis axis(const struct ty_timeline *t, const struct ty_timeline_part *c,
				struct ty_viewport *vp)
{
	uint64_t start = t->vp.start_ns;

	*vp = (struct ty_viewport){.start_ns = 0,
				   .end_ns = (t->vp.end_ns - start) * TY_FLOW_PER_NS,
				   .from_ns = (t->vp.from_ns - start) * TY_FLOW_PER_NS,
				   .to_ns = (t->vp.to_ns - start) * TY_FLOW_PER_NS};
	return (struct ty_flow_axis){.part = c->part,
				     .vp = vp,
				     .start_ns = start,
				     .x = t->lay.cells_x,
				     .w = t->lay.cells_w};
}

/* Packets ---------------------------------------------------------------------------------------
 */

/* Packets in [from, to), from the bins. */
static uint64_t packets(const struct ty_timeline_part *c, uint64_t from, uint64_t to)
{
	uint64_t len = c->request.to_ns - c->request.from_ns, sum = 0;

	for (uint32_t i = 0; i < TY_CALLS_BINS; i++) {
		uint64_t lo =
			c->request.from_ns + (uint64_t)((unsigned __int128)len * i / TY_CALLS_BINS);
		uint64_t hi = c->request.from_ns +
			      (uint64_t)((unsigned __int128)len * (i + 1) / TY_CALLS_BINS);
		uint64_t a = lo > from ? lo : from, b = hi < to ? hi : to;

		if (b > a)
			sum += (uint64_t)((unsigned __int128)c->bytes[i] * (b - a) / (hi - lo));
	}
	return sum;
}

/* From column x on; the column with most of the window is the highest. */
static void draw_packets(const struct ty_timeline *t, const struct ty_timeline_part *c,
			 struct ty_grid *g, const struct ty_palette *p, int x, int y)
{
	uint32_t w = (uint32_t)t->lay.cells_w;
	uint64_t most = 0;

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = pass ? (uint32_t)x : 0; i < w; i++) {
			uint64_t from = ty_viewport_edge(&t->vp, i, w),
				 to = ty_viewport_edge(&t->vp, i + 1, w), n;

			n = packets(c, from, to);
			if (!pass)
				most = n > most ? n : most;
			else if (n)
				ty_grid_put(
					g, t->lay.cells_x + (int)i, y,
					p->utf8 ? 0x2580 + (uint32_t)(1 + n * 7 / most)
						: (uint32_t) ".:-=+*%@" [n * 7 / most],
					(struct ty_style) { .fg = TY_C_CALL });
			else
				ty_grid_put(g, t->lay.cells_x + (int)i, y, ' ',
					    (struct ty_style){0});
		}
}

/* Decoding --------------------------------------------------------------------------------------
 */

/* How much of the requested window is not decoded because the part is full. */
static uint64_t rest_ns(const struct ty_timeline_part *c)
{
	uint64_t last = steps(c) ? c->part->steps.v[steps(c) - 1].ts_ns : 0;

	if (c->rc || !c->part->cut || last >= c->request_to_ns)
		return 0;
	return c->request_to_ns - (last > c->request_from_ns ? last : c->request_from_ns);
}

/* The number of packets and their contents, unless there are too many to keep. */
static void look(const struct ty_flow_input *in, struct ty_timeline_part *c)
{
	if (in->packets)
		c->rc = in->packets(in->ctx, &c->request, TY_CALLS_BINS, c->bytes, &c->err);
	c->wide = !c->rc &&
		  packets(c, c->request_from_ns, c->request_to_ns) / INSN_BYTES > c->request.most;
	if (!c->rc && !c->wide)
		c->rc = in->read(in->ctx, &c->request, &c->part, &c->err);
}

static void decode(void *ctx)
{
	struct ty_timeline *t = ctx;
	struct ty_timeline_part *c = &t->calls.of[t->calls.at];
	const uint64_t window = c->request_to_ns - c->request_from_ns;

	look(t->in->flow, c);
	if (c->wide || !rest_ns(c))
		return;
	/* There is no room for what lies around the window. */
	c->request.from_ns = c->request_from_ns;
	c->request.to_ns = c->request_to_ns;
	look(t->in->flow, c);
	c->wide |= packets(c, c->request_from_ns, c->request_to_ns) &&
		   rest_ns(c) > window - window / PART_LEAST;
}

/* The tid of a thread in the packets: its tid at that time, because an exec may have changed it. */
static int32_t tid_here(const struct ty_timeline *t, uint32_t thread)
{
	return ty_model_tid(t->m, thread, t->cursor_ns);
}

static bool due(const struct ty_timeline *t, uint32_t i)
{
	const struct ty_timeline_part *c = &t->calls.of[i];

	if (t->tracks.flow[i].thread == TY_NONE)
		return false;
	if (c->thread != t->tracks.flow[i].thread || !c->made ||
	    c->request.tid != tid_here(t, c->thread))
		return true;
	if (c->rc)
		return false;
	if (t->vp.from_ns < c->request.from_ns || t->vp.to_ns > c->request.to_ns)
		return true;
	/* A part that was too large before may fit now. */
	return (c->wide || (c->part->cut &&
			    (!steps(c) || c->part->steps.v[steps(c) - 1].ts_ns < t->vp.to_ns))) &&
	       (c->request_from_ns != t->vp.from_ns || c->request_to_ns != t->vp.to_ns);
}

/* The first one that is due; TY_NONE. */
static uint32_t next_due(const struct ty_timeline *t)
{
	/* The view of instructions has the decoder while it is open. */
	for (uint32_t i = 0; t->in->flow && !t->flow && i < TY_TRACKS_FLOW; i++)
		if (due(t, i))
			return i;
	return TY_NONE;
}

static int calls_wait_ms(const struct ty_timeline *t)
{
	return t->calls.aside.on ? TY_LAYER_POLL_MS : next_due(t) != TY_NONE ? 0 : -1;
}

/* The calls' rows: as many as there are depths, and one for instructions. */
static void decoded(struct ty_timeline *t)
{
	uint32_t i = t->calls.at, rows;
	struct ty_timeline_part *c = &t->calls.of[i];
	uint32_t depths = c->part && !c->rc ? ty_flow_part_depths(c->part) : 0;
	struct ty_place at = ty_timeline_place(t);

	if (c->rc)
		c->part = NULL;
	c->made = true;
	rows = c->wide ? 2 : !depths ? 1 : depths + 1 < ROWS_MOST ? depths + 1 : ROWS_MOST;
	if (c->thread == t->tracks.flow[i].thread && rows != t->tracks.flow[i].rows) {
		ty_tracks_calls(&t->tracks, c->thread, rows);
		t->vp.here = at;
		ty_timeline_restore(t);
	}
}

static bool calls_work(struct ty_timeline *t)
{
	struct ty_timeline_calls *calls = &t->calls;
	uint64_t half = (t->vp.to_ns - t->vp.from_ns) / 2;
	uint32_t i, threads = 0;
	struct ty_timeline_part *c;

	if (calls->aside.on) {
		if (!ty_background_wait(&calls->aside, 0))
			return false;
		decoded(t);
		return true;
	}
	i = next_due(t);
	if (i == TY_NONE)
		return false;
	for (uint32_t k = 0; k < TY_TRACKS_FLOW; k++)
		threads += t->tracks.flow[k].thread != TY_NONE;
	calls->at = i;
	c = &calls->of[i];
	*c = (struct ty_timeline_part){.thread = t->tracks.flow[i].thread,
				       .request_from_ns = t->vp.from_ns,
				       .request_to_ns = t->vp.to_ns};
	c->request = (struct ty_flow_part_request){
		.tid = tid_here(t, c->thread),
		.slot = i + 1,
		.from_ns = t->vp.from_ns > half ? t->vp.from_ns - half : 0,
		.to_ns = t->vp.to_ns < UINT64_MAX - half ? t->vp.to_ns + half : UINT64_MAX,
		.most = threads < 2 ? PART_MOST : PARTS_MOST / threads,
		.stop = &calls->aside.stop};
	ty_background_start(&calls->aside, t->in->aside, decode, t);
	if (ty_background_wait(&calls->aside, 0))
		decoded(t);
	return true;
}

void ty_timeline_calls_stop(struct ty_timeline *t)
{
	if (!ty_background_stop(&t->calls.aside))
		return;
	t->calls.of[t->calls.at].part = NULL;
	t->calls.of[t->calls.at].made = false;
}

void ty_timeline_calls(struct ty_timeline *t)
{
	struct ty_place at = ty_timeline_place(t);
	uint32_t thread = ty_timeline_thread_here(t);
	char who[TY_THREAD_NAME_MAX];

	if (!t->in->flow) {
		ty_timeline_say(t, "this recording has no executed instructions: record with "
				   "--flow, or --flow=step without Intel PT");
		return;
	}
	if (thread == TY_NONE) {
		ty_timeline_say(t, "put the cursor on the row of a thread to see its calls");
		return;
	}
	if (ty_tracks_calls_at(&t->tracks, thread) != TY_NONE) {
		if (at.row_kind == TY_ROW_FLOW)
			at.row_kind = TY_ROW_THREAD;
		ty_tracks_calls(&t->tracks, thread, 0);
	} else if (!ty_tracks_calls(&t->tracks, thread, 1)) {
		ty_timeline_say(t,
				"the calls of %u threads are shown, which is the limit: hide one "
				"of them first",
				TY_TRACKS_FLOW);
		return;
	} else {
		t->calls.of[ty_tracks_calls_at(&t->tracks, thread)].made = false;
		ty_timeline_say(t, "executed calls of %s%s; I hides them, i shows the instructions",
				ty_timeline_thread_name(t, thread, t->cursor_ns, who),
				t->in->flow->software
					? " (single-stepped: times are not the program's own)"
					: "");
		/* As many rows as there are are to be seen. */
		t->below = ROWS_MOST;
	}
	t->vp.here = at;
	ty_timeline_restore(t);
}

/* Drawing ---------------------------------------------------------------------------------------
 */

/* The last step that is not later than the cursor's cell; TY_NONE: there is none. */
static uint32_t step_here(const struct ty_timeline *t, const struct ty_timeline_part *c)
{
	uint32_t w = ty_timeline_cells(t), x = ty_viewport_column(&t->vp, t->cursor_ns, w), n;
	struct ty_viewport vp;
	struct ty_flow_axis a = axis(t, c, &vp);

	if (!steps(c))
		return TY_NONE;
	n = ty_flow_axis_step(&a, ty_viewport_edge(&vp, x + 1, w));
	return n ? n - 1 : TY_NONE;
}

/* The depth of the first row, chosen so that the call under the cursor and its callees are
 * shown. */
static uint32_t top_depth(const struct ty_timeline *t, const struct ty_timeline_part *p,
			  uint32_t rows)
{
	const struct ty_flow_part *part = p->part;
	uint32_t step = step_here(t, p), depths = ty_flow_part_depths(part);
	uint32_t c = step == TY_NONE ? TY_NO_CALL : part->steps.v[step].call;
	uint32_t depth = c == TY_NO_CALL ? 0 : part->calls.v[c].depth;
	uint32_t top = depth + 2 > rows ? depth + 2 - rows : 0;

	return top + rows > depths ? depths > rows ? depths - rows : 0 : top;
}

/* Each instruction from its position to that of the next, if wide enough; those with a time stamp
 * follow a bar. */
static void draw_insns(const struct ty_timeline *t, const struct ty_flow_axis *a, struct ty_grid *g,
		       const struct ty_palette *p, int y)
{
	uint32_t first = ty_flow_axis_step(a, a->vp->from_ns),
		 last = ty_flow_axis_step(a, a->vp->to_ns), w = (uint32_t)a->w;
	struct ty_style dim = ty_palette_role(p, TY_ROLE_DIM);
	char text[192], bytes[60];

	if (first == last)
		return;
	if ((last - first) * INSN_W > w) {
		snprintf(text, sizeof(text), "%" PRIu32 " instructions: zoom in, or i",
			 last - first);
		ty_grid_elide(g, p, a->x + 1, y, a->w - 1, text, dim);
		return;
	}
	for (uint32_t s = first, n; s < last; s = n) {
		const struct ty_flow_step *step = &a->part->steps.v[s];
		int x = (int)ty_viewport_column(a->vp, ty_flow_axis_pos(a, s), w), end = a->w;

		/* Those of one column are shown as the first one. */
		for (n = s + 1; n < last; n++) {
			end = (int)ty_viewport_column(a->vp, ty_flow_axis_pos(a, n), w);
			if (end > x)
				break;
		}
		end = n < last ? end : a->w;
		if (step->kind == TY_FLOW_INSN)
			t->in->flow->insn(t->in->flow->ctx, a->part->pid, step, text, sizeof(text),
					  bytes, sizeof(bytes));
		else
			snprintf(text, sizeof(text), "GAP: %s", step->text);
		ty_grid_put(g, a->x + x, y, step->flags & TY_FF_EXACT ? '|' : ':', dim);
		ty_grid_elide(g, p, a->x + x + 1, y, end - x - 1, text,
			      step->kind == TY_FLOW_INSN ? (struct ty_style){0}
							 : ty_palette_role(p, TY_ROLE_LOST));
		if (n > s + 1 && end - x > 24) {
			snprintf(text, sizeof(text), " +%" PRIu32, n - s - 1);
			ty_grid_text(g, a->x + end - 5, y, 5, text, dim);
		}
	}
}

/* The amount that was not decoded because it exceeds the limit. */
static void draw_rest(const struct ty_timeline *t, const struct ty_timeline_part *c,
		      const struct ty_flow_axis *a, struct ty_grid *g, const struct ty_palette *p,
		      int y)
{
	uint64_t end = ty_flow_axis_pos(a, steps(c));

	if (c->part->cut && end < a->vp->to_ns && packets(c, t->vp.from_ns, t->vp.to_ns))
		draw_packets(t, c, g, p,
			     end > a->vp->from_ns
				     ? (int)ty_viewport_column(a->vp, end, (uint32_t)a->w)
				     : 0,
			     y);
}

void ty_timeline_calls_row(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p,
			   const struct ty_row *r, int y)
{
	uint32_t i = ty_tracks_calls_at(&t->tracks, r->id), rows = t->tracks.flow[i].rows;
	const struct ty_timeline_part *c = &t->calls.of[i];
	struct ty_viewport vp;
	struct ty_flow_axis a = axis(t, c, &vp);
	const char *why = NULL;

	if (!c->made || c->thread != r->id)
		why = "decoding the calls ...";
	else if (c->rc)
		why = c->err.msg;
	else if (c->wide && r->sub)
		why = "above: trace packets per cell; zoom in for calls";
	else if (!c->wide && !steps(c))
		why = "no executed instruction of this thread was recorded here";
	if (why) {
		if (!r->sub || (c->wide && r->sub == 1))
			ty_grid_elide(g, p, a.x + 1, y, a.w - 1, why,
				      ty_palette_role(p, TY_ROLE_DIM));
		return;
	}
	if (c->wide) {
		draw_packets(t, c, g, p, 0, y);
		return;
	}
	if (r->sub + 1u == rows && rows > 1) {
		draw_insns(t, &a, g, p, y);
		return;
	}
	ty_flow_spans_draw(&a, g, p, top_depth(t, c, rows - 1) + r->sub, y);
	if (!r->sub) {
		ty_flow_gaps_draw(&a, g, p, y, 1);
		draw_rest(t, c, &a, g, p, y);
	} else if (c->part->cut && ty_flow_axis_pos(&a, steps(c)) < vp.to_ns) {
		struct ty_flow_part nogaps = *c->part;

		nogaps.gaps.n = 0;
		a.part = &nogaps;
		ty_flow_gaps_draw(&a, g, p, y, 1);
	}
}

/* The thread's part; NULL: it is not there (yet). */
static const struct ty_timeline_part *part_of(const struct ty_timeline *t, uint32_t thread)
{
	uint32_t i = ty_tracks_calls_at(&t->tracks, thread);
	const struct ty_timeline_part *c = i == TY_NONE ? NULL : &t->calls.of[i];

	return c && c->made && c->thread == thread ? c : NULL;
}

void ty_timeline_calls_text(const struct ty_timeline *t, uint32_t thread, char *out, size_t n)
{
	const struct ty_timeline_part *c = part_of(t, thread);
	uint32_t step = c ? step_here(t, c) : TY_NONE;

	if (step != TY_NONE)
		ty_flow_path_text(c->part, step, out, n);
	else if (c && c->wide)
		snprintf(out, n, "%" PRIu64 " bytes of packets in this window: zoom in for calls",
			 packets(c, t->vp.from_ns, t->vp.to_ns));
	else
		snprintf(out, n, "no executed instruction was recorded before the cursor");
}

void ty_timeline_calls_note(const struct ty_timeline *t, uint32_t thread, char *out, size_t n)
{
	const struct ty_timeline_part *c = part_of(t, thread);
	bool cut = c && c->part && c->part->cut;

	snprintf(out, n, "%s%s; i: the instructions; Space folds",
		 t->in->flow->software
			 ? "single-stepped: times are not the program's own"
			 : "times come from trace packets and are interpolated between them",
		 cut ? "; only a part of the window is decoded: zoom in" : "");
}

const struct ty_layer ty_calls_layer = {
	.wait_ms = calls_wait_ms, .work = calls_work, .fini = ty_timeline_calls_stop};
