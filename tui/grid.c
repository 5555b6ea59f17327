/* SPDX-License-Identifier: MIT */
/* Cells of a screen; see grid.h for the invariants. Writing a cell is O(1). */
#include "grid.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "err.h"
#include "plain_text.h"

int ty_grid_init(struct ty_grid *g, int w, int h)
{
	*g = (struct ty_grid){0};
	if (w < 1 || h < 1 || w > TY_GRID_MAX || h > TY_GRID_MAX)
		return -TY_ELIMIT;
	g->cells = malloc((size_t)w * (size_t)h * sizeof(*g->cells));
	if (!g->cells)
		return -TY_ENOMEM;
	g->w = w;
	g->h = h;
	ty_grid_clear(g);
	return 0;
}

void ty_grid_fini(struct ty_grid *g)
{
	free(g->cells);
	*g = (struct ty_grid){0};
}

void ty_grid_clear(struct ty_grid *g)
{
	for (int i = 0; i < g->w * g->h; i++)
		g->cells[i] = (struct ty_gcell){.ch = ' '};
}

struct ty_gcell *ty_grid_at(const struct ty_grid *g, int x, int y)
{
	return x < 0 || y < 0 || x >= g->w || y >= g->h ? NULL : g->cells + (size_t)y * g->w + x;
}

/* The other half of a wide character that is about to be written over becomes a blank. */
static void unpair(struct ty_grid *g, int x, int y)
{
	struct ty_gcell *c = ty_grid_at(g, x, y), *next = ty_grid_at(g, x + 1, y);

	if (!c->ch && x > 0)
		c[-1].ch = ' ';
	if (c->ch && next && !next->ch)
		next->ch = ' ';
}

/* Columns of a code point in this locale: 0, 1 or 2; -1 for what cannot be shown. */
static int char_width(uint32_t ch)
{
	if (ch < 0x7f)
		return ch < 0x20 ? -1 : 1;
	/* Characters drawn by the views (lines, blocks, arrows) have one column in every locale. */
	if ((ch >= 0x2190 && ch <= 0x21ff) || (ch >= 0x2500 && ch <= 0x25ff) || ch == 0x2026 ||
	    ch == 0xb7)
		return 1;
	return ty_char_harmful(ch) ? -1 : wcwidth((wchar_t)ch);
}

int ty_grid_put(struct ty_grid *g, int x, int y, uint32_t ch, struct ty_style st)
{
	struct ty_gcell *c = ty_grid_at(g, x, y);
	int w = char_width(ch);

	if (w < 0) {
		ch = '?';
		w = 1;
	}
	if (!c || !w || x + w > g->w)
		return 0;
	unpair(g, x, y);
	*c = (struct ty_gcell){.ch = ch, .st = st};
	if (w == 2) {
		unpair(g, x + 1, y);
		c[1] = (struct ty_gcell){.ch = 0, .st = st};
	}
	return w;
}

void ty_grid_fill(struct ty_grid *g, int x, int y, int w, int h, uint32_t ch, struct ty_style st)
{
	for (int j = y; j < y + h; j++)
		for (int i = x; i < x + w; i++)
			ty_grid_put(g, i, j, ch, st);
}

void ty_grid_tint(struct ty_grid *g, int x, int y, int w, struct ty_style st)
{
	for (int i = x; i < x + w; i++) {
		struct ty_gcell *c = ty_grid_at(g, i, y);

		if (!c)
			continue;
		if (st.bg != TY_C_DEFAULT && c->st.bg == TY_C_DEFAULT) {
			c->st.bg = st.bg;
			c->st.fg = c->st.fg == TY_C_DEFAULT ? st.fg : c->st.fg;
		}
		c->st.attr ^= st.attr & TY_A_REVERSE;
		c->st.attr |= st.attr & ~TY_A_REVERSE;
	}
}

uint32_t ty_utf8_next(const char **s)
{
	static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
	const unsigned char *p = (const unsigned char *)*s;
	uint32_t ch;
	int more;

	(*s)++;
	if (p[0] < 0x80)
		return p[0];
	if (p[0] >= 0xc2 && p[0] < 0xe0) {
		more = 1;
		ch = p[0] & 0x1f;
	} else if (p[0] >= 0xe0 && p[0] < 0xf0) {
		more = 2;
		ch = p[0] & 0x0f;
	} else if (p[0] >= 0xf0 && p[0] < 0xf5) {
		more = 3;
		ch = p[0] & 0x07;
	} else {
		return '?';
	}
	for (int i = 1; i <= more; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return '?';
		ch = ch << 6 | (p[i] & 0x3f);
	}
	if (ch < least[more] || ch > 0x10ffff || (ch >= 0xd800 && ch < 0xe000))
		return '?';
	*s += more;
	return ch;
}

/* The next character as it will be shown, and its width. */
static uint32_t shown_next(const char **s, int *w)
{
	uint32_t ch = ty_utf8_next(s);

	*w = char_width(ch);
	if (*w < 0) {
		*w = 1;
		return '?';
	}
	return ch;
}

int ty_text_width(const char *s)
{
	int n = 0, w;

	while (*s) {
		shown_next(&s, &w);
		n += w;
	}
	return n;
}

