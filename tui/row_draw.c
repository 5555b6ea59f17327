/* SPDX-License-Identifier: MIT */
/* Draws rows into cells. Budget: one ty_model_cells per visible row, two for system calls of a
 * thread with unknown stretches; heads: group_bars.h. */
#include "timeline_priv.h"

#include <stdio.h>
#include <string.h>

#include "glyphs.h"
#include "ruler.h"
#include "process_titles.h"

/* One row being drawn. */
struct draw {
	struct ty_timeline *t;
	struct ty_grid *g;
	const struct ty_palette *p;
	const struct ty_row *r;
	int y, n;      /* screen line, cells */
	bool selected; /* the cursor is on it */
};

static uint64_t edge(const struct draw *d, int i)
{
	return ty_viewport_edge(&d->t->vp, (uint32_t)i, (uint32_t)d->n);
}

/* Columns narrower than a nanosecond: the last column of a nanosecond represents it. */
static int whole(const struct draw *d, int i)
{
	while (i + 1 < d->n && edge(d, i + 1) == edge(d, i))
		i++;
	return i;
}

static void fill_cells(const struct draw *d, struct ty_track track, struct ty_cell *c)
{
	ty_model_cells(d->t->m, track, d->t->vp.from_ns, d->t->vp.to_ns, (uint32_t)d->n, c);
	for (int i = d->n - 2; i >= 0; i--)
		if (edge(d, i) == edge(d, i + 1))
			c[i] = c[i + 1];
}

static void put(const struct draw *d, int i, struct ty_glyph gl)
{
	ty_grid_put(d->g, d->t->lay.cells_x + i, d->y, gl.ch, gl.st);
}

static struct ty_glyph lost_sign(const struct draw *d)
{
	return (struct ty_glyph){.ch = '!', .st = ty_palette_role(d->p, TY_ROLE_LOST)};
}

/* The name (which may be cut), the text after it (which is not), and the text at the right end. */
static void row_name(const struct draw *d, char buf[64], char count[16], char right[24])
{
	const struct ty_tracks *tr = &d->t->tracks;
	const struct ty_thread *th;

	right[0] = count[0] = 0;
	switch (d->r->kind) {
	case TY_ROW_CPUS:
		snprintf(buf, 64, "CPUs");
		snprintf(count, 16, " (%u)", tr->cpus_n);
		break;
	case TY_ROW_CPU: snprintf(buf, 64, "CPU %u", d->r->id); break;
	case TY_ROW_IRQS: snprintf(buf, 64, d->p->utf8 ? "└ interrupts" : "` interrupts"); break;
	case TY_ROW_QUIET:
		snprintf(buf, 64, "did not run");
		snprintf(count, 16, " (%u)", tr->quiet_n);
		break;
	case TY_ROW_MORE:
		snprintf(buf, 64, "more threads");
		snprintf(count, 16, " (%u)", tr->processes.v[d->r->id].more_n);
		break;
	case TY_ROW_OTHERS:
		snprintf(buf, 64, "not traced");
		snprintf(count, 16, " (%u)", tr->others_n);
		break;
	case TY_ROW_PROCESS:
		th = ty_model_thread(d->t->m, tr->processes.v[d->r->id].leader);
		snprintf(buf, 64, "%s", ty_model_str(d->t->m, th->name));
		snprintf(count, 16, " (%u)", tr->processes.v[d->r->id].n);
		snprintf(right, 24, "%d", tr->processes.v[d->r->id].tgid);
		break;
	case TY_ROW_FLOW:
		snprintf(buf, 64, "%s", d->r->sub ? "" : d->p->utf8 ? "└ calls" : "` calls");
		if (!d->r->sub && d->t->in->flow->software)
			snprintf(right, 24, d->t->lay.label_w >= 28 ? "software" : "soft");
		break;
	case TY_ROW_CPU_MEMORY:
	case TY_ROW_MEMORY: snprintf(buf, 64, d->p->utf8 ? "└ memory" : "` memory"); break;
	case TY_ROW_SAMPLES:
	case TY_ROW_CPU_SAMPLES:
	case TY_ROW_CPU_COUNTER:
	case TY_ROW_COUNTER: ty_timeline_lane_name(d->t, d->r, d->p->utf8, buf, 64); break;
	case TY_ROW_REGIONS:
		if (d->r->sub == 0)
			snprintf(buf, 64, d->p->utf8 ? "└ regions" : "` regions");
		else if (d->r->sub >= TY_TRACKS_NESTED)
			snprintf(buf, 64, d->p->utf8 ? "└ async" : "` async");
		else
			buf[0] = 0;
		break;
	case TY_ROW_SYSCALLS: snprintf(buf, 64, d->p->utf8 ? "└ syscalls" : "` syscalls"); break;
	default:
		th = ty_model_thread(d->t->m, d->r->id);
		snprintf(buf, 64, "%s", ty_model_str(d->t->m, th->name));
		snprintf(right, 24, "%d", th->tid);
		break;
	}
}

