/* SPDX-License-Identifier: MIT */
/* Draws the spectrogram: see spectrum_view.h. Budget: bins x columns, at most 256 x screen width.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "footer.h"
#include "glyphs.h"
#include "ruler.h"
#include "spectrum_priv.h"
#include "model_time.h"
#include "units.h"

#define LABEL_W	 9
#define PANEL_W	 26
#define PANEL_AT 76 /* screens as wide have the panel */
#define LEVELS	 5
#define SCOPE	 (TY_SPEC_THREAD_NAME_MAX + 8)

struct ty_spec_layout ty_spec_layout_make(int w, int h)
{
	struct ty_spec_layout l = {.w = w, .h = h, .cells_x = LABEL_W, .heat_y = 2};

	if (w >= PANEL_AT) {
		l.panel_w = PANEL_W;
		l.panel_x = w - PANEL_W;
	}
	l.cells_w = w - LABEL_W - (l.panel_w ? l.panel_w + 1 : 0);
	l.details_y = h - 3;
	l.heat_h = l.details_y - 1 - l.heat_y; /* the axis is between them */
	return l;
}

const char *ty_spec_thread_name(const struct ty_spectrum_view *v, uint32_t thread, uint64_t at_ns,
				char out[TY_SPEC_THREAD_NAME_MAX])
{
	if (thread != TY_NONE)
		return ty_model_who(v->m, thread, at_ns, out);
	snprintf(out, TY_SPEC_THREAD_NAME_MAX, "an unknown thread");
	return out;
}

/* The level of a count in a cell: 1 to LEVELS, on a logarithmic scale. least: the smallest count of
 * each level. */
static unsigned level_of(uint64_t n, uint64_t most)
{
	unsigned bits = 0, all = 0;

	if (!n)
		return 0;
	for (; n > 1; n >>= 1)
		bits++;
	for (; most > 1; most >>= 1)
		all++;
	return all ? 1 + (bits * (LEVELS - 1) + all - 1) / all : 1;
}

static uint64_t least_of(unsigned level, uint64_t most)
{
	for (unsigned b = 0; b < 64; b++)
		if (level_of(UINT64_C(1) << b, most) >= level)
			return UINT64_C(1) << b;
	return 0;
}

static struct ty_glyph glyph(const struct ty_palette *p, unsigned level)
{
	static const struct {
		uint32_t utf8;
		char ascii;
		uint8_t color;
	} look[LEVELS + 1] = {
		{' ', ' ', TY_C_DEFAULT},     {0xb7, '.', TY_C_ACCENT},
		{0x2591, ':', TY_C_SLEEPING}, {0x2592, '+', TY_C_RUNNING},
		{0x2593, '#', TY_C_RUNNABLE}, {0x2588, '@', TY_C_BLOCKED},
	};

	return (struct ty_glyph){p->utf8 ? look[level].utf8 : (uint32_t)look[level].ascii,
				 {.fg = look[level].color, .attr = level == 1 ? TY_A_BOLD : 0}};
}

static struct ty_glyph worst(const struct ty_palette *p)
{
	struct ty_style st = ty_palette_role(p, TY_ROLE_WARN);

	st.attr |= TY_A_BOLD;
	return (struct ty_glyph){p->utf8 ? 0x25c6 : '*', st};
}

/* The subject, for the title. */
static void scope_text(const struct ty_spectrum_view *v, char out[SCOPE])
{
	const struct ty_window *w = &v->on.in->window;
	char who[TY_SPEC_THREAD_NAME_MAX];

	if (v->scope == TY_SPEC_ALL)
		snprintf(out, SCOPE, "%s",
			 w->tids_n || w->comms_n || w->cpus_n ? "the filtered threads"
							      : "all threads");
	else
		snprintf(out, SCOPE, "%s%s", v->scope == TY_SPEC_PROCESS ? "process " : "",
			 ty_spec_thread_name(v, v->of.thread, *v->on.cursor_ns, who));
}