size_t ty_text_break(const char *s, int max, int *cols)
{
	const char *q = s;
	size_t blank = 0;
	int n = 0, blank_cols = 0;

	*cols = 0;
	while (*q) {
		const char *before = q;
		int w;

		shown_next(&q, &w);
		if (*before == ' ') {
			blank = (size_t)(before - s);
			blank_cols = n;
		}
		if (n + w > max) {
			*cols = blank ? blank_cols : n;
			return blank ? blank : (size_t)(before - s);
		}
		n += w;
	}
	*cols = n;
	return (size_t)(q - s);
}

int ty_grid_text(struct ty_grid *g, int x, int y, int max, const char *s, struct ty_style st)
{
	int n = 0;

	while (*s) {
		int w;
		uint32_t ch = shown_next(&s, &w);

		if (n + w > max)
			break;
		if (w)
			ty_grid_put(g, x + n, y, ch, st);
		n += w;
	}
	return n;
}

void ty_grid_input(struct ty_grid *g, int x, int y, const char *s, struct ty_style st)
{
	const int room = g->w - x - 2;

	while (*s && ty_text_width(s) > room)
		ty_utf8_next(&s);
	st.attr |= TY_A_BOLD;
	x += ty_grid_text(g, x, y, room, s, st);
	ty_grid_put(g, x, y, '_', st);
}

int ty_grid_elide(struct ty_grid *g, const struct ty_palette *p, int x, int y, int max,
		  const char *s, struct ty_style st)
{
	int n;

	if (max <= 0)
		return 0;
	if (ty_text_width(s) <= max)
		return ty_grid_text(g, x, y, max, s, st);
	n = ty_grid_text(g, x, y, max - 1, s, st);
	return n + ty_grid_put(g, x + n, y, p->utf8 ? 0x2026 : '~', st);
}

int ty_grid_wrap_from(struct ty_grid *g, const struct ty_palette *p, int x, int y, int first,
		      int lines, int w, const char *s, struct ty_style st)
{
	int used = 0, in = 2 + (int)strspn(s, " ");

	y -= first;
	while (used < first + lines && *s) {
		int cols;
		size_t n = ty_text_break(s, w, &cols);
		bool seen = g && used >= first;

		if (s[n] &&
		    used + 1 == first + lines) { /* the last line shows that there is more */
			if (seen)
				ty_grid_elide(g, p, x, y + used, w, s, st);
			return lines;
		}
		if (!n)
			break;
		if (seen)
			ty_grid_text(g, x, y + used, cols, s, st);
		used++;
		s += n;
		s += strspn(s, " ");
		if (used == 1 && w > 18 + in) {
			x += in;
			w -= in;
		}
	}
	return used > first ? used - first : 0;
}

int ty_grid_wrap(struct ty_grid *g, const struct ty_palette *p, int x, int y, int lines, int w,
		 const char *s, struct ty_style st)
{
	return ty_grid_wrap_from(g, p, x, y, 0, lines, w, s, st);
}

static void add_utf8(struct ty_buf *out, uint32_t ch)
{
	if (ch < 0x80) {
		ty_buf_addc(out, (char)ch);
	} else if (ch < 0x800) {
		ty_buf_addc(out, (char)(0xc0 | ch >> 6));
		ty_buf_addc(out, (char)(0x80 | (ch & 0x3f)));
	} else if (ch < 0x10000) {
		ty_buf_addc(out, (char)(0xe0 | ch >> 12));
		ty_buf_addc(out, (char)(0x80 | (ch >> 6 & 0x3f)));
		ty_buf_addc(out, (char)(0x80 | (ch & 0x3f)));
	} else {
		ty_buf_addc(out, (char)(0xf0 | ch >> 18));
		ty_buf_addc(out, (char)(0x80 | (ch >> 12 & 0x3f)));
		ty_buf_addc(out, (char)(0x80 | (ch >> 6 & 0x3f)));
		ty_buf_addc(out, (char)(0x80 | (ch & 0x3f)));
	}
}

static bool same_style(struct ty_style a, struct ty_style b)
{
	return a.fg == b.fg && a.bg == b.bg && a.attr == b.attr;
}

int ty_grid_dump(const struct ty_grid *g, const struct ty_palette *p, struct ty_buf *out)
{
	bool styled = p && p->mode != TY_COLOR_NONE;

	for (int y = 0; y < g->h; y++) {
		const struct ty_gcell *row = g->cells + (size_t)y * g->w;
		struct ty_style st = {0};
		int end = g->w;

		while (end > 0 && row[end - 1].ch == ' ' &&
		       (!styled || (row[end - 1].st.bg == TY_C_DEFAULT &&
				    !(row[end - 1].st.attr & (TY_A_REVERSE | TY_A_UNDERLINE)))))
			end--;
		for (int x = 0; x < end; x++) {
			if (!row[x].ch)
				continue;
			if (styled && !same_style(st, row[x].st)) {
				char sgr[TY_SGR_MAX];

				st = row[x].st;
				ty_buf_adds(out, ty_palette_sgr(p, st, sgr));
			}
			add_utf8(out, row[x].ch >= 0x80 && p && !p->utf8 ? '?' : row[x].ch);
		}
		if (!same_style(st, (struct ty_style){0}))
			ty_buf_adds(out, "\033[0m");
		ty_buf_addc(out, '\n');
	}
	return out->failed;
}