static void draw_label(const struct draw *d)
{
	bool sub = d->r->kind == TY_ROW_SYSCALLS || d->r->kind == TY_ROW_IRQS ||
		   ty_row_is_memory(d->r) || d->r->kind == TY_ROW_FLOW ||
		   d->r->kind == TY_ROW_REGIONS || ty_row_is_lane(d->r);
	int w = d->t->lay.label_w - 1, x = 0, end;
	struct ty_style st = {0}, dim = ty_palette_role(d->p, TY_ROLE_DIM);
	char name[TY_WHO_MAX], count[16], right[24];

	row_name(d, name, count, right);
	if (d->r->kind == TY_ROW_PROCESS || d->r->kind == TY_ROW_CPUS)
		st.attr |= TY_A_BOLD;
	if (sub || d->r->kind == TY_ROW_QUIET || d->r->kind == TY_ROW_OTHERS ||
	    d->r->kind == TY_ROW_MORE)
		st = dim;
	ty_grid_put(d->g, x++, d->y, !d->selected ? ' ' : d->t->list_focus ? '*' : '>', st);
	x += d->r->depth * (w >= 18 ? 2 : 1);
	if (d->r->foldable && !sub)
		ty_grid_put(d->g, x, d->y,
			    d->p->utf8 ? (d->r->folded ? 0x25b8 : 0x25be)
				       : (d->r->folded ? '+' : '-'),
			    dim);
	x += sub ? 3 : 2;
	if (w - x - (int)strlen(right) - 1 < 4 && d->r->kind != TY_ROW_THREAD)
		right[0] = 0;
	end = w - (right[0] ? (int)strlen(right) + 1 : 0);
	if (end - x - (int)strlen(count) < 4)
		count[0] = 0;
	if (d->r->kind == TY_ROW_THREAD || d->r->kind == TY_ROW_PROCESS) {
		const uint32_t thread = d->r->kind == TY_ROW_THREAD
						? d->r->id
						: d->t->tracks.processes.v[d->r->id].leader;

		ty_model_who_short(d->t->m, thread, end - x > 0 ? (unsigned)(end - x) : 0, name);
		if (ty_timeline_is_recorder(d->t, thread))
			snprintf(count, sizeof(count), " (recorder)");
		if (ty_text_width(name) + (int)strlen(count) > end - x)
			count[0] = 0;
	}
	x += ty_grid_elide(d->g, d->p, x, d->y, end - x - (int)strlen(count), name, st);
	ty_grid_text(d->g, x, d->y, end - x, count, st);
	if (right[0])
		ty_grid_text(d->g, w - (int)strlen(right), d->y, (int)strlen(right), right, dim);
	if (d->selected) {
		struct ty_style sel = ty_palette_role(d->p, TY_ROLE_SELECT);

		/* In the list: the row stays known, but the bright bar is the list's. */
		if (d->t->list_focus)
			sel.attr &= (uint8_t)~TY_A_REVERSE;
		ty_grid_tint(d->g, 0, d->y, w, sel);
	}
	ty_grid_put(d->g, w, d->y, d->p->utf8 ? 0x2502 : '|', dim);
}

