/* SPDX-License-Identifier: MIT */
/* Typing a text, and the line of a list that holds it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "keys.h"
#include "list_find.h"

static const char *const lines[] = {"one", "two", NULL, "Three", "one more"};

static const char *line(void *ctx, int i)
{
	++*(int *)ctx;
	return lines[i];
}

static int next(const struct ty_list_find *f, int from, int by)
{
	int asked = 0, at = ty_list_find_next(f, 5, from, by, line, &asked);

	assert_true(asked <= 5);
	return at;
}

static void test_search(void **state)
{
	struct ty_list_find f = {0};

	(void)state;
	assert_int_equal(next(&f, 0, 1), -1); /* nothing is searched for */
	ty_list_find_start(&f, 3);
	assert_true(f.typing);
	assert_int_equal(f.from, 3);
	assert_int_equal(ty_list_find_key(&f, 'O'), TY_INPUT_CHANGED);
	assert_int_equal(ty_list_find_key(&f, 'n'), TY_INPUT_CHANGED);
	assert_int_equal(ty_list_find_key(&f, 1), TY_INPUT_IGNORED);
	assert_int_equal(next(&f, f.from, 1), 4);
	assert_int_equal(next(&f, 5, 1), 0);  /* round the end */
	assert_int_equal(next(&f, 3, -1), 0); /* past a line without a text */
	assert_int_equal(next(&f, -1, -1), 4);
	assert_int_equal(ty_list_find_key(&f, TY_KEY_ENTER), TY_INPUT_ENTERED);
	assert_false(f.typing);
	assert_string_equal(f.text, "On");
	ty_list_find_start(&f, 0);
	assert_string_equal(f.text, "");
	ty_list_find_key(&f, 'x');
	assert_int_equal(next(&f, 0, 1), -1);
	assert_int_equal(ty_list_find_key(&f, TY_KEY_ESC), TY_INPUT_CANCELLED);
	assert_false(f.typing);
	assert_string_equal(f.text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_search)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
