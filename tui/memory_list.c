/* SPDX-License-Identifier: MIT */
/* The lower part of the memory view: tables; and its pages: records, and the help. */
#include "memory_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "keys.h"
#include "ruler.h"

#define RECORDS_MAX 1000u
#define LOOK_MAX    1000000u /* samples examined for them: a few ms */

/* "0x4000 main+0x10" of an address. */
static void name_address(const struct ty_memory_view *v, int32_t pid, uint64_t addr, uint64_t ts,
			 char *buf, size_t n)
{
	size_t k = (size_t)snprintf(buf, n, "0x%" PRIx64 " ", addr);

	if (v->in->name)
		v->in->name(v->in->ctx, pid, addr, ts, buf + k, n - k);
}

static void row_name(const struct ty_memory_view *v, const struct ty_memory_row *w, char *buf,
		     size_t n)
{
	const struct ty_mem_points *p = v->in->points;
	char level[TY_MEM_LEVEL_TEXT];

	switch (v->by) {
	case TY_MEMORY_OF_PC:
		name_address(v, p->code[w->key].pid, p->code[w->key].addr, p->code[w->key].ts_ns,
			     buf, n);
		break;
	case TY_MEMORY_OF_SOURCE:
		snprintf(buf, n, "%s",
			 ty_mem_level_text((enum ty_mem_level)(w->key >> 8), w->key & 0xff, level));
		break;
	case TY_MEMORY_OF_PAGE: name_address(v, w->pid, w->key, w->ts_ns, buf, n); break;
	default: snprintf(buf, n, "%d %s", p->thread[w->key].tid, p->thread[w->key].comm);
	}
}

#define WIDE 120 /* columns of a screen with room for all columns of a table */

static const char *latency_text(uint64_t sum, uint64_t n, char out[24])
{
	if (n)
		snprintf(out, 24, "%" PRIu64, (sum + n / 2) / n);
	else
		snprintf(out, 24, "-");
	return out;
}

static void line_text(const struct ty_memory_view *v, const struct ty_sharing_line *l, bool wide,
		      char out[TY_MEMORY_ROW_TEXT])
{
	char what[300] = "", more[80] = "", mean[24];

	if (v->in->name)
		v->in->name(v->in->ctx, l->va ? l->va_pid : l->pid,
			    ty_sharing_accessed(&v->sharing, l), l->last_ns, what, sizeof(what));
	if (wide)
		snprintf(more, sizeof(more),
			 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %10" PRIu64 " %6s", l->peer,
			 l->remote, l->turns, l->lost,
			 latency_text(l->lat_sum, l->lat_count, mean));
	snprintf(out, TY_MEMORY_ROW_TEXT,
		 "%-7s %-8s %3u %8" PRIu64 " %8" PRIu64 "%s  0x%" PRIx64 " %s",
		 ty_sharing_kind_name(l->kind), ty_sharing_evidence_name(l->evidence), l->threads,
		 l->count, l->writes, more, l->va ? l->va : l->line, what);
}

static void count_text(const struct ty_memory_view *v, const struct ty_memory_row *w, bool wide,
		       char out[TY_MEMORY_ROW_TEXT])
{
	char what[300], lat[60] = "     -      -      -", more[100] = "", mean[24];

	row_name(v, w, what, sizeof(what));
	if (w->total.n)
		snprintf(lat, sizeof(lat), "%6u %6u %6u", w->total.p50, w->total.p99, w->total.max);
	if (wide)
		snprintf(more, sizeof(more),
			 " %6s %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64,
			 latency_text(w->total.sum, w->total.n, mean), w->loads, w->stores,
			 w->l1_miss, w->walks);
	snprintf(out, TY_MEMORY_ROW_TEXT, "%8" PRIu64 " %5.1f%% %s%s  %s", w->count, 100 * w->share,
		 lat, more, what);
}

int ty_memory_table_rows(const struct ty_memory_view *v)
{
	if (!v->counted || v->failed)
		return 0; /* those that are there may be of another table */
	return (int)(v->by == TY_MEMORY_OF_SHARING ? v->sharing.lines_n : v->table.rows_n);
}