/* "#1 3.001 s" on the waits of the list, where there is room. */
static void draw_wait_names(const struct draw *d)
{
	const struct ty_findings *f = &d->t->findings;
	const struct ty_viewport *v = &d->t->vp;

	for (uint32_t i = 0; i < f->n; i++) {
		uint64_t a = f->v[i].start_ns, b = a + f->v[i].duration_ns;
		char text[64], len[TY_TIME_MAX];
		struct ty_style st = {.fg = ty_state_color(f->v[i].state), .attr = TY_A_BOLD};
		int c0, c1, n;

		if (f->v[i].thread != d->r->id || b <= v->from_ns || a >= v->to_ns)
			continue;
		c0 = (int)ty_viewport_column(v, a, (uint32_t)d->n) + (a > v->from_ns);
		c1 = (int)ty_viewport_column(v, b, (uint32_t)d->n) + (b >= v->to_ns);
		n = snprintf(text, sizeof(text), " #%u %s ", i + 1,
			     ty_fmt_length(f->v[i].duration_ns, len));
		if (n > c1 - c0)
			n = snprintf(text, sizeof(text), " #%u ", i + 1);
		if (n + 2 > c1 - c0)
			continue;
		ty_grid_text(d->g, d->t->lay.cells_x + c0 + (c1 - c0 - n) / 2, d->y, n, text, st);
	}
}

/* The name of the running thread on each run of a CPU that is wide enough: with a blank beside it,
 * and without colours with a cell of the run left visible. */
static void draw_run_names(const struct draw *d, struct ty_track track)
{
	const struct ty_cell *c = d->t->cells;
	int around = d->p->mode >= TY_COLOR_16 ? 2 : 4, end;

	for (int i = 0; i < d->n; i = end) {
		struct ty_style st = {0};
		struct ty_span s;
		char who[TY_THREAD_NAME_MAX];
		int n, room, x;

		for (end = i + 1; end < d->n && c[end].spans == 1 && c[i].spans == 1 &&
				  c[end].longest == c[i].longest;)
			end++;
		room = end - i - around;
		if (c[i].spans != 1 || room < 2 || !c[i].ns[TY_ST_RUNNING])
			continue;
		s = ty_track_span(d->t->m, track, c[i].longest);
		if (s.thread == TY_NONE)
			continue;
		ty_timeline_thread_name(d->t, s.thread, s.start_ns, who);
		n = ty_text_width(who);
		if (n > room) { /* without the distinguishing words, then without its number */
			const char *comm = ty_model_comm(d->t->m, s.thread, s.start_ns);

			n = snprintf(who, sizeof(who), "%s/%d", comm,
				     ty_model_tid(d->t->m, s.thread, s.start_ns));
			if (n > room)
				n = snprintf(who, sizeof(who), "%s", comm);
			n = ty_text_width(who);
		}
		if (n > room && room < 5)
			continue; /* a few letters of a name are useless */
		if (n > room)
			n = room;
		if (d->p->mode >= TY_COLOR_16)
			st = (struct ty_style){.fg = TY_C_BLACK, .bg = ty_run_color(c[i].longest)};
		x = d->t->lay.cells_x + i + around / 2;
		ty_grid_fill(d->g, x - 1, d->y, n + 2, 1, ' ', st);
		ty_grid_elide(d->g, d->p, x, d->y, n, who, st);
	}
}

