/* SPDX-License-Identifier: MIT */
/* Cells: wide characters, invalid UTF-8, clipping, dumps; colours by mode. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "grid.h"

static const struct ty_style plain;

static char *dump(const struct ty_grid *g, const struct ty_palette *p)
{
	static struct ty_buf b;

	ty_buf_fini(&b);
	ty_buf_init(&b, 1 << 20);
	assert_int_equal(ty_grid_dump(g, p, &b), 0);
	return b.p;
}

static void text_is_clipped_and_cleaned(void **state)
{
	struct ty_grid g;

	assert_int_equal(ty_grid_init(&g, 10, 3), 0);
	assert_int_equal(ty_grid_text(&g, 0, 0, 10, "ab\xff\x01 \xc3\xa9", plain), 6);
	assert_int_equal(ty_grid_text(&g, 8, 1, 10, "xyz", plain), 3);
	assert_int_equal(ty_grid_text(&g, 0, 7, 10, "below", plain), 5);
	assert_int_equal(ty_grid_text(&g, -2, 2, 10, "left", plain), 4);
	assert_string_equal(dump(&g, NULL), "ab?? \xc3\xa9\n        xy\nft\n");
	ty_grid_fini(&g);
}

static void hostile_utf8(void **state)
{
	/* overlong, surrogate, beyond Unicode, cut at the end */
	static const char *bad[] = {"\xc0\x80",	    "\xe0\x80\x80",	"\xf0\x80\x80\x80",
				    "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		for (const char *s = bad[i]; *s;)
			assert_int_equal(ty_utf8_next(&s), '?');
	const char *good = "\xf0\x9f\x90\xa7", *s = good;

	assert_int_equal(ty_utf8_next(&s), 0x1f427);
	assert_ptr_equal(s, good + 4);
}

static void wide_characters_are_whole(void **state)
{
	struct ty_grid g;
	const struct ty_palette u = {.mode = TY_COLOR_NONE, .utf8 = true};

	assert_int_equal(ty_grid_init(&g, 6, 4), 0);
	assert_int_equal(ty_text_width("\xe6\xbc\xa2\xe5\xad\x97"), 4);
	assert_int_equal(ty_grid_text(&g, 0, 0, 6, "\xe6\xbc\xa2\xe5\xad\x97", plain), 4);
	assert_int_equal(ty_grid_at(&g, 1, 0)->ch, 0);
	/* over the second half of the first, and the first half of the second */
	ty_grid_put(&g, 1, 0, 'x', plain);
	ty_grid_put(&g, 2, 0, 'y', plain);
	/* no room for both halves at the edge */
	assert_int_equal(ty_grid_put(&g, 5, 1, 0x6f22, plain), 0);
	assert_int_equal(ty_grid_elide(&g, &u, 0, 2, 4, "a\xe6\xbc\xa2\xe5\xad\x97", plain), 4);
	assert_int_equal(ty_grid_elide(&g, &u, 0, 3, 3, "\xe6\xbc\xa2\xe5\xad\x97", plain), 3);
	assert_string_equal(dump(&g, &u),
			    " xy\n\na\xe6\xbc\xa2\xe2\x80\xa6\n\xe6\xbc\xa2\xe2\x80\xa6\n");
	ty_grid_fini(&g);
}

static void lines_break_at_blanks(void **state)
{
	int cols;

	assert_int_equal(ty_text_break("to be or", 8, &cols), 8);
	assert_int_equal(cols, 8);
	assert_int_equal(ty_text_break("to be or", 7, &cols), 5);
	assert_int_equal(cols, 5);
	assert_int_equal(ty_text_break("to be or", 5, &cols), 5);
	assert_int_equal(ty_text_break("unbroken", 3, &cols), 3);
	assert_int_equal(ty_text_break("\xe6\xbc\xa2\xe5\xad\x97", 3, &cols), 3);
	assert_int_equal(cols, 2);
	assert_int_equal(ty_text_break("\xe6\xbc\xa2", 1, &cols), 0);
	assert_int_equal(ty_text_break("", 5, &cols), 0);
}

static void ascii_dump_has_no_other_bytes(void **state)
{
	struct ty_grid g;
	const struct ty_palette a = {.mode = TY_COLOR_NONE};

	assert_int_equal(ty_grid_init(&g, 6, 1), 0);
	ty_grid_put(&g, 0, 0, 0x2588, plain);
	ty_grid_elide(&g, &a, 1, 0, 3, "abcdef", plain);
	assert_string_equal(dump(&g, &a), "?ab~\n");
	ty_grid_fini(&g);
}