void ty_memory_row_text(const struct ty_memory_view *v, int row, bool wide,
			char out[TY_MEMORY_ROW_TEXT])
{
	if (v->by == TY_MEMORY_OF_SHARING)
		line_text(v, &v->sharing.lines[row], wide, out);
	else
		count_text(v, &v->table.rows[row], wide, out);
}

/* Headings are above their columns; the title of the table is above the names. */
static void heading(const struct ty_memory_view *v, int n, bool wide, char out[TY_MEMORY_ROW_TEXT])
{
	static const char *const titles[] = {"instructions", "data sources", "pages", "threads",
					     "shared cache lines"};

	if (!v->counted || v->failed || !n)
		snprintf(out, TY_MEMORY_ROW_TEXT, "%s: %s", titles[v->by],
			 !v->counted ? "counting"
			 : v->failed ? "out of memory"
				     : "none in this window");
	else if (v->by == TY_MEMORY_OF_SHARING)
		snprintf(out, TY_MEMORY_ROW_TEXT, "%-7s %-8s %3s %8s %8s%s  %s%s", "kind",
			 "evidence", "thr", "samples", "writes",
			 wide ? "     peer   remote    turns     cycles   mean" : "", titles[v->by],
			 v->filter.query ? ", of all samples" : "");
	else
		snprintf(out, TY_MEMORY_ROW_TEXT, "%8s %6s %6s %6s %6s%s  %s (latency in cycles)",
			 "samples", "share", "p50", "p99", "max",
			 wide ? "   mean    loads   stores   L1miss TLBwalks" : "", titles[v->by]);
}

void ty_memory_draw_table(struct ty_memory_view *v, struct ty_grid *g, const struct ty_palette *p,
			  int y, int h)
{
	/* For the accesses to the chosen line. */
	const int below = v->by == TY_MEMORY_OF_SHARING && h >= 7 ? h / 2 : 0;
	const bool wide = g->w >= WIDE;
	const int n = ty_memory_table_rows(v);
	char text[TY_MEMORY_ROW_TEXT];

	heading(v, n, wide, text);
	ty_grid_elide(g, p, 1, y, g->w - 2, text, ty_palette_role(p, TY_ROLE_ACCENT));
	if (!v->counted || v->failed)
		return;
	v->at = v->at >= n ? n - 1 : v->at;
	v->at = v->at < 0 ? 0 : v->at;
	if (below && n) {
		const int lines = n + 1 < h - below ? n + 1 : h - below;

		ty_memory_draw_sites(v, g, p, y + lines, h - lines);
		h = lines;
	}
	if (v->top > v->at)
		v->top = v->at;
	if (v->at >= v->top + h - 1)
		v->top = v->at + 2 - h;
	v->top = v->top < 0 ? 0 : v->top;
	for (int r = 0; r + 1 < h && v->top + r < n; r++) {
		ty_memory_row_text(v, v->top + r, wide, text);
		ty_grid_elide(g, p, 1, y + 1 + r, g->w - 2, text, ty_palette_role(p, TY_ROLE_TEXT));
		if (v->top + r == v->at)
			ty_grid_tint(g, 0, y + 1 + r, g->w, ty_palette_role(p, TY_ROLE_SELECT));
	}
}

/* Fits 80 columns with a short name. */
#define RECORD "%-13s %5s %-6s %-8s %-14s "

static void record(struct ty_memory_view *v, const struct ty_mem_point *o)
{
	const struct ty_mem_points *p = v->in->points;
	const struct ty_mem_thread *t =
		o->thread != TY_MEM_NO_THREAD ? &p->thread[o->thread] : NULL;
	char pc[200] = "", other[40] = "", lat[40] = "-", va[24] = "", at[TY_TIME_MAX];

	if (o->pc != UINT32_MAX) {
		struct ty_mem_code c = p->code[o->pc];
		bool own = !t || !ty_mem_code_elsewhere(&c, t) ||
			   (v->in->own_code &&
			    v->in->own_code(v->in->ctx, &p->code[o->pc], t, o->ts_ns, &c));

		name_address(v, c.pid, c.addr, c.ts_ns, pc, sizeof(pc));
		if (!own)
			snprintf(other, sizeof(other), " (address as in pid %d)", c.pid);
	}
	if (o->flags & TY_MP_HAS_LAT)
		snprintf(lat, sizeof(lat), "%u", o->total);
	if (o->flags & TY_MP_HAS_VA)
		snprintf(va, sizeof(va), "0x%" PRIx64, o->va);
	ty_page_add(&v->page, TY_ROLE_TEXT, RECORD "%d %s  %s%s",
		    ty_fmt_time(o->ts_ns - v->vp.start_ns, 1, at), lat,
		    ty_memory_kind_name(o->kind),
		    o->level ? ty_mem_level_name((enum ty_mem_level)o->level) : "", va,
		    t ? t->tid : -1, t ? t->comm : "?", pc, other);
}