static void draw_states(const struct draw *d, struct ty_track track)
{
	struct ty_cell *c = d->t->cells;
	bool inferred = false;

	fill_cells(d, track, c);
	for (int i = 0; i < d->n; i++) {
		put(d, i,
		    ty_glyph_cell(d->p, d->t->m, &d->t->gaps, track, &c[i], edge(d, i),
				  edge(d, whole(d, i) + 1)));
		inferred |= c[i].flags & TY_SF_INFERRED;
	}
	if (track.kind == TY_TRACK_THREAD)
		draw_wait_names(d);
	else
		draw_run_names(d, track);
	if (track.kind == TY_TRACK_CPU &&
	    inferred) /* some run starts on this CPU are concluded, not recorded */
		ty_grid_put(d->g, d->t->lay.label_w - 2, d->y, '~',
			    ty_palette_role(d->p, TY_ROLE_WARN));
}

/* The cell belongs wholly (or mostly) to one call or interrupt. */
static bool in_one_call(const struct ty_cell *c, uint64_t width)
{
	return c->longest != TY_NONE && c->spans == 1 && c->ns[TY_ST_RUNNING] >= width / 2;
}

/* One span of a row of calls or interrupts over cells c0 to c1: its name, its length where there
 * is room. Neighbours differ by `odd`. */
static void draw_named(const struct draw *d, int c0, int c1, bool odd, const char *nm,
		       uint64_t length_ns)
{
	bool color = d->p->mode >= TY_COLOR_16;
	struct ty_style st = {0};
	char text[160], len[TY_TIME_MAX];
	int w = c1 - c0, room = color ? w : w - 2, x = d->t->lay.cells_x + c0;

	if (color)
		st = (struct ty_style){.fg = TY_C_WHITE, .bg = odd ? TY_C_CALL_ODD : TY_C_CALL};
	ty_grid_fill(d->g, x, d->y, w, 1, color ? ' ' : d->p->utf8 ? 0x2500 : '-', st);
	if (!color && w == 1)
		ty_grid_put(d->g, x, d->y, d->p->utf8 ? 0x25a0 : '=', st);
	if (!color && w >= 2) {
		ty_grid_put(d->g, x, d->y, d->p->utf8 ? 0x251c : '[', st);
		ty_grid_put(d->g, x + w - 1, d->y, d->p->utf8 ? 0x2524 : ']', st);
	}
	if (room < 3)
		return;
	snprintf(text, sizeof(text), "%s %s", nm, ty_fmt_length(length_ns, len));
	if ((int)strlen(text) + 2 > room)
		snprintf(text, sizeof(text), "%s", nm);
	if (!color && (int)strlen(text) > room && room < 4)
		return;
	x += color ? 0 : 1;
	if (room > (int)strlen(text) + 1)
		x++;
	ty_grid_elide(d->g, d->p, x, d->y, room, text, st);
}

static void draw_span(const struct draw *d, struct ty_track track, int c0, int c1, uint32_t idx)
{
	struct ty_span s = ty_track_span(d->t->m, track, idx);
	struct ty_irq_span irq;
	struct ty_syscall c;
	char name[32];

	if (track.kind == TY_TRACK_IRQS) {
		irq = ty_model_irq_span(d->t->m, track.id, idx);
		draw_named(d, c0, c1, idx & 1, ty_model_str(d->t->m, irq.name),
			   s.end_ns - s.start_ns);
		return;
	}
	c = ty_model_syscall(d->t->m, idx);
	draw_named(d, c0, c1, idx & 1,
		   ty_syscall_name(d->t->in->arch, (enum ty_abi)c.abi, c.nr, name),
		   s.end_ns - s.start_ns);
}

/* One call much longer than the others of its cell: on the ground that a bar would fill. */
static struct ty_glyph hidden_call(const struct ty_palette *p)
{
	struct ty_glyph g = {.ch = p->utf8 ? 0x25a0 : '=', .st = {.attr = TY_A_BOLD}};

	if (p->mode >= TY_COLOR_16)
		g.st = (struct ty_style){.fg = TY_C_BLACK, .bg = TY_C_ACCENT};
	return g;
}

