/* SPDX-License-Identifier: MIT */
/* Maps colours by meaning to colours of a terminal. Source of the palette: M. Okabe and K. Ito,
 * "Color Universal Design" (2008); escape sequences: ECMA-48 8.3.117 and ISO 8613-6 (38;5 and
 * 38;2). */
#include "palette.h"

#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	uint32_t dark, light;
	uint8_t ansi;
} colors_of[TY_C_COUNT] = {
#define X(name, d, l, a) [TY_C_##name] = {d, l, a},
	TY_COLORS(X)
#undef X
};

int32_t ty_palette_rgb(const struct ty_palette *p, enum ty_color c)
{
	if (c == TY_C_DEFAULT || c >= TY_C_COUNT)
		return -1;
	return (int32_t)(p->light ? colors_of[c].light : colors_of[c].dark);
}

static int distance(int32_t rgb, int r, int g, int b)
{
	int dr = (rgb >> 16) - r, dg = (rgb >> 8 & 255) - g, db = (rgb & 255) - b;

	return dr * dr + dg * dg + db * db;
}

/* The nearest of the 6x6x6 cube (16..231) and the grey ramp (232..255). */
static int nearest_256(int32_t rgb)
{
	static const int level[] = {0, 95, 135, 175, 215, 255};
	int best = 16, best_d = INT32_MAX;

	for (int i = 0; i < 216; i++) {
		int d = distance(rgb, level[i / 36], level[i / 6 % 6], level[i % 6]);

		if (d < best_d) {
			best_d = d;
			best = 16 + i;
		}
	}
	for (int i = 0; i < 24; i++) {
		int v = 8 + 10 * i, d = distance(rgb, v, v, v);

		if (d < best_d) {
			best_d = d;
			best = 232 + i;
		}
	}
	return best;
}

int ty_palette_index(const struct ty_palette *p, enum ty_color c)
{
	int32_t rgb = ty_palette_rgb(p, c);

	if (rgb < 0)
		return -1;
	return p->mode >= TY_COLOR_256 ? nearest_256(rgb) : colors_of[c].ansi;
}

struct ty_style ty_palette_role(const struct ty_palette *p, enum ty_role role)
{
	bool rich = p->mode >= TY_COLOR_256;

	switch (role) {
	case TY_ROLE_TEXT: return (struct ty_style){0};
	case TY_ROLE_DIM:
		/* Bright black is unreadable on some 16-colour terminals: only where it is ours. */
		return (struct ty_style){.fg = rich ? TY_C_DIM : TY_C_DEFAULT};
	case TY_ROLE_STRONG: return (struct ty_style){.attr = TY_A_BOLD};
	case TY_ROLE_ACCENT: return (struct ty_style){.fg = TY_C_ACCENT, .attr = TY_A_BOLD};
	case TY_ROLE_WARN: return (struct ty_style){.fg = TY_C_WARN, .attr = TY_A_BOLD};
	case TY_ROLE_BAR:
		return rich ? (struct ty_style){.fg = TY_C_TEXT, .bg = TY_C_BAR}
			    : (struct ty_style){.attr = TY_A_REVERSE};
	case TY_ROLE_BARKEY:
		return rich ? (struct ty_style){.fg = TY_C_ACCENT,
						.bg = TY_C_BAR,
						.attr = TY_A_BOLD}
			    : (struct ty_style){.attr = TY_A_REVERSE | TY_A_BOLD};
	case TY_ROLE_SELECT:
		/* With its own colour of text: a light background need not be known. */
		return rich ? (struct ty_style){.fg = TY_C_TEXT,
						.bg = TY_C_SELECT,
						.attr = TY_A_BOLD}
			    : (struct ty_style){.attr = TY_A_REVERSE};
	case TY_ROLE_LOST:
		return p->mode >= TY_COLOR_16 ? (struct ty_style){.fg = TY_C_BLACK, .bg = TY_C_LOST}
					      : (struct ty_style){.attr = TY_A_BOLD | TY_A_REVERSE};
	}
	return (struct ty_style){0};
}

