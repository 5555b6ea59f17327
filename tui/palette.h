/* SPDX-License-Identifier: MIT */
/*
 * Colours by meaning. Okabe and Ito's palette (distinct for colour-blind readers), reduced to what
 * the terminal supports: truecolor, 256, 16 or none. Cells name colours by id; only the palette
 * knows their values. Colour is never the only distinction: glyphs (glyphs.h) and letters show the
 * same.
 */
#ifndef TY_PALETTE_H
#define TY_PALETTE_H

#include <stdbool.h>
#include <stdint.h>

enum ty_color_mode {
	TY_COLOR_NONE, /* no colours, no attributes: plain text */
	TY_COLOR_MONO, /* a terminal without colours, or NO_COLOR: attributes only */
	TY_COLOR_16,
	TY_COLOR_256,
	TY_COLOR_TRUE
};

/* id, RGB on a dark background, RGB on a light one, one of the 16 ANSI colours */
#define TY_COLORS(X)                                                                               \
	X(TEXT, 0xd0d0d0, 0x202020, 7)                                                             \
	X(DIM, 0x8a8a8a, 0x6c6c6c, 8)                                                              \
	X(ACCENT, 0x56b4e9, 0x0072b2, 6)                                                           \
	X(WARN, 0xd55e00, 0xb34700, 1)                                                             \
	X(BAR, 0x303030, 0xd7d7d7, 0)                                                              \
	X(SELECT, 0x3a3a3a, 0xe4e4e4, 0)                                                           \
	X(BLACK, 0x000000, 0x000000, 0)                                                            \
	X(WHITE, 0xffffff, 0xffffff, 15)                                                           \
	X(RUNNING, 0x009e73, 0x009e73, 2)                                                          \
	X(RUNNING_ODD, 0x007f5c, 0x23b38a, 10)                                                     \
	X(RUNNABLE, 0xe69f00, 0xe69f00, 3)                                                         \
	X(SLEEPING, 0x56b4e9, 0x0072b2, 6)                                                         \
	X(BLOCKED, 0xd55e00, 0xd55e00, 1)                                                          \
	X(STOPPED, 0xcc79a7, 0xcc79a7, 5)                                                          \
	X(UNKNOWN, 0x949494, 0x767676, 8)                                                          \
	X(IDLE, 0x4e4e4e, 0xb2b2b2, 8)                                                             \
	X(LOST, 0xf0e442, 0xf0e442, 11)                                                            \
	X(CALL, 0x0072b2, 0x0072b2, 4)                                                             \
	X(CALL_ODD, 0x005a8c, 0x2b8cc4, 12)

enum ty_color {
	TY_C_DEFAULT, /* the terminal's own */
#define X(name, dark, light, ansi) TY_C_##name,
	TY_COLORS(X)
#undef X
		TY_C_COUNT
};

enum { TY_A_BOLD = 1, TY_A_UNDERLINE = 2, TY_A_REVERSE = 4 };

struct ty_style {
	uint8_t fg, bg; /* enum ty_color */
	uint8_t attr;	/* TY_A_* */
};

struct ty_palette {
	enum ty_color_mode mode;
	bool light; /* the terminal's background is light */
	bool utf8;  /* other characters than ASCII may be drawn */
};

/* Purpose of a style; the palette maps a role to colours and attributes available in its mode. */
enum ty_role {
	TY_ROLE_TEXT,
	TY_ROLE_DIM,
	TY_ROLE_STRONG,
	TY_ROLE_ACCENT,
	TY_ROLE_WARN,
	TY_ROLE_BAR,	/* top line, footer */
	TY_ROLE_BARKEY, /* a key's name in the footer */
	TY_ROLE_SELECT, /* the selected line */
	TY_ROLE_LOST	/* "events were lost here" */
};
struct ty_style ty_palette_role(const struct ty_palette *p, enum ty_role role);

/* 0xRRGGBB; -1 for TY_C_DEFAULT. */
int32_t ty_palette_rgb(const struct ty_palette *p, enum ty_color c);
/* Index in the 256-colour or 16-colour table by mode (8..15 are the bright ones); -1: default. */
int ty_palette_index(const struct ty_palette *p, enum ty_color c);

/* Escape sequence that switches from any style to st. */
#define TY_SGR_MAX 80
const char *ty_palette_sgr(const struct ty_palette *p, struct ty_style st, char out[TY_SGR_MAX]);

/*
 * Detects the palette from the environment: NO_COLOR, TERM, COLORTERM, COLORFGBG (light
 * background); utf8 from the locale (setlocale must have been called), never with TERM=dumb.
 * colors: the terminal's number according to terminfo, or -1 to use TERM's name alone.
 */
struct ty_palette ty_palette_detect(int colors);
/* "never", "always" (best by environment, at least 16), "truecolor", "256", "16". false: unknown.
 */
bool ty_palette_choose(struct ty_palette *p, const char *how);
/* Reduces it to what a terminal with this many colours can show. */
void ty_palette_clamp(struct ty_palette *p, int colors);

#endif