/* The cells of the thread's states, if parts of them are unknown or events were lost in the window;
 * else NULL. */
static struct ty_cell *states_of(const struct draw *d, struct ty_track calls)
{
	struct ty_track track = {.kind = TY_TRACK_THREAD, .id = calls.id};
	const struct ty_viewport *v = &d->t->vp;
	struct ty_cell *c = d->t->cells + d->n;

	if (calls.kind != TY_TRACK_SYSCALLS)
		return NULL;
	ty_model_cells(d->t->m, track, v->from_ns, v->to_ns, 1, c);
	if (!c->ns[TY_ST_UNKNOWN] && !ty_gaps_touch(&d->t->gaps, v->from_ns, v->to_ns - 1, TY_NONE))
		return NULL;
	fill_cells(d, track, c);
	return c;
}

/* A row of system calls or interrupts. */
static void draw_calls(const struct draw *d, struct ty_track track)
{
	struct ty_cell *c = d->t->cells, *state = states_of(d, track);
	enum ty_known known[TY_GRID_MAX];
	int i = 0;

	fill_cells(d, track, c);
	for (int k = 0; k < d->n; k++)
		known[k] =
			ty_calls_known(d->t->m, &d->t->gaps, track, &c[k], state ? &state[k] : NULL,
				       edge(d, k), edge(d, whole(d, k) + 1));
	while (i < d->n) {
		uint64_t width = edge(d, whole(d, i) + 1) - edge(d, i);
		int end = i + 1;

		if (known[i] == TY_KNOWN_LOST) {
			put(d, i, lost_sign(d));
		} else if (known[i] == TY_KNOWN_NOT) {
			put(d, i, ty_glyph_state(d->p, TY_ST_UNKNOWN));
		} else if (in_one_call(&c[i], width)) {
			while (end < d->n && c[end].longest == c[i].longest &&
			       in_one_call(&c[end], width) && known[end] == TY_KNOWN)
				end++;
			draw_span(d, track, i, end, c[i].longest);
		} else if (ty_cell_hides(d->t->m, track, &c[i], width)) {
			put(d, i, hidden_call(d->p));
		} else if (c[i].ns[TY_ST_RUNNING]) {
			uint64_t e = width ? (c[i].ns[TY_ST_RUNNING] * 8 + width / 2) / width : 8;

			put(d, i,
			    ty_glyph_bar(d->p,
					 e < 1	 ? 1
					 : e > 8 ? 8
						 : (unsigned)e,
					 TY_C_ACCENT));
		}
		i = end;
	}
}

/* A lane of regions: names where one fills cells; a sign for one in less than a cell, another for
 * several. What lost events make unknown ends with the sign of a loss. */
static void draw_regions(const struct draw *d)
{
	const struct ty_model *m = d->t->m;
	uint32_t lane = ty_tracks_lane(d->r);
	int i = 0;

	while (i < d->n) {
		uint64_t from = edge(d, i), to = edge(d, whole(d, i) + 1);
		uint32_t at = ty_model_region_in(m, d->r->id, lane, from, to), next;
		struct ty_region r;
		int end = i + 1;

		if (at == TY_NONE) { /* on to the next one's cell */
			at = ty_model_region_in(m, d->r->id, lane, to, d->t->vp.to_ns);
			if (at == TY_NONE)
				break;
			r = ty_model_region(m, at);
			end = (int)ty_viewport_column(&d->t->vp, r.start_ns, (uint32_t)d->n);
			i = end > i ? end : i + 1;
			continue;
		}
		r = ty_model_region(m, at);
		while (end < d->n && r.end_ns > edge(d, end) &&
		       edge(d, whole(d, end) + 1) <= r.end_ns)
			end++;
		next = ty_model_region_in(m, d->r->id, lane, r.end_ns, to);
		if (end > i + 1 || (r.start_ns <= from && r.end_ns >= to)) {
			draw_named(d, i, end, at & 1, ty_model_str(m, r.name),
				   r.end_ns - r.start_ns);
			if (r.flags & TY_RGN_LOST && r.end_ns < d->t->vp.to_ns)
				put(d, end - 1, lost_sign(d));
		} else if (next != TY_NONE) {
			put(d, i, ty_glyph_bar(d->p, 8, TY_C_ACCENT));
		} else {
			put(d, i, r.flags & TY_RGN_LOST ? lost_sign(d) : hidden_call(d->p));
		}
		i = end;
	}
}