static void dump_styles_once_per_run(void **state)
{
	struct ty_grid g;
	struct ty_palette p = {.mode = TY_COLOR_TRUE, .utf8 = true};
	struct ty_style run = {.fg = TY_C_RUNNING}, bar = {.bg = TY_C_BAR};

	assert_int_equal(ty_grid_init(&g, 4, 2), 0);
	ty_grid_text(&g, 0, 0, 4, "ab", run);
	ty_grid_fill(&g, 0, 1, 4, 1, ' ', bar);
	assert_string_equal(dump(&g, &p), "\033[0;38;2;0;158;115mab\033[0m\n"
					  "\033[0;48;2;48;48;48m    \033[0m\n");
	p.mode = TY_COLOR_256;
	assert_string_equal(dump(&g, &p),
			    "\033[0;38;5;35mab\033[0m\n\033[0;48;5;236m    \033[0m\n");
	p.mode = TY_COLOR_16;
	assert_string_equal(dump(&g, &p), "\033[0;32mab\033[0m\n\033[0;40m    \033[0m\n");
	p.mode = TY_COLOR_NONE;
	assert_string_equal(dump(&g, &p), "ab\n\n");
	ty_grid_fini(&g);
}

static void palette_follows_the_environment(void **state)
{
	struct ty_palette p;

	unsetenv("NO_COLOR");
	unsetenv("COLORFGBG");
	unsetenv("COLORTERM");
	setenv("TERM", "xterm-256color", 1);
	assert_int_equal(ty_palette_detect(-1).mode, TY_COLOR_256);
	assert_true(ty_palette_detect(-1).utf8);
	assert_int_equal(ty_palette_detect(8).mode, TY_COLOR_16);
	setenv("COLORTERM", "truecolor", 1);
	assert_int_equal(ty_palette_detect(-1).mode, TY_COLOR_TRUE);
	setenv("COLORFGBG", "0;15", 1);
	assert_true(ty_palette_detect(-1).light);
	setenv("NO_COLOR", "1", 1);
	p = ty_palette_detect(-1);
	assert_int_equal(p.mode, TY_COLOR_MONO);
	assert_true(ty_palette_choose(&p, "always"));
	assert_int_equal(p.mode, TY_COLOR_TRUE);
	assert_false(ty_palette_choose(&p, "sometimes"));
	unsetenv("NO_COLOR");
	setenv("TERM", "dumb", 1);
	assert_int_equal(ty_palette_detect(-1).mode, TY_COLOR_MONO);
	assert_false(ty_palette_detect(-1).utf8);
}

static void colours_are_those_of_the_terminal(void **state)
{
	static const struct {
		int colors;
		const char *asked;
		enum ty_color_mode mode;
	} cases[] = {
		{8, "256", TY_COLOR_16},	  {8, "truecolor", TY_COLOR_16},
		{256, "truecolor", TY_COLOR_256}, {1 << 24, "truecolor", TY_COLOR_TRUE},
		{1 << 24, "16", TY_COLOR_16},	  {0, "always", TY_COLOR_MONO},
		{256, "never", TY_COLOR_NONE},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ty_palette p = {0};

		assert_true(ty_palette_choose(&p, cases[i].asked));
		ty_palette_clamp(&p, cases[i].colors);
		assert_int_equal(p.mode, cases[i].mode);
	}
}

static void limits(void **state)
{
	struct ty_grid g;

	assert_int_equal(ty_grid_init(&g, 0, 5), -TY_ELIMIT);
	assert_int_equal(ty_grid_init(&g, TY_GRID_MAX + 1, 5), -TY_ELIMIT);
	ty_grid_fini(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_clipped_and_cleaned),
		cmocka_unit_test(hostile_utf8),
		cmocka_unit_test(wide_characters_are_whole),
		cmocka_unit_test(lines_break_at_blanks),
		cmocka_unit_test(ascii_dump_has_no_other_bytes),
		cmocka_unit_test(dump_styles_once_per_run),
		cmocka_unit_test(palette_follows_the_environment),
		cmocka_unit_test(colours_are_those_of_the_terminal),
		cmocka_unit_test(limits),
	};

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 1;
	return cmocka_run_group_tests_name("grid", tests, NULL, NULL);
}