static int add_color(const struct ty_palette *p, enum ty_color c, bool bg, char *out, size_t n)
{
	int32_t rgb = ty_palette_rgb(p, c);
	int i = ty_palette_index(p, c);

	if (rgb < 0 || p->mode < TY_COLOR_16)
		return 0;
	if (p->mode == TY_COLOR_TRUE)
		return snprintf(out, n, ";%d;2;%d;%d;%d", bg ? 48 : 38, rgb >> 16, rgb >> 8 & 255,
				rgb & 255);
	if (p->mode == TY_COLOR_256)
		return snprintf(out, n, ";%d;5;%d", bg ? 48 : 38, i);
	return snprintf(out, n, ";%d", (i < 8 ? 30 : 82) + i + (bg ? 10 : 0));
}

const char *ty_palette_sgr(const struct ty_palette *p, struct ty_style st, char out[TY_SGR_MAX])
{
	int n = snprintf(out, TY_SGR_MAX, "\033[0%s%s%s", st.attr & TY_A_BOLD ? ";1" : "",
			 st.attr & TY_A_UNDERLINE ? ";4" : "", st.attr & TY_A_REVERSE ? ";7" : "");

	n += add_color(p, st.fg, false, out + n, TY_SGR_MAX - n);
	n += add_color(p, st.bg, true, out + n, TY_SGR_MAX - n);
	snprintf(out + n, TY_SGR_MAX - n, "m");
	return out;
}

static bool is_set(const char *name)
{
	const char *v = getenv(name);

	return v && *v;
}

/* COLORFGBG is "fg;bg" or "fg;default;bg" in ANSI colours: 7 and 15 are light backgrounds. */
static bool light_background(void)
{
	const char *v = getenv("COLORFGBG"), *bg = v ? strrchr(v, ';') : NULL;

	return bg && (!strcmp(bg, ";7") || !strcmp(bg, ";15"));
}

static enum ty_color_mode mode_of_environment(int colors)
{
	const char *term = getenv("TERM"), *ct = getenv("COLORTERM");

	if (!term || !*term || !strcmp(term, "dumb"))
		return TY_COLOR_MONO;
	if (colors < 0 && ct && (!strcmp(ct, "truecolor") || !strcmp(ct, "24bit")))
		return TY_COLOR_TRUE;
	if (colors >= 1 << 24)
		return TY_COLOR_TRUE;
	if (colors >= 256 || (colors < 0 && (strstr(term, "256") || strstr(term, "direct"))))
		return TY_COLOR_256;
	if (colors >= 8 || (colors < 0 && !strstr(term, "mono") && strncmp(term, "vt1", 3) &&
			    strncmp(term, "vt2", 3)))
		return TY_COLOR_16;
	return TY_COLOR_MONO;
}

struct ty_palette ty_palette_detect(int colors)
{
	const char *term = getenv("TERM");
	struct ty_palette p = {.light = light_background()};

	p.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8") && !(term && !strcmp(term, "dumb"));
	p.mode = is_set("NO_COLOR") ? TY_COLOR_MONO : mode_of_environment(colors);
	return p;
}

bool ty_palette_choose(struct ty_palette *p, const char *how)
{
	if (!strcmp(how, "never")) {
		p->mode = TY_COLOR_NONE;
	} else if (!strcmp(how, "truecolor")) {
		p->mode = TY_COLOR_TRUE;
	} else if (!strcmp(how, "256")) {
		p->mode = TY_COLOR_256;
	} else if (!strcmp(how, "16")) {
		p->mode = TY_COLOR_16;
	} else if (!strcmp(how, "always")) {
		/* An explicit --color overrides NO_COLOR. */
		p->mode = mode_of_environment(-1);
		if (p->mode < TY_COLOR_16)
			p->mode = TY_COLOR_16;
	} else {
		return false;
	}
	return true;
}

void ty_palette_clamp(struct ty_palette *p, int colors)
{
	enum ty_color_mode most = colors >= 1 << 24 ? TY_COLOR_TRUE
				  : colors >= 256   ? TY_COLOR_256
				  : colors >= 8	    ? TY_COLOR_16
						    : TY_COLOR_MONO;

	if (p->mode > most)
		p->mode = most;
}