/* A head: running time of all members; a full cell is all CPUs, or one CPU for a process. */
static void draw_head(const struct draw *d, uint8_t kind, const uint32_t *ids, uint32_t n)
{
	struct ty_head row = {
		.row_kind = d->r->kind, .row_id = d->r->id, .kind = kind, .ids = ids, .n = n};
	const struct ty_head *h = ty_group_bars_get(&d->t->heads, d->t->m, &d->t->gaps, &d->t->vp,
						    (uint32_t)d->n, &row);
	const uint32_t cpus =
		d->r->kind == TY_ROW_PROCESS || d->r->kind == TY_ROW_MORE ? 1 : d->t->tracks.cpus_n;

	if (!h || h->done < h->n) {
		char text[64];

		snprintf(text, sizeof(text), h ? "%u %s: computing..." : "%u %s: out of memory", n,
			 kind == TY_TRACK_CPU ? "CPUs" : "threads");
		ty_grid_elide(d->g, d->p, d->t->lay.cells_x + 1, d->y, d->n - 1, text,
			      ty_palette_role(d->p, TY_ROLE_DIM));
		return;
	}
	for (int i = 0; i < d->n; i++) {
		int at = whole(d, i);
		uint64_t full = (edge(d, at + 1) - edge(d, at)) * cpus;
		uint64_t e = full ? (h->ran_ns[at] * 8 + full / 2) / full : 0;

		if (h->lost[at])
			put(d, i, lost_sign(d));
		else if (h->ran_ns[at])
			put(d, i,
			    ty_glyph_bar(d->p,
					 e < 1	 ? 1
					 : e > 8 ? 8
						 : (unsigned)e,
					 TY_C_RUNNING));
	}
}

static void draw_rows(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p)
{
	const struct ty_layout *l = &t->lay;
	struct draw d = {.t = t, .g = g, .p = p, .n = l->cells_w};

	ty_group_bars_frame(&t->heads);
	for (int i = 0; i < l->rows_h; i++) {
		uint32_t row = t->top + (uint32_t)i;
		struct ty_track track;
		const uint32_t *ids;
		uint8_t kind;
		uint32_t n;

		d.y = l->rows_y + i;
		if (row >= t->tracks.rows.n)
			break;
		d.r = &t->tracks.rows.v[row];
		d.selected = row == t->row;
		draw_label(&d);
		if (ty_timeline_track(t, row, &track)) {
			if (track.kind == TY_TRACK_SYSCALLS || track.kind == TY_TRACK_IRQS)
				draw_calls(&d, track);
			else
				draw_states(&d, track);
		} else if (d.r->kind == TY_ROW_FLOW) {
			ty_timeline_calls_row(t, g, p, d.r, d.y);
		} else if (d.r->kind == TY_ROW_REGIONS) {
			draw_regions(&d);
		} else if (ty_row_is_memory(d.r)) {
			ty_timeline_memory_row(t, g, p, d.r, d.y);
		} else if (ty_row_is_lane(d.r)) {
			ty_timeline_lane_row(t, g, p, d.r, d.y);
		} else if (ty_tracks_members(&t->tracks, d.r, &kind, &ids, &n)) {
			draw_head(&d, kind, ids, n);
		}
	}
}

const struct ty_layer ty_rows_layer = {.draw = draw_rows};