static void draw_top(const struct ty_spectrum_view *v, struct ty_grid *g,
		     const struct ty_palette *p)
{
	struct ty_style bar = ty_palette_role(p, TY_ROLE_BAR);
	char name[32], scope[SCOPE], text[260], len[TY_TIME_MAX];
	const struct ty_viewport *vp = v->on.vp;
	uint64_t length = vp->to_ns - vp->from_ns;

	ty_grid_fill(g, 0, 0, g->w, 1, ' ', bar);
	scope_text(v, scope);
	snprintf(text, sizeof(text), "Latency of %s, %s: %s, starting at %s",
		 ty_spec_name(v->on.in->arch, &v->kind, name), scope, ty_fmt_length(length, len),
		 ty_time(v->m, *v->on.clock, vp->from_ns, length / 1000 + 1));
	bar.attr |= TY_A_BOLD;
	ty_grid_elide(g, p, 1, 0, g->w - 2, text, bar);
}

/* "100 us" beside the row that holds it. */
static void draw_scale(const struct ty_spectrum_view *v, struct ty_grid *g,
		       const struct ty_palette *p)
{
	const struct ty_spec_layout *l = &v->lay;
	struct ty_style dim = ty_palette_role(p, TY_ROLE_DIM);
	unsigned at = ty_spec_row_of(v, v->bin);

	for (int i = 0; i < l->heat_h; i++) {
		unsigned k = (unsigned)(l->heat_h - 1 - i);
		uint64_t a = ty_spec_bin_begin(ty_spec_row_begin(v, k)),
			 b = ty_spec_bin_begin(ty_spec_row_begin(v, k + 1)), ten = 1;
		char text[TY_DURATION_MAX] = "";

		while (ten < a && ten <= UINT64_MAX / 10)
			ten *= 10;
		if (v->lo < v->hi && ten >= a && ten < b) {
			uint64_t unit = ten >= 1000000000 ? 1000000000
					: ten >= 1000000  ? 1000000
					: ten >= 1000	  ? 1000
							  : 1;

			snprintf(text, sizeof(text), "%" PRIu64 " %s", ten / unit,
				 unit == 1000000000 ? "s"
				 : unit == 1000000  ? "ms"
				 : unit == 1000	    ? "us"
						    : "ns");
		}
		ty_grid_text(g, l->cells_x - 2 - (int)strlen(text), l->heat_y + i,
			     (int)strlen(text), text, dim);
		ty_grid_put(g, l->cells_x - 1, l->heat_y + i,
			    k == at   ? '>'
			    : p->utf8 ? (*text ? 0x2524 : 0x2502)
			    : *text   ? '+'
				      : '|',
			    k == at ? ty_palette_role(p, TY_ROLE_ACCENT) : dim);
	}
}

static void draw_heat(const struct ty_spectrum_view *v, struct ty_grid *g,
		      const struct ty_palette *p, uint64_t most)
{
	const struct ty_spec_layout *l = &v->lay;
	unsigned worst_row =
		ty_spec_row_of(v, ty_spec_bin(v->s.worst.end_ns - v->s.worst.start_ns));

	for (int i = 0; i < l->heat_h; i++) {
		unsigned k = (unsigned)(l->heat_h - 1 - i);

		for (uint32_t c = 0; c < v->s.cols; c++) {
			struct ty_spec_box b = {c, c, k, k};
			unsigned level = level_of(ty_spec_count(v, &b), most);
			struct ty_glyph gl = glyph(p, level);

			if (k == worst_row && c == v->s.worst_col)
				gl = worst(p);
			if (gl.ch != ' ')
				ty_grid_put(g, l->cells_x + (int)c, l->heat_y + i, gl.ch, gl.st);
		}
	}
}