/* Is the sample one of the table's row? */
static bool of_row(const struct ty_memory_view *v, const struct ty_memory_row *w,
		   const struct ty_mem_point *o)
{
	const bool access = o->kind == TY_MEM_LOAD || o->kind == TY_MEM_STORE;

	switch (v->by) {
	case TY_MEMORY_OF_PC: return o->pc == w->key;
	case TY_MEMORY_OF_SOURCE:
		return access && ((uint64_t)o->level << 8 | o->src_flags) == w->key;
	case TY_MEMORY_OF_PAGE:
		return o->flags & TY_MP_HAS_VA && (o->va ^ w->key) >> 12 == 0 &&
		       (w->pid < 0 || (o->thread != TY_MEM_NO_THREAD &&
				       v->in->points->thread[o->thread].pid == w->pid));
	default: return o->thread == w->key;
	}
}

/* Those of a line are of all samples. */
static bool matches(const struct ty_memory_view *v, const struct ty_mem_point *o)
{
	return !v->filter.query || ty_memory_query_has(v->filter.query, o);
}

void ty_memory_records(struct ty_memory_view *v, bool column)
{
	const struct ty_mem_points *p = v->points;
	bool line = v->pane == TY_MEMORY_LINE, more = false;
	struct ty_mem_point rows[TY_BLOCK_ROWS];
	struct ty_memory_corner box;
	uint64_t first = 0, all = v->line.access.n, n = 0;
	const struct ty_memory_row *row = NULL;
	char at[TY_TIME_MAX], of[120] = "";

	if (!ty_memory_selected(v, &box)) {
		box = ty_memory_cell(v, v->cursor_ns, 0);
		box.low = 0;
		box.high = UINT32_MAX;
		if (!column) {
			box.from_ns = v->vp.from_ns;
			box.to_ns = v->vp.to_ns;
			if (v->by != TY_MEMORY_OF_SHARING && v->counted && v->table.rows_n) {
				row = &v->table.rows[v->at < (int)v->table.rows_n ? v->at : 0];
				row_name(v, row, of, sizeof(of));
			}
		}
	}
	line &= !row;
	ty_page_reset(&v->page);
	ty_page_add(&v->page, TY_ROLE_ACCENT, RECORD "%s", "time", "lat.", "kind", "source",
		    "address", "thread, code");
	if (!line)
		ty_mem_points_between(p, box.from_ns, box.to_ns, &first, &all);
	if (all > LOOK_MAX) {
		all = LOOK_MAX;
		more = true;
	}
	for (uint64_t i = 0, k; i < all; i += k) {
		if (line)
			rows[0] = ty_mem_points_get(v->in->points, v->line.access.v[i]), k = 1;
		else
			k = ty_mem_points_rows(p, first + i, TY_MEM_WANT_ALL, rows);
		if (!k)
			break;
		for (uint64_t r = 0; r < k && i + r < all; r++)
			if (ty_memory_in_box(v, &box, &rows[r]) && matches(v, &rows[r]) &&
			    (!row || of_row(v, row, &rows[r])) && n++ < RECORDS_MAX)
				record(v, &rows[r]);
	}
	if (n > RECORDS_MAX || more)
		ty_page_add(&v->page, TY_ROLE_DIM, "%s%" PRIu64 " more: zoom in",
			    more ? "at least " : "", n > RECORDS_MAX ? n - RECORDS_MAX : 0);
	for (size_t k = strlen(of); k && of[k - 1] == ' ';)
		of[--k] = 0; /* an address without a name */
	snprintf(v->page.title, sizeof(v->page.title), "%s%" PRIu64 " records%s%s, starting at %s",
		 more ? "at least " : "", n, *of ? " of " : "", of,
		 ty_fmt_time(box.from_ns - v->vp.start_ns, 1, at));
	v->page.at = n ? 1 : 0;
	v->page.name = "Memory samples: records";
	v->page.about = "One line for each sample, in the order of time: its latency in cycles, "
			"the kind of access, where the data came from, the address, the thread and "
			"the code.";
}

