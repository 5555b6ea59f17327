/* SPDX-License-Identifier: MIT */
/* Text for people: lines break at words, under their last column; styles take no columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "text_page.h"

static char *laid(const char *s, unsigned width)
{
	char *out = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&out, &n), *f = ty_page_open(to, width);

	assert_non_null(f);
	for (const char *p = s; *p; p++) { /* however it is cut into writes */
		putc(*p, f);
		if ((p - s) % 3 == 0)
			fflush(f);
	}
	assert_int_equal(fclose(f), 0);
	assert_int_equal(fclose(to), 0);
	return out;
}

static void is(const char *s, unsigned width, const char *wanted)
{
	char *out = laid(s, width);

	assert_string_equal(out, wanted);
	free(out);
}

static void lines_break_at_words(void **state)
{
	is("one two three\nfour\n", 20, "one two three\nfour\n");
	is("one two three four five six", 20, "one two three four\n  five six");
	is("one two three four five six", 0, "one two three four five six");
	is("exactly twenty chars\n", 20, "exactly twenty chars\n");
	is("exactly twenty-1 chars\n", 20, "exactly twenty-1\n  chars\n");
	/* Under the last column, unless that is far to the right. */
	is("  2 s  50%  a thread slept\n", 20, "  2 s  50%  a thread\n       slept\n");
	is("  2 s  a thread slept\n", 20, "  2 s  a thread\n       slept\n");
	is("  2 s  a  thread slept and more\n", 20,
	   "  2 s  a  thread\n          slept and\n"
	   "          more\n");
	/* What has no blank stays whole. */
	is("see /a/path/that/is/longer/than/a/line ok\n", 20,
	   "see\n  /a/path/that/is/longer/than/a/line\n  ok\n");
	/* What fits further out begins there. */
	is("  2 s  50%  a /path/longer/x ok\n", 20,
	   "  2 s  50%  a\n      /path/longer/x\n       ok\n");
	is("/a/path/that/is/longer/than/a/line\n", 20, "/a/path/that/is/longer/than/a/line\n");
	is("\n\n", 20, "\n\n");
	/* Names of C++ have joints, and are continued like words. */
	is("  12  5%  std::vector<long_name>::push_back(int)\n", 24,
	   "  12  5%  std::vector<\n"
	   "          long_name>::\n"
	   "          push_back(int)\n");
	is("/home/user/reports,2026/summary(1)/aaa.txt\n", 20,
	   "/home/user/reports,2026/summary(1)/aaa.txt\n");
	is("  12  5%  x::f(/path/of/a/file/that/is/long)\n", 20,
	   "  12  5%  x::f(\n"
	   "    /path/of/a/file/that/is/long)\n");
}

static void columns_are_counted(void **state)
{
	is("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9 \xc3\xa9\xc3\xa9 ab "
	   "12 12\n",
	   20,
	   "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9 \xc3\xa9\xc3\xa9 ab "
	   "12 12\n");
	ty_styles_switch(true);
	assert_string_not_equal(ty_style(TY_STYLE_HEADING), "");
	is("\033[1mone\033[m two three four\n", 20, "\033[1mone\033[m two three four\n");
	is("\033[1mone\033[m two three four ab\n", 20, "\033[1mone\033[m two three four\n  ab\n");
	ty_styles_switch(false);
	for (int i = 0; i < TY_STYLES; i++)
		assert_string_equal(ty_style(i), "");
}

static void rows_of_a_screen(void **state)
{
	assert_int_equal(ty_page_rows("", 0, 10), 0);
	assert_int_equal(ty_page_rows("a\n\nb", 4, 10), 3);
	assert_int_equal(ty_page_rows("0123456789\n", 11, 10), 1);
	assert_int_equal(ty_page_rows("01234567890\n", 12, 10), 2);
}

static void a_failure_is_told(void **state)
{
	FILE *to = fopen("/dev/full", "w"), *f;

	assert_non_null(to);
	setvbuf(to, NULL, _IONBF, 0);
	f = ty_page_open(to, 20);
	fputs("text\n", f);
	assert_int_not_equal(fclose(f), 0);
	fclose(to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_break_at_words),
		cmocka_unit_test(columns_are_counted),
		cmocka_unit_test(rows_of_a_screen),
		cmocka_unit_test(a_failure_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