/* The axis below; '!' where events were lost, so that more may have happened than is drawn. */
static void draw_axis(const struct ty_spectrum_view *v, struct ty_grid *g,
		      const struct ty_palette *p)
{
	const struct ty_spec_layout *l = &v->lay;
	int y = l->heat_y + l->heat_h;
	struct ty_style dim = ty_palette_role(p, TY_ROLE_DIM);

	ty_grid_fill(g, l->cells_x, y, l->cells_w, 1, p->utf8 ? 0x2500 : '-', dim);
	ty_grid_put(g, l->cells_x - 1, y, p->utf8 ? 0x2514 : '`', dim);
	for (int c = 0; c < l->cells_w; c++) {
		uint64_t a = ty_viewport_edge(v->on.vp, (uint32_t)c, (uint32_t)l->cells_w),
			 b = ty_viewport_edge(v->on.vp, (uint32_t)c + 1, (uint32_t)l->cells_w);

		if (ty_gaps_touch(v->on.gaps, a, b > a ? b - 1 : a, TY_NONE))
			ty_grid_put(g, l->cells_x + c, y, '!', ty_palette_role(p, TY_ROLE_LOST));
	}
}

static uint64_t most_of(const struct ty_spectrum_view *v)
{
	uint64_t most = 0;

	for (unsigned k = 0; k < (unsigned)v->lay.heat_h; k++)
		for (uint32_t c = 0; c < v->s.cols; c++) {
			struct ty_spec_box b = {c, c, k, k};
			uint64_t n = ty_spec_count(v, &b);

			most = n > most ? n : most;
		}
	return most;
}

static const char *noun(const struct ty_spectrum_view *v, uint64_t n)
{
	if (v->kind.of == TY_SPEC_CALL)
		return n == 1 ? "call" : "calls";
	return n == 1 ? "span" : "spans";
}

/* Percentiles, legend, kinds: beside the picture. */
static void draw_panel(const struct ty_spectrum_view *v, struct ty_grid *g,
		       const struct ty_palette *p, uint64_t most)
{
	const struct ty_spec_layout *l = &v->lay;
	const struct ty_spectrum *s = &v->s;
	struct ty_style dim = ty_palette_role(p, TY_ROLE_DIM), st = {0};
	const struct {
		const char *name;
		uint64_t ns;
	} q[] = {{"p50", s->p50_ns},
		 {"p90", s->p90_ns},
		 {"p99", s->p99_ns},
		 {"p99.9", s->p999_ns},
		 {"longest", s->worst.end_ns - s->worst.start_ns},
		 {"sum", s->total_ns}};
	int x = l->panel_x, y = 2, end = l->details_y, at = -1;
	char text[64], name[32];
	unsigned shown = 0;

	snprintf(text, sizeof(text), "%" PRIu64 " %s", s->n, noun(v, s->n));
	ty_grid_elide(g, p, x, 1, l->panel_w - 1, text, ty_palette_role(p, TY_ROLE_STRONG));
	for (unsigned i = 0; i < sizeof(q) / sizeof(*q) && y < end && s->n; i++, y++) {
		snprintf(text, sizeof(text), "%-8s %11s", q[i].name, ty_duration(q[i].ns));
		ty_grid_text(g, x, y, l->panel_w - 1, text, st);
	}
	if (s->untimed && y < end) {
		snprintf(text, sizeof(text), "%" PRIu64 " without start", s->untimed);
		ty_grid_elide(g, p, x, y++, l->panel_w - 1, text, ty_palette_role(p, TY_ROLE_WARN));
	}
	/* A glyph and the smallest count that it represents; unused levels are left out. */
	for (unsigned i = 1; i <= LEVELS && s->n && y < end; i++) {
		struct ty_glyph gl = glyph(p, i);

		if (!least_of(i, most) || least_of(i, most) > most ||
		    (i < LEVELS && least_of(i + 1, most) == least_of(i, most)))
			continue;
		snprintf(text, sizeof(text), "%" PRIu64 "%s", least_of(i, most),
			 (i < LEVELS && least_of(i + 1, most) == least_of(i, most) + 1) ||
					 most == least_of(i, most)
				 ? ""
				 : "+");
		ty_grid_put(g, x + (int)(shown % 3) * 8, y, gl.ch, gl.st);
		ty_grid_elide(g, p, x + 2 + (int)(shown % 3) * 8, y, 6, text, dim);
		y += ++shown % 3 == 0;
	}
	if (shown % 3)
		y++;
	if (v->no_kinds) {
		ty_grid_elide(g, p, x, y + 1, l->panel_w - 1, v->no_kinds, dim);
		return;
	}
	for (uint32_t i = 0; i < v->kinds_n; i++)
		if (ty_spec_same(&v->kinds[i].kind, &v->kind))
			at = (int)i;
	y++;
	for (int i = at > end - y - 1 ? at - (end - y - 1) : 0; i < (int)v->kinds_n && y < end;
	     i++, y++) {
		snprintf(text, sizeof(text), "%c%-16.16s %7" PRIu64, i == at ? '>' : ' ',
			 ty_spec_name(v->on.in->arch, &v->kinds[i].kind, name), v->kinds[i].n);
		ty_grid_elide(g, p, x, y, l->panel_w - 1, text, i == at ? st : dim);
		if (i == at)
			ty_grid_tint(g, x, y, l->panel_w - 1, ty_palette_role(p, TY_ROLE_SELECT));
	}
}