struct ty_help_topic ty_memory_help(const void *self)
{
	static const struct ty_help_key keys[] = {
		{TY_ACT_ZOOM_IN, TY_ACT_ZOOM_OUT, "zoom in and out at the cursor"},
		{TY_ACT_PAN_LEFT, TY_ACT_PAN_RIGHT, "pan a quarter of the window"},
		{TY_ACT_ALL, TY_ACT_NONE, "show the whole recording"},
		{TY_ACT_ZOOM_SPAN, TY_ACT_NONE, "fit the window to the selection"},
		{TY_ACT_UNDO, TY_ACT_REDO, "undo; redo a change of the window"},
		{TY_ACT_LEFT, TY_ACT_RIGHT, "move the cursor by one cell"},
		{TY_ACT_UP, TY_ACT_DOWN, "move in the table, or in the chart while selecting"},
		{TY_ACT_FOCUS, TY_ACT_NONE,
		 "next chart: latencies, threads, CPUs, accesses to the chosen line"},
		{TY_ACT_FOLD, TY_ACT_NONE, "color rows by number of samples, or by data source"},
		{TY_ACT_MEMORY, TY_ACT_NONE,
		 "next table: instructions, sources, pages, threads, shared lines"},
		{TY_ACT_FILTER, TY_ACT_NONE,
		 "filter the samples by thread, source, kind, CPU or latency; empty: all of them"},
		{TY_ACT_SEARCH, TY_ACT_NEXT, "find a row of the table; go to the next"},
		{TY_ACT_SELECT, TY_ACT_NONE,
		 "start a rectangle; again: finish it (or drag the mouse)"},
		{TY_ACT_OPEN, TY_ACT_NONE,
		 "list the records of the rectangle, or of the table's row; on a shared line: show "
		 "it"},
		{TY_ACT_LINK_1, TY_ACT_NONE, "show the falsely shared line that was found"},
		{TY_ACT_BACK, TY_ACT_NONE,
		 "drop the rectangle, the search, the filter; otherwise go back"},
		{TY_ACT_QUIT, TY_ACT_NONE, "go back; without a timeline: quit"},
	};
	static const char *const signs[] = {
		"Latencies: a row begins at the number of cycles beside it and ends at that of the "
		"row above. A cell's glyph shows how many samples (1, 2, 4, 16, 64 and more), its "
		"color the farthest source of their data: grey unknown, green a cache of this "
		"core, "
		"yellow memory, red another core.",
		"Rows: the height of a bar is the longest latency in it (up to 3, 15, 63, 255, "
		"1023, 4095, 16383 cycles, or more); a dot: no latency recorded. The color shows "
		"the number of samples (4, 16, 128 and more) or the farthest source (without "
		"colors: letters instead of bars: ? unknown, c cache, m memory, o other core).",
		"Accesses to a line: a row per thread, W where it wrote, r where it only read.",
		"Shared lines: the evidence that a line moved between cores is peer (loads came "
		"from another core's cache), remote (they reached the last-level cache or another "
		"socket), time (accessed in the same period) or apart (one after the other). thr: "
		"threads. peer, remote: number of these loads. turns: consecutive accesses by "
		"threads on different CPUs, at least one of them a write. cycles: total latency of "
		"loads from other cores' caches. mean: latency in cycles. In the list of accesses, "
		"8? is an assumed size.",
		"Filter: all words must match. A word is a part of the name of a thread, source or "
		"kind "
		"(a|b: either). thread:, process:, source:peer, kind:load: only that. tid:N[,N], "
		"pid:N, cpu:N; >200: more cycles. Shared lines are found in all samples.",
		"All numbers count samples: only one in many operations is sampled.",
	};

	return (struct ty_help_topic){.title = "Memory samples",
				      .keys = keys,
				      .keys_n = sizeof(keys) / sizeof(*keys),
				      .lines = signs,
				      .lines_n = sizeof(signs) / sizeof(*signs)};
}
