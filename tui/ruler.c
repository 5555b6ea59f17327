/* SPDX-License-Identifier: MIT */
/* Ruler, overview and formatted times; see ruler.h. */
#include "ruler.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "glyphs.h"

const char *ty_fmt_time(uint64_t t_ns, uint64_t res_ns, char out[TY_TIME_MAX])
{
	ty_fmt_seconds(t_ns, res_ns, out);
	return strcat(out, " s");
}

const char *ty_fmt_length(uint64_t ns, char out[TY_TIME_MAX])
{
	static const char *const units[] = {" us", " ms", " s"};
	uint64_t thousandths = ns;
	unsigned u = 0;

	if (ns < 1000) {
		snprintf(out, TY_TIME_MAX, "%" PRIu64 " ns", ns);
		return out;
	}
	/* Rounded, as durations are in reports. */
	for (uint64_t unit = 1; u < 2 && thousandths >= 1000000; u++) {
		unit *= 1000;
		thousandths = ns / unit + (ns % unit >= unit / 2);
	}
	snprintf(out, TY_TIME_MAX, "%" PRIu64 ".%03" PRIu64 "%s", thousandths / 1000,
		 thousandths % 1000, units[u]);
	return out;
}

/* The clock at the window's start, in ns; ticks are at round values of it. */
static uint64_t shown_ns(const struct ty_viewport *v, const struct ty_model *m, enum ty_clock clock)
{
	uint64_t real;

	if (clock == TY_CLOCK_WALL && ty_model_realtime(m, v->from_ns, &real))
		return real;
	return clock == TY_CLOCK_TRACE ? v->from_ns
				       : v->from_ns - (m ? ty_model_origin_ns(m) : v->start_ns);
}

/* A wall clock may be steered or set within the window: the label is what it showed at the tick. */
static void label(const struct ty_model *m, enum ty_clock clock, uint64_t t_ns, uint64_t shown,
		  uint64_t step, char text[TY_TIME_MAX])
{
	uint64_t unit = 1, real;

	if (clock != TY_CLOCK_WALL || !ty_model_realtime(m, t_ns, &real)) {
		ty_fmt_time(shown, step, text);
		return;
	}
	while (unit < 1000000000 && unit * 10 <= step)
		unit *= 10;
	ty_fmt_clock(real + unit / 2, step, text);
}

/* True if a label of n columns fits at column c: not over the edge, another label or a sign. */
static bool is_free(const uint8_t *taken, int w, int cursor, int c, int n, int label_end)
{
	if (c < label_end || c + n >= w || (cursor >= c && cursor < c + n))
		return false;
	for (int i = c; taken && i < c + n; i++)
		if (taken[i])
			return false;
	return true;
}

void ty_ruler_draw(struct ty_grid *g, const struct ty_palette *p, int x, int y, int w,
		   const struct ty_viewport *v, const struct ty_model *m, enum ty_clock clock,
		   int cursor, const uint8_t *taken)
{
	struct ty_style dim = ty_palette_role(p, TY_ROLE_DIM);
	uint64_t length = v->to_ns - v->from_ns, step = 0, from = shown_ns(v, m, clock);
	char text[TY_TIME_MAX];
	int need = 10, label_end = 0;

	ty_grid_fill(g, x, y, w, 1, p->utf8 ? 0x2500 : '-', dim);
	/* Finer steps have longer labels: find the finest whose labels fit. */
	for (int i = 0; i < 4; i++) {
		step = ty_round_step(length / (unsigned)(w > need ? w / need : 1) + 1);
		label(m, clock, v->to_ns, from + length, step, text);
		need = (int)strlen(text) + 3;
	}
	/* A label is drawn whole and after its tick, or not at all: with labels on both sides of
	 * ticks, readers assign them to the wrong one. If none would fit, they are before their
	 * ticks. */
	for (int before = 0; before < 2 && !label_end; before++)
		for (uint64_t o = (step - from % step) % step;
		     o<length; o = length - o> step ? o + step : length) {
			uint64_t at = v->from_ns + o;
			int c = (int)ty_viewport_column(v, at, (uint32_t)w), n, at_c;

			ty_grid_put(g, x + c, y, p->utf8 ? 0x252c : '+', dim);
			label(m, clock, at, from + o, step, text);
			n = (int)strlen(text);
			at_c = before ? c - n : c + 1;
			if (is_free(taken, w, cursor, at_c, n, label_end))
				label_end = at_c + 1 +
					    ty_grid_text(g, x + at_c, y, n, text,
							 ty_palette_role(p, TY_ROLE_TEXT));
		}
	if (cursor >= 0)
		ty_grid_put(g, x + cursor, y, p->utf8 ? 0x25bc : 'v',
			    ty_palette_role(p, TY_ROLE_ACCENT));
}

void ty_minimap_draw(struct ty_grid *g, const struct ty_palette *p, int x, int y, int w,
		     const struct ty_viewport *v, const struct ty_findings *f,
		     const struct ty_gaps *gaps)
{
	struct ty_viewport all;
	struct ty_style window = ty_palette_role(p, TY_ROLE_SELECT);
	uint32_t count[TY_GRID_MAX] = {0};
	uint32_t most = 8; /* so many make a full bar; more when there are more */
	int from, to;

	if (w < 3 || w > TY_GRID_MAX)
		return;
	ty_viewport_init(&all, v->start_ns, v->end_ns);
	for (uint32_t i = 0; i < f->n; i++) {
		uint64_t a = f->v[i].start_ns, b = a + f->v[i].duration_ns;
		uint32_t last = ty_viewport_column(&all, b > a ? b - 1 : a, (uint32_t)w);

		for (uint32_t c = ty_viewport_column(&all, a, (uint32_t)w); c <= last; c++)
			most = ++count[c] > most ? count[c] : most;
	}
	for (int c = 0; c < w; c++) {
		struct ty_glyph bar = ty_glyph_bar(p, (count[c] * 8 + most - 1) / most, TY_C_WARN);

		if (!count[c])
			bar = (struct ty_glyph){.ch = p->utf8 ? 0xb7 : '.',
						.st = ty_palette_role(p, TY_ROLE_DIM)};
		if (ty_gaps_touch(gaps, ty_viewport_edge(&all, (uint32_t)c, (uint32_t)w),
				  ty_viewport_edge(&all, (uint32_t)c + 1, (uint32_t)w) - 1,
				  TY_NONE))
			bar = (struct ty_glyph){.ch = '!', .st = ty_palette_role(p, TY_ROLE_LOST)};
		ty_grid_put(g, x + c, y, bar.ch, bar.st);
	}
	if (v->from_ns == v->start_ns && v->to_ns == v->end_ns)
		return;
	from = (int)ty_viewport_column(&all, v->from_ns, (uint32_t)w);
	to = (int)ty_viewport_column(&all, v->to_ns - 1, (uint32_t)w);
	window.attr &= (uint8_t)~TY_A_BOLD;
	ty_grid_tint(g, x + from, y, to - from + 1, window);
	/* Brackets are there without colours, too. */
	if (from == to) {
		ty_grid_put(g, x + from, y, '|', ty_palette_role(p, TY_ROLE_ACCENT));
	} else {
		ty_grid_put(g, x + from, y, '[', ty_palette_role(p, TY_ROLE_ACCENT));
		ty_grid_put(g, x + to, y, ']', ty_palette_role(p, TY_ROLE_ACCENT));
	}
}