static void draw_details(const struct ty_spectrum_view *v, struct ty_grid *g,
			 const struct ty_palette *p)
{
	const struct ty_spectrum *s = &v->s;
	struct ty_spec_box b = ty_spec_box(v);
	uint64_t from = ty_viewport_edge(v->on.vp, b.c0, s->cols),
		 to = ty_viewport_edge(v->on.vp, b.c1 + 1, s->cols), n = ty_spec_count(v, &b);
	char text[240], len[TY_TIME_MAX], at[TY_TIME_MAX], name[32], who[TY_SPEC_THREAD_NAME_MAX];

	if (!s->n) {
		snprintf(text, sizeof(text), "no %s with a known start in this window",
			 ty_spec_name(v->on.in->arch, &v->kind, name));
		ty_grid_elide(g, p, 1, v->lay.details_y, g->w - 2, text,
			      ty_palette_role(p, TY_ROLE_STRONG));
		return;
	}
	snprintf(text, sizeof(text), "%s: %" PRIu64 " %s of %s to %s began between %s and %s",
		 v->sel ? "rectangle" : "cell", n, noun(v, n),
		 ty_duration(ty_spec_bin_begin(ty_spec_row_begin(v, b.k0))),
		 ty_duration(ty_spec_bin_begin(ty_spec_row_begin(v, b.k1 + 1))),
		 ty_time_text(v->m, *v->on.clock, from, (to - from) / 100 + 1, at),
		 ty_time_text(v->m, *v->on.clock, to, (to - from) / 100 + 1, len));
	ty_grid_elide(g, p, 1, v->lay.details_y, g->w - 2, text,
		      ty_palette_role(p, TY_ROLE_STRONG));
	if (v->lay.panel_w)
		snprintf(text, sizeof(text), "longest: %s of %s, starting at %s [1]",
			 ty_fmt_length(s->worst.end_ns - s->worst.start_ns, len),
			 ty_spec_thread_name(v, s->worst.thread, s->worst.start_ns, who),
			 ty_time_text(v->m, *v->on.clock, s->worst.start_ns, 1000, at));
	else
		snprintf(text, sizeof(text), "longest %s [1], p50 %s, p99 %s, count %" PRIu64 "",
			 ty_fmt_length(s->worst.end_ns - s->worst.start_ns, len),
			 ty_duration(s->p50_ns), ty_duration(s->p99_ns), s->n);
	ty_grid_elide(g, p, 1, v->lay.details_y + 1, g->w - 2, text,
		      ty_palette_role(p, TY_ROLE_TEXT));
}

static void draw_footer(const struct ty_spectrum_view *v, struct ty_grid *g,
			const struct ty_palette *p)
{
	static const struct {
		enum ty_action a, b;
		const char *word;
	} keys[] = {
		{TY_ACT_OPEN, TY_ACT_NONE, "list"},
		{TY_ACT_NEXT, TY_ACT_PREV, "kind"},
		{TY_ACT_SEARCH, TY_ACT_NONE, "kinds"},
		{TY_ACT_FOCUS, TY_ACT_NONE, "scope"},
		{TY_ACT_LINK_1, TY_ACT_NONE, "longest"},
		{TY_ACT_ZOOM_IN, TY_ACT_ZOOM_OUT, "zoom"},
		{TY_ACT_PAN_LEFT, TY_ACT_PAN_RIGHT, "pan"},
		{TY_ACT_SELECT, TY_ACT_NONE, "select"},
		{TY_ACT_UNDO, TY_ACT_NONE, "undo"},
		{TY_ACT_ALL, TY_ACT_NONE, "all"},
	};
	struct ty_style bar = ty_palette_role(p, TY_ROLE_BAR);
	int y = g->h - 1, x = 1, end = g->w - 15;

	if (v->message[0]) {
		ty_footer_say(g, p, v->message);
		return;
	}
	ty_grid_fill(g, 0, y, g->w, 1, ' ', bar);
	ty_grid_text(g, end + 1, y, 14, "? help  q back", bar);
	for (unsigned i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		char name[TY_KEY_NAME_MAX], text[40];
		int n = snprintf(text, sizeof(text), "%s",
				 ty_key_name(ty_keys_row(keys[i].a)->keys[0], p->utf8, name));

		if (keys[i].b)
			snprintf(text + n, sizeof(text) - (size_t)n, "/%s",
				 ty_key_name(ty_keys_row(keys[i].b)->keys[0], p->utf8, name));
		if (x + ty_text_width(text) + 1 + (int)strlen(keys[i].word) > end)
			break;
		x += ty_grid_text(g, x, y, 30, text, ty_palette_role(p, TY_ROLE_BARKEY)) + 1;
		x += ty_grid_text(g, x, y, 30, keys[i].word, bar) + 2;
	}
}

static void draw_box(const struct ty_spectrum_view *v, struct ty_grid *g,
		     const struct ty_palette *p)
{
	const struct ty_spec_layout *l = &v->lay;
	struct ty_spec_box b = ty_spec_box(v);
	struct ty_style st = ty_palette_role(p, TY_ROLE_SELECT);

	st.attr = TY_A_REVERSE;
	for (unsigned k = b.k0; k <= b.k1; k++)
		ty_grid_tint(g, l->cells_x + (int)b.c0, l->heat_y + l->heat_h - 1 - (int)k,
			     (int)(b.c1 - b.c0) + 1, st);
}

void ty_spec_draw(void *self, struct ty_grid *g, const struct ty_palette *p)
{
	struct ty_spectrum_view *v = self;
	const struct ty_spec_layout *l = &v->lay;
	uint32_t cols = (uint32_t)l->cells_w;
	uint64_t most;

	draw_top(v, g, p);
	ty_ruler_draw(g, p, l->cells_x, 1, l->cells_w, v->on.vp, v->m, *v->on.clock,
		      (int)ty_viewport_column(v->on.vp, *v->on.cursor_ns, cols), NULL);
	draw_scale(v, g, p);
	draw_axis(v, g, p);
	if (ty_spec_is_counted(v)) {
		most = most_of(v);
		draw_heat(v, g, p, most);
		if (l->panel_w)
			draw_panel(v, g, p, most);
		draw_details(v, g, p);
		draw_box(v, g, p);
	} else {
		ty_grid_text(g, l->cells_x + 2, l->heat_y + l->heat_h / 2, l->cells_w - 2,
			     v->counting.rc ? "out of memory: nothing is counted" : "counting...",
			     ty_palette_role(p, TY_ROLE_DIM));
	}
	draw_footer(v, g, p);
}
